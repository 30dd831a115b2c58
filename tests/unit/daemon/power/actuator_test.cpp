#include "daemon/power/actuator.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/sim/sim_disk.hpp"
#include "tests/support/fake_board.hpp"

namespace samovar::power {
namespace {

constexpr const char* kCpuMax = "/sys/devices/system/cpu/cpufreq/policy0/scaling_max_freq";
constexpr const char* kGpuMax = "/sys/class/devfreq/57000000.gpu/max_freq";
constexpr const char* kKeep = "/state/clocks";

class ActuatorTest : public ::testing::Test {
 protected:
  ActuatorTest() { ignore(disk_.make_dir("/state"), "fresh"); }

  void add_cpu() {
    const std::string dir = "/sys/devices/system/cpu/cpufreq/policy0/";
    board_.write(dir + "scaling_max_freq", 1734000);
    board_.write(dir + "scaling_available_frequencies", "408000 714000 1036800 1326000 1734000 1900000\n");
    board_.write(dir + "cpuinfo_min_freq", 102000);
  }
  void add_gpu() {
    board_.add_gpu("57000000.gpu", "gpu", 0, 76800000);
    board_.write(kGpuMax, 998400000);
    board_.write("/sys/class/devfreq/57000000.gpu/min_freq", 76800000);
  }
  std::int64_t at(const char* path) const { return sys_.number(path).value_or(-1); }

  test::FakeBoard board_;
  Sysfs sys_{board_.root()};
  SimDisk disk_{1};
};

TEST_F(ActuatorTest, WithoutCapsThereIsOneLevel) {
  Actuator actuator(sys_, disk_, kKeep);
  EXPECT_EQ(actuator.levels(), 1u);
  EXPECT_TRUE(actuator.set(3));
  EXPECT_EQ(actuator.describe(), "");
  EXPECT_EQ(actuator.advice(Board{}), "");
}

TEST_F(ActuatorTest, CapsWhatItFoundAndPutsItBack) {
  add_cpu();
  add_gpu();
  {
    Actuator actuator(sys_, disk_, kKeep);
    ASSERT_EQ(actuator.levels(), 6u);
    EXPECT_EQ(actuator.describe(), "cpufreq policy0, 57000000.gpu");
    ASSERT_TRUE(actuator.set(5));
    EXPECT_EQ(at(kCpuMax), 408000) << "the highest step within 40 %";
    EXPECT_EQ(at(kGpuMax), 399360000) << "any value, as the driver lists none";
    ASSERT_TRUE(actuator.set(1));
    EXPECT_EQ(at(kCpuMax), 1326000);
    EXPECT_TRUE(disk_.read_file(kKeep, 1000));
  }
  EXPECT_EQ(at(kCpuMax), 1734000);
  EXPECT_EQ(at(kGpuMax), 998400000);
  EXPECT_FALSE(disk_.read_file(kKeep, 1000));
}

TEST_F(ActuatorTest, TheNextStartPutsBackWhatACrashLeft) {
  add_cpu();
  ASSERT_TRUE(disk_.write_file(
      kKeep, as_bytes(std::string_view("/sys/devices/system/cpu/cpufreq/policy0/scaling_max_freq 1734000\n"
                                       "/etc/passwd 5\n"
                                       "/sys/devices/system/cpu/cpufreq/../../x/scaling_max_freq 5\n"))));
  board_.write(kCpuMax, 408000);
  board_.write("/etc/passwd", "root\n");
  Actuator actuator(sys_, disk_, kKeep);
  EXPECT_EQ(at(kCpuMax), 1734000);
  EXPECT_EQ(sys_.text("/etc/passwd"), "root");
  EXPECT_FALSE(disk_.read_file(kKeep, 1000));
  ASSERT_TRUE(actuator.set(5));
  EXPECT_EQ(at(kCpuMax), 408000);
}

TEST_F(ActuatorTest, NothingIsTouchedThatCannotBeWrittenDown) {
  add_cpu();
  Actuator actuator(sys_, disk_, "/no/such/folder/clocks");
  EXPECT_FALSE(actuator.set(2));
  EXPECT_EQ(at(kCpuMax), 1734000);
}

TEST_F(ActuatorTest, ACapThatGoesAwayLeavesTheDuty) {
  add_cpu();
  Actuator actuator(sys_, disk_, kKeep);
  ASSERT_EQ(actuator.levels(), 6u);
  board_.remove(kCpuMax);
  EXPECT_FALSE(actuator.set(2));
  EXPECT_EQ(actuator.levels(), 1u);
  EXPECT_TRUE(actuator.set(2));
}

TEST_F(ActuatorTest, AJetsonHearsOfNvpmodel) {
  board_.write("/var/lib/nvpmodel/status", "pmode:0000\n");
  Actuator actuator(sys_, disk_, kKeep);
  Board board;
  board.soc = "tegra210";
  EXPECT_NE(actuator.advice(board).find("nvpmodel (pmode:0000) is left as it is"), std::string::npos);
}

}  // namespace
}  // namespace samovar::power
