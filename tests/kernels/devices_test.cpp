// Choosing a device: everything that can be missing leaves the CPU, and a sentence.
#include <gmock/gmock.h>

#include <cstring>

#include "kernels/devices.hpp"

namespace samovar::kernels {
namespace {

using testing::HasSubstr;

TEST(Devices, CpuIsHadByAsking) {
  std::string why;
  EXPECT_EQ(&best(DeviceChoice::cpu, why), &cpu());
  EXPECT_THAT(why, HasSubstr("as asked for"));
}

TEST(Devices, WithoutAPluginTheCpuComputes) {
  for (const DeviceChoice choice : {DeviceChoice::automatic, DeviceChoice::cuda}) {
    std::string why;
    EXPECT_EQ(&best(choice, why, "/nowhere/libsamovar-cuda.so"), &cpu());
    EXPECT_THAT(why, HasSubstr("no CUDA plug-in is installed"));
    EXPECT_THAT(why, HasSubstr(cpu().name));
  }
}

TEST(Devices, NoteSaysWhatTrainingsRunOn) {
  EXPECT_THAT(device_note("/nowhere/libsamovar-cuda.so"), HasSubstr("computes on the CPU"));
}

// A plug-in whose own libraries are missing, or that is no plug-in at all.
TEST(Devices, APluginThatDoesNotLoadLeavesTheCpu) {
  std::string why;
  EXPECT_EQ(&best(DeviceChoice::automatic, why, "/proc/self/cmdline"), &cpu());
  EXPECT_THAT(why, HasSubstr("does not load"));
}

TEST(Devices, ALibraryWithoutTheTableLeavesTheCpu) {
  std::string why;
  EXPECT_EQ(&best(DeviceChoice::automatic, why, "libm.so.6"), &cpu());
  EXPECT_THAT(why, HasSubstr("has no table"));
}

#if defined(SAMOVAR_CUDA_PLUGIN)
// The real one, where nvcc built it: without a driver it loads, and says what is missing.
TEST(Devices, TheBuiltPluginLoadsAndAnswers) {
  std::string why;
  best(DeviceChoice::automatic, why, SAMOVAR_CUDA_PLUGIN);
  EXPECT_THAT(why, testing::AnyOf(HasSubstr("no GPU to use"), HasSubstr("computes on the GPU")));
}
#endif

TEST(Devices, EveryEntryOfTheCpuIsFilled) {
  const Table& table = cpu();
  const Table whole = completed(table);
  EXPECT_EQ(std::memcmp(&table, &whole, sizeof table), 0) << "something had to be filled in";
}

}  // namespace
}  // namespace samovar::kernels
