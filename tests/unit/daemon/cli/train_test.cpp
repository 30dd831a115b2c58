// samovar train …: flags into a specification, and waiting for what comes of it.
#include <gtest/gtest.h>

#include "base/json.hpp"
#include "daemon/cli/config.hpp"
#include "fake_box.hpp"

namespace samovar::cli {
namespace {

using nlohmann::json;

class Train : public testing::Test {
 protected:
  Train() {
    bench.box.on("GET /api/v1/datasets?limit=200", 200,
                 R"({"items":[{"id":"dst_1","name":"Ward 3, North"}],"next_cursor":null})");
    bench.box.on("POST /api/v1/jobs:check", 200,
                 R"({"spec":{"seed":1},"faults":[],"advice":["patient_id may be a group."]})");
    bench.box.on("POST /api/v1/jobs", 201, R"({"id":"job_1","name":"stay","state":"queued"})");
    bench.io.pauses_left = 100;
  }
  Outcome train(std::vector<std::string> more) {
    std::vector<std::string> words = {"train", "glm", "--data", "ward 3, north", "--target", "stay"};
    words.insert(words.end(), more.begin(), more.end());
    return bench.run(words);
  }
  json sent(const std::string& path = "/jobs") { return json::parse(bench.box.last("POST", path).body); }
  bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
  Bench bench;
};

TEST_F(Train, PrintsTheIdAndTellsAdvice) {
  const Outcome outcome = train({});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "job_1\n");
  EXPECT_TRUE(has(outcome.err, "Advice: patient_id may be a group.")) << outcome.err;
  EXPECT_EQ(sent(),
            json::parse(R"({"kind":"glm","dataset":"dst_1","target":"stay","name":"ward-3-north-stay"})"));
}

TEST_F(Train, FlagsBecomeTheSpecification) {
  const Outcome outcome = train({"--name",         "stay",
                                 "--input",        "age,sex",
                                 "--input",        R"(a\,b)",
                                 "--ignore",       "id",
                                 "--exposure",     "days",
                                 "--split",        "group:patient",
                                 "--test",         "0.25",
                                 "--set",          "l2=0.5",
                                 "--set",          "family=poisson",
                                 "--set",          "features.hash_bits=20",
                                 "--interaction",  "age,sex",
                                 "--seed",         "7",
                                 "--data-version", "2"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(sent(),
            json::parse(R"({"kind":"glm","name":"stay","dataset":"dst_1","dataset_version":2,"target":"stay",
      "inputs":["age","sex","a,b"],"ignore":["id"],"exposure":"days","seed":7,
      "split":{"kind":"group","column":"patient","test":0.25},
      "features":{"hash_bits":20,"interactions":[["age","sex"]]},"parameters":{"l2":0.5,"family":"poisson"}})"));
}

TEST_F(Train, WhatIsWrongOnTheCommandLineIsExitCode2) {
  EXPECT_EQ(bench.run({"train", "glm", "--data", "x"}).code, 2);
  EXPECT_EQ(bench.run({"train", "glm", "--target", "x"}).code, 2);
  EXPECT_EQ(train({"--split", "group"}).code, 2);
  EXPECT_EQ(train({"--split", "grup:a"}).code, 2);
  EXPECT_EQ(train({"--set", "l2"}).code, 2);
  EXPECT_EQ(train({"--set", "nonsense.l2=1"}).code, 2);
  EXPECT_EQ(train({"--test", "many"}).code, 2);
  EXPECT_EQ(train({"--interaction", "a"}).code, 2);
  EXPECT_EQ(bench.box.last("POST", "/jobs").url, "");
}

TEST_F(Train, AFileMayHoldTheSpecification) {
  const std::string file = (bench.home / "spec.json").string();
  ASSERT_TRUE(
      write_private_file(file, R"({"spec":{"target":"stay","name":"m","parameters":{"l2":1,"l1":0}}})"));
  const Outcome outcome = bench.run({"train", "glm", "--spec", file, "--data", "dst_1", "--set", "l2=2"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(sent()["parameters"], json::parse(R"({"l2":2,"l1":0})"));
  EXPECT_EQ(sent()["name"], "m");
}

TEST_F(Train, FaultsAreExitCode6AndNothingIsStarted) {
  Bench other;
  other.box.on("GET /api/v1/datasets?limit=200", 200,
               R"({"items":[{"id":"dst_1","name":"W"}],"next_cursor":null})");
  other.box.on(
      "POST /api/v1/jobs:check", 200,
      R"({"spec":{},"faults":[{"pointer":"/target","code":"unknown","detail":"There is no column stay."}],"advice":[]})");
  const Outcome outcome = other.run({"train", "glm", "-d", "W", "-t", "stay"});
  EXPECT_EQ(outcome.code, 6);
  EXPECT_TRUE(has(outcome.err, "/target: There is no column stay.")) << outcome.err;
  EXPECT_EQ(other.box.last("POST", "/jobs").url, "");
}

TEST_F(Train, EstimateStartsNothing) {
  bench.box.on("POST /api/v1/jobs:estimate", 200,
               R"({"seconds":90.5,"watt_hours":0.1234567,"memory_bytes":67108864,"basis":"guessed"})");
  const Outcome outcome = train({"--estimate"});
  EXPECT_TRUE(has(outcome.out, "1 min 30 s") && has(outcome.out, "0.123 Wh") && has(outcome.out, "64.0 MiB"))
      << outcome.out;
  EXPECT_EQ(bench.box.last("POST", "/jobs").url, "");
  EXPECT_EQ(json::parse(train({"--estimate", "--json"}).out)["basis"], "guessed");
}

TEST_F(Train, WaitEndsWithTheEvaluation) {
  bench.box.on(
      "GET /api/v1/jobs/job_1", 200,
      R"({"id":"job_1","state":"running","step":"training","share":0.5,"pass":2,"rows_per_second":1500000,"seconds_left":3})");
  bench.box.on("GET /api/v1/jobs/job_1", 200,
               R"({"id":"job_1","name":"stay","state":"done","share":1,"model":"stay","model_version":4})");
  bench.box.on("GET /api/v1/models/stay/versions/4/evaluation", 200,
               R"({"task":"binary","rows":{"train":70,"valid":10,"test":20},
                   "metrics":{"test":{"auc":{"value":0.75,"low":0.7,"high":0.8}}},"baseline":{"auc":0.5},
                   "leakage":["id tells all."],"notes":[]})");
  bench.io.terminal = true;
  const Outcome outcome = train({"--wait"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(has(outcome.err, "] 100 %")) << outcome.err;
  EXPECT_TRUE(has(outcome.out, "AUC     0.7500  0.7000 – 0.8000    0.5000")) << outcome.out;
  EXPECT_TRUE(has(outcome.out, "Warning: id tells all.")) << outcome.out;
  EXPECT_TRUE(has(outcome.err, "samovar predict stay@4")) << outcome.err;
}

TEST_F(Train, AFailedJobIsExitCode8) {
  bench.box.on("GET /api/v1/jobs/job_1", 200,
               R"({"id":"job_1","state":"failed","error":"The target has one class."})");
  Outcome outcome = train({"--wait"});
  EXPECT_EQ(outcome.code, 8);
  EXPECT_TRUE(has(outcome.err, "The target has one class. Its log: samovar jobs logs job_1")) << outcome.err;
  outcome = train({"--wait", "--json"});
  EXPECT_EQ(outcome.code, 8);
  EXPECT_EQ(json::parse(outcome.out)["state"], "failed");
}

TEST_F(Train, DryRunShowsTheRequest) {
  const Outcome outcome = train({"--dry-run"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(json::parse(outcome.out)["path"], "/api/v1/jobs");
}

}  // namespace
}  // namespace samovar::cli
