#include "daemon/cli/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/json.hpp"
#include "daemon/cli/app.hpp"
#include "daemon/cli/text_table.hpp"

namespace samovar::cli {
namespace {

constexpr Duration kBarPause = std::chrono::milliseconds(200);
constexpr Duration kJsonPause = std::chrono::seconds(1);
constexpr Duration kLinePause = std::chrono::seconds(10);
constexpr int kBarColumns = 24;

double seconds(Duration time) { return std::chrono::duration<double>(time).count(); }

}  // namespace

Progress::Progress(App& app, std::string what, std::string title, Measure measure)
    : app_(app), what_(std::move(what)), title_(std::move(title)), measure_(measure) {
  const std::string_view wanted = app.invocation().flag("progress", "auto");
  if (wanted == "json") {
    mode_ = Mode::json_lines;
  } else if (wanted == "none" || app.quiet() || app.invocation().has("dry-run")) {
    mode_ = Mode::none;
  } else {
    mode_ = wanted == "bar" || (wanted == "auto" && app.io().out_is_terminal()) ? Mode::bar : Mode::lines;
  }
}

Progress::~Progress() {
  if (open_line_) app_.io().err("\n");
}

void Progress::update(std::uint64_t done, std::uint64_t total, std::string_view step) {
  const MonoTime now = real_clock().mono();
  // "training, pass 2" is the same step as "training, pass 3": figures alone are worth no line of their own.
  const auto name = [](std::string_view text) { return text.substr(0, text.find(',')); };
  const bool new_step = name(step) != name(step_);
  done_ = done;
  total_ = total;
  step_ = step;
  shown_last_ = false;
  if (!begun_) {
    begun_ = true;
    began_ = shown_ = now;
    first_done_ = done;
    if (mode_ != Mode::lines) show();
    return;
  }
  const Duration pause = mode_ == Mode::bar ? kBarPause : mode_ == Mode::json_lines ? kJsonPause : kLinePause;
  if (now - shown_ < pause && !(new_step && mode_ != Mode::bar)) return;
  shown_ = now;
  show();
}

void Progress::flush() {
  if (!shown_last_ && mode_ != Mode::lines) show();
}

void Progress::say(std::string_view text) {
  if (open_line_) app_.io().err("\n");
  open_line_ = false;
  app_.note(text);
}

std::string Progress::count_text(double count) const {
  return measure_ == Measure::bytes ? human_bytes(count) : human_count(std::floor(count)) + " rows";
}

std::string Progress::amount_text() const {
  if (measure_ == Measure::share) return {};
  if (total_ == 0) return count_text(static_cast<double>(done_));
  const std::string done = measure_ == Measure::rows ? human_count(static_cast<double>(done_))
                                                     : human_bytes(static_cast<double>(done_));
  return fmt::format("{} of {}", done, count_text(static_cast<double>(total_)));
}

std::string Progress::speed_text() const {
  if (measure_ == Measure::share) return {};
  const double time = seconds(real_clock().mono() - began_);
  if (time < 0.5 || done_ <= first_done_) return {};
  const double speed = static_cast<double>(done_ - first_done_) / time;
  std::string text = ", " + count_text(speed) + "/s";
  if (total_ > done_ && speed > 0)
    text += ", " + human_duration(static_cast<double>(total_ - done_) / speed) + " left";
  return text;
}

std::string Progress::bar_text() const {
  const double share = total_ == 0 ? 0 : static_cast<double>(done_) / static_cast<double>(total_);
  const int full = std::clamp(static_cast<int>(share * kBarColumns), 0, kBarColumns);
  return fmt::format("[{}{}] {:3.0f} %", std::string(static_cast<std::size_t>(full), '#'),
                     std::string(static_cast<std::size_t>(kBarColumns - full), '-'), share * 100);
}

void Progress::show() {
  shown_last_ = true;
  const std::string amount = amount_text() + speed_text();
  const auto list = [](std::string_view first, std::string_view second) {
    return fmt::format("{}{}{}", first, first.empty() || second.empty() ? "" : ", ", second);
  };
  const std::string name = printable(title_);
  if (mode_ == Mode::json_lines) {
    nlohmann::json line = {{"event", what_}, {"title", title_}, {"done", done_}, {"total", total_}};
    if (!step_.empty()) line["step"] = step_;
    app_.io().err(line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  } else if (mode_ == Mode::lines) {
    app_.io().err(fmt::format("{} {}: {}\n", what_, name, list(step_, amount)));
  } else if (mode_ == Mode::bar) {
    const std::string text = fmt::format("{} {} {}", truncate(name, 24), bar_text(), list(amount, step_));
    const std::size_t width = static_cast<std::size_t>(std::max(app_.io().columns() - 1, 20));
    app_.io().err("\r\x1b[K" + truncate(text, width));
    open_line_ = true;
  }
}

}  // namespace samovar::cli
