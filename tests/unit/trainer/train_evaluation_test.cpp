// What an evaluation says: figures of every kind of target, their baselines, cross-validation.
#include <cmath>
#include <string>

#include "tests/unit/trainer/training.hpp"

namespace samovar::trainer {
namespace {

using nlohmann::json;

double metric(const json& evaluation, const char* part, const char* name) {
  return evaluation["metrics"][part][name]["value"].get<double>();
}

TEST(TrainEvaluation, ClassesAndNumbersAndCountsAreEvaluatedAsSuch) {
  tests::MemoryTable table = logistic_table(2000, 17);
  JobSpec spec = job("class");
  spec.inputs = {"x", "z"};
  json evaluation = evaluation_of(table, spec);
  EXPECT_EQ(evaluation["task"], "classes");
  EXPECT_EQ(evaluation["confusion"]["classes"].size(), 3u);
  EXPECT_GT(metric(evaluation, "test", "accuracy"), evaluation["baseline"]["accuracy"].get<double>() + 0.1);
  spec = job("amount");
  spec.inputs = {"x", "z"};
  evaluation = evaluation_of(table, spec);
  EXPECT_EQ(evaluation["task"], "number");
  EXPECT_NEAR(metric(evaluation, "test", "rmse"), 0.5, 0.06);
  EXPECT_GT(metric(evaluation, "test", "r2"), 0.9);
}

TEST(TrainEvaluation, FoldsAreEachTestedByAModelThatHasNotSeenThem) {
  // Two rows of each kind and a target by chance: only a model that has seen a row knows its answer.
  tests::MemoryTable table(
      {{{"x", ColumnType::real}, {"code", ColumnType::category}, {"y", ColumnType::real}}});
  Luck luck(23);
  for (int row = 0; row < 600; ++row) {
    const double x = luck.normal();
    table.add({x, "c" + std::to_string(row / 2), 2 * x + luck.normal()});
  }
  JobSpec spec = job("y", {{"solver", "irls"}, {"l2", 0.01}});
  spec.inputs = {"x", "code"};
  spec.split.kind = SplitSpec::Kind::folds;
  spec.split.folds = 4;
  spec.split.valid = 0;
  const json evaluation = evaluation_of(table, spec);
  ASSERT_EQ(evaluation["folds"].size(), 4u);
  EXPECT_EQ(evaluation["rows"]["test"], 600);
  EXPECT_EQ(evaluation["rows"]["train"], 600);
  EXPECT_EQ(evaluation["shown"], "test");
  double sum = 0;
  for (const json& fold : evaluation["folds"]) {
    EXPECT_GT(fold["rows"].get<int>(), 100);
    sum += fold["metrics"]["rmse"].get<double>();
  }
  const double rmse = metric(evaluation, "test", "rmse");
  EXPECT_NEAR(rmse, sum / 4, 1e-9);
  EXPECT_GT(rmse, 1.0);
  EXPECT_LT(metric(evaluation, "train", "rmse"), 0.8);
  EXPECT_LT(rmse, evaluation["baseline"]["rmse"].get<double>());
  EXPECT_LT(evaluation["metrics"]["test"]["rmse"]["low"].get<double>(), rmse);
  EXPECT_GT(evaluation["metrics"]["test"]["rmse"]["high"].get<double>(), rmse);
  EXPECT_NE(evaluation["notes"].dump().find("Cross-validated"), std::string::npos);
}

// visits: months × a rate that x moves; cost: a sum of that many amounts, so often 0.
tests::MemoryTable visits_table(std::uint32_t rows, std::uint64_t seed) {
  tests::MemoryTable table({{{"x", ColumnType::real},
                             {"months", ColumnType::integer},
                             {"visits", ColumnType::integer},
                             {"cost", ColumnType::real}}});
  Luck luck(seed);
  for (std::uint32_t row = 0; row < rows; ++row) {
    const double x = luck.normal();
    const auto months = static_cast<std::int64_t>(1 + luck.unit() * 12);
    const double mean = static_cast<double>(months) * std::exp(-2 + 0.5 * x);
    // Knuth's way to a Poisson number.
    std::int64_t visits = -1;
    for (double left = 1; left > std::exp(-mean); ++visits) left *= luck.unit();
    double cost = 0;
    for (std::int64_t i = 0; i < visits; ++i) cost -= 100 * std::log(1 - luck.unit());
    table.add({x, months, visits, cost});
  }
  return table;
}

TEST(TrainEvaluation, TheBaselineOfCountsKnowsTheExposure) {
  tests::MemoryTable table = visits_table(4000, 21);
  JobSpec spec = job("visits", {{"family", "poisson"}});
  spec.inputs = {"x"};
  spec.exposure = "months";
  const json evaluation = evaluation_of(table, spec);
  EXPECT_EQ(evaluation["task"], "count");
  for (const char* name : {"deviance", "rmse", "mae"}) {
    ASSERT_TRUE(evaluation["baseline"].contains(name)) << name;
    EXPECT_GT(evaluation["baseline"][name].get<double>(), metric(evaluation, "test", name)) << name;
  }
  // One rate for every month tells more than one number for every row.
  spec.exposure.clear();
  const json without = evaluation_of(table, spec);
  EXPECT_LT(evaluation["baseline"]["deviance"].get<double>(),
            0.9 * without["baseline"]["deviance"].get<double>());
}

TEST(TrainEvaluation, TweedieFindsTheEffectAmongZeros) {
  tests::MemoryTable table = visits_table(6000, 22);
  JobSpec spec = job("cost", {{"family", "tweedie"}, {"power", 1.5}});
  spec.inputs = {"x"};
  spec.exposure = "months";
  const json evaluation = evaluation_of(table, spec);
  EXPECT_EQ(evaluation["model"]["family"], "tweedie");
  EXPECT_TRUE(evaluation["model"]["converged"].get<bool>());
  EXPECT_NEAR(evaluation["coefficients"][0]["estimate"].get<double>(), 0.5, 0.08);
  EXPECT_NEAR(evaluation["intercept"].get<double>(), std::log(100) - 2, 0.1);
  EXPECT_LT(metric(evaluation, "test", "deviance"), 0.95 * evaluation["baseline"]["deviance"].get<double>());
  // Another solver ends in the same place.
  spec.parameters["solver"] = "lbfgs";
  spec.parameters["l2"] = 0;
  const json again = evaluation_of(table, spec);
  EXPECT_NEAR(metric(again, "train", "deviance"), metric(evaluation, "train", "deviance"), 1e-4);
}

}  // namespace
}  // namespace samovar::trainer
