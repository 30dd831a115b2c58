// A device as the worker opens it: what is tried before it is trusted, and what bounds it.
#include "daemon/worker/device.hpp"

#include <gmock/gmock.h>

#include "kernels/devices.hpp"

namespace samovar::worker {
namespace {

using testing::HasSubstr;

TEST(WorkerDevice, OpensThePluginAndProvesIt) {
  Device device(SAMOVAR_EMULATED_PLUGIN, 64u << 20);
  ASSERT_TRUE(device.open()) << device.trouble();
  ASSERT_NE(device.table(), nullptr);
  EXPECT_STREQ(device.table()->name, "cuda emulator");
  EXPECT_EQ(device.table()->generation, 87u);
  EXPECT_TRUE(device.prove());
  EXPECT_EQ(device.trouble(), "");
  // Its memory is bounded, and comes back.
  void* const most = device.table()->allocate(60u << 20);
  ASSERT_NE(most, nullptr);
  EXPECT_EQ(device.table()->allocate(8u << 20), nullptr);
  device.table()->release(most);
  void* const again = device.table()->allocate(60u << 20);
  EXPECT_NE(again, nullptr);
  device.table()->release(again);
}

TEST(WorkerDevice, WithoutRoomForATrialThereIsNone) {
  Device device(SAMOVAR_EMULATED_PLUGIN, 16);
  EXPECT_FALSE(device.open());
  EXPECT_EQ(device.table(), nullptr);
  EXPECT_THAT(device.trouble(), HasSubstr("no memory"));
}

TEST(WorkerDevice, WithoutAPluginThereIsNone) {
  Device device("/nowhere/libsamovar-cuda.so", 64u << 20);
  EXPECT_FALSE(device.open());
  EXPECT_EQ(device.trouble(), "no CUDA plug-in is installed");
}

char wrong_stream;  // the CPU's operations look at no stream; it only has to be there

TEST(WorkerDevice, ATrialFindsADeviceThatFailsOrComputesWrongly) {
  EXPECT_TRUE(try_steps(kernels::cpu()).has_value());
  kernels::Table wrong = kernels::cpu();
  wrong.open_stream = [] { return reinterpret_cast<kernels::Stream*>(&wrong_stream); };
  wrong.margins_cells = [](kernels::Stream*, const kernels::Optimizer& optimizer, const kernels::Rows& rows,
                           const float* cells, const float* bias, const float* offset, float* out,
                           std::size_t stride) {
    kernels::cpu().margins_cells(nullptr, optimizer, rows, cells, bias, offset, out, stride);
    out[0] += 0.01f;
  };
  auto tried = try_steps(wrong);
  ASSERT_FALSE(tried.has_value());
  EXPECT_THAT(tried.error().message(), HasSubstr("computes wrongly"));
  kernels::Table failing = kernels::cpu();
  failing.open_stream = wrong.open_stream;
  failing.wait = [](kernels::Stream*, const char** text) {
    *text = "an illegal memory access was encountered";
    return 700;
  };
  tried = try_steps(failing);
  ASSERT_FALSE(tried.has_value());
  EXPECT_THAT(tried.error().message(),
              HasSubstr("the GPU failed (an illegal memory access was encountered)"));
  failing.open_stream = []() -> kernels::Stream* { return nullptr; };
  EXPECT_THAT(try_steps(failing).error().message(), HasSubstr("opens no queue"));
}

}  // namespace
}  // namespace samovar::worker
