// Keeps a node below its thermal limit: how much of its active power it may use, falling while it is too hot,
// rising slowly once it is some degrees below. In between it stays, so that it does not swing.
//
// Threading: none of its own.
#pragma once
#include <algorithm>
#include <optional>

namespace samovar::power {

class ThermalGuard {
 public:
  static constexpr double kBandCelsius = 3;  // below the limit: no change
  static constexpr double kShareMin = 0.05;

  // 1: no limit. Without a reading nothing changes; without a limit it is 1.
  double step(double seconds, std::optional<double> celsius, std::optional<double> limit_celsius) {
    if (!limit_celsius) return share_ = 1;
    if (!celsius) return share_;
    const double over = *celsius - *limit_celsius;
    // The hotter, the faster; heat has inertia, so that a hard cut would overshoot.
    if (over >= 0)
      share_ *= 1 - std::min(0.2, (kFallPerSecond + kFallPerDegree * over) * seconds);
    else if (over < -kBandCelsius)
      share_ += kRisePerSecond * seconds;
    return share_ = std::clamp(share_, kShareMin, 1.0);
  }
  double share() const noexcept { return share_; }
  bool limits() const noexcept { return share_ < 1; }

 private:
  static constexpr double kFallPerSecond = 0.02;
  static constexpr double kFallPerDegree = 0.02;
  static constexpr double kRisePerSecond = 0.005;
  double share_ = 1;
};

}  // namespace samovar::power
