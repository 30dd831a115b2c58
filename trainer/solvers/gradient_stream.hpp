// Streaming solvers whose steps are made with the gradient of all workers' rows (strategy allreduce): every
// worker has the same weights all the time.
//
// A step has the same rows however many workers there are (wave_reader.hpp), and their sum is exact
// (exact_sum.hpp): with codecs that are exact the model has the same bits with one worker, with many, and
// after any change of them.
//
// Threading: one thread.
#pragma once
#include "trainer/solvers/stream.hpp"

namespace samovar::trainer {

// `from`: a state that `save` of StepHooks::stepped wrote, with any number of workers.
Result<Fit> solve_by_gradients(RowSource& rows, const Problem& problem, const StreamOptions& options,
                               StepHooks& hooks, StateReader* from);

}  // namespace samovar::trainer
