// Bits flip, pages vanish, files are cut and swapped: seen on reading and by a scrub, never served.
#include <gtest/gtest.h>

#include <algorithm>

#include "daemon/store/scrub.hpp"
#include "daemon/store/shard_file.hpp"
#include "daemon/store/staging.hpp"
#include "daemon/store/staging_format.hpp"
#include "tests/unit/daemon/store/store_fixture.hpp"

namespace samovar::store {
namespace {

constexpr const char* kDataset = "dst_01J8Z3K4M5N6P7Q8R9S0T1V2W3";
constexpr const char* kShard = "/data/0";
constexpr const char* kUpload = "/data/upload";

struct Shards {
  SimDisk disk{1};
  security::SecretBytes key = test_key(3);
  Shards() { EXPECT_TRUE(disk.make_dir("/data")); }

  Result<ShardSummary> write(const std::string& path, std::uint32_t number, std::size_t blocks = 4,
                             std::size_t bytes = 200'000) {
    SAMOVAR_TRY(auto file, disk.open(path, OpenMode::create_new));
    SAMOVAR_TRY(const auto writer,
                ShardWriter::create(std::move(file), key, shard_place(kDataset, 1, number)));
    for (std::size_t i = 0; i < blocks; ++i)
      SAMOVAR_CHECK(writer->append(100, pattern(bytes, number * 1000 + i)));
    return writer->finish();
  }
  // Every block that can be read must be the right one; how many could not be?
  std::size_t lost(const std::string& path, std::uint32_t number, std::size_t blocks = 4,
                   std::size_t bytes = 200'000) {
    auto file = disk.open(path, OpenMode::read);
    if (!file) return blocks;
    auto reader = ShardReader::open(*std::move(file), key, shard_place(kDataset, 1, number));
    if (!reader) return blocks;
    EXPECT_EQ((*reader)->blocks().size(), blocks);
    std::size_t lost_blocks = 0;
    Bytes block;
    for (std::size_t i = 0; i < (*reader)->blocks().size(); ++i) {
      auto got = (*reader)->read(i, block);
      if (got) {
        EXPECT_EQ(block, pattern(bytes, number * 1000 + i));
      } else {
        EXPECT_EQ(got.error().code(), Errc::corrupt);
        EXPECT_TRUE(block.empty());
        ++lost_blocks;
      }
    }
    return lost_blocks;
  }
  bool scrub_sees(const std::string& path, const ShardSummary& summary) {
    auto found = scrub_file(disk, {"0", path, summary.stored_bytes, summary.hash});
    EXPECT_TRUE(found);
    return found && *found == ScrubFinding::damaged;
  }
};

TEST(Damage, ABitInEveryByteClassOfAShardIsSeen) {
  Shards shards;
  const auto summary = shards.write(kShard, 0);
  ASSERT_TRUE(summary);
  const Bytes good = *shards.disk.read_file(kShard, 8 << 20);
  EXPECT_EQ(shards.lost(kShard, 0), 0U);
  EXPECT_FALSE(shards.scrub_sees(kShard, *summary));
  // All of the header; the borders of chunks with their tags; some of the content; the last chunk whole,
  // which holds the index.
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < 136; ++i) places.push_back(i);
  constexpr std::size_t kStored = 262'160;
  for (std::size_t chunk = 0; 136 + chunk * kStored < good.size(); ++chunk) {
    const std::size_t start = 136 + chunk * kStored;
    const std::size_t end = std::min(start + kStored, good.size());
    for (std::size_t i = 0; i < 4; ++i) places.push_back(start + i);
    for (std::size_t i = 1; i <= 16; ++i) places.push_back(end - i);
    places.push_back((start + end) / 2);
  }
  for (std::size_t i = good.size() - 80; i < good.size(); ++i) places.push_back(i);
  for (const std::size_t place : places) {
    const std::uint64_t bit = place * 8 + place % 8;
    ASSERT_TRUE(shards.disk.flip_bit(kShard, bit));
    ASSERT_GT(shards.lost(kShard, 0), 0U) << place;
    ASSERT_TRUE(shards.scrub_sees(kShard, *summary)) << place;
    ASSERT_TRUE(shards.disk.flip_bit(kShard, bit));
  }
  EXPECT_EQ(shards.lost(kShard, 0), 0U);
}

TEST(Damage, ADamagedChunkCostsOnlyItsBlocks) {
  Shards shards;
  ASSERT_TRUE(shards.write(kShard, 0));
  ASSERT_TRUE(shards.disk.flip_bit(kShard, 8 * (136 + 262'160 + 5)));
  EXPECT_EQ(shards.lost(kShard, 0), 2U);  // blocks 1 and 2 lie in chunk 1
}

TEST(Damage, ShardsOutOfPlaceCutOrZeroedAreSeen) {
  Shards shards;
  const auto first = shards.write(kShard, 0);
  const auto second = shards.write("/data/1", 1);
  ASSERT_TRUE(first && second);
  const Bytes a = *shards.disk.read_file(kShard, 8 << 20);
  const Bytes b = *shards.disk.read_file("/data/1", 8 << 20);
  // Swapped.
  ASSERT_TRUE(shards.disk.write_file(kShard, b) && shards.disk.write_file("/data/1", a));
  EXPECT_EQ(shards.lost(kShard, 0), 4U);
  EXPECT_EQ(shards.lost("/data/1", 1), 4U);
  EXPECT_TRUE(shards.scrub_sees(kShard, *first));
  EXPECT_TRUE(shards.scrub_sees("/data/1", *second));
  // Cut, also between chunks.
  for (const std::size_t size : {std::size_t{0}, std::size_t{100}, std::size_t{136},
                                 std::size_t{136 + 262'160}, a.size() - 16, a.size() - 1}) {
    ASSERT_TRUE(shards.disk.write_file(kShard, ByteView(a).first(size)));
    EXPECT_EQ(shards.lost(kShard, 0), 4U) << size;
    EXPECT_TRUE(shards.scrub_sees(kShard, *first)) << size;
  }
  // A page of zeros.
  for (std::size_t page = 0; page + 4096 < a.size(); page += 16 * 4096) {
    Bytes zeroed = a;
    std::fill_n(zeroed.begin() + static_cast<std::ptrdiff_t>(page), 4096, std::uint8_t{0});
    ASSERT_TRUE(shards.disk.write_file(kShard, zeroed));
    EXPECT_GT(shards.lost(kShard, 0), 0U) << page;
    EXPECT_TRUE(shards.scrub_sees(kShard, *first)) << page;
  }
  // Gone.
  ASSERT_TRUE(shards.disk.remove(kShard));
  EXPECT_TRUE(shards.scrub_sees(kShard, *first));
}

// A shard of another version or data set does not open, though its key were the same.
TEST(Damage, AShardOpensInItsPlaceOnly) {
  Shards shards;
  ASSERT_TRUE(shards.write(kShard, 0));
  const auto opens = [&](const security::SealedFileId& place) {
    return ShardReader::open(*shards.disk.open(kShard, OpenMode::read), shards.key, place).has_value();
  };
  EXPECT_TRUE(opens(shard_place(kDataset, 1, 0)));
  EXPECT_FALSE(opens(shard_place(kDataset, 2, 0)));
  EXPECT_FALSE(opens(shard_place(kDataset, 1, 1)));
  EXPECT_FALSE(opens(shard_place("dst_other", 1, 0)));
  EXPECT_FALSE(opens(object_place(kDataset, 1, "profile")));
  EXPECT_NE(object_place(kDataset, 1, "profile").shard, object_place(kDataset, 1, "bad-rows").shard);
  EXPECT_FALSE(
      ShardReader::open(*shards.disk.open(kShard, OpenMode::read), test_key(4), shard_place(kDataset, 1, 0)));
}

struct Uploaded {
  SimDisk disk{1};
  security::SecretBytes wrap = test_key(5);
  security::SecretBytes key;
  Bytes good;
  explicit Uploaded(bool finished) {
    EXPECT_TRUE(disk.make_dir("/data"));
    auto file = StagingFile::create(disk, kUpload, wrap, test_head());
    EXPECT_TRUE(file);
    std::uint64_t at = 0;
    for (const std::size_t size : {700, 1, 900, 300}) {
      EXPECT_TRUE((*file)->append(pattern(size, at)) && (*file)->sync());
      at += size;
    }
    if (finished) {
      EXPECT_TRUE((*file)->finish({}));
    }
    key = (*file)->key().clone();
    good = *disk.read_file(kUpload, 1 << 20);
  }
};

// All bytes: what is read is the truth or nothing, and a finished upload that lost anything says so.
TEST(Damage, ABitInAnyByteOfAFinishedUploadIsSeen) {
  Uploaded upload(true);
  for (std::size_t byte = 0; byte < upload.good.size(); ++byte) {
    const std::size_t bit = byte * 8 + byte * 5 % 8;
    ASSERT_TRUE(upload.disk.flip_bit(kUpload, bit));
    // By whoever has the key, and by the daemon, who unwraps it.
    auto file = upload.disk.open(kUpload, OpenMode::read);
    auto reader = StagingReader::open(*std::move(file), upload.key);
    bool served = false;
    if (reader) {
      Bytes out(1901);
      auto got = (*reader)->read(out);
      served = got && *got == out.size() && (*reader)->complete();
      if (served) {
        EXPECT_EQ(out, pattern(1901)) << bit;
      }
    }
    const bool in_wrapped_key = bit / 8 >= staging::kWrappedKeyAt && bit / 8 < staging::kHeadFixedBytes;
    ASSERT_EQ(served, in_wrapped_key) << bit;
    auto opened = StagingFile::open(upload.disk, kUpload, upload.wrap);
    if (opened) {
      // Not yet looked at: what is far from the end is verified when it is read. Nothing was cut off that
      // had been acknowledged.
      ASSERT_FALSE(served) << bit;
      ASSERT_TRUE((*opened)->size() == 1901) << bit;
    }
    ASSERT_TRUE(upload.disk.write_file(kUpload, upload.good));
  }
}

TEST(Damage, AnUnfinishedUploadLosesAtMostItsLastSync) {
  Uploaded upload(false);
  for (std::size_t byte = 0; byte < upload.good.size(); ++byte) {
    const std::size_t bit = byte * 8 + byte * 5 % 8;
    ASSERT_TRUE(upload.disk.flip_bit(kUpload, bit));
    auto opened = StagingFile::open(upload.disk, kUpload, upload.wrap);
    // The last record may be taken for a torn one: the sender is told and sends it again. What a later record
    // says was synced is never cut off.
    if (opened) {
      ASSERT_GE((*opened)->size(), 1601U) << bit;
    }
    auto content = read_staging(upload.disk, kUpload, upload.key);
    if (content) {
      ASSERT_EQ(*content, pattern(content->size())) << bit;
    }
    ASSERT_TRUE(upload.disk.write_file(kUpload, upload.good));
  }
}

TEST(Damage, RecordsOutOfOrderCutOrZeroedAreSeen) {
  Uploaded upload(true);
  const auto reads = [&](const Bytes& bytes) {
    EXPECT_TRUE(upload.disk.write_file(kUpload, bytes));
    auto reader = StagingReader::open(*upload.disk.open(kUpload, OpenMode::read), upload.key);
    if (!reader || !(*reader)->complete()) return false;
    Bytes out(1901);
    auto got = (*reader)->read(out);
    return got && *got == out.size();
  };
  EXPECT_TRUE(reads(upload.good));
  for (std::size_t size = 0; size < upload.good.size(); ++size)
    ASSERT_FALSE(reads(Bytes(upload.good.begin(), upload.good.begin() + static_cast<std::ptrdiff_t>(size))));
  for (std::size_t at = 0; at + 64 < upload.good.size(); at += 32) {
    Bytes zeroed = upload.good;
    std::fill_n(zeroed.begin() + static_cast<std::ptrdiff_t>(at), 64, std::uint8_t{0});
    // Only the wrapped key may go, to whoever has the key.
    const bool key_only = at >= staging::kWrappedKeyAt && at + 64 <= staging::kHeadFixedBytes;
    ASSERT_EQ(reads(zeroed), key_only) << at;
  }
  // The last two data records change places: their lengths differ, so the middle is rebuilt.
  const std::size_t end_record = staging::kRecordOverhead + 32;
  const std::size_t fourth = staging::kRecordOverhead + 300;
  const std::size_t third = staging::kRecordOverhead + 900;
  Bytes swapped(upload.good.begin(),
                upload.good.end() - static_cast<std::ptrdiff_t>(end_record + fourth + third));
  const auto tail = upload.good.end() - static_cast<std::ptrdiff_t>(end_record + fourth);
  swapped.insert(swapped.end(), tail, tail + static_cast<std::ptrdiff_t>(fourth));
  swapped.insert(swapped.end(), tail - static_cast<std::ptrdiff_t>(third), tail);
  swapped.insert(swapped.end(), upload.good.end() - static_cast<std::ptrdiff_t>(end_record),
                 upload.good.end());
  ASSERT_EQ(swapped.size(), upload.good.size());
  EXPECT_FALSE(reads(swapped));
  Bytes longer = upload.good;
  longer.push_back(0);
  EXPECT_TRUE(upload.disk.write_file(kUpload, longer));
  EXPECT_FALSE(StagingFile::open(upload.disk, kUpload, upload.wrap));
}

TEST(Damage, RecordsOfTwoUploadsDoNotMix) {
  Uploaded one(true);
  Uploaded other(true);
  Bytes mixed = one.good;
  const std::size_t head = mixed.size() - (staging::kRecordOverhead * 5 + 1901 + 32);
  std::copy(other.good.begin() + static_cast<std::ptrdiff_t>(head), other.good.end(),
            mixed.begin() + static_cast<std::ptrdiff_t>(head));
  ASSERT_TRUE(one.disk.write_file(kUpload, mixed));
  EXPECT_FALSE(read_staging(one.disk, kUpload, one.key));
}

}  // namespace
}  // namespace samovar::store
