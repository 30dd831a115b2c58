#include "trainer/data/block.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "tests/support/block_samples.hpp"
#include "trainer/data/block_format.hpp"

namespace samovar::trainer {
namespace {

using tests::column_of;
using tests::encoded;
using tests::with_holes;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

BlockView opened(const Bytes& bytes, const Schema& schema) {
  auto view = BlockView::open(bytes, schema);
  EXPECT_TRUE(view) << view.error().message();
  return view ? *view : BlockView();
}

block_format::ColumnHead head_of(const Bytes& bytes, std::size_t column = 0) {
  block_format::ColumnHead head;
  std::memcpy(&head, bytes.data() + sizeof(block_format::BlockHead) + column * sizeof head, sizeof head);
  return head;
}
block_format::Encoding encoding_of(const Bytes& bytes) {
  return static_cast<block_format::Encoding>(head_of(bytes).encoding);
}

// Every row, in one go and from an odd place on.
void expect_integers(const BlockColumn& column, std::uint32_t rows, unsigned width) {
  const Bytes bytes = encoded(rows, {column});
  EXPECT_EQ(head_of(bytes).width, width);
  const Schema schema{{{"a", column.type}}};
  const BlockView view = opened(bytes, schema);
  ASSERT_EQ(view.rows(), rows);
  for (const std::uint32_t first : {0u, std::min(rows, 3u)}) {
    std::vector<std::int64_t> out(rows - first);
    std::vector<double> reals(rows - first);
    std::vector<float> floats(rows - first);
    view.integers(0, first, out);
    view.reals(0, first, reals);
    view.reals(0, first, floats);
    for (std::uint32_t i = 0; i < out.size(); ++i) {
      const bool valid = column.valid.empty() || column.valid[first + i] != 0;
      ASSERT_EQ(view.valid(0, first + i), valid);
      ASSERT_EQ(out[i], valid ? column.integers[first + i] : 0);
      if (!valid) {
        ASSERT_TRUE(std::isnan(reals[i]) && std::isnan(floats[i]));
        continue;
      }
      ASSERT_EQ(reals[i], static_cast<double>(column.integers[first + i]));
      ASSERT_EQ(floats[i], static_cast<float>(static_cast<double>(column.integers[first + i])));
    }
  }
}

void expect_reals(const BlockColumn& column, std::uint32_t rows, block_format::Encoding encoding) {
  const Bytes bytes = encoded(rows, {column});
  EXPECT_EQ(encoding_of(bytes), encoding);
  const Schema schema{{{"a", ColumnType::real}}};
  const BlockView view = opened(bytes, schema);
  for (const std::uint32_t first : {0u, std::min(rows, 5u)}) {
    std::vector<double> out(rows - first);
    std::vector<float> floats(rows - first);
    view.reals(0, first, out);
    view.reals(0, first, floats);
    for (std::uint32_t i = 0; i < out.size(); ++i) {
      const bool valid = column.valid.empty() || column.valid[first + i] != 0;
      ASSERT_EQ(view.valid(0, first + i), valid);
      if (!valid) {
        ASSERT_TRUE(std::isnan(out[i]) && std::isnan(floats[i]));
        continue;
      }
      const double was = column.reals[first + i];
      ASSERT_EQ(std::bit_cast<std::uint64_t>(out[i]), std::bit_cast<std::uint64_t>(was)) << was;
      ASSERT_EQ(std::bit_cast<std::uint32_t>(floats[i]),
                std::bit_cast<std::uint32_t>(static_cast<float>(was)));
    }
  }
}

constexpr std::uint32_t kSizes[] = {0, 1, 2, 7, 8, 9, 63, 64, 65, 1000, 1025, 65'535, 65'536};

TEST(Block, IntegersTakeTheBytesTheirRangeNeeds) {
  constexpr std::int64_t kLow = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kHigh = std::numeric_limits<std::int64_t>::max();
  struct Case {
    std::int64_t low, high;
    unsigned width;
  };
  for (const Case& c :
       {Case{-7, -7, 0}, Case{-7, 248, 1}, Case{-7, 249, 2}, Case{1000, 66'535, 2}, Case{1000, 66'536, 4},
        Case{kLow, kLow + 0xffff'ffff, 4}, Case{-1, 0xffff'ffff, 8}, Case{kLow, kHigh, 8}}) {
    for (const std::uint32_t rows : {2u, 9u, 1000u}) {
      BlockColumn column = column_of(ColumnType::integer);
      column.integers.assign(rows, c.low);
      column.integers.back() = c.high;
      expect_integers(column, rows, c.width);
      if (rows > 2) expect_integers(with_holes(column, rows, 5), rows, c.width);
    }
  }
}

TEST(Block, EverySizeComesBack) {
  for (const std::uint32_t rows : kSizes) {
    for (const ColumnType type : {ColumnType::integer, ColumnType::time, ColumnType::boolean}) {
      BlockColumn column = column_of(type);
      for (std::uint32_t i = 0; i < rows; ++i)
        column.integers.push_back(type == ColumnType::boolean ? (i * 7 % 3 == 0)
                                                              : std::int64_t{i % 251} - 100);
      const unsigned width = type == ColumnType::boolean || rows < 2 ? 0 : 1;
      expect_integers(column, rows, width);
      for (const std::uint32_t every : {2u, 3u, 64u}) {
        if (rows >= 7) expect_integers(with_holes(column, rows, every), rows, width);
      }
    }
  }
}

TEST(Block, WhatIsInAMissingSlotDoesNotMatter) {
  BlockColumn column = column_of(ColumnType::integer);
  column.integers = {std::numeric_limits<std::int64_t>::min(), 5, 6,
                     std::numeric_limits<std::int64_t>::max()};
  column.valid = {0, 1, 1, 0};
  expect_integers(column, 4, 1);
  column.valid = {0, 0, 0, 0};
  expect_integers(column, 4, 0);
  BlockColumn real = column_of(ColumnType::real);
  real.reals = {1e300, 0.25, 0.5, kNan};
  real.valid = {0, 1, 1, 0};
  expect_reals(real, 4, block_format::Encoding::decimal);
  real.valid = {0, 0, 0, 0};
  expect_reals(real, 4, block_format::Encoding::f32);
}

TEST(Block, RealsAreShortestWithoutLoss) {
  using block_format::Encoding;
  for (const std::uint32_t rows : kSizes) {
    if (rows < 7) continue;
    BlockColumn prices = column_of(ColumnType::real);
    BlockColumn floats = prices, thirds = prices, wide = prices;
    for (std::uint32_t i = 0; i < rows; ++i) {
      prices.reals.push_back((static_cast<double>(i % 5000) - 300) / 100);
      floats.reals.push_back(static_cast<double>(1.0f / static_cast<float>(i + 3)));
      thirds.reals.push_back(1.0 / (i + 3));
      wide.reals.push_back((static_cast<double>(i * 30'011u % 1'999'999'993u)) / 1e5);
    }
    wide.reals.back() = 19999.99993;
    expect_reals(prices, rows, Encoding::decimal);
    expect_reals(floats, rows, Encoding::f32);
    expect_reals(thirds, rows, Encoding::f64);
    expect_reals(wide, rows, Encoding::decimal);
    expect_reals(with_holes(prices, rows, 2), rows, Encoding::decimal);
    expect_reals(with_holes(floats, rows, 2), rows, Encoding::f32);
    expect_reals(with_holes(thirds, rows, 3), rows, Encoding::f64);
  }
}

TEST(Block, RealsThatAreSpecialComeBackToTheBit) {
  using block_format::Encoding;
  constexpr double kInf = std::numeric_limits<double>::infinity();
  BlockColumn column = column_of(ColumnType::real);
  column.reals = {-0.0, 0.0, kInf, -kInf, kNan, 1.5};
  expect_reals(column, 6, Encoding::f32);
  column.reals = {-0.0, 0.0, kInf, 5e-324, 1.7976931348623157e308, 0.1};
  expect_reals(column, 6, Encoding::f64);
  column.reals = {2147483647.0, -2147483647.0, 0, 0, 0, 1};
  expect_reals(column, 6, Encoding::decimal);
  column.reals = {7.25, 7.25, 7.25, 7.25, 7.25, 7.25};
  expect_reals(column, 6, Encoding::decimal);
  EXPECT_EQ(head_of(encoded(6, {column})).width, 0);
}

TEST(Block, ASampleThatMisleadsLosesNothing) {
  using block_format::Encoding;
  BlockColumn column = column_of(ColumnType::real);
  column.reals.assign(65'536, 12.5);
  column.reals[65'535] = 1.0 / 3;  // no sample falls on the last row
  expect_reals(column, 65'536, Encoding::f64);
  column.reals[65'535] = static_cast<double>(1.0f / 3);
  expect_reals(column, 65'536, Encoding::f32);
}

TEST(Block, IntegersStandForReals) {
  BlockColumn column = column_of(ColumnType::integer);
  column.integers = {3, -4, 500};
  column.valid = {1, 0, 1};
  const Bytes bytes = encoded(3, {column});
  const Schema schema{{{"a", ColumnType::real}}};
  const BlockView view = opened(bytes, schema);
  std::vector<double> out(3);
  view.reals(0, 0, out);
  EXPECT_EQ(out[0], 3);
  EXPECT_TRUE(std::isnan(out[1]));
  EXPECT_EQ(out[2], 500);
  // And for nothing else.
  for (const ColumnType other :
       {ColumnType::time, ColumnType::boolean, ColumnType::text, ColumnType::category})
    EXPECT_FALSE(BlockView::open(bytes, Schema{{{"a", other}}}));
}

TEST(Block, CategoriesComeBack) {
  const Schema schema{{{"a", ColumnType::category}}};
  for (const std::uint32_t levels : {1u, 2u, 255u, 256u, 257u, 65'535u, 65'536u}) {
    for (const bool holes : {false, true}) {
      const std::uint32_t rows = std::max(levels, 300u);
      BlockColumn column = tests::categories(rows, levels, "level ");
      if (holes) column = with_holes(column, rows, 7);
      const Bytes bytes = encoded(rows, {column});
      const BlockView view = opened(bytes, schema);
      ASSERT_EQ(view.levels(0), levels);
      ASSERT_EQ(view.all_valid(0), !holes);
      std::vector<std::uint32_t> codes(rows - 1);
      view.codes(0, 1, codes);
      for (std::uint32_t row = 1; row < rows; ++row) {
        if (holes && column.valid[row] == 0) {
          ASSERT_EQ(codes[row - 1], BlockView::kMissingCode);
          ASSERT_FALSE(view.valid(0, row));
          ASSERT_EQ(view.text(0, row), "");
          continue;
        }
        ASSERT_TRUE(view.valid(0, row));
        ASSERT_EQ(codes[row - 1], column.codes[row]);
        ASSERT_EQ(view.text(0, row), "level " + std::to_string(column.codes[row]));
        ASSERT_EQ(view.level(0, codes[row - 1]), view.text(0, row));
      }
      EXPECT_EQ(view.level(0, levels), "");
      EXPECT_EQ(view.level(0, BlockView::kMissingCode), "");
    }
  }
}

TEST(Block, ACategoryMayHaveNothingInIt) {
  const Schema schema{{{"a", ColumnType::category}}};
  BlockColumn column = column_of(ColumnType::category);
  EXPECT_EQ(opened(encoded(0, {column}), schema).levels(0), 0u);
  column.codes = {9, 9};
  column.valid = {0, 0};
  const Bytes bytes = encoded(2, {column});
  const BlockView view = opened(bytes, schema);
  std::vector<std::uint32_t> codes(2);
  view.codes(0, 0, codes);
  EXPECT_EQ(codes, (std::vector<std::uint32_t>(2, BlockView::kMissingCode)));
}

TEST(Block, TextsComeBack) {
  const Schema schema{{{"a", ColumnType::text}}};
  for (const std::uint32_t rows : kSizes) {
    for (const auto& make : {tests::hex_text, tests::prose, tests::noise}) {
      for (const bool holes : {false, true}) {
        BlockColumn column = make(rows);
        if (holes) column = with_holes(column, rows, 4);
        const Bytes bytes = encoded(rows, {column});
        const BlockView view = opened(bytes, schema);
        std::uint32_t first = 0;
        for (std::uint32_t row = 0; row < rows; ++row) {
          const std::string_view was(column.chars.data() + first, column.ends[row] - first);
          first = column.ends[row];
          const bool valid = !holes || column.valid[row] != 0;
          ASSERT_EQ(view.valid(0, row), valid);
          ASSERT_EQ(view.text(0, row), valid ? was : std::string_view());
        }
      }
    }
  }
}

TEST(Block, CharactersArePackedWhereItPays) {
  using block_format::Chars;
  const auto packing = [](const BlockColumn& column) {
    return static_cast<Chars>(head_of(encoded(1000, {column})).packing);
  };
  EXPECT_EQ(packing(tests::hex_text(1000)), Chars::hex);
  EXPECT_EQ(packing(tests::prose(1000)), Chars::lz4);
  EXPECT_EQ(packing(tests::noise(1000)), Chars::plain);
}

TEST(Block, SparseRowsComeBack) {
  const Schema schema{{{"a", ColumnType::sparse}}};
  for (const std::uint32_t most : {200u, 60'000u, 0xffff'ffffu}) {
    for (const bool same : {false, true}) {
      for (const std::uint32_t rows : {0u, 1u, 2u, 9u, 3000u}) {
        const BlockColumn column = tests::sparse(rows, most, same);
        const Bytes bytes = encoded(rows, {column});
        Bytes shifted(bytes.size() + 1);
        std::copy(bytes.begin(), bytes.end(), shifted.begin() + 1);
        Bytes scratch;
        for (const bool moved : {false, true}) {  // also from an address that no float may have
          const auto view = BlockView::open(moved ? ByteView(shifted).subspan(1) : ByteView(bytes), schema,
                                            moved ? &scratch : nullptr);
          ASSERT_TRUE(view) << view.error().message();
          std::uint32_t first = 0;
          for (std::uint32_t row = 0; row < rows; ++row) {
            const auto pairs = view->sparse(0, row);
            ASSERT_EQ(pairs.indices.size(), column.ends[row] - first);
            ASSERT_EQ(pairs.values.size(), pairs.indices.size());
            for (std::size_t i = 0; i < pairs.indices.size(); ++i) {
              ASSERT_EQ(pairs.indices[i], column.indices[first + i]);
              ASSERT_EQ(pairs.values[i], column.values[first + i]);
            }
            first = column.ends[row];
          }
        }
      }
    }
  }
}

TEST(Block, ManyColumnsAfterOtherBytes) {
  const auto [schema, block] = tests::mixed(500, 11);
  Bytes bytes = {1, 2, 3};
  encode_block(block, bytes);
  EXPECT_LE(bytes.size() - 3, block_bytes_max(block));
  const auto view = BlockView::open(ByteView(bytes).subspan(3), schema);
  ASSERT_TRUE(view) << view.error().message();
  EXPECT_TRUE(tests::same_values(*view, block));
}

TEST(Block, RowsInAnyOrderAreTheSameRows) {
  const auto [schema, block] = tests::mixed(700, 4);
  const Bytes bytes = encoded(block);
  const BlockView view = opened(bytes, schema);
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < 1000; ++i) order.push_back(i * 7919 % 700);  // some of them twice
  std::size_t columns = 0;
  for (std::size_t c = 0; c < schema.columns.size(); ++c) {
    const ColumnType type = schema.columns[c].type;
    if (type == ColumnType::text || type == ColumnType::sparse) continue;
    ++columns;
    if (type == ColumnType::category) {
      std::vector<std::uint32_t> all(700), some(order.size());
      view.codes(c, 0, all);
      view.codes(c, order, some);
      for (std::size_t i = 0; i < order.size(); ++i) ASSERT_EQ(some[i], all[order[i]]) << c;
      continue;
    }
    std::vector<float> all(700), some(order.size());
    view.reals(c, 0, all);
    view.reals(c, order, some);
    for (std::size_t i = 0; i < order.size(); ++i) {
      const float was = all[order[i]];
      ASSERT_TRUE(some[i] == was || (std::isnan(some[i]) && std::isnan(was))) << c;
    }
  }
  EXPECT_EQ(columns, 9u);
}

// Sign, exponent and two more bits of a number as a double.
std::uint32_t token_of(double value) {
  return static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(value) >> 50);
}

TEST(Block, NumbersAreLookedUpByTheirTopmostBits) {
  constexpr std::uint32_t kRows = 1000;
  constexpr std::uint16_t kNone = 0x1ffc;
  std::vector<std::uint32_t> table(1 << 14);
  for (std::uint32_t i = 0; i < table.size(); ++i) table[i] = 3 * i + 1;
  for (const std::int64_t span : {200, 50'000, 9'000'000}) {
    for (const bool decimal : {false, true}) {
      BlockColumn column = column_of(decimal ? ColumnType::real : ColumnType::integer);
      for (std::uint32_t i = 0; i < kRows; ++i) {
        const std::int64_t whole = std::int64_t{i} * 7919 % span - span / 3;
        if (decimal)
          column.reals.push_back(static_cast<double>(whole) / 100);
        else
          column.integers.push_back(whole);
      }
      for (const bool holes : {false, true}) {
        const Bytes bytes = encoded(kRows, {holes ? with_holes(column, kRows, 3) : column});
        const Schema schema{{{"a", column.type}}};
        const BlockView view = opened(bytes, schema);
        std::vector<double> reals(kRows);
        view.reals(0, 0, reals);
        std::vector<std::uint32_t> out(2 * kRows, 7);
        ASSERT_TRUE(view.map_numbers(0, 16, 640, table.data(), kNone, out.data(), 2));
        for (std::uint32_t i = 0; i < 640; ++i) {
          const double value = reals[16 + i];
          ASSERT_EQ(out[2 * i], table[std::isnan(value) ? kNone : token_of(value + 0.0)]) << value;
          ASSERT_EQ(out[2 * i + 1], 7u);
        }
        EXPECT_EQ(out[2 * 640], 7u);
        // Not on a whole byte of the bitmap: the caller goes the long way.
        EXPECT_FALSE(view.map_numbers(0, 3, 8, table.data(), kNone, out.data(), 2));
      }
    }
  }
}

TEST(Block, AViewOutlivesItsScratchFreeOpening) {
  const auto [schema, block] = tests::mixed(300, 5);
  const Bytes bytes = encoded(block);
  BlockView copy;
  {
    const BlockView view = opened(bytes, schema);
    copy = view;
  }
  EXPECT_TRUE(tests::same_values(copy, block));
}

TEST(Block, RefusesAnotherSchema) {
  const auto [schema, block] = tests::mixed(20, 3);
  const Bytes bytes = encoded(block);
  Schema fewer = schema, swapped = schema;
  fewer.columns.pop_back();
  std::swap(swapped.columns[0], swapped.columns[3]);
  for (const Schema& other : {fewer, swapped}) {
    const auto view = BlockView::open(bytes, other);
    ASSERT_FALSE(view);
    EXPECT_EQ(view.error().code(), Errc::corrupt);
  }
}

}  // namespace
}  // namespace samovar::trainer
