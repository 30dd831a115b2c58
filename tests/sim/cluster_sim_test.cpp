// The simulated cluster on trial: runs are repeated exactly, nothing is lost, and planted bugs are found.
// Eight hundred seeds; `./dev sim --seeds N` runs more.
#include <gtest/gtest.h>

#include "base/log.hpp"
#include "tests/sim/cluster_world.hpp"

namespace samovar::test {
namespace {

constexpr std::uint64_t kPartSeeds = 200;

class ClusterSim : public ::testing::Test {
 protected:
  ClusterSim() { log::set_level(log::Level::error); }
  static bool finds(Plant plant, std::uint64_t seeds) {
    for (std::uint64_t seed = 1; seed <= seeds; ++seed)
      if (!ClusterWorld(seed, plant).run().violations.empty()) return true;
    return false;
  }
};

TEST_F(ClusterSim, OneSeedIsOneRun) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Verdict first = ClusterWorld(seed, Plant::none).run();
    const Verdict second = ClusterWorld(seed, Plant::none).run();
    EXPECT_EQ(first.trace, second.trace) << seed;
    EXPECT_EQ(first.acknowledged, second.acknowledged) << seed;
  }
}

// In parts, which run side by side.
class ClusterSimPart : public ClusterSim, public ::testing::WithParamInterface<std::uint64_t> {};

TEST_P(ClusterSimPart, NothingIsLostTwiceDifferentOrLeftOver) {
  std::uint64_t acknowledged = 0;
  std::uint64_t crashes = 0;
  std::uint64_t datasets = 0;
  const std::uint64_t first = GetParam() * kPartSeeds + 1;
  for (std::uint64_t seed = first; seed < first + kPartSeeds; ++seed) {
    const Verdict verdict = ClusterWorld(seed, Plant::none).run();
    for (const auto& what : verdict.violations) ADD_FAILURE() << "seed " << seed << ": " << what;
    acknowledged += verdict.acknowledged;
    crashes += verdict.crashes;
    datasets += verdict.datasets;
  }
  EXPECT_GT(acknowledged, 20 * kPartSeeds);
  EXPECT_GT(crashes, kPartSeeds);
  EXPECT_GT(datasets, kPartSeeds);
}
INSTANTIATE_TEST_SUITE_P(Seeds, ClusterSimPart, ::testing::Range<std::uint64_t>(0, 4));

// Beyond the eight hundred, and each of them showed something once.
TEST_F(ClusterSim, WhatWasMendedStaysMended) {
  for (const std::uint64_t seed : {
           806u,     // a data set was kept whose only holder had been removed
           201109u,  // a node was removed that had become the only holder of a data set
           317947u,  // a late message of when a log was empty was taken for what follows its snapshot
       })
    for (const auto& what : ClusterWorld(seed, Plant::none).run().violations)
      ADD_FAILURE() << "seed " << seed << ": " << what;
}

TEST_F(ClusterSim, FindsAnswersBeforeAgreement) { EXPECT_TRUE(finds(Plant::ack_before_commit, 200)); }
TEST_F(ClusterSim, FindsAFileThatRepairForgets) { EXPECT_TRUE(finds(Plant::forget_shard, 200)); }
TEST_F(ClusterSim, FindsWhatHappensTwice) { EXPECT_TRUE(finds(Plant::apply_twice, 200)); }

}  // namespace
}  // namespace samovar::test
