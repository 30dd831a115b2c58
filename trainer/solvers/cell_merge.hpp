// One weight out of what several workers have learned of it, for streaming solvers.
//
// The mean of weights counts a worker that has never met an input like one that has met it often: of what one
// of eight has learned an eighth is left. A solver's cells say how much a worker has seen of an input, Σg².
// So the members tell pairs, and each weight is mostly of those who have seen something of it:
//
// - ftrl: {z, Σg²}. Their gradients add up, and then the penalties are met once, by what all have seen
//   together. The mean of weights has met them in each worker with a part of the rows.
// - adagrad: {weight, Σg²}; by the root of the latter, which is what the rate of its steps follows. The
// rule's
//   epsilon stands for what is believed before any row.
// - adam: {weight, mean of g²}; by its root.
// - sgd knows nothing of the kind: the mean of weights is all there is.
//
// Threading: constant after construction.
#pragma once
#include "kernels/kernels.hpp"
#include "trainer/sync/slice_mean.hpp"

namespace samovar::trainer {

class CellMerge final : public PairMerge {
 public:
  // `member`: with which each of them stepped; `alone`: with which one would that had seen all rows. Weights
  // come multiplied by `scale`.
  CellMerge(const kernels::Optimizer& member, const kernels::Optimizer& alone, double scale);

  static bool knows(kernels::Rule rule) noexcept { return rule != kernels::Rule::sgd; }

  void own(const float* pairs, std::size_t count, float* weights) const override;
  void merge(std::span<const float* const> members, std::size_t count, float* weights) const override;

 private:
  float ftrl(std::span<const float* const> members, std::size_t at) const;
  float weighed(std::span<const float* const> members, std::size_t at) const;

  const kernels::Optimizer member_;
  const float believed_;  // before any row, in roots of Σg²
  const float scale_;
};

}  // namespace samovar::trainer
