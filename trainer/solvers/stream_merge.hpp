// One model out of those of several workers of a streaming solver.
//
// Threading: one thread.
#pragma once
#include <string>
#include <vector>

#include "trainer/solvers/stream.hpp"
#include "trainer/sync/slice_mean.hpp"

namespace samovar::trainer {

double weight_of(const EncodedBatch& batch);

// The models that were made by slices, for one that comes too late for that.
Bytes write_merged(MeanOfAll all, const Problem& problem, const std::vector<double>& base,
                   const StreamOptions& options);
// One of the models to choose from.
struct MergedFit {
  const char* taken = "";  // its name in the record
  std::string what;        // and in a sentence
  Fit fit;
};
struct Merged {
  std::uint64_t workers = 0;
  std::vector<MergedFit> fits;  // the mean is the first
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

// Which of them does best on these validation rows of each worker; without any, the first.
Result<std::size_t> best_fit(RowSource& rows, const std::vector<EncodedBatch>& valid, const Problem& problem,
                             const std::vector<MergedFit>& fits);

}  // namespace samovar::trainer
