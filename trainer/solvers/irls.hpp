// Iteratively reweighted least squares: Newton's way for designs of some hundred weights, with standard
// errors, p-values and confidence intervals. Each iteration is one pass that adds up X'WX.
//
// Columns that follow from others are left out, as R does: their coefficient is 0 and has no standard error.
// Of a category's levels, the first is left out, so the others are told against it.
//
// Threading: one thread; the reader has its own.
#pragma once
#include "trainer/solvers/problem.hpp"

namespace samovar::trainer {

struct IrlsOptions {
  unsigned iterations = 100;
  double tolerance = 1e-8;      // of the deviance, as a share
  bool estimate_theta = false;  // negative binomial, by maximum likelihood
};

// Inference only without a penalty: shrunken estimates have no honest interval.
Result<Fit> solve_by_irls(RowSource& rows, const Problem& problem, const Survey& survey,
                          const IrlsOptions& options, StepHooks& hooks, StateReader* from);

}  // namespace samovar::trainer
