// One model out of those of several workers of a streaming solver.
//
// Threading: one thread.
#pragma once
#include <vector>

#include "trainer/solvers/stream.hpp"

namespace samovar::trainer {

double weight_of(const EncodedBatch& batch);

// A part: weights, intercepts, rows, steps, and a slice of the centre with its first cell. `mean` becomes
// that of all, each by its rows; `centre` what the slices are together. Both come with room for them.
Result<void> merge_fits(const std::vector<Bytes>& parts, const Problem& problem,
                        const std::vector<double>& base, const StreamOptions& options, Fit& mean,
                        Fit& centre);

// On validation rows of all workers; the first some of each are enough to tell.
Result<bool> centre_is_better(RowSource& rows, const Problem& problem, const Fit& mean, const Fit& centre);

}  // namespace samovar::trainer
