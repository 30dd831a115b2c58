// The leader's part in power: what each node may draw, so that all of them together hold the budget.
//
// Events in, caps out: what nodes report, once every second or two, and the budget that holds now. Nodes at
// rest are counted with what they draw; the rest of the budget is split by the planner among those that work;
// one whose curve is not known yet gets its even share. What all draw on average over ten seconds takes a
// little off the goal when it comes too near the budget; the goal itself comes nearer to it while nothing
// changes. Where two ways to split it are as good as each other the one that holds goes on: a change costs
// the seconds until a board has followed.
//
// Threading: none of its own.
#pragma once
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "daemon/power/curve.hpp"
#include "daemon/power/planner.hpp"

namespace samovar::power {

// What a node says.
struct NodeStatus {
  std::string id;
  bool working = false;
  std::optional<double> watts;
  double idle_watts = 0;
  std::vector<CurvePoint> curve;  // without rest; empty: not known yet
  double watts_max = 0;           // as heat allows; 0: no limit
};

struct NodeCap {
  std::string id;
  double watts = 0;
};

struct PowerPlan {
  std::optional<double> budget_watts;  // nothing: no caps either
  std::vector<NodeCap> caps;           // of all nodes, working or not
  double idle_watts = 0;               // of all nodes
  bool held = true;                    // false: they draw more than the budget even at rest
};

class Governor {
 public:
  static constexpr double kMeanSeconds = 10;

  PowerPlan step(double seconds, std::optional<double> budget_watts, const std::vector<NodeStatus>& nodes);
  // Of all nodes, over the last kMeanSeconds.
  std::optional<double> mean_watts() const;

 private:
  void measure(double seconds, const std::vector<NodeStatus>& nodes);
  std::vector<double> steadied(double goal, const std::vector<PlanNode>& planned, Split split);
  double goal_share(double seconds, double budget, const std::vector<NodeStatus>& nodes);

  struct Reading {
    double seconds = 0;
    double watts = 0;
  };
  std::deque<Reading> readings_;
  double trim_ = 0;  // watts
  double calm_seconds_ = 0;
  double budget_before_ = 0;
  std::map<std::string, double> given_;  // to those whose curves are known
  std::string shape_before_;             // who is there and who works
};

}  // namespace samovar::power
