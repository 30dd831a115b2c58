// What only the emulator and the loader of plug-ins have.
#include <gmock/gmock.h>

#include "kernels/cuda/plugin.hpp"
#include "kernels/devices.hpp"
#include "kernels/emulator/runtime.hpp"
#include "tests/kernels/devices.hpp"
#include "tests/kernels/planted.hpp"

namespace samovar::kernels {
namespace {

using emulator::Order;
using testing::HasSubstr;

constexpr int kCount = 64;

bool rotates(bool barrier, Order order) {
  emulator::set_order(order, 3);
  int out[kCount] = {};
  planted_rotate(barrier, out);
  for (int i = 0; i < kCount; ++i) {
    if (out[i] != (i + 1) % kCount) return false;
  }
  return true;
}

TEST(Emulator, MissingBarrierIsCaughtInEveryOrder) {
  for (const Order order : {Order::forward, Order::reverse, Order::random}) {
    EXPECT_TRUE(rotates(true, order));
    EXPECT_FALSE(rotates(false, order));
  }
}

TEST(Emulator, BarrierNotAllReachIsADeadlock) {
  emulator::set_order(Order::forward);
  int out[kCount] = {};
  planted_half_barrier(out);
  EXPECT_EQ(cudaGetLastError(), cudaErrorLaunchFailure);
  EXPECT_THAT(emulator::take_failure(), HasSubstr("deadlock"));
  EXPECT_TRUE(rotates(true, Order::forward)) << "the next launch is not hurt";
}

TEST(Emulator, LaunchNoDeviceTakesIsAnError) {
  int out[kCount] = {};
  planted_too_many_threads(out);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidConfiguration);
}

TEST(Plugin, GivesBackAllMemory) {
  const std::size_t before = emulator::runtime().live_bytes;
  const Device device = devices().front();
  Stream* stream = device.table->open_stream();
  ASSERT_NE(stream, nullptr);
  device.table->close_stream(stream);
  EXPECT_EQ(emulator::runtime().live_bytes, before);
}

TEST(Plugin, SaysWhyThereIsNoTable) {
  Table table{};
  char why[100] = "";
  EXPECT_EQ(samovar_cuda_table(&table, sizeof table - 8, why, sizeof why), 1);
  EXPECT_THAT(why, HasSubstr("another version"));
  emulator::runtime().devices = 0;
  EXPECT_EQ(samovar_cuda_table(&table, sizeof table, why, sizeof why), 1);
  EXPECT_THAT(why, HasSubstr("no CUDA-capable device"));
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  emulator::runtime().devices = 1;
}

TEST(Plugin, MissingEntriesFallBackAndAreCounted) {
  Table table = *devices().front().table;
  const std::uint64_t before = fallbacks();
  table.sum = nullptr;
  const Table whole = completed(table);
  ASSERT_NE(whole.sum, nullptr);
  const float x[] = {1, 2, 3};
  double out = 0;
  Stream* stream = whole.open_stream();
  whole.sum(stream, x, 3, &out);
  EXPECT_EQ(out, 6);
  EXPECT_EQ(fallbacks(), before + 1);
  whole.close_stream(stream);
}

}  // namespace
}  // namespace samovar::kernels
