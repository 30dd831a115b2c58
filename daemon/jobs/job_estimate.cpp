#include "daemon/jobs/job_estimate.hpp"

#include <algorithm>
#include <cmath>

namespace samovar::jobs {
namespace {

// A worker starts, reads the indexes and writes its files, however small the data is.
constexpr double kFixedSeconds = 0.3;
// Of a middling core: cells a second and pass. How fast this one is shows in the first job.
constexpr double kCellsPerSecond = 60e6;
// Where the number is not known, and what reading, fitting and evaluation are beside it.
constexpr double kGuessedPasses = 5;
constexpr double kPassesBeside = 3;
constexpr double kGuessedWatts = 5;
constexpr double kJoulesPerWattHour = 3600;
constexpr double kGentleSpeed = 0.5;  // about: power::JobGoals
constexpr double kSpeedLeast = 0.02;
constexpr double kDeadlineReserve = 0.05;  // of the time: speeds vary
// Beside the weights: buffers of the reader and the evaluation.
constexpr std::uint64_t kWorkingBytes = 64u << 20;
// What a solver remembers of a weight, and its mean over the steps.
constexpr std::uint64_t kBytesPerWeight = 12;

double cells(const JobSize& size) {
  return static_cast<double>(size.rows) * static_cast<double>(std::max<std::uint64_t>(size.inputs, 1));
}

// On that core.
double usual_seconds(const JobSize& size, double passes) {
  return kFixedSeconds + cells(size) * (passes + kPassesBeside) * size.trainings / kCellsPerSecond;
}

// So much slower or faster than usual will it be again. A short job was mostly its start, which does not grow
// with the rows: how much of it was is in what is usual.
double scaled(const PastJob& past, const JobSize& size) {
  const double done = past.size.passes > 0 ? static_cast<double>(past.size.passes) : kGuessedPasses;
  const double to_do = size.passes > 0 ? static_cast<double>(size.passes) : done;
  return past.seconds * past.speed_share * usual_seconds(size, to_do) / usual_seconds(past.size, done);
}

// The nearest relative: same data and solver, then same solver, then any of the kind; of those the nearest in
// size, then the newest.
const PastJob* nearest(const JobSize& size, const std::vector<PastJob>& past) {
  const PastJob* best = nullptr;
  int best_rank = 0;
  double best_distance = 0;
  for (const auto& one : past) {
    if (one.size.kind != size.kind || one.seconds <= 0) continue;
    const int rank =
        1 + (one.size.solver == size.solver ? 2 : 0) + (one.size.dataset_id == size.dataset_id ? 1 : 0);
    const double distance = std::abs(std::log(std::max(1.0, cells(one.size)) / std::max(1.0, cells(size))));
    if (rank > best_rank || (rank == best_rank && distance < best_distance)) {
      best = &one;
      best_rank = rank;
      best_distance = distance;
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
    estimate.watt_hours =
        like->joules / (like->seconds * like->speed_share) * estimate.seconds / kJoulesPerWattHour;
    return estimate;
  }
  estimate.basis = "guessed";
  estimate.seconds = usual_seconds(size, size.passes > 0 ? static_cast<double>(size.passes) : kGuessedPasses);
  estimate.watt_hours = estimate.seconds * kGuessedWatts / kJoulesPerWattHour;
  return estimate;
}

void plan_power(Estimate& estimate, const trainer::PowerSpec& power, const PowerFacts& facts,
                std::optional<WallTime> deadline, WallTime now) {
  const double full_seconds = estimate.seconds;
  const double beside_rest =
      full_seconds > 0 ? estimate.watt_hours * kJoulesPerWattHour / full_seconds : 0;  // at full speed
  std::optional<double> limit = facts.budget_watts;
  if (power.watts && (!limit || *power.watts < *limit)) limit = power.watts;
  const bool gentle = power.mode == trainer::PowerSpec::Mode::gentle && !deadline;
  if (!limit && !gentle && !deadline) return;
  double speed = gentle ? kGentleSpeed : 1;
  if (limit && facts.idle_watts && beside_rest > 0)
    speed = std::clamp((*limit - *facts.idle_watts) / beside_rest, kSpeedLeast, speed);
  if (deadline) {
    const double left = std::chrono::duration<double>(*deadline - now).count();
    const double usable = std::max(1.0, (1 - kDeadlineReserve) * left);
    estimate.deadline = deadline;
    estimate.in_time = full_seconds / speed <= usable;
    if (*estimate.in_time)
      speed = std::clamp(full_seconds / usable, kSpeedLeast, speed);
    else if (full_seconds <= usable && facts.idle_watts)
      estimate.needed_watts = *facts.idle_watts + beside_rest * full_seconds / usable;
  }
  estimate.seconds = full_seconds / speed;
  estimate.ends_at = now + std::chrono::seconds(static_cast<std::int64_t>(std::ceil(estimate.seconds)));
  if (facts.idle_watts) estimate.watts = *facts.idle_watts + beside_rest * speed;
}

}  // namespace samovar::jobs
