// samovar jobs … against canned answers.
#include <gtest/gtest.h>

#include "fake_box.hpp"

#include "base/json.hpp"

namespace samovar::cli {
namespace {

using nlohmann::json;

class Jobs : public testing::Test {
 protected:
  Jobs() { bench.io.pauses_left = 100; }
  bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
  Bench bench;
};

TEST_F(Jobs, ActsAreTold) {
  for (const char* verb : {"pause", "resume", "cancel", "retry"}) {
    bench.box.on(std::string("POST /api/v1/jobs/job_1:") + verb, 200, R"({"id":"job_1","state":"queued"})");
    const Outcome outcome = bench.run({"jobs", verb, "job_1"});
    EXPECT_EQ(outcome.code, 0) << verb << outcome.err;
    EXPECT_TRUE(has(outcome.err, "job_1")) << outcome.err;
    EXPECT_EQ(json::parse(bench.run({"jobs", verb, "job_1", "--json"}).out)["id"], "job_1");
  }
  bench.box.on("POST /api/v1/jobs/job_2:pause", 409,
               R"({"status":409,"code":"job_state","detail":"It has ended."})");
  EXPECT_EQ(bench.run({"jobs", "pause", "job_2"}).code, 5);
}

TEST_F(Jobs, DeletingAsksAndProtectionIsAPatch) {
  bench.box.on("DELETE /api/v1/jobs/job_1", 204, "");
  EXPECT_EQ(bench.run({"jobs", "delete", "job_1"}).code, 2);
  EXPECT_EQ(bench.run({"jobs", "delete", "job_1", "--yes"}).code, 0);
  bench.box.on("PATCH /api/v1/jobs/job_1", 200, R"({"id":"job_1","protected":true})");
  EXPECT_EQ(bench.run({"jobs", "protect", "job_1"}).code, 0);
  EXPECT_EQ(json::parse(bench.box.last("PATCH", "/jobs/job_1").body), json::parse(R"({"protected":true})"));
  EXPECT_EQ(bench.run({"jobs", "unprotect", "job_1"}).code, 0);
  EXPECT_EQ(json::parse(bench.box.last("PATCH", "/jobs/job_1").body), json::parse(R"({"protected":false})"));
}

TEST_F(Jobs, LogsAreReadToTheEndAndFollowed) {
  bench.box.on(
      "GET /api/v1/jobs/job_1/logs?after=0&limit=500", 200,
      R"({"items":[{"seq":1,"at":"2026-11-16T06:00:00Z","level":"info","text":"begun \u001b[2J"}]})");
  bench.box.on("GET /api/v1/jobs/job_1/logs?after=1&limit=500", 200,
               R"({"items":[{"seq":2,"at":"2026-11-16T06:00:01Z","level":"warning","text":"slow"}]})");
  bench.box.on("GET /api/v1/jobs/job_1/logs?after=2&limit=500", 200, R"({"items":[]})");
  EXPECT_EQ(bench.run({"jobs", "logs", "job_1"}).out, "2026-11-16 06:00:00  info    begun \xEF\xBF\xBD[2J\n");
  bench.box.on("GET /api/v1/jobs/job_1", 200, R"({"id":"job_1","state":"running"})");
  bench.box.on("GET /api/v1/jobs/job_1", 200, R"({"id":"job_1","state":"done"})");
  const Outcome outcome = bench.run({"jobs", "logs", "job_1", "-f"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(has(outcome.out, "2026-11-16 06:00:01  warning slow\n")) << outcome.out;
}

TEST_F(Jobs, MetricsAsTableCsvAndLines) {
  bench.box.on("GET /api/v1/jobs/job_1/metrics", 200,
               R"({"names":["step","train_loss"],"cols":[[10,20],[0.69314718,null]]})");
  EXPECT_EQ(bench.run({"jobs", "metrics", "job_1"}).out,
            "         step   train_loss\n           10     0.693147\n           20            –\n");
  EXPECT_EQ(bench.run({"jobs", "metrics", "job_1", "-o", "csv"}).out,
            "step,train_loss\r\n10,0.69314718\r\n20,\r\n");
  EXPECT_EQ(bench.run({"jobs", "metrics", "job_1", "-o", "jsonl"}).out,
            "{\"step\":10,\"train_loss\":0.69314718}\n{\"step\":20,\"train_loss\":null}\n");
  EXPECT_EQ(json::parse(bench.run({"jobs", "metrics", "job_1", "--json"}).out)["names"][0], "step");
}

TEST_F(Jobs, FollowedMetricsComeOnceEvenWhenTheHistoryIsThinnedOut) {
  bench.box.on("GET /api/v1/jobs/job_1", 200, R"({"id":"job_1","state":"running"})");
  bench.box.on("GET /api/v1/jobs/job_1", 200, R"({"id":"job_1","state":"done"})");
  bench.box.on("GET /api/v1/jobs/job_1/metrics", 200, R"({"names":["step"],"cols":[[1,2,3]]})");
  bench.box.on("GET /api/v1/jobs/job_1/metrics", 200, R"({"names":["step"],"cols":[[1,3,4]]})");
  EXPECT_EQ(bench.run({"jobs", "metrics", "job_1", "-f", "-o", "csv"}).out, "step\r\n1\r\n2\r\n3\r\n4\r\n");
}

TEST_F(Jobs, WaitingOutlivesARestartAndCtrlCLeavesTheJobRunning) {
  int asked = 0;
  bench.box.serve = [&](const HttpRequest&) -> std::optional<Result<HttpReply>> {
    if (++asked > 3) return std::nullopt;
    return Result<HttpReply>(Error{Errc::io, "nothing answers"});
  };
  bench.box.on("GET /api/v1/jobs/job_1", 200, R"({"id":"job_1","state":"done"})");
  EXPECT_EQ(bench.run({"jobs", "wait", "job_1"}).code, 0);
  EXPECT_GE(asked, 4);
  bench.box.on("GET /api/v1/jobs/job_2", 200, R"({"id":"job_2","state":"queued","queue_position":2})");
  bench.io.pauses_left = 2;
  const Outcome outcome = bench.run({"jobs", "wait", "job_2", "--progress", "json"});
  EXPECT_TRUE(has(outcome.err, "samovar jobs wait job_2")) << outcome.err;
  EXPECT_TRUE(has(outcome.err, "waiting, 2 before it")) << outcome.err;
}

TEST_F(Jobs, ACancelledJobIsExitCode8) {
  bench.box.on("GET /api/v1/jobs/job_1", 200, R"({"id":"job_1","state":"cancelled"})");
  const Outcome outcome = bench.run({"jobs", "wait", "job_1"});
  EXPECT_EQ(outcome.code, 8);
  EXPECT_TRUE(has(outcome.err, "samovar jobs retry job_1")) << outcome.err;
}

}  // namespace
}  // namespace samovar::cli
