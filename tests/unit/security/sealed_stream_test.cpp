// Sealed files whose size nobody knew beforehand.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/sim/sim_disk.hpp"
#include "security/sealed_file.hpp"
#include "tests/unit/security/vectors.hpp"

namespace samovar::security {
namespace {

constexpr const char* kPath = "/data/shard";
constexpr std::size_t kStored = kSealedChunkBytes + 16;
const SealedFileId kId{"dst_01J.1", 9, 3};

const SecretBytes& key() {
  static const SecretBytes kKey = SecretBytes::copy_of(vectors::counting(0, 32));
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
  Result<SealedSummary> write(ByteView plain, std::size_t piece) {
    if (disk.exists(kPath)) SAMOVAR_CHECK(disk.remove(kPath));
    SAMOVAR_TRY(auto file, disk.open(kPath, OpenMode::create_new));
    SAMOVAR_TRY(const auto writer, SealedStreamWriter::create(std::move(file), key(), kId));
    while (!plain.empty()) {
      const std::size_t size = std::min(piece, plain.size());
      SAMOVAR_CHECK(writer->append(plain.first(size)));
      plain = plain.subspan(size);
    }
    return writer->finish();
  }
  Result<Bytes> read() { return read_sealed_file(disk, kPath, key(), kId, 64 << 20); }
  bool reads_corrupt() {
    auto got = read();
    return !got && got.error().code() == Errc::corrupt;
  }
};

TEST(SealedStream, RoundTripsAroundChunkBordersInAnyPieces) {
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, kSealedChunkBytes - 1, kSealedChunkBytes, kSealedChunkBytes + 1,
        2 * kSealedChunkBytes, 5 * kSealedChunkBytes, 6 * kSealedChunkBytes + 77}) {
    for (const std::size_t piece : {std::size_t{99'991}, kSealedChunkBytes, 3 * kSealedChunkBytes + 1}) {
      Folder folder;
      const Bytes plain = pattern(size);
      auto summary = folder.write(plain, piece);
      ASSERT_TRUE(summary) << summary.error().message();
      const std::size_t chunks = std::max<std::size_t>(1, (size + kSealedChunkBytes - 1) / kSealedChunkBytes);
      EXPECT_EQ(summary->plain_bytes, size);
      EXPECT_EQ(summary->stored_bytes, kSealedHeaderBytes + size + 16 * chunks);
      EXPECT_EQ(folder.raw().size(), summary->stored_bytes);
      EXPECT_EQ(sha256(folder.raw()), summary->hash);
      EXPECT_EQ(decode_sealed_header(ByteView(folder.raw()).first(kSealedHeaderBytes))->chunks, 0U);
      auto got = folder.read();
      ASSERT_TRUE(got) << got.error().message();
      EXPECT_EQ(*got, plain);
    }
  }
}

TEST(SealedStream, EveryFlippedBitIsDetected) {
  Folder folder;
  ASSERT_TRUE(folder.write(as_bytes("hello sealed world"), 5));
  const Bytes good = folder.raw();
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    Bytes bad = good;
    bad[bit / 8] = static_cast<std::uint8_t>(bad[bit / 8] ^ (1U << (bit % 8)));
    folder.put_raw(bad);
    auto got = folder.read();
    ASSERT_FALSE(got) << bit;
    const bool in_version = bit / 64 == 1 && bit / 8 < 10;
    ASSERT_EQ(got.error().code(), in_version ? Errc::unsupported : Errc::corrupt) << bit;
  }
}

// Also exactly between two chunks, where only the mark of the last one tells.
TEST(SealedStream, TruncationAnywhereIsDetected) {
  Folder folder;
  ASSERT_TRUE(folder.write(pattern(2 * kSealedChunkBytes + 300), 1 << 20));
  const Bytes good = folder.raw();
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, kSealedHeaderBytes - 1, kSealedHeaderBytes, kSealedHeaderBytes + 15,
        kSealedHeaderBytes + 16, kSealedHeaderBytes + kStored, kSealedHeaderBytes + kStored + 1,
        kSealedHeaderBytes + kStored + 16, kSealedHeaderBytes + 2 * kStored,
        kSealedHeaderBytes + 2 * kStored + 17, good.size() - 1}) {
    folder.put_raw(ByteView(good).first(size));
    EXPECT_TRUE(folder.reads_corrupt()) << size;
  }
  for (const std::size_t extra : {std::size_t{1}, std::size_t{16}, std::size_t{17}, kStored}) {
    Bytes bad(good.size() + extra);
    std::copy(good.begin(), good.end(), bad.begin());
    folder.put_raw(bad);
    EXPECT_TRUE(folder.reads_corrupt()) << extra;
  }
}

TEST(SealedStream, ReorderedChunksAndZeroedPagesAreDetected) {
  Folder folder;
  ASSERT_TRUE(folder.write(pattern(3 * kSealedChunkBytes), 1 << 20));
  const Bytes good = folder.raw();
  const auto chunk = [&](Bytes& file, std::size_t i) {
    return file.begin() + static_cast<std::ptrdiff_t>(kSealedHeaderBytes + i * kStored);
  };
  for (std::size_t i = 0; i < 3; ++i) {
    Bytes swapped = good;
    std::swap_ranges(chunk(swapped, i), chunk(swapped, i) + kStored, chunk(swapped, (i + 1) % 3));
    folder.put_raw(swapped);
    EXPECT_TRUE(folder.reads_corrupt()) << i;
  }
  for (std::size_t page = 0; page + 4096 <= good.size(); page += 25 * 4096) {
    Bytes zeroed = good;
    std::fill_n(zeroed.begin() + static_cast<std::ptrdiff_t>(page), 4096, std::uint8_t{0});
    folder.put_raw(zeroed);
    EXPECT_TRUE(folder.reads_corrupt()) << page;
  }
}

// A counted file is not taken for a streamed one, nor the other way round.
TEST(SealedStream, TheTwoVersionsDoNotMix) {
  Folder folder;
  ASSERT_TRUE(folder.write(pattern(1000), 1000));
  Bytes streamed = folder.raw();
  streamed[8] = 1;  // version
  folder.put_raw(streamed);
  EXPECT_TRUE(folder.reads_corrupt());
  streamed[96] = 1;  // number of chunks, to fit
  folder.put_raw(streamed);
  EXPECT_TRUE(folder.reads_corrupt());
  ASSERT_TRUE(write_sealed_file(folder.disk, kPath, key(), kId, pattern(1000)));
  Bytes counted = folder.raw();
  counted[8] = 2;
  counted[96] = 0;
  folder.put_raw(counted);
  EXPECT_TRUE(folder.reads_corrupt());
}

TEST(SealedStream, EveryFailureEndsTheFile) {
  std::uint64_t n = 1;
  for (; n < 10; ++n) {
    Folder folder;
    const std::uint64_t before = folder.disk.operations();
    folder.disk.fail_nth(n, Errc::no_space);
    auto file = folder.disk.open(kPath, OpenMode::create_new);
    if (!file) continue;
    auto writer = SealedStreamWriter::create(*std::move(file), key(), kId);
    ASSERT_TRUE(writer);
    auto result = (*writer)->append(pattern(6 * kSealedChunkBytes));
    if (!result) {
      EXPECT_EQ(result.error().code(), Errc::no_space);
      EXPECT_EQ((*writer)->append(pattern(1)).error().code(), Errc::conflict);
      EXPECT_EQ((*writer)->finish().error().code(), Errc::conflict);
      continue;
    }
    auto summary = (*writer)->finish();
    if (folder.disk.operations() - before < n) {
      ASSERT_TRUE(summary);
      break;
    }
    EXPECT_FALSE(summary);
    EXPECT_FALSE((*writer)->finish());
  }
  EXPECT_GT(n, 3U);
}

TEST(SealedStream, WantsAnEmptyFile) {
  Folder folder;
  folder.put_raw(pattern(10));
  auto file = folder.disk.open(kPath, OpenMode::write);
  ASSERT_TRUE(file);
  EXPECT_EQ(SealedStreamWriter::create(*std::move(file), key(), kId).error().code(), Errc::conflict);
}

TEST(SealedStream, NoTwoFilesShareASalt) {
  Folder folder;
  std::set<Bytes> salts;
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(folder.write(pattern(10), 10));
    const Bytes raw = folder.raw();
    salts.emplace(raw.begin() + 104, raw.begin() + 120);
  }
  EXPECT_EQ(salts.size(), 100U);
}

}  // namespace
}  // namespace samovar::security
