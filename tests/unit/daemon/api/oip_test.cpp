// Requests as a client of the Open Inference Protocol makes them, written from its specification.
#include "daemon/api/oip_body.hpp"
#include "tests/unit/daemon/api/model_support.hpp"

namespace samovar::api::test {
namespace {

using nlohmann::json;
using trainer::RawValue;

json tensor(const std::string& name, const std::string& type, const json& shape, const json& data) {
  return {{"name", name}, {"datatype", type}, {"shape", shape}, {"data", data}};
}

json request(const json& input) { return {{"inputs", json::array({input})}}; }

std::string refusal(const json& body) {
  const auto parsed = parse_oip_request(body.dump());
  return parsed ? "" : parsed.error().message();
}

TEST(OipBody, TensorsBecomeColumns) {
  const json body = {
      {"id", "42"},
      {"parameters", {{"explain", true}, {"note", "x"}}},
      {"inputs",
       {tensor("age", "INT64", {2}, {71, -4}), tensor("bmi", "FP32", {2, 1}, {{22.5}, {nullptr}}),
        tensor("ward", "BYTES", {2, 1}, {"A", "B"}), tensor("smoker", "BOOL", {2}, {true, false}),
        tensor("big", "UINT64", {2}, {18446744073709551615u, 1})}},
      {"outputs", {{{"name", "label"}}}}};
  const auto parsed = parse_oip_request(body.dump());
  ASSERT_TRUE(parsed) << parsed.error().message();
  EXPECT_EQ(parsed->id, "42");
  EXPECT_TRUE(parsed->explain);
  EXPECT_EQ(parsed->outputs, std::vector<std::string>{"label"});
  EXPECT_EQ(parsed->rows.rows, 2u);
  const auto& columns = parsed->rows.columns;
  EXPECT_EQ(columns.at("age")[1], RawValue{std::int64_t{-4}});
  EXPECT_EQ(columns.at("bmi")[0], RawValue{22.5});
  EXPECT_EQ(columns.at("bmi")[1], RawValue{});
  EXPECT_EQ(columns.at("ward")[1], RawValue{std::string("B")});
  EXPECT_EQ(columns.at("smoker")[0], RawValue{true});
  EXPECT_EQ(columns.at("big")[0], RawValue{18446744073709551616.0});
}

TEST(OipBody, MalformedTensorsAreRefused) {
  const json good = tensor("a", "INT32", {1}, {1});
  EXPECT_EQ(refusal(request(good)), "");
  const auto without = [&](const char* member) {
    json one = good;
    one.erase(member);
    return request(one);
  };
  for (const char* member : {"name", "datatype", "shape", "data"})
    EXPECT_NE(refusal(without(member)), "") << member;
  const json bad[] = {
      tensor("a", "int32", {1}, {1}),
      tensor("a", "INT32", {2}, {1}),
      tensor("a", "INT32", {1}, {1, 2}),
      tensor("a", "INT32", {0}, json::array()),
      tensor("a", "INT32", {-1}, {1}),
      tensor("a", "INT32", {1.5}, {1}),
      tensor("a", "INT32", {1, 2}, {1, 2}),
      tensor("a", "INT32", {1, 1, 1}, {1}),
      tensor("a", "INT32", json::array(), {1}),
      tensor("a", "INT32", "1", {1}),
      tensor("a", "INT32", {1}, {"1"}),
      tensor("a", "INT32", {1}, {1.5}),
      tensor("a", "INT32", {1}, {2147483648}),
      tensor("a", "INT8", {1}, {-129}),
      tensor("a", "UINT8", {1}, {-1}),
      tensor("a", "UINT8", {1}, {256}),
      tensor("a", "BOOL", {1}, {1}),
      tensor("a", "BYTES", {1}, {1}),
      tensor("a", "FP64", {1}, {"1"}),
      tensor("a", "INT32", {1}, {{1}}),
      tensor("a", "INT32", {2, 1}, {{1, 2}}),
      tensor("a", "INT32", {1, 1}, {{{1}}}),
      tensor("", "INT32", {1}, {1}),
      tensor("a", "INT32", {1}, {{{"x", 1}}}),
      tensor("a", "INT32", {10001}, json(std::vector<int>(10001, 1))),
  };
  for (const json& one : bad) EXPECT_NE(refusal(request(one)), "") << one.dump().substr(0, 200);
}

TEST(OipBody, MalformedRequestsAreRefused) {
  const json good = tensor("a", "INT32", {1}, {1});
  const json other = tensor("b", "INT32", {2}, {1, 2});
  const json bad[] = {
      json::array(),
      json::object(),
      {{"inputs", json::array()}},
      {{"inputs", good}},
      {{"inputs", {1}}},
      {{"inputs", {good, good}}},
      {{"inputs", {good, other}}},
      {{"inputs", {good}}, {"id", 42}},
      {{"inputs", {good}}, {"parameters", 1}},
      {{"inputs", {good}}, {"parameters", {{"explain", "yes"}}}},
      {{"inputs", {good}}, {"parameters", {{"a", {1}}}}},
      {{"inputs", {good}}, {"parameters", {{"binary_data_output", true}}}},
      {{"inputs", {good}}, {"outputs", {{{"name", "logits"}}}}},
      {{"inputs", {good}}, {"outputs", {"prediction"}}},
      {{"inputs", {good}}, {"input", 1}},
  };
  for (const json& one : bad) EXPECT_NE(refusal(one), "") << one.dump();
  EXPECT_FALSE(parse_oip_request("{"));
  EXPECT_FALSE(parse_oip_request(std::string(100, '[')));
}

class OipApi : public ModelBox {
 protected:
  OipApi() {
    train();
    train();
    const auto robot = box.add_user("robot", cluster::Role::service);
    grant(robot);
    client.bearer = box.token_of(robot, {"predict"});
  }
  const std::string path = "/v2/models/readmission";
  As client;
};

TEST_F(OipApi, HealthAndMetadata) {
  EXPECT_EQ(box.get("/v2/health/live", {}).body, json({{"live", true}}));
  EXPECT_EQ(box.get("/v2/health/ready", {}).body["ready"], true);
  const json server = box.get("/v2", client).body;
  EXPECT_EQ(server["name"], "samovar");
  EXPECT_TRUE(server["extensions"].is_array());
  const Reply model = box.get(path, client);
  ASSERT_EQ(model.status, 200) << model.response.body;
  EXPECT_EQ(model.body["name"], "readmission");
  EXPECT_EQ(model.body["versions"], json({"2", "1"}));
  EXPECT_EQ(model.body["platform"], "samovar_glm");
  EXPECT_EQ(model.body["inputs"], json({{{"name", "age"}, {"datatype", "INT64"}, {"shape", {-1}}},
                                        {{"name", "ward"}, {"datatype", "BYTES"}, {"shape", {-1}}},
                                        {{"name", "bmi"}, {"datatype", "FP64"}, {"shape", {-1}}},
                                        {{"name", "smoker"}, {"datatype", "BOOL"}, {"shape", {-1}}}}));
  EXPECT_EQ(model.body["outputs"][2],
            json({{"name", "probabilities"}, {"datatype", "FP64"}, {"shape", {-1, 2}}}));
  EXPECT_EQ(box.get(path + "/ready", client).body, json({{"name", "readmission"}, {"ready", true}}));
  EXPECT_EQ(box.get(path + "/versions/1/ready", client).status, 200);
}

TEST_F(OipApi, Inference) {
  const json body = {{"id", "42"}, {"inputs", {tensor("age", "INT64", {2, 1}, {{71}, {20}})}}};
  const Reply reply = box.post(path + "/infer", body, client);
  ASSERT_EQ(reply.status, 200) << reply.response.body;
  EXPECT_EQ(reply.body["model_name"], "readmission");
  EXPECT_EQ(reply.body["model_version"], "2");
  EXPECT_EQ(reply.body["id"], "42");
  const json& outputs = reply.body["outputs"];
  ASSERT_EQ(outputs.size(), 3u);
  EXPECT_EQ(outputs[0], tensor("prediction", "FP64", {2}, {0.71, 0.2}));
  EXPECT_EQ(outputs[1], tensor("label", "BYTES", {2}, {"yes", "no"}));
  EXPECT_EQ(outputs[2]["shape"], json({2, 2}));
  EXPECT_EQ(outputs[2]["data"].size(), 4u);
  EXPECT_EQ(outputs[2]["parameters"]["classes"], "[\"no\",\"yes\"]");
  EXPECT_FALSE(reply.body.contains("parameters"));
}

TEST_F(OipApi, OutputsVersionsAndReasonsAreAskedFor) {
  json body = request(tensor("age", "INT64", {1}, {71}));
  body["outputs"] = {{{"name", "prediction"}}};
  const Reply one = box.post(path + "/versions/1/infer", body, client);
  ASSERT_EQ(one.status, 200) << one.response.body;
  EXPECT_EQ(one.body["model_version"], "1");
  EXPECT_EQ(one.body["outputs"].size(), 1u);
  EXPECT_FALSE(one.body.contains("id"));
  body["outputs"] = {{{"name", "reasons"}}};
  const json reasons = box.post(path + "/infer", body, client).body["outputs"][0];
  EXPECT_EQ(reasons["datatype"], "BYTES");
  EXPECT_EQ(json::parse(reasons["data"][0].get<std::string>())[0]["input"], "age");
  body.erase("outputs");
  body["parameters"] = {{"explain", true}};
  EXPECT_EQ(box.post(path + "/infer", body, client).body["outputs"].size(), 4u);
  const json odd = box.post(path + "/infer", request(tensor("size", "INT64", {1}, {71})), client).body;
  EXPECT_EQ(json::parse(odd["parameters"]["warnings"].get<std::string>())[0]["code"], "missing_column");
}

TEST_F(OipApi, ErrorsAreTheProtocols) {
  const auto error = [](const Reply& reply) { return reply.body.value("error", ""); };
  const json good = request(tensor("age", "INT64", {1}, {71}));
  const Reply bad = box.post(path + "/infer", request(tensor("age", "INT64", {2}, {71})), client);
  EXPECT_EQ(bad.status, 400);
  EXPECT_NE(error(bad).find("'age'"), std::string::npos);
  for (const std::string target :
       {"/v2/models/none", "/v2/models/none/ready", "/v2/models/readmission/versions/9",
        "/v2/models/readmission/versions/v1"}) {
    const Reply missing = box.get(target, client);
    EXPECT_EQ(missing.status, 404) << target;
    EXPECT_NE(error(missing), "") << target;
  }
  EXPECT_EQ(box.post("/v2/models/none/infer", good, client).status, 404);
  box.models.predict_error = Error{Errc::invalid, "row 1 cannot be answered"};
  const Reply unanswerable = box.post(path + "/infer", good, client);
  EXPECT_EQ(unanswerable.status, 400);
  EXPECT_EQ(error(unanswerable), "row 1 cannot be answered");
  const Reply stranger = box.post(path + "/infer", good, {});
  EXPECT_EQ(stranger.status, 401);
  EXPECT_NE(error(stranger), "");
  As binary = client;
  binary.headers["Inference-Header-Content-Length"] = "10";
  EXPECT_NE(error(box.post(path + "/infer", good, binary)).find("binary"), std::string::npos);
}

TEST_F(OipApi, WhatTheyMayNotUseIsNotThere) {
  EXPECT_EQ(box.get(path, box.log_in(box.admin)).status, 404) << "seeing is not using";
  EXPECT_EQ(box.get(path, box.log_in(boris)).status, 200);
}

}  // namespace
}  // namespace samovar::api::test
