#include "daemon/power/governor.hpp"

#include <algorithm>

#include "daemon/power/planner.hpp"

namespace samovar::power {
namespace {

// Of the budget: less while curves are being learned or work comes and goes, nearly all of it once it is
// calm.
constexpr double kGoalFirst = 0.975;
constexpr double kGoalCalm = 0.998;
constexpr double kCalmAfter = 10;  // seconds
constexpr double kCalmFor = 20;    // until the goal is that of calm
constexpr double kTrimPerSecond = 0.2;
constexpr double kTrimMax = 0.1;  // of the budget
// One that rests may begin to work at any moment: it begins within this much above rest.
constexpr double kStartShare = 0.1;
// Every node that works goes on, if slowly.
constexpr double kFloorShare = 0.02;
constexpr double kMoveShare = 0.25;  // of the way to it, each second
constexpr double kBetterBy = 1.005;  // what another split must promise

bool known(const NodeStatus& node) { return !node.curve.empty(); }

}  // namespace

void Governor::measure(double seconds, const std::vector<NodeStatus>& nodes) {
  Reading reading{seconds, 0};
  for (const NodeStatus& node : nodes) reading.watts += node.watts.value_or(node.idle_watts);
  readings_.push_back(reading);
  double covered = 0;
  for (const Reading& one : readings_) covered += one.seconds;
  while (readings_.size() > 1 && covered - readings_.front().seconds >= kMeanSeconds) {
    covered -= readings_.front().seconds;
    readings_.pop_front();
  }
}

double Governor::goal_share(double seconds, double budget, const std::vector<NodeStatus>& nodes) {
  std::string shape;
  bool all_known = true;
  for (const NodeStatus& node : nodes) {
    shape += node.id + (node.working ? "+" : "-");
    all_known = all_known && (!node.working || known(node));
  }
  const bool same = budget == budget_before_ && shape == shape_before_;
  calm_seconds_ = same && all_known ? calm_seconds_ + seconds : 0;
  budget_before_ = budget;
  shape_before_ = std::move(shape);
  const double calm = std::clamp((calm_seconds_ - kCalmAfter) / kCalmFor, 0.0, 1.0);
  return kGoalFirst + (kGoalCalm - kGoalFirst) * calm;
}

std::optional<double> Governor::mean_watts() const {
  double joules = 0;
  double seconds = 0;
  for (const Reading& one : readings_) {
    joules += one.watts * one.seconds;
    seconds += one.seconds;
  }
  return seconds > 0 ? std::optional(joules / seconds) : std::nullopt;
}

// The caps that hold, as far as they are within the goal, or those of the new split when that is better.
std::vector<double> Governor::steadied(double goal, const std::vector<PlanNode>& planned, Split split) {
  std::vector<double> before;
  double sum = 0;
  double rest = 0;
  for (const PlanNode& node : planned) {
    const auto at = given_.find(node.id);
    const double idle = node.curve.idle_watts();
    before.push_back(std::max(idle, at == given_.end() ? split.watts[before.size()] : at->second));
    sum += before.back();
    rest += idle;
  }
  // More or less to share out: each the same part of it beyond rest.
  const double scale = sum > rest ? std::max(0.0, goal - rest) / (sum - rest) : 1;
  double rate_before = 0;
  double rate_after = 0;
  for (std::size_t i = 0; i < planned.size(); ++i) {
    const double idle = planned[i].curve.idle_watts();
    before[i] = std::min(idle + (before[i] - idle) * scale, std::max(idle, planned[i].curve.full_watts()));
    rate_before += rate_with(planned[i], before[i]);
    rate_after += rate_with(planned[i], split.watts[i]);
  }
  std::vector<double> caps = before;
  // In steps: what one board gives up the other takes while it comes to speed.
  if (rate_after > kBetterBy * rate_before)
    for (std::size_t i = 0; i < caps.size(); ++i) caps[i] += kMoveShare * (split.watts[i] - caps[i]);
  given_.clear();
  for (std::size_t i = 0; i < planned.size(); ++i) given_[planned[i].id] = caps[i];
  return caps;
}

PowerPlan Governor::step(double seconds, std::optional<double> budget_watts,
                         const std::vector<NodeStatus>& nodes) {
  if (seconds > 0) measure(seconds, nodes);
  PowerPlan plan;
  plan.budget_watts = budget_watts;
  for (const NodeStatus& node : nodes) plan.idle_watts += node.idle_watts;
  if (!budget_watts || nodes.empty()) {
    trim_ = 0;
    given_.clear();
    return plan;
  }
  const double budget = *budget_watts;
  const double share = goal_share(seconds, budget, nodes);
  trim_ += (mean_watts().value_or(0) - share * budget) * kTrimPerSecond * seconds;
  trim_ = std::clamp(trim_, 0.0, kTrimMax * budget);
  const double goal = share * budget - trim_;
  plan.held = plan.idle_watts <= budget;

  const double free = std::max(0.0, goal - plan.idle_watts);
  const auto working = static_cast<double>(
      std::count_if(nodes.begin(), nodes.end(), [](const NodeStatus& n) { return n.working; }));
  const double even = working > 0 ? free / working : free;
  double left = goal;
  std::vector<PlanNode> planned;
  for (const NodeStatus& node : nodes) {
    double watts = node.idle_watts;
    if (node.working && known(node)) {
      const Curve curve(node.idle_watts, node.curve);
      const double least = node.idle_watts + kFloorShare * (curve.full_watts() - node.idle_watts);
      planned.push_back({node.id, curve, node.watts_max, least});
    } else if (node.working) {
      watts += even;
    }
    if (!node.working) watts = std::max(watts, node.watts.value_or(0));
    if (!(node.working && known(node))) left -= watts;
    plan.caps.push_back({node.id, watts});
  }
  const std::vector<double> caps = steadied(left, planned, split_budget(left, planned));
  for (const double watts : caps) left -= watts;
  // Room that no curve asks for is room for curves that are a little wrong.
  const double spare = planned.empty() ? 0 : std::max(0.0, left) / static_cast<double>(planned.size());
  std::size_t next = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].working && known(nodes[i]))
      plan.caps[i].watts = caps[next++] + spare;
    else if (!nodes[i].working)
      plan.caps[i].watts += kStartShare * free;
  }
  return plan;
}

}  // namespace samovar::power
