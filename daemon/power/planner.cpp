#include "daemon/power/planner.hpp"

#include <algorithm>

namespace samovar::power {
namespace {

// One straight piece of a node's curve.
struct Piece {
  std::size_t node = 0;
  std::size_t index = 0;
  double watts = 0;
  double per_watt = 0;
};

}  // namespace

Split split_budget(double budget_watts, const std::vector<PlanNode>& nodes) {
  Split split;
  double left = budget_watts;
  std::vector<Piece> pieces;
  std::vector<double> floors;  // above rest, still to be given
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    const auto& points = nodes[n].curve.points();
    split.watts.push_back(points.front().watts);
    left -= points.front().watts;
    floors.push_back(std::max(0.0, std::min(nodes[n].watts_min, points.back().watts) - points.front().watts));
    for (std::size_t i = 1; i < points.size(); ++i) {
      const double watts = points[i].watts - points[i - 1].watts;
      pieces.push_back({n, i, watts, (points[i].rate - points[i - 1].rate) / watts});
    }
  }
  split.held = left >= 0;
  // Within a node the pieces get flatter, so this order never takes a later one before an earlier one.
  std::sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) {
    if (a.per_watt != b.per_watt) return a.per_watt > b.per_watt;
    return a.node != b.node ? a.node < b.node : a.index < b.index;
  });
  const auto give = [&](Piece& piece, double most) {
    double& watts = split.watts[piece.node];
    double more = std::min({left, piece.watts, most});
    if (const double top = nodes[piece.node].watts_max; top > 0)
      more = std::min(more, std::max(0.0, top - watts));
    if (more <= 0) return 0.0;
    watts += more;
    left -= more;
    piece.watts -= more;
    split.rate += more * piece.per_watt;
    return more;
  };
  for (Piece& piece : pieces) floors[piece.node] -= give(piece, floors[piece.node]);
  for (Piece& piece : pieces) give(piece, piece.watts);
  split.left = std::max(0.0, left);
  return split;
}

Split split_equally(double budget_watts, const std::vector<PlanNode>& nodes) {
  Split split;
  for (const PlanNode& node : nodes) {
    double watts = budget_watts / static_cast<double>(nodes.size());
    if (node.watts_max > 0) watts = std::min(watts, node.watts_max);
    split.held = split.held && watts >= node.curve.idle_watts();
    watts = std::max(watts, node.curve.idle_watts());
    split.watts.push_back(watts);
    split.rate += node.curve.rate_at(watts);
  }
  return split;
}

}  // namespace samovar::power
