#include "daemon/alerts.hpp"

#include <gtest/gtest.h>

namespace samovar::daemon {
namespace {

AlertInputs healthy() {
  AlertInputs inputs;
  inputs.now = WallTime(std::chrono::hours(24 * 365 * 56));
  inputs.disk = {100ull << 30, 50ull << 30};
  inputs.disk_reserve_bytes = 64ull << 20;
  inputs.web_not_after = inputs.now + std::chrono::hours(24 * 300);
  inputs.temperature = 60.0;
  return inputs;
}

std::string ids(const std::vector<api::Alert>& alerts) {
  std::string out;
  for (const auto& alert : alerts) out += alert.id + ":" + alert.severity + " ";
  return out;
}

TEST(Alerts, NoneWhenAllIsWell) { EXPECT_EQ(ids(current_alerts(healthy(), {})), ""); }

TEST(Alerts, EachTroubleHasItsOwnWithARemedy) {
  AlertInputs inputs = healthy();
  inputs.disk.free_bytes = 10 << 20;
  inputs.clock_behind = true;
  inputs.temperature = 95.0;
  inputs.unlocked_secrets = 1;
  inputs.log_failure = "write failed";
  inputs.web_not_after = inputs.now + std::chrono::hours(24);
  const auto alerts = current_alerts(inputs, {});
  EXPECT_EQ(ids(alerts),
            "log_failed:critical disk_full:critical hot:warning clock:warning web_certificate:warning "
            "memory_lock:warning ");
  for (const auto& alert : alerts) {
    EXPECT_FALSE(alert.remedy.empty()) << alert.id;
    EXPECT_EQ(alert.since, inputs.now);
  }
}

TEST(Alerts, ALowDiskWarnsBeforeItIsFull) {
  AlertInputs inputs = healthy();
  inputs.disk.free_bytes = 4ull << 30;
  EXPECT_EQ(ids(current_alerts(inputs, {})), "disk_low:warning ");
}

TEST(Alerts, KeepTheTimeTheyBegan) {
  AlertInputs inputs = healthy();
  inputs.clock_behind = true;
  const auto first = current_alerts(inputs, {});
  inputs.now += std::chrono::hours(1);
  const auto second = current_alerts(inputs, first);
  EXPECT_EQ(second[0].since, first[0].since);
  EXPECT_TRUE(same_alerts(first, second));
  EXPECT_FALSE(same_alerts(first, {}));
}

TEST(Alerts, ClustersHaveTroublesOfTheirOwn) {
  AlertInputs inputs = healthy();
  inputs.cluster.members = 2;
  EXPECT_EQ(ids(current_alerts(inputs, {})), "two_nodes:info ");
  inputs.cluster.members = 3;
  EXPECT_EQ(ids(current_alerts(inputs, {})), "");
  inputs.cluster.writable = false;
  inputs.cluster.cloned = "K7Q2-M4XP at 10.0.0.9:4123";
  inputs.cluster.unreachable = {"urn", "kettle"};
  inputs.cluster.lost = 1;
  inputs.cluster.under_replicated = 2;
  inputs.cluster.skewed = {"urn"};
  inputs.cluster.other_versions = {"urn (0.2.0)"};
  inputs.cluster.trouble = "port 7443 is in use";
  const auto alerts = current_alerts(inputs, {});
  EXPECT_EQ(ids(alerts),
            "no_quorum:critical cloned_node:critical node_unreachable:warning data_unreachable:critical "
            "copies_missing:warning clock_skew:warning other_version:info mesh_port:warning ");
  for (const auto& alert : alerts) EXPECT_FALSE(alert.remedy.empty()) << alert.id;
  EXPECT_EQ(alerts[2].detail, "urn, kettle");
}

}  // namespace
}  // namespace samovar::daemon
