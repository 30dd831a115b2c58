#include "daemon/jobs/job_history.hpp"
#include "base/json.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace samovar::jobs {
namespace {

using nlohmann::json;

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
constexpr int kVersion = 1;
// The first that is there decides; both get better by falling.
constexpr const char* kDeciding[] = {"valid_loss", "train_loss"};

Error broken() { return {Errc::corrupt, "the history of a job cannot be read"}; }

json number_or_null(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }

}  // namespace

namespace {

std::size_t column(JobMetrics& table, std::string_view name) {
  const auto found = std::find(table.names.begin(), table.names.end(), name);
  const auto place = static_cast<std::size_t>(found - table.names.begin());
  if (found == table.names.end()) {
    table.names.emplace_back(name);
    table.columns.emplace_back(table.columns.empty() ? 0 : table.columns.front().size(), kUnknown);
  }
  return place;
}

// The last point stays: it is what is shown as now.
void thin(JobMetrics& table) {
  for (auto& values : table.columns) {
    std::size_t kept = 0;
    for (std::size_t i = (values.size() - 1) % 2; i < values.size(); i += 2) values[kept++] = values[i];
    values.resize(kept);
  }
}

JobMetrics add_point(JobMetrics& table, const MetricMessage& point, std::size_t points_max) {
  JobMetrics row;
  const auto put = [&](std::string_view name, double value) {
    if (table.names.size() >= JobHistory::kNamesMax &&
        std::find(table.names.begin(), table.names.end(), name) == table.names.end())
      return;
    const std::size_t place = column(table, name);
    auto& values = table.columns[place];
    // All columns are as long as the first, which has this point already.
    values.resize(table.columns.front().size() + (place == 0 ? 1 : 0), kUnknown);
    values.back() = value;
    row.names.emplace_back(name);
    row.columns.push_back({value});
  };
  put("step", static_cast<double>(point.step));
  put("rows", static_cast<double>(point.rows));
  put("seconds", point.seconds);
  for (const auto& [name, value] : point.values) put(name, value);
  for (auto& values : table.columns) values.resize(table.columns.front().size(), kUnknown);
  if (table.columns.front().size() > points_max) thin(table);
  return row;
}

json point_json(const MetricMessage& point) {
  json values = json::array();
  for (const auto& [name, value] : point.values) values.push_back({name, number_or_null(value)});
  return {point.step, point.rows, point.seconds, std::move(values)};
}

MetricMessage point_of(const json& from) {
  MetricMessage point;
  point.step = from.at(0).get<std::uint64_t>();
  point.rows = from.at(1).get<std::uint64_t>();
  point.seconds = from.at(2).get<double>();
  for (const auto& one : from.at(3)) {
    const json& value = one.at(1);
    point.values.emplace_back(one.at(0).get<std::string>(), value.is_null() ? kUnknown : value.get<double>());
    if (point.values.size() > kMetricValuesMax) throw json::other_error::create(501, "too many", nullptr);
  }
  return point;
}

json table_json(const JobMetrics& table) {
  json columns = json::array();
  for (const auto& values : table.columns) {
    json column = json::array();
    for (const double value : values) column.push_back(number_or_null(value));
    columns.push_back(std::move(column));
  }
  return columns;
}

bool read_table(const json& names, const json& columns, JobMetrics& table) {
  table.names = names.get<std::vector<std::string>>();
  for (const auto& column : columns) {
    auto& values = table.columns.emplace_back();
    for (const auto& value : column) values.push_back(value.is_null() ? kUnknown : value.get<double>());
    if (values.size() != table.columns.front().size()) return false;
  }
  // The first column is as long as the table: points are counted by it.
  const bool begins = table.names.empty() || table.names.front() == "step";
  return begins && table.columns.size() == table.names.size() && table.names.size() <= JobHistory::kNamesMax;
}

}  // namespace

JobMetrics JobHistory::add(const MetricMessage& point) {
  JobMetrics row = add_point(metrics_, point, kPointsMax);
  find_best();
  ++revision_;
  if (news_.is_array()) news_.push_back({"p", point_json(point)});
  return row;
}

JobMetrics JobHistory::add(std::uint32_t worker, const std::string& node_id, const MetricMessage& point) {
  JobMetrics& table = workers_[worker];
  table.worker = worker;
  table.node_id = node_id;
  JobMetrics row = add_point(table, point, kWorkerPointsMax);
  row.worker = worker;
  row.node_id = node_id;
  if (workers_.size() > kWorkersMax) workers_.erase(workers_.begin());
  // A job whose workers came and went often must still fit into one message and its file.
  std::size_t points = 0;
  JobMetrics* longest = nullptr;
  for (auto& [number, one] : workers_) {
    points += one.columns.front().size();
    if (longest == nullptr || one.columns.front().size() > longest->columns.front().size()) longest = &one;
  }
  if (points > kAllWorkersPointsMax) thin(*longest);
  ++revision_;
  if (news_.is_array()) news_.push_back({"w", worker, node_id, point_json(point)});
  return row;
}

const JobEvent& JobHistory::event(WallTime now, std::string kind, std::string node_id, std::string text) {
  events_.push_back({++event_seq_, now, std::move(kind), std::move(node_id), std::move(text)});
  if (events_.size() > kEventsMax) events_.pop_front();
  ++revision_;
  const JobEvent& one = events_.back();
  if (news_.is_array())
    news_.push_back({"e", one.seq, one.at.time_since_epoch().count(), one.kind, one.node_id, one.text});
  return one;
}

void JobHistory::computes_on(const std::string& node_id, const DeviceMessage& told) {
  if (devices.size() >= kDevicesMax && !devices.contains(node_id)) return;
  JobDevice& device = devices[node_id];
  device.node_id = node_id;
  if (!told.name.empty()) device.name = told.name;
  if (!told.trouble.empty() || !told.name.starts_with("cpu")) device.note = told.trouble;
}

json JobHistory::devices_json() const {
  json list = json::array();
  for (const auto& [id, one] : devices) {
    list.push_back({{"node", id}, {"device", one.name}});
    if (!one.note.empty()) list.back()["note"] = one.note;
  }
  return list;
}

void JobHistory::read_devices(const json& list) {
  devices.clear();
  if (!list.is_array() || list.size() > kDevicesMax) return;
  const auto text = [](const json& from, const char* name) {
    const auto at = from.find(name);
    return at != from.end() && at->is_string() ? at->get<std::string>() : std::string();
  };
  for (const json& one : list) {
    if (!one.is_object()) continue;
    const std::string node = text(one, "node");
    if (!node.empty()) devices[node] = {node, text(one, "device"), text(one, "note")};
  }
}

json JobHistory::take_news() {
  json news = news_.is_array() ? std::move(news_) : json::array();
  news_ = json::array();
  return news;
}

Result<bool> JobHistory::follow(std::uint64_t begin, std::uint64_t end, const json& news,
                                const std::function<void(const JobMetrics&)>& point,
                                const std::function<void(const JobLogLine&)>& line) {
  if (!news.is_array() || end < begin || end - begin != news.size()) return false;
  if (revision_ < begin || revision_ > end) return false;
  const auto time_of = [](const json& from) {
    return WallTime(std::chrono::microseconds(from.get<std::int64_t>()));
  };
  try {
    for (std::size_t at = revision_ - begin; at < news.size(); ++at) {
      const json& one = news[at];
      const std::string what = one.at(0).get<std::string>();
      if (what == "p") {
        point(add(point_of(one.at(1))));
      } else if (what == "w") {
        point(add(one.at(1).get<std::uint32_t>(), one.at(2).get<std::string>(), point_of(one.at(3))));
      } else if (what == "l") {
        seq_ = one.at(1).get<std::uint64_t>() - 1;
        line(log(time_of(one.at(2)), one.at(3).get<std::string>(), one.at(4).get<std::string>()));
      } else if (what == "e") {
        event_seq_ = one.at(1).get<std::uint64_t>() - 1;
        event(time_of(one.at(2)), one.at(3).get<std::string>(), one.at(4).get<std::string>(),
              one.at(5).get<std::string>());
      } else {
        return broken();
      }
    }
  } catch (const json::exception&) {
    return broken();
  }
  return true;
}

void JobHistory::find_best() {
  for (const char* name : kDeciding) {
    const auto found = std::find(metrics_.names.begin(), metrics_.names.end(), name);
    if (found == metrics_.names.end()) continue;
    metric_ = name;
    best_.reset();
    for (const double value : metrics_.columns[static_cast<std::size_t>(found - metrics_.names.begin())])
      if (std::isfinite(value) && (!best_ || value < *best_)) best_ = value;
    return;
  }
}

void JobHistory::cut_after(std::uint64_t step) {
  ++revision_;
  if (news_.is_array()) news_ = nullptr;  // whoever follows asks for the whole
  if (step == 0) {
    metrics_ = {};
    workers_.clear();
    metric_.clear();
    best_.reset();
    seconds = joules = joules_error = box_joules = box_seconds = 0;
    speed_share = 1;
    rows = 0;
    pass = 0;
    devices.clear();
    return;
  }
  if (metrics_.columns.empty()) return;
  const auto& steps = metrics_.columns.front();
  std::size_t count = steps.size();
  while (count > 0 && steps[count - 1] > static_cast<double>(step)) --count;
  for (auto& values : metrics_.columns) values.resize(count);
  find_best();
}

const JobLogLine& JobHistory::log(WallTime now, std::string level, std::string text) {
  lines_.push_back({++seq_, now, std::move(level), std::move(text)});
  if (lines_.size() > kLinesMax) lines_.pop_front();
  ++revision_;
  const JobLogLine& line = lines_.back();
  if (news_.is_array())
    news_.push_back({"l", line.seq, line.at.time_since_epoch().count(), line.level, line.text});
  return line;
}

std::vector<JobLogLine> JobHistory::lines(std::uint64_t after, std::size_t limit) const {
  std::vector<JobLogLine> out;
  for (const auto& line : lines_) {
    if (line.seq <= after) continue;
    if (out.size() == limit) break;
    out.push_back(line);
  }
  return out;
}

Bytes JobHistory::encode() const {
  json lines = json::array();
  for (const auto& line : lines_)
    lines.push_back({line.seq, line.at.time_since_epoch().count(), line.level, line.text});
  json all = {{"version", kVersion},
              {"seconds", number_or_null(seconds)},
              {"joules", number_or_null(joules)},
              {"joules_estimated", joules_estimated},
              {"joules_error", number_or_null(joules_error)},
              {"box", {number_or_null(box_joules), number_or_null(box_seconds)}},
              {"speed_share", number_or_null(speed_share)},
              {"rows", rows},
              {"pass", pass},
              {"names", metrics_.names},
              {"columns", table_json(metrics_)},
              {"revision", revision_},
              {"lines", std::move(lines)}};
  json workers = json::array();
  for (const auto& [number, table] : workers_)
    workers.push_back({number, table.node_id, table.names, table_json(table)});
  if (!workers.empty()) all["workers"] = std::move(workers);
  json events = json::array();
  for (const auto& one : events_)
    events.push_back({one.seq, one.at.time_since_epoch().count(), one.kind, one.node_id, one.text});
  if (!events.empty()) all["events"] = std::move(events);
  if (!devices.empty()) all["devices"] = devices_json();
  if (started_at) all["started_us"] = started_at->time_since_epoch().count();
  return to_bytes(all.dump(-1, ' ', false, json::error_handler_t::replace));
}

Result<JobHistory> JobHistory::decode(ByteView bytes) {
  try {
    const json all = json::parse(bytes.begin(), bytes.end());
    JobHistory history;
    if (all.at("version").get<int>() != kVersion) return broken();
    const auto number = [](const json& value) { return value.is_null() ? kUnknown : value.get<double>(); };
    history.seconds = number(all.at("seconds"));
    history.joules = number(all.at("joules"));
    history.joules_estimated = all.at("joules_estimated").get<bool>();
    // Those of an earlier version have none of these.
    if (const auto at = all.find("joules_error"); at != all.end()) history.joules_error = number(*at);
    if (const auto at = all.find("speed_share"); at != all.end()) history.speed_share = number(*at);
    if (const auto at = all.find("box"); at != all.end()) {
      history.box_joules = number(at->at(0));
      history.box_seconds = number(at->at(1));
    }
    if (const auto at = all.find("devices"); at != all.end()) history.read_devices(*at);
    history.rows = all.at("rows").get<std::uint64_t>();
    history.pass = all.at("pass").get<std::uint32_t>();
    if (const auto at = all.find("started_us"); at != all.end())
      history.started_at = WallTime(std::chrono::microseconds(at->get<std::int64_t>()));
    if (!read_table(all.at("names"), all.at("columns"), history.metrics_)) return broken();
    history.revision_ = all.value("revision", std::uint64_t{0});
    if (const auto workers = all.find("workers"); workers != all.end()) {
      for (const auto& one : *workers) {
        JobMetrics& table = history.workers_[one.at(0).get<std::uint32_t>()];
        table.worker = one.at(0).get<std::uint32_t>();
        table.node_id = one.at(1).get<std::string>();
        if (!read_table(one.at(2), one.at(3), table)) return broken();
      }
    }
    if (const auto events = all.find("events"); events != all.end()) {
      for (const auto& one : *events) {
        history.events_.push_back({one.at(0).get<std::uint64_t>(),
                                   WallTime(std::chrono::microseconds(one.at(1).get<std::int64_t>())),
                                   one.at(2).get<std::string>(), one.at(3).get<std::string>(),
                                   one.at(4).get<std::string>()});
        history.event_seq_ = std::max(history.event_seq_, history.events_.back().seq);
      }
    }
    for (const auto& line : all.at("lines")) {
      JobLogLine& one = history.lines_.emplace_back();
      one.seq = line.at(0).get<std::uint64_t>();
      one.at = WallTime(std::chrono::microseconds(line.at(1).get<std::int64_t>()));
      one.level = line.at(2).get<std::string>();
      one.text = line.at(3).get<std::string>();
      history.seq_ = std::max(history.seq_, one.seq);
    }
    history.find_best();
    return history;
  } catch (const json::exception&) {
    return broken();
  }
}

}  // namespace samovar::jobs
