#include <gtest/gtest.h>

#include "daemon/power/ina3221.hpp"
#include "tests/support/fake_board.hpp"

namespace samovar::power {
namespace {

struct Found {
  explicit Found(const test::FakeBoard& fake)
      : sys(fake.root()), sensor(detect_power_sensor(sys, identify_board(sys))) {}
  PowerReading read() const { return sensor->read({}); }
  Sysfs sys;
  std::unique_ptr<PowerSensor> sensor;
};

double rail(const PowerReading& reading, const std::string& name) {
  for (const Rail& r : reading.rails)
    if (r.name == name) return r.watts;
  return -1;
}

TEST(Ina3221, Tx1TotalIsItsInputRailNotTheSum) {
  test::FakeBoard fake;
  fake.make_tx1();
  const Found found(fake);
  EXPECT_EQ(found.sensor->kind(), "ina3221");
  const PowerReading reading = found.read();
  EXPECT_DOUBLE_EQ(reading.watts.value(), 4.321);
  EXPECT_FALSE(reading.estimated);
  EXPECT_EQ(reading.rails.size(), 9U);
  EXPECT_DOUBLE_EQ(rail(reading, "VDD_CPU"), 1.2);
  EXPECT_NE(found.sensor->note().find("VDD_IN"), std::string::npos);
}

TEST(Ina3221, Tx1OlderPathIsFound) {
  test::FakeBoard fake;
  fake.make_tx1_old();
  const Found found(fake);
  EXPECT_EQ(found.sensor->kind(), "ina3221");
  EXPECT_DOUBLE_EQ(found.read().watts.value(), 3.9);
}

TEST(Ina3221, NanoListedTwiceIsCountedOnce) {
  test::FakeBoard fake;
  fake.make_nano();
  const PowerReading reading = Found(fake).read();
  EXPECT_DOUBLE_EQ(reading.watts.value(), 2.15);
  EXPECT_EQ(reading.rails.size(), 3U);
}

TEST(Ina3221, Tx2TotalComesFromItsSecondChip) {
  test::FakeBoard fake;
  fake.make_tx2();
  const PowerReading reading = Found(fake).read();
  EXPECT_DOUBLE_EQ(reading.watts.value(), 3.047);
  EXPECT_EQ(reading.rails.size(), 6U);
}

TEST(Ina3221, AgxXavierIsTheSumOfItsRails) {
  test::FakeBoard fake;
  fake.make_agx_xavier();
  EXPECT_NEAR(Found(fake).read().watts.value(), 9.5, 1e-9);
}

TEST(Ina3221, HwmonIsVoltageTimesCurrent) {
  test::FakeBoard fake;
  fake.make_xavier_nx_r35();
  const PowerReading reading = Found(fake).read();
  EXPECT_NEAR(reading.watts.value(), 4.96 * 1.008, 1e-9);
  EXPECT_EQ(reading.rails.size(), 3U);
}

TEST(Ina3221, AgxOrinSkipsUnconnectedChannelsAndSums) {
  test::FakeBoard fake;
  fake.make_agx_orin();
  const PowerReading reading = Found(fake).read();
  EXPECT_EQ(reading.rails.size(), 4U);
  EXPECT_NEAR(reading.watts.value(), 3.0 + 1.0 + 4.0 + 0.5, 1e-9);
}

TEST(Ina3221, OrinNxIsFoundThroughTheHwmonClass) {
  test::FakeBoard fake;
  fake.make_orin_nx();
  EXPECT_NEAR(Found(fake).read().watts.value(), 6.0, 1e-9);
}

TEST(Ina3221, LabelThatOnlyContainsTheLettersNcIsARail) {
  test::FakeBoard fake;
  fake.add_ina_hwmon("/sys/class/hwmon/hwmon0",
                     {{"VDD_SYNC", 5000, 100}, {"VDD NC", 5000, 100}, {"A", 5000, 100}});
  const PowerReading reading = Found(fake).read();
  EXPECT_EQ(reading.rails.size(), 2U);
  EXPECT_DOUBLE_EQ(rail(reading, "VDD_SYNC"), 0.5);
}

TEST(Ina3221, DisabledChannelIsSkipped) {
  test::FakeBoard fake;
  fake.make_orin_nx();
  fake.write("/sys/class/hwmon/hwmon1/in3_enable", "0\n");
  EXPECT_EQ(Found(fake).read().rails.size(), 2U);
}

TEST(Ina3221, AGatedTotalIsNoValueNotTheSumOfTheRest) {
  test::FakeBoard fake;
  fake.make_tx1();
  const Found found(fake);
  const std::string dir = "/sys/bus/i2c/drivers/ina3221x/1-0040/iio:device0";
  fake.make_gated(dir + "/in_power0_input");
  fake.make_gated(dir + "/in_voltage0_input");
  const PowerReading reading = found.read();
  EXPECT_FALSE(reading.watts);
  EXPECT_EQ(reading.rails.size(), 8U);
}

TEST(Ina3221, AHoleInTheSumIsNoValue) {
  test::FakeBoard fake;
  fake.make_agx_orin();
  const Found found(fake);
  fake.make_gated("/sys/bus/i2c/drivers/ina3221/1-0040/hwmon/hwmon3/curr2_input");
  EXPECT_FALSE(found.read().watts);
  fake.remove("/sys/bus/i2c/drivers/ina3221/1-0040/hwmon/hwmon3/curr2_input");
  fake.write("/sys/bus/i2c/drivers/ina3221/1-0040/hwmon/hwmon3/curr2_input", "50\n");
  EXPECT_NEAR(found.read().watts.value(), 8.5, 1e-9);
}

TEST(Ina3221, GarbledOrHugePowerFallsBackToVoltageTimesCurrent) {
  test::FakeBoard fake;
  fake.make_nano();
  const Found found(fake);
  const std::string file = "/sys/bus/i2c/drivers/ina3221x/6-0040/iio:device0/in_power0_input";
  for (const char* bad : {"garbled\n", "9223372036854775807\n", "99999999999999999999\n", "-5000000\n"}) {
    fake.write(file, bad);
    EXPECT_DOUBLE_EQ(found.read().watts.value(), 2.15) << bad;
  }
}

TEST(Ina3221, ARailAtRestThatReadsBelowZeroIsZero) {
  test::FakeBoard fake;
  fake.make_orin_nx();
  fake.write("/sys/class/hwmon/hwmon1/curr3_input", "-8\n");
  EXPECT_DOUBLE_EQ(rail(Found(fake).read(), "VDD_SOC"), 0.0);
}

TEST(Ina3221, ARailThatNeverReadsIsLeftOutAndNamedInTheNote) {
  test::FakeBoard fake;
  fake.make_agx_xavier();
  const std::string dir = "/sys/bus/i2c/drivers/ina3221x/1-0041/iio:device1";
  for (const char* file : {"/in_power0_input", "/in_voltage0_input", "/in_current0_input"})
    fake.remove(dir + file);
  const Found found(fake);
  EXPECT_NEAR(found.read().watts.value(), 9.1, 1e-9);
  EXPECT_NE(found.sensor->note().find("cannot be read"), std::string::npos);
}

TEST(Ina3221, RecognisesI2cFolders) {
  EXPECT_TRUE(is_i2c_device("1-0040"));
  EXPECT_TRUE(is_i2c_device("10-004f"));
  for (const char* name : {"", "-", "1-", "1-40", "i2c-0", "bind", "1-00400", "x-0040", "1-00G0"})
    EXPECT_FALSE(is_i2c_device(name)) << name;
}

}  // namespace
}  // namespace samovar::power
