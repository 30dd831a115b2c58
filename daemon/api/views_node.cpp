// The live views: node, sample, cluster, alerts.
#include <algorithm>

#include "base/ids.hpp"
#include "base/json.hpp"
#include "daemon/api/node_report.hpp"
#include "daemon/api/time_zone.hpp"
#include "daemon/api/views.hpp"

namespace samovar::api {
namespace {

template <class T>
View or_null(const std::optional<T>& value) {
  return value ? View(*value) : View(nullptr);
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

namespace {

std::string_view state_of(const cluster::NodeRecord& row, bool reachable) {
  if (row.state == cluster::NodeState::removed) return "removed";
  if (!reachable) return "unreachable";
  return row.state == cluster::NodeState::draining ? "draining" : "up";
}

// What the log's configuration says of a node; nothing while it is not in there.
View voice_of(Services& services, const std::string& node_id) {
  for (const auto& member : services.cluster().log_members())
    if (member.node_id == node_id) return member.voice == raft::Voice::voter ? "voter" : "standby";
  return nullptr;
}

// What a node says of itself, or nothing of each when it has not been heard since the start.
void add_report(View& view, const NodeReport* report) {
  const bool known = report != nullptr && !report->brief;
  const auto say = [&](const char* name, auto value) {
    view[name] = known ? View(std::move(value)) : View(nullptr);
  };
  const NodeReport none;
  const NodeReport& r = known ? *report : none;
  say("cores", r.facts.cores);
  say("memory_bytes", r.facts.memory_bytes);
  say("started_at", format_time(r.facts.started_at));
  say("uptime_s", r.uptime.count());
  say("sandbox", r.facts.sandbox);
  say("compute", r.facts.compute);
  say("url", r.url);
  say("sensors", known ? sensors_view(r.sensors) : View());
  say("sample", known ? sample_view(r.sample) : View());
  view["disk"] = nullptr;
  if (report != nullptr && report->disk.total_bytes > 0)
    view["disk"] = {{"total", report->disk.total_bytes}, {"free", report->disk.free_bytes}};
}

NodeReport own_report(Services& services) {
  NodeReport report;
  if (const NodeReport* known = services.members().report(services.node.facts().id)) report.url = known->url;
  report.facts = services.node.facts();
  report.uptime = std::chrono::duration_cast<std::chrono::seconds>(services.loop.clock().mono() -
                                                                   report.facts.started_mono);
  report.version = SAMOVAR_VERSION;
  report.disk = services.node.disk_space();
  report.sample = services.node.sample();
  report.sensors = services.node.sensors();
  return report;
}

// A box that is alone may have no row yet.
cluster::NodeRecord own_row(Services& services) {
  const NodeFacts& facts = services.node.facts();
  if (auto row = services.cluster().node(facts.id)) return *row;
  cluster::NodeRecord row;
  row.id = facts.id;
  row.name = facts.hostname;
  return row;
}

}  // namespace

View node_view(Services& services, const cluster::NodeRecord& row) {
  const bool self = row.id == services.node.facts().id;
  const NodeReport own = self ? own_report(services) : NodeReport{};
  const NodeReport* report = self ? &own : services.members().report(row.id);
  const Contact contact = services.members().contact(row.id);
  const bool removed = row.state == cluster::NodeState::removed;
  const View voice = removed ? View(nullptr) : voice_of(services, row.id);
  const auto pick = [&](const std::string& reported, const std::string& stored) {
    return reported.empty() ? stored : reported;
  };
  const NodeFacts facts = report != nullptr ? report->facts : NodeFacts{};
  View view = {{"id", row.id},
               {"name", row.name.empty() ? pick(facts.hostname, row.hostname) : row.name},
               {"hostname", pick(facts.hostname, row.hostname)},
               {"model", pick(facts.model, row.model)},
               {"state", state_of(row, self || contact.reachable)},
               {"self", self},
               {"leader", services.cluster().status().leader_id == row.id},
               {"voice", voice},
               {"role", voice.is_null() ? View("voter") : voice},
               {"version", report != nullptr ? pick(report->version, row.version) : row.version},
               {"arch", pick(facts.arch, row.arch)},
               {"addresses", self ? services.node.addresses() : row.addresses},
               {"disk_bytes", self ? own.disk.total_bytes : row.disk_bytes},
               {"heard_at", time_view(contact.heard_at)},
               {"rtt_ms", or_null(contact.rtt_ms)}};
  add_report(view, report);
  // Old news is no news: what a node was doing when it was last heard is not what it does.
  if (!self && !contact.reachable) view["sample"] = nullptr;
  return view;
}

View self_view(Services& services) { return node_view(services, own_row(services)); }

View nodes_view(Services& services) {
  View items = View::array();
  bool self = false;
  for (const auto& row : services.cluster().nodes()) {
    if (row.state == cluster::NodeState::removed) continue;
    self = self || row.id == services.node.facts().id;
    items.push_back(node_view(services, row));
  }
  if (!self) items.push_back(self_view(services));
  return items;
}

View alert_view(const Alert& alert) {
  return {{"id", alert.id},         {"severity", alert.severity}, {"title", alert.title},
          {"detail", alert.detail}, {"remedy", alert.remedy},     {"since", format_time(alert.since)}};
}

View alerts_view(Services& services) {
  View items = View::array();
  for (const auto& alert : services.node.alerts()) items.push_back(alert_view(alert));
  return items;
}

namespace {

// Over the members that can be heard; energy is this node's own, which alone it has the history of.
struct Sum {
  std::size_t nodes = 0;
  std::size_t up = 0;
  std::optional<double> watts;
  bool watts_estimated = false;
  DiskSpace disk;
};

void add(Sum& sum, const power::Sample& sample, const DiskSpace& disk) {
  ++sum.up;
  if (sample.watts) sum.watts = sum.watts.value_or(0) + *sample.watts;
  sum.watts_estimated = sum.watts_estimated || sample.watts_estimated;
  sum.disk.total_bytes += disk.total_bytes;
  sum.disk.free_bytes += disk.free_bytes;
}

Sum sum_of(Services& services) {
  Sum sum;
  add(sum, services.node.sample(), services.node.disk_space());
  for (const auto& row : services.cluster().nodes()) {
    if (row.state == cluster::NodeState::removed || row.id == services.node.facts().id) continue;
    ++sum.nodes;
    const NodeReport* report = services.members().report(row.id);
    if (!services.members().contact(row.id).reachable) continue;
    add(sum, report != nullptr ? report->sample : power::Sample{},
        report != nullptr ? report->disk : DiskSpace{});
  }
  ++sum.nodes;
  return sum;
}

}  // namespace

View cluster_view(Services& services) {
  const auto info = services.cluster().info().value_or(cluster::ClusterInfo{});
  const Sum sum = sum_of(services);
  const WallTime now = services.now();
  const auto energy = services.node.history().energy(local_midnight(info.time_zone, now), now);
  View energy_wh = nullptr;
  if (energy.seconds > 0) energy_wh = energy.joules / 3600;
  return {
      {"id", info.id},
      {"name", info.name},
      {"created_at", format_time(info.created_at)},
      {"version", SAMOVAR_VERSION},
      {"phase", to_string(services.node.phase())},
      {"time_zone", info.time_zone},
      {"health", health_view(services.node.alerts())},
      {"nodes", {{"total", sum.nodes}, {"up", sum.up}}},
      {"power",
       {{"watts", or_null(sum.watts)}, {"estimated", sum.watts_estimated}, {"energy_today_wh", energy_wh}}},
      {"storage", {{"total_bytes", sum.disk.total_bytes}, {"free_bytes", sum.disk.free_bytes}}},
      {"writable", services.cluster().writable()},
      {"time", format_time(now)},
      {"etag", etag_of(info.revision)}};
}

}  // namespace samovar::api
