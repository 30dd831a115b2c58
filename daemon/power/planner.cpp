#include "daemon/power/planner.hpp"

#include <algorithm>

namespace samovar::power {
namespace {

constexpr unsigned kForksMax = 5;  // of a path through the choices below: 32 ways, no 2^nodes

// One straight piece of a node's curve.
struct Piece {
  std::size_t node = 0;
  std::size_t index = 0;  // of the point it leads to
  double watts = 0;
  double per_watt = 0;
};

// What is given so far, and the pieces that are left.
struct Filling {
  const std::vector<PlanNode>* nodes = nullptr;
  std::vector<Piece> pieces;
  std::vector<double> watts;
  std::vector<bool> full;  // gets no more
  double left = 0;
  double rate = 0;
  unsigned forks = 0;

  double room(const Piece& piece) const {
    const double top = (*nodes)[piece.node].watts_max;
    return top > 0 ? std::max(0.0, top - watts[piece.node]) : left;
  }
  double give(Piece& piece, double most) {
    const double more = std::min({left, piece.watts, most, room(piece)});
    if (more <= 0) return 0;
    watts[piece.node] += more;
    left -= more;
    piece.watts -= more;
    rate += more * piece.per_watt;
    return more;
  }
};

// A part of a piece beyond the first is a point between two settings: a node runs at one of them, all of the
// time at the slower or a part of it at the faster.
double gain_between(const PlanNode& node, const Piece& piece, double watts) {
  const auto& points = node.curve.points();
  const double rest = points.front().watts;
  const CurvePoint& faster = points[piece.index];
  const double paced = faster.rate * (watts - rest) / (faster.watts - rest);
  return std::max(0.0, paced - points[piece.index - 1].rate);
}

Filling filled(Filling state, std::size_t from) {
  for (std::size_t i = from; i < state.pieces.size(); ++i) {
    Piece& piece = state.pieces[i];
    if (state.full[piece.node] || piece.watts <= 0) continue;
    const double more = std::min({state.left, piece.watts, state.room(piece)});
    if (more <= 0) continue;
    if (more >= piece.watts || piece.index == 1) {
      state.give(piece, piece.watts);
      continue;
    }
    // Where heat ends it, and not the budget, both ways go on: with many hot nodes they would be too many.
    const bool hot = more < state.left;
    if (hot && state.forks == kForksMax) {
      const double gain = gain_between((*state.nodes)[piece.node], piece, state.watts[piece.node] + more);
      if (gain > 0) {
        state.watts[piece.node] += more;
        state.left -= more;
        state.rate += gain;
      }
      state.full[piece.node] = true;
      continue;
    }
    // Either here, as far as it goes, or to whoever is next.
    if (hot) ++state.forks;
    Filling here = state;
    here.watts[piece.node] += more;
    here.left -= more;
    here.rate += gain_between((*state.nodes)[piece.node], piece, here.watts[piece.node]);
    here.full[piece.node] = true;
    state.full[piece.node] = true;
    here = filled(std::move(here), i + 1);
    state = filled(std::move(state), i + 1);
    return here.rate > state.rate ? here : state;
  }
  return state;
}

}  // namespace

double rate_with(const PlanNode& node, double watts) {
  if (node.watts_max > 0) watts = std::min(watts, node.watts_max);
  const auto& points = node.curve.points();
  const double rest = points.front().watts;
  double most = 0;
  for (std::size_t i = 1; i < points.size(); ++i) {
    const double duty = std::clamp((watts - rest) / (points[i].watts - rest), 0.0, 1.0);
    most = std::max(most, duty * points[i].rate);
  }
  return most;
}

Split split_budget(double budget_watts, const std::vector<PlanNode>& nodes) {
  Filling state;
  state.nodes = &nodes;
  state.left = budget_watts;
  state.full.resize(nodes.size());
  std::vector<double> floors;  // above rest, still to be given
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    const auto& points = nodes[n].curve.points();
    state.watts.push_back(points.front().watts);
    state.left -= points.front().watts;
    floors.push_back(std::max(0.0, std::min(nodes[n].watts_min, points.back().watts) - points.front().watts));
    for (std::size_t i = 1; i < points.size(); ++i) {
      const double watts = points[i].watts - points[i - 1].watts;
      state.pieces.push_back({n, i, watts, (points[i].rate - points[i - 1].rate) / watts});
    }
  }
  Split split;
  split.held = state.left >= 0;
  // Within a node the pieces get flatter, so this order never takes a later one before an earlier one.
  std::sort(state.pieces.begin(), state.pieces.end(), [](const Piece& a, const Piece& b) {
    if (a.per_watt != b.per_watt) return a.per_watt > b.per_watt;
    return a.node != b.node ? a.node < b.node : a.index < b.index;
  });
  for (Piece& piece : state.pieces) floors[piece.node] -= state.give(piece, floors[piece.node]);
  state = filled(std::move(state), 0);
  split.watts = std::move(state.watts);
  split.rate = state.rate;
  split.left = std::max(0.0, state.left);
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
    split.rate += rate_with(node, watts);
  }
  return split;
}

}  // namespace samovar::power
