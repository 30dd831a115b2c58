#include "daemon/store/data_dir.hpp"

#include <gtest/gtest.h>

#include "tests/unit/daemon/store/store_fixture.hpp"

namespace samovar::store {
namespace {

constexpr SpaceRules kNoRules{.reserve_bytes = 0, .full_share = 1.0, .ballast_bytes = 0};

Result<void> put(Disk& disk, const std::string& path, ByteView bytes) {
  SAMOVAR_TRY(const auto file, disk.open(path, OpenMode::create_new));
  SAMOVAR_CHECK(file->write_at(0, bytes));
  return file->sync();
}

// What an ingest leaves before it is published.
Result<void> fill_incoming(Disk& disk, DataDir& dir) {
  SAMOVAR_CHECK(dir.make_incoming("op_1"));
  for (const char* name : {"0", "1", "profile"})
    SAMOVAR_CHECK(put(disk, dir.incoming_file("op_1", name), pattern(1000, name[0])));
  return {};
}

bool whole(Disk& disk, const DataDir& dir) {
  for (const char* name : {"0", "1", "profile"}) {
    auto content = disk.read_file(dir.version_file("dst_1", 2, name), 2000);
    if (!content || *content != pattern(1000, name[0])) return false;
  }
  return true;
}

TEST(DataDir, PublishesAllOfAnIngestAtOnce) {
  SimDisk disk(1);
  auto dir = DataDir::open(disk, "/data", kNoRules);
  ASSERT_TRUE(dir);
  ASSERT_TRUE(fill_incoming(disk, *dir));
  ASSERT_TRUE(dir->publish("op_1", "dst_1", 2));
  EXPECT_TRUE(whole(disk, *dir));
  EXPECT_FALSE(disk.exists(dir->incoming("op_1")));
  EXPECT_TRUE(dir->publish("op_1", "dst_1", 2));  // a second time, after a cut
  EXPECT_TRUE(whole(disk, *dir));
  EXPECT_EQ(*dir->used_bytes(), 3000U);
}

// The power goes at every operation: the version is whole or absent, whole when it was acknowledged, and the
// collection leaves the disk as it was.
TEST(DataDir, APowerCutLeavesAWholeVersionOrGarbage) {
  bool acknowledged_all = false;
  int whole_without_word = 0;
  for (std::uint64_t n = 1; !acknowledged_all; ++n) {
    ASSERT_LT(n, 100U);
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      SimDisk disk(seed);
      auto dir = DataDir::open(disk, "/data", kNoRules);
      ASSERT_TRUE(dir);
      disk.cut_power_at(n);
      const bool acked = fill_incoming(disk, *dir) && dir->publish("op_1", "dst_1", 2);
      acknowledged_all = acked;
      disk.crash();
      auto again = DataDir::open(disk, "/data", kNoRules);
      ASSERT_TRUE(again);
      const bool there = disk.exists(again->version("dst_1", 2));
      if (acked) {
        EXPECT_TRUE(whole(disk, *again)) << n << "/" << seed;
      }
      if (there) {
        EXPECT_TRUE(whole(disk, *again)) << n << "/" << seed;
        whole_without_word += acked ? 0 : 1;
      }
      ASSERT_TRUE(again->collect({}));
      EXPECT_EQ(*again->used_bytes(), 0U) << n << "/" << seed;
      for (const char* folder : {"uploads", "incoming", "versions", "sources"})
        EXPECT_TRUE(disk.list(std::string("/data/") + folder)->empty()) << n << "/" << seed;
    }
  }
  EXPECT_GT(whole_without_word, 0);  // the cut did fall between the rename and its answer
}

// The harness has teeth: a publication that renames before it syncs is caught.
TEST(DataDir, APublicationWithoutSyncIsCaught) {
  int torn = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SimDisk disk(seed);
    auto dir = DataDir::open(disk, "/data", kNoRules);
    ASSERT_TRUE(dir);
    ASSERT_TRUE(dir->make_incoming("op_1"));
    for (const char* name : {"0", "1", "profile"}) {
      auto file = disk.open(dir->incoming_file("op_1", name), OpenMode::create_new);
      ASSERT_TRUE(file && (*file)->write_at(0, pattern(1000, name[0])));  // and no sync
    }
    ASSERT_TRUE(disk.sync_dir(dir->incoming("op_1")));
    ASSERT_TRUE(disk.rename(dir->incoming("op_1"), dir->version("dst_1", 2)));
    ASSERT_TRUE(disk.sync_dir("/data/versions"));
    disk.crash();
    torn += whole(disk, *dir) ? 0 : 1;
  }
  EXPECT_GT(torn, 0);
}

TEST(DataDir, MovesAnUploadToTheSourcesAndBack) {
  for (std::uint64_t n = 1; n < 12; ++n) {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      SimDisk disk(seed);
      auto dir = DataDir::open(disk, "/data", kNoRules);
      ASSERT_TRUE(dir);
      ASSERT_TRUE(disk.write_file(dir->upload("upl_1"), pattern(500)));
      disk.cut_power_at(n);
      const bool acked = dir->keep_source("upl_1", "dst_1").has_value();
      disk.crash();
      const bool moved = disk.exists(dir->source("dst_1"));
      EXPECT_NE(moved, disk.exists(dir->upload("upl_1"))) << n << "/" << seed;
      if (acked) {
        EXPECT_TRUE(moved);
      }
      ASSERT_TRUE(dir->keep_source("upl_1", "dst_1"));
      EXPECT_EQ(*disk.read_file(dir->source("dst_1"), 1000), pattern(500));
      ASSERT_TRUE(dir->return_source("dst_1", "upl_1"));
      EXPECT_EQ(*disk.read_file(dir->upload("upl_1"), 1000), pattern(500));
      EXPECT_EQ(dir->keep_source("upl_2", "dst_2").error().code(), Errc::not_found);
    }
  }
}

TEST(DataDir, CollectsWhatNobodyKnows) {
  SimDisk disk(1);
  auto dir = DataDir::open(disk, "/data", kNoRules);
  ASSERT_TRUE(dir);
  for (const char* id : {"upl_keep", "upl_gone"}) ASSERT_TRUE(disk.write_file(dir->upload(id), pattern(10)));
  for (const char* id : {"dst_keep", "dst_gone"}) ASSERT_TRUE(disk.write_file(dir->source(id), pattern(20)));
  for (const char* id : {"op_keep", "op_gone"}) {
    ASSERT_TRUE(dir->make_incoming(id));
    ASSERT_TRUE(put(disk, dir->incoming_file(id, "0"), pattern(30)));
  }
  for (const std::uint32_t version : {1U, 2U}) {
    ASSERT_TRUE(disk.make_dir(dir->version("dst_keep", version)));
    ASSERT_TRUE(put(disk, dir->version_file("dst_keep", version, "0"), pattern(40)));
  }
  DataDir::Known known;
  known.uploads = {"upl_keep"};
  known.sources = {"dst_keep"};
  known.operations = {"op_keep"};
  known.versions = {"dst_keep.2"};
  auto collected = dir->collect(known);
  ASSERT_TRUE(collected);
  EXPECT_EQ(collected->files, 4U);
  EXPECT_EQ(collected->bytes, 100U);
  EXPECT_EQ(*dir->used_bytes(), 100U);
  EXPECT_TRUE(disk.exists(dir->version_file("dst_keep", 2, "0")));
  EXPECT_EQ(dir->collect(known)->files, 0U);
}

TEST(DataDir, RemovingIsForGood) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SimDisk disk(seed);
    auto dir = DataDir::open(disk, "/data", kNoRules);
    ASSERT_TRUE(dir && fill_incoming(disk, *dir) && dir->publish("op_1", "dst_1", 2));
    ASSERT_TRUE(disk.write_file(dir->source("dst_1"), pattern(10)));
    ASSERT_TRUE(dir->remove_source("dst_1"));
    ASSERT_TRUE(dir->remove_version("dst_1", 2));
    ASSERT_TRUE(dir->remove_version("dst_1", 2));  // nothing to do
    disk.crash();
    EXPECT_EQ(*dir->used_bytes(), 0U);
  }
}

TEST(DataDir, RefusesDataBeforeTheDiskIsFull) {
  SimDisk disk(1, 1'000'000);
  auto dir =
      DataDir::open(disk, "/data", {.reserve_bytes = 10'000, .full_share = 0.95, .ballast_bytes = 20'000});
  ASSERT_TRUE(dir);
  EXPECT_TRUE(dir->check_room(950'000));
  EXPECT_EQ(dir->check_room(950'001).error().code(), Errc::no_space);
  ASSERT_TRUE(disk.write_file("/data/uploads/x", Bytes(900'000)));
  EXPECT_TRUE(dir->check_room(50'000));
  EXPECT_EQ(dir->check_room(50'001).error().code(), Errc::no_space);
}

TEST(DataDir, TheBallastMakesRoomWhenTheDiskIsFull) {
  SimDisk disk(1, 1'000'000);
  auto dir =
      DataDir::open(disk, "/data", {.reserve_bytes = 10'000, .full_share = 0.95, .ballast_bytes = 20'000});
  ASSERT_TRUE(dir);
  ASSERT_TRUE(dir->tend_ballast());
  EXPECT_EQ(*disk.open("/data/ballast", OpenMode::read).value()->size(), 20'000U);
  EXPECT_EQ(disk.space("/data")->free_bytes, 980'000U);  // real bytes, not a hole
  ASSERT_TRUE(dir->tend_ballast());
  EXPECT_EQ(disk.space("/data")->free_bytes, 980'000U);
  ASSERT_TRUE(disk.write_file("/data/uploads/x", Bytes(975'000)));
  ASSERT_FALSE(disk.write_file("/data/uploads/y", Bytes(8'000)));
  ASSERT_TRUE(dir->tend_ballast());
  EXPECT_FALSE(disk.exists("/data/ballast"));
  EXPECT_TRUE(disk.write_file("/data/uploads/y", Bytes(8'000)));
  ASSERT_TRUE(dir->tend_ballast());
  EXPECT_FALSE(disk.exists("/data/ballast"));  // not while the room is needed
  ASSERT_TRUE(disk.remove("/data/uploads/x"));
  ASSERT_TRUE(dir->tend_ballast());
  EXPECT_TRUE(disk.exists("/data/ballast"));
}

TEST(DataDirDeathTest, NamesDoNotLeadElsewhere) {
  SimDisk disk(1);
  auto dir = DataDir::open(disk, "/data", kNoRules);
  ASSERT_TRUE(dir);
  EXPECT_DEATH(static_cast<void>(dir->upload("../keyring")), "is_name");
  EXPECT_DEATH(static_cast<void>(dir->source("")), "is_name");
  EXPECT_DEATH(static_cast<void>(dir->version_file("dst_1", 1, "a/b")), "is_name");
}

}  // namespace
}  // namespace samovar::store
