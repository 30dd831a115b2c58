#include <gtest/gtest.h>

#include <map>

#include "tests/support/memory_table.hpp"
#include "tests/unit/trainer/features/fitted.hpp"

namespace samovar::trainer {
namespace {

using tests::MemoryTable;
using Kind = SplitSpec::Kind;

MemoryTable visits(std::uint32_t rows) {
  MemoryTable table({{{"y", ColumnType::boolean},
                      {"patient", ColumnType::category},
                      {"number", ColumnType::integer},
                      {"time", ColumnType::time},
                      {"fold", ColumnType::integer}}});
  for (std::uint32_t i = 0; i < rows; ++i) {
    const std::int64_t shuffled = i * 7919 % rows;
    table.add(
        {i % 3 == 0, i % 50 == 0 ? RawValue() : RawValue("p" + std::to_string(i % 97)), std::int64_t{i % 97},
         i % 101 == 0 ? RawValue() : RawValue(std::int64_t{1'600'000'000'000'000} + shuffled * 1'000'000),
         std::int64_t{i % 4 + 10}});
  }
  return table;
}

// The role of every row by its place in the table, read in any order.
std::vector<RowRole> roles(MemoryTable& table, const JobSpec& spec,
                           std::optional<unsigned> fold = std::nullopt, bool shuffled = false) {
  const auto splitter = Splitter::make(table, table.schema(), spec, fold);
  EXPECT_TRUE(splitter) << splitter.error().message();
  ReadPlan plan;
  plan.shuffle_rows = shuffled;
  plan.shuffle_blocks = shuffled;
  plan.batch_rows = shuffled ? 123 : 300;
  (*splitter)->add_columns(table.schema(), plan);
  const auto reader = *BatchReader::open(table, table.schema(), plan);
  std::vector<RowRole> out(table.all_rows(), RowRole::valid);
  std::vector<RowRole> here;
  while (const Batch* batch = *reader->next()) {
    (*splitter)->roles(*batch, here);
    for (std::uint32_t row = 0; row < here.size(); ++row)
      out[batch->block_number() * 500 + batch->block_row(row)] = here[row];
  }
  return out;
}

JobSpec split(Kind kind, std::string column = "") {
  JobSpec spec = spec_for("y");
  spec.split.kind = kind;
  spec.split.column = std::move(column);
  return spec;
}

double share(const std::vector<RowRole>& roles, RowRole role) {
  return static_cast<double>(std::count(roles.begin(), roles.end(), role)) /
         static_cast<double>(roles.size());
}

TEST(Splitter, RandomSharesAreAsAsked) {
  MemoryTable table = visits(20'000);
  const auto found = roles(table, split(Kind::random));
  EXPECT_NEAR(share(found, RowRole::test), 0.2, 0.01);
  EXPECT_NEAR(share(found, RowRole::valid), 0.1, 0.01);
  JobSpec other = split(Kind::random);
  other.seed = 2;
  EXPECT_NE(roles(table, other), found);
}

TEST(Splitter, ARowHasItsRoleInWhateverOrderItIsRead) {
  MemoryTable table = visits(3000);
  for (const JobSpec& spec :
       {split(Kind::random), split(Kind::group, "patient"), split(Kind::group, "number"),
        split(Kind::time, "time"), split(Kind::folds), split(Kind::folds, "fold")})
    EXPECT_EQ(roles(table, spec, 1), roles(table, spec, 1, true));
}

TEST(Splitter, AGroupStaysTogether) {
  MemoryTable table = visits(5000);
  for (const char* column : {"patient", "number"}) {
    const auto found = roles(table, split(Kind::group, column));
    std::map<std::uint32_t, std::set<RowRole>> of;
    for (std::uint32_t row = 0; row < found.size(); ++row) {
      if (row % 50 != 0) of[row % 97].insert(found[row]);
    }
    std::set<RowRole> all;
    for (const auto& [patient, each] : of) {
      EXPECT_EQ(each.size(), 1u);
      all.insert(each.begin(), each.end());
    }
    EXPECT_EQ(all.size(), 3u);
  }
}

TEST(Splitter, TheNewestRowsTest) {
  MemoryTable table = visits(5000);
  const auto found = roles(table, split(Kind::time, "time"));
  EXPECT_NEAR(share(found, RowRole::test), 0.2, 0.01);
  EXPECT_NEAR(share(found, RowRole::valid), 0.1, 0.01);
  std::int64_t newest_train = 0;
  std::int64_t oldest_test = std::numeric_limits<std::int64_t>::max();
  for (std::uint32_t row = 0; row < found.size(); ++row) {
    if (row % 101 == 0) {
      EXPECT_EQ(found[row], RowRole::train);  // no time
      continue;
    }
    const std::int64_t time = std::get<std::int64_t>(table.column(3)[row]);
    if (found[row] == RowRole::train) newest_train = std::max(newest_train, time);
    if (found[row] == RowRole::test) oldest_test = std::min(oldest_test, time);
  }
  EXPECT_LT(newest_train, oldest_test);
}

TEST(Splitter, EveryRowIsHeldOutOnce) {
  MemoryTable table = visits(4000);
  for (const JobSpec& spec : {split(Kind::folds), split(Kind::folds, "fold")}) {
    const auto splitter = Splitter::make(table, table.schema(), spec);
    ASSERT_TRUE(splitter);
    const unsigned folds = (*splitter)->folds();
    EXPECT_EQ(folds, spec.split.column.empty() ? 5u : 4u);
    std::vector<int> held(table.all_rows());
    for (unsigned fold = 0; fold < folds; ++fold) {
      const auto found = roles(table, spec, fold);
      EXPECT_NEAR(share(found, RowRole::test), 1.0 / folds, 0.03);
      for (std::uint32_t row = 0; row < found.size(); ++row) held[row] += found[row] == RowRole::test ? 1 : 0;
    }
    EXPECT_EQ(std::count(held.begin(), held.end(), 1), table.all_rows());
    EXPECT_EQ(share(roles(table, spec), RowRole::test), 0);
  }
}

TEST(Splitter, SaysWhatCannotBeSplitBy) {
  MemoryTable table = visits(2000);
  const auto problem = [&](const JobSpec& spec) {
    const auto splitter = Splitter::make(table, table.schema(), spec);
    return splitter ? "none" : splitter.error().message();
  };
  EXPECT_NE(problem(split(Kind::group, "gone")).find("\"gone\""), std::string::npos);
  EXPECT_NE(problem(split(Kind::folds, "time")).find("more than 100"), std::string::npos);
  for (auto& value : table.column(3)) value = std::int64_t{5};
  EXPECT_NE(problem(split(Kind::time, "time")).find("too few different values"), std::string::npos);
}

}  // namespace
}  // namespace samovar::trainer
