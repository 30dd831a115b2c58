// What work costs: watts above the node's idle power, summed up while it runs.
//
// Idle is learned while nothing runs: it falls at once to a lower reading and rises slowly, so that a busy
// minute does not count as rest.
//
// Threading: values.
#pragma once
#include <algorithm>
#include <optional>

namespace samovar::jobs {

class EnergyMeter {
 public:
  // One reading that holds for `seconds`; the joules of it when work runs.
  double add(double watts, double seconds, bool working) {
    if (!idle_) idle_ = watts;
    if (!working) {
      *idle_ = watts < *idle_ ? watts : *idle_ + (watts - *idle_) * std::min(1.0, seconds / kRiseSeconds);
      return 0;
    }
    return std::max(0.0, watts - *idle_) * seconds;
  }
  std::optional<double> idle_watts() const { return idle_; }

 private:
  static constexpr double kRiseSeconds = 60;
  std::optional<double> idle_;
};

}  // namespace samovar::jobs
