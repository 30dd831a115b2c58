#include "daemon/alerts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/ids.hpp"
#include "base/metrics.hpp"

namespace samovar::daemon {
namespace {

using api::Alert;

constexpr double kHotCelsius = 90;

void add_disk(const AlertInputs& in, std::vector<Alert>& out) {
  if (in.disk.total_bytes == 0) return;
  const std::string detail =
      fmt::format("{} MiB are free on the disk of {}.", in.disk.free_bytes >> 20, in.state_dir);
  if (in.disk.free_bytes < in.disk_reserve_bytes) {
    out.push_back({"disk_full",
                   "critical",
                   "The disk is full: changes are refused",
                   detail,
                   "Free some space on that disk. Changes work again at once, without a restart.",
                   {}});
  } else if (in.disk.free_bytes < in.disk_reserve_bytes * 4 ||
             in.disk.free_bytes < in.disk.total_bytes / 20) {
    out.push_back(
        {"disk_low", "warning", "The disk is nearly full", detail, "Free some space on that disk.", {}});
  }
}

}  // namespace

std::vector<Alert> current_alerts(const AlertInputs& in, const std::vector<Alert>& before) {
  std::vector<Alert> out;
  if (!in.log_failure.empty())
    out.push_back({"log_failed",
                   "critical",
                   "The disk failed: nothing can be changed",
                   in.log_failure,
                   "Check the disk, then restart the service: systemctl restart samovard.",
                   {}});
  add_disk(in, out);
  if (!in.data_failure.empty())
    out.push_back({"data_failed",
                   "critical",
                   "The data sets cannot be opened",
                   in.data_failure,
                   "Correct what the message names, then restart the service: systemctl restart samovard.",
                   {}});
  if (in.damaged_shards > 0)
    out.push_back({"data_damaged",
                   "critical",
                   "Stored data is damaged",
                   fmt::format("{} {} of data sets failed the check and will not be read.", in.damaged_shards,
                               in.damaged_shards == 1 ? "piece" : "pieces"),
                   "Check the disk. Upload the data sets that are marked as damaged again.",
                   {}});
  if (in.temperature && *in.temperature >= kHotCelsius)
    out.push_back({"hot",
                   "warning",
                   "The board is hot",
                   fmt::format("{} is at {:.0f} °C.", in.temperature_name, *in.temperature),
                   "Check the fan and the air around the box.",
                   {}});
  if (in.clock_behind)
    out.push_back({"clock",
                   "warning",
                   "The system's clock is wrong",
                   "It is behind a time that has certainly passed; Samovar counts on from that time.",
                   "Set the clock, e.g. with timedatectl set-time.",
                   {}});
  if (in.web_not_after != WallTime{} && in.now + std::chrono::hours(24 * 14) > in.web_not_after)
    out.push_back({"web_certificate",
                   "warning",
                   "The web certificate ends soon",
                   "It is valid until " + format_time(in.web_not_after) + ".",
                   "Restart the service and unlock it: the certificate is then renewed.",
                   {}});
  if (in.unlocked_secrets > 0)
    out.push_back({"memory_lock",
                   "warning",
                   "Keys may be written to swap",
                   "The system did not let Samovar lock its keys into memory.",
                   "Raise LimitMEMLOCK of the service to 64M, or switch swap off.",
                   {}});
  for (Alert& alert : out) {
    const auto known =
        std::find_if(before.begin(), before.end(), [&](const Alert& b) { return b.id == alert.id; });
    alert.since = known != before.end() ? known->since : in.now;
  }
  return out;
}

bool same_alerts(const std::vector<Alert>& a, const std::vector<Alert>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Alert& x, const Alert& y) { return x.id == y.id && x.severity == y.severity; });
}

void publish_metrics(const power::Sample& sample) {
  static metrics::Gauge& cpu =
      metrics::gauge("samovar_node_cpu_ratio", "Processor use, 0 to 1 of all processors.");
  static metrics::Gauge& memory = metrics::gauge("samovar_node_memory_used_bytes", "Memory in use.");
  static metrics::Gauge& disk =
      metrics::gauge("samovar_node_disk_free_bytes", "Free on the disk of the state directory.");
  static metrics::Gauge& watts =
      metrics::gauge("samovar_node_power_watts", "Power of the board; an estimate where no sensor is.");
  static metrics::Gauge& heat = metrics::gauge("samovar_node_temperature_celsius", "The hottest sensor.");
  static metrics::Gauge& resident =
      metrics::gauge("samovar_process_resident_bytes", "Memory of this daemon.");
  if (sample.cpu) cpu.set(*sample.cpu);
  if (sample.mem_used_bytes) memory.set(static_cast<double>(*sample.mem_used_bytes));
  if (sample.disk_free_bytes) disk.set(static_cast<double>(*sample.disk_free_bytes));
  if (sample.watts) watts.set(*sample.watts);
  if (sample.temp_max_c) heat.set(*sample.temp_max_c);
  if (sample.process_rss_bytes) resident.set(static_cast<double>(*sample.process_rss_bytes));
}

}  // namespace samovar::daemon
