#include "daemon/jobs/blob_message.hpp"

#include <gtest/gtest.h>

namespace samovar::jobs {
namespace {

const std::string kKey = "dst_01J8Z3K4M5N6P7Q8R9S0T1V2W3.1/0";

TEST(BlobMessage, EveryMessageComesBackAsItWent) {
  const BlobRead read{kKey, 7, kBlobPieceBytesMax};
  const auto read_back = decode_blob_read(encode(read));
  ASSERT_TRUE(read_back);
  EXPECT_EQ(read_back->key, kKey);
  EXPECT_EQ(read_back->offset, 7u);
  EXPECT_EQ(read_back->length, kBlobPieceBytesMax);
  const BlobPiece piece{9, Bytes{1, 2, 3}};
  const auto piece_back = decode_blob_piece(encode(piece));
  ASSERT_TRUE(piece_back);
  EXPECT_EQ(piece_back->total, 9u);
  EXPECT_EQ(piece_back->bytes, (Bytes{1, 2, 3}));
  const BlobFetch fetch{kKey, 99, Bytes(32, 5), {"a", "b"}, 1000};
  const auto fetch_back = decode_blob_fetch(encode(fetch));
  ASSERT_TRUE(fetch_back);
  EXPECT_EQ(fetch_back->hash, Bytes(32, 5));
  EXPECT_EQ(fetch_back->from, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(fetch_back->bytes_per_second, 1000u);
  const auto fetched = decode_blob_fetched(encode(BlobFetched{true, 12}));
  ASSERT_TRUE(fetched);
  EXPECT_TRUE(fetched->done);
  EXPECT_EQ(fetched->arrived, 12u);
  BlobCheck check;
  check.read = true;
  check.files = {{kKey, 4}};
  const auto check_back = decode_blob_check(encode(check));
  ASSERT_TRUE(check_back);
  EXPECT_TRUE(check_back->read);
  EXPECT_EQ(check_back->files, check.files);
  BlobChecked checked;
  checked.there = {true, false};
  const auto checked_back = decode_blob_checked(encode(checked));
  ASSERT_TRUE(checked_back);
  EXPECT_EQ(checked_back->there, (std::vector<bool>{true, false}));
}

TEST(BlobMessage, EveryCutAndEveryByteTooManyIsRefused) {
  const Bytes whole = encode(BlobFetch{kKey, 99, Bytes(32, 5), {"a", "b"}, 1000});
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(decode_blob_fetch(ByteView(whole).first(size))) << size;
  Bytes longer = whole;
  longer.push_back(0);
  EXPECT_FALSE(decode_blob_fetch(longer));
}

TEST(BlobMessage, RefusesWhatIsNoKeyAndWhatIsTooMuch) {
  EXPECT_FALSE(decode_blob_read(encode(BlobRead{"../../etc/shadow", 0, 1})));
  EXPECT_FALSE(decode_blob_read(encode(BlobRead{kKey, 0, 0})));
  EXPECT_FALSE(decode_blob_read(encode(BlobRead{kKey, 0, kBlobPieceBytesMax + 1})));
  EXPECT_FALSE(decode_blob_fetch(encode(BlobFetch{kKey, 1, Bytes(31), {"a"}, 0})));
  EXPECT_FALSE(decode_blob_fetch(encode(BlobFetch{kKey, 1, Bytes(32), {}, 0})));
  EXPECT_FALSE(decode_blob_fetch(encode(BlobFetch{kKey, 1, Bytes(32), {""}, 0})));
  EXPECT_FALSE(decode_blob_piece(encode(BlobPiece{2, Bytes(3)})));
  Bytes later = encode(BlobFetched{true, 1});
  later[0] = 2;
  const auto refused = decode_blob_fetched(later);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Errc::unsupported);
}

}  // namespace
}  // namespace samovar::jobs
