#include "daemon/api/predict_body.hpp"
#include "tests/unit/daemon/api/model_support.hpp"

namespace samovar::api::test {
namespace {

using nlohmann::json;
using trainer::RawValue;

FieldError fault_of(std::string_view text) {
  auto parsed = parse_predict(text);
  const auto* fault = std::get_if<FieldError>(&parsed);
  return fault != nullptr ? *fault : FieldError{"none", "none", "none"};
}

PredictBody body_of(std::string_view text) {
  auto parsed = parse_predict(text);
  if (const auto* fault = std::get_if<FieldError>(&parsed)) ADD_FAILURE() << fault->detail;
  auto* body = std::get_if<PredictBody>(&parsed);
  return body != nullptr ? std::move(*body) : PredictBody{};
}

TEST(PredictBody, RowsBecomeColumns) {
  const PredictBody body = body_of(
      R"({"rows":[{"age":71,"ward":"A","bmi":22.5,"smoker":true},{"ward":null,"age":-3},{"other":18446744073709551615}],"version":3,"reasons":true})");
  EXPECT_EQ(body.version, 3u);
  EXPECT_TRUE(body.reasons);
  EXPECT_EQ(body.rows.rows, 3u);
  const auto& columns = body.rows.columns;
  ASSERT_EQ(columns.size(), 5u);
  for (const auto& [name, values] : columns) EXPECT_EQ(values.size(), 3u) << name;
  EXPECT_EQ(columns.at("age")[0], RawValue{std::int64_t{71}});
  EXPECT_EQ(columns.at("age")[1], RawValue{std::int64_t{-3}});
  EXPECT_EQ(columns.at("age")[2], RawValue{});
  EXPECT_EQ(columns.at("ward")[0], RawValue{std::string("A")});
  EXPECT_EQ(columns.at("ward")[1], RawValue{});
  EXPECT_EQ(columns.at("bmi")[0], RawValue{22.5});
  EXPECT_EQ(columns.at("smoker")[0], RawValue{true});
  EXPECT_EQ(columns.at("other")[2], RawValue{18446744073709551616.0});
  EXPECT_EQ(columns.at("other")[0], RawValue{});
}

TEST(PredictBody, ARowMayBeEmpty) {
  EXPECT_EQ(body_of(R"({"rows":[{}]})").rows.rows, 1u);
  EXPECT_EQ(body_of(R"({"reasons":false,"rows":[{},{"a":1}]})").rows.columns.at("a").size(), 2u);
}

TEST(PredictBody, WhatIsNoJsonIsSaidSo) {
  for (const char* text : {"", "{", "{\"rows\":[{\"a\":1}]", "{\"rows\":[{\"a\":1}]} x", "nul",
                           "{\"rows\":[{\"a\":1e999}]}", "{\"rows\":[{\"a\":\"\xff\"}]}"})
    EXPECT_EQ(fault_of(text).code, "") << text;
}

TEST(PredictBody, FaultsNameTheirPlace) {
  const auto expect = [](std::string_view text, std::string_view pointer, std::string_view code) {
    const FieldError fault = fault_of(text);
    EXPECT_EQ(fault.pointer, pointer) << text;
    EXPECT_EQ(fault.code, code) << text;
    EXPECT_FALSE(fault.detail.empty());
  };
  expect("[]", "", "type");
  expect("7", "", "type");
  expect("{}", "/rows", "required");
  expect(R"({"rows":[]})", "/rows", "too_short");
  expect(R"({"rows":{}})", "/rows", "type");
  expect(R"({"rows":5})", "/rows", "type");
  expect(R"({"rows":[1]})", "/rows/0", "type");
  expect(R"({"rows":[[1]]})", "/rows/0", "type");
  expect(R"({"rows":[{"a":1},{"b":[1]}]})", "/rows/1/b", "type");
  expect(R"({"rows":[{"a":{"b":1}}]})", "/rows/0/a", "type");
  expect(R"({"rows":[{"a":1,"a":2}]})", "/rows/0", "format");
  expect(R"({"rows":[{"a":1}],"rows":[{"a":1}]})", "/rows", "format");
  expect(R"({"rows":[{"a":1}],"version":0})", "/version", "range");
  expect(R"({"rows":[{"a":1}],"version":"1"})", "/version", "type");
  expect(R"({"rows":[{"a":1}],"version":1.5})", "/version", "type");
  expect(R"({"rows":[{"a":1}],"reasons":1})", "/reasons", "type");
  expect(R"({"rows":[{"a":1}],"reason":true})", "/reason", "unknown");
}

TEST(PredictBody, BoundsHold) {
  std::string many = R"({"rows":[)";
  for (std::uint32_t i = 0; i < kPredictRowsMax; ++i) many += R"({"a":1},)";
  EXPECT_EQ(body_of(many.substr(0, many.size() - 1) + "]}").rows.rows, kPredictRowsMax);
  EXPECT_EQ(fault_of(many + R"({"a":1}]})").code, "too_long");
  // Each row a column of its own: rows times columns would not fit the memory.
  std::string wide = R"({"rows":[)";
  for (int i = 0; i < 4000; ++i) wide += "{\"c" + std::to_string(i) + "\":1},";
  EXPECT_EQ(fault_of(wide.substr(0, wide.size() - 1) + "]}").code, "too_long");
  EXPECT_EQ(fault_of("{\"rows\":[{\"" + std::string(2000, 'n') + "\":1}]}").code, "too_long");
}

class PredictApi : public ModelBox {
 protected:
  PredictApi() { train(); }
  const std::string path = "/api/v1/models/readmission:predict";
};

TEST_F(PredictApi, AnswersEachRow) {
  const Reply reply = box.post(path, {{"rows", {{{"age", 71}}, {{"ward", "A"}}}}}, as);
  ASSERT_EQ(reply.status, 200) << reply.response.body;
  EXPECT_EQ(reply.body["model"], "readmission");
  EXPECT_EQ(reply.body["version"], 1);
  EXPECT_EQ(reply.body["classes"], json({"no", "yes"}));
  ASSERT_EQ(reply.body["predictions"].size(), 2u);
  EXPECT_EQ(reply.body["predictions"][0]["value"], 0.71);
  EXPECT_EQ(reply.body["predictions"][0]["label"], "yes");
  EXPECT_FALSE(reply.body["predictions"][0].contains("reasons"));
  ASSERT_EQ(reply.body["warnings"].size(), 1u);
  EXPECT_EQ(reply.body["warnings"][0]["row"], 1);
  EXPECT_EQ(reply.body["warnings"][0]["code"], "missing_column");
  const Reply told = box.post(path, {{"rows", {{{"age", 71}}}}, {"reasons", true}, {"version", 1}}, as);
  EXPECT_EQ(told.body["predictions"][0]["reasons"][0]["contribution"], 0.25);
  EXPECT_EQ(box.models.seen.version, 1u);
}

TEST_F(PredictApi, RefusalsSayWhy) {
  EXPECT_EQ(box.post(path, {{"rows", json::array()}}, as).code(), "validation");
  EXPECT_EQ(box.post(path, {{"rows", {{{"age", 71}}}}, {"version", 9}}, as).code(), "no_model");
  EXPECT_EQ(box.post("/api/v1/models/none:predict", {{"rows", {{{"age", 71}}}}}, as).code(), "no_model");
  box.models.predict_error = Error{Errc::invalid, "row 1 cannot be answered"};
  const Reply unanswerable = box.post(path, {{"rows", {{{"age", 71}}}}}, as);
  EXPECT_EQ(unanswerable.status, 422);
  EXPECT_EQ(unanswerable.body["detail"], "row 1 cannot be answered");
}

TEST_F(PredictApi, WhoMayUseItMayAsk) {
  const json rows = {{"rows", {{{"age", 71}}}}};
  const auto vera = box.add_user("vera", cluster::Role::viewer);
  EXPECT_EQ(box.post(path, rows, box.log_in(vera)).status, 404);
  EXPECT_EQ(box.post(path, rows, box.log_in(box.admin)).status, 404) << "seeing is not using";
  grant(vera);
  EXPECT_EQ(box.post(path, rows, box.log_in(vera)).status, 200);
  const auto robot = box.add_user("robot", cluster::Role::service);
  grant(robot);
  As token;
  token.bearer = box.token_of(robot, {"predict"});
  EXPECT_EQ(box.post(path, rows, token).status, 200);
  EXPECT_EQ(box.get("/api/v1/datasets", token).code(), "missing_scope");
  EXPECT_EQ(box.get("/api/v1/models", token).status, 403);
}

TEST_F(PredictApi, Scorings) {
  EXPECT_EQ(box.post("/api/v1/scorings", {{"model", "readmission"}}, as).status, 422);
  EXPECT_EQ(
      box.post("/api/v1/scorings", {{"model", "readmission"}, {"dataset_id", "d"}, {"upload_id", "u"}}, as)
          .status,
      422);
  const Reply made = box.post("/api/v1/scorings",
                              {{"model", "readmission"}, {"dataset_id", dataset}, {"keep", {"age"}}}, as);
  ASSERT_EQ(made.status, 202) << made.response.body;
  const std::string id = made.body["id"];
  EXPECT_EQ(made.header("Location"), "/api/v1/scorings/" + id);
  EXPECT_TRUE(made.body["upload_id"].is_null());
  EXPECT_EQ(box.models.seen_scoring.keep, std::vector<std::string>{"age"});
  EXPECT_EQ(box.get("/api/v1/scorings", as).body["items"].size(), 1u);
  EXPECT_EQ(box.get("/api/v1/scorings/" + id + "/result", as).code(), "job_state");
  box.models.batches[id].state = jobs::JobState::done;
  const Reply result = box.get("/api/v1/scorings/" + id + "/result", as);
  EXPECT_EQ(result.status, 200);
  EXPECT_EQ(result.header("Content-Type"), "text/csv; charset=utf-8");
  EXPECT_TRUE(result.response.stream);
  const As other = box.log_in_as(cluster::Role::analyst);
  EXPECT_EQ(box.get("/api/v1/scorings/" + id, other).status, 404);
  EXPECT_EQ(box.send(Method::del, "/api/v1/scorings/" + id, nullptr, other).status, 404);
  EXPECT_EQ(box.send(Method::del, "/api/v1/scorings/" + id, nullptr, as).status, 204);
  EXPECT_EQ(box.get("/api/v1/scorings/" + id, as).status, 404);
}

}  // namespace
}  // namespace samovar::api::test
