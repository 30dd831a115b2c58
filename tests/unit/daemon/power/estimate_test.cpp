#include <gtest/gtest.h>

#include "daemon/power/power_sensor.hpp"
#include "tests/support/fake_board.hpp"

namespace samovar::power {
namespace {

std::unique_ptr<PowerSensor> detect(const Sysfs& sys) {
  return detect_power_sensor(sys, identify_board(sys));
}

TEST(Estimate, AVirtualMachineGetsOneThatSaysSo) {
  test::FakeBoard fake;
  fake.make_vm();
  const Sysfs sys(fake.root());
  const auto sensor = detect(sys);
  EXPECT_EQ(sensor->kind(), "estimate");
  EXPECT_NE(sensor->note().find("virtual machine"), std::string::npos);
  EXPECT_NE(sensor->note().find("Estimated, not measured"), std::string::npos);
  EXPECT_TRUE(sensor->read({}).estimated);
}

TEST(Estimate, GrowsWithLoadByItsStatedModel) {
  test::FakeBoard fake;
  fake.make_vm();
  const Sysfs sys(fake.root());
  const auto sensor = detect(sys);
  EXPECT_DOUBLE_EQ(sensor->read({{}, 0.0, {}}).watts.value(), 8.0);
  EXPECT_DOUBLE_EQ(sensor->read({{}, 0.5, {}}).watts.value(), 8.0 + 6.0);
  EXPECT_DOUBLE_EQ(sensor->read({{}, 1.0, {}}).watts.value(), 8.0 + 12.0);
  EXPECT_NE(sensor->note().find("8 W at rest plus 6 W for each busy core of 2"), std::string::npos)
      << sensor->note();
}

TEST(Estimate, WithoutALoadThereIsNoNumber) {
  test::FakeBoard fake;
  fake.make_vm();
  const Sysfs sys(fake.root());
  EXPECT_FALSE(detect(sys)->read({}).watts);
}

TEST(Estimate, AJetsonWithoutSensorCountsItsGpu) {
  test::FakeBoard fake;
  fake.make_nano();
  fake.remove("/sys/bus");
  const Sysfs sys(fake.root());
  const auto sensor = detect(sys);
  EXPECT_EQ(sensor->kind(), "estimate");
  EXPECT_DOUBLE_EQ(sensor->read({{}, 1.0, 1.0}).watts.value(), 10.0);
}

TEST(Estimate, RaplThatMayNotBeReadIsNamedWithItsRemedy) {
  test::FakeBoard fake;
  fake.make_amd();
  // Mode 0400 would not stop root, who may run this test: a file that fails to read stands for it.
  fake.make_gated("/sys/class/powercap/intel-rapl:0/energy_uj");
  const Sysfs sys(fake.root());
  const auto sensor = detect(sys);
  EXPECT_EQ(sensor->kind(), "estimate");
  EXPECT_NE(sensor->note().find("read access"), std::string::npos) << sensor->note();
}

}  // namespace
}  // namespace samovar::power
