// samovar scorings … against canned answers.
#include <gtest/gtest.h>

#include "base/json.hpp"
#include "daemon/cli/config.hpp"
#include "fake_box.hpp"

namespace samovar::cli {
namespace {

using nlohmann::json;

class Scorings : public testing::Test {
 protected:
  Scorings() {
    bench.io.pauses_left = 100;
    bench.box.on("GET /api/v1/datasets?limit=200", 200,
                 R"({"items":[{"id":"dst_1","name":"W"}],"next_cursor":null})");
    bench.box.on("POST /api/v1/scorings", 202, R"({"id":"scr_1","state":"queued"})");
  }
  bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
  Bench bench;
};

TEST_F(Scorings, StartPrintsTheId) {
  const Outcome outcome = bench.run({"scorings", "start", "stay@2", "--data", "W", "--keep", "id,ward"});
  EXPECT_EQ(outcome.out, "scr_1\n") << outcome.err;
  EXPECT_EQ(json::parse(bench.box.last("POST", "/scorings").body),
            json::parse(R"({"model":"stay","version":2,"dataset_id":"dst_1","keep":["id","ward"]})"));
  EXPECT_EQ(bench.run({"scorings", "start", "stay"}).code, 2);
}

TEST_F(Scorings, OutWaitsAndWrites) {
  bench.box.on("GET /api/v1/scorings/scr_1", 200,
               R"({"id":"scr_1","state":"running","rows":5,"rows_total":10})");
  bench.box.on(
      "GET /api/v1/scorings/scr_1", 200,
      R"({"id":"scr_1","state":"done","rows":10,"rows_total":10,"warnings":[{"code":"unseen_level","detail":"ward: 3 levels were never seen."}]})");
  bench.box.on("GET /api/v1/scorings/scr_1/result", 200, "prediction\r\n1\r\n");
  const std::string file = (bench.home / "scores.csv").string();
  const Outcome outcome =
      bench.run({"scorings", "start", "stay", "-d", "W", "--out", file, "--progress", "json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(read_file(file).value(), "prediction\r\n1\r\n");
  EXPECT_TRUE(has(outcome.err, "3 levels were never seen")) << outcome.err;
  EXPECT_TRUE(has(outcome.err, R"("total":10)")) << outcome.err;
}

TEST_F(Scorings, AFailedOneIsExitCode8) {
  bench.box.on("GET /api/v1/scorings/scr_1", 200,
               R"({"id":"scr_1","state":"failed","error":"The disk is full."})");
  const Outcome outcome = bench.run({"scorings", "wait", "scr_1"});
  EXPECT_EQ(outcome.code, 8);
  EXPECT_TRUE(has(outcome.err, "The disk is full."));
}

TEST_F(Scorings, Delete) {
  bench.box.on("DELETE /api/v1/scorings/scr_1", 204, "");
  EXPECT_EQ(bench.run({"scorings", "delete", "scr_1"}).code, 0);
}

}  // namespace
}  // namespace samovar::cli
