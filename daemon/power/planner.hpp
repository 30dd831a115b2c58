// Splits a budget of watts over nodes so that the whole does the most samples a second: water-filling over
// concave curves. The next watt always goes where it buys most; nodes at rest cost what they cost.
//
// Threading: pure.
#pragma once
#include <string>
#include <vector>

#include "daemon/power/curve.hpp"

namespace samovar::power {

struct PlanNode {
  std::string id;
  Curve curve;
  double watts_max = 0;  // no more than this, as for one that is too hot; 0: as much as it likes
  double watts_min = 0;  // its floor, however little a watt buys there: its rows are nobody else's
};

struct Split {
  std::vector<double> watts;  // in the order of the nodes; at least what each draws at rest
  double rate = 0;            // samples a second, if the curves are right
  double left = 0;            // nobody can use it
  bool held = true;           // false: the nodes at rest draw more than the budget
};

// What a node does with so many watts at one setting, all of the time or a part of it.
double rate_with(const PlanNode& node, double watts);
Split split_budget(double budget_watts, const std::vector<PlanNode>& nodes);
// The same to each, whatever it does with it: what one would do without curves.
Split split_equally(double budget_watts, const std::vector<PlanNode>& nodes);

}  // namespace samovar::power
