#include <gtest/gtest.h>

#include "daemon/power/gpu.hpp"
#include "daemon/power/thermal.hpp"
#include "tests/support/fake_board.hpp"

namespace samovar::power {
namespace {

TEST(Thermal, LeavesOutTheConstantPmicAndTheFanEstimate) {
  test::FakeBoard fake;
  fake.make_tx1();
  const auto all = read_temperatures(Sysfs(fake.root()));
  ASSERT_EQ(all.size(), 4U);
  ASSERT_NE(hottest(all), nullptr);
  EXPECT_EQ(hottest(all)->name, "CPU-therm");
  EXPECT_DOUBLE_EQ(hottest(all)->celsius, 43.0);
}

TEST(Thermal, ZonesThatAreOffAreLeftOut) {
  test::FakeBoard fake;
  fake.make_agx_orin();
  fake.make_gated("/sys/class/thermal/thermal_zone1/temp");
  fake.add_thermal_zone(3, "cv0-thermal", -256000);
  fake.add_thermal_zone(4, "cv1-thermal", 999999999);
  fake.write("/sys/class/thermal/thermal_zone5/type", "cv2-thermal\n");
  fake.write("/sys/class/thermal/cooling_device0/type", "pwm-fan\n");
  const auto all = read_temperatures(Sysfs(fake.root()));
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(hottest(all)->name, "tj-thermal");
}

TEST(Thermal, AmdIsReadFromItsHwmon) {
  test::FakeBoard fake;
  fake.make_amd();
  const auto all = read_temperatures(Sysfs(fake.root()));
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].name, "Tctl");
  EXPECT_DOUBLE_EQ(all[0].celsius, 46.125);
}

TEST(Thermal, NothingIsNotZero) {
  test::FakeBoard fake;
  fake.make_vm();
  const auto all = read_temperatures(Sysfs(fake.root()));
  EXPECT_TRUE(all.empty());
  EXPECT_EQ(hottest(all), nullptr);
}

TEST(Gpu, LoadIsPerMilleAndClockIsHertz) {
  test::FakeBoard fake;
  fake.make_tx1();
  const Sysfs sys(fake.root());
  const auto gpu = Gpu::detect(sys);
  ASSERT_TRUE(gpu);
  EXPECT_DOUBLE_EQ(gpu->read().load.value(), 0.25);
  EXPECT_EQ(gpu->read().clock_hz, 76800000U);
}

TEST(Gpu, EveryGenerationIsFoundAmongOtherDevfreqDevices) {
  void (test::FakeBoard::*const boards[])() = {&test::FakeBoard::make_tx2, &test::FakeBoard::make_agx_xavier,
                                               &test::FakeBoard::make_agx_orin};
  for (const auto make : boards) {
    test::FakeBoard fake;
    (fake.*make)();
    fake.add_gpu("15340000.vic", "vic", 7, 1);  // a video unit, first in the list
    const Sysfs sys(fake.root());
    const auto gpu = Gpu::detect(sys);
    ASSERT_TRUE(gpu);
    EXPECT_EQ(gpu->name().rfind("17000000.", 0), 0U) << gpu->name();
  }
}

TEST(Gpu, LoadFallsBackToTheAlias) {
  test::FakeBoard fake;
  fake.make_agx_xavier();
  fake.remove("/sys/class/devfreq/17000000.gv11b/device/load");
  fake.write("/sys/devices/gpu.0/load", "500\n");
  const Sysfs sys(fake.root());
  EXPECT_DOUBLE_EQ(Gpu::detect(sys)->read().load.value(), 0.5);
}

TEST(Gpu, GatedGarbledAndImpossibleLoadsAreNoValue) {
  test::FakeBoard fake;
  fake.make_tx2();
  const Sysfs sys(fake.root());
  const auto gpu = Gpu::detect(sys);
  const std::string load = "/sys/class/devfreq/17000000.gp10b/device/load";
  for (const char* bad : {"x", "-1", "1001", "99999999999999999999"}) {
    fake.write(load, bad);
    EXPECT_FALSE(gpu->read().load) << bad;
  }
  fake.make_gated(load);
  EXPECT_FALSE(gpu->read().load);
  EXPECT_TRUE(gpu->read().clock_hz);
}

TEST(Gpu, NoneOnAPc) {
  test::FakeBoard fake;
  fake.make_intel();
  const Sysfs sys(fake.root());
  EXPECT_FALSE(Gpu::detect(sys));
}

}  // namespace
}  // namespace samovar::power
