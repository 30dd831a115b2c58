// The leader's book: what every node last said of its power, the budget that holds, and each one's cap.
//
//   reporting  heard within kFresh; while no budget holds, one that rests within kFreshResting
//   silent     not since then, up to kSilent: it may still draw its cap, which is kept free for it
//   away       longer, up to kAway: cut off, it works no more, or it is off; counted with its rest
//   unknown    a member that was not heard of: of an older version, off, or away for long; not counted
//
// A new leader hands out no caps until all members were heard, or kGather is over: what held goes on.
//
// Threading: none of its own; time is handed in.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "daemon/power/governor.hpp"
#include "daemon/power/job_goals.hpp"
#include "daemon/power/power_message.hpp"
#include "daemon/power/report_pace.hpp"
#include "daemon/power/settings.hpp"

namespace samovar::power {

class BudgetKeeper {
 public:
  static constexpr std::chrono::seconds kFresh{3};
  static constexpr std::chrono::seconds kFreshResting = 2 * ReportPace::kRest + kFresh;
  static constexpr std::chrono::seconds kSilent{20};  // longer than CapLease::kHold
  static constexpr std::chrono::minutes kAway{10};
  static constexpr std::chrono::seconds kGather{3};

  // This node leads from now on.
  explicit BudgetKeeper(MonoTime now) : began_(now) {}

  void heard(const std::string& id, PowerStatus status, MonoTime now);
  // About every second. `members`: all that count; others are forgotten.
  void step(MonoTime now, const Settings& settings, LocalTime local, const std::vector<std::string>& members);
  CapAnswer answer(const std::string& id) const;
  ClusterPower view(MonoTime now) const;

 private:
  struct Entry {
    PowerStatus status;
    MonoTime heard{};
    std::optional<double> cap;
  };
  enum class State : std::uint8_t { reporting, silent, away, unknown };
  State state_of(const Entry& entry, MonoTime now) const;
  void choose_budget(MonoTime now, const Settings& settings, LocalTime local, double seconds,
                     const std::vector<NodeStatus>& nodes);

  const MonoTime began_;
  std::optional<MonoTime> stepped_;
  bool ready_ = false;
  std::map<std::string, Entry, std::less<>> entries_;
  std::vector<std::string> members_;
  Governor governor_;
  JobGoals goals_;
  std::vector<JobGrant> grants_;
  Budget budget_{std::nullopt, "none"};
  std::string job_id_;
  PowerPlan plan_;
};

}  // namespace samovar::power
