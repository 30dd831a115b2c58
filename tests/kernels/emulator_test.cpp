// What only the emulator and the loader of plug-ins have.
#include <gmock/gmock.h>

#include "kernels/cuda/plugin.hpp"
#include "kernels/devices.hpp"
#include "kernels/emulator/runtime.hpp"
#include "tests/kernels/devices.hpp"
#include "tests/kernels/naive.hpp"
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

// What exact resume stands on: a step has one outcome, whichever thread comes first.
TEST(Plugin, BitsOfAStepDoNotDependOnTheOrderOfThreads) {
  const Sample sample = make_sample({300, 3, 12, true});
  for (const Rule rule : {Rule::adagrad, Rule::ftrl, Rule::sgd, Rule::adam}) {
    std::vector<std::vector<float>> outcomes;
    std::vector<double> losses;
    for (const Device& device : devices()) {
      device.begin();
      const Table& table = *device.table;
      Stream* const stream = table.open_stream();
      const DeviceRows rows(table, sample);
      Buffer<float> cells(table, (sample.width + 1) * cell_floats(rule));
      Buffer<float> target(table, std::vector<float>(sample.rows, 1));
      for (std::uint32_t i = 0; i < sample.rows; i += 3) target[i] = 0;
      Buffer<double> loss(table, 1);
      Step step;
      step.glm = {Family::binomial, Link::logit, 1};
      step.optimizer.rule = rule;
      step.batch_rows = 250;
      table.step_rows(stream, step, *rows, Labels{target.data(), nullptr, nullptr}, cells.data(),
                      cells.data() + sample.width * cell_floats(rule), loss.data());
      EXPECT_EQ(table.wait(stream, nullptr), 0);
      outcomes.push_back(cells.values());
      losses.push_back(loss[0]);
      table.close_stream(stream);
    }
    for (std::size_t i = 1; i < outcomes.size(); ++i) {
      EXPECT_EQ(outcomes[i], outcomes[0]) << "rule " << static_cast<int>(rule);
      EXPECT_EQ(losses[i], losses[0]);
    }
  }
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
