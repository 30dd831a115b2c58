// How often a node tells the leader how its watts stand: each second while something follows from it, rarely
// while nothing does.
//
// Threading: none of its own; time is handed in.
#pragma once
#include <optional>
#include <string>

#include "base/clock.hpp"

namespace samovar::power {

class ReportPace {
 public:
  static constexpr std::chrono::seconds kRest{30};

  // About every second: whether to tell `leader` now. `resting`: nothing works here and no budget holds, so
  // that nobody would do anything with it. Who begins or ceases to rest, or has a new leader, says so at
  // once.
  bool due(MonoTime now, const std::string& leader, bool resting) {
    if (resting && rested_ && leader == leader_ && told_ && now < *told_ + kRest) return false;
    rested_ = resting;
    leader_ = leader;
    told_ = now;
    return true;
  }
  // The leader did not hear it.
  void failed() { told_.reset(); }

 private:
  bool rested_ = false;
  std::string leader_;
  std::optional<MonoTime> told_;
};

}  // namespace samovar::power
