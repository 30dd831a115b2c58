// The live views: node, sample, cluster, alerts.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/ids.hpp"
#include "daemon/api/time_zone.hpp"
#include "daemon/api/views.hpp"

namespace samovar::api {
namespace {

template <class T>
View or_null(const std::optional<T>& value) {
  return value ? View(*value) : View(nullptr);
}

View sensors_view(const power::Sensors& sensors) {
  View temperatures = View::array();
  for (const auto& t : sensors.temperatures)
    temperatures.push_back({{"name", t.name}, {"celsius", t.celsius}});
  View rails = View::array();
  for (const auto& rail : sensors.rails) rails.push_back({{"name", rail.name}, {"watts", rail.watts}});
  View gpu = nullptr;
  if (sensors.gpu) gpu = {{"load", or_null(sensors.gpu->load)}, {"clock_hz", or_null(sensors.gpu->clock_hz)}};
  return {{"power", sensors.power},
          {"power_note", sensors.power_note},
          {"temperatures", std::move(temperatures)},
          {"rails", std::move(rails)},
          {"gpu", std::move(gpu)}};
}

View health_view(const std::vector<Alert>& alerts) {
  const auto count = [&](std::string_view severity) {
    return std::count_if(alerts.begin(), alerts.end(),
                         [&](const Alert& a) { return a.severity == severity; });
  };
  if (count("critical") > 0) {
    const auto worst =
        std::find_if(alerts.begin(), alerts.end(), [](const Alert& a) { return a.severity == "critical"; });
    return {{"state", "critical"}, {"summary", worst->title}};
  }
  if (count("warning") > 0) {
    const auto first =
        std::find_if(alerts.begin(), alerts.end(), [](const Alert& a) { return a.severity == "warning"; });
    return {{"state", "warning"}, {"summary", first->title}};
  }
  return {{"state", "ok"}, {"summary", "All is well"}};
}

}  // namespace

View sample_view(const power::Sample& sample) {
  if (sample.t == WallTime{}) return nullptr;
  return {{"t", format_time(sample.t)},
          {"cpu", or_null(sample.cpu)},
          {"load1", or_null(sample.load1)},
          {"mem_used_bytes", or_null(sample.mem_used_bytes)},
          {"mem_total_bytes", or_null(sample.mem_total_bytes)},
          {"disk_used_bytes", or_null(sample.disk_used_bytes)},
          {"disk_total_bytes", or_null(sample.disk_total_bytes)},
          {"watts", or_null(sample.watts)},
          {"watts_estimated", sample.watts_estimated},
          {"temp_max_c", or_null(sample.temp_max_c)},
          {"temp_max_name", sample.temp_max_c ? View(sample.temp_max_name) : View(nullptr)},
          {"gpu_load", or_null(sample.gpu_load)},
          {"net_rx_bps", or_null(sample.net_rx_bps)},
          {"net_tx_bps", or_null(sample.net_tx_bps)},
          {"process_rss_bytes", or_null(sample.process_rss_bytes)},
          {"process_cpu", or_null(sample.process_cpu)}};
}

View node_view(Services& services) {
  const NodeFacts& facts = services.node.facts();
  const auto up =
      std::chrono::duration_cast<std::chrono::seconds>(services.loop.clock().mono() - facts.started_mono);
  std::string name = facts.hostname;
  for (const auto& row : services.cluster().nodes())
    if (row.id == facts.id && !row.name.empty()) name = row.name;
  return {{"id", facts.id},
          {"name", name},
          {"hostname", facts.hostname},
          {"model", facts.model},
          {"state", "up"},
          {"role", "voter"},
          {"version", SAMOVAR_VERSION},
          {"arch", facts.arch},
          {"cores", facts.cores},
          {"memory_bytes", facts.memory_bytes},
          {"disk_bytes", services.node.disk_space().total_bytes},
          {"started_at", format_time(facts.started_at)},
          {"uptime_s", up.count()},
          {"addresses", services.node.addresses()},
          {"sensors", sensors_view(services.node.sensors())},
          {"sandbox", facts.sandbox},
          {"compute", facts.compute},
          {"sample", sample_view(services.node.sample())}};
}

View nodes_view(Services& services) { return View::array({node_view(services)}); }

View alert_view(const Alert& alert) {
  return {{"id", alert.id},         {"severity", alert.severity}, {"title", alert.title},
          {"detail", alert.detail}, {"remedy", alert.remedy},     {"since", format_time(alert.since)}};
}

View alerts_view(Services& services) {
  View items = View::array();
  for (const auto& alert : services.node.alerts()) items.push_back(alert_view(alert));
  return items;
}

View cluster_view(Services& services) {
  const auto info = services.cluster().info().value_or(cluster::ClusterInfo{});
  const power::Sample& sample = services.node.sample();
  const DiskSpace disk = services.node.disk_space();
  const WallTime now = services.now();
  const auto energy = services.node.history().energy(local_midnight(info.time_zone, now), now);
  View energy_wh = nullptr;
  if (energy.seconds > 0) energy_wh = energy.joules / 3600;
  return {{"id", info.id},
          {"name", info.name},
          {"created_at", format_time(info.created_at)},
          {"version", SAMOVAR_VERSION},
          {"phase", to_string(services.node.phase())},
          {"time_zone", info.time_zone},
          {"health", health_view(services.node.alerts())},
          {"nodes", {{"total", 1}, {"up", 1}}},
          {"power",
           {{"watts", or_null(sample.watts)},
            {"estimated", sample.watts_estimated},
            {"energy_today_wh", energy_wh}}},
          {"storage", {{"total_bytes", disk.total_bytes}, {"free_bytes", disk.free_bytes}}},
          {"time", format_time(now)},
          {"etag", etag_of(info.revision)}};
}

}  // namespace samovar::api
