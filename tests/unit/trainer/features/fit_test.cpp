#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/json.hpp"
#include "tests/support/memory_table.hpp"
#include "tests/unit/trainer/features/fitted.hpp"
#include "trainer/features/advice.hpp"

namespace samovar::trainer {
namespace {

using tests::MemoryTable;
using tests::random_table;

bool mentions(const std::vector<std::string>& notes, std::string_view what) {
  for (const std::string& note : notes) {
    if (note.find(what) != std::string::npos) return true;
  }
  return false;
}
std::string problem(MemoryTable& table, const JobSpec& spec) {
  const auto fitted = try_fit(table, spec);
  if (fitted) return "none";
  EXPECT_EQ(fitted.error().code(), Errc::invalid);
  return fitted.error().message();
}

TEST(Fit, LeavesOutWhatCannotHelp) {
  MemoryTable table({{{"y", ColumnType::boolean},
                      {"x", ColumnType::real},
                      {"constant", ColumnType::real},
                      {"empty", ColumnType::integer},
                      {"one", ColumnType::category},
                      {"row_id", ColumnType::integer},
                      {"serial", ColumnType::integer},
                      {"uuid", ColumnType::category},
                      {"name", ColumnType::text}}});
  for (int i = 0; i < 2000; ++i)
    table.add({i % 2 == 0, std::sin(i), 5.0, RawValue(), std::string("same"), std::int64_t{i * 7919 % 2003},
               std::int64_t{i}, "u" + std::to_string(i), "n" + std::to_string(i)});
  const Fitted fitted = fit(table, spec_for("y"));
  ASSERT_EQ(fitted.pipeline->inputs().columns.size(), 1u);
  EXPECT_EQ(fitted.pipeline->inputs().columns[0].name, "x");
  EXPECT_TRUE(mentions(fitted.notes, "have the same value in every row: \"constant\", \"one\""));
  EXPECT_TRUE(mentions(fitted.notes, "have no value: \"empty\""));
  EXPECT_TRUE(mentions(fitted.notes, "look like identifiers: \"row_id\", \"serial\", \"uuid\", \"name\""));
  // Who names an identifier gets it.
  JobSpec spec = spec_for("y");
  spec.inputs = {"x", "serial"};
  EXPECT_EQ(fit(table, spec).pipeline->dense_width(), 2u);
}

TEST(Fit, InfinitiesCountAsMissing) {
  MemoryTable table({{{"y", ColumnType::boolean}, {"x", ColumnType::real}}});
  for (int i = 0; i < 500; ++i)
    table.add({i % 2 == 0, i % 9 == 0 ? std::numeric_limits<double>::infinity() : i * 0.25});
  const Fitted fitted = fit(table, spec_for("y"));
  EXPECT_TRUE(mentions(fitted.notes, "infinite values"));
  EXPECT_EQ(fitted.pipeline->dense_width(), 2u);  // the indicator, too
  for_each_batch(table, *fitted.pipeline, [](const EncodedBatch& batch) {
    for (const float value : batch.dense) ASSERT_TRUE(std::isfinite(value));
  });
}

TEST(Fit, LearnsFromTrainingRowsAlone) {
  MemoryTable table({{{"y", ColumnType::real},
                      {"x", ColumnType::real},
                      {"c", ColumnType::category},
                      {"t", ColumnType::time}}});
  for (int i = 0; i < 1000; ++i)
    table.add({i * 0.5, i < 700 ? double(i % 2) : 1e9,
               std::string(i < 700 ? (i % 2 == 0 ? "a" : "b") : "late"), std::int64_t{i} * 1'000'000});
  JobSpec spec = spec_for("y");
  spec.split.kind = SplitSpec::Kind::time;
  spec.split.column = "t";
  const Fitted fitted = fit(table, spec);
  EXPECT_TRUE(mentions(fitted.notes, "\"t\" splits the rows"));
  ASSERT_EQ(fitted.pipeline->plan().inputs.size(), 2u);
  EXPECT_NEAR(fitted.pipeline->plan().inputs[0].fill, 0.5, 1e-9);
  EXPECT_EQ(fitted.pipeline->plan().inputs[1].levels, (std::vector<std::string>{"a", "b"}));
}

TEST(Fit, RowsWithoutTargetCountNowhere) {
  MemoryTable table = random_table(1000, 9);
  for (std::uint32_t row = 0; row < 1000; row += 10) table.column(0)[row] = RawValue();
  const Fitted fitted = fit(table, spec_for("yes"));
  EXPECT_TRUE(mentions(fitted.notes, "100 rows are left out"));
  std::size_t without = 0;
  for_each_batch(table, *fitted.pipeline, [&](const EncodedBatch& batch) {
    ASSERT_EQ(batch.weight.size(), batch.rows);
    without += static_cast<std::size_t>(std::count(batch.weight.begin(), batch.weight.end(), 0.0f));
  });
  EXPECT_EQ(without, 100u);
}

TEST(Fit, ThePositiveClassComesSecond) {
  const auto classes = [](const char* rare, const char* frequent) {
    MemoryTable table({{{"y", ColumnType::category}, {"x", ColumnType::real}}});
    for (int i = 0; i < 300; ++i) table.add({std::string(i % 3 == 0 ? rare : frequent), double(i % 7)});
    return fit(table, spec_for("y")).pipeline->classes();
  };
  using List = std::vector<std::string>;
  EXPECT_EQ(classes("b", "a"), (List{"a", "b"}));
  EXPECT_EQ(classes("a", "b"), (List{"b", "a"}));
  EXPECT_EQ(classes("no", "Yes"), (List{"no", "Yes"}));
  EXPECT_EQ(classes("yes", "no"), (List{"no", "yes"}));
}

TEST(Fit, NumbersWithTwoValuesAreClasses) {
  MemoryTable table({{{"y", ColumnType::integer}, {"x", ColumnType::real}}});
  for (int i = 0; i < 300; ++i) table.add({std::int64_t{i % 4 == 0 ? 7 : 3}, double(i % 7)});
  const Fitted fitted = fit(table, spec_for("y"));
  EXPECT_EQ(fitted.pipeline->classes(), (std::vector<std::string>{"3", "7"}));
  for_each_batch(table, *fitted.pipeline, [](const EncodedBatch& batch) {
    for (const float target : batch.target) ASSERT_TRUE(target == 0 || target == 1);
    EXPECT_EQ(batch.target[0], batch.target[4]);
  });
  JobSpec spec = spec_for("y");
  spec.parameters["family"] = "poisson";
  EXPECT_TRUE(fit(table, spec).pipeline->classes().empty());
}

TEST(Fit, SaysWhatATargetLacks) {
  MemoryTable table({{{"y", ColumnType::boolean},
                      {"c", ColumnType::category},
                      {"n", ColumnType::real},
                      {"x", ColumnType::real}}});
  for (int i = 0; i < 300; ++i) table.add({true, std::string("only"), -1.0 - i, double(i)});
  EXPECT_NE(problem(table, spec_for("y")).find("is yes in every row"), std::string::npos);
  EXPECT_NE(problem(table, spec_for("c")).find("one class only"), std::string::npos);
  JobSpec spec = spec_for("n");
  spec.parameters["family"] = "gamma";
  EXPECT_NE(problem(table, spec).find("needs numbers above 0"), std::string::npos);
  spec.parameters["family"] = "binomial";
  EXPECT_NE(problem(table, spec).find("cannot be binomial"), std::string::npos);
  for (auto& value : table.column(0)) value = RawValue();
  EXPECT_NE(problem(table, spec_for("y")).find("missing in every row"), std::string::npos);
  spec = spec_for("n");
  spec.inputs = {"y"};
  EXPECT_NE(problem(table, spec).find("no column is left"), std::string::npos);
}

TEST(Fit, WeightsAndExposuresAreChecked) {
  MemoryTable table({{{"y", ColumnType::integer},
                      {"x", ColumnType::real},
                      {"w", ColumnType::real},
                      {"e", ColumnType::real}}});
  for (int i = 0; i < 300; ++i) table.add({std::int64_t{i % 5}, double(i % 9), i % 3 * 0.5, 0.5 + i % 2});
  JobSpec spec = spec_for("y");
  spec.weight = "w";
  spec.exposure = "e";
  const Fitted fitted = fit(table, spec);
  EXPECT_EQ(fitted.pipeline->inputs().columns.size(), 1u);
  for_each_batch(table, *fitted.pipeline, [](const EncodedBatch& batch) {
    EXPECT_EQ(batch.weight[1], 0.5f);
    EXPECT_EQ(batch.offset[0], std::log(0.5f));
    EXPECT_EQ(batch.offset[1], std::log(1.5f));
  });
  RawTable raw = table.raw(0, 2);
  EncodedBatch out;
  std::vector<InputWarning> warnings;
  ASSERT_TRUE(fitted.pipeline->encode(raw, out, warnings));
  EXPECT_EQ(out.offset[1], std::log(1.5f));
  table.column(3)[7] = 0.0;
  EXPECT_NE(problem(table, spec).find("\"e\" must be above 0"), std::string::npos);
  table.column(2)[7] = -1.0;
  EXPECT_NE(problem(table, spec).find("\"w\" must not be negative"), std::string::npos);
}

TEST(Fit, AdviceNamesWhatGivesTheTargetAway) {
  MemoryTable table({{{"y", ColumnType::boolean},
                      {"fine", ColumnType::real},
                      {"leak", ColumnType::real},
                      {"discharged_to", ColumnType::category},
                      {"patient_id", ColumnType::integer}}});
  for (int i = 0; i < 4000; ++i) {
    const bool yes = (i * 2654435761u >> 7) % 3 == 0;
    table.add({yes, double(i * 7919 % 10'007), yes ? RawValue(i * 0.5) : RawValue(),
               std::string(yes          ? "hospice"
                           : i % 2 == 0 ? "home"
                                        : "ward"),
               std::int64_t{i / 4 * 31}});
  }
  JobSpec spec = spec_for("y");
  const Fitted fitted = fit(table, spec);
  const auto advice = advise(table, table.schema(), spec, *fitted.pipeline, *fitted.splitter);
  ASSERT_TRUE(advice);
  EXPECT_TRUE(mentions(*advice, "\"leak\" alone predicts"));
  EXPECT_TRUE(mentions(*advice, "\"discharged_to\" alone predicts"));
  EXPECT_TRUE(mentions(*advice, "Split by group \"patient_id\""));
  EXPECT_FALSE(mentions(*advice, "\"fine\""));
  EXPECT_FALSE(mentions(*advice, "same inputs"));
}

TEST(Fit, AdviceNamesDuplicatesAcrossTheSplit) {
  MemoryTable table({{{"y", ColumnType::real}, {"x", ColumnType::real}, {"twin", ColumnType::real}}});
  for (int i = 0; i < 3000; ++i) {
    const int row = i % 10 == 9 ? i - 1 : i;
    table.add({std::sin(row) * 3, double(row * 7919 % 100'003), std::sin(row) * 6 + 1});
  }
  JobSpec spec = spec_for("y");
  const Fitted fitted = fit(table, spec);
  const auto advice = advise(table, table.schema(), spec, *fitted.pipeline, *fitted.splitter);
  ASSERT_TRUE(advice);
  EXPECT_TRUE(mentions(*advice, "have the same inputs"));
  EXPECT_TRUE(mentions(*advice, "\"twin\" alone predicts"));
  EXPECT_FALSE(mentions(*advice, "\"x\" alone"));
}

}  // namespace
}  // namespace samovar::trainer
