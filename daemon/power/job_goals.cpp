#include "daemon/power/job_goals.hpp"

#include <algorithm>
#include <cmath>

#include "daemon/power/planner.hpp"

namespace samovar::power {
namespace {

constexpr double kPaceKeep = 0.93;    // from here to 1 nothing changes: readings are no better than that
constexpr double kLowerMost = 0.6;    // of the watts beyond rest, at once
constexpr double kShareLeast = 0.05;  // of the watts beyond rest: it goes on
constexpr double kOnTimeBelow = 0.98;
constexpr int kHalvings = 40;

double rest_of(const std::vector<NodeStatus>& nodes) {
  double watts = 0;
  for (const NodeStatus& node : nodes) watts += node.idle_watts;
  return watts;
}

// What all nodes can draw; nothing while one that works is not known well enough.
std::optional<double> full_of(const std::vector<NodeStatus>& nodes) {
  double watts = 0;
  for (const NodeStatus& node : nodes) {
    if (node.working && node.curve.empty()) return std::nullopt;
    const double full = node.working ? Curve(node.idle_watts, node.curve).full_watts() : node.idle_watts;
    watts += node.watts_max > 0 ? std::min(full, node.watts_max) : full;
  }
  return watts;
}

double rate_at(double watts, const std::vector<NodeStatus>& nodes) {
  std::vector<PlanNode> planned;
  for (const NodeStatus& node : nodes)
    planned.push_back({node.id, Curve(node.idle_watts, node.working ? node.curve : std::vector<CurvePoint>{}),
                       node.watts_max, 0});
  return split_budget(watts, planned).rate;
}

// The watts at which all goes `pace` times as fast as it does at `now`; nothing when no watts do.
std::optional<double> watts_for(double pace, double now, const std::vector<NodeStatus>& nodes) {
  const double rest = rest_of(nodes);
  const auto full = full_of(nodes);
  const double beside = std::max(0.0, now - rest);
  // The duty goes with the watts beyond rest: true without clock caps, careful with them.
  if (!full || *full <= rest) return rest + beside * pace;
  const double wanted = rate_at(std::min(now, *full), nodes) * pace;
  if (wanted <= 0) return rest + beside * pace;
  if (wanted > rate_at(*full, nodes)) return std::nullopt;
  double low = rest;
  double high = *full;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    (rate_at(middle, nodes) < wanted ? low : high) = middle;
  }
  return high;
}

}  // namespace

std::vector<JobWish> merged(const std::vector<JobWish>& wishes) {
  std::vector<JobWish> all;
  for (const JobWish& wish : wishes) {
    const auto same =
        std::find_if(all.begin(), all.end(), [&](const JobWish& one) { return one.id == wish.id; });
    if (same == all.end()) {
      all.push_back(wish);
      continue;
    }
    if (wish.cap_watts && (!same->cap_watts || *wish.cap_watts < *same->cap_watts))
      same->cap_watts = wish.cap_watts;
    same->gentle = same->gentle || wish.gentle;
    same->deadline = same->deadline || wish.deadline;
    if (wish.pace) same->pace = wish.pace;
  }
  return all;
}

void JobGoals::pursue(double seconds, Kept& kept, const JobWish& wish, std::optional<double> limit,
                      const std::vector<NodeStatus>& nodes, double mean_watts) const {
  if (!wish.pace || kept.held_seconds < kSettleSeconds) return;
  const double pace = *wish.pace;
  const double rest = rest_of(nodes);
  const bool most = !kept.goal || (limit && *kept.goal >= 0.999 * *limit);
  kept.behind_seconds = most && pace > kLateAbove ? kept.behind_seconds + seconds : 0;
  if (most && pace > kLateAbove) {
    // Curves are learned in the first seconds, and a node may be back soon.
    if (kept.behind_seconds < kLateAfterSeconds) return;
    kept.late = true;
    kept.needed = watts_for(pace, mean_watts, nodes);
    // What would do is within the limit: it has not drawn all of that yet.
    if (kept.needed && limit && *kept.needed <= *limit) kept.late = false;
    return;
  }
  if (pace < kOnTimeBelow) kept.late = false;
  if (pace >= kPaceKeep && pace <= 1) return;
  auto wanted = watts_for(pace, mean_watts, nodes);
  if (wanted && pace < 1) wanted = std::max(*wanted, rest + kLowerMost * (mean_watts - rest));
  if (const auto full = full_of(nodes); wanted && full) {
    wanted = std::max(*wanted, rest + kShareLeast * (*full - rest));
    // All of them at full power is no goal.
    if (*wanted >= 0.99 * *full && pace > 1) wanted.reset();
  }
  if (wanted && limit && *wanted >= *limit) wanted.reset();
  if (wanted == kept.goal) return;
  kept.goal = wanted;
  kept.held_seconds = 0;
}

JobGoals::Outcome JobGoals::step(double seconds, std::optional<double> budget,
                                 const std::vector<JobWish>& wishes, const std::vector<NodeStatus>& nodes,
                                 std::optional<double> mean_watts) {
  std::erase_if(kept_, [&](const auto& row) {
    return std::none_of(wishes.begin(), wishes.end(), [&](const JobWish& w) { return w.id == row.first; });
  });
  Outcome outcome;
  outcome.watts = budget;
  for (const JobWish& wish : wishes) {
    if (!wish.cap_watts || (outcome.watts && *wish.cap_watts >= *outcome.watts)) continue;
    outcome.watts = wish.cap_watts;
    outcome.job_id = wish.id;
  }
  const std::optional<double> limit = outcome.watts;
  std::optional<double> most = 0.0;  // what the one that wants most wants; nothing: all there is
  std::string whose;
  for (const JobWish& wish : wishes) {
    std::optional<double> goal;
    if (wish.deadline) {
      Kept& kept = kept_[wish.id];
      kept.held_seconds += seconds;
      if (mean_watts) pursue(seconds, kept, wish, limit, nodes, *mean_watts);
      goal = kept.goal;
      if (goal && limit) goal = std::min(*goal, *limit);
      outcome.grants.push_back(
          {wish.id, goal ? goal : limit, limit, kept.late, kept.late ? kept.needed : std::nullopt});
    } else {
      if (const auto full = full_of(nodes); wish.gentle && full)
        goal = rest_of(nodes) + kGentleShare * (*full - rest_of(nodes));
      if (goal && limit) goal = std::min(*goal, *limit);
      if (!wish.id.empty())
        outcome.grants.push_back({wish.id, goal ? goal : limit, limit, false, std::nullopt});
    }
    if (!goal) {
      most.reset();
    } else if (most && *goal > *most) {
      most = goal;
      whose = wish.id;
    }
  }
  if (most && *most > 0 && (!limit || *most < *limit)) {
    outcome.watts = most;
    outcome.job_id = whose;
  }
  return outcome;
}

}  // namespace samovar::power
