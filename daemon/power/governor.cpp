#include "daemon/power/governor.hpp"

#include <algorithm>

#include "daemon/power/planner.hpp"

namespace samovar::power {
namespace {

constexpr double kGoal = 0.99;  // of the budget
constexpr double kTrimPerSecond = 0.1;
constexpr double kTrimMax = 0.1;  // of the budget
// One that rests may begin to work at any moment: it begins within this much above rest.
constexpr double kStartShare = 0.1;
// Every node that works goes on, if slowly.
constexpr double kFloorShare = 0.02;

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

std::optional<double> Governor::mean_watts() const {
  double joules = 0;
  double seconds = 0;
  for (const Reading& one : readings_) {
    joules += one.watts * one.seconds;
    seconds += one.seconds;
  }
  return seconds > 0 ? std::optional(joules / seconds) : std::nullopt;
}

PowerPlan Governor::step(double seconds, std::optional<double> budget_watts,
                         const std::vector<NodeStatus>& nodes) {
  if (seconds > 0) measure(seconds, nodes);
  PowerPlan plan;
  plan.budget_watts = budget_watts;
  for (const NodeStatus& node : nodes) plan.idle_watts += node.idle_watts;
  if (!budget_watts || nodes.empty()) {
    trim_ = 0;
    return plan;
  }
  const double budget = *budget_watts;
  trim_ += (mean_watts().value_or(0) - kGoal * budget) * kTrimPerSecond * seconds;
  trim_ = std::clamp(trim_, 0.0, kTrimMax * budget);
  const double goal = kGoal * budget - trim_;
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
  const Split split = split_budget(left, planned);
  // Room that no curve asks for is room for curves that are a little wrong.
  const double spare = planned.empty() ? 0 : split.left / static_cast<double>(planned.size());
  std::size_t next = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].working && known(nodes[i]))
      plan.caps[i].watts = split.watts[next++] + spare;
    else if (!nodes[i].working)
      plan.caps[i].watts += kStartShare * free;
  }
  return plan;
}

}  // namespace samovar::power
