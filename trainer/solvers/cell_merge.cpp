#include "trainer/solvers/cell_merge.hpp"

#include <algorithm>
#include <cmath>

namespace samovar::trainer {

namespace {

// Of a pair {z, Σg²}.
float ftrl_weight(float z, float squares, const kernels::Optimizer& o) {
  const float beyond = z - std::clamp(z, -o.l1, o.l1);
  return -beyond / ((o.epsilon + std::sqrt(squares)) / o.rate + o.l2);
}

}  // namespace

CellMerge::CellMerge(const kernels::Optimizer& member, const kernels::Optimizer& alone, double scale)
    : member_(member),
      believed_(alone.rule == kernels::Rule::adagrad ? std::sqrt(alone.epsilon) : 0.0f),
      scale_(static_cast<float>(scale)) {}

void CellMerge::own(const float* pairs, std::size_t count, float* weights) const {
  const bool ftrl = member_.rule == kernels::Rule::ftrl;
  for (std::size_t i = 0; i < count; ++i) {
    const float* const pair = pairs + 2 * i;
    weights[i] = scale_ * (ftrl ? ftrl_weight(pair[0], pair[1], member_) : pair[0]);
  }
}

void CellMerge::merge(std::span<const float* const> members, std::size_t count, float* weights) const {
  const bool by_sums = member_.rule == kernels::Rule::ftrl;
  for (std::size_t i = 0; i < count; ++i)
    weights[i] = scale_ * (by_sums ? ftrl(members, 2 * i) : weighed(members, 2 * i));
}

// z is the sum of gradients, less what held the weight where it was, about w √Σg² / rate. The former add up.
// Of the latter one that had seen all would have as much as belongs to the root of all squares, which is more
// than the members' roots together say where they have not seen the same: by that ratio it is taken. So a
// weight that one member alone knows well stays what it is there, and one of which all saw little is as small
// as one worker would have made it.
float CellMerge::ftrl(std::span<const float* const> members, std::size_t at) const {
  float z = 0, squares = 0, roots = 0, held = 0;
  for (const float* const pairs : members) {
    const float root = std::sqrt(pairs[at + 1]);
    z += pairs[at];
    squares += pairs[at + 1];
    roots += root;
    held += root * ftrl_weight(pairs[at], pairs[at + 1], member_);
  }
  const auto count = static_cast<float>(members.size());
  const float more = roots > 0 ? std::sqrt(count * squares) / roots - 1 : 0;
  // A member's cells stand for one part of the whole, and so do their means.
  return ftrl_weight((z - more * held / member_.rate) / count, squares / count, member_);
}

float CellMerge::weighed(std::span<const float* const> members, std::size_t at) const {
  float sum = 0, by = 0, plain = 0;
  for (const float* const pairs : members) {
    const float seen = believed_ + std::sqrt(pairs[at + 1]);
    sum += seen * pairs[at];
    by += seen;
    plain += pairs[at];
  }
  return by > 0 ? sum / by : plain / static_cast<float>(members.size());
}

}  // namespace samovar::trainer
