#include "daemon/jobs/time_to_target.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace samovar::jobs {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

JobMetrics curve(std::vector<double> losses, const char* name = "valid_loss") {
  JobMetrics metrics;
  metrics.names = {"step", "seconds", "joules", name};
  metrics.columns.resize(4);
  for (std::size_t i = 0; i < losses.size(); ++i) {
    metrics.columns[0].push_back(static_cast<double>(i));
    metrics.columns[1].push_back(static_cast<double>(i) * 2);
    metrics.columns[2].push_back(i < 2 ? kNone : static_cast<double>(i) * 10);
  }
  metrics.columns[3] = std::move(losses);
  return metrics;
}

TEST(TimeToTarget, IsTheFirstTimeTheLossWasThatLow) {
  const auto found = time_to_target(curve({0.9, kNone, 0.5, 0.6, 0.4}), 0.55);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->loss, 0.55);
  EXPECT_EQ(found->seconds, 4.0);
  EXPECT_EQ(found->joules, 20.0);
}

TEST(TimeToTarget, WithoutOneItIsWithinAPercentOfTheEnd) {
  const auto found = time_to_target(curve({0.9, 0.5, 0.403, 0.402, 0.4, kNone}), std::nullopt);
  ASSERT_TRUE(found);
  EXPECT_DOUBLE_EQ(found->loss, 0.404);
  EXPECT_EQ(found->seconds, 4.0);
  // A loss below zero gets better by falling, too.
  EXPECT_EQ(time_to_target(curve({1, -1.995, -2}), std::nullopt)->seconds, 2.0);
}

TEST(TimeToTarget, MayNeverCome) {
  const auto found = time_to_target(curve({0.9, 0.5}), 0.1);
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->seconds);
  EXPECT_FALSE(found->joules);
  EXPECT_FALSE(time_to_target({}, 0.1));
  EXPECT_FALSE(time_to_target(curve({kNone, kNone}), std::nullopt));
}

TEST(TimeToTarget, WithoutValidationRowsTheTrainingLossCounts) {
  EXPECT_EQ(time_to_target(curve({0.9, 0.5}, "train_loss"), 0.6)->seconds, 2.0);
}

}  // namespace
}  // namespace samovar::jobs
