#include "daemon/store/staging.hpp"

#include <gtest/gtest.h>

#include <functional>
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

// Runs something before the n-th write, which then fails.
class FailingDisk final : public Disk {
 public:
  explicit FailingDisk(Disk& under) : under_(under) {}
  void fail(int write, std::function<void()> before) {
    writes_ = write;
    before_ = std::move(before);
  }

  Result<std::unique_ptr<File>> open(const std::string& path, OpenMode mode) override {
    SAMOVAR_TRY(auto file, under_.open(path, mode));
    return std::unique_ptr<File>(new Handle(*this, std::move(file)));
  }
  bool exists(const std::string& path) override { return under_.exists(path); }
  Result<void> rename(const std::string& from, const std::string& to) override {
    return under_.rename(from, to);
  }
  Result<void> remove(const std::string& path) override { return under_.remove(path); }
  Result<void> make_dir(const std::string& path) override { return under_.make_dir(path); }
  Result<std::vector<std::string>> list(const std::string& dir) override { return under_.list(dir); }
  Result<void> sync_dir(const std::string& dir) override { return under_.sync_dir(dir); }
  Result<DiskSpace> space(const std::string& path) override { return under_.space(path); }

 private:
  class Handle final : public File {
   public:
    Handle(FailingDisk& disk, std::unique_ptr<File> under) : disk_(disk), under_(std::move(under)) {}
    Result<std::size_t> read_at(std::uint64_t offset, MutableBytes out) override {
      return under_->read_at(offset, out);
    }
    Result<void> write_at(std::uint64_t offset, ByteView data) override {
      if (disk_.writes_ == 0 || --disk_.writes_ > 0) return under_->write_at(offset, data);
      disk_.before_();
      return Error{Errc::io, "the disk is full"};
    }
    Result<void> truncate(std::uint64_t size) override { return under_->truncate(size); }
    Result<void> sync() override { return under_->sync(); }
    Result<std::uint64_t> size() override { return under_->size(); }

   private:
    FailingDisk& disk_;
    std::unique_ptr<File> under_;
  };

  Disk& under_;
  int writes_ = 0;
  std::function<void()> before_;
};

// Half of an append may be on the disk when a sync begins: it must not count, as it is taken back with the
// rest.
TEST(Staging, ASyncBesideAnAppendThatFailsKeepsWhatCameBefore) {
  for (const bool rolled_back : {false, true}) {
    Folder folder;
    FailingDisk disk(folder.disk);
    auto made = StagingFile::create(disk, kPath, folder.wrap, test_head());
    ASSERT_TRUE(made);
    auto file = *std::move(made);
    Bytes expected = pattern(1000);
    ASSERT_TRUE(file->append(expected, kNow));
    const Bytes lost = pattern(20 * staging::kRecordPlainMax, expected.size());
    bool synced = false;
    disk.fail(2, [&] { synced = file->sync().has_value(); });
    EXPECT_FALSE(file->append(lost, kNow));
    EXPECT_TRUE(synced);
    EXPECT_EQ(file->synced_size(), expected.size());
    if (rolled_back) {
      ASSERT_TRUE(file->roll_back());
    }
    EXPECT_EQ(file->size(), expected.size());
    const Bytes more = pattern(3000, expected.size());
    ASSERT_TRUE(file->append(more, kNow));
    expected.insert(expected.end(), more.begin(), more.end());
    ASSERT_TRUE(file->sync());
    file.reset();
    auto again = folder.open();
    ASSERT_TRUE(again) << again.error().message();
    EXPECT_EQ((*again)->size(), expected.size());
    auto content = read_staging(folder.disk, kPath, (*again)->key());
    ASSERT_TRUE(content) << content.error().message();
    EXPECT_TRUE(*content == expected);
  }
}

TEST(Staging, AFileThatHasBecomeShorterIsNotFilledUpWithNothing) {
  Folder folder;
  auto file = folder.create();
  ASSERT_TRUE(file->append(pattern(5000), kNow));
  ASSERT_TRUE(file->sync());
  auto other = folder.disk.open(kPath, OpenMode::write);
  ASSERT_TRUE(other);
  ASSERT_TRUE((*other)->truncate(1000));
  const auto rolled = file->roll_back();
  ASSERT_FALSE(rolled);
  EXPECT_EQ(rolled.error().code(), Errc::corrupt);
  EXPECT_FALSE(file->append(pattern(10), kNow)) << "nothing is added to it";
}

}  // namespace
}  // namespace samovar::store
