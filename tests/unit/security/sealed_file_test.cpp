#include "security/sealed_file.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/sim/sim_disk.hpp"
#include "tests/unit/security/vectors.hpp"

namespace samovar::security {
namespace {

using vectors::counting;

constexpr const char* kPath = "/data/shard";
constexpr std::size_t kStored = kSealedChunkBytes + 16;
const SealedFileId kId{"dst_01J", 9, 3};

const SecretBytes& key() {
  static const SecretBytes kKey = SecretBytes::copy_of(counting(0, 32));
  return kKey;
}

Bytes pattern(std::size_t size) {
  Bytes out(size);
  for (std::size_t i = 0; i < size; ++i) out[i] = static_cast<std::uint8_t>(i * 7 + i / 997);
  return out;
}

struct Folder {
  SimDisk disk{1};
  Folder() { EXPECT_TRUE(disk.make_dir("/data")); }
  Bytes raw() { return *disk.read_file(kPath, 64 << 20); }
  void put_raw(ByteView bytes) { EXPECT_TRUE(disk.write_file(kPath, bytes)); }
  Result<Bytes> read() { return read_sealed_file(disk, kPath, key(), kId, 64 << 20); }
  bool reads_corrupt() {
    auto got = read();
    return !got && got.error().code() == Errc::corrupt;
  }
};

TEST(SealedFile, ReadsTheKnownFile) {
  Folder folder;
  folder.put_raw(vectors::bytes(vectors::kSealedFile));
  auto plain = folder.read();
  ASSERT_TRUE(plain) << plain.error().message();
  EXPECT_EQ(as_text(*plain), "hello sealed world");
}

TEST(SealedFile, RoundTripsAroundChunkBorders) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, kSealedChunkBytes - 1, kSealedChunkBytes,
                                 kSealedChunkBytes + 1, 2 * kSealedChunkBytes, 2 * kSealedChunkBytes + 77}) {
    Folder folder;
    const Bytes plain = pattern(size);
    auto hash = write_sealed_file(folder.disk, kPath, key(), kId, plain);
    ASSERT_TRUE(hash) << hash.error().message();
    const std::size_t chunks = std::max<std::size_t>(1, (size + kSealedChunkBytes - 1) / kSealedChunkBytes);
    EXPECT_EQ(folder.raw().size(), kSealedHeaderBytes + size + 16 * chunks);
    EXPECT_EQ(sha256(folder.raw()), *hash);
    EXPECT_EQ(*hash_stored_file(folder.disk, kPath), *hash);
    EXPECT_EQ(*folder.read(), plain);
    EXPECT_FALSE(folder.disk.exists(std::string(kPath) + ".tmp"));
  }
}

TEST(SealedFile, ReadAtReadsAnywhere) {
  Folder folder;
  const Bytes plain = pattern(3 * kSealedChunkBytes + 500);
  auto writer = SealedWriter::create(folder.disk, kPath, key(), kId, plain.size());
  ASSERT_TRUE(writer);
  for (std::size_t at = 0; at < plain.size(); at += 100'003)  // pieces that straddle chunks
    ASSERT_TRUE(
        (*writer)->append(ByteView(plain).subspan(at, std::min<std::size_t>(100'003, plain.size() - at))));
  ASSERT_TRUE((*writer)->finish());
  auto reader = SealedReader::open(folder.disk, kPath, key(), kId);
  ASSERT_TRUE(reader);
  EXPECT_EQ((*reader)->size(), plain.size());
  for (const std::size_t at : {std::size_t{0}, kSealedChunkBytes - 3, 2 * kSealedChunkBytes, plain.size() - 5,
                               plain.size(), plain.size() + 100}) {
    Bytes out(kSealedChunkBytes + 10);
    auto got = (*reader)->read_at(at, out);
    ASSERT_TRUE(got);
    const std::size_t expected = at >= plain.size() ? 0 : std::min(out.size(), plain.size() - at);
    EXPECT_EQ(*got, expected) << at;
    EXPECT_TRUE(std::equal(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(*got),
                           plain.begin() + static_cast<std::ptrdiff_t>(std::min(at, plain.size()))));
  }
}

TEST(SealedFile, EveryFlippedBitIsDetected) {
  const Bytes good = vectors::bytes(vectors::kSealedFile);
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    Folder folder;
    Bytes bad = good;
    bad[bit / 8] = static_cast<std::uint8_t>(bad[bit / 8] ^ (1U << (bit % 8)));
    folder.put_raw(bad);
    auto got = folder.read();
    ASSERT_FALSE(got) << bit;
    const bool in_version = bit / 64 == 1 && bit / 8 < 10;
    ASSERT_EQ(got.error().code(), in_version ? Errc::unsupported : Errc::corrupt) << bit;
  }
}

// In a file of several chunks: the classes of bytes that the small file lacks.
TEST(SealedFile, FlipsInEveryChunkAndTagAreDetected) {
  Folder folder;
  ASSERT_TRUE(write_sealed_file(folder.disk, kPath, key(), kId, pattern(2 * kSealedChunkBytes + 300)));
  const Bytes good = folder.raw();
  for (const std::size_t at :
       {kSealedHeaderBytes, kSealedHeaderBytes + 12345, kSealedHeaderBytes + kStored - 16,
        kSealedHeaderBytes + kStored - 1, kSealedHeaderBytes + kStored, kSealedHeaderBytes + 2 * kStored - 1,
        kSealedHeaderBytes + 2 * kStored, good.size() - 17, good.size() - 1}) {
    Bytes bad = good;
    bad[at] ^= 0x10;
    folder.put_raw(bad);
    EXPECT_TRUE(folder.reads_corrupt()) << at;
  }
}

TEST(SealedFile, DamageInOneChunkLeavesTheOthersReadable) {
  Folder folder;
  const Bytes plain = pattern(3 * kSealedChunkBytes);
  ASSERT_TRUE(write_sealed_file(folder.disk, kPath, key(), kId, plain));
  Bytes bad = folder.raw();
  bad[kSealedHeaderBytes + kStored + 5] ^= 1;
  folder.put_raw(bad);
  auto reader = SealedReader::open(folder.disk, kPath, key(), kId);
  ASSERT_TRUE(reader);
  Bytes out(100, 0xee);
  EXPECT_EQ((*reader)->read_at(kSealedChunkBytes + 50, out).error().code(), Errc::corrupt);
  EXPECT_EQ(out, Bytes(100, 0xee));  // nothing unverified came out
  EXPECT_TRUE((*reader)->read_at(0, out));
  EXPECT_TRUE(std::equal(out.begin(), out.end(), plain.begin()));
}

TEST(SealedFile, TruncationAnywhereIsDetected) {
  Folder folder;
  ASSERT_TRUE(write_sealed_file(folder.disk, kPath, key(), kId, pattern(2 * kSealedChunkBytes + 300)));
  const Bytes good = folder.raw();
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, kSealedHeaderBytes - 1, kSealedHeaderBytes, kSealedHeaderBytes + 16,
        kSealedHeaderBytes + kStored, kSealedHeaderBytes + kStored + 1, kSealedHeaderBytes + 2 * kStored,
        kSealedHeaderBytes + 2 * kStored + 16, kSealedHeaderBytes + 2 * kStored + 17, good.size() - 1}) {
    folder.put_raw(ByteView(good).first(size));
    EXPECT_TRUE(folder.reads_corrupt()) << size;
  }
}

TEST(SealedFile, ExtensionIsDetected) {
  Folder folder;
  ASSERT_TRUE(write_sealed_file(folder.disk, kPath, key(), kId, pattern(kSealedChunkBytes)));
  const Bytes good = folder.raw();
  for (const std::size_t extra : {std::size_t{1}, std::size_t{16}, std::size_t{17}, kStored}) {
    Bytes bad = good;
    bad.resize(good.size() + extra);
    folder.put_raw(bad);
    EXPECT_TRUE(folder.reads_corrupt()) << extra;
  }
}

TEST(SealedFile, ReorderedAndRepeatedChunksAreDetected) {
  Folder folder;
  ASSERT_TRUE(write_sealed_file(folder.disk, kPath, key(), kId, pattern(3 * kSealedChunkBytes)));
  const Bytes good = folder.raw();
  const auto chunk = [&](Bytes& file, std::size_t i) {
    return file.begin() + static_cast<std::ptrdiff_t>(kSealedHeaderBytes + i * kStored);
  };
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      if (i == j) continue;
      Bytes swapped = good;
      std::swap_ranges(chunk(swapped, i), chunk(swapped, i) + kStored, chunk(swapped, j));
      folder.put_raw(swapped);
      EXPECT_TRUE(folder.reads_corrupt()) << i << j;
      Bytes repeated = good;
      Bytes source = good;
      std::copy(chunk(source, i), chunk(source, i) + kStored, chunk(repeated, j));
      folder.put_raw(repeated);
      EXPECT_TRUE(folder.reads_corrupt()) << i << j;
    }
  }
}

// The header says two chunks where three were written, and the file is cut to fit.
TEST(SealedFile, HeaderMadeToFitATruncationIsDetected) {
  Folder folder;
  ASSERT_TRUE(write_sealed_file(folder.disk, kPath, key(), kId, pattern(3 * kSealedChunkBytes)));
  Bytes bad = folder.raw();
  bad[96] = 2;
  bad.resize(kSealedHeaderBytes + 2 * kStored);
  ASSERT_EQ(decode_sealed_header(ByteView(bad).first(kSealedHeaderBytes))->chunks, 2U);
  folder.put_raw(bad);
  EXPECT_TRUE(folder.reads_corrupt());
}

TEST(SealedFile, ChunksOfTwoFilesDoNotMix) {
  Folder folder;
  ASSERT_TRUE(write_sealed_file(folder.disk, kPath, key(), kId, pattern(2 * kSealedChunkBytes)));
  const Bytes a = folder.raw();
  ASSERT_TRUE(write_sealed_file(folder.disk, kPath, key(), kId, pattern(2 * kSealedChunkBytes)));
  Bytes b = folder.raw();
  EXPECT_NE(a, b);  // another salt
  std::copy(a.begin() + kSealedHeaderBytes, a.begin() + kSealedHeaderBytes + kStored,
            b.begin() + kSealedHeaderBytes);
  folder.put_raw(b);
  EXPECT_TRUE(folder.reads_corrupt());
}

TEST(SealedFile, FileInAnotherPlaceOrUnderAnotherKeyDoesNotOpen) {
  Folder folder;
  ASSERT_TRUE(write_sealed_file(folder.disk, kPath, key(), kId, pattern(10)));
  for (const SealedFileId& other :
       {SealedFileId{"dst_01K", 9, 3}, SealedFileId{"dst_01J", 8, 3}, SealedFileId{"dst_01J", 9, 2}})
    EXPECT_EQ(SealedReader::open(folder.disk, kPath, key(), other).error().code(), Errc::corrupt);
  EXPECT_EQ(SealedReader::open(folder.disk, kPath, SecretBytes::random(32), kId).error().code(),
            Errc::corrupt);
  EXPECT_EQ(SealedReader::open(folder.disk, "/data/none", key(), kId).error().code(), Errc::not_found);
}

TEST(SealedFile, WriterHoldsToItsSize) {
  Folder folder;
  auto writer = SealedWriter::create(folder.disk, kPath, key(), kId, 100);
  ASSERT_TRUE(writer);
  ASSERT_TRUE((*writer)->append(pattern(60)));
  EXPECT_EQ((*writer)->finish().error().code(), Errc::invalid);
  EXPECT_EQ((*writer)->append(pattern(41)).error().code(), Errc::invalid);
  ASSERT_TRUE((*writer)->append(pattern(40)));
  EXPECT_TRUE((*writer)->finish());
  EXPECT_FALSE((*writer)->finish());
  EXPECT_FALSE(SealedWriter::create(folder.disk, kPath, key(), {"", 1, 1}, 1));
  EXPECT_FALSE(SealedWriter::create(folder.disk, kPath, key(), {std::string(65, 'x'), 1, 1}, 1));
}

TEST(SealedFile, UnfinishedLeavesNothing) {
  Folder folder;
  {
    auto writer = SealedWriter::create(folder.disk, kPath, key(), kId, 100);
    ASSERT_TRUE(writer);
    ASSERT_TRUE((*writer)->append(pattern(60)));
  }
  EXPECT_TRUE(folder.disk.list("/data")->empty());
}

TEST(SealedFile, TemporaryOfADeadWriterIsReplaced) {
  Folder folder;
  ASSERT_TRUE(folder.disk.write_file(std::string(kPath) + ".tmp", pattern(99)));
  EXPECT_TRUE(write_sealed_file(folder.disk, kPath, key(), kId, pattern(10)));
  EXPECT_EQ(*folder.read(), pattern(10));
}

// Every n-th disk operation fails in turn: the old file stays whole until the new one is, and what was
// acknowledged survives a power cut.
TEST(SealedFile, EveryFailingOperationLeavesOldOrNew) {
  const Bytes before = pattern(1000);
  const Bytes after = pattern(kSealedChunkBytes + 2000);
  std::uint64_t n = 1;
  for (bool failed_one = true; failed_one && n < 100; ++n) {
    Folder folder;
    ASSERT_TRUE(write_sealed_file(folder.disk, kPath, key(), kId, before));
    const std::uint64_t start = folder.disk.operations();
    folder.disk.fail_nth(n, n % 2 == 0 ? Errc::io : Errc::no_space);
    auto written = write_sealed_file(folder.disk, kPath, key(), kId, after);
    failed_one = folder.disk.operations() - start >= n;
    if (!failed_one) {
      ASSERT_TRUE(written);
    }
    folder.disk.crash();
    auto got = folder.read();
    ASSERT_TRUE(got) << n << ": " << got.error().message();
    EXPECT_TRUE(*got == after || (!written && *got == before)) << n;
  }
  EXPECT_GT(n, 6U);
}

TEST(SealedFile, PowerCutAtEveryOperationLeavesOldOrNew) {
  const Bytes before = pattern(1000);
  const Bytes after = pattern(2000);
  for (std::uint64_t n = 1; n < 10; ++n) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      SimDisk disk(seed);
      ASSERT_TRUE(disk.make_dir("/data"));
      ASSERT_TRUE(write_sealed_file(disk, kPath, key(), kId, before));
      disk.cut_power_at(n);
      const bool acked = write_sealed_file(disk, kPath, key(), kId, after).has_value();
      disk.crash();
      auto got = read_sealed_file(disk, kPath, key(), kId, 1 << 20);
      ASSERT_TRUE(got) << n << "/" << seed << ": " << got.error().message();
      EXPECT_TRUE(*got == after || (!acked && *got == before));
    }
  }
}

}  // namespace
}  // namespace samovar::security
