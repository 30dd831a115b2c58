#include "trainer/solvers/row_source.hpp"

#include <gtest/gtest.h>

#include "tests/support/memory_table.hpp"
#include "tests/unit/trainer/features/fitted.hpp"

namespace samovar::trainer {
namespace {

tests::MemoryTable visits() {
  tests::MemoryTable table({{{"y", ColumnType::boolean},
                             {"age", ColumnType::integer},
                             {"town", ColumnType::category},
                             {"weight", ColumnType::real}}});
  for (std::int64_t i = 0; i < 3000; ++i)
    table.add({i % 3 == 0, i % 17 == 0 ? RawValue() : RawValue(i % 90), "t" + std::to_string(i % 41),
               static_cast<double>(i % 4)});
  return table;
}

JobSpec split_spec() {
  JobSpec spec = spec_for("y");
  spec.split.test = 0.2;
  spec.split.valid = 0.1;
  return spec;
}

// Whether training's inputs are wanted or not, all that is said of the other rows is the same, and all
// labels.
TEST(RowSource, HeldOutRowsAreTheSameWithoutThoseForTraining) {
  tests::MemoryTable table = visits();
  const Fitted fitted = fit(table, split_spec());
  RowSourceOptions options;
  options.batch_rows = 300;
  RowSource rows(table, table.schema(), *fitted.pipeline, *fitted.splitter, options);
  std::vector<EncodedBatch> whole;
  ASSERT_TRUE(rows.all([&](const Batch&, const std::vector<RowRole>&, EncodedBatch& batch) -> Result<bool> {
    whole.push_back(batch);
    return true;
  }));
  std::size_t at = 0;
  std::uint32_t held_out = 0;
  bool wanted = false;
  const auto compare = [&](const Batch&, const std::vector<RowRole>& roles,
                           EncodedBatch& batch) -> Result<bool> {
    const EncodedBatch& expected = whole[at++];
    EXPECT_EQ(batch.rows, expected.rows);
    EXPECT_EQ(batch.target, expected.target);
    EXPECT_EQ(batch.weight, expected.weight);
    EXPECT_EQ(batch.offset, expected.offset);
    const auto row_of = [](const auto& values, std::size_t width, std::uint32_t row) {
      const auto first = values.begin() + static_cast<std::ptrdiff_t>(row * width);
      return std::vector(first, first + static_cast<std::ptrdiff_t>(width));
    };
    for (std::uint32_t row = 0; row < batch.rows; ++row) {
      if (!wanted && roles[row] == RowRole::train) continue;
      held_out += roles[row] == RowRole::train ? 0 : 1;
      EXPECT_EQ(row_of(batch.slots, batch.slot_width, row), row_of(expected.slots, batch.slot_width, row));
      EXPECT_EQ(row_of(batch.dense, batch.dense_width, row), row_of(expected.dense, batch.dense_width, row));
    }
    return true;
  };
  ASSERT_TRUE(rows.all(compare, [&] { return wanted = !wanted; }));  // every other batch
  EXPECT_EQ(at, whole.size());
  EXPECT_GT(held_out, 600u);
}

// Most rows of a batch are read in one go, few one by one: the values are the same.
TEST(RowSource, RowsOfARoleHaveTheLabelsOfTheirBatch) {
  tests::MemoryTable table = visits();
  JobSpec spec = split_spec();
  spec.weight = "weight";
  const Fitted fitted = fit(table, spec);
  RowSourceOptions options;
  options.batch_rows = 300;
  RowSource rows(table, table.schema(), *fitted.pipeline, *fitted.splitter, options);
  const auto look = [&](const Batch& batch, const std::vector<RowRole>& roles,
                        EncodedBatch& all) -> Result<bool> {
    for (const RowRole role : {RowRole::train, RowRole::test}) {
      EncodedBatch some;
      rows.encode(batch, roles, role, some);
      std::vector<float> target;
      std::vector<float> weight;
      for (std::uint32_t row = 0; row < all.rows; ++row) {
        if (roles[row] != role || all.weight[row] == 0) continue;
        target.push_back(all.target[row]);
        weight.push_back(all.weight[row]);
      }
      EXPECT_EQ(some.target, target);
      EXPECT_EQ(some.weight, weight);
    }
    return true;
  };
  ASSERT_TRUE(rows.all(look));
}

}  // namespace
}  // namespace samovar::trainer
