// The contract of Disk on both implementations, then what only the real one has: modes, errno, failpoints.
#include "base/disk.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <functional>

#include "base/failpoint.hpp"
#include "base/sim/sim_disk.hpp"
#include "tests/support/temp_dir.hpp"

namespace samovar {
namespace {

struct Place {
  virtual ~Place() = default;
  virtual Disk& disk() = 0;
  virtual std::string root() = 0;
};
struct RealPlace : Place {
  Disk& disk() override { return real_disk(); }
  std::string root() override { return dir.path(); }
  test::TempDir dir;
};
struct SimPlace : Place {
  SimPlace() { EXPECT_TRUE(sim.make_dir("/d")); }
  Disk& disk() override { return sim; }
  std::string root() override { return "/d"; }
  SimDisk sim{1};
};

template <class P>
class DiskContract : public testing::Test {
 protected:
  Disk& disk() { return place_.disk(); }
  std::string at(const std::string& name) { return place_.root() + "/" + name; }
  P place_;
};
using Places = testing::Types<RealPlace, SimPlace>;
TYPED_TEST_SUITE(DiskContract, Places);

std::string text(Disk& disk, const std::string& path) {
  const auto content = disk.read_file(path, 1 << 20);
  return content ? std::string(as_text(*content)) : "error " + std::string(to_string(content.error().code()));
}

TYPED_TEST(DiskContract, WritesAndReadsAtOffsets) {
  auto file = this->disk().open(this->at("f"), OpenMode::create_new);
  ASSERT_TRUE(file);
  ASSERT_TRUE((*file)->write_at(3, as_bytes("abc")));
  ASSERT_TRUE((*file)->write_at(0, as_bytes("xy")));
  EXPECT_EQ(*(*file)->size(), 6U);
  Bytes out(10);
  EXPECT_EQ(*(*file)->read_at(0, out), 6U);
  EXPECT_EQ(as_text(ByteView(out).first(6)), std::string_view("xy\0abc", 6));
  EXPECT_EQ(*(*file)->read_at(4, MutableBytes(out).first(1)), 1U);
  EXPECT_EQ(out[0], 'b');
  EXPECT_EQ(*(*file)->read_at(100, out), 0U);
  ASSERT_TRUE((*file)->truncate(1));
  ASSERT_TRUE((*file)->sync());
  EXPECT_EQ(text(this->disk(), this->at("f")), "x");
}

TYPED_TEST(DiskContract, OpenModes) {
  EXPECT_EQ(this->disk().open(this->at("f"), OpenMode::read).error().code(), Errc::not_found);
  ASSERT_TRUE(this->disk().write_file(this->at("f"), as_bytes("old")));
  EXPECT_EQ(this->disk().open(this->at("f"), OpenMode::create_new).error().code(), Errc::conflict);
  auto kept = this->disk().open(this->at("f"), OpenMode::write);
  ASSERT_TRUE(kept);
  EXPECT_EQ(*(*kept)->size(), 3U);
  auto reading = this->disk().open(this->at("f"), OpenMode::read);
  ASSERT_TRUE(reading);
  EXPECT_FALSE((*reading)->write_at(0, as_bytes("x")));
  EXPECT_EQ(this->disk().open(this->at("no/f"), OpenMode::write).error().code(), Errc::not_found);
}

TYPED_TEST(DiskContract, RenameReplacesAndRemoveRemoves) {
  ASSERT_TRUE(this->disk().write_file(this->at("a"), as_bytes("1")));
  ASSERT_TRUE(this->disk().write_file(this->at("b"), as_bytes("2")));
  ASSERT_TRUE(this->disk().rename(this->at("a"), this->at("b")));
  EXPECT_FALSE(this->disk().exists(this->at("a")));
  EXPECT_EQ(text(this->disk(), this->at("b")), "1");
  EXPECT_EQ(this->disk().rename(this->at("a"), this->at("b")).error().code(), Errc::not_found);
  ASSERT_TRUE(this->disk().remove(this->at("b")));
  EXPECT_EQ(this->disk().remove(this->at("b")).error().code(), Errc::not_found);
}

TYPED_TEST(DiskContract, MakesDirectoriesWithParents) {
  ASSERT_TRUE(this->disk().make_dir(this->at("x/y/z")));
  ASSERT_TRUE(this->disk().make_dir(this->at("x/y/z")));
  EXPECT_TRUE(this->disk().exists(this->at("x/y")));
  ASSERT_TRUE(this->disk().write_file(this->at("x/f"), as_bytes("1")));
  EXPECT_FALSE(this->disk().make_dir(this->at("x/f")));
  EXPECT_EQ(*this->disk().list(this->at("x")), (std::vector<std::string>{"f", "y"}));
  EXPECT_EQ(this->disk().list(this->at("q")).error().code(), Errc::not_found);
  EXPECT_FALSE(this->disk().remove(this->at("x")));
  EXPECT_TRUE(this->disk().remove(this->at("x/y/z")));
  EXPECT_TRUE(this->disk().list(this->at("x/y"))->empty());
}

TYPED_TEST(DiskContract, ReadFileHasALimit) {
  ASSERT_TRUE(this->disk().write_file(this->at("f"), as_bytes("12345")));
  EXPECT_EQ(this->disk().read_file(this->at("f"), 5)->size(), 5U);
  EXPECT_EQ(this->disk().read_file(this->at("f"), 4).error().code(), Errc::corrupt);
  EXPECT_EQ(this->disk().read_file(this->at("g"), 4).error().code(), Errc::not_found);
  ASSERT_TRUE(this->disk().write_file(this->at("e"), {}));
  EXPECT_TRUE(this->disk().read_file(this->at("e"), 0)->empty());
  const Bytes big(100'000, 7);
  ASSERT_TRUE(this->disk().write_file(this->at("b"), big));
  EXPECT_EQ(*this->disk().read_file(this->at("b"), 100'000), big);
}

TYPED_TEST(DiskContract, WriteFileReplacesAndLeavesNoTemporary) {
  ASSERT_TRUE(this->disk().write_file(this->at("f"), as_bytes("a long first content")));
  ASSERT_TRUE(
      this->disk().write_file(this->at("f.tmp"), as_bytes("left by a crash, and longer than the next")));
  ASSERT_TRUE(this->disk().write_file(this->at("f"), as_bytes("second")));
  EXPECT_EQ(text(this->disk(), this->at("f")), "second");
  EXPECT_FALSE(this->disk().exists(this->at("f.tmp")));
}

TYPED_TEST(DiskContract, SpaceIsPlausible) {
  const auto space = this->disk().space(this->place_.root());
  ASSERT_TRUE(space);
  EXPECT_GT(space->total_bytes, 0U);
  EXPECT_LE(space->free_bytes, space->total_bytes);
}

TEST(RealDisk, FilesAndDirectoriesAreOurs) {
  const test::TempDir dir;
  ASSERT_TRUE(real_disk().make_dir(dir / "x/y"));
  ASSERT_TRUE(real_disk().write_file(dir / "x/f", as_bytes("1")));
  struct stat info {};
  ASSERT_EQ(::stat((dir / "x/f").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777U, 0600U);
  for (const char* made : {"x", "x/y"}) {
    ASSERT_EQ(::stat((dir / made).c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 07777U, 0700U);
  }
}

TEST(RealDisk, ReadsFilesThatCallThemselvesEmpty) {
  const auto content = real_disk().read_file("/proc/self/stat", 4096);
  ASSERT_TRUE(content);
  EXPECT_FALSE(content->empty());
}

TEST(RealDisk, ErrorsSayWhatAndWhere) {
  const test::TempDir dir;
  const auto missing = real_disk().open(dir / "none", OpenMode::read);
  EXPECT_NE(missing.error().message().find(dir / "none"), std::string::npos);
  EXPECT_EQ(real_disk().open(dir.path(), OpenMode::write).error().code(), Errc::invalid);
  EXPECT_EQ(real_disk().read_file(dir.path(), 1 << 20).error().code(), Errc::invalid);
  EXPECT_EQ(real_disk().list(dir / "none").error().code(), Errc::not_found);
  EXPECT_EQ(real_disk().sync_dir(dir / "none").error().code(), Errc::not_found);
  EXPECT_EQ(real_disk().space(dir / "none").error().code(), Errc::not_found);
  if (::geteuid() != 0) {
    EXPECT_EQ(real_disk().write_file("/proc/version", as_bytes("x")).error().code(), Errc::denied);
  }
}

TEST(RealDisk, AFullDiskIsNoSpace) {
  auto full = real_disk().open("/dev/full", OpenMode::write);
  ASSERT_TRUE(full);
  const auto r = (*full)->write_at(0, as_bytes("x"));
  ASSERT_FALSE(r);
  EXPECT_EQ(r.error().code(), Errc::no_space);
  EXPECT_NE(r.error().message().find("free some space"), std::string::npos);
}

class RealDiskFailing : public testing::Test {
 protected:
  void SetUp() override {
    if (failpoint::names().empty()) GTEST_SKIP() << "failpoints are compiled out";
  }
  void TearDown() override { failpoint::disarm_all(); }
  test::TempDir dir_;
};

// At whichever step of write_file the disk fails, the old or the new content is there, whole.
TEST_F(RealDiskFailing, WriteFileKeepsOldOrNewAtEveryStep) {
  struct Case {
    const char* spec;
    const char* content;
  };
  for (const Case& c :
       {Case{"disk.open=error", "old"}, Case{"disk.truncate=error", "old"}, Case{"disk.write=error", "old"},
        Case{"disk.write.short=short:1", "old"}, Case{"disk.sync.before=error", "old"},
        Case{"disk.sync.after=error", "old"}, Case{"disk.rename.before=error", "old"},
        Case{"disk.rename.after=error", "new"}, Case{"disk.sync_dir=error", "new"}}) {
    ASSERT_TRUE(real_disk().write_file(dir_ / "f", as_bytes("old")));
    ASSERT_TRUE(failpoint::arm(c.spec));
    EXPECT_FALSE(real_disk().write_file(dir_ / "f", as_bytes("new"))) << c.spec;
    failpoint::disarm_all();
    EXPECT_EQ(text(real_disk(), dir_ / "f"), c.content) << c.spec;
    EXPECT_FALSE(real_disk().exists(dir_ / "f.tmp")) << c.spec;
  }
}

TEST_F(RealDiskFailing, AShortWriteIsAFullDisk) {
  ASSERT_TRUE(failpoint::arm("disk.write.short=short:2"));
  auto file = real_disk().open(dir_ / "f", OpenMode::write);
  ASSERT_TRUE(file);
  EXPECT_EQ((*file)->write_at(0, as_bytes("abcd")).error().code(), Errc::no_space);
  EXPECT_EQ(text(real_disk(), dir_ / "f"), "ab");
}

TEST_F(RealDiskFailing, ReadErrorsReachTheCaller) {
  ASSERT_TRUE(real_disk().write_file(dir_ / "f", as_bytes("x")));
  ASSERT_TRUE(failpoint::arm("disk.read=error"));
  EXPECT_EQ(real_disk().read_file(dir_ / "f", 10).error().code(), Errc::io);
}

}  // namespace
}  // namespace samovar
