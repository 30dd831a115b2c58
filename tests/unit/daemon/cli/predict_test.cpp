// samovar predict: one row, and files of any length.
#include <gtest/gtest.h>

#include "base/json.hpp"
#include "daemon/cli/config.hpp"
#include "fake_box.hpp"

namespace samovar::cli {
namespace {

using nlohmann::json;

constexpr const char* kModel = R"({"name":"readmission","version":2,"serving":1,"versions":[
  {"version":2,"signature":{"inputs":[{"name":"other","type":"integer"}]}},
  {"version":1,"signature":{"inputs":[{"name":"age","type":"integer"},{"name":"ward","type":"category"}]}}]})";

// Answers each row with its age as value.
class Predict : public testing::Test {
 protected:
  Predict() {
    bench.box.on("GET /api/v1/models/readmission", 200, kModel);
    bench.box.serve = [this](const HttpRequest& request) -> std::optional<Result<HttpReply>> {
      if (!request.url.ends_with(":predict")) return std::nullopt;
      HttpReply reply;
      if (busy > 0) {
        --busy;
        reply.status = 503;
        reply.body = R"({"status":503,"code":"busy","detail":"busy"})";
        return Result<HttpReply>(std::move(reply));
      }
      const json body = json::parse(request.body);
      batches.push_back(body["rows"].size());
      reply.status = 200;
      json answer = {
          {"model", "readmission"}, {"version", 1}, {"classes", {"no", "yes"}}, {"warnings", json::array()}};
      for (std::size_t i = 0; i < body["rows"].size(); ++i) {
        const json age = body["rows"][i].value("age", json());
        if (age == 666) {
          reply.status = 422;
          reply.body = R"({"status":422,"code":"invalid","detail":"no answer"})";
          return Result<HttpReply>(std::move(reply));
        }
        if (age.is_null())
          answer["warnings"].push_back(
              {{"code", "missing"}, {"input", "age"}, {"row", i}, {"detail", "age is missing."}});
        const double yes = age.is_number() ? age.get<double>() / 100 : 0.5;
        answer["predictions"].push_back(
            {{"value", yes},
             {"label", yes > 0.5 ? "yes" : "no"},
             {"probabilities", {1 - yes, yes}},
             {"reasons", {{{"input", "age"}, {"value", age.dump()}, {"contribution", 0.25}}}}});
      }
      reply.body = answer.dump();
      return Result<HttpReply>(std::move(reply));
    };
    bench.io.pauses_left = 1'000'000;
  }
  bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
  Bench bench;
  std::vector<std::size_t> batches;
  int busy = 0;
};

TEST_F(Predict, OneRowForAPerson) {
  const Outcome outcome = bench.run({"predict", "readmission", "--row", "age=75", "ward=007", "--reasons"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out,
            "Prediction: yes\n\nCLASS  PROBABILITY\nno         25.00 %\nyes        75.00 %\n\n"
            "BECAUSE OF  BEING  EFFECT\nage         75     +0.250\n");
  EXPECT_EQ(json::parse(bench.box.last("POST", ":predict").body),
            json::parse(R"({"rows":[{"age":75,"ward":"007"}],"reasons":true})"));
}

TEST_F(Predict, OneRowForAProgramIsTheAnswerUnchanged) {
  EXPECT_EQ(
      json::parse(bench.run({"predict", "readmission@1", "--row", "age=75", "--json"}).out)["classes"][1],
      "yes");
  EXPECT_EQ(json::parse(bench.box.last("POST", ":predict").body)["version"], 1);
  EXPECT_EQ(bench.run({"predict", "readmission", "--row", "age=75", "-o", "csv"}).out,
            "prediction,probability_no,probability_yes\r\nyes,0.25,0.75\r\n");
}

TEST_F(Predict, AFileGoesInBatchesAndComesInOrder) {
  std::string text = "id,age,ward\n";
  for (int i = 0; i < 2500; ++i) text += "r" + std::to_string(i) + "," + std::to_string(i % 100) + ",A\n";
  const std::string file = (bench.home / "rows.csv").string();
  ASSERT_TRUE(write_private_file(file, text));
  const Outcome outcome = bench.run({"predict", "readmission", "--file", file, "--keep", "id"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(batches, (std::vector<std::size_t>{1000, 1000, 500}));
  EXPECT_TRUE(outcome.out.starts_with("id,prediction,probability_no,probability_yes\r\nr0,no,1.0,0.0\r\n"))
      << outcome.out.substr(0, 200);
  EXPECT_TRUE(outcome.out.ends_with("r2499,yes,0.010000000000000009,0.99\r\n"));
  EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 2501);
}

TEST_F(Predict, LongRowsMakeSmallerBatches) {
  std::string text;
  for (int i = 0; i < 10; ++i) text += json{{"age", 1}, {"ward", std::string(900'000, 'x')}}.dump() + "\n";
  bench.io.input = text;
  const Outcome outcome = bench.run({"predict", "readmission", "-F", "-", "-o", "jsonl"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(batches, (std::vector<std::size_t>{2, 2, 2, 2, 2}));
}

TEST_F(Predict, JsonLinesInAndOut) {
  bench.io.input = "{\"age\":80,\"id\":7}\n{\"age\":null}\n";
  const Outcome outcome =
      bench.run({"predict", "readmission", "--file", "-", "-o", "jsonl", "--keep", "id", "--reasons"});
  const json first = json::parse(outcome.out.substr(0, outcome.out.find('\n')));
  EXPECT_EQ(first["label"], "yes");
  EXPECT_EQ(first["row"]["id"], "7");
  EXPECT_EQ(first["reasons"][0]["input"], "age");
  EXPECT_TRUE(has(outcome.err, "age is missing. (row 2)")) << outcome.err;
}

TEST_F(Predict, WarningsAreToldOnceWithTheirCount) {
  std::string text = "age,ward\n";
  for (int i = 0; i < 1200; ++i) text += i >= 10 && i % 2 == 0 ? ",A\n" : "5,A\n";
  bench.io.input = text;
  const Outcome outcome = bench.run({"predict", "readmission", "--file", "-"});
  EXPECT_TRUE(has(outcome.err, "age is missing. (595 rows, the first is row 11)")) << outcome.err;
}

TEST_F(Predict, WhatTheBoxCountsItselfIsAdded) {
  bench.box.serve = nullptr;
  bench.box.on("POST /api/v1/models/readmission:predict", 200,
               R"({"classes":null,"predictions":[{"value":1},{"value":2}],"warnings":[
                 {"code":"unseen_level","input":"ward","row":1,"detail":"\"Z\" was never seen"},
                 {"code":"unseen_level","input":"ward","row":null,"detail":"and so in 7 more rows"}]})");
  bench.io.input = "age\n5\n6\n";
  const Outcome outcome = bench.run({"predict", "readmission", "--file", "-"});
  EXPECT_EQ(outcome.out, "prediction\r\n1\r\n2\r\n");
  EXPECT_TRUE(has(outcome.err, "ward: \"Z\" was never seen (8 rows, the first is row 2)")) << outcome.err;
}

TEST_F(Predict, ATokenForPredictionsAloneIsEnough) {
  Bench other;
  other.box.on("GET /api/v1/models/stay", 403, R"({"status":403,"code":"denied","detail":"no"})");
  other.box.on("GET /v2/models/stay", 200, R"({"inputs":[{"name":"ward","datatype":"BYTES","shape":[-1]}]})");
  other.box.on("POST /api/v1/models/stay:predict", 200,
               R"({"classes":null,"predictions":[{"value":1}],"warnings":[]})");
  EXPECT_EQ(other.run({"predict", "stay", "--row", "ward=7"}).out, "Prediction: 1\n");
  EXPECT_EQ(json::parse(other.box.last("POST", ":predict").body)["rows"][0]["ward"], "7");
}

TEST_F(Predict, ABusyBoxIsAskedAgain) {
  busy = 2;
  bench.io.input = "age\n5\n";
  EXPECT_EQ(bench.run({"predict", "readmission", "--file", "-"}).code, 0);
}

TEST_F(Predict, AFaultAfterAnswersIsExitCode9) {
  bench.io.input = "age,ward\n1,A\n2\n";
  Outcome outcome = bench.run({"predict", "readmission", "--file", "-"});
  EXPECT_EQ(outcome.code, 9);
  EXPECT_TRUE(has(outcome.err, "line 3")) << outcome.err;
  EXPECT_TRUE(has(outcome.out, "no,0.99,0.01")) << outcome.out;
  bench.io.input = "age\n666\n";
  outcome = bench.run({"predict", "readmission", "--file", "-"});
  EXPECT_EQ(outcome.code, 6);
  EXPECT_TRUE(has(outcome.err, "rows 1 to 1")) << outcome.err;
}

TEST_F(Predict, UsageAndUnknownModels) {
  EXPECT_EQ(bench.run({"predict", "readmission"}).code, 2);
  EXPECT_EQ(bench.run({"predict", "readmission", "--row", "age"}).code, 2);
  EXPECT_EQ(bench.run({"predict", "readmission@x", "--row", "age=1"}).code, 2);
  Outcome outcome = bench.run({"predict", "readmission", "--row", "agee=1"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(has(outcome.err, "did you mean \"age\"")) << outcome.err;
  bench.box.on("GET /api/v1/models?limit=200", 200,
               R"({"items":[{"name":"readmission"}],"next_cursor":null})");
  outcome = bench.run({"predict", "readmision", "--row", "age=1"});
  EXPECT_EQ(outcome.code, 3);
  EXPECT_TRUE(has(outcome.err, "did you mean \"readmission\"")) << outcome.err;
  EXPECT_EQ(bench.run({"predict", "readmission", "--file", "/nowhere.csv"}).code, 3);
}

}  // namespace
}  // namespace samovar::cli
