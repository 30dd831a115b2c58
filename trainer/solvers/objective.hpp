// The loss of all training rows and its gradient, in the scaled unknowns that L-BFGS works on.
//
// Threading: one thread.
#pragma once
#include <cstddef>
#include <vector>

#include "trainer/solvers/problem.hpp"

namespace samovar::trainer {

class Objective {
 public:
  Objective(RowSource& rows, const Problem& problem, const Survey& survey);

  // Of each output the intercept first, then its weights.
  std::size_t unknowns() const noexcept { return problem_.outputs * (problem_.width + 1); }
  bool is_intercept(std::size_t unknown) const noexcept { return unknown % (problem_.width + 1) == 0; }
  // A weight is its unknown divided by this; penalties and bounds of unknowns follow from it.
  double scale(std::size_t unknown) const noexcept { return scales_[unknown]; }
  void set_l2(double l2) noexcept { l2_ = l2; }
  double total_weight() const noexcept { return total_weight_; }

  std::vector<double> start() const { return start_; }
  // Σ loss + l2/2 Σ w², and its gradient.
  Result<double> evaluate(const std::vector<double>& unknowns, std::vector<double>& gradient);
  void weights_of(const std::vector<double>& unknowns, std::vector<double>& weights,
                  std::vector<double>& intercepts) const;
  // The same without penalty, of the last evaluate.
  double plain_loss() const noexcept { return plain_loss_; }

 private:
  RowSource& rows_;
  const Problem& problem_;
  double l2_;
  double total_weight_;
  double plain_loss_ = 0;
  std::vector<double> centers_;  // of numbers; 0 for all others
  std::vector<double> scales_;
  std::vector<double> start_;
  // Room that is used again.
  std::vector<double> weights_, intercepts_, margins_, residuals_, slopes_;
};

}  // namespace samovar::trainer
