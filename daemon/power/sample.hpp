// One second of this node's vital signs, as the API shows them. Absent values are null there, never zero.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "daemon/power/gpu.hpp"
#include "daemon/power/power_sensor.hpp"
#include "daemon/power/thermal.hpp"

namespace samovar::power {

struct Sample {
  WallTime t{};
  double covers_s = 0;        // seconds since the sample before; 0 for the first one
  std::optional<double> cpu;  // 0..1 of all processors
  std::optional<double> load1;
  std::optional<std::uint64_t> mem_used_bytes;
  std::optional<std::uint64_t> mem_total_bytes;
  std::optional<std::uint64_t> disk_used_bytes;  // of the file system that holds the state
  std::optional<std::uint64_t> disk_total_bytes;
  std::optional<std::uint64_t> disk_free_bytes;  // for us, without the part reserved for root
  std::optional<double> watts;
  bool watts_estimated = false;
  double watts_error_share = 0;  // how far off it may be: of the watts above rest,
  double watts_error = 0;        // and in watts
  std::optional<double> temp_max_c;
  std::string temp_max_name;         // empty without temp_max_c
  std::optional<double> gpu_load;    // 0..1
  std::optional<double> net_rx_bps;  // bytes per second over all real interfaces
  std::optional<double> net_tx_bps;
  std::optional<std::uint64_t> process_rss_bytes;
  std::optional<double> process_cpu;  // 0..1 of all processors
};

// The parts behind a sample, for the node's page.
struct Sensors {
  std::string power = "none";  // "ina3221", "rapl", "estimate", "none" before the first reading
  std::string power_note;
  std::vector<Temperature> temperatures;
  std::vector<Rail> rails;
  std::optional<GpuReading> gpu;  // nothing when there is no GPU
};

}  // namespace samovar::power
