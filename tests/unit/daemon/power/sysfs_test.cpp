#include "daemon/power/sysfs.hpp"

#include <gtest/gtest.h>

#include "tests/support/fake_board.hpp"

namespace samovar::power {
namespace {

TEST(Sysfs, TextIsTrimmedOfNewlinesAndNuls) {
  test::FakeBoard board;
  board.write("/a", std::string("Jetson TX1\0\n", 12));
  EXPECT_EQ(Sysfs(board.root()).text("/a"), "Jetson TX1");
}

TEST(Sysfs, MissingEmptyFolderAndGatedFilesHaveNoValue) {
  test::FakeBoard board;
  board.write("/empty", "");
  board.write("/folder/file", "1");
  board.make_gated("/gated");
  const Sysfs sys(board.root());
  EXPECT_FALSE(sys.text("/missing"));
  EXPECT_FALSE(sys.text("/empty"));
  EXPECT_FALSE(sys.text("/folder"));
  EXPECT_FALSE(sys.text("/gated"));
  EXPECT_FALSE(sys.number("/gated"));
}

TEST(Sysfs, NumberTakesTheFirstTokenOnly) {
  test::FakeBoard board;
  board.write("/limit", "  32760 ma\n");
  board.write("/negative", "-256000\n");
  const Sysfs sys(board.root());
  EXPECT_EQ(sys.number("/limit"), 32760);
  EXPECT_EQ(sys.number("/negative"), -256000);
}

TEST(Sysfs, GarbledAndHugeNumbersHaveNoValue) {
  test::FakeBoard board;
  board.write("/garbled", "12x\n");
  board.write("/words", "not supported\n");
  board.write("/huge", "99999999999999999999999\n");
  board.write("/binary", std::string("\xff\x00\x01", 3));
  const Sysfs sys(board.root());
  for (const char* path : {"/garbled", "/words", "/huge", "/binary"}) EXPECT_FALSE(sys.number(path)) << path;
}

TEST(Sysfs, ReadsNoMoreThanItsBound) {
  test::FakeBoard board;
  board.write("/long", std::string(100'000, 'x'));
  EXPECT_EQ(Sysfs(board.root()).text("/long")->size(), Sysfs::kTextBytesMax);
}

TEST(Sysfs, ListSortsNumbersAsNumbers) {
  test::FakeBoard board;
  for (const char* name : {"hwmon10", "hwmon2", "hwmon1", "acpi"})
    board.write(std::string("/class/") + name + "/name", "x");
  EXPECT_EQ(Sysfs(board.root()).list("/class"),
            (std::vector<std::string>{"acpi", "hwmon1", "hwmon2", "hwmon10"}));
  EXPECT_TRUE(Sysfs(board.root()).list("/none").empty());
}

TEST(Sysfs, StringsSplitsAtNuls) {
  test::FakeBoard board;
  board.write("/compatible", std::string("nvidia,p2180\0nvidia,tegra210\0", 29));
  EXPECT_EQ(Sysfs(board.root()).strings("/compatible"),
            (std::vector<std::string>{"nvidia,p2180", "nvidia,tegra210"}));
}

}  // namespace
}  // namespace samovar::power
