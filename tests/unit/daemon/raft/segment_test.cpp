#include "daemon/raft/segment.hpp"

#include <gtest/gtest.h>

#include "daemon/raft/little_endian.hpp"

namespace samovar::raft {
namespace {

TEST(Segment, NamesAreParsedStrictly) {
  const auto closed = parse_closed_name("0000000000000003-0000000000000009");
  ASSERT_TRUE(closed);
  EXPECT_EQ(closed->first, 3u);
  EXPECT_EQ(closed->last, 9u);
  EXPECT_FALSE(parse_closed_name("3-9"));
  EXPECT_FALSE(parse_closed_name("0000000000000009-0000000000000003"));
  EXPECT_FALSE(parse_closed_name("0000000000000003-000000000000000x"));
  EXPECT_EQ(parse_open_name("open-12"), 12u);
  EXPECT_FALSE(parse_open_name("open-"));
  EXPECT_FALSE(parse_open_name("torn-open-1"));
  const auto snapshot = parse_snapshot_meta_name("snapshot-1-256-987.meta");
  ASSERT_TRUE(snapshot);
  EXPECT_EQ(snapshot->index, 256u);
  EXPECT_EQ(snapshot->data_name, "snapshot-1-256-987");
  EXPECT_FALSE(parse_snapshot_meta_name("snapshot-1-256-987"));
  EXPECT_FALSE(parse_snapshot_meta_name("snapshot-1-256.meta"));
  EXPECT_FALSE(parse_snapshot_meta_name("snapshot-.meta"));
}

TEST(Segment, ZerosAreUnwritten) {
  EXPECT_TRUE(read_segment({}).unwritten);
  EXPECT_TRUE(read_segment(Bytes(4096, 0)).unwritten);
}

TEST(Segment, GarbageIsTorn) {
  EXPECT_FALSE(read_segment(Bytes(4096, 0xff)).torn.empty());
  Bytes only_format;
  put_u64(only_format, 1);
  EXPECT_TRUE(read_segment(only_format).torn.empty());
  Bytes huge = only_format;
  put_u64(huge, 0);
  put_u64(huge, ~std::uint64_t{0});
  EXPECT_FALSE(read_segment(huge).torn.empty());
}

TEST(Segment, MetadataIsChecked) {
  Bytes file;
  for (const std::uint64_t word : {1u, 3u, 2u, 1u}) put_u64(file, word);
  const auto metadata = read_metadata(file);
  ASSERT_TRUE(metadata);
  EXPECT_EQ(metadata->version, 3u);
  EXPECT_EQ(metadata->term, 2u);
  EXPECT_FALSE(read_metadata(ByteView(file).first(31)));
  file[0] = 2;
  EXPECT_FALSE(read_metadata(file));
}

}  // namespace
}  // namespace samovar::raft
