#include "trainer/session.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "trainer/data/order.hpp"

namespace samovar::trainer {

namespace {

constexpr std::uint32_t kMagic = 0x4b56'4d53;  // "SMVK"
constexpr std::uint32_t kVersion = 4;
constexpr std::size_t kCurveFields = 4;
constexpr std::size_t kCurvePointsMax = 400;
// Between two reports of progress or metrics.
constexpr MonoTime kTellEvery = std::chrono::milliseconds(400);
constexpr unsigned kPointsAtOnceMax = 200;

std::uint64_t mark_text(std::uint64_t mark, std::string_view text) {
  std::uint64_t hash = 0xcbf2'9ce4'8422'2325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x0000'0100'0000'01b3;
  return SeededOrder::derive(mark, hash ^ text.size());
}

double to_seconds(MonoTime time) { return std::chrono::duration<double>(time).count(); }

}  // namespace

std::uint64_t job_mark(const BlockSource& source, const Schema& schema, const JobSpec& spec, bool rows) {
  nlohmann::json same = to_json(spec);
  // What it is called does not change what it computes; and what a device began, the CPU can go on with.
  for (const char* aside : {"name", "nodes", "on_lost_node", "device"}) same.erase(aside);
  if (spec.strategy == StrategySpec{}) same.erase("strategy");
  std::uint64_t mark = mark_text(mark_text(1, same.dump()), encode_schema(schema));
  for (std::size_t block = 0; rows && block < source.blocks(); ++block)
    mark = SeededOrder::derive(mark, source.rows(block));
  return mark;
}

Session::Session(TrainObserver& observer, const TrainOptions& options, std::uint64_t mark)
    : observer_(observer),
      options_(options),
      mark_(mark),
      clock_(real_clock()),
      began_(clock_.mono()),
      last_checkpoint_(began_),
      last_told_(began_ - kTellEvery) {}

double Session::seconds() const { return seconds_before_ + to_seconds(clock_.mono() - began_); }

Result<Resume> Session::open(ByteView checkpoint) const {
  StateReader in(checkpoint);
  if (in.get<std::uint32_t>() != kMagic)
    return Error{Errc::corrupt, "the checkpoint is damaged: start the job anew"};
  if (in.get<std::uint32_t>() != kVersion)
    return Error{Errc::conflict, "the checkpoint was made by another version of Samovar: start the job anew"};
  if (in.get<std::uint64_t>() != mark_)
    return Error{Errc::conflict, "the checkpoint belongs to another job or other data: start the job anew"};
  Resume resume;
  resume.stage = in.get<std::uint32_t>();
  resume.seconds = in.get<double>();
  in.get(resume.curve);
  const auto notes = in.get<std::uint32_t>();
  for (std::uint32_t i = 0; i < notes && !in.failed(); ++i) resume.notes.push_back(in.text());
  resume.solver = in.bytes();
  resume.part = in.get<std::uint32_t>();
  resume.steps_before = in.get<std::uint64_t>();
  resume.rows_before = in.get<std::uint64_t>();
  resume.steps = in.get<std::uint64_t>();
  resume.rows = in.get<std::uint64_t>();
  resume.kept = in.text();
  resume.plan = in.get<std::uint64_t>();
  SAMOVAR_CHECK(in.done());
  return resume;
}

void Session::go_on_from(const Resume& resume) {
  seconds_before_ = resume.seconds;
  steps_before_ = resume.steps_before;
  rows_before_ = resume.rows_before;
  last_step_ = resume.steps;
  told_.rows = resume.rows;
  curve_ = resume.curve;
  notes_.insert(notes_.end(), resume.notes.begin(), resume.notes.end());
}

void Session::set_plan(std::string_view plan) { plan_ = mark_text(1, plan); }

void Session::begin_part(std::uint32_t part, std::uint32_t parts, std::string kept) {
  if (part > part_) {
    steps_before_ = last_step_;
    rows_before_ = told_.rows;
    curve_.clear();
    notes_.clear();
  }
  part_ = part;
  parts_ = parts;
  kept_ = std::move(kept);
}

void Session::enter(std::string_view step, double from, double to, std::uint32_t stage) {
  step_ = step;
  from_ = from;
  to_ = to;
  stage_ = stage;
}

Result<void> Session::progress(double share) {
  told_.step = step_;
  told_.share = (part_ + from_ + (to_ - from_) * std::clamp(share, 0.0, 1.0)) / parts_;
  if (!observer_.progress(told_)) return Error{Errc::conflict, "stopped as asked"};
  return {};
}

Result<void> Session::waiting() {
  const MonoTime now = clock_.mono();
  if (now - last_told_ < kTellEvery) return {};
  last_told_ = now;
  told_.step = step_;
  if (!observer_.progress(told_)) return Error{Errc::conflict, "stopped as asked"};
  return {};
}

Result<void> Session::stepped(const StepReport& report, const std::function<void(StateWriter&)>& save) {
  if (report.curve && report.train_loss) {
    const double valid = report.valid_loss.value_or(std::nan(""));
    for (const double number :
         {static_cast<double>(report.step), static_cast<double>(report.rows), *report.train_loss, valid})
      curve_.push_back(number);
    if (curve_.size() >= 2 * kCurvePointsMax * kCurveFields) {
      // Every other point is enough for a curve this long.
      std::size_t kept = 0;
      for (std::size_t i = 0; i < curve_.size(); i += 2 * kCurveFields, kept += kCurveFields)
        std::copy_n(curve_.begin() + static_cast<std::ptrdiff_t>(i), kCurveFields,
                    curve_.begin() + static_cast<std::ptrdiff_t>(kept));
      curve_.resize(kept);
    }
  }
  const MonoTime now = clock_.mono();
  const std::uint64_t step = last_step_ = steps_before_ + report.step;
  told_.rows = rows_before_ + report.rows;
  told_.pass = report.pass;
  const bool tell = now - last_told_ >= kTellEvery;
  bool go_on = true;
  if (tell) {
    last_told_ = now;
    go_on = progress(report.share).has_value();
  }
  // A short training has its whole curve, a long one two points a second.
  if (tell || (report.curve && points_told_ < kPointsAtOnceMax)) {
    ++points_told_;
    TrainMetric metric;
    metric.step = step;
    metric.rows = told_.rows;
    metric.seconds = seconds();
    if (report.train_loss && std::isfinite(*report.train_loss))
      metric.values.emplace_back("train_loss", *report.train_loss);
    if (report.valid_loss && std::isfinite(*report.valid_loss))
      metric.values.emplace_back("valid_loss", *report.valid_loss);
    for (const auto& [name, value] : report.figures) {
      if (std::isfinite(value)) metric.values.emplace_back(name, value);
    }
    go_on = (metric.values.empty() || observer_.metric(metric)) && go_on;
  }
  if ((save_due(report.step) || !go_on) && (!saves_ || saves_())) {
    SAMOVAR_CHECK(checkpoint(step, save));
    last_checkpoint_ = clock_.mono();
  }
  if (!go_on) return Error{Errc::conflict, "stopped as asked"};
  return {};
}

bool Session::save_due(std::uint64_t step) {
  if (options_.checkpoint_steps != 0) return (steps_before_ + step) % options_.checkpoint_steps == 0;
  return to_seconds(clock_.mono() - last_checkpoint_) >= options_.checkpoint_seconds;
}

Result<void> Session::saved(std::uint64_t step, const Bytes& state) {
  SAMOVAR_CHECK(checkpoint(steps_before_ + step, [&](StateWriter& out) { out.put_raw(state); }));
  last_checkpoint_ = clock_.mono();
  return {};
}

Result<void> Session::checkpoint(std::uint64_t step, const std::function<void(StateWriter&)>& save) {
  return observer_.checkpoint(step, [&](const std::function<Result<void>(ByteView)>& take) {
    Result<void> taken;
    StateWriter out([&](ByteView piece) {
      if (taken) taken = take(piece);
    });
    write(save, out);
    if (taken) taken = out.kept();
    return taken;
  });
}

void Session::write(const std::function<void(StateWriter&)>& save, StateWriter& out) const {
  // The solver's state has its length before it: it is written twice, the first time only to be counted.
  std::uint64_t solver_bytes = 0;
  StateWriter counter([&](ByteView piece) { solver_bytes += piece.size(); });
  save(counter);
  out.put(kMagic);
  out.put(kVersion);
  out.put(mark_);
  out.put(stage_);
  out.put(seconds());
  out.put(curve_);
  out.put(static_cast<std::uint32_t>(notes_.size()));
  for (const std::string& note : notes_) out.put(std::string_view(note));
  out.put(solver_bytes);
  save(out);
  out.put(part_);
  out.put(steps_before_);
  out.put(rows_before_);
  out.put(last_step_);
  out.put(told_.rows);
  out.put(std::string_view(kept_));
  out.put(plan_);
}

nlohmann::json Session::curve() const {
  nlohmann::json out = nlohmann::json::array();
  for (std::size_t i = 0; i + kCurveFields <= curve_.size(); i += kCurveFields) {
    nlohmann::json point = {{"step", static_cast<std::uint64_t>(curve_[i])},
                            {"rows", static_cast<std::uint64_t>(curve_[i + 1])},
                            {"train_loss", curve_[i + 2]}};
    point["valid_loss"] =
        std::isfinite(curve_[i + 3]) ? nlohmann::json(curve_[i + 3]) : nlohmann::json(nullptr);
    out.push_back(std::move(point));
  }
  return out;
}

}  // namespace samovar::trainer
