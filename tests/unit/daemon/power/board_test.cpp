#include "daemon/power/board.hpp"

#include <gtest/gtest.h>

#include "tests/support/fake_board.hpp"

namespace samovar::power {
namespace {

Board identify(const test::FakeBoard& board) { return identify_board(Sysfs(board.root())); }

TEST(Board, KnowsAJetsonByItsDeviceTree) {
  test::FakeBoard fake;
  fake.make_tx1();
  const Board board = identify(fake);
  EXPECT_EQ(board.model, "NVIDIA Jetson TX1 Developer Kit");
  EXPECT_EQ(board.soc, "tegra210");
  EXPECT_EQ(board.jetson_release, "R32.7.1");
  EXPECT_EQ(board.cores, 4U);
  EXPECT_TRUE(board.is_jetson());
  EXPECT_FALSE(board.virtual_machine);
}

TEST(Board, KnowsAPcByItsFirmware) {
  test::FakeBoard fake;
  fake.make_intel();
  const Board board = identify(fake);
  EXPECT_EQ(board.model, "LENOVO ThinkCentre M70q");
  EXPECT_EQ(board.cpu_name, "Intel(R) Core(TM) i5-10400T");
  EXPECT_EQ(board.cores, 12U);
  EXPECT_FALSE(board.is_jetson());
}

TEST(Board, SaysWhenItIsAVirtualMachine) {
  test::FakeBoard fake;
  fake.make_vm();
  const Board board = identify(fake);
  EXPECT_TRUE(board.virtual_machine);
  EXPECT_EQ(board.model, "QEMU Standard PC (Q35 + ICH9, 2009) (virtual machine)");
}

TEST(Board, AnEmptyTreeIsAnUnknownComputerWithOneCore) {
  test::FakeBoard fake;
  const Board board = identify(fake);
  EXPECT_EQ(board.model, "unknown computer");
  EXPECT_EQ(board.cores, 1U);
  EXPECT_TRUE(board.jetson_release.empty());
}

TEST(Board, CountsHolesInTheProcessorList) {
  test::FakeBoard fake;
  fake.make_tx2();
  fake.write("/sys/devices/system/cpu/online", "0,3-5\n");
  EXPECT_EQ(identify(fake).cores, 4U);
  for (const char* garbled : {"0-", "a-b", "5-2", "0-99999999", ",", "-"}) {
    fake.write("/sys/devices/system/cpu/online", garbled);
    EXPECT_EQ(identify(fake).cores, 1U) << garbled;
  }
}

TEST(Board, GarbledReleaseFileIsNoRelease) {
  test::FakeBoard fake;
  fake.make_nano();
  fake.write("/etc/nv_tegra_release", "hello R32\n");
  EXPECT_EQ(identify(fake).jetson_release, "");
  fake.write("/etc/nv_tegra_release", "# R35 (release)\n");
  EXPECT_EQ(identify(fake).jetson_release, "R35");
}

}  // namespace
}  // namespace samovar::power
