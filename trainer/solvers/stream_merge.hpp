// One model out of those of several workers of a streaming solver.
//
// Threading: one thread.
#pragma once
#include <vector>

#include "trainer/solvers/stream.hpp"
#include "trainer/sync/slice_mean.hpp"

namespace samovar::trainer {

double weight_of(const EncodedBatch& batch);

// A part: weights, intercepts, rows, steps, and a slice of the centre with its first cell. The outcome: the
// mean of all, each by its rows, and what the slices are together.
Result<Bytes> merge_fits(const std::vector<Bytes>& parts, const Problem& problem,
                         const std::vector<double>& base, const StreamOptions& options);
// The same outcome of a mean that was made by slices.
Bytes write_merged(MeanOfAll all, const Problem& problem, const std::vector<double>& base,
                   const StreamOptions& options);
struct Merged {
  std::uint64_t workers = 0;
  bool has_centre = false;
  Fit mean, centre;
};
// `like`: what else a fit says.
Result<Merged> read_merged(ByteView bytes, const Problem& problem, const Fit& like);

// The best of the workers' own models on the validation rows of all of them; without any, that of the lead.
struct BestFit {
  std::uint64_t workers = 0;
  Fit fit;
};
Result<BestFit> best_of_workers(RowSource& rows, const std::vector<EncodedBatch>& valid,
                                const Problem& problem, const Fit& own);

// On these validation rows of each worker.
Result<bool> centre_is_better(RowSource& rows, const std::vector<EncodedBatch>& valid, const Problem& problem,
                              const Fit& mean, const Fit& centre);

}  // namespace samovar::trainer
