// The power budget through the API: the settings document, and how it stands.
#include <gtest/gtest.h>

#include <set>

#include "base/ids.hpp"
#include "daemon/api/handlers_power.hpp"
#include "tests/unit/daemon/api/box.hpp"

namespace samovar::api::test {
namespace {

using nlohmann::json;

const std::string kPath = "/api/v1/settings/power";

TEST(PowerSettings, AreReplacedWithTheirRevisionAndAudited) {
  Box box;
  As admin = box.log_in(box.admin);
  const Reply before = box.get(kPath, admin);
  ASSERT_EQ(before.status, 200);
  EXPECT_TRUE(before.body["budget_watts"].is_null());
  EXPECT_EQ(before.body["ups"], "auto");
  const json document = {
      {"budget_watts", 60.5},
      {"schedule", {{{"days", {"mon", "fri"}}, {"from", "22:00"}, {"to", "06:00"}, {"watts", nullptr}}}},
      {"limit_celsius", 80},
      {"ups", "on"},
      {"ups_watts", 30}};
  EXPECT_EQ(box.send(Method::put, kPath, document, admin).status, 428);
  admin.headers["If-Match"] = before.header("ETag");
  const Reply saved = box.send(Method::put, kPath, document, admin);
  ASSERT_EQ(saved.status, 200) << saved.response.body;
  EXPECT_EQ(saved.body, document);
  EXPECT_NE(saved.header("ETag"), before.header("ETag"));
  EXPECT_EQ(box.audit_count("setting.put"), 1u);
  EXPECT_EQ(box.send(Method::put, kPath, document, admin).status, 412) << "somebody was faster";
  EXPECT_EQ(box.get(kPath, box.log_in_as(cluster::Role::auditor)).body["budget_watts"], 60.5);
}

TEST(PowerSettings, EveryFaultIsNamed) {
  Box box;
  As admin = box.log_in(box.admin);
  admin.headers["If-Match"] = box.get(kPath, admin).header("ETag");
  const json bad = {{"budget_watts", 0.5},
                    {"limit_celsius", "hot"},
                    {"ups", "maybe"},
                    {"schedule",
                     {{{"from", "25:00"}, {"to", "6:00"}, {"watts", 5}},
                      {{"days", {"someday"}}, {"from", "01:00"}, {"to", "02:00"}, {"watts", -1}},
                      7}},
                    {"watts", 3}};
  const Reply reply = box.send(Method::put, kPath, bad, admin);
  ASSERT_EQ(reply.status, 422) << reply.response.body;
  std::set<std::string> pointers;
  for (const auto& error : reply.body["errors"]) pointers.insert(error["pointer"]);
  EXPECT_EQ(pointers, (std::set<std::string>{"/budget_watts", "/limit_celsius", "/ups", "/schedule/0/from",
                                             "/schedule/0/to", "/schedule/1/days", "/schedule/1/watts",
                                             "/schedule/2", "/watts"}));
}

TEST(Power, SaysWhatHoldsAndHowNodesStand) {
  power::ClusterPower all;
  all.leader_id = "node1";
  all.budget_watts = 20;
  all.reason = "schedule";
  all.held = false;
  all.idle_watts = 24;
  power::PowerStatus status;
  status.watts = 24.5;
  status.idle_watts = 24;
  status.duty = 0.02;
  all.nodes.push_back({"node1", "reporting", status, 20});
  all.nodes.push_back({"node2", "unknown", std::nullopt, std::nullopt});
  cluster::NodeRecord row;
  row.id = "node1";
  row.name = "board-1";
  const View view = power_view(all, {row});
  EXPECT_EQ(view["budget_watts"], 20);
  EXPECT_EQ(view["watts"], 24.5);
  EXPECT_TRUE(view["estimated"]);
  EXPECT_NE(view["trouble"].get<std::string>().find("cannot be held"), std::string::npos);
  EXPECT_EQ(view["nodes"][0]["cap_watts"], 20);
  EXPECT_EQ(view["nodes"][0]["name"], "board-1");
  EXPECT_EQ(view["nodes"][1]["state"], "unknown");
  EXPECT_TRUE(view["nodes"][1]["watts"].is_null());
}

TEST(Power, WithoutABudgetNothingHolds) {
  Box box;
  const Reply reply = box.get("/api/v1/power", box.log_in_as(cluster::Role::viewer));
  ASSERT_EQ(reply.status, 200) << reply.response.body;
  EXPECT_TRUE(reply.body["budget_watts"].is_null());
  EXPECT_EQ(reply.body["reason"], "none");
}

TEST(Power, TheNextChangeOfTheScheduleIsFound) {
  power::Settings settings;
  const auto at = [](const char* text) { return parse_time(text).value(); };
  EXPECT_FALSE(next_change(settings, at("2026-11-18T11:06:40Z"), {}));
  settings.schedule.push_back({0x7f, 22 * 60, 6 * 60, 40});
  EXPECT_EQ(next_change(settings, at("2026-11-18T11:06:40Z"), {}), at("2026-11-18T22:00:00Z"));
  EXPECT_EQ(next_change(settings, at("2026-11-18T11:06:40Z"), std::chrono::hours(1)),
            at("2026-11-18T21:00:00Z"));
  EXPECT_EQ(next_change(settings, at("2026-11-18T23:00:00Z"), {}), at("2026-11-19T06:00:00Z"));
  settings.budget_watts = 40;
  EXPECT_FALSE(next_change(settings, at("2026-11-18T11:06:40Z"), {})) << "the same watts all day";
}

}  // namespace
}  // namespace samovar::api::test
