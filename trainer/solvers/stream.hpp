// Solvers that see each row once per pass and keep one cell per weight: AdaGrad, FTRL-proximal, SGD with
// momentum, Adam. For designs of any size.
//
// While it trains it scores the validation rows it meets with the weights of that moment; the loss of a pass
// is theirs. The weights given back are the mean of many moments of the later passes, which does better than
// any of them (Polyak and Juditsky 1992).
//
// Threading: one thread; the reader has its own.
#pragma once
#include <cstdint>

#include "trainer/solvers/problem.hpp"
#include "trainer/spec.hpp"

namespace samovar::trainer {

struct StreamOptions {
  SolverKind solver = SolverKind::adagrad;
  double rate = 0.05;
  unsigned passes = 5;
  unsigned batch_rows = 32;               // of one update
  const kernels::Table* table = nullptr;  // of a device; null: the CPU
  bool early_stop = true;
  bool shuffle_rows = false;
  std::uint64_t seed = 1;
  double train_rows = 1;  // about how many there are: what the penalties of a touch are made of
  // The target is trained on as (target - center) / scale: steps of one size suit all targets then.
  double target_center = 0;
  double target_scale = 1;
  std::vector<double> intercepts;  // to begin with
  // Of several workers (RowSource::council).
  StrategySpec strategy;
  std::uint64_t all_rows = 0;  // of all of them
  bool joining = false;        // the others are at it already
};

// `from`: a state that `save` of StepHooks::stepped wrote.
Result<Fit> solve_by_stream(RowSource& rows, const Problem& problem, const StreamOptions& options,
                            StepHooks& hooks, StateReader* from);

}  // namespace samovar::trainer
