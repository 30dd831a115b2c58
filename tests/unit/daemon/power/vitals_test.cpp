#include "daemon/power/vitals.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/support/fake_board.hpp"

namespace samovar::power {
namespace {

using std::chrono::seconds;

TEST(Vitals, ReadsTheCountersOfAComputer) {
  test::FakeBoard fake;
  fake.add_proc();
  const Counters c = read_counters(Sysfs(fake.root()), seconds(7));
  EXPECT_EQ(c.at, seconds(7));
  EXPECT_EQ(c.cpu_total, 10000U);
  EXPECT_EQ(c.cpu_idle, 9000U);
  EXPECT_DOUBLE_EQ(c.load1.value(), 0.52);
  EXPECT_EQ(c.mem_total_bytes, 4059712ULL * 1024);
  EXPECT_EQ(c.mem_available_bytes, 3035712ULL * 1024);
  ASSERT_EQ(c.net.size(), 1U);
  EXPECT_EQ(c.net.at("eth0").rx_bytes, 1000U);
  EXPECT_EQ(c.net.at("eth0").tx_bytes, 2000U);
  EXPECT_EQ(c.process_ticks, 50U);
  EXPECT_EQ(c.process_rss_bytes, 2500ULL * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)));
}

TEST(Vitals, AnEmptyTreeHasNoValuesAndNoRates) {
  test::FakeBoard fake;
  const Counters c = read_counters(Sysfs(fake.root()), seconds(1));
  EXPECT_FALSE(c.cpu_total || c.load1 || c.mem_total_bytes || c.process_ticks || c.process_rss_bytes);
  EXPECT_TRUE(c.net.empty());
  const Rates rates = rates_between(c, read_counters(Sysfs(fake.root()), seconds(2)));
  EXPECT_FALSE(rates.cpu || rates.net_rx_bps || rates.net_tx_bps || rates.process_cpu);
}

TEST(Vitals, RatesAreDifferencesOverTime) {
  test::FakeBoard fake;
  fake.add_proc();
  const Sysfs sys(fake.root());
  const Counters before = read_counters(sys, seconds(10));
  fake.set_cpu(1050, 9150);
  fake.set_net("eth0", 5000, 2600);
  Counters after = read_counters(sys, seconds(12));
  after.process_ticks = 60;
  const Rates rates = rates_between(before, after);
  EXPECT_DOUBLE_EQ(rates.cpu.value(), 0.25);
  EXPECT_DOUBLE_EQ(rates.net_rx_bps.value(), 2000);
  EXPECT_DOUBLE_EQ(rates.net_tx_bps.value(), 300);
  EXPECT_DOUBLE_EQ(rates.process_cpu.value(), 10.0 / 200);
}

TEST(Vitals, CountersThatWentBackGiveNoRate) {
  Counters before;
  before.at = seconds(1);
  before.cpu_total = 1000;
  before.cpu_idle = 500;
  before.process_ticks = 90;
  before.net["eth0"] = {5000, 5000};
  Counters after = before;
  after.at = seconds(2);
  after.cpu_total = 900;
  after.process_ticks = 10;
  after.net["eth0"] = {100, 6000};
  const Rates rates = rates_between(before, after);
  EXPECT_FALSE(rates.cpu || rates.process_cpu || rates.net_rx_bps || rates.net_tx_bps);
}

TEST(Vitals, IdleThatStepsBackAloneIsFullLoadNotMoreThanFull) {
  Counters before;
  before.cpu_total = 1000;
  before.cpu_idle = 500;
  Counters after;
  after.at = seconds(1);
  after.cpu_total = 1100;
  after.cpu_idle = 499;
  EXPECT_DOUBLE_EQ(rates_between(before, after).cpu.value(), 1.0);
}

TEST(Vitals, AnInterfaceThatAppearsCountsFromItsSecondReading) {
  Counters before;
  before.net["eth0"] = {100, 100};
  Counters after;
  after.at = seconds(1);
  after.net["eth0"] = {150, 160};
  after.net["usb0"] = {1'000'000'000, 1'000'000'000};
  const Rates rates = rates_between(before, after);
  EXPECT_DOUBLE_EQ(rates.net_rx_bps.value(), 50);
  EXPECT_DOUBLE_EQ(rates.net_tx_bps.value(), 60);
}

TEST(Vitals, NoTimeBetweenReadingsGivesNoNetworkRate) {
  Counters c;
  c.net["eth0"] = {1, 1};
  EXPECT_FALSE(rates_between(c, c).net_rx_bps);
}

TEST(Vitals, BridgesAreLeftOutWhenThereIsHardware) {
  test::FakeBoard fake;
  fake.add_proc();
  fake.write("/proc/net/dev",
             "h\nh\n eth0: 5 0 0 0 0 0 0 0 6 0\ndocker0: 7 0 0 0 0 0 0 0 8 0\n lo: 9 0 0 0 0 0 0 0 9 0\n");
  EXPECT_EQ(read_counters(Sysfs(fake.root()), {}).net.size(), 1U);
  fake.remove("/sys/class/net");
  EXPECT_EQ(read_counters(Sysfs(fake.root()), {}).net.size(), 2U);
}

TEST(Vitals, GarbledFilesAreNoValue) {
  for (const char* text : {"", "cpu", "cpu  a b c d", "cpu  1 2", "intr 5\n",
                           "cpu  18446744073709551615 1 1 1", "cpu 99999999999999999999999 1 1 1"}) {
    Counters c;
    parse_proc_stat(text, c);
    EXPECT_FALSE(c.cpu_total) << text;
  }
  for (const char* text : {"", "MemTotal:", "MemTotal: x kB", "MemTotal: 18446744073709551615 kB"}) {
    Counters c;
    parse_meminfo(text, c);
    EXPECT_FALSE(c.mem_total_bytes) << text;
  }
  for (const char* text : {"", "eth0:", "eth0: 1 2 3", "eth0: x 2 3 4 5 6 7 8 9", ": 1 2 3 4 5 6 7 8 9"})
    EXPECT_TRUE(parse_net_dev(text).empty()) << text;
  for (const char* text : {"", "1 (x", "1 (x) S 1", "1 (x) S a b c d e f g h i j k l m n o p q r s t u v"}) {
    Counters c;
    parse_self_stat(text, c);
    EXPECT_FALSE(c.process_ticks || c.process_rss_bytes) << text;
  }
}

TEST(Vitals, ReadsThisVeryComputer) {
  const Counters c = read_counters(Sysfs(), seconds(1));
  EXPECT_TRUE(c.cpu_total);
  EXPECT_TRUE(c.mem_total_bytes);
  EXPECT_GT(c.process_rss_bytes.value_or(0), 0U);
}

}  // namespace
}  // namespace samovar::power
