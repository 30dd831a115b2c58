// The simulated cluster on trial: runs are repeated exactly, nothing is lost, and planted bugs are found. A
// hundred seeds or so; `./dev sim --seeds N` runs more.
#include <gtest/gtest.h>

#include "base/log.hpp"
#include "tests/sim/cluster_world.hpp"

namespace samovar::test {
namespace {

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

TEST_F(ClusterSim, NothingIsLostTwiceDifferentOrLeftOver) {
  std::uint64_t acknowledged = 0;
  std::uint64_t crashes = 0;
  std::uint64_t datasets = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const Verdict verdict = ClusterWorld(seed, Plant::none).run();
    for (const auto& what : verdict.violations) ADD_FAILURE() << "seed " << seed << ": " << what;
    acknowledged += verdict.acknowledged;
    crashes += verdict.crashes;
    datasets += verdict.datasets;
  }
  EXPECT_GT(acknowledged, 4000u);
  EXPECT_GT(crashes, 250u);
  EXPECT_GT(datasets, 200u);
}

TEST_F(ClusterSim, FindsAnswersBeforeAgreement) { EXPECT_TRUE(finds(Plant::ack_before_commit, 200)); }
TEST_F(ClusterSim, FindsAFileThatRepairForgets) { EXPECT_TRUE(finds(Plant::forget_shard, 200)); }
TEST_F(ClusterSim, FindsWhatHappensTwice) { EXPECT_TRUE(finds(Plant::apply_twice, 200)); }

}  // namespace
}  // namespace samovar::test
