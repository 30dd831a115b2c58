// What needs a person's attention, from the node's own facts: a pure function, called each second.
//
// Threading: loop only.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/disk.hpp"
#include "daemon/api/services.hpp"
#include "daemon/power/sample.hpp"

namespace samovar::daemon {

inline constexpr std::chrono::seconds kClockSkewMax{5};

// What is amiss between nodes, as this one sees it.
struct ClusterAlerts {
  std::size_t members = 1;
  bool writable = true;
  std::vector<std::string> unreachable;  // names
  std::vector<std::string> skewed;       // whose clock is off by more than kClockSkewMax
  std::vector<std::string> other_versions;
  std::string cloned;                  // "K7Q2-M4XP at 10.0.0.9:41234"
  bool refused = false;                // the others do not take this node for a member
  std::string trouble;                 // why others cannot reach this node
  std::uint64_t under_replicated = 0;  // files
  std::uint64_t lost = 0;              // files without a copy within reach
};

struct AlertInputs {
  WallTime now{};
  DiskSpace disk;
  std::uint64_t disk_reserve_bytes = 0;
  std::string state_dir;
  bool clock_behind = false;
  WallTime web_not_after{};
  std::optional<double> temperature;
  std::string temperature_name;
  std::size_t unlocked_secrets = 0;
  std::string log_failure;   // empty: the log works
  std::string data_failure;  // empty: the store of data sets is open
  std::uint64_t damaged_shards = 0;
  ClusterAlerts cluster;
  std::string power_trouble;  // empty: the power budget holds, or there is none
};

// Those that hold now; one that held before keeps its `since`.
std::vector<api::Alert> current_alerts(const AlertInputs& inputs, const std::vector<api::Alert>& before);
// The same ids with the same severities: numbers inside the texts may move without news.
bool same_alerts(const std::vector<api::Alert>& a, const std::vector<api::Alert>& b);

// The node's gauges at /metrics.
void publish_metrics(const power::Sample& sample);

}  // namespace samovar::daemon
