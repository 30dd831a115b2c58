#include "trainer/features/pipeline.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/json.hpp"
#include "tests/support/memory_table.hpp"
#include "tests/unit/trainer/features/fitted.hpp"

namespace samovar::trainer {
namespace {

using tests::MemoryTable;
using tests::random_table;

void expect_same(const EncodedBatch& a, const EncodedBatch& b) {
  EXPECT_EQ(a.rows, b.rows);
  ASSERT_EQ(a.dense.size(), b.dense.size());
  EXPECT_EQ(std::memcmp(a.dense.data(), b.dense.data(), a.dense.size() * sizeof(float)), 0);
  EXPECT_EQ(a.slots, b.slots);
  EXPECT_EQ(a.ragged_ends, b.ragged_ends);
  EXPECT_EQ(a.ragged_slots, b.ragged_slots);
  EXPECT_EQ(a.ragged_values, b.ragged_values);
  EXPECT_EQ(a.ragged_inputs, b.ragged_inputs);
}

void expect_sound(const FeaturePipeline& pipeline, const EncodedBatch& batch) {
  for (const float value : batch.dense) ASSERT_TRUE(std::isfinite(value));
  for (const std::uint32_t slot : batch.slots) {
    ASSERT_TRUE(slot == kNoSlot || (slot >= pipeline.dense_width() && slot < pipeline.weights()));
  }
  for (const std::uint32_t slot : batch.ragged_slots)
    ASSERT_TRUE(slot >= pipeline.dense_width() && slot < pipeline.weights());
  ASSERT_EQ(batch.ragged_ends.size(), pipeline.ragged() ? batch.rows : 0);
  ASSERT_EQ(batch.ragged_inputs.size(), batch.ragged_slots.size());
  for (const std::uint16_t column : batch.ragged_inputs) ASSERT_LT(column, pipeline.inputs().columns.size());
}

JobSpec spec_with(FeatureOptions::Categories categories, FeatureOptions::Numbers numbers) {
  JobSpec spec = spec_for("yes");
  spec.features.categories = categories;
  spec.features.numbers = numbers;
  spec.features.levels_max = 50;
  spec.features.hash_bits = 12;
  spec.features.interactions = {
      {"real", "whole"}, {"few", "many"}, {"real", "few"}, {"many", "flag"}, {"few", "when"}};
  return spec;
}

TEST(FeaturePipeline, RawRowsGiveTheBitsOfTheBatch) {
  using Categories = FeatureOptions::Categories;
  using Numbers = FeatureOptions::Numbers;
  for (const auto categories : {Categories::automatic, Categories::onehot, Categories::hash}) {
    for (const auto numbers : {Numbers::standardise, Numbers::plain, Numbers::hash}) {
      for (const std::uint64_t seed : {1u, 2u}) {
        MemoryTable table = random_table(1700, seed);
        const Fitted fitted = fit(table, spec_with(categories, numbers));
        std::uint32_t first = 0;
        for_each_batch(table, *fitted.pipeline, [&](const EncodedBatch& batch) {
          expect_sound(*fitted.pipeline, batch);
          EncodedBatch from_raw;
          std::vector<InputWarning> warnings;
          ASSERT_TRUE(fitted.pipeline->encode(table.raw(first, batch.rows), from_raw, warnings));
          expect_same(batch, from_raw);
          for (const InputWarning& warning : warnings)
            EXPECT_EQ(warning.code, "unseen_level") << warning.detail;
          first += batch.rows;
        });
        EXPECT_EQ(first, 1700u);
      }
    }
  }
}

TEST(FeaturePipeline, ShuffledRowsAreTheSameRows) {
  MemoryTable table = random_table(900, 5);
  const Fitted fitted =
      fit(table, spec_with(FeatureOptions::Categories::automatic, FeatureOptions::Numbers::hash));
  ReadPlan plan = fitted.pipeline->read_plan(table.schema());
  plan.shuffle_rows = true;
  plan.batch_rows = 77;
  const auto reader = *BatchReader::open(table, table.schema(), plan);
  EncodedBatch mixed, alone;
  std::vector<InputWarning> warnings;
  while (const Batch* batch = *reader->next()) {
    fitted.pipeline->encode(*batch, true, mixed);
    ASSERT_EQ(mixed.target.size(), batch->rows());
    for (std::uint32_t row = 0; row < batch->rows(); row += 13) {
      const std::uint32_t at = batch->block_number() * 500 + batch->block_row(row);
      ASSERT_TRUE(fitted.pipeline->encode(table.raw(at, 1), alone, warnings));
      for (std::size_t i = 0; i < mixed.slot_width; ++i)
        ASSERT_EQ(mixed.slots[row * mixed.slot_width + i], alone.slots[i]);
      for (std::size_t i = 0; i < mixed.dense_width; ++i)
        ASSERT_EQ(mixed.dense[row * mixed.dense_width + i], alone.dense[i]);
    }
  }
}

TEST(FeaturePipeline, SomeRowsOfABatchAreTheSameRows) {
  MemoryTable table = random_table(700, 8);
  const Fitted fitted =
      fit(table, spec_with(FeatureOptions::Categories::automatic, FeatureOptions::Numbers::standardise));
  for (const bool shuffled : {false, true}) {
    ReadPlan plan = fitted.pipeline->read_plan(table.schema());
    plan.shuffle_rows = shuffled;
    plan.batch_rows = 400;
    const auto reader = *BatchReader::open(table, table.schema(), plan);
    EncodedBatch all, some;
    while (const Batch* batch = *reader->next()) {
      fitted.pipeline->encode(*batch, true, all);
      std::vector<std::uint32_t> rows;
      for (std::uint32_t row = 0; row < batch->rows(); row += 1 + row % 5) rows.push_back(row);
      fitted.pipeline->encode(*batch, rows, true, some);
      ASSERT_EQ(some.rows, rows.size());
      for (std::size_t i = 0; i < rows.size(); ++i) {
        ASSERT_EQ(some.target[i], all.target[rows[i]]);
        for (std::size_t c = 0; c < all.slot_width; ++c)
          ASSERT_EQ(some.slots[i * all.slot_width + c], all.slots[rows[i] * all.slot_width + c]);
        for (std::size_t c = 0; c < all.dense_width; ++c)
          ASSERT_EQ(some.dense[i * all.dense_width + c], all.dense[rows[i] * all.dense_width + c]);
        const auto pairs = [](const EncodedBatch& of, std::size_t row) {
          return of.ragged_ends[row] - (row == 0 ? 0 : of.ragged_ends[row - 1]);
        };
        ASSERT_EQ(pairs(some, i), pairs(all, rows[i]));
      }
      fitted.pipeline->encode(*batch, std::span<const std::uint32_t>(), true, some);
      EXPECT_EQ(some.rows, 0u);
      EXPECT_TRUE(some.dense.empty());
    }
  }
}

TEST(FeaturePipeline, ComesBackFromJson) {
  for (const auto categories : {FeatureOptions::Categories::automatic, FeatureOptions::Categories::hash}) {
    MemoryTable table = random_table(800, 3);
    const Fitted fitted = fit(table, spec_with(categories, FeatureOptions::Numbers::standardise));
    const nlohmann::json json = nlohmann::json::parse(fitted.pipeline->to_json().dump());
    const auto again = FeaturePipeline::from_json(json);
    ASSERT_TRUE(again) << again.error().message();
    EXPECT_EQ((*again)->to_json(), fitted.pipeline->to_json());
    EXPECT_EQ((*again)->weights(), fitted.pipeline->weights());
    EXPECT_EQ((*again)->signature(), fitted.pipeline->signature());
    EncodedBatch here, there;
    std::vector<InputWarning> warnings;
    ASSERT_TRUE(fitted.pipeline->encode(table.raw(), here, warnings));
    ASSERT_TRUE((*again)->encode(table.raw(), there, warnings));
    expect_same(here, there);
  }
}

TEST(FeaturePipeline, StandardisesOverTrainingRows) {
  MemoryTable table({{{"y", ColumnType::real}, {"x", ColumnType::real}, {"t", ColumnType::time}}});
  for (int i = 0; i < 1000; ++i)
    table.add({double(i % 7), i % 10 == 0 ? RawValue() : RawValue(100.0 + i % 3),
               std::int64_t{1'700'000'000'000'000} + i * 3'600'000'000});
  JobSpec spec = spec_for("y");
  spec.split.valid = spec.split.test = 0;
  const Fitted fitted = fit(table, spec);
  // x, t, x missing; then the weekdays and hours of t.
  ASSERT_EQ(fitted.pipeline->dense_width(), 3u);
  EXPECT_EQ(fitted.pipeline->slot_width(), 2u);
  EXPECT_EQ(fitted.pipeline->weight_name(0).input, "x");
  EXPECT_TRUE(fitted.pipeline->weight_name(2).missing);
  std::vector<double> sum(3), squares(3);
  for_each_batch(table, *fitted.pipeline, [&](const EncodedBatch& batch) {
    for (std::size_t i = 0; i < batch.dense.size(); ++i) {
      sum[i % 3] += batch.dense[i];
      squares[i % 3] += double(batch.dense[i]) * batch.dense[i];
    }
  });
  EXPECT_NEAR(sum[0], 0, 1e-3);
  EXPECT_NEAR(squares[0], 900, 1e-2);  // the missing ones are at the mean
  EXPECT_NEAR(sum[1], 0, 1e-3);
  EXPECT_NEAR(squares[1], 1000, 1e-2);
  EXPECT_EQ(sum[2], 100);
}

TEST(FeaturePipeline, TellsWeekdayAndHour) {
  MemoryTable table({{{"y", ColumnType::boolean}, {"t", ColumnType::time}}});
  for (int i = 0; i < 400; ++i)
    table.add({i % 2 == 0, std::int64_t{1'700'000'000'000'000} + i * 5'000'000'000});
  const Fitted fitted = fit(table, spec_for("y"));
  RawTable raw;
  raw.rows = 3;
  raw.columns["t"] = {std::string("2024-05-01T08:30:00Z"), std::string("1969-12-31 23:59"), RawValue()};
  EncodedBatch out;
  std::vector<InputWarning> warnings;
  ASSERT_TRUE(fitted.pipeline->encode(raw, out, warnings));
  ASSERT_EQ(out.slots.size(), 6u);
  EXPECT_TRUE(warnings.empty());
  EXPECT_EQ(fitted.pipeline->weight_name(out.slots[0]).level, "Wednesday");
  EXPECT_EQ(fitted.pipeline->weight_name(out.slots[1]).level, "8:00");
  EXPECT_EQ(fitted.pipeline->weight_name(out.slots[2]).level, "Wednesday");
  EXPECT_EQ(fitted.pipeline->weight_name(out.slots[3]).level, "23:00");
  EXPECT_EQ(out.slots[4], kNoSlot);
}

TEST(FeaturePipeline, EveryWeightHasItsOwnName) {
  MemoryTable table = random_table(1000, 4);
  JobSpec spec = spec_with(FeatureOptions::Categories::onehot, FeatureOptions::Numbers::standardise);
  spec.features.texts = false;
  spec.features.interactions.pop_back();
  const Fitted fitted = fit(table, spec);
  std::set<std::tuple<std::string, std::string, bool>> names;
  for (std::size_t i = 0; i < fitted.pipeline->weights(); ++i) {
    const WeightName name = fitted.pipeline->weight_name(i);
    EXPECT_TRUE(names.emplace(name.input, name.level, name.missing).second)
        << name.input << " " << name.level;
  }
}

TEST(FeaturePipeline, RareAndUnseenLevelsShareAWeight) {
  MemoryTable table({{{"y", ColumnType::boolean}, {"c", ColumnType::category}}});
  for (int i = 0; i < 1000; ++i)
    table.add({i % 2 == 0, "l" + std::to_string(i % 100 < 90 ? i % 3 : i % 100)});
  JobSpec spec = spec_for("y");
  spec.split.valid = spec.split.test = 0;
  spec.features.categories = FeatureOptions::Categories::onehot;
  spec.features.levels_max = 3;
  const Fitted fitted = fit(table, spec);
  EXPECT_EQ(fitted.pipeline->weights(), 4u);
  RawTable raw;
  raw.rows = 4;
  raw.columns["c"] = {std::string("l0"), std::string("l95"), std::string("new"), RawValue()};
  EncodedBatch out;
  std::vector<InputWarning> warnings;
  ASSERT_TRUE(fitted.pipeline->encode(raw, out, warnings));
  EXPECT_EQ(fitted.pipeline->weight_name(out.slots[0]).level, "l0");
  EXPECT_EQ(fitted.pipeline->weight_name(out.slots[1]).level, "(other)");
  EXPECT_EQ(out.slots[1], out.slots[2]);
  EXPECT_EQ(out.slots[3], kNoSlot);  // training had none missing
  ASSERT_EQ(warnings.size(), 2u);
  EXPECT_EQ(warnings[1].code, "unseen_level");
  EXPECT_EQ(warnings[1].row, 2u);
}

TEST(FeaturePipeline, RawOdditiesAreWarnedOf) {
  MemoryTable table = random_table(600, 6);
  const Fitted fitted = fit(table, spec_for("yes"));
  RawTable raw;
  raw.rows = 12;
  raw.columns["real"].assign(12, std::string("abc"));
  raw.columns["whole"].assign(12, std::string(" 12 "));
  raw.columns["flag"].assign(12, std::string("maybe"));
  raw.columns["few"].assign(12, std::string("level 9"));
  raw.columns["number"].assign(12, 1e300);
  raw.columns["yes"].assign(12, true);  // the target: no wonder
  raw.columns["colour"].assign(12, true);
  EncodedBatch out;
  std::vector<InputWarning> warnings;
  ASSERT_TRUE(fitted.pipeline->encode(raw, out, warnings));
  expect_sound(*fitted.pipeline, out);
  const auto count = [&](std::string_view code, std::string_view input) {
    return std::count_if(warnings.begin(), warnings.end(),
                         [&](const InputWarning& w) { return w.code == code && w.input == input; });
  };
  EXPECT_EQ(count("not_a_number", "real"), 6);  // five rows, and how many more
  EXPECT_EQ(count("not_a_number", "whole"), 0);
  EXPECT_EQ(count("not_a_number", "flag"), 6);
  EXPECT_EQ(count("unseen_level", "few"), 6);
  EXPECT_EQ(count("missing_column", "when"), 1);
  EXPECT_EQ(count("missing_column", "number"), 0);
  EXPECT_EQ(count("extra_column", "colour"), 1);
  EXPECT_EQ(count("extra_column", "yes"), 0);
}

TEST(FeaturePipeline, OtherTypesAndOrdersOfColumnsAreReadByName) {
  MemoryTable table({{{"y", ColumnType::boolean}, {"n", ColumnType::integer}, {"c", ColumnType::category}}});
  for (int i = 0; i < 500; ++i) table.add({i % 2 == 0, std::int64_t{i % 9}, std::to_string(i % 5)});
  JobSpec spec = spec_for("y");
  spec.inputs = {"n", "c"};
  const Fitted fitted = fit(table, spec);
  MemoryTable other({{{"c", ColumnType::integer}, {"x", ColumnType::text}, {"n", ColumnType::category}}});
  for (int i = 0; i < 100; ++i)
    other.add(
        {std::int64_t{i % 5}, std::string("text"), i == 7 ? std::string("seven") : std::to_string(i % 9)});
  const auto warnings = fitted.pipeline->check_columns(other.schema());
  ASSERT_EQ(warnings.size(), 2u);
  EXPECT_EQ(warnings[0].code, "other_type");
  EncodedBatch from_raw;
  std::vector<InputWarning> raw_warnings;
  RawTable raw = table.raw(0, 100);
  raw.columns["n"][7] = RawValue();
  ASSERT_TRUE(fitted.pipeline->encode(raw, from_raw, raw_warnings));
  for_each_batch(other, *fitted.pipeline, [&](const EncodedBatch& batch) { expect_same(batch, from_raw); });

  MemoryTable without({{{"n", ColumnType::real}}});
  without.add({3.0});
  EXPECT_EQ(fitted.pipeline->check_columns(without.schema()).front().code, "missing_column");
  for_each_batch(without, *fitted.pipeline, [&](const EncodedBatch& batch) {
    EXPECT_EQ(batch.slots, std::vector<std::uint32_t>{kNoSlot});
  });
}

TEST(FeaturePipeline, NeedsNoWholeReadForHashesAlone) {
  MemoryTable table({{{"y", ColumnType::boolean}, {"n", ColumnType::integer}, {"c", ColumnType::category}}},
                    100);
  for (int i = 0; i < 1000; ++i) table.add({i % 2 == 0, std::int64_t{i}, std::to_string(i)});
  JobSpec spec = spec_for("y");
  spec.features.categories = FeatureOptions::Categories::hash;
  spec.features.numbers = FeatureOptions::Numbers::hash;
  spec.features.hash_bits = 20;
  const Fitted fitted = fit(table, spec);
  EXPECT_EQ(fitted.pipeline->weights(), 1u << 20);
  EXPECT_EQ(fitted.pipeline->plan().inputs[0].max, 99);  // of the first block
  std::set<std::uint32_t> places;
  for_each_batch(table, *fitted.pipeline,
                 [&](const EncodedBatch& batch) { places.insert(batch.slots.begin(), batch.slots.end()); });
  // A thousand levels, and a few dozen tokens for numbers up to a thousand.
  EXPECT_GT(places.size(), 1020u);
  EXPECT_LT(places.size(), 1060u);
}

}  // namespace
}  // namespace samovar::trainer
