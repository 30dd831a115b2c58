#include "base/sim/sim_disk.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace samovar {
namespace {

std::string text(Disk& disk, const std::string& path) {
  const auto content = disk.read_file(path, 1 << 20);
  return content ? std::string(as_text(*content))
                 : "<" + std::string(to_string(content.error().code())) + ">";
}

void write(Disk& disk, const std::string& path, std::string_view content, bool sync) {
  auto file = disk.open(path, OpenMode::write);
  ASSERT_TRUE(file);
  ASSERT_TRUE((*file)->write_at(0, as_bytes(content)));
  if (sync) {
    ASSERT_TRUE((*file)->sync());
  }
}

// What `path` may hold after a crash, over many seeds.
std::set<std::string> after_crash(const std::function<void(SimDisk&)>& prepare,
                                  const std::string& path = "/f") {
  std::set<std::string> seen;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SimDisk disk(seed);
    prepare(disk);
    disk.crash();
    seen.insert(text(disk, path));
  }
  return seen;
}

TEST(SimDisk, SyncedFileInSyncedDirectorySurvives) {
  EXPECT_EQ(after_crash([](SimDisk& disk) {
              write(disk, "/f", "data", true);
              ASSERT_TRUE(disk.sync_dir("/"));
            }),
            (std::set<std::string>{"data"}));
}

TEST(SimDisk, AnUnsyncedNameMayBeLost) {
  EXPECT_EQ(after_crash([](SimDisk& disk) { write(disk, "/f", "data", true); }),
            (std::set<std::string>{"data", "<not_found>"}));
}

TEST(SimDisk, UnsyncedDataMayBeThereGoneOrTorn) {
  EXPECT_EQ(after_crash([](SimDisk& disk) {
              write(disk, "/f", "ab", false);
              ASSERT_TRUE(disk.sync_dir("/"));
            }),
            (std::set<std::string>{"", "a", "ab"}));
}

TEST(SimDisk, UnsyncedWritesSurviveEachOnItsOwn) {
  const auto seen = after_crash([](SimDisk& disk) {
    write(disk, "/f", "..", true);
    ASSERT_TRUE(disk.sync_dir("/"));
    auto file = disk.open("/f", OpenMode::write);
    ASSERT_TRUE((*file)->write_at(0, as_bytes("x")));
    ASSERT_TRUE((*file)->write_at(1, as_bytes("y")));
  });
  EXPECT_EQ(seen, (std::set<std::string>{"..", "x.", ".y", "xy"})) << "the second without the first, too";
}

TEST(SimDisk, AnUnsyncedRenameGivesOldOrNew) {
  EXPECT_EQ(after_crash([](SimDisk& disk) {
              write(disk, "/f", "old", true);
              write(disk, "/g", "new", true);
              ASSERT_TRUE(disk.sync_dir("/"));
              ASSERT_TRUE(disk.rename("/g", "/f"));
            }),
            (std::set<std::string>{"old", "new"}));
}

// The classic mistake: rename without sync before it.
TEST(SimDisk, ARenameDoesNotSyncTheContent) {
  const auto seen = after_crash([](SimDisk& disk) {
    write(disk, "/f", "old", true);
    ASSERT_TRUE(disk.sync_dir("/"));
    write(disk, "/g", "new", false);
    ASSERT_TRUE(disk.rename("/g", "/f"));
    ASSERT_TRUE(disk.sync_dir("/"));
  });
  EXPECT_TRUE(seen.contains(""));
  EXPECT_TRUE(seen.contains("new"));
  EXPECT_FALSE(seen.contains("old"));
}

TEST(SimDisk, AnUnsyncedRemoveMayComeBack) {
  EXPECT_EQ(after_crash([](SimDisk& disk) {
              write(disk, "/f", "data", true);
              ASSERT_TRUE(disk.sync_dir("/"));
              ASSERT_TRUE(disk.remove("/f"));
            }),
            (std::set<std::string>{"data", "<not_found>"}));
}

TEST(SimDisk, ARenamedFolderIsAtTheOldNameOrTheNew) {
  std::set<std::string> seen;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SimDisk disk(seed);
    ASSERT_TRUE(disk.make_dir("/d/old"));
    ASSERT_TRUE(disk.write_file("/d/old/f", to_bytes("content")));
    ASSERT_TRUE(disk.rename("/d/old", "/d/new"));
    EXPECT_EQ(*disk.list("/d"), std::vector<std::string>{"new"});
    EXPECT_EQ(*disk.list("/d/new"), std::vector<std::string>{"f"});
    EXPECT_FALSE(disk.exists("/d/old"));
    if (seed % 2 == 0) {
      ASSERT_TRUE(disk.sync_dir("/d"));
    }
    disk.crash();
    const auto names = *disk.list("/d");
    ASSERT_EQ(names.size(), 1U);
    if (seed % 2 == 0) {
      EXPECT_EQ(names[0], "new");
    }
    seen.insert(names[0]);
    EXPECT_EQ(*disk.read_file("/d/" + names[0] + "/f", 100), to_bytes("content"));
  }
  EXPECT_EQ(seen.size(), 2U);
}

TEST(SimDisk, AFileThatComesBackHasItsFolder) {
  bool came_back = false;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SimDisk disk(seed);
    ASSERT_TRUE(disk.make_dir("/d/e"));
    ASSERT_TRUE(disk.write_file("/d/e/f", to_bytes("content")));
    ASSERT_TRUE(disk.remove("/d/e/f"));
    ASSERT_TRUE(disk.remove("/d/e"));
    disk.crash();
    if (!disk.exists("/d/e/f")) continue;
    came_back = true;
    EXPECT_EQ(*disk.list("/d/e"), std::vector<std::string>{"f"});
  }
  EXPECT_TRUE(came_back);
}

TEST(SimDisk, FilesOpenedBeforeACrashAreDead) {
  SimDisk disk(1);
  auto file = disk.open("/f", OpenMode::write);
  disk.crash();
  EXPECT_EQ((*file)->write_at(0, as_bytes("x")).error().code(), Errc::io);
  EXPECT_EQ((*file)->sync().error().code(), Errc::io);
  Bytes out(1);
  EXPECT_EQ((*file)->read_at(0, out).error().code(), Errc::io);
}

TEST(SimDisk, FailsTheNthOperationOnce) {
  SimDisk disk(1);
  auto file = disk.open("/f", OpenMode::write);
  disk.fail_nth(2, Errc::no_space);
  EXPECT_TRUE((*file)->truncate(0));
  EXPECT_EQ((*file)->truncate(0).error().code(), Errc::no_space);
  EXPECT_TRUE((*file)->truncate(0));
}

TEST(SimDisk, AFullDiskIsNoSpaceAndFreesAgain) {
  SimDisk disk(1, 10);
  write(disk, "/f", "12345678", true);
  auto other = disk.open("/g", OpenMode::write);
  EXPECT_EQ((*other)->write_at(0, as_bytes("abc")).error().code(), Errc::no_space);
  EXPECT_TRUE((*other)->write_at(0, as_bytes("ab")));
  EXPECT_EQ(disk.space("/")->free_bytes, 0U);
  ASSERT_TRUE(disk.remove("/f"));
  EXPECT_TRUE((*other)->write_at(2, as_bytes("12345678")));
}

TEST(SimDisk, AFailedSyncLeavesTheFileInDoubt) {
  bool lost = false;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    SimDisk disk(seed);
    ASSERT_TRUE(disk.write_file("/f", {}));
    auto file = disk.open("/f", OpenMode::write);
    ASSERT_TRUE((*file)->write_at(0, as_bytes("abc")));
    disk.fail_nth(1);
    EXPECT_FALSE((*file)->sync());
    EXPECT_FALSE((*file)->sync()) << "this handle is never to be trusted again";
    auto second = disk.open("/f", OpenMode::write);
    EXPECT_TRUE((*second)->sync()) << "another handle does not hear of it, as on Linux";
    EXPECT_EQ(text(disk, "/f"), "abc");
    disk.crash();
    lost |= text(disk, "/f") != "abc";
  }
  EXPECT_TRUE(lost);
}

TEST(SimDisk, FlippedBitsAreReadBack) {
  SimDisk disk(1);
  ASSERT_TRUE(disk.write_file("/f", as_bytes("a")));
  ASSERT_TRUE(disk.flip_bit("/f", 1));
  EXPECT_EQ(text(disk, "/f"), "c");
  disk.crash();
  EXPECT_EQ(text(disk, "/f"), "c");
  EXPECT_FALSE(disk.flip_bit("/f", 8));
  EXPECT_FALSE(disk.flip_bit("/g", 0));
}

TEST(SimDisk, OneSeedOneFate) {
  const auto run = [](std::uint64_t seed) {
    SimDisk disk(seed);
    for (int i = 0; i < 20; ++i) write(disk, "/f" + std::to_string(i), "content", i % 3 == 0);
    disk.crash();
    std::string all;
    const auto names = disk.list("/");
    for (const auto& name : *names) all += name + "=" + text(disk, "/" + name) + ";";
    return all;
  };
  EXPECT_EQ(run(9), run(9));
  EXPECT_NE(run(9), run(10));
}

// For every N: when the N-th operation of write_file fails, the old or the new content is there,
// before and after a crash, and a second attempt succeeds.
TEST(SimDisk, WriteFileSurvivesTheFailureOfAnyOperation) {
  SimDisk counting(0);
  ASSERT_TRUE(counting.write_file("/f", as_bytes("old")));
  const auto before = counting.operations();
  ASSERT_TRUE(counting.write_file("/f", as_bytes("new content")));
  const auto steps = counting.operations() - before;
  ASSERT_GE(steps, 5U);
  for (std::uint64_t n = 1; n <= steps; ++n) {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
      SimDisk disk(seed);
      ASSERT_TRUE(disk.write_file("/f", as_bytes("old")));
      disk.fail_nth(n);
      EXPECT_FALSE(disk.write_file("/f", as_bytes("new content"))) << n;
      const std::string now = text(disk, "/f");
      EXPECT_TRUE(now == "old" || now == "new content") << n << " " << now;
      if (seed % 2 == 0) {
        disk.crash();
        const std::string later = text(disk, "/f");
        EXPECT_TRUE(later == "old" || later == "new content") << n << " " << later;
      }
      EXPECT_TRUE(disk.write_file("/f", as_bytes("third")));
      disk.crash();
      EXPECT_EQ(text(disk, "/f"), "third");
    }
  }
}

TEST(SimDisk, WriteFileSurvivesAPowerCutInAnyOperation) {
  std::set<std::string> seen;
  for (std::uint64_t n = 1; n <= 7; ++n) {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      SimDisk disk(seed);
      ASSERT_TRUE(disk.write_file("/f", as_bytes("old")));
      disk.cut_power_at(n);
      const bool acknowledged = disk.write_file("/f", as_bytes("new")).has_value();
      if (!acknowledged) {
        EXPECT_EQ(disk.read_file("/f", 10).error().code(), Errc::io) << "nothing works without power";
      }
      disk.crash();
      const std::string later = text(disk, "/f");
      EXPECT_TRUE(later == "old" || later == "new") << later;
      if (acknowledged) {
        EXPECT_EQ(later, "new");
      }
      seen.insert(later);
    }
  }
  EXPECT_EQ(seen.size(), 2U);
}

}  // namespace
}  // namespace samovar
