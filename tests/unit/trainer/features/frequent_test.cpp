#include "trainer/features/frequent.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <set>

#include "base/json.hpp"
#include "tests/support/memory_table.hpp"
#include "tests/unit/trainer/features/fitted.hpp"
#include "trainer/data/level_hash.hpp"
#include "trainer/data/order.hpp"
#include "trainer/features/fit.hpp"
#include "trainer/features/tokens.hpp"

namespace samovar::trainer {
namespace {

using tests::MemoryTable;

// Level i is in about 8000 / (i + 1) rows of 60,000 and has eight letters, or as many as `i`: both have loops
// of their own. A tenth of the numbers is missing.
MemoryTable skewed_table(bool eight_letters, std::uint32_t block_rows = 3000) {
  MemoryTable table({{{"y", ColumnType::boolean}, {"c", ColumnType::category}, {"n", ColumnType::integer}}},
                    block_rows);
  SeededOrder order(5);
  for (std::uint32_t row = 0; row < 60'000; ++row) {
    const double share = static_cast<double>(order.next() >> 11) * 0x1p-53;
    const auto level = static_cast<unsigned>(std::exp(share * std::log(2000.0)) - 1);
    char text[16];
    std::snprintf(text, sizeof text, eight_letters ? "%08x" : "level %u", level);
    table.add({order.next() % 2 == 0, std::string(text),
               row % 10 == 0 ? RawValue() : RawValue(static_cast<std::int64_t>(order.next() % 40))});
  }
  return table;
}

JobSpec hashing_spec() {
  JobSpec spec = spec_for("y");
  spec.features.categories = FeatureOptions::Categories::hash;
  spec.features.numbers = FeatureOptions::Numbers::hash;
  spec.features.hash_bits = 12;
  return spec;
}

std::uint32_t place_of(const FeaturePipeline& pipeline, const RawValue& level, const RawValue& number) {
  RawTable row;
  row.rows = 1;
  row.columns["c"] = {level};
  row.columns["n"] = {number};
  EncodedBatch out;
  std::vector<InputWarning> warnings;
  EXPECT_TRUE(pipeline.encode(row, out, warnings));
  return std::holds_alternative<std::monostate>(number) ? out.slots[0] : out.slots[1];
}
std::uint32_t place_of(const FeaturePipeline& pipeline, const std::string& level) {
  return place_of(pipeline, level, RawValue());
}

// Only some blocks are this worker's.
class SomeBlocks final : public BlockSource {
 public:
  SomeBlocks(BlockSource& all, std::vector<bool> own) : all_(all), own_(std::move(own)) {}
  std::size_t blocks() const override { return all_.blocks(); }
  std::uint32_t rows(std::size_t block) const override { return own_[block] ? all_.rows(block) : 0; }
  std::uint32_t rows_of_all(std::size_t block) const override { return all_.rows(block); }
  Result<void> read(std::size_t block, Bytes& out) override { return all_.read(block, out); }

 private:
  BlockSource& all_;
  const std::vector<bool> own_;
};

TEST(Frequent, ValuesShareTheirPlacesWithNoOther) {
  for (const bool eight_letters : {true, false}) {
    MemoryTable table = skewed_table(eight_letters);
    const Fitted fitted = fit(table, hashing_spec());
    const PipelinePlan& plan = fitted.pipeline->plan();
    EXPECT_EQ(plan.weights, 4096u);  // those of their own are among them
    ASSERT_GT(plan.inputs[0].frequent.size(), 100u);
    ASSERT_GT(plan.inputs[1].frequent_numbers.size(), 10u);
    EXPECT_TRUE(plan.inputs[1].frequent_missing);
    EXPECT_FALSE(plan.inputs[0].frequent_missing);
    EXPECT_EQ(plan.inputs[0].frequent.front(), eight_letters ? "00000000" : "level 0");

    std::set<std::uint32_t> own;
    for (const std::string& level : plan.inputs[0].frequent) {
      EXPECT_TRUE(own.insert(place_of(*fitted.pipeline, level)).second) << level;
      EXPECT_EQ(fitted.pipeline->weight_name(place_of(*fitted.pipeline, level)).level, level);
    }
    for (const std::uint16_t token : plan.inputs[1].frequent_numbers)
      EXPECT_TRUE(
          own.insert(place_of(*fitted.pipeline, std::string("x"), Tokens::least_number(token))).second);
    EXPECT_EQ(own.size() + 1, plan.own_places);
    EXPECT_LE(plan.own_places, own_places_max(12));
    EXPECT_EQ(*own.rbegin() + 2, plan.hash_first + plan.own_places);  // a missing number has the last
    // Rare levels and those that nobody ever saw are hashed, past them.
    std::set<std::uint32_t> others;
    for (int i = 0; i < 3000; ++i) {
      const std::uint32_t place = place_of(*fitted.pipeline, "unseen " + std::to_string(i));
      EXPECT_GE(place, plan.hash_first + plan.own_places);
      ASSERT_LT(place, plan.weights);
      others.insert(place);
    }
    EXPECT_GT(others.size(), 1500u);

    // Without them some of the very same levels meet.
    JobSpec shared = hashing_spec();
    shared.features.frequent_levels = 0;
    const Fitted plain = fit(table, shared);
    EXPECT_EQ(plain.pipeline->plan().own_places, 0u);
    std::set<std::uint32_t> met;
    for (const std::string& level : plan.inputs[0].frequent) met.insert(place_of(*plain.pipeline, level));
    EXPECT_LT(met.size(), plan.inputs[0].frequent.size());
  }
}

TEST(Frequent, BlocksAndRawRowsAgree) {
  for (const bool eight_letters : {true, false}) {
    MemoryTable table = skewed_table(eight_letters);
    const Fitted fitted = fit(table, hashing_spec());
    std::uint32_t first = 0;
    for_each_batch(table, *fitted.pipeline, [&](const EncodedBatch& batch) {
      EncodedBatch raw;
      std::vector<InputWarning> warnings;
      ASSERT_TRUE(fitted.pipeline->encode(table.raw(first, batch.rows), raw, warnings));
      ASSERT_EQ(batch.slots, raw.slots);
      first += batch.rows;
    });
    EXPECT_EQ(first, 60'000u);
  }
}

TEST(Frequent, OnlyRowsThatTrainCount) {
  MemoryTable table({{{"y", ColumnType::boolean}, {"c", ColumnType::category}, {"t", ColumnType::time}}});
  for (int i = 0; i < 1000; ++i)
    table.add(
        {i % 2 == 0, std::string(i < 700 ? (i % 3 == 0 ? "a" : "b") : "late"), std::int64_t{i} * 1'000'000});
  JobSpec spec = hashing_spec();
  spec.split.kind = SplitSpec::Kind::time;
  spec.split.column = "t";
  const Fitted fitted = fit(table, spec);
  EXPECT_EQ(fitted.pipeline->plan().inputs[0].frequent, (std::vector<std::string>{"b", "a"}));
}

TEST(Frequent, AtMostAsManyAsAskedFor) {
  MemoryTable table = skewed_table(true);
  JobSpec spec = hashing_spec();
  spec.features.frequent_levels = 20;
  EXPECT_EQ(fit(table, spec).pipeline->plan().own_places, 20u);
  spec.features.frequent_levels.reset();
  spec.features.hash_bits = 10;  // an eighth of the places at most
  EXPECT_EQ(fit(table, spec).pipeline->plan().own_places, 128u);
}

TEST(Frequent, AColumnWithTooManyLevelsHasThemToo) {
  MemoryTable table = skewed_table(false);
  JobSpec spec = hashing_spec();
  spec.features.hash_bits = 16;  // room for all of them
  const Fitted asked = fit(table, spec);
  spec.features.categories = FeatureOptions::Categories::automatic;
  spec.features.numbers = FeatureOptions::Numbers::standardise;
  spec.features.levels_max = 50;
  const Fitted fitted = fit(table, spec);
  const auto& inputs = fitted.pipeline->plan().inputs;
  ASSERT_EQ(inputs[0].treatment, Treatment::level_hash);
  EXPECT_EQ(inputs[0].frequent, asked.pipeline->plan().inputs[0].frequent);
}

TEST(Frequent, AnySpreadOverWorkersGivesTheSamePlaces) {
  MemoryTable table = skewed_table(true, 300);
  const JobSpec spec = hashing_spec();
  const auto splitter = *Splitter::make(table, table.schema(), spec);
  std::vector<std::string> notes;
  const auto alone = fit_plan(table, table.schema(), spec, *splitter, notes);
  ASSERT_TRUE(alone);
  for (const std::size_t workers : {1u, 2u, 3u, 7u}) {
    std::vector<Bytes> parts;
    for (std::size_t worker = 0; worker < workers; ++worker) {
      std::vector<bool> own(table.blocks());
      for (std::size_t block = 0; block < own.size(); ++block) own[block] = block * 5 % workers == worker;
      SomeBlocks some(table, std::move(own));
      auto part = fit_part(some, table.schema(), spec, *splitter);
      ASSERT_TRUE(part) << part.error().message();
      parts.push_back(*std::move(part));
    }
    for (int turn = 0; turn < 2; ++turn) {
      const auto merged = fit_merged(parts, table.schema(), spec, notes);
      ASSERT_TRUE(merged) << merged.error().message();
      for (std::size_t i = 0; i < merged->inputs.size(); ++i) {
        EXPECT_EQ(merged->inputs[i].frequent, alone->inputs[i].frequent);
        EXPECT_EQ(merged->inputs[i].frequent_numbers, alone->inputs[i].frequent_numbers);
        EXPECT_EQ(merged->inputs[i].frequent_missing, alone->inputs[i].frequent_missing);
      }
      std::reverse(parts.begin(), parts.end());
    }
  }
}

TEST(Frequent, TheSampleIsBoundedAndTheSameForAllWorkers) {
  class Large final : public BlockSource {
   public:
    std::size_t blocks() const override { return 1000; }
    std::uint32_t rows(std::size_t block) const override { return block < 500 ? 50'000 : 40'000; }
    Result<void> read(std::size_t, Bytes&) override { return Error{Errc::internal, "is not read"}; }
  };
  Large all;
  const std::vector<bool> sample = frequent_sample(all);
  std::uint64_t rows = 0, late = 0;
  for (std::size_t block = 0; block < sample.size(); ++block) {
    rows += sample[block] ? all.rows(block) : 0;
    late += sample[block] && block >= 500 ? 1 : 0;
  }
  EXPECT_GT(rows, 70'000u);
  EXPECT_LT(rows, 200'000u);
  EXPECT_GE(late, 1u);
  std::vector<bool> own(1000);
  own[17] = true;
  EXPECT_EQ(frequent_sample(SomeBlocks(all, std::move(own))), sample);
  // However many columns there are, what is counted stays within bounds.
  EXPECT_LE(frequent_limits(6, 4096).levels_most * 6 * 4096, std::size_t{1} << 20);
}

TEST(Frequent, ComeBackFromJsonAndDamageIsRefused) {
  MemoryTable table = skewed_table(false);
  const Fitted fitted = fit(table, hashing_spec());
  const nlohmann::json json = fitted.pipeline->to_json();
  EXPECT_EQ(json["version"], 2);
  const auto again = FeaturePipeline::from_json(json);
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_EQ((*again)->to_json(), json);
  for (const std::string level : {"level 0", "level 7", "level 1999", "never"})
    EXPECT_EQ(place_of(**again, level), place_of(*fitted.pipeline, level));

  const auto refused = [&](auto change) {
    nlohmann::json other = json;
    change(other, other["inputs"][0], other["inputs"][1]);
    return !FeaturePipeline::from_json(other).has_value();
  };
  using Json = nlohmann::json;
  EXPECT_FALSE(refused([](Json&, Json&, Json&) {}));
  EXPECT_TRUE(refused([](Json&, Json& c, Json&) { c["frequent"].push_back(c["frequent"][0]); }));
  EXPECT_TRUE(refused([](Json&, Json& c, Json&) { c["frequent"].push_back(""); }));
  EXPECT_TRUE(refused([](Json&, Json& c, Json&) { c["frequent"].push_back(7); }));
  EXPECT_TRUE(refused([](Json&, Json& c, Json&) { c.erase("frequent"); }));
  EXPECT_TRUE(refused([](Json&, Json& c, Json&) { c["frequent_missing"] = 1; }));
  EXPECT_TRUE(refused([](Json&, Json&, Json& n) { n["frequent"].push_back(n["frequent"][0]); }));
  EXPECT_TRUE(refused([](Json&, Json&, Json& n) { n["frequent"].push_back(Tokens::kNumberTokens); }));
  EXPECT_TRUE(refused([](Json&, Json&, Json& n) { n["frequent"].push_back(Tokens::kNoNumber); }));
  EXPECT_TRUE(refused([](Json&, Json&, Json& n) { n["frequent"].push_back(-1); }));
  EXPECT_TRUE(refused([](Json& all, Json&, Json&) { all["version"] = 1; }));
  EXPECT_TRUE(refused([](Json& all, Json&, Json&) { all["version"] = 3; }));
  EXPECT_TRUE(refused([](Json& all, Json& c, Json&) {  // more than an eighth of the places
    for (int i = 0; i < 600; ++i) c["frequent"].push_back("more " + std::to_string(i));
    all["weights"] = 4096;
  }));
  EXPECT_TRUE(refused([](Json&, Json& c, Json& n) {  // none at all is the other version
    c["frequent"] = n["frequent"] = Json::array();
    c["frequent_missing"] = n["frequent_missing"] = false;
  }));
}

// Models that were trained before score as they did: the places of version 1, worked out as it says.
TEST(Frequent, PipelinesWithoutThemHashAsEver) {
  const auto json = nlohmann::json::parse(R"({"version":1,
      "target":{"name":"y","type":"boolean","classes":["false","true"]},
      "weight":null,"offset":null,"exposure":null,"hash_bits":18,"hash_seed":7,
      "inputs":[{"name":"c","type":"category","sensitive":false,"as":"level_hash"},
                {"name":"n","type":"integer","sensitive":false,"as":"number_hash","fill":1,"min":0,"max":9}],
      "interactions":[],"unused":[],"weights":262144})");
  const auto pipeline = FeaturePipeline::from_json(json);
  ASSERT_TRUE(pipeline) << pipeline.error().message();
  EXPECT_EQ((*pipeline)->to_json(), json);
  const std::uint64_t seed = SeededOrder::mix(7);
  for (const std::string level : {"a", "68fd1e64", "a longer one than that", "\x1fmissing"})
    EXPECT_EQ(place_of(**pipeline, level), level_hash(seed, 0, level) >> (64 - 18)) << level;
  EXPECT_EQ(place_of(**pipeline, ""), level_hash(seed, 0, kMissingToken) >> (64 - 18));
  for (const double number : {0.0, 1.0, 5.5, -3e9, 1e300}) {
    std::uint64_t x = (std::bit_cast<std::uint64_t>(number) >> 50) ^ SeededOrder::derive(7, 0x6e00'0001);
    for (int turn = 0; turn < 2; ++turn) x = (x ^ (x >> 32)) * 0xd6e8'feb8'6659'fd93;
    EXPECT_EQ(place_of(**pipeline, std::string("x"), number), x >> (64 - 18)) << number;
  }
}

}  // namespace
}  // namespace samovar::trainer
