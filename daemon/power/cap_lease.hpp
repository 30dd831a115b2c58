// What this node may draw as long as it hears the leader, and what when it does not.
//
//   heard within kHold     the cap it was told
//   not heard for longer   nothing when no budget is set; else as little as it can: the leader counts a
//   silent
//                          node with its cap for longer than that, and then with its rest, so that the budget
//                          holds whoever is cut off from whom
//
// Threading: none of its own.
#pragma once
#include <optional>

#include "base/clock.hpp"
#include "daemon/power/power_message.hpp"

namespace samovar::power {

class CapLease {
 public:
  static constexpr std::chrono::seconds kHold{15};

  void told(MonoTime now, const CapAnswer& answer) {
    if (!answer.ready) return;
    answer_ = answer;
    told_ = now;
  }
  // The leader is of an older version and knows nothing of power: this node's even part of the budget.
  void told_nothing(MonoTime now, std::optional<double> budget, std::size_t members) {
    CapAnswer even;
    even.ready = true;
    even.budget_watts = budget;
    if (budget) even.cap_watts = *budget / static_cast<double>(members == 0 ? 1 : members);
    told(now, even);
  }
  const CapAnswer& last() const { return answer_; }
  // What the leader last said, while it holds.
  const CapAnswer* answer(MonoTime now) const { return fresh(now) ? &answer_ : nullptr; }
  bool fresh(MonoTime now) const { return told_ && now < *told_ + kHold; }
  // `budget`: what this node's own copy of the settings says holds now.
  std::optional<double> cap(MonoTime now, std::optional<double> budget) const {
    if (fresh(now)) return answer_.cap_watts;
    return budget ? std::optional(0.0) : std::nullopt;
  }

 private:
  CapAnswer answer_;
  std::optional<MonoTime> told_;
};

}  // namespace samovar::power
