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

std::string list_of(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

void add_copies(const ClusterAlerts& in, std::vector<Alert>& out) {
  if (in.lost > 0)
    out.push_back(
        {"data_unreachable",
         "critical",
         "Some data cannot be reached",
         fmt::format("No copy of {} {} is on a node that answers.", in.lost, in.lost == 1 ? "file" : "files"),
         "Bring the nodes back that hold them: the shard map of a data set names them.",
         {}});
  if (in.under_replicated > 0)
    out.push_back(
        {"copies_missing",
         "warning",
         "Some data has fewer copies than wanted",
         fmt::format("{} {} are being copied, or wait for a node or for room.", in.under_replicated,
                     in.under_replicated == 1 ? "file" : "files"),
         "Nothing, if nodes are up and have room: it mends itself. Else bring a node back, or add one.",
         {}});
}

void add_cluster(const ClusterAlerts& in, std::vector<Alert>& out) {
  // Who is refused is not in need of more nodes.
  if (!in.writable && !in.refused)
    out.push_back({"no_quorum",
                   "critical",
                   "Too few nodes answer: nothing can be changed",
                   "More than half of the voting nodes must reach each other. Reading still works.",
                   "Bring the missing nodes back, or mend the network between them.",
                   {}});
  if (in.refused)
    out.push_back(
        {"not_a_member",
         "critical",
         "This node is no member of its cluster any more",
         "The other nodes refuse it: it was removed while it was away. What is shown here is as old "
         "as its last contact.",
         "To use it again, make it a new node at its console (samovard --factory-reset) and add it. "
         "If nobody removed it, see samovar doctor.",
         {}});
  if (!in.cloned.empty())
    out.push_back({"cloned_node",
                   "critical",
                   "Two machines have the same identity",
                   "A second machine with the keys of a member was refused: " + in.cloned + ".",
                   "One has a copy of the other's disk. Make the copy a new node: samovard --factory-reset.",
                   {}});
  if (!in.unreachable.empty() && !in.refused)
    out.push_back(
        {"node_unreachable",
         "warning",
         in.unreachable.size() == 1 ? "A node does not answer" : "Nodes do not answer",
         list_of(in.unreachable),
         "Check power and network there; samovar doctor says which way is closed. If it is gone for good, "
         "remove it.",
         {}});
  add_copies(in, out);
  if (!in.skewed.empty())
    out.push_back({"clock_skew",
                   "warning",
                   "Clocks differ",
                   "By more than 5 seconds against this node: " + list_of(in.skewed) + ".",
                   "Set the clocks, e.g. with timedatectl set-time. The cluster goes by its leader's.",
                   {}});
  if (!in.other_versions.empty())
    out.push_back({"other_version",
                   "info",
                   "Nodes run different versions",
                   list_of(in.other_versions),
                   "Update them one after the other; neighbouring versions work together.",
                   {}});
  if (!in.trouble.empty())
    out.push_back(
        {"mesh_port",
         "warning",
         "Other nodes cannot find or reach this one",
         in.trouble,
         "Free the port, or choose others with mesh_listen and discovery_port in the configuration.",
         {}});
  if (in.members == 2)
    out.push_back({"two_nodes",
                   "info",
                   "Two nodes cannot lose one of them",
                   "With two, both must answer for anything to be changed.",
                   "Add a third node: then any one may fail.",
                   {}});
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
  add_cluster(in.cluster, out);
  if (!in.power_trouble.empty())
    out.push_back({"power_budget",
                   "warning",
                   "The power budget cannot be held",
                   in.power_trouble,
                   "Raise the budget, or switch nodes off. Until then work goes on as slowly as it can.",
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
