#include "daemon/store/staging.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "daemon/store/staging_format.hpp"
#include "tests/unit/daemon/store/store_fixture.hpp"

namespace samovar::store {
namespace {

using namespace std::chrono_literals;

constexpr const char* kPath = "/data/upload";
constexpr WallTime kNow{1'700'000'000s};

struct Folder {
  SimDisk disk{1};
  security::SecretBytes wrap = test_key(3);
  Folder() { EXPECT_TRUE(disk.make_dir("/data")); }
  std::unique_ptr<StagingFile> create() {
    auto made = StagingFile::create(disk, kPath, wrap, test_head());
    EXPECT_TRUE(made) << (made ? "" : made.error().message());
    return *std::move(made);
  }
  Result<std::unique_ptr<StagingFile>> open() { return StagingFile::open(disk, kPath, wrap); }
};

TEST(Staging, HoldsWhatWasAppendedAcrossReopening) {
  Folder folder;
  Bytes expected;
  {
    auto file = folder.create();
    for (const std::size_t size : {std::size_t{1}, std::size_t{5000}, staging::kRecordPlainMax,
                                   5 * staging::kRecordPlainMax + 17, std::size_t{0}}) {
      const Bytes part = pattern(size, expected.size());
      ASSERT_TRUE(file->append(part, kNow));
      expected.insert(expected.end(), part.begin(), part.end());
    }
    EXPECT_EQ(file->size(), expected.size());
    EXPECT_EQ(file->synced_size(), 0U);
    ASSERT_TRUE(file->sync());
    EXPECT_EQ(file->synced_size(), expected.size());
  }
  auto file = folder.open();
  ASSERT_TRUE(file) << file.error().message();
  EXPECT_EQ((*file)->head().upload_id, kUploadId);
  EXPECT_EQ((*file)->head().about, test_head().about);
  EXPECT_EQ((*file)->size(), expected.size());
  EXPECT_EQ((*file)->last_append(), kNow);
  EXPECT_FALSE((*file)->sha256());
  const Bytes more = pattern(300, expected.size());
  ASSERT_TRUE((*file)->append(more, kNow + 1s));
  expected.insert(expected.end(), more.begin(), more.end());
  security::Hash256 hash{};
  hash.fill(9);
  ASSERT_TRUE((*file)->finish(hash, kNow + 2s));
  EXPECT_FALSE((*file)->append(more, kNow));
  for (const std::size_t piece : {std::size_t{1009}, staging::kRecordPlainMax, std::size_t{3} << 20}) {
    auto content = read_staging(folder.disk, kPath, (*file)->key(), piece);
    ASSERT_TRUE(content) << content.error().message();
    EXPECT_EQ(*content, expected);
  }
  auto again = folder.open();
  ASSERT_TRUE(again);
  EXPECT_EQ((*again)->sha256(), hash);
  EXPECT_EQ((*again)->size(), expected.size());
}

TEST(Staging, PartsAreHeldOneBehindTheOther) {
  Folder folder;
  auto file = folder.create();
  Bytes expected;
  for (int turn = 0; turn < 2; ++turn) {
    std::vector<Bytes> parts;
    for (const std::size_t size :
         {std::size_t{100'000}, std::size_t{0}, staging::kRecordPlainMax, std::size_t{7},
          6 * staging::kRecordPlainMax - 1, staging::kRecordPlainMax + 1}) {
      parts.push_back(pattern(size, expected.size()));
      expected.insert(expected.end(), parts.back().begin(), parts.back().end());
    }
    const std::vector<ByteView> views(parts.begin(), parts.end());
    ASSERT_TRUE(file->append(views, kNow));
    EXPECT_EQ(file->size(), expected.size());
  }
  ASSERT_TRUE(file->sync());
  auto content = read_staging(folder.disk, kPath, file->key(), 1 << 20);
  ASSERT_TRUE(content) << content.error().message();
  EXPECT_TRUE(*content == expected);
  file.reset();
  auto again = folder.open();
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_EQ((*again)->size(), expected.size());
}

}  // namespace
}  // namespace samovar::store
