#include "daemon/power/vitals.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <vector>

namespace samovar::power {
namespace {

constexpr std::size_t kProcBytesMax = 65536;
constexpr std::size_t kInterfacesMax = 256;

std::string_view next_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

std::string_view next_word(std::string_view& line) {
  const std::size_t begin = std::min(line.find_first_not_of(" \t"), line.size());
  const std::size_t end = std::min(line.find_first_of(" \t", begin), line.size());
  const std::string_view word = line.substr(begin, end - begin);
  line.remove_prefix(end);
  return word;
}

std::optional<std::uint64_t> parse_unsigned(std::string_view word) {
  std::uint64_t value = 0;
  const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (word.empty() || error != std::errc{} || stop != word.data() + word.size()) return std::nullopt;
  return value;
}

std::optional<double> parse_load(std::string_view text) {
  double value = 0;
  const std::string_view word = next_word(text);
  const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{} || stop != word.data() + word.size() || !(value >= 0 && value < 1e6))
    return std::nullopt;
  return value;
}

// Prefers interfaces with hardware: a bridge or a tunnel only shows the same bytes again.
std::map<std::string, NetCounters> real_interfaces(const Sysfs& sys, std::map<std::string, NetCounters> all) {
  std::map<std::string, NetCounters> real;
  for (const auto& entry : all)
    if (entry.first.find('/') == std::string::npos && sys.exists("/sys/class/net/" + entry.first + "/device"))
      real.insert(entry);
  if (real.empty()) return all;
  return real;
}

std::optional<std::uint64_t> advance(std::optional<std::uint64_t> before,
                                     std::optional<std::uint64_t> after) {
  if (!before || !after || *after < *before) return std::nullopt;
  return *after - *before;
}

// Over the interfaces that both readings know; one whose counter went back is left out for this step.
void net_rates(const Counters& before, const Counters& after, double seconds, Rates& out) {
  double rx = 0;
  double tx = 0;
  bool any = false;
  for (const auto& entry : after.net) {
    const auto old = before.net.find(entry.first);
    if (old == before.net.end() || entry.second.rx_bytes < old->second.rx_bytes ||
        entry.second.tx_bytes < old->second.tx_bytes)
      continue;
    rx += static_cast<double>(entry.second.rx_bytes - old->second.rx_bytes);
    tx += static_cast<double>(entry.second.tx_bytes - old->second.tx_bytes);
    any = true;
  }
  if (!any) return;
  out.net_rx_bps = rx / seconds;
  out.net_tx_bps = tx / seconds;
}

}  // namespace

void parse_proc_stat(std::string_view text, Counters& out) {
  std::string_view line = next_line(text);
  if (next_word(line) != "cpu") return;
  // user nice system idle iowait irq softirq steal; guest time is inside user already.
  std::uint64_t total = 0;
  std::uint64_t idle = 0;
  int fields = 0;
  for (; fields < 8; ++fields) {
    const auto value = parse_unsigned(next_word(line));
    if (!value) break;
    if (*value > std::numeric_limits<std::uint64_t>::max() / 16) return;
    total += *value;
    if (fields == 3 || fields == 4) idle += *value;
  }
  if (fields < 4) return;
  out.cpu_total = total;
  out.cpu_idle = idle;
}

void parse_meminfo(std::string_view text, Counters& out) {
  while (!text.empty()) {
    std::string_view line = next_line(text);
    const std::string_view key = next_word(line);
    if (key != "MemTotal:" && key != "MemAvailable:") continue;
    const auto kilobytes = parse_unsigned(next_word(line));
    if (!kilobytes || *kilobytes > std::numeric_limits<std::uint64_t>::max() / 1024) continue;
    (key == "MemTotal:" ? out.mem_total_bytes : out.mem_available_bytes) = *kilobytes * 1024;
  }
}

std::map<std::string, NetCounters> parse_net_dev(std::string_view text) {
  std::map<std::string, NetCounters> all;
  while (!text.empty() && all.size() < kInterfacesMax) {
    std::string_view line = next_line(text);
    const std::size_t colon = line.rfind(':');  // an alias such as "eth0:1" has one in its name
    if (colon == std::string_view::npos) continue;
    std::string_view head = line.substr(0, colon);
    const std::string name(next_word(head));
    if (name.empty() || name == "lo") continue;
    line.remove_prefix(colon + 1);
    NetCounters counters;
    bool whole = true;
    for (int field = 0; field < 9 && whole; ++field) {  // bytes received is the first, sent the ninth
      const auto value = parse_unsigned(next_word(line));
      whole = value.has_value();
      if (field == 0) counters.rx_bytes = value.value_or(0);
      if (field == 8) counters.tx_bytes = value.value_or(0);
    }
    if (whole) all[name] = counters;
  }
  return all;
}

void parse_self_stat(std::string_view text, Counters& out) {
  // The program's name is in brackets and may hold blanks and brackets: count from the last one.
  const std::size_t bracket = text.rfind(')');
  if (bracket == std::string_view::npos) return;
  text.remove_prefix(bracket + 1);
  std::vector<std::string_view> fields;
  while (fields.size() < 22) fields.push_back(next_word(text));
  // proc(5): utime and stime are fields 14 and 15, rss (pages) is 24; the first here is field 3.
  const auto user = parse_unsigned(fields[11]);
  const auto system = parse_unsigned(fields[12]);
  if (user && system && *user < (1ULL << 62) && *system < (1ULL << 62)) out.process_ticks = *user + *system;
  const auto pages = parse_unsigned(fields[21]);
  if (pages && *pages < (1ULL << 40))
    out.process_rss_bytes = *pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

Counters read_counters(const Sysfs& sys, MonoTime now) {
  Counters counters;
  counters.at = now;
  parse_proc_stat(sys.text("/proc/stat").value_or(""), counters);
  parse_meminfo(sys.text("/proc/meminfo").value_or(""), counters);
  counters.load1 = parse_load(sys.text("/proc/loadavg").value_or(""));
  counters.net = real_interfaces(sys, parse_net_dev(sys.text("/proc/net/dev", kProcBytesMax).value_or("")));
  parse_self_stat(sys.text("/proc/self/stat").value_or(""), counters);
  return counters;
}

Rates rates_between(const Counters& before, const Counters& after) {
  Rates rates;
  const double seconds = std::chrono::duration<double>(after.at - before.at).count();
  const auto total = advance(before.cpu_total, after.cpu_total);
  if (total && *total > 0) {
    // The idle count alone may step back a little (iowait moves between processors): that is no idling.
    const double idle = static_cast<double>(advance(before.cpu_idle, after.cpu_idle).value_or(0));
    const double ticks = static_cast<double>(*total);
    rates.cpu = std::clamp(1.0 - idle / ticks, 0.0, 1.0);
    if (const auto own = advance(before.process_ticks, after.process_ticks))
      rates.process_cpu = std::clamp(static_cast<double>(*own) / ticks, 0.0, 1.0);
  }
  if (seconds > 0) net_rates(before, after, seconds, rates);
  return rates;
}

}  // namespace samovar::power
