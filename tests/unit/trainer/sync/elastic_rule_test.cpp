// The rule itself, on f = h x²/2: where it is stable, and that the pull follows the members.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/trainer/training.hpp"
#include "trainer/sync/elastic.hpp"

namespace samovar::trainer {
namespace {

constexpr CellKind kPlain{1, false};

// Members and the rule's centre after many rounds: the largest of all that is left of it.
double in_rounds(std::size_t p, double eta_h, int rounds) {
  const auto rule = make_elastic_rule(0.9, true);
  std::vector<float> x(p), off(p);
  for (std::size_t i = 0; i < p; ++i) x[i] = 1 + 0.1f * static_cast<float>(i);
  rule->begin(std::span<const float>(x).first(1), p, kPlain);
  double most = 0;
  for (int round = 0; round < rounds; ++round) {
    off = x;
    std::vector<SliceRule::Given> given;
    for (std::uint32_t i = 0; i < p; ++i) given.push_back({i, 1, static_cast<double>(p), {&off[i], 1}});
    rule->close(0, given);
    most = std::abs(static_cast<double>(rule->centre()[0]));
    for (std::size_t i = 0; i < p; ++i) {
      x[i] -= static_cast<float>(eta_h) * x[i] + off[i];
      most = std::max(most, std::abs(static_cast<double>(x[i])));
    }
    if (!(most < 1e6)) return most;
  }
  return most;
}

double largest_stable(std::size_t p) {
  double low = 0.05, high = 2.5;
  while (high - low > 0.004) {
    const double middle = (low + high) / 2;
    (in_rounds(p, middle, 4000) < 10 ? low : high) = middle;
  }
  return low;
}

TEST(ElasticRule, InRoundsItIsStableUpToTheKnownRates) {
  EXPECT_NEAR(largest_stable(2), 1.18, 0.02);
  EXPECT_NEAR(largest_stable(4), 1.59, 0.02);
  EXPECT_NEAR(largest_stable(8), 1.80, 0.02);
  EXPECT_NEAR(largest_stable(16), 1.90, 0.02);
}

// With a pull it would be 0.36.
TEST(ElasticRule, OneMemberAloneIsNotPulled) {
  EXPECT_NEAR(largest_stable(1), 2, 0.02);
  const auto rule = make_elastic_rule(0.9, false);
  std::vector<float> x = {3};
  rule->begin(std::vector<float>{1}, 1, kPlain);
  SliceRule::Given one{0, 10, 10, x};
  rule->meet(0, one);
  EXPECT_EQ(x[0], 0) << "nothing to take off";
}

// One that is left alone in a round, too.
TEST(ElasticRule, WhoIsLeftAloneInARoundIsNotPulled) {
  const auto rule = make_elastic_rule(0.9, true);
  std::vector<float> a = {1}, b = {3};
  rule->begin(std::vector<float>{0}, 2, kPlain);
  std::vector<SliceRule::Given> both = {{0, 1, 2, a}, {1, 1, 2, b}};
  rule->close(0, both);
  std::vector<float> alone = {100};
  std::vector<SliceRule::Given> last = {{1, 1, 1, alone}};
  rule->close(0, last);
  EXPECT_EQ(alone[0], 0);
}

TEST(ElasticRule, ThePullIsWorkedOutAnewWithEveryChangeOfMembers) {
  const auto rule = make_elastic_rule(0.9, true);
  for (const std::size_t p : {8u, 20u, 2u}) {
    rule->begin(std::vector<float>{0}, p, kPlain);
    std::vector<float> x(p, 0);
    std::vector<SliceRule::Given> given;
    for (std::uint32_t i = 0; i < p; ++i) given.push_back({i, 1, static_cast<double>(p), {&x[i], 1}});
    rule->close(0, given);  // the first words: the centre is their mean
    std::fill(x.begin(), x.end(), 1.0f);
    rule->close(0, given);
    EXPECT_NEAR(x[0], std::min(0.5, 0.9 / static_cast<double>(p)), 1e-6) << p;
    EXPECT_NEAR(rule->centre()[0], std::min(0.5 * static_cast<double>(p), 0.9), 1e-5) << p;
  }
  // The pull for 8 members is too much for 20: their sum overshoots the centre.
  EXPECT_GT(20 * (0.9 / 8), 2);
}

// Members in turn, of unlike speed: 400 clusters, none of which grows. Without the cap some do.
TEST(ElasticRule, FourHundredUnlikeClustersAreStable) {
  Luck luck(17);
  int grows_without_cap = 0;
  for (int cluster = 0; cluster < 400; ++cluster) {
    const auto p = static_cast<std::size_t>(2 + luck.unit() * 8);
    const double eta_h = luck.unit();
    std::vector<double> rows(p);
    double all = 0;
    for (double& did : rows) all += did = std::exp(3 * luck.normal());
    const auto rule = make_elastic_rule(0.9, false);
    std::vector<float> start(1, 1.0f), x(p);
    for (std::size_t i = 0; i < p; ++i) x[i] = static_cast<float>(luck.normal());
    rule->begin(start, p, kPlain);
    std::vector<double> free(x.begin(), x.end());
    double free_centre = 1;
    double most = 0, free_most = 0;
    for (int round = 0; round < 1500; ++round) {
      most = free_most = 0;
      for (std::uint32_t i = 0; i < p; ++i) {
        float off = x[i];
        SliceRule::Given one{i, rows[i], all, {&off, 1}};
        rule->meet(0, one);
        x[i] -= static_cast<float>(eta_h) * x[i] + off;
        most = std::max(most, std::abs(static_cast<double>(x[i])));
        const double d = 0.9 * rows[i] / all * (free[i] - free_centre);
        free_centre += d;
        free[i] -= eta_h * free[i] + d;
        free_most = std::max(free_most, std::abs(free[i]));
      }
      if (!(free_most < 1e9)) free_centre = 1e9, std::fill(free.begin(), free.end(), 1e9);
    }
    EXPECT_LT(most, 20) << "cluster " << cluster;
    grows_without_cap += free_most < 20 ? 0 : 1;
  }
  EXPECT_GT(grows_without_cap, 0);
}

}  // namespace
}  // namespace samovar::trainer
