// samovar power: what is shown, and that a change keeps what was not named.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fake_box.hpp"

#include "base/json.hpp"

namespace samovar::cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

constexpr const char* kPower =
    R"({"budget_watts":60.0,"reason":"schedule","job_id":"","changes_at":null,"held":true,"trouble":"","watts":57.25,
 "mean_watts":56.5,"estimated":true,"idle_watts":12.0,"leader":"node-a","advice":"Nothing.","nodes":[
 {"id":"node-a","name":"board-1","state":"reporting","cap_watts":40.0,"working":true,"watts":38.0,"estimated":false,
  "idle_watts":8.0,"duty":0.5,"clock_level":2,"clock_levels":6,"clocks":"cpufreq policy0","temperature":61.0,"hot":false,
  "on_battery":false,"probing":false,"curve":[]}]})";
constexpr const char* kSettings =
    R"({"budget_watts":60.0,"schedule":[],"limit_celsius":80.0,"ups":"auto","ups_watts":null})";

class Power : public ::testing::Test {
 protected:
  Power() {
    bench.box.on("GET /api/v1/power", 200, kPower);
    bench.box.on("GET /api/v1/settings/power", 200, kSettings);
    bench.box.on("PUT /api/v1/settings/power", 200, kSettings);
  }
  json sent() { return json::parse(bench.box.last("PUT", "/settings/power").body, nullptr, false); }
  Bench bench;
};

TEST_F(Power, ShowSaysTheBudgetWhyAndEachNode) {
  const Outcome outcome = bench.run({"power", "show"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("by the schedule"));
  EXPECT_THAT(outcome.out, HasSubstr("(estimated)"));
  EXPECT_THAT(outcome.out, HasSubstr("board-1"));
  EXPECT_THAT(outcome.out, HasSubstr("50"));
}

TEST_F(Power, ABudgetKeepsTheRest) {
  EXPECT_EQ(bench.run({"power", "budget", "45"}).code, 0);
  EXPECT_EQ(sent()["budget_watts"], 45);
  EXPECT_EQ(sent()["limit_celsius"], 80);
  EXPECT_EQ(bench.run({"power", "budget", "none"}).code, 0);
  EXPECT_TRUE(sent()["budget_watts"].is_null());
  EXPECT_EQ(bench.run({"power", "budget", "much"}).code, 2);
}

TEST_F(Power, AScheduleIsWrittenAsPeopleSayIt) {
  const Outcome outcome = bench.run({"power", "schedule", "22:00-06:00=none", "mon,tue@06:00-22:00=60"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const json schedule = sent()["schedule"];
  ASSERT_EQ(schedule.size(), 2u);
  EXPECT_TRUE(schedule[0]["watts"].is_null());
  EXPECT_FALSE(schedule[0].contains("days"));
  EXPECT_EQ(schedule[1]["days"], json({"mon", "tue"}));
  EXPECT_EQ(schedule[1]["to"], "22:00");
  EXPECT_EQ(bench.run({"power", "schedule", "at night"}).code, 2);
  EXPECT_EQ(bench.run({"power", "schedule", "none"}).code, 0);
  EXPECT_TRUE(sent()["schedule"].empty());
}

TEST_F(Power, HeatAndUps) {
  EXPECT_EQ(bench.run({"power", "heat", "75"}).code, 0);
  EXPECT_EQ(sent()["limit_celsius"], 75);
  EXPECT_EQ(bench.run({"power", "ups", "on", "--watts", "30"}).code, 0);
  EXPECT_EQ(sent()["ups"], "on");
  EXPECT_EQ(sent()["ups_watts"], 30);
  EXPECT_EQ(bench.run({"power", "ups", "perhaps"}).code, 2);
}

}  // namespace
}  // namespace samovar::cli
