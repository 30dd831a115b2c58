#include "daemon/jobs/job_estimate.hpp"

#include <algorithm>
#include <cmath>

namespace samovar::jobs {
namespace {

// A worker starts, reads the indexes and writes its files, however small the data is.
constexpr double kFixedSeconds = 0.3;
// Before anything ran here: cells a second and pass, passes with reading, fitting and evaluation.
constexpr double kGuessedCellsPerSecond = 20e6;
constexpr double kGuessedPasses = 8;
constexpr double kGuessedWatts = 5;
constexpr double kJoulesPerWattHour = 3600;
// Beside the weights: buffers of the reader and the evaluation.
constexpr std::uint64_t kWorkingBytes = 64u << 20;
// A weight, what a solver remembers of it, and its copy in a checkpoint.
constexpr std::uint64_t kBytesPerWeight = 12;

double cells(const JobSize& size) {
  return static_cast<double>(size.rows) * static_cast<double>(std::max<std::uint64_t>(size.inputs, 1));
}

double scaled(const PastJob& past, const JobSize& size) {
  double factor = cells(size) / std::max(1.0, cells(past.size));
  if (size.passes > 0 && past.size.passes > 0)
    factor *= static_cast<double>(size.passes) / static_cast<double>(past.size.passes);
  factor *= static_cast<double>(size.trainings) / static_cast<double>(past.size.trainings);
  return kFixedSeconds + std::max(0.0, past.seconds - kFixedSeconds) * factor;
}

// The nearest relative: same data and solver, then same solver, then any of the kind.
const PastJob* nearest(const JobSize& size, const std::vector<PastJob>& past) {
  const PastJob* best = nullptr;
  int best_rank = 0;
  for (const auto& one : past) {
    if (one.size.kind != size.kind || one.seconds <= 0) continue;
    const int rank =
        1 + (one.size.solver == size.solver ? 2 : 0) + (one.size.dataset_id == size.dataset_id ? 1 : 0);
    if (rank > best_rank) {
      best = &one;
      best_rank = rank;
    }
  }
  return best;
}

}  // namespace

JobSize size_of(const trainer::JobSpec& spec, std::uint64_t rows, std::size_t columns) {
  JobSize size;
  size.kind = spec.kind;
  size.dataset_id = spec.dataset_id;
  size.rows = rows;
  size.inputs =
      spec.inputs.empty() ? columns - std::min(columns, spec.ignore.size() + 1) : spec.inputs.size();
  if (spec.split.kind == trainer::SplitSpec::Kind::folds) size.trainings = spec.split.folds + 1;
  const auto& parameters = spec.parameters;
  if (parameters.is_object()) {
    if (const auto at = parameters.find("solver"); at != parameters.end() && at->is_string())
      size.solver = at->get<std::string>();
    if (const auto at = parameters.find("passes"); at != parameters.end() && at->is_number_unsigned())
      size.passes = at->get<std::uint64_t>();
  }
  return size;
}

std::uint64_t memory_of(const trainer::JobSpec& spec, const JobSize& size) {
  const std::uint64_t hashed = std::uint64_t{1} << std::min(spec.features.hash_bits, 40u);
  const bool hashes = spec.features.categories == trainer::FeatureOptions::Categories::hash ||
                      spec.features.numbers == trainer::FeatureOptions::Numbers::hash || spec.features.texts;
  const std::uint64_t plain =
      std::min<std::uint64_t>(size.inputs * spec.features.levels_max, std::uint64_t{1} << 24);
  return kWorkingBytes + kBytesPerWeight * (plain + (hashes ? hashed : 0));
}

Estimate estimate_job(const trainer::JobSpec& spec, const JobSize& size, const std::vector<PastJob>& past) {
  Estimate estimate;
  estimate.memory_bytes = memory_of(spec, size);
  if (const PastJob* like = nearest(size, past)) {
    estimate.basis = "measured";
    estimate.seconds = scaled(*like, size);
    estimate.watt_hours = like->joules / like->seconds * estimate.seconds / kJoulesPerWattHour;
    return estimate;
  }
  estimate.basis = "guessed";
  const double passes = size.passes > 0 ? static_cast<double>(size.passes) + 3 : kGuessedPasses;
  estimate.seconds = kFixedSeconds + cells(size) * passes * size.trainings / kGuessedCellsPerSecond;
  estimate.watt_hours = estimate.seconds * kGuessedWatts / kJoulesPerWattHour;
  return estimate;
}

}  // namespace samovar::jobs
