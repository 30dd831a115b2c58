#include "daemon/jobs/job_estimate.hpp"

#include <gtest/gtest.h>

#include "daemon/jobs/energy_meter.hpp"
#include "daemon/jobs/warm_models.hpp"

namespace samovar::jobs {
namespace {

trainer::JobSpec spec_of(std::string solver, std::uint64_t passes) {
  trainer::JobSpec spec;
  spec.dataset_id = "dst_1";
  spec.parameters = {{"solver", std::move(solver)}, {"passes", passes}};
  return spec;
}

TEST(JobEstimate, GuessesUntilAJobOfTheKindRan) {
  const auto spec = spec_of("adagrad", 5);
  const auto size = size_of(spec, 1'000'000, 40);
  EXPECT_EQ(size.inputs, 39u);
  const Estimate first = estimate_job(spec, size, {});
  EXPECT_EQ(first.basis, "guessed");
  EXPECT_GT(first.seconds, 0);
  PastJob forest{size, 100, 1000};
  forest.size.kind = "forest";
  EXPECT_EQ(estimate_job(spec, size, {forest}).basis, "guessed");
}

TEST(JobEstimate, TheSameJobTakesAsLongAgain) {
  const auto spec = spec_of("adagrad", 5);
  const auto size = size_of(spec, 1'000'000, 40);
  const Estimate again = estimate_job(spec, size, {{size, 12, 3600}});
  EXPECT_EQ(again.basis, "measured");
  EXPECT_NEAR(again.seconds, 12, 1e-9);
  EXPECT_NEAR(again.watt_hours, 1, 1e-9);
}

TEST(JobEstimate, GrowsWithRowsInputsAndPasses) {
  const auto spec = spec_of("adagrad", 5);
  constexpr std::uint64_t kRows = 20'000'000;  // nearly all of it is work
  const PastJob past{size_of(spec, kRows, 11), 10, 0};
  EXPECT_NEAR(estimate_job(spec, size_of(spec, 2 * kRows, 11), {past}).seconds, 20, 0.2);
  EXPECT_NEAR(estimate_job(spec, size_of(spec, kRows, 21), {past}).seconds, 20, 0.2);
  // Reading, fitting and evaluation are as before.
  const auto longer = spec_of("adagrad", 21);
  EXPECT_NEAR(estimate_job(longer, size_of(longer, kRows, 11), {past}).seconds, 30, 0.3);
  auto folds = spec;
  folds.split.kind = trainer::SplitSpec::Kind::folds;
  folds.split.folds = 4;
  EXPECT_NEAR(estimate_job(folds, size_of(folds, kRows, 11), {past}).seconds, 50, 0.5);
}

// As they were measured on a busy machine, where a job of 20,000 rows is mostly the start of its worker.
TEST(JobEstimate, IsRightWithinAFactorOfTwoFromTheFirstJobOn) {
  trainer::JobSpec spec;
  const std::pair<std::uint64_t, double> taken[] = {
      {20'000, 5.7}, {200'000, 20.9}, {920'000, 59.8}, {9'100'000, 482.3}};
  std::vector<PastJob> past;
  for (const auto& [rows, seconds] : taken) {
    const JobSize size = size_of(spec, rows, 40);
    if (!past.empty()) {
      const double said = estimate_job(spec, size, past).seconds;
      EXPECT_GT(said, seconds / 2) << rows;
      EXPECT_LT(said, seconds * 2) << rows;
    }
    past.insert(past.begin(), PastJob{size, seconds, 0});
  }
}

TEST(JobEstimate, LeansOnTheJobNearestInSize) {
  const auto spec = spec_of("adagrad", 5);
  const PastJob large{size_of(spec, 10'000'000, 40), 500, 0};
  const PastJob small{size_of(spec, 10'000, 40), 1, 0};
  const auto size = size_of(spec, 20'000, 40);
  EXPECT_EQ(estimate_job(spec, size, {large, small}).seconds, estimate_job(spec, size, {small}).seconds);
}

// A solver that ends by itself did as many passes as it took; it will again.
TEST(JobEstimate, TakesThePassesThatWereDone) {
  trainer::JobSpec spec;
  PastJob past{size_of(spec, 30'000, 15), 1, 0};
  past.size.passes = 300;
  EXPECT_GT(estimate_job(spec, size_of(spec, 300'000, 15), {past}).seconds, 8);
}

TEST(JobEstimate, PrefersTheSameSolverThenTheSameData) {
  const auto spec = spec_of("irls", 0);
  const auto size = size_of(spec, 1000, 11);
  PastJob other_solver{size, 100, 0};
  other_solver.size.solver = "adagrad";
  PastJob other_data{size, 5, 0};
  other_data.size.dataset_id = "dst_2";
  EXPECT_NEAR(estimate_job(spec, size, {other_solver, other_data}).seconds, 5, 1e-9);
  EXPECT_NEAR(estimate_job(spec, size, {other_solver, other_data, {size, 7, 0}}).seconds, 7, 1e-9);
}

TEST(EnergyMeter, CountsWhatIsAboveIdle) {
  EnergyMeter meter;
  EXPECT_EQ(meter.add(10, 1, false), 0);
  EXPECT_EQ(meter.add(14, 2, true), 8);
  EXPECT_EQ(meter.add(9, 1, true), 0);  // less than idle is no gain
  meter.add(8, 1, false);
  EXPECT_EQ(meter.idle_watts(), 8);
  meter.add(20, 1, false);  // one busy second moves it little
  EXPECT_LT(*meter.idle_watts(), 8.5);
}

TEST(WarmModels, TheLongestUnusedGoesFirst) {
  WarmModels warm(100);
  warm.add("a", nullptr, 40);
  warm.add("b", nullptr, 40);
  warm.find("a");
  warm.add("c", nullptr, 40);
  EXPECT_EQ(warm.count(), 2u);
  EXPECT_EQ(warm.bytes(), 80u);
  warm.drop("b");  // gone already
  EXPECT_EQ(warm.bytes(), 80u);
  warm.drop("a");
  EXPECT_EQ(warm.bytes(), 40u);
  warm.add("d", nullptr, 500);  // too large alone: it stays until the next
  EXPECT_EQ(warm.count(), 1u);
  warm.add("e", nullptr, 10);
  EXPECT_EQ(warm.bytes(), 10u);
}

}  // namespace
}  // namespace samovar::jobs
