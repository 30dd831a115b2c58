#include "base/sim/sim_rng.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace samovar {
namespace {

TEST(SimRng, OneSeedOneSequence) {
  SimRng a(7);
  SimRng b(7);
  SimRng c(8);
  bool differs = false;
  for (int i = 0; i < 100; ++i) {
    const auto drawn = a.next();
    EXPECT_EQ(drawn, b.next());
    differs |= drawn != c.next();
  }
  EXPECT_TRUE(differs);
}

// Pinned: a failing seed of an old log must fail the same way today.
TEST(SimRng, TheSequenceDoesNotChangeBetweenVersions) {
  SimRng rng(0);
  EXPECT_EQ(rng.next(), 0x99ec5f36cb75f2b4U);
  EXPECT_EQ(rng.next(), 0xbf6e1f784956452aU);
}

TEST(SimRng, ChanceIsAboutRight) {
  SimRng rng(1);
  int hits = 0;
  for (int i = 0; i < 100'000; ++i) hits += rng.chance(250'000) ? 1 : 0;
  EXPECT_GT(hits, 24'000);
  EXPECT_LT(hits, 26'000);
  EXPECT_FALSE(rng.chance(0));
  EXPECT_TRUE(rng.chance(1'000'000));
}

TEST(SimRng, ForksAreIndependent) {
  SimRng a(1);
  SimRng b(1);
  SimRng fork_a = a.fork();
  SimRng fork_b = b.fork();
  for (int i = 0; i < 10; ++i) fork_a.next();
  EXPECT_EQ(a.next(), b.next()) << "drawing from the fork must not move its parent";
  EXPECT_NE(fork_b.next(), a.next());
}

TEST(SimRng, FillTakesAnyLength) {
  for (std::size_t n = 0; n < 20; ++n) {
    SimRng a(3);
    SimRng b(3);
    Bytes longer(32);
    Bytes shorter(n);
    a.fill(longer);
    b.fill(shorter);
    EXPECT_TRUE(std::equal(shorter.begin(), shorter.end(), longer.begin()));
  }
}

}  // namespace
}  // namespace samovar
