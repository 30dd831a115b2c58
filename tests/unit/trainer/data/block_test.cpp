#include "trainer/data/block.hpp"

#include <gtest/gtest.h>

namespace samovar::trainer {
namespace {

TEST(Block, IntegersComeBack) {
  BlockColumns block;
  block.rows = 3;
  BlockColumn column;
  column.type = ColumnType::integer;
  column.integers = {5, -7, 300};
  block.columns.push_back(column);
  Bytes bytes;
  encode_block(block, bytes);
  const Schema schema{{{"a", ColumnType::integer}}};
  const auto view = BlockView::open(bytes, schema);
  ASSERT_TRUE(view) << view.error().message();
  std::vector<std::int64_t> out(3);
  view->integers(0, 0, out);
  EXPECT_EQ(out, column.integers);
}

}  // namespace
}  // namespace samovar::trainer
