#include "daemon/power/curve.hpp"

#include <algorithm>
#include <cmath>

namespace samovar::power {
namespace {

constexpr double kMemorySeconds = 20;
constexpr double kFirstSeconds = 4;  // a first idea may be a bad one
constexpr double kDutyTells = 4;     // all, from a half on
constexpr double kDutyMin = 0.02;
constexpr double kWattsAboveRestMin = 0.01;
constexpr double kOnTheLine = 1e-9;

// How far b lies above the line from a to c; positive: it belongs to the hull.
double above(const CurvePoint& a, const CurvePoint& b, const CurvePoint& c) {
  return (b.rate - a.rate) * (c.watts - a.watts) - (c.rate - a.rate) * (b.watts - a.watts);
}

}  // namespace

Curve::Curve(double idle_watts, std::vector<CurvePoint> measured) {
  std::erase_if(measured, [idle_watts](const CurvePoint& p) {
    return !std::isfinite(p.watts) || !std::isfinite(p.rate) || p.watts <= idle_watts || p.rate <= 0;
  });
  std::sort(measured.begin(), measured.end(), [](const CurvePoint& a, const CurvePoint& b) {
    return a.watts != b.watts ? a.watts < b.watts : a.rate > b.rate;
  });
  points_.push_back({idle_watts, 0});
  for (const CurvePoint& point : measured) {
    // More watts for no more samples.
    if (point.rate <= points_.back().rate) continue;
    // Settings on the line stay: they are where a node can be.
    const double slack = kOnTheLine * point.rate * point.watts;
    while (points_.size() > 1 && above(points_[points_.size() - 2], points_.back(), point) < -slack)
      points_.pop_back();
    points_.push_back(point);
  }
}

double Curve::rate_at(double watts) const noexcept {
  if (watts <= idle_watts()) return 0;
  for (std::size_t i = 1; i < points_.size(); ++i) {
    const CurvePoint& a = points_[i - 1];
    const CurvePoint& b = points_[i];
    if (watts <= b.watts) return a.rate + (b.rate - a.rate) * (watts - a.watts) / (b.watts - a.watts);
  }
  return full_rate();
}

void CurveBook::add(const std::string& kind, std::size_t level, double idle_watts, double watts, double rate,
                    double duty, double seconds) {
  const double active = watts - idle_watts;
  if (!std::isfinite(active) || !std::isfinite(rate) || duty < kDutyMin || seconds <= 0) return;
  if (active < kWattsAboveRestMin || rate < 0) return;
  const CurvePoint full{idle_watts + active / duty, rate / duty};
  Kind& of = kinds_[kind];
  of.used = ++uses_;
  Seen& seen = of.levels[level];
  seen.seconds = std::min(seen.seconds + seconds, kMemorySeconds);
  // A mean at first, then one that forgets: heat moves the watts, the data moves the rate.
  const double weight = std::min(1.0, seconds / seen.seconds);
  // At a small duty most of a reading is rest: what it says of the power at full duty is mostly noise, and
  // whatever rest is taken to be too low or too high comes out many times as large.
  const double told = seen.seconds <= kFirstSeconds ? 1 : std::min(1.0, kDutyTells * duty * duty);
  seen.full.watts += (full.watts - seen.full.watts) * weight * told;
  seen.full.rate += (full.rate - seen.full.rate) * weight;
  if (kinds_.size() <= kKindsMax) return;
  kinds_.erase(std::min_element(kinds_.begin(), kinds_.end(),
                                [](const auto& a, const auto& b) { return a.second.used < b.second.used; }));
}

std::optional<CurvePoint> CurveBook::at(const std::string& kind, std::size_t level) const {
  const auto of = kinds_.find(kind);
  if (of == kinds_.end()) return std::nullopt;
  const auto seen = of->second.levels.find(level);
  return seen == of->second.levels.end() ? std::nullopt : std::optional(seen->second.full);
}

std::optional<Curve> CurveBook::curve(const std::string& kind, double idle_watts) const {
  const auto of = kinds_.find(kind);
  if (of == kinds_.end()) return std::nullopt;
  std::vector<CurvePoint> points;
  for (const auto& [level, seen] : of->second.levels) points.push_back(seen.full);
  return Curve(idle_watts, std::move(points));
}

Prober::Prober(std::size_t count) {
  const std::size_t kept = std::min(std::max<std::size_t>(count, 1), kLevelsMax);
  for (std::size_t i = 0; i < kept; ++i) {
    const std::size_t level = kept == 1 ? 0 : i * (count - 1) / (kept - 1);
    if (levels_.empty() || levels_.back() != level) levels_.push_back(level);
  }
}

std::optional<std::size_t> Prober::level() const {
  return levels_.empty() ? std::nullopt : std::optional(levels_.back());
}

void Prober::passed(double seconds) {
  if (levels_.empty()) return;
  here_ += seconds;
  if (here_ < kSettleSeconds + kMeasureSeconds) return;
  here_ = 0;
  levels_.pop_back();
}

}  // namespace samovar::power
