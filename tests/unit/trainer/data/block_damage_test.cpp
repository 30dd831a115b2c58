// Damaged blocks: refused, or a view that is safe to read. Under the sanitizers this is where it shows.
#include <gtest/gtest.h>

#include "tests/support/block_samples.hpp"
#include "trainer/data/block.hpp"

namespace samovar::trainer {
namespace {

// Counts what was refused.
std::size_t try_all(const Bytes& good, const Schema& schema, std::uint8_t change) {
  std::size_t refused = 0;
  for (std::size_t i = 0; i < good.size(); ++i) {
    Bytes bad = good;
    bad[i] = static_cast<std::uint8_t>(bad[i] ^ change);
    const auto view = BlockView::open(bad, schema);
    if (view) {
      tests::touch_everything(*view, schema);
      continue;
    }
    EXPECT_EQ(view.error().code(), Errc::corrupt);
    ++refused;
  }
  return refused;
}

TEST(DamagedBlock, EveryByteChanged) {
  for (const std::uint32_t rows : {1u, 3u, 20u}) {
    const auto [schema, block] = tests::mixed(rows, rows);
    const Bytes good = tests::encoded(block);
    ASSERT_TRUE(BlockView::open(good, schema));
    // The head and the heads of the columns are 16 + 32 a column: most of a change there must be seen.
    EXPECT_GT(try_all(good, schema, 0x01), schema.columns.size() * 16);
    EXPECT_GT(try_all(good, schema, 0x80), schema.columns.size() * 16);
    EXPECT_GT(try_all(good, schema, 0xff), schema.columns.size() * 16);
  }
}

TEST(DamagedBlock, PackedCharactersChanged) {
  const Schema schema{{{"text", ColumnType::text}}};
  const Bytes good = tests::encoded(60, {tests::prose(60)});
  for (const std::uint8_t change : {0x01, 0x10, 0x80, 0xff}) EXPECT_GT(try_all(good, schema, change), 0u);
}

TEST(DamagedBlock, CutAnywhere) {
  const auto [schema, block] = tests::mixed(9, 1);
  Bytes bytes = tests::encoded(block);
  while (!bytes.empty()) {
    bytes.pop_back();
    const Bytes exact(bytes);  // of just this size, for the sanitizer
    ASSERT_FALSE(BlockView::open(exact, schema)) << bytes.size();
  }
}

TEST(DamagedBlock, SomethingAfterItsEnd) {
  const auto [schema, block] = tests::mixed(9, 1);
  Bytes bytes = tests::encoded(block);
  bytes.resize(bytes.size() + 8);
  EXPECT_FALSE(BlockView::open(bytes, schema));
}

TEST(DamagedBlock, CodesBeyondTheLevels) {
  const Schema schema{{{"c", ColumnType::category}}};
  BlockColumn column = tests::categories(8, 3, "level ");
  Bytes bytes = tests::encoded(8, {column});
  bytes[48] = 3;  // the first code: right behind the two heads
  EXPECT_FALSE(BlockView::open(bytes, schema));
  bytes[48] = 2;
  EXPECT_TRUE(BlockView::open(bytes, schema));
}

TEST(DamagedBlock, IndicesThatDoNotRise) {
  const Schema schema{{{"s", ColumnType::sparse}}};
  BlockColumn column = tests::column_of(ColumnType::sparse);
  column.ends = {2, 4};
  column.indices = {5, 6, 1, 2};
  column.values = {1, 2, 3, 4};
  Bytes bytes = tests::encoded(2, {column});
  ASSERT_TRUE(BlockView::open(bytes, schema));
  ASSERT_EQ(bytes[48], 5);
  bytes[48] = 6;
  EXPECT_FALSE(BlockView::open(bytes, schema));
}

}  // namespace
}  // namespace samovar::trainer
