// Cluster time on this node: the leader's clock as far as it is known, never before what the log has seen,
// and going on from there even when this board's own clock stands in 1970.
//
// Threading: loop only.
#pragma once
#include <algorithm>
#include <optional>

#include "base/clock.hpp"

namespace samovar::cluster {

class ClusterClock {
 public:
  // `last`: the time of the last command applied here. `skew`: our clock minus the leader's, if known.
  WallTime now(const Clock& clock, WallTime last, std::optional<Duration> skew) {
    using std::chrono::microseconds;
    const MonoTime mono = clock.mono();
    if (last != seen_) {
      seen_ = last;
      seen_at_ = mono;
    }
    WallTime wall = clock.wall();
    if (skew) wall -= std::chrono::duration_cast<microseconds>(*skew);
    if (last == WallTime{}) return wall;
    // A little slower than real time, so that a clock that was set back is met again one day.
    const auto since = std::chrono::duration_cast<microseconds>((mono - seen_at_) / 64 * 63);
    return std::max(wall, last + since);
  }
  // What it would be by the last command and the time since, whatever our clock says. After now().
  WallTime at_most(const Clock& clock) const {
    return seen_ + std::chrono::duration_cast<std::chrono::microseconds>(clock.mono() - seen_at_);
  }

 private:
  WallTime seen_{};     // the last command's time, and
  MonoTime seen_at_{};  // when we saw it first
};

}  // namespace samovar::cluster
