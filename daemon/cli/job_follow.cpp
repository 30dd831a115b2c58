#include "daemon/cli/job_follow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/json.hpp"
#include "daemon/cli/app.hpp"
#include "daemon/cli/progress.hpp"
#include "daemon/cli/view.hpp"

namespace samovar::cli {

using nlohmann::json;

namespace {

constexpr long kAskMs = 500;
constexpr unsigned kFailuresMax = 12;
constexpr long kLogPage = 500;

double number_or(const json& from, const char* key, double otherwise) {
  const auto found = from.find(key);
  return found != from.end() && found->is_number() ? found->get<double>() : otherwise;
}

std::string text_or_empty(const json& from, const char* key) {
  const auto found = from.find(key);
  return found != from.end() && found->is_string() ? found->get<std::string>() : std::string();
}

Error left_running(const std::string& id) {
  return Error{Errc::io,
               fmt::format("interrupted; the job goes on. Wait for it with: samovar jobs wait {}, or "
                           "end it with: samovar jobs cancel {}",
                           id, id)};
}

// Asks again while the box is away: it may be restarting, and a job that was accepted goes on afterwards.
class Patience {
 public:
  explicit Patience(App& app) : app_(app) {}

  Result<json> get(const std::string& path, const Query& query, const std::string& job) {
    for (;;) {
      auto asked = app_.get(path, query);
      if (asked) {
        failures_ = 0;
        return asked;
      }
      const int status = app_.problem_status();
      const bool away = status == 0 || status == 503 || status == 423;
      if (!away || ++failures_ > kFailuresMax) return asked;
      if (!app_.io().pause_ms(std::min(10'000L, kAskMs << failures_))) return left_running(job);
    }
  }

 private:
  App& app_;
  unsigned failures_ = 0;
};

Error job_failure(App& app, const json& job) {
  const std::string id = job.value("id", "");
  app.fails_with(Exit::awaited_failed);
  if (job.value("state", "") == "cancelled")
    return Error{Errc::internal,
                 fmt::format("the job was cancelled; go on with it by: samovar jobs retry {}", id)};
  std::string why = text_or_empty(job, "error");
  if (why.empty()) why = "The job failed.";
  return Error{Errc::internal, fmt::format("{} Its log: samovar jobs logs {}", why, id)};
}

std::string log_line(const json& line) {
  const std::string level = text_or_empty(line, "level");
  return fmt::format("{}  {:<7} {}\n", cell_text(line, {"", "/at", Shape::time}), printable(level),
                     cell_text(line, {"", "/text"}));
}

// One page of the log; `after` moves on.
Result<std::size_t> print_logs(App& app, Patience& patience, const std::string& id, std::uint64_t& after) {
  SAMOVAR_TRY(json page,
              patience.get(job_path(id) + "/logs",
                           {{"after", std::to_string(after)}, {"limit", std::to_string(kLogPage)}}, id));
  std::string out;
  const json items = page.value("items", json::array());
  for (const json& line : items) {
    out +=
        app.json_like() ? line.dump(-1, ' ', false, json::error_handler_t::replace) + "\n" : log_line(line);
    after = std::max(after, line.value("seq", std::uint64_t{0}));
  }
  app.io().out(out);
  return items.size();
}

// A cell of a metric: whole numbers whole, others to six digits, unknown ones "–".
std::string metric_text(const json& value) {
  if (!value.is_number()) return "–";
  const double number = value.get<double>();
  if (number == std::floor(number) && std::abs(number) < 1e15) return fmt::format("{:.0f}", number);
  return fmt::format("{:.6g}", number);
}

struct Points {
  std::vector<std::string> names;
  const json* columns = nullptr;
  std::size_t count = 0;
};

Points points_of(const json& metrics) {
  Points points;
  if (!metrics.contains("names") || !metrics.contains("cols")) return points;
  for (const json& name : metrics["names"])
    points.names.push_back(name.is_string() ? name.get<std::string>() : "");
  points.columns = &metrics["cols"];
  for (const json& column : *points.columns) points.count = std::max(points.count, column.size());
  return points;
}

// Of a point: its step, or its place where none is told.
double step_of(const Points& points, std::size_t row) {
  for (std::size_t i = 0; i < points.names.size() && i < points.columns->size(); ++i) {
    const json& column = (*points.columns)[i];
    if (points.names[i] == "step" && row < column.size() && column[row].is_number())
      return column[row].get<double>();
  }
  return static_cast<double>(row);
}

// The first point of a later step than `last`, which moves to the latest: a box may thin out the history.
std::size_t first_after(const Points& points, double& last) {
  std::size_t first = points.count;
  while (first > 0 && step_of(points, first - 1) > last) --first;
  if (first < points.count) last = step_of(points, points.count - 1);
  return first;
}

std::string points_text(App& app, const Points& points, std::size_t from, bool header) {
  const bool csv = app.output() == Output::csv;
  std::string out;
  const auto put = [&](std::string_view cell, bool first) {
    if (csv) {
      out += (first ? "" : ",") + csv_cell(cell);
    } else {
      const std::size_t width = display_width(cell);
      out += std::string(width < 13 ? 13 - width : 1, ' ') + std::string(cell);
    }
  };
  if (header) {
    for (std::size_t i = 0; i < points.names.size(); ++i) put(printable(points.names[i]), i == 0);
    out += csv ? "\r\n" : "\n";
  }
  for (std::size_t row = from; row < points.count; ++row) {
    json object = json::object();
    for (std::size_t i = 0; i < points.names.size(); ++i) {
      const json cell = i < points.columns->size() && row < (*points.columns)[i].size()
                            ? (*points.columns)[i][row]
                            : json();
      if (app.json_like()) {
        object[points.names[i]] = cell;
      } else if (csv) {
        put(cell.is_number() ? cell.dump() : "", i == 0);
      } else {
        put(metric_text(cell), i == 0);
      }
    }
    out += app.json_like() ? object.dump() + "\n" : csv ? "\r\n" : "\n";
  }
  return out;
}

}  // namespace

std::string job_path(std::string_view id) { return "/jobs/" + url_encode(id); }

bool job_ended(const json& job) {
  const std::string state = job.value("state", "");
  return state == "done" || state == "failed" || state == "cancelled";
}

std::string job_sentence(const json& job) {
  const std::string state = job.value("state", "");
  const double before = number_or(job, "queue_position", 0);
  if (state == "queued") return before > 0 ? fmt::format("waiting, {:.0f} before it", before) : "waiting";
  if (state != "running") return state;
  std::string text = text_or_empty(job, "step");
  if (text.empty()) text = "starting";
  if (const auto workers = job.find("workers"); workers != job.end() && workers->is_array()) {
    std::size_t working = 0;
    for (const json& worker : *workers) working += worker.value("state", "") == "working" ? 1 : 0;
    if (working > 1) text += fmt::format(" on {} nodes", working);
  }
  if (number_or(job, "pass", 0) > 0) text += fmt::format(", pass {:.0f}", number_or(job, "pass", 0));
  if (number_or(job, "rows_per_second", 0) >= 1)
    text += fmt::format(", {} rows/s", human_count(std::round(number_or(job, "rows_per_second", 0))));
  const double left = number_or(job, "seconds_left", -1);
  if (left >= 0) text += fmt::format(", {} left", human_duration(std::ceil(left)));
  return text;
}

Result<json> wait_job(App& app, const std::string& id) {
  Patience patience(app);
  json job;
  {
    Progress progress(app, "job", id, Measure::share);
    for (;;) {
      SAMOVAR_TRY(job, patience.get(job_path(id), {}, id));
      const double share =
          job.value("state", "") == "done" ? 1 : std::clamp(number_or(job, "share", 0), 0.0, 1.0);
      progress.update(static_cast<std::uint64_t>(share * 1000), 1000, job_sentence(job));
      if (job_ended(job)) break;
      if (!app.io().pause_ms(kAskMs)) return left_running(id);
    }
    progress.flush();
  }
  if (job.value("state", "") == "done") return job;
  if (app.json_like()) {
    SAMOVAR_CHECK(print_json(app, job));
    return app.stop(Exit::awaited_failed);
  }
  return job_failure(app, job);
}

Result<void> show_logs(App& app, const Invocation& invocation) {
  const std::string id(invocation.argument(0));
  const bool follow = invocation.has("follow");
  Patience patience(app);
  std::uint64_t after = 0;
  for (;;) {
    // The state is asked first: what is written until then is in the pages that follow.
    bool ended = true;
    if (follow) {
      SAMOVAR_TRY(json job, patience.get(job_path(id), {}, id));
      ended = job_ended(job);
    }
    for (;;) {
      SAMOVAR_TRY(std::size_t lines, print_logs(app, patience, id, after));
      if (lines < static_cast<std::size_t>(kLogPage)) break;
    }
    if (ended) return {};
    if (!app.io().pause_ms(2 * kAskMs)) return left_running(id);
  }
}

Result<void> show_metrics(App& app, const Invocation& invocation) {
  const std::string id(invocation.argument(0));
  Patience patience(app);
  if (!invocation.has("follow")) {
    SAMOVAR_TRY(json metrics, patience.get(job_path(id) + "/metrics", {}, id));
    if (app.output() == Output::json) return print_json(app, metrics);
    const Points points = points_of(metrics);
    if (points.count == 0) app.note("Nothing was measured yet.");
    app.io().out(points_text(app, points, 0, points.count > 0 && !app.json_like()));
    return {};
  }
  bool header = !app.json_like();
  double last = -1;
  for (;;) {
    SAMOVAR_TRY(json job, patience.get(job_path(id), {}, id));
    SAMOVAR_TRY(json metrics, patience.get(job_path(id) + "/metrics", {}, id));
    const Points points = points_of(metrics);
    app.io().out(points_text(app, points, first_after(points, last), header && points.count > 0));
    header = header && points.count == 0;
    if (job_ended(job)) return {};
    if (!app.io().pause_ms(2 * kAskMs)) return left_running(id);
  }
}

}  // namespace samovar::cli
