// Choosing a device: everything that can be missing leaves the CPU, and a sentence.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <fstream>

#include "kernels/devices.hpp"
#include "tests/support/temp_dir.hpp"

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

TEST(Devices, APluginThatOthersCouldReplaceIsNotLoaded) {
  EXPECT_THAT(plugin_fault("/nowhere/libsamovar-cuda.so"), HasSubstr("no CUDA plug-in is installed"));
  const test::TempDir dir;
  const std::string path = dir.path() + "/plugin.so";
  std::ofstream(path) << "x";
  ASSERT_EQ(::chmod(path.c_str(), 0644), 0);
  EXPECT_EQ(plugin_fault(path), "");
  for (const mode_t mode : {0664, 0646}) {
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);
    EXPECT_THAT(plugin_fault(path), HasSubstr("nobody else may write there"));
  }
  ASSERT_EQ(::chmod(path.c_str(), 0644), 0);
  ASSERT_EQ(::chmod(dir.path().c_str(), 0777), 0);
  EXPECT_THAT(plugin_fault(path), HasSubstr("nobody else may write there"));
  ASSERT_EQ(::chmod(dir.path().c_str(), 0700), 0);
  EXPECT_THAT(plugin_fault(dir.path()), HasSubstr("is not loaded")) << "a folder is no plug-in";
  if (::geteuid() != 0) return;
  ASSERT_EQ(::chown(path.c_str(), 65534, 0), 0);
  EXPECT_THAT(plugin_fault(path), HasSubstr("must belong to root")) << "somebody else's";
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
