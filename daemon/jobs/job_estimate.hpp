// How long a job will take and what it will cost, from those that ran before.
//
// Threading: pure.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "daemon/jobs/job_power.hpp"
#include "daemon/jobs/model_service.hpp"
#include "trainer/spec.hpp"

namespace samovar::jobs {

// What decides how much work it is.
struct JobSize {
  std::string kind;
  std::string dataset_id;
  std::string solver;  // as asked for: "auto", …
  std::uint64_t rows = 0;
  std::uint64_t inputs = 0;
  std::uint64_t passes = 0;  // as asked for; 0: as many as it takes
  unsigned trainings = 1;    // one for each fold, and that of the model
};
JobSize size_of(const trainer::JobSpec& spec, std::uint64_t rows, std::size_t columns);

// One that ended well: summary_json of its record says what it took.
struct PastJob {
  JobSize size;
  double seconds = 0;
  double joules = 0;
  double speed_share = 1;  // held back by a budget
};

// The jobs, newest first.
Estimate estimate_job(const trainer::JobSpec& spec, const JobSize& size, const std::vector<PastJob>& past);
// What a limit in watts and a deadline make of it: an estimate at full speed becomes one of how it will be.
// Watts beyond rest and speed go together, as with pacing by duty cycle.
void plan_power(Estimate& estimate, const trainer::PowerSpec& power, const PowerFacts& facts,
                std::optional<WallTime> deadline, WallTime now);
// What the weights and the reading take.
std::uint64_t memory_of(const trainer::JobSpec& spec, const JobSize& size);

}  // namespace samovar::jobs
