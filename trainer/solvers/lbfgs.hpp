// L-BFGS over all training rows at once, for designs of some hundred thousand weights: exact to the tolerance
// whatever the order of the rows. L1 by orthants (Andrew and Gao 2007), bounds by projection.
//
// It works on weights times a scale, numbers with their mean taken off, so that the curvature is about the
// same in all directions at the start: raw columns of any unit do as well as standardised ones.
//
// Threading: one thread; the reader has its own.
#pragma once
#include <cstdint>

#include "trainer/solvers/problem.hpp"

namespace samovar::trainer {

struct PathPoint {
  double lambda = 0;  // what l1 and l2 of the problem are multiplied with
  double l1 = 0;
  double l2 = 0;
  double train_loss = 0;  // per row, without penalty
  double valid_loss = 0;
  std::uint64_t nonzero = 0;
};

struct LbfgsOptions {
  unsigned iterations = 500;  // of one penalty
  double tolerance = 1e-8;
  unsigned path = 0;  // penalties from strong to weak; the best on the validation rows is kept
};

struct LbfgsFit {
  Fit fit;
  std::vector<PathPoint> path;
  double l1 = 0;  // of the fit
  double l2 = 0;
};

Result<LbfgsFit> solve_by_lbfgs(RowSource& rows, const Problem& problem, const Survey& survey,
                                const LbfgsOptions& options, StepHooks& hooks, StateReader* from);

}  // namespace samovar::trainer
