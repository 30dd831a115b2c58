#include "trainer/evaluate/score_list.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/json.hpp"
#include "trainer/data/order.hpp"

namespace samovar::trainer {
namespace {

double unit(SeededOrder& order) { return static_cast<double>(order.next() >> 11) / 9007199254740992.0; }

// Every pair of a positive and a negative.
double naive_auc(const std::vector<std::pair<double, bool>>& rows) {
  double right = 0;
  double pairs = 0;
  for (const auto& [a, positive] : rows) {
    if (!positive) continue;
    for (const auto& [b, other] : rows) {
      if (other) continue;
      pairs += 1;
      right += a > b ? 1 : a == b ? 0.5 : 0;
    }
  }
  return right / pairs;
}

TEST(ScoreList, AucIsThatOfAllPairs) {
  SeededOrder order(1);
  std::vector<std::pair<double, bool>> rows;
  ScoreList list;
  for (int i = 0; i < 400; ++i) {
    // Eighths: many ties.
    const double score = std::floor(unit(order) * 8) / 8;
    const bool positive = unit(order) < score;
    rows.emplace_back(score, positive);
    list.add(score, positive, 1);
  }
  list.finish();
  const Estimate auc = list.auc();
  EXPECT_NEAR(auc.value, naive_auc(rows), 1e-12);
  EXPECT_LT(auc.low, auc.value);
  EXPECT_GT(auc.high, auc.value);
}

// So many are sorted another way.
TEST(ScoreList, AucOfManyRowsIsThatOfAllPairs) {
  SeededOrder order(3);
  std::vector<std::pair<double, bool>> rows;
  ScoreList list;
  for (int i = 0; i < 5000; ++i) {
    const double score = std::floor(unit(order) * 1024) / 1024;
    const bool positive = unit(order) < score;
    rows.emplace_back(score, positive);
    list.add(score, positive, 1);
  }
  list.finish();
  EXPECT_NEAR(list.auc().value, naive_auc(rows), 1e-12);
  const ScoreList::Counts counts = list.at(0.5);
  const auto is_right = [](const auto& row) { return row.second && row.first >= 0.5; };
  EXPECT_EQ(counts.tp, static_cast<double>(std::count_if(rows.begin(), rows.end(), is_right)));
}

// pROC 1.18 on the same ten rows: ci.auc(roc(y, s), method = "delong").
TEST(ScoreList, IntervalIsDeLongs) {
  const double scores[] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.35};
  const bool positive[] = {false, false, true, false, true, false, true, true, true, false};
  ScoreList list;
  for (int i = 0; i < 10; ++i) list.add(scores[i], positive[i], 1);
  list.finish();
  const Estimate auc = list.auc();
  // Placements of positives: .4 .8 1 1 1 → variance .068; of negatives: 1 1 .8 .6 .8 → variance .028.
  EXPECT_NEAR(auc.value, 0.84, 1e-12);
  const double se = std::sqrt(0.068 / 5 + 0.028 / 5);
  EXPECT_NEAR(auc.low, 0.84 - 1.959963984540054 * se, 1e-9);
  EXPECT_EQ(auc.high, 1);
}

TEST(ScoreList, BinsAgreeWithRows) {
  SeededOrder order(2);
  ScoreList binned;
  ScoreList exact;
  for (int i = 0; i < 260'000; ++i) {
    const double score = 1 / (1 + std::exp(-4 * (unit(order) - 0.5)));
    const bool positive = unit(order) < score;
    binned.add(score, positive, 1);
    if (i < 150'000) exact.add(score, positive, 1);
  }
  binned.finish();
  exact.finish();
  EXPECT_EQ(binned.rows(), 260'000);
  EXPECT_NEAR(binned.auc().value, exact.auc().value, 0.005);
  const auto calibration = binned.calibration();
  ASSERT_EQ(calibration.size(), 10u);
  for (const auto& bin : calibration)
    EXPECT_NEAR(bin["predicted"].get<double>(), bin["observed"].get<double>(), 0.02);
}

TEST(ScoreList, CurvesBeginAndEndWhereTheyMust) {
  SeededOrder order(3);
  ScoreList list;
  for (int i = 0; i < 5000; ++i) {
    const double score = unit(order);
    list.add(score, unit(order) < score, 1);
  }
  list.finish();
  const auto roc = list.roc();
  EXPECT_LE(roc.size(), 200u);
  EXPECT_EQ(roc.front(), (nlohmann::json{0.0, 0.0}));
  EXPECT_EQ(roc.back(), (nlohmann::json{1.0, 1.0}));
  const auto thresholds = list.thresholds();
  ASSERT_EQ(thresholds.size(), 101u);
  EXPECT_EQ(thresholds[0]["tn"], 0);
  EXPECT_EQ(thresholds[100]["tp"], 0);
  EXPECT_NEAR(list.lift_curve()[9]["lift"].get<double>(), 1, 1e-9);
  const auto half = list.at(0.5);
  EXPECT_EQ(half.tp + half.fn, list.positives());
}

}  // namespace
}  // namespace samovar::trainer
