// The simulator on trial: it must be deterministic, it must let a correct protocol live, and it must
// catch the oldest bug of storage within a handful of seeds.
#include "tests/sim/durable_log.hpp"

#include <gtest/gtest.h>

#include <set>

namespace samovar::test {
namespace {

constexpr std::uint64_t kSeeds = 200;

TEST(SimDurableLog, OneSeedGivesOneTrace) {
  std::set<std::uint64_t> traces;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Outcome first = run_durable_log(seed, Ack::after_sync);
    const Outcome second = run_durable_log(seed, Ack::after_sync);
    EXPECT_EQ(first.trace, second.trace) << seed;
    EXPECT_EQ(first.crashes, second.crashes) << seed;
    traces.insert(first.trace);
  }
  EXPECT_EQ(traces.size(), 20U) << "seeds differ from each other";
}

TEST(SimDurableLog, NothingAcknowledgedIsLost) {
  std::uint64_t crashes = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Outcome outcome = run_durable_log(seed, Ack::after_sync);
    EXPECT_TRUE(outcome.lost.empty()) << "seed " << seed << " lost " << outcome.lost.size();
    EXPECT_TRUE(outcome.finished) << "seed " << seed << " acknowledged only " << outcome.acknowledged;
    crashes += outcome.crashes;
  }
  EXPECT_GT(crashes, kSeeds * 8) << "the sweep must have hurt: five crashes of each run are its end";
}

// Positive control: a sweep that can not find this finds nothing.
TEST(SimDurableLog, FindsAcknowledgeBeforeSync) {
  std::uint64_t found = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    if (!run_durable_log(seed, Ack::before_sync).lost.empty()) ++found;
  }
  EXPECT_GT(found, kSeeds / 20) << "the planted bug was met in " << found << " of " << kSeeds << " seeds";
}

}  // namespace
}  // namespace samovar::test
