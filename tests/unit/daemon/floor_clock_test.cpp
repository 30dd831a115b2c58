#include "daemon/floor_clock.hpp"

#include <gtest/gtest.h>

#include "base/ids.hpp"
#include "base/sim/sim_clock.hpp"
#include "tests/support/temp_dir.hpp"

namespace samovar::daemon {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

TEST(FloorClock, CountsOnFromTheFloorUntilTheSystemIsRight) {
  SimClock system(WallTime(seconds(60)));  // 1970
  const WallTime floor = parse_time("2026-05-01T00:00:00Z").value();
  FloorClock clock(system, floor);
  EXPECT_TRUE(clock.behind());
  EXPECT_EQ(clock.wall(), floor);
  system.advance(seconds(5));
  EXPECT_EQ(clock.wall(), floor + seconds(5));
  system.step_wall(hours(24 * 365 * 60));  // somebody sets it
  EXPECT_FALSE(clock.behind());
  EXPECT_EQ(clock.wall(), system.wall());
  system.step_wall(-hours(24 * 365 * 60));
  EXPECT_GE(clock.wall(), floor + seconds(5));
}

TEST(FloorClock, KeepsTheTimeOnDisk) {
  samovar::test::TempDir dir;
  const std::string path = dir / "clock";
  EXPECT_EQ(load_time_floor(real_disk(), path), build_time());
  const WallTime later = build_time() + hours(1000);
  ASSERT_TRUE(keep_time(real_disk(), path, later));
  EXPECT_EQ(load_time_floor(real_disk(), path), later);
  ASSERT_TRUE(keep_time(real_disk(), path, build_time() - hours(1)));
  EXPECT_EQ(load_time_floor(real_disk(), path), build_time());
  // A clock that was once wrong by decades must not poison every later start.
  ASSERT_TRUE(keep_time(real_disk(), path, build_time() + hours(24 * 365 * 30)));
  EXPECT_EQ(load_time_floor(real_disk(), path), build_time());
  ASSERT_TRUE(real_disk().write_file(path, as_bytes("garbage")));
  EXPECT_EQ(load_time_floor(real_disk(), path), build_time());
}

}  // namespace
}  // namespace samovar::daemon
