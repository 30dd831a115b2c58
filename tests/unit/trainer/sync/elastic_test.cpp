#include "trainer/sync/elastic.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/trainer/training.hpp"
#include "trainer/sync/together.hpp"

namespace samovar::trainer {
namespace {

// On f = h x²/2 a round is a matrix on (x_1, …, x_p, centre): it is stable when no direction grows.
using Matrix = std::vector<std::vector<double>>;

Matrix identity(std::size_t n) {
  Matrix m(n, std::vector<double>(n));
  for (std::size_t i = 0; i < n; ++i) m[i][i] = 1;
  return m;
}
Matrix times(const Matrix& a, const Matrix& b) {
  const std::size_t n = a.size();
  Matrix out(n, std::vector<double>(n));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < n; ++k) {
      for (std::size_t j = 0; j < n; ++j) out[i][j] += a[i][k] * b[k][j];
    }
  }
  return out;
}
// By squaring again and again, scaled so that it neither grows nor vanishes.
double radius(Matrix m) {
  double log_scale = 0;
  double power = 1;
  for (int i = 0; i < 24; ++i) {
    double most = 0;
    for (const auto& row : m) {
      for (const double value : row) most = std::max(most, std::abs(value));
    }
    if (most == 0) return 0;
    for (auto& row : m) {
      for (double& value : row) value /= most;
    }
    log_scale += std::log(most) / power;
    m = times(m, m);
    power *= 2;
  }
  return std::exp(log_scale);
}
// One member after the other: the gradient at x before the pull, and the centre moves at once.
double round_robin(std::size_t p, double eta_h, const std::vector<double>& alpha) {
  Matrix all = identity(p + 1);
  for (std::size_t i = 0; i < p; ++i) {
    Matrix one = identity(p + 1);
    one[i][i] = 1 - eta_h - alpha[i];
    one[i][p] = alpha[i];
    one[p][i] = alpha[i];
    one[p][p] = 1 - alpha[i];
    all = times(one, all);
  }
  return radius(all);
}
// All at once.
double synchronous(std::size_t p, double eta_h, double alpha) {
  Matrix m = identity(p + 1);
  for (std::size_t i = 0; i < p; ++i) {
    m[i][i] = 1 - eta_h - alpha;
    m[i][p] = alpha;
    m[p][i] = alpha;
  }
  m[p][p] = 1 - static_cast<double>(p) * alpha;
  return radius(m);
}

TEST(Elastic, MembersInTurnAreStableUpToTheKnownPull) {
  for (const std::size_t p : {3u, 4u, 8u}) {
    for (double eta_h = 0.1; eta_h < 1.95; eta_h += 0.2) {
      const double most = (4 - 2 * eta_h) / (4 - eta_h);
      EXPECT_LE(round_robin(p, eta_h, std::vector<double>(p, 0.98 * most)), 1 + 1e-6) << p << " " << eta_h;
      EXPECT_GT(round_robin(p, eta_h, std::vector<double>(p, 1.05 * most)), 1) << p << " " << eta_h;
    }
  }
}

TEST(Elastic, OneMemberAloneMustNotBePulled) {
  const auto largest = [](std::size_t p) {
    double eta_h = 0.01;
    while (synchronous(p, eta_h + 0.005, 0.9 / static_cast<double>(p)) <= 1 + 1e-9) eta_h += 0.005;
    return eta_h;
  };
  EXPECT_NEAR(largest(1), 0.36, 0.02);
  EXPECT_NEAR(largest(2), 1.18, 0.02);
  EXPECT_NEAR(largest(4), 1.59, 0.02);
  EXPECT_NEAR(largest(8), 1.80, 0.02);
  EXPECT_EQ(elastic_alpha(0.9, 1, 100, 100), 0);
}

TEST(Elastic, ThePullFollowsTheNumberOfMembers) {
  for (const std::size_t p : {2u, 4u, 8u, 20u, 1000u})
    EXPECT_DOUBLE_EQ(elastic_alpha(0.9, p, 0, 0), std::min(0.5, 0.9 / static_cast<double>(p)));
  // Left as it was for 8 members, 20 diverge.
  EXPECT_LT(synchronous(12, 0.5, 0.9 / 8), 1);
  EXPECT_GT(synchronous(20, 0.5, 0.9 / 8), 1.2);
  EXPECT_LT(synchronous(20, 0.5, elastic_alpha(0.9, 20, 0, 0)), 1);
}

TEST(Elastic, MembersOfUnlikeSpeedAreStableBecauseOfTheCap) {
  Luck luck(5);
  int unstable_without = 0;
  for (int cluster = 0; cluster < 400; ++cluster) {
    const auto p = static_cast<std::size_t>(2 + luck.unit() * 8);
    std::vector<double> rows(p), capped(p), free(p);
    double all = 0;
    for (double& did : rows) all += did = std::exp(3 * luck.normal());
    for (std::size_t i = 0; i < p; ++i) {
      capped[i] = elastic_alpha(0.9, p, rows[i], all);
      free[i] = 0.9 * rows[i] / all;
      EXPECT_LE(capped[i], 0.5);
    }
    const double eta_h = luck.unit();
    EXPECT_LE(round_robin(p, eta_h, capped), 1 + 1e-6);
    unstable_without += round_robin(p, eta_h, free) > 1 + 1e-6 ? 1 : 0;
  }
  EXPECT_GT(unstable_without, 0);
}

TEST(Elastic, TauKeepsExchangesSmallBesideTheSteps) {
  // 3 ms of work, steps of 1 ms: no more than 3 % of the time.
  EXPECT_EQ(choose_tau({0.003, 0.001, 0.001, 0.001}), 100u);
  // A slow network: an answer is there before the next question.
  EXPECT_EQ(choose_tau({0.00001, 0.001, 0.5, 0.001}), 500u);
  EXPECT_EQ(choose_tau({0, 0.001, 0, 0.001}), 1u);
}

TEST(Elastic, AShortJobHasSomeExchangesButNoMoreThanTheNetworkCarries) {
  EXPECT_EQ(choose_tau({0.003, 0.001, 0.001, 0.001, 420}), 70u);
  EXPECT_EQ(choose_tau({0.003, 0.001, 0.120, 0.001, 420}), 120u);
  // One or two in the whole job are of no use: there are none.
  EXPECT_GT(choose_tau({0.003, 0.001, 0.150, 0.001, 420}), 100'000u);
  EXPECT_GT(choose_tau({0.003, 0.001, 9.0, 0.001, 420}), 100'000u);
}

using Shares = std::map<std::uint32_t, std::uint64_t>;

TEST(Elastic, WhatIsLeftIsDealtByWhatEachDidLately) {
  EXPECT_EQ(deal_rows({{1, {600, 0}}, {2, {300, 0}}, {5, {400, 300}}}, 500),
            (Shares{{1, 900}, {2, 450}, {5, 450}}));
}

TEST(Elastic, WhatIsTooMuchForOneIsDealtToTheOthers) {
  EXPECT_EQ(deal_rows({{1, {600, 0, 700}}, {2, {300, 0}}, {5, {100, 0, 900}}}, 500),
            (Shares{{1, 700}, {2, 600}, {5, 200}}));
  // One that has done more than that already does no more; and when it is too much for all, it stays undone.
  EXPECT_EQ(deal_rows({{1, {600, 0, 500}}, {2, {300, 0, 310}}}, 500), (Shares{{1, 600}, {2, 310}}));
}

TEST(Elastic, NothingIsDealtBeforeEverybodyWasHeardOf) {
  EXPECT_TRUE(deal_rows({{1, {600, 0}}, {2, {0, 0}}}, 500).empty());
  EXPECT_TRUE(deal_rows({{1, {600, 0}}, {2, {300, 300}}}, 500).empty());
}

}  // namespace
}  // namespace samovar::trainer
