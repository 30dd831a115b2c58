#include "daemon/store/shard_file.hpp"

#include <gtest/gtest.h>

#include "tests/unit/daemon/store/store_fixture.hpp"

namespace samovar::store {
namespace {

constexpr const char* kPath = "/data/0";
const security::SealedFileId kPlace = shard_place("dst_01J8Z3K4M5N6P7Q8R9S0T1V2W3", 1, 0);

struct Folder {
  SimDisk disk{1};
  security::SecretBytes key = test_key(3);
  Folder() { EXPECT_TRUE(disk.make_dir("/data")); }
  Result<ShardSummary> write(const std::vector<std::size_t>& sizes) {
    SAMOVAR_TRY(auto file, disk.open(kPath, OpenMode::create_new));
    SAMOVAR_TRY(const auto writer, ShardWriter::create(std::move(file), key, kPlace));
    std::uint64_t at = 0;
    for (const std::size_t size : sizes) {
      SAMOVAR_CHECK(writer->append(static_cast<std::uint32_t>(size / 10), pattern(size, at)));
      at += size;
    }
    return writer->finish();
  }
  Result<std::unique_ptr<ShardReader>> open() {
    SAMOVAR_TRY(auto file, disk.open(kPath, OpenMode::read));
    return ShardReader::open(std::move(file), key, kPlace);
  }
};

TEST(Shard, GivesBackItsBlocksInAnyOrder) {
  Folder folder;
  const std::vector<std::size_t> sizes{100, 1'000'000, 0, 262'144, 700'001, 3};
  auto summary = folder.write(sizes);
  ASSERT_TRUE(summary) << summary.error().message();
  EXPECT_EQ(summary->blocks, sizes.size());
  auto reader = folder.open();
  ASSERT_TRUE(reader) << reader.error().message();
  ASSERT_EQ((*reader)->blocks().size(), sizes.size());
  Bytes block;
  for (const std::size_t i : {0, 1, 2, 3, 4, 5, 1, 5, 0, 4}) {
    ASSERT_TRUE((*reader)->read(i, block));
    EXPECT_EQ(block, pattern(sizes[i], (*reader)->blocks()[i].offset)) << i;
    EXPECT_EQ((*reader)->blocks()[i].rows, sizes[i] / 10);
  }
}

}  // namespace
}  // namespace samovar::store
