#include "daemon/power/curve.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "daemon/power/governor.hpp"
#include "daemon/power/planner.hpp"
#include "daemon/power/thermal_guard.hpp"

namespace samovar::power {
namespace {

TEST(Curve, KeepsTheUpperHullAndInterpolates) {
  const Curve curve(2, {{4, 100}, {6, 90}, {8, 160}, {7, 110}, {10, 170}});
  ASSERT_EQ(curve.points().size(), 4u);  // rest, 4, 8, 10
  EXPECT_EQ(curve.rate_at(1), 0);
  EXPECT_DOUBLE_EQ(curve.rate_at(3), 50);
  EXPECT_DOUBLE_EQ(curve.rate_at(6), 130);
  EXPECT_DOUBLE_EQ(curve.rate_at(99), 170);
}

TEST(Curve, LeavesOutWhatIsNoReading) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Curve curve(5, {{nan, 1}, {4, 100}, {5, 100}, {6, nan}, {7, 0}, {8, -1}});
  EXPECT_EQ(curve.points().size(), 1u);
  EXPECT_EQ(curve.full_rate(), 0);
}

TEST(CurveBook, BringsReadingsToFullDutyAndForgets) {
  CurveBook book;
  book.add("glm", 0, 2, 6, 400, 0.5, 1);
  ASSERT_TRUE(book.at("glm", 0));
  EXPECT_DOUBLE_EQ(book.at("glm", 0)->watts, 10);
  EXPECT_DOUBLE_EQ(book.at("glm", 0)->rate, 800);
  for (int i = 0; i < 200; ++i) book.add("glm", 0, 2, 7, 400, 0.5, 1);
  EXPECT_NEAR(book.at("glm", 0)->watts, 12, 0.01);
  EXPECT_FALSE(book.at("forest", 0));
  EXPECT_FALSE(book.curve("forest", 2));
  for (int i = 0; i < 40; ++i) book.add("kind " + std::to_string(i), 0, 2, 7, 400, 0.5, 1);
  EXPECT_FALSE(book.at("glm", 0)) << "bounded";
  EXPECT_TRUE(book.at("kind 39", 0));
}

TEST(Prober, GoesThroughTheSettingsFromTheCheapestOn) {
  Prober prober(6);
  std::vector<std::size_t> seen;
  for (int second = 0; second < 100 && prober.level(); ++second) {
    if (seen.empty() || seen.back() != *prober.level()) seen.push_back(*prober.level());
    prober.passed(1);
  }
  EXPECT_EQ(seen, (std::vector<std::size_t>{5, 3, 2, 1, 0}));
  EXPECT_FALSE(prober.level());
}

// Against trying all splits in steps of a quarter of a watt.
TEST(Planner, IsNearlyAsGoodAsTryingAllSplits) {
  std::mt19937 random(7);
  double share = 0;
  std::uniform_real_distribution<double> unit(0, 1);
  for (int round = 0; round < 50; ++round) {
    std::vector<PlanNode> nodes;
    double idle = 0;
    for (int n = 0; n < 3; ++n) {
      const double rest = 1 + 2 * unit(random);
      idle += rest;
      std::vector<CurvePoint> points;
      double watts = rest;
      double rate = 0;
      for (int i = 0; i < 4; ++i)
        points.push_back({watts += 1 + 3 * unit(random), rate += 100 * unit(random)});
      nodes.push_back({std::to_string(n), Curve(rest, points), 0, 0});
    }
    const double budget = idle + 15 * unit(random);
    const Split split = split_budget(budget, nodes);
    double sum = 0;
    for (const double watts : split.watts) sum += watts;
    EXPECT_LE(sum, budget + 1e-9);
    double best = 0;
    const double free = budget - idle;
    for (double a = 0; a <= free; a += 0.25)
      for (double b = 0; a + b <= free; b += 0.25)
        best = std::max(best, rate_with(nodes[0], nodes[0].curve.idle_watts() + a) +
                                  rate_with(nodes[1], nodes[1].curve.idle_watts() + b) +
                                  rate_with(nodes[2], nodes[2].curve.idle_watts() + free - a - b));
    double told = 0;
    for (std::size_t n = 0; n < nodes.size(); ++n) told += rate_with(nodes[n], split.watts[n]);
    EXPECT_NEAR(split.rate, told, 1e-6) << "what it promises can be done";
    // A node runs at one setting, so that the whole is no longer concave, and this is no search.
    EXPECT_GE(split.rate, 0.94 * best);
    share += split.rate / best;
    const Split equal = split_equally(budget, nodes);
    if (equal.held) {
      EXPECT_GE(split.rate, equal.rate - 1e-9);
    }
  }
  EXPECT_GE(share / 50, 0.99);
}

TEST(Planner, HonoursFloorAndCeiling) {
  const Curve good(2, {{12, 1000}});
  const Curve poor(2, {{12, 100}});
  Split split = split_budget(14, {{"good", good, 0, 0}, {"poor", poor, 0, 4}});
  EXPECT_DOUBLE_EQ(split.watts[0], 10);
  EXPECT_DOUBLE_EQ(split.watts[1], 4);
  split = split_budget(20, {{"good", good, 6, 0}, {"poor", poor, 0, 0}});
  EXPECT_DOUBLE_EQ(split.watts[0], 6);
  EXPECT_DOUBLE_EQ(split.watts[1], 12);
  EXPECT_DOUBLE_EQ(split.left, 2);
  EXPECT_FALSE(split_budget(3, {{"good", good, 0, 0}, {"poor", poor, 0, 0}}).held);
}

// A hot summer in a full rack: every node ends in the middle of its curve. It is planned each second, many
// times over, by who leads: a choice of two ways for each node would be 2^64 ways.
TEST(Planner, ManyHotNodesArePlannedAtOnce) {
  const Curve board(2, {{5, 400}, {8, 700}, {12, 900}});
  std::vector<PlanNode> nodes;
  for (int n = 0; n < 64; ++n) nodes.push_back({std::to_string(n), board, 9.5 + 0.01 * n, 0});
  const Split split = split_budget(2000, nodes);
  EXPECT_TRUE(split.held);
  for (int n = 0; n < 64; ++n) EXPECT_LE(split.watts[n], 9.5 + 0.01 * n + 1e-9);
  EXPECT_GE(split.rate, 64 * 700.0);
}

TEST(Governor, NoBudgetNoCaps) {
  Governor governor;
  const PowerPlan plan = governor.step(2, std::nullopt, {{"a", true, 9.0, 2, {}, 0}});
  EXPECT_TRUE(plan.caps.empty());
  EXPECT_TRUE(plan.held);
  EXPECT_DOUBLE_EQ(*governor.mean_watts(), 9);
}

TEST(Governor, ANodeWithoutACurveGetsItsEvenShare) {
  Governor governor;
  const PowerPlan plan = governor.step(
      2, 40, {{"a", true, 5.0, 2, {}, 0}, {"b", true, 5.0, 2, {{12, 500}}, 0}, {"c", false, 3.0, 3, {}, 0}});
  ASSERT_EQ(plan.caps.size(), 3u);
  EXPECT_NEAR(plan.caps[0].watts, 2 + (40 * 0.975 - 7) / 2, 0.01);
  EXPECT_GE(plan.caps[1].watts, 12);
}

TEST(ThermalGuard, FallsAboveTheLimitHoldsInTheBandAndRisesBelow) {
  ThermalGuard guard;
  EXPECT_EQ(guard.step(1, 79, 80), 1);
  for (int i = 0; i < 10; ++i) guard.step(1, 83, 80);
  const double low = guard.share();
  EXPECT_LT(low, 0.7);
  for (int i = 0; i < 100; ++i) guard.step(1, 78, 80);
  EXPECT_EQ(guard.share(), low) << "within the band nothing moves";
  for (int i = 0; i < 10; ++i) guard.step(1, 70, 80);
  EXPECT_GT(guard.share(), low);
  for (int i = 0; i < 1000; ++i) guard.step(1, 120, 80);
  EXPECT_EQ(guard.share(), ThermalGuard::kShareMin);
  EXPECT_EQ(guard.step(1, std::nullopt, 80), ThermalGuard::kShareMin) << "no reading, no news";
  EXPECT_EQ(guard.step(1, 50, std::nullopt), 1);
}

}  // namespace
}  // namespace samovar::power
