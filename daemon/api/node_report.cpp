#include "daemon/api/node_report.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/ids.hpp"
#include "base/json.hpp"
#include "daemon/api/json_body.hpp"
#include "daemon/api/views.hpp"

namespace samovar::api {
namespace {

using nlohmann::json;

constexpr std::size_t kListMax = 256;
constexpr std::size_t kTextMax = 1024;

Bytes to_wire(const json& value) {
  return to_bytes(std::string_view(value.dump(-1, ' ', false, json::error_handler_t::replace)));
}

Result<json> from_wire(ByteView bytes) {
  if (bytes.size() > kReportBytesMax) return Error{Errc::invalid, "a node's report is too long"};
  SAMOVAR_TRY(json value, parse_json(as_text(bytes)));
  if (!value.is_object()) return Error{Errc::invalid, "a node's report is no object"};
  return value;
}

const json* find(const json& object, const char* name) {
  if (!object.is_object()) return nullptr;
  const auto at = object.find(name);
  return at == object.end() || at->is_null() ? nullptr : &*at;
}

std::string text_of(const json& object, const char* name) {
  const json* value = find(object, name);
  return value != nullptr && value->is_string() ? value->get_ref<const std::string&>().substr(0, kTextMax)
                                                : "";
}

std::optional<double> number_of(const json& object, const char* name) {
  const json* value = find(object, name);
  if (value == nullptr || !value->is_number()) return std::nullopt;
  const double number = value->get<double>();
  return std::isfinite(number) ? std::optional(number) : std::nullopt;
}

std::optional<std::uint64_t> count_of(const json& object, const char* name) {
  const json* value = find(object, name);
  return value != nullptr && value->is_number_unsigned() ? std::optional(value->get<std::uint64_t>())
                                                         : std::nullopt;
}

// Unix seconds of a year that people write down.
std::int64_t seconds_of(const json& object, const char* name) {
  constexpr std::int64_t kSecondsMax = 1ll << 36;
  const json* value = find(object, name);
  if (value == nullptr || !value->is_number_integer()) return 0;
  return std::clamp<std::int64_t>(value->get<std::int64_t>(), 0, kSecondsMax);
}

bool flag_of(const json& object, const char* name) {
  const json* value = find(object, name);
  return value != nullptr && value->is_boolean() && value->get<bool>();
}

WallTime time_of(const json& object, const char* name) {
  const auto parsed = parse_time(text_of(object, name));
  return parsed ? *parsed : WallTime{};
}

template <class Visit>
void each(const json& object, const char* name, Visit visit) {
  const json* list = find(object, name);
  if (list == nullptr || !list->is_array()) return;
  for (std::size_t i = 0; i < list->size() && i < kListMax; ++i)
    if ((*list)[i].is_object()) visit((*list)[i]);
}

template <class T>
json or_null(const std::optional<T>& value) {
  return value ? json(*value) : json(nullptr);
}

json link_json(const LinkReport& link) {
  return {{"to", link.to},
          {"up", link.up},
          {"address", link.address},
          {"rtt_ms", or_null(link.rtt_ms)},
          {"send", link.send_bytes_per_second},
          {"receive", link.receive_bytes_per_second},
          {"measured", or_null(link.measured_bytes_per_second)},
          {"measured_at", link.measured_at ? json(format_time(*link.measured_at)) : json(nullptr)},
          {"trouble", link.trouble}};
}

LinkReport link_of(const json& value, const std::string& from) {
  LinkReport link;
  link.from = from;
  link.to = text_of(value, "to");
  link.up = flag_of(value, "up");
  link.address = text_of(value, "address");
  link.rtt_ms = number_of(value, "rtt_ms");
  link.send_bytes_per_second = number_of(value, "send").value_or(0);
  link.receive_bytes_per_second = number_of(value, "receive").value_or(0);
  link.measured_bytes_per_second = number_of(value, "measured");
  if (find(value, "measured_at") != nullptr) link.measured_at = time_of(value, "measured_at");
  link.trouble = text_of(value, "trouble");
  return link;
}

power::Sample sample_of(const json& value) {
  power::Sample sample;
  sample.t = time_of(value, "t");
  sample.cpu = number_of(value, "cpu");
  sample.load1 = number_of(value, "load1");
  sample.mem_used_bytes = count_of(value, "mem_used_bytes");
  sample.mem_total_bytes = count_of(value, "mem_total_bytes");
  sample.disk_used_bytes = count_of(value, "disk_used_bytes");
  sample.disk_total_bytes = count_of(value, "disk_total_bytes");
  sample.watts = number_of(value, "watts");
  sample.watts_estimated = flag_of(value, "watts_estimated");
  sample.temp_max_c = number_of(value, "temp_max_c");
  sample.temp_max_name = text_of(value, "temp_max_name");
  sample.gpu_load = number_of(value, "gpu_load");
  sample.net_rx_bps = number_of(value, "net_rx_bps");
  sample.net_tx_bps = number_of(value, "net_tx_bps");
  sample.process_rss_bytes = count_of(value, "process_rss_bytes");
  sample.process_cpu = number_of(value, "process_cpu");
  return sample;
}

power::Sensors sensors_of(const json& value) {
  power::Sensors sensors;
  sensors.power = text_of(value, "power");
  sensors.power_note = text_of(value, "power_note");
  each(value, "temperatures", [&](const json& t) {
    if (const auto celsius = number_of(t, "celsius"))
      sensors.temperatures.push_back({text_of(t, "name"), *celsius});
  });
  each(value, "rails", [&](const json& rail) {
    if (const auto watts = number_of(rail, "watts")) sensors.rails.push_back({text_of(rail, "name"), *watts});
  });
  if (const json* gpu = find(value, "gpu")) {
    sensors.gpu.emplace();
    sensors.gpu->load = number_of(*gpu, "load");
    sensors.gpu->clock_hz = count_of(*gpu, "clock_hz");
  }
  return sensors;
}

}  // namespace

Bytes encode_request(const ReportRequest& request) {
  json value = json::object();
  if (request.brief) value["brief"] = true;
  if (request.history)
    value["history"] = {{"metrics", request.history->metrics},
                        {"from", format_time(request.history->from)},
                        {"to", format_time(request.history->to)},
                        {"step_s", request.history->step_s}};
  return to_wire(value);
}

Result<ReportRequest> decode_request(ByteView bytes) {
  SAMOVAR_TRY(const json value, from_wire(bytes));
  ReportRequest request;
  request.brief = flag_of(value, "brief");
  const json* history = find(value, "history");
  if (history == nullptr) return request;
  power::HistoryQuery query;
  if (const json* metrics = find(*history, "metrics"); metrics != nullptr && metrics->is_array())
    for (std::size_t i = 0; i < metrics->size() && i < kListMax; ++i)
      if ((*metrics)[i].is_string())
        query.metrics.push_back((*metrics)[i].get<std::string>().substr(0, kTextMax));
  query.from = time_of(*history, "from");
  query.to = time_of(*history, "to");
  const std::uint64_t step = count_of(*history, "step_s").value_or(0);
  query.step_s =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(step, std::numeric_limits<std::uint32_t>::max()));
  request.history = std::move(query);
  return request;
}

Bytes encode_report(const NodeReport& report) {
  json value = {{"version", report.version},
                {"clock", format_time(report.clock)},
                {"disk", {{"total", report.disk.total_bytes}, {"free", report.disk.free_bytes}}}};
  if (!report.clock_sure) value["clock_sure"] = false;
  if (report.brief) return to_wire(value);
  if (report.mtu > 0) value["mtu"] = report.mtu;
  json links = json::array();
  for (const auto& link : report.links) links.push_back(link_json(link));
  const NodeFacts& facts = report.facts;
  value["facts"] = {{"id", facts.id},
                    {"hostname", facts.hostname},
                    {"model", facts.model},
                    {"arch", facts.arch},
                    {"cores", facts.cores},
                    {"memory_bytes", facts.memory_bytes},
                    {"started_at", format_time(facts.started_at)},
                    {"sandbox", facts.sandbox},
                    {"compute", facts.compute}};
  value["uptime_s"] = static_cast<std::uint64_t>(std::max<std::int64_t>(0, report.uptime.count()));
  value["url"] = report.url;
  value["links"] = std::move(links);
  value["sample"] = json(sample_view(report.sample));
  value["sensors"] = json(sensors_view(report.sensors));
  return to_wire(value);
}

Result<NodeReport> decode_report(ByteView bytes) {
  SAMOVAR_TRY(const json value, from_wire(bytes));
  NodeReport report;
  report.version = text_of(value, "version");
  report.clock = time_of(value, "clock");
  report.clock_sure = find(value, "clock_sure") == nullptr || flag_of(value, "clock_sure");
  report.mtu = static_cast<unsigned>(std::min<std::uint64_t>(count_of(value, "mtu").value_or(0), 1u << 20));
  if (const json* disk = find(value, "disk"))
    report.disk = {count_of(*disk, "total").value_or(0), count_of(*disk, "free").value_or(0)};
  const json* facts = find(value, "facts");
  if (facts == nullptr) {
    report.brief = true;
    return report;
  }
  report.facts.id = text_of(*facts, "id");
  report.facts.hostname = text_of(*facts, "hostname");
  report.facts.model = text_of(*facts, "model");
  report.facts.arch = text_of(*facts, "arch");
  report.facts.cores =
      static_cast<unsigned>(std::min<std::uint64_t>(count_of(*facts, "cores").value_or(1), 65536));
  report.facts.memory_bytes = count_of(*facts, "memory_bytes").value_or(0);
  report.facts.started_at = time_of(*facts, "started_at");
  report.facts.sandbox = text_of(*facts, "sandbox");
  report.facts.compute = text_of(*facts, "compute");
  constexpr std::uint64_t kUptimeMax = 1ull << 40;
  report.uptime = std::chrono::seconds(std::min(count_of(value, "uptime_s").value_or(0), kUptimeMax));
  report.url = text_of(value, "url");
  each(value, "links", [&](const json& link) { report.links.push_back(link_of(link, report.facts.id)); });
  if (const json* sample = find(value, "sample")) report.sample = sample_of(*sample);
  if (const json* sensors = find(value, "sensors")) report.sensors = sensors_of(*sensors);
  return report;
}

Bytes encode_history(const power::HistoryTable& table) {
  json cols = json::array();
  for (const auto& col : table.cols) {
    json values = json::array();
    for (const double value : col) values.push_back(std::isnan(value) ? json(nullptr) : json(value));
    cols.push_back(std::move(values));
  }
  return to_wire({{"step_s", table.step_s},
                  {"start_s", table.start_s},
                  {"end_s", table.end_s},
                  {"names", table.names},
                  {"cols", std::move(cols)}});
}

Result<power::HistoryTable> decode_history(ByteView bytes) {
  // Longer than a report: up to 64 metrics of 11,000 points.
  SAMOVAR_TRY(const json value, parse_json(as_text(bytes)));
  const auto wrong = [] { return Error{Errc::invalid, "a node's history is not as it should be"}; };
  if (!value.is_object()) return wrong();
  power::HistoryTable table;
  table.step_s = static_cast<std::uint32_t>(count_of(value, "step_s").value_or(0) & 0xffffffffu);
  table.start_s = seconds_of(value, "start_s");
  table.end_s = seconds_of(value, "end_s");
  const json* names = find(value, "names");
  const json* cols = find(value, "cols");
  if (names == nullptr || cols == nullptr || !names->is_array() || !cols->is_array() ||
      names->size() != cols->size() || names->size() > kListMax)
    return wrong();
  for (std::size_t i = 0; i < names->size(); ++i) {
    if (!(*names)[i].is_string() || !(*cols)[i].is_array()) return wrong();
    table.names.push_back((*names)[i].get<std::string>().substr(0, kTextMax));
    std::vector<double> col;
    for (const auto& cell : (*cols)[i])
      col.push_back(cell.is_number() ? cell.get<double>() : std::numeric_limits<double>::quiet_NaN());
    if (!table.cols.empty() && col.size() != table.cols[0].size()) return wrong();
    table.cols.push_back(std::move(col));
  }
  return table;
}

}  // namespace samovar::api
