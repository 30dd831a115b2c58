#include "daemon/jobs/job_history.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

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

std::size_t JobHistory::column(std::string_view name) {
  const auto found = std::find(metrics_.names.begin(), metrics_.names.end(), name);
  const auto place = static_cast<std::size_t>(found - metrics_.names.begin());
  if (found == metrics_.names.end()) {
    metrics_.names.emplace_back(name);
    metrics_.columns.emplace_back(metrics_.columns.empty() ? 0 : metrics_.columns.front().size(), kUnknown);
  }
  return place;
}

JobMetrics JobHistory::add(const MetricMessage& point) {
  JobMetrics row;
  const auto put = [&](std::string_view name, double value) {
    const std::size_t place = column(name);
    auto& values = metrics_.columns[place];
    // All columns are as long as the first, which has this point already.
    values.resize(metrics_.columns.front().size() + (place == 0 ? 1 : 0), kUnknown);
    values.back() = value;
    row.names.emplace_back(name);
    row.columns.push_back({value});
  };
  put("step", static_cast<double>(point.step));
  put("rows", static_cast<double>(point.rows));
  put("seconds", point.seconds);
  for (const auto& [name, value] : point.values) put(name, value);
  for (auto& values : metrics_.columns) values.resize(metrics_.columns.front().size(), kUnknown);
  if (metrics_.columns.front().size() > kPointsMax) thin();
  find_best();
  return row;
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

// The last point stays: it is what is shown as now.
void JobHistory::thin() {
  for (auto& values : metrics_.columns) {
    std::size_t kept = 0;
    for (std::size_t i = (values.size() - 1) % 2; i < values.size(); i += 2) values[kept++] = values[i];
    values.resize(kept);
  }
}

void JobHistory::cut_after(std::uint64_t step) {
  if (step == 0) {
    metrics_ = {};
    metric_.clear();
    best_.reset();
    seconds = joules = 0;
    rows = 0;
    pass = 0;
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
  return lines_.back();
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
  json columns = json::array();
  for (const auto& values : metrics_.columns) {
    json column = json::array();
    for (const double value : values) column.push_back(number_or_null(value));
    columns.push_back(std::move(column));
  }
  json lines = json::array();
  for (const auto& line : lines_)
    lines.push_back({line.seq, line.at.time_since_epoch().count(), line.level, line.text});
  json all = {{"version", kVersion},
              {"seconds", number_or_null(seconds)},
              {"joules", number_or_null(joules)},
              {"joules_estimated", joules_estimated},
              {"rows", rows},
              {"pass", pass},
              {"names", metrics_.names},
              {"columns", std::move(columns)},
              {"lines", std::move(lines)}};
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
    history.rows = all.at("rows").get<std::uint64_t>();
    history.pass = all.at("pass").get<std::uint32_t>();
    if (const auto at = all.find("started_us"); at != all.end())
      history.started_at = WallTime(std::chrono::microseconds(at->get<std::int64_t>()));
    history.metrics_.names = all.at("names").get<std::vector<std::string>>();
    for (const auto& column : all.at("columns")) {
      auto& values = history.metrics_.columns.emplace_back();
      for (const auto& value : column) values.push_back(number(value));
      if (values.size() != history.metrics_.columns.front().size()) return broken();
    }
    if (history.metrics_.columns.size() != history.metrics_.names.size()) return broken();
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
