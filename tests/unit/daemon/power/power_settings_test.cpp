#include <gtest/gtest.h>

#include "daemon/power/settings.hpp"
#include "daemon/power/ups.hpp"
#include "tests/support/fake_board.hpp"

namespace samovar::power {
namespace {

Settings night_and_day() {
  Settings settings;
  settings.budget_watts = 80;
  settings.schedule = {{0x1f, 22 * 60, 6 * 60, 150.0}, {0x60, 0, 0, std::nullopt}};
  settings.ups_watts = 30;
  return settings;
}

TEST(PowerSettings, TheScheduleHoldsInPlaceOfTheBudget) {
  const Settings s = night_and_day();
  const auto at = [&](unsigned day, unsigned hour) { return budget_at(s, {day, hour * 60}, false); };
  EXPECT_EQ(at(0, 12).watts, 80);
  EXPECT_EQ(at(0, 12).reason, "budget");
  EXPECT_EQ(at(0, 23).watts, 150);
  EXPECT_EQ(at(0, 23).reason, "schedule");
  EXPECT_EQ(at(1, 3).watts, 150) << "Monday night goes into Tuesday";
  EXPECT_EQ(at(0, 3).watts, 80) << "Sunday night is not in it";
  EXPECT_EQ(at(1, 6).watts, 80) << "the end is exclusive";
  EXPECT_EQ(at(5, 3).watts, 150) << "Friday night";
  EXPECT_EQ(at(5, 12).watts, std::nullopt) << "no limit at the weekend";
  EXPECT_EQ(at(6, 23).watts, std::nullopt);
}

TEST(PowerSettings, OnUpsTheLowerOneHolds) {
  Settings s = night_and_day();
  EXPECT_EQ(budget_at(s, {0, 720}, true).watts, 30);
  EXPECT_EQ(budget_at(s, {0, 720}, true).reason, "ups");
  EXPECT_EQ(budget_at(s, {5, 720}, true).watts, 30);
  s.ups = UpsMode::off;
  EXPECT_EQ(budget_at(s, {0, 720}, true).watts, 80);
  s.ups = UpsMode::on;
  EXPECT_EQ(budget_at(s, {0, 720}, false).watts, 30);
  s.ups_watts = 200;
  EXPECT_EQ(budget_at(s, {0, 720}, false).watts, 80);
  EXPECT_EQ(budget_at(Settings{}, {0, 0}, true).watts, std::nullopt);
  EXPECT_EQ(budget_at(Settings{}, {0, 0}, true).reason, "none");
}

TEST(PowerSettings, ComeBackFromTheirDocument) {
  Settings s = night_and_day();
  s.limit_celsius = 82.5;
  const Settings back = decode_settings(encode_settings(s));
  EXPECT_EQ(encode_settings(back), encode_settings(s));
  EXPECT_EQ(back.schedule.size(), 2u);
  EXPECT_EQ(back.schedule[0].days, 0x1f);
  EXPECT_EQ(back.limit_celsius, 82.5);
}

TEST(PowerSettings, WhatDoesNotReadIsLeftOut) {
  for (const char* text : {"", "[]", "{", "null", "{\"budget_watts\":-3}", "{\"budget_watts\":1e300}",
                           "{\"schedule\":[{\"from\":\"25:00\",\"to\":\"06:00\"},7,{}]}", "{\"ups\":5}"}) {
    const Settings s = decode_settings(text);
    EXPECT_FALSE(s.budget_watts) << text;
    EXPECT_TRUE(s.schedule.empty()) << text;
  }
  for (const char* text : {"", "6:00", "24:00", "12:60", "12-30", "ab:cd", "012:0"})
    EXPECT_FALSE(parse_minute(text)) << text;
  EXPECT_EQ(*parse_minute("23:59"), 1439);
  EXPECT_EQ(format_minute(65), "01:05");
}

TEST(Ups, IsWhatTheKernelSays) {
  test::FakeBoard board;
  const Sysfs sys(board.root());
  EXPECT_EQ(on_battery(sys), std::nullopt);
  board.write("/sys/class/power_supply/AC/type", "Mains\n");
  board.write("/sys/class/power_supply/AC/online", 1);
  EXPECT_EQ(on_battery(sys), false);
  board.write("/sys/class/power_supply/AC/online", 0);
  EXPECT_EQ(on_battery(sys), true);
  board.write("/sys/class/power_supply/ups/type", "UPS\n");
  board.write("/sys/class/power_supply/ups/status", "Full\n");
  EXPECT_EQ(on_battery(sys), false);
  board.write("/sys/class/power_supply/ups/status", "Discharging\n");
  EXPECT_EQ(on_battery(sys), true);
  board.write("/sys/class/power_supply/ups/scope", "Device\n");
  board.write("/sys/class/power_supply/AC/online", 1);
  EXPECT_EQ(on_battery(sys), false);
}

}  // namespace
}  // namespace samovar::power
