#include <gtest/gtest.h>

#include "daemon/power/power_sensor.hpp"
#include "tests/support/fake_board.hpp"

namespace samovar::power {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::int64_t kRange = 262143328850;

PowerReading at(PowerSensor& sensor, MonoTime now) { return sensor.read({now, {}, {}}); }

TEST(Rapl, FirstReadingHasNoRate) {
  test::FakeBoard fake;
  fake.make_intel();
  const Sysfs sys(fake.root());
  const auto sensor = detect_rapl(sys);
  ASSERT_TRUE(sensor);
  EXPECT_FALSE(at(*sensor, seconds(100)).watts);
}

TEST(Rapl, IntelIsPackagesAndMemoryWithoutPartsAndTwins) {
  test::FakeBoard fake;
  fake.make_intel();
  const Sysfs sys(fake.root());
  const auto sensor = detect_rapl(sys);
  at(*sensor, seconds(100));
  fake.add_rapl_zone("intel-rapl:0", "package-0", 1'030'000'000, kRange);
  fake.add_rapl_zone("intel-rapl:0:0", "core", 520'000'000, kRange);
  fake.add_rapl_zone("intel-rapl:0:2", "dram", 104'000'000, kRange);
  fake.add_rapl_zone("intel-rapl-mmio:0", "package-0", 1'030'000'000, kRange);
  const PowerReading reading = at(*sensor, seconds(102));
  EXPECT_NEAR(reading.watts.value(), 15 + 2, 1e-9);
  EXPECT_EQ(reading.rails.size(), 4U);
  EXPECT_FALSE(reading.estimated);
}

TEST(Rapl, AmdIsItsPackage) {
  test::FakeBoard fake;
  fake.make_amd();
  const Sysfs sys(fake.root());
  const auto sensor = detect_power_sensor(sys, identify_board(sys));
  EXPECT_EQ(sensor->kind(), "rapl");
  at(*sensor, seconds(1));
  fake.add_rapl_zone("intel-rapl:0", "package-0", 19'500'000, 65532610987);
  EXPECT_NEAR(at(*sensor, seconds(2)).watts.value(), 12.5, 1e-9);
}

TEST(Rapl, CounterThatWrapsGoesOn) {
  test::FakeBoard fake;
  fake.add_rapl_zone("intel-rapl:0", "package-0", kRange - 4'000'000, kRange);
  const Sysfs sys(fake.root());
  const auto sensor = detect_rapl(sys);
  at(*sensor, seconds(1));
  fake.add_rapl_zone("intel-rapl:0", "package-0", 6'000'000, kRange);
  EXPECT_NEAR(at(*sensor, seconds(2)).watts.value(), 10, 1e-6);
}

TEST(Rapl, CounterThatWentBackWithoutARangeIsNoValue) {
  test::FakeBoard fake;
  fake.add_rapl_zone("intel-rapl:0", "package-0", 50'000'000, 0);
  const Sysfs sys(fake.root());
  const auto sensor = detect_rapl(sys);
  at(*sensor, seconds(1));
  fake.write("/sys/class/powercap/intel-rapl:0/energy_uj", 1'000'000);
  EXPECT_FALSE(at(*sensor, seconds(2)).watts);
  fake.write("/sys/class/powercap/intel-rapl:0/energy_uj", 9'000'000);
  EXPECT_NEAR(at(*sensor, seconds(3)).watts.value(), 8, 1e-9);
}

TEST(Rapl, CounterThatWasResetIsNoValueRatherThanMegawatts) {
  test::FakeBoard fake;
  fake.add_rapl_zone("intel-rapl:0", "package-0", 1'000'000'000, kRange);
  const Sysfs sys(fake.root());
  const auto sensor = detect_rapl(sys);
  at(*sensor, seconds(1));
  fake.write("/sys/class/powercap/intel-rapl:0/energy_uj", 5);
  EXPECT_FALSE(at(*sensor, seconds(2)).watts);
}

TEST(Rapl, PsysIsTheWholePlatformAndNotAddedToItsPackages) {
  test::FakeBoard fake;
  fake.add_rapl_zone("intel-rapl:0", "package-0", 0, kRange);
  fake.add_rapl_zone("intel-rapl:1", "psys", 0, kRange);
  const Sysfs sys(fake.root());
  const auto sensor = detect_rapl(sys);
  at(*sensor, seconds(1));
  fake.add_rapl_zone("intel-rapl:0", "package-0", 10'000'000, kRange);
  fake.add_rapl_zone("intel-rapl:1", "psys", 18'000'000, kRange);
  EXPECT_NEAR(at(*sensor, seconds(2)).watts.value(), 18, 1e-9);
}

TEST(Rapl, PsysThatStandsStillIsNotBelieved) {
  test::FakeBoard fake;
  fake.add_rapl_zone("intel-rapl:0", "package-0", 0, kRange);
  fake.add_rapl_zone("intel-rapl:1", "psys", 0, kRange);
  const Sysfs sys(fake.root());
  const auto sensor = detect_rapl(sys);
  at(*sensor, seconds(1));
  fake.add_rapl_zone("intel-rapl:0", "package-0", 10'000'000, kRange);
  EXPECT_NEAR(at(*sensor, seconds(2)).watts.value(), 10, 1e-9);
}

TEST(Rapl, TwoSocketsAdd) {
  test::FakeBoard fake;
  fake.add_rapl_zone("intel-rapl:0", "package-0", 0, kRange);
  fake.add_rapl_zone("intel-rapl:1", "package-1", 0, kRange);
  const Sysfs sys(fake.root());
  const auto sensor = detect_rapl(sys);
  at(*sensor, seconds(1));
  fake.add_rapl_zone("intel-rapl:0", "package-0", 40'000'000, kRange);
  fake.add_rapl_zone("intel-rapl:1", "package-1", 30'000'000, kRange);
  EXPECT_NEAR(at(*sensor, seconds(2)).watts.value(), 70, 1e-9);
}

TEST(Rapl, AnUnreadablePackageMakesTheTotalUnknownUntilItHasTwoReadingsAgain) {
  test::FakeBoard fake;
  fake.add_rapl_zone("intel-rapl:0", "package-0", 0, kRange);
  const Sysfs sys(fake.root());
  const auto sensor = detect_rapl(sys);
  at(*sensor, seconds(1));
  fake.write("/sys/class/powercap/intel-rapl:0/energy_uj", "garbled\n");
  EXPECT_FALSE(at(*sensor, seconds(2)).watts);
  fake.write("/sys/class/powercap/intel-rapl:0/energy_uj", 20'000'000);
  EXPECT_FALSE(at(*sensor, seconds(3)).watts);
  fake.write("/sys/class/powercap/intel-rapl:0/energy_uj", 25'000'000);
  EXPECT_NEAR(at(*sensor, seconds(4)).watts.value(), 5, 1e-9);
}

TEST(Rapl, ReadingsTooCloseTogetherAreNoValue) {
  test::FakeBoard fake;
  fake.make_amd();
  const Sysfs sys(fake.root());
  const auto sensor = detect_rapl(sys);
  at(*sensor, seconds(1));
  EXPECT_FALSE(at(*sensor, seconds(1) + milliseconds(1)).watts);
}

TEST(Rapl, OnlyTheTwinIsUsedWhenItIsAlone) {
  test::FakeBoard fake;
  fake.add_rapl_zone("intel-rapl-mmio:0", "package-0", 0, kRange);
  const Sysfs sys(fake.root());
  EXPECT_TRUE(detect_rapl(sys));
}

}  // namespace
}  // namespace samovar::power
