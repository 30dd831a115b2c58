// What trainings want of the power budget: limits of their own, gentleness, a deadline.
//
//   limit   the smallest of the box's budget and the limits of all trainings that run: every promise is kept
//   goal    of a training with a deadline: as few watts as still keep to it. It begins with all there is;
//           from then on the speed that its home asks for (`pace`) is turned into watts with the curves of
//           the nodes that work, each time the last change has shown its effect. Of a gentle one: half of
//           what the nodes can draw beyond rest.
//   budget  what the one that wants most is given, within the limit: one that could do with less does not
//           hold back others that run beside it
//
// The limit wins over the deadline. Then the training is late, and the watts that would do are named.
//
// Threading: none of its own.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "daemon/power/governor.hpp"
#include "daemon/power/power_message.hpp"

namespace samovar::power {

class JobGoals {
 public:
  static constexpr double kSettleSeconds = 12;  // longer than what pace and mean watts look back
  static constexpr double kLateAbove = 1.03;    // the pace of one that is late
  static constexpr double kLateAfterSeconds = 30;
  static constexpr double kGentleShare = 0.5;  // beyond rest

  struct Outcome {
    std::optional<double> watts;  // of the box, no more than `budget`; nothing: no limit
    std::string job_id;           // whose wish that is; empty: the box's budget holds
    std::vector<JobGrant> grants;
  };

  // `wishes`: one for each training that runs, and one without an id for other work. `mean_watts`: of all
  // nodes, over about ten seconds.
  Outcome step(double seconds, std::optional<double> budget, const std::vector<JobWish>& wishes,
               const std::vector<NodeStatus>& nodes, std::optional<double> mean_watts);

 private:
  struct Kept {
    std::optional<double> goal;  // nothing: all there is
    double held_seconds = 0;     // since it changed
    double behind_seconds = 0;   // too slow with all there is
    bool late = false;
    std::optional<double> needed;
  };
  void pursue(double seconds, Kept& kept, const JobWish& wish, std::optional<double> limit,
              const std::vector<NodeStatus>& nodes, double mean_watts) const;

  std::map<std::string, Kept, std::less<>> kept_;
};

// What several nodes say of the same training: its home knows the pace, every node the rest.
std::vector<JobWish> merged(const std::vector<JobWish>& wishes);

}  // namespace samovar::power
