#include "trainer/data/reader.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <map>
#include <set>
#include <string>

#include "tests/support/block_samples.hpp"

namespace samovar::trainer {
namespace {

// Blocks in memory: a row's number in all of them, its category, and a text that says the same.
class MemorySource final : public BlockSource {
 public:
  explicit MemorySource(std::vector<std::uint32_t> sizes) : sizes_(std::move(sizes)) {
    std::uint32_t row_number = 0;
    for (const std::uint32_t rows : sizes_) {
      BlockColumn number = tests::column_of(ColumnType::integer);
      BlockColumn half = tests::column_of(ColumnType::real);
      BlockColumn text = tests::column_of(ColumnType::text);
      BlockColumn category = tests::column_of(ColumnType::category);
      std::map<std::string, std::uint32_t> known;
      for (std::uint32_t i = 0; i < rows; ++i, ++row_number) {
        number.integers.push_back(row_number);
        half.reals.push_back(row_number / 2.0);
        half.valid.push_back(row_number % 7 == 0 ? 0 : 1);
        const std::string words = "row " + std::to_string(row_number);
        text.chars.insert(text.chars.end(), words.begin(), words.end());
        text.ends.push_back(static_cast<std::uint32_t>(text.chars.size()));
        const std::string level = "level " + std::to_string(row_number % 11);
        const auto [at, fresh] = known.emplace(level, static_cast<std::uint32_t>(known.size()));
        if (fresh) {
          category.chars.insert(category.chars.end(), level.begin(), level.end());
          category.ends.push_back(static_cast<std::uint32_t>(category.chars.size()));
        }
        category.codes.push_back(at->second);
        category.valid.push_back(row_number % 5 == 0 ? 0 : 1);
      }
      blocks_.push_back(tests::encoded(rows, {number, half, text, category}));
    }
    rows_ = row_number;
  }
  static Schema schema() {
    return {{{"number", ColumnType::integer},
             {"half", ColumnType::real},
             {"text", ColumnType::text},
             {"category", ColumnType::category}}};
  }
  std::uint32_t all_rows() const { return rows_; }
  void damage(std::size_t block) { blocks_[block][20] ^= 0xff; }

  std::size_t blocks() const override { return sizes_.size(); }
  std::uint32_t rows(std::size_t block) const override { return sizes_[block]; }
  Result<void> read(std::size_t block, Bytes& out) override {
    ++reads;
    out = blocks_[block];
    return {};
  }
  std::atomic<std::size_t> reads = 0;  // two readers may share a source that changes nothing

 private:
  const std::vector<std::uint32_t> sizes_;
  std::vector<Bytes> blocks_;
  std::uint32_t rows_ = 0;
};

ReadPlan plan_of(std::uint32_t batch_rows, bool shuffled) {
  ReadPlan plan;
  plan.numbers = {0, 1};
  plan.categories = {3};
  plan.batch_rows = batch_rows;
  plan.shuffle_blocks = shuffled;
  plan.shuffle_rows = shuffled;
  return plan;
}

std::unique_ptr<BatchReader> opened(BlockSource& source, const Schema& schema, const ReadPlan& plan,
                                    std::optional<DataCursor> from = std::nullopt) {
  auto reader = BatchReader::open(source, schema, plan, from);
  EXPECT_TRUE(reader) << reader.error().message();
  return reader ? *std::move(reader) : nullptr;
}

// The numbers of the rows up to the end of the pass, and whether every other column agrees with them.
std::vector<std::uint32_t> one_pass(BatchReader& reader) {
  std::vector<std::uint32_t> rows;
  for (;;) {
    const auto batch = reader.next();
    if (!batch) ADD_FAILURE() << batch.error().message();
    if (!batch || *batch == nullptr) return rows;
    const Batch& b = **batch;
    for (std::uint32_t i = 0; i < b.rows(); ++i) {
      const auto number = static_cast<std::uint32_t>(b.numbers(0)[i]);
      rows.push_back(number);
      const float half = b.numbers(1)[i];
      EXPECT_TRUE(number % 7 == 0 ? std::isnan(half) : half == static_cast<float>(number) / 2) << number;
      const std::uint32_t place = b.block_row(i);
      EXPECT_EQ(b.block().text(2, place), "row " + std::to_string(number));
      const std::uint32_t code = b.codes(0)[i];
      if (number % 5 == 0) {
        EXPECT_EQ(code, BlockView::kMissingCode);
      } else {
        EXPECT_EQ(b.block().level(3, code), "level " + std::to_string(number % 11));
      }
    }
  }
}

TEST(BatchReader, InOrderEveryRowOnce) {
  for (const std::size_t ahead : {0u, 1u, 3u}) {
    MemorySource source({100, 0, 1, 64, 333});
    ReadPlan plan = plan_of(50, false);
    plan.blocks_ahead = ahead;
    const Schema schema = MemorySource::schema();
    const auto reader = opened(source, schema, plan);
    const auto rows = one_pass(*reader);
    ASSERT_EQ(rows.size(), source.all_rows());
    for (std::uint32_t i = 0; i < rows.size(); ++i) EXPECT_EQ(rows[i], i);
    EXPECT_EQ(one_pass(*reader).size(), 0u);  // after the last pass
  }
}

TEST(BatchReader, ShuffledEveryRowOnceAndEveryPassAnother) {
  MemorySource source({100, 200, 300, 5});
  ReadPlan plan = plan_of(64, true);
  plan.passes = 3;
  const Schema schema = MemorySource::schema();
  const auto reader = opened(source, schema, plan);
  std::set<std::vector<std::uint32_t>> orders;
  for (int pass = 0; pass < 3; ++pass) {
    const auto rows = one_pass(*reader);
    EXPECT_EQ(rows.size(), source.all_rows());
    EXPECT_EQ(std::set<std::uint32_t>(rows.begin(), rows.end()).size(), source.all_rows());
    orders.insert(rows);
  }
  EXPECT_EQ(orders.size(), 3u);
}

TEST(BatchReader, OfManyBlocksNeighboursStayTogether) {
  constexpr std::uint32_t kBlocks = 67;  // the last run is shorter
  constexpr std::uint32_t kRun = 4;
  MemorySource source(std::vector<std::uint32_t>(kBlocks, 3));
  ReadPlan plan = plan_of(3, true);
  plan.shuffle_rows = false;
  plan.passes = 2;
  const Schema schema = MemorySource::schema();
  const auto reader = opened(source, schema, plan);
  const auto first = one_pass(*reader);
  const auto second = one_pass(*reader);
  EXPECT_NE(first, second);
  for (const auto& rows : {first, second}) {
    ASSERT_EQ(std::set<std::uint32_t>(rows.begin(), rows.end()).size(), source.all_rows());
    for (std::size_t i = 1; i < rows.size(); ++i) {
      if (rows[i] % (3 * kRun) != 0) {
        EXPECT_EQ(rows[i], rows[i - 1] + 1);
      }
    }
  }
}

TEST(BatchReader, TheSeedDecidesNotTheThreads) {
  MemorySource source({100, 200, 300, 5, 70, 80});
  const Schema schema = MemorySource::schema();
  std::vector<std::uint32_t> first;
  for (const std::size_t ahead : {0u, 1u, 5u}) {
    ReadPlan plan = plan_of(32, true);
    plan.blocks_ahead = ahead;
    const auto rows = one_pass(*opened(source, schema, plan));
    if (first.empty()) first = rows;
    EXPECT_EQ(rows, first);
  }
  ReadPlan other = plan_of(32, true);
  other.seed = 2;
  EXPECT_NE(one_pass(*opened(source, schema, other)), first);
}

TEST(BatchReader, RowsAndColumnsHoldTheSame) {
  MemorySource source({130, 7});
  const Schema schema = MemorySource::schema();
  for (const bool shuffled : {false, true}) {
    ReadPlan plan = plan_of(100, shuffled);
    for (int i = 0; i < 20; ++i) plan.numbers.push_back(i % 2 == 0 ? 0 : 1);  // wider than a tile
    plan.categories = {3, 3, 3};
    ReadPlan by_rows = plan;
    by_rows.layout = ReadPlan::Layout::rows;
    const auto a = opened(source, schema, plan);
    const auto b = opened(source, schema, by_rows);
    for (int n = 0; n < 3; ++n) {
      const auto x = a->next();
      const auto y = b->next();
      ASSERT_TRUE(x && y && *x != nullptr && *y != nullptr);
      ASSERT_EQ((*x)->rows(), (*y)->rows());
      for (std::uint32_t row = 0; row < (*x)->rows(); ++row) {
        for (std::size_t c = 0; c < plan.numbers.size(); ++c) {
          const float left = (*x)->numbers(c)[row];
          const float right = (*y)->number_row(row)[c];
          ASSERT_TRUE(left == right || (std::isnan(left) && std::isnan(right)));
        }
        for (std::size_t c = 0; c < 3; ++c) ASSERT_EQ((*x)->codes(c)[row], (*y)->code_row(row)[c]);
      }
    }
  }
}

TEST(BatchReader, GoesOnWhereACursorWasSaved) {
  MemorySource source({100, 33, 250});
  const Schema schema = MemorySource::schema();
  ReadPlan plan = plan_of(40, true);
  plan.passes = 2;
  // All batches of two passes, with the ends of passes as empty ones.
  const auto rest = [&](BatchReader& reader) {
    std::vector<std::vector<float>> batches;
    while (reader.pass() < plan.passes) {
      const auto batch = reader.next();
      EXPECT_TRUE(batch);
      batches.emplace_back();
      if (*batch != nullptr) batches.back().assign((*batch)->numbers(0).begin(), (*batch)->numbers(0).end());
    }
    return batches;
  };
  const auto whole = rest(*opened(source, schema, plan));
  ASSERT_GT(whole.size(), 20u);
  for (std::size_t cut = 0; cut < whole.size(); ++cut) {
    const auto first = opened(source, schema, plan);
    for (std::size_t i = 0; i < cut; ++i) ASSERT_TRUE(first->next());
    const auto saved = decode_cursor(encode_cursor(first->cursor()));
    ASSERT_TRUE(saved);
    EXPECT_EQ(*saved, first->cursor());
    const auto second = opened(source, schema, plan, *saved);
    const auto after = rest(*second);
    EXPECT_EQ(after,
              std::vector<std::vector<float>>(whole.begin() + static_cast<std::ptrdiff_t>(cut), whole.end()));
  }
}

TEST(BatchReader, RefusesACursorOfAnotherPlan) {
  MemorySource source({100, 33, 250});
  MemorySource other({100, 33, 251});
  const Schema schema = MemorySource::schema();
  const ReadPlan plan = plan_of(40, true);
  const DataCursor cursor = opened(source, schema, plan)->cursor();
  ReadPlan smaller = plan;
  smaller.batch_rows = 20;
  EXPECT_TRUE(BatchReader::open(source, schema, plan, cursor));
  EXPECT_EQ(BatchReader::open(source, schema, smaller, cursor).error().code(), Errc::conflict);
  EXPECT_EQ(BatchReader::open(other, schema, plan, cursor).error().code(), Errc::conflict);
  Bytes bytes = encode_cursor(cursor);
  bytes[0] ^= 1;
  EXPECT_EQ(decode_cursor(bytes).error().code(), Errc::corrupt);
  EXPECT_EQ(decode_cursor({}).error().code(), Errc::corrupt);
}

TEST(BatchReader, ReadsTheBlocksOfItsPlanAlone) {
  MemorySource source({10, 20, 30, 40});
  const Schema schema = MemorySource::schema();
  ReadPlan plan = plan_of(64, false);
  plan.blocks = {3, 1};
  const auto rows = one_pass(*opened(source, schema, plan));
  ASSERT_EQ(rows.size(), 60u);
  EXPECT_EQ(rows.front(), 60u);
  EXPECT_EQ(rows.back(), 29u);
}

TEST(BatchReader, LevelsGetTheModelsCodes) {
  MemorySource source({200, 300});
  const Schema schema = MemorySource::schema();
  const HashedLevels hashed(20, 5);
  ReadPlan plan = plan_of(128, true);
  plan.levels = &hashed;
  const auto reader = opened(source, schema, plan);
  std::set<std::uint32_t> seen;
  for (;;) {
    const auto batch = reader->next();
    ASSERT_TRUE(batch);
    if (*batch == nullptr) break;
    for (std::uint32_t i = 0; i < (*batch)->rows(); ++i) {
      const auto number = static_cast<std::uint32_t>((*batch)->numbers(0)[i]);
      const std::uint32_t expected =
          number % 5 == 0 ? BlockView::kMissingCode : hashed.code(3, "level " + std::to_string(number % 11));
      ASSERT_EQ((*batch)->codes(0)[i], expected);
      if (number % 5 != 0) seen.insert(expected);
    }
  }
  EXPECT_EQ(seen.size(), 11u);
  for (const std::uint32_t code : seen) EXPECT_LT(code, 1u << 20);
}

TEST(HashedLevels, TellColumnsSeedsAndLengthsApart) {
  const HashedLevels a(31, 1), b(31, 2);
  EXPECT_NE(a.code(0, "x"), a.code(1, "x"));
  EXPECT_NE(a.code(0, "x"), b.code(0, "x"));
  EXPECT_NE(a.code(0, "x"), a.code(0, std::string_view("x\0", 2)));
  EXPECT_NE(a.code(0, "12345678"), a.code(0, "123456789"));
  EXPECT_EQ(a.code(0, "12345678"), a.code(0, "12345678"));
}

// Models are kept: what a level's number was, it stays.
TEST(HashedLevels, NeverChange) {
  const HashedLevels levels(24, 1);
  EXPECT_EQ(levels.code(0, ""), 9510523u);
  EXPECT_EQ(levels.code(3, "68fd1e64"), 11469493u);
  EXPECT_EQ(levels.code(25, "ward number twelve"), 13361396u);
}

TEST(HashedLevels, SpreadEvenly) {
  const HashedLevels levels(8, 9);
  std::vector<unsigned> counts(256);
  for (std::uint32_t i = 0; i < 256'000; ++i) {
    char digits[9];
    std::snprintf(digits, sizeof digits, "%08x", i);
    ++counts[levels.code(1, digits)];
  }
  // 1000 expected in each, about 32 off by luck.
  for (const unsigned count : counts) EXPECT_TRUE(count > 800 && count < 1200) << count;
}

TEST(BatchReader, SaysWhichBlockIsDamaged) {
  for (const std::size_t ahead : {0u, 2u}) {
    MemorySource source({10, 20, 30});
    source.damage(1);
    const Schema schema = MemorySource::schema();
    ReadPlan plan = plan_of(64, false);
    plan.blocks_ahead = ahead;
    const auto reader = opened(source, schema, plan);
    ASSERT_TRUE(reader->next());
    const auto bad = reader->next();
    ASSERT_FALSE(bad);
    EXPECT_EQ(bad.error().code(), Errc::corrupt);
    EXPECT_NE(bad.error().message().find("block 1"), std::string::npos);
    EXPECT_FALSE(reader->next());
  }
}

TEST(BatchReader, RefusesAPlanTheSchemaCannotFill) {
  MemorySource source({10});
  const Schema schema = MemorySource::schema();
  const auto refused = [&](auto change) {
    ReadPlan plan = plan_of(10, false);
    change(plan);
    const auto reader = BatchReader::open(source, schema, plan);
    return !reader && reader.error().code() == Errc::invalid;
  };
  EXPECT_FALSE(refused([](ReadPlan&) {}));
  EXPECT_TRUE(refused([](ReadPlan& plan) { plan.numbers = {2}; }));
  EXPECT_TRUE(refused([](ReadPlan& plan) { plan.numbers = {4}; }));
  EXPECT_TRUE(refused([](ReadPlan& plan) { plan.categories = {0}; }));
  EXPECT_TRUE(refused([](ReadPlan& plan) { plan.batch_rows = 0; }));
  EXPECT_TRUE(refused([](ReadPlan& plan) { plan.blocks = {1}; }));
}

TEST(BatchReader, EndsWithItsThreadAtWork) {
  MemorySource source(std::vector<std::uint32_t>(50, 100));
  const Schema schema = MemorySource::schema();
  for (std::size_t batches = 0; batches < 20; ++batches) {
    ReadPlan plan = plan_of(64, true);
    plan.passes = 0;
    const auto reader = opened(source, schema, plan);
    for (std::size_t i = 0; i < batches; ++i) ASSERT_TRUE(reader->next());
  }
}

TEST(BatchReader, ReadsNoMoreThanItIsAllowedAhead) {
  MemorySource source(std::vector<std::uint32_t>(50, 100));
  const Schema schema = MemorySource::schema();
  ReadPlan plan = plan_of(100, false);
  plan.blocks_ahead = 0;
  const auto reader = opened(source, schema, plan);
  EXPECT_EQ(source.reads, 0u);
  for (std::size_t i = 1; i <= 5; ++i) {
    ASSERT_TRUE(reader->next());
    EXPECT_EQ(source.reads, i);
  }
}

}  // namespace
}  // namespace samovar::trainer
