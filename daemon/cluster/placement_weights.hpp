// Rates of the draws by which files rank nodes (placement.hpp).
#pragma once
#include <vector>

namespace samovar::cluster {

// One rate per node, such that being among the first `wanted` is as probable as the node's share of all
// capacity says (never more than certain). With one copy the capacities themselves would do; with more, a
// large node would get too little, for it gets no second copy of a file it has.
std::vector<double> placement_weights(const std::vector<double>& capacities, unsigned wanted);

}  // namespace samovar::cluster
