// Raw counters of the system and of this process, and the rates between two readings of them.
//
// A rate needs two readings; where there is only one, or a counter went backwards (interface
// re-created, processor unplugged, wrap), the rate is absent for that step, never a wrong number.
//
// Threading: pure functions.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "daemon/power/sysfs.hpp"

namespace samovar::power {

struct NetCounters {
  std::uint64_t rx_bytes = 0;
  std::uint64_t tx_bytes = 0;
};

struct Counters {
  MonoTime at{};
  // Ticks since boot, all processors; absent when /proc/stat does not parse.
  std::optional<std::uint64_t> cpu_total;
  std::optional<std::uint64_t> cpu_idle;
  std::optional<double> load1;
  std::optional<std::uint64_t> mem_total_bytes;
  std::optional<std::uint64_t> mem_available_bytes;
  // By name; without lo and without interfaces that have no hardware behind them when there is one that has.
  std::map<std::string, NetCounters> net;
  std::optional<std::uint64_t> process_ticks;
  std::optional<std::uint64_t> process_rss_bytes;
};

struct Rates {
  std::optional<double> cpu;         // 0..1 of all processors
  std::optional<double> net_rx_bps;  // bytes per second
  std::optional<double> net_tx_bps;
  std::optional<double> process_cpu;  // 0..1 of all processors
};

Counters read_counters(const Sysfs& sys, MonoTime now);
Rates rates_between(const Counters& before, const Counters& after);

// The parsers, apart so that tests and fuzzing reach them.
void parse_proc_stat(std::string_view text, Counters& out);
void parse_meminfo(std::string_view text, Counters& out);
std::map<std::string, NetCounters> parse_net_dev(std::string_view text);
void parse_self_stat(std::string_view text, Counters& out);

}  // namespace samovar::power
