#include "daemon/power/regulator.hpp"

#include <algorithm>
#include <cmath>

namespace samovar::power {
namespace {

constexpr double kIdleMemorySeconds = 10;
constexpr double kRestSeenBelow = 0.3;   // of the duty
constexpr double kDutyGrowth = 1.5;      // a second, at most
constexpr double kBiasPerSecond = 0.3;   // of the error
constexpr double kBiasMax = 0.08;        // of the cap
constexpr double kChangeGain = 1.02;     // another level must be better by this
constexpr double kSettleSeconds = 1;     // after a change, until readings count
constexpr double kHoldSeconds = 5;       // and this one have been held for so long
constexpr double kClimbPerSecond = 0.2;  // of the duty, while nothing is seen of it in the reading
constexpr double kClimbBelow = 0.95;     // of the cap

// Of a setting that was never run but lies between two that were: on the line between them. The truth is a
// little better, since watts fall faster than the clock.
std::optional<CurvePoint> at_or_between(const CurveBook& book, const std::string& kind, std::size_t level,
                                        std::size_t levels) {
  if (auto known = book.at(kind, level)) return known;
  std::optional<CurvePoint> faster;
  std::optional<CurvePoint> slower;
  std::size_t up = level;
  std::size_t down = level;
  while (!faster && up > 0) faster = book.at(kind, --up);
  while (!slower && down + 1 < levels) slower = book.at(kind, ++down);
  if (!faster || !slower) return std::nullopt;
  const double part = static_cast<double>(down - level) / static_cast<double>(down - up);
  return CurvePoint{slower->watts + part * (faster->watts - slower->watts),
                    slower->rate + part * (faster->rate - slower->rate)};
}

}  // namespace

std::optional<Curve> Regulator::curve() const {
  std::vector<CurvePoint> points;
  for (std::size_t level = 0; level < levels_; ++level)
    if (const auto point = at_or_between(book_, kind_, level, levels_)) points.push_back(*point);
  if (points.empty()) return std::nullopt;
  return Curve(idle_watts(), std::move(points));
}

double Regulator::watts_max() const {
  if (heat_share_ >= 1) return 0;
  const auto known = curve();
  if (!known) return 0;
  return idle_watts() + heat_share_ * (known->full_watts() - idle_watts());
}

void Regulator::rest(const RegulatorInput& input) {
  if (input.watts && std::isfinite(*input.watts)) {
    if (!idle_) idle_ = *input.watts;
    idle_ = *idle_ + (*input.watts - *idle_) * std::min(1.0, input.seconds / kIdleMemorySeconds);
  }
  bias_ = 0;
  held_seconds_ = 0;
  forget_climb();
}

void Regulator::forget_climb() { duty_unknown_ = kDutyUnknown; }

// Work whose watts are not seen must not crawl for ever: what the reading allows is taken in small steps, and
// given back in larger ones. Without a reading nothing is known, and it stays careful.
void Regulator::climb(const RegulatorInput& input, double cap) {
  if (prober_ || !input.watts || held_seconds_ < kSettleSeconds || book_.at(kind_, drive_.level)) return;
  const double seconds = std::min(input.seconds, 2.0);
  duty_unknown_ *= *input.watts <= kClimbBelow * cap ? 1 + kClimbPerSecond * seconds
                   : *input.watts > cap              ? 1 - kClimbPerSecond * seconds
                                                     : 1;
  duty_unknown_ = std::clamp(duty_unknown_, kDutyMin, 1.0);
}

void Regulator::learn(const RegulatorInput& input) {
  if (!input.watts || !std::isfinite(*input.watts)) return;
  // It was at work from the first sample on: what it drew is an upper bound of rest.
  if (!idle_) idle_ = *input.watts * 0.5;
  if (*input.watts < *idle_)
    idle_ = *idle_ + (*input.watts - *idle_) * std::min(1.0, input.seconds / kIdleMemorySeconds);
  // A reading that covers a change says nothing about either side of it.
  if (held_seconds_ < kSettleSeconds || (prober_ && !prober_->settled())) return;
  // A warm board draws more at rest: at a small duty that is what is seen. Else rest is taken to be that of
  // the cold one, and work to cost many times what it does.
  if (const auto known = book_.at(input.kind, drive_.level); known && drive_.duty < kRestSeenBelow) {
    const double expected = *idle_ + (known->watts - *idle_) * drive_.duty;
    const double change =
        (*input.watts - expected) * std::min(1.0, input.seconds / kIdleMemorySeconds) * (1 - drive_.duty);
    idle_ = std::max(0.0, *idle_ + change);
  }
  book_.add(input.kind, drive_.level, *idle_, *input.watts, input.rate, drive_.duty, input.seconds);
}

double Regulator::duty_for(std::size_t level, double cap) const {
  const auto known = at_or_between(book_, kind_, level, levels_);
  if (!known) return level == drive_.level ? duty_unknown_ : kDutyUnknown;
  double watts = known->watts;
  // A faster clock never draws less than a slower one: that guards against a first reading that was off.
  for (std::size_t slower = level + 1; slower < levels_; ++slower)
    if (const auto other = book_.at(kind_, slower)) watts = std::max(watts, other->watts);
  const double active = watts - idle_watts();
  return active <= 0 ? 1 : std::clamp((cap - idle_watts()) / active, kDutyMin, 1.0);
}

Drive Regulator::choose(double cap) {
  Drive best = drive_;
  best.duty = duty_for(drive_.level, cap);
  if (prober_) {
    best.level = *prober_->level();
    best.duty = duty_for(best.level, cap);
    return best;
  }
  const auto rate_of = [&](std::size_t level) {
    const auto known = at_or_between(book_, kind_, level, levels_);
    return known ? known->rate * duty_for(level, cap) : -1;
  };
  const double now = rate_of(drive_.level);
  double most = now;
  for (std::size_t level = 0; level < levels_; ++level) {
    const double rate = rate_of(level);
    if (rate <= most) continue;
    most = rate;
    best = {level, duty_for(level, cap)};
  }
  const bool change = best.level != drive_.level;
  if (change && now > 0 && (held_seconds_ < kHoldSeconds || most < now * kChangeGain))
    return {drive_.level, duty_for(drive_.level, cap)};
  return best;
}

// What the model of the board leaves over. Not while the duty cannot follow.
void Regulator::correct(const RegulatorInput& input, double cap) {
  if (!input.watts || prober_) return;
  const bool follows = drive_.duty < 1 && drive_.duty > kDutyMin;
  if (!follows && *input.watts < cap) {
    bias_ = std::min(bias_, 0.0);
    return;
  }
  bias_ += (*input.watts - cap) * kBiasPerSecond * input.seconds;
  bias_ = std::clamp(bias_, -kBiasMax * cap, kBiasMax * cap);
}

Drive Regulator::step(const RegulatorInput& input) {
  heat_share_ = input.heat_share;
  if (input.kind != kind_) {
    kind_ = input.kind;
    prober_.reset();
    probed_seconds_ago_ = kProbeAgainSeconds;
    forget_climb();
  }
  if (!input.working) {
    rest(input);
    prober_.reset();
    // Whatever begins next begins within the cap.
    const bool known = input.cap_watts && book_.at(kind_, 0);
    drive_ = {0, !input.cap_watts ? 1 : known ? duty_for(0, *input.cap_watts) : kDutyUnknown};
    return drive_;
  }
  learn(input);
  held_seconds_ += input.seconds;
  if (prober_) {
    prober_->passed(input.seconds);
    if (!prober_->level()) prober_.reset();
  }
  std::optional<double> cap = input.cap_watts;
  if (const double top = watts_max(); top > 0) cap = std::min(cap.value_or(top), top);
  if (!cap) {
    bias_ = 0;
    prober_.reset();
    drive_ = {0, 1};
    return drive_;
  }
  probed_seconds_ago_ += input.seconds;
  if (levels_ > 1 && !prober_ && !book_.at(kind_, levels_ - 1) && probed_seconds_ago_ >= kProbeAgainSeconds) {
    prober_.emplace(levels_);
    probed_seconds_ago_ = 0;
  }
  climb(input, *cap);
  correct(input, *cap);
  const Drive wanted = choose(*cap - bias_);
  if (wanted.level != drive_.level) {
    held_seconds_ = 0;
    forget_climb();
    drive_ = wanted;
    return drive_;
  }
  drive_.duty = std::min(wanted.duty, drive_.duty * (1 + (kDutyGrowth - 1) * std::min(input.seconds, 2.0)));
  drive_.duty = std::clamp(drive_.duty, kDutyMin, 1.0);
  return drive_;
}

}  // namespace samovar::power
