// The inner loops of training: rows a second through the fused step of hashed models, and the plain
// operations, against the loops one would write first.
#include <cmath>
#include <cstdlib>
#include <memory>
#include <vector>

#include "bench/bench.hpp"
#include "kernels/cpu/tables.hpp"

namespace {

using namespace samovar;
using namespace samovar::bench;

constexpr std::uint32_t kSlots = 39;
constexpr std::uint32_t kWeights = 1 << 20;

std::uint64_t next(std::uint64_t& state) {
  state += 0x9e37'79b9'7f4a'7c15;
  std::uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58'476d'1ce4'e5b9;
  z = (z ^ (z >> 27)) * 0x94d0'49bb'1331'11eb;
  return z ^ (z >> 31);
}

struct Data {
  std::uint32_t rows = 0;
  std::vector<std::uint32_t> slots;
  std::vector<float> target;
};

// Columns as click logs have them: some of a few levels, some of a million, frequent levels first; or, as the
// worst case, every place as likely as every other.
Data make(std::uint32_t rows, bool skewed) {
  Data data;
  data.rows = rows;
  std::uint64_t state = 1;
  for (std::uint32_t row = 0; row < rows; ++row) {
    for (std::uint32_t column = 0; column < kSlots; ++column) {
      std::uint64_t level = next(state) >> 12;
      if (skewed) {
        const double share = static_cast<double>(level) / 4503599627370496.0;
        const double levels = std::exp2(3 + column % 18);
        level = static_cast<std::uint64_t>(std::exp2(share * std::log2(levels)));
      }
      std::uint64_t hash = level * 64 + column;
      data.slots.push_back(static_cast<std::uint32_t>(next(hash) % kWeights));
    }
    data.target.push_back(static_cast<float>(next(state) % 4 == 0));
  }
  return data;
}

// What one writes first: a row at a time, weights and their memory in two arrays, the library's functions.
void naive_step(const Data& data, std::vector<float>& weights, std::vector<float>& sums, double& loss) {
  for (std::uint32_t row = 0; row < data.rows; ++row) {
    const std::uint32_t* slots = data.slots.data() + std::size_t{row} * kSlots;
    float margin = 0;
    for (std::uint32_t i = 0; i < kSlots; ++i) margin += weights[slots[i]];
    const float mean = 1 / (1 + std::exp(-margin));
    const float y = data.target[row];
    loss -= static_cast<double>(y > 0 ? std::log(mean) : std::log(1 - mean));
    const float g = mean - y;
    for (std::uint32_t i = 0; i < kSlots; ++i) {
      sums[slots[i]] += g * g;
      weights[slots[i]] -= 0.05f * g / std::sqrt(sums[slots[i]] + 1e-8f);
    }
  }
}

double naive_seconds(const Data& data, double budget) {
  std::vector<float> weights(kWeights);
  std::vector<float> sums(kWeights);
  double loss = 0;
  return best_cpu_seconds(budget, [&] {
    naive_step(data, weights, sums, loss);
    keep(loss);
  });
}

double step_seconds(const kernels::Table& table, const Data& data, kernels::Rule rule, std::uint32_t batch,
                    double budget) {
  kernels::Step step;
  step.glm = {kernels::Family::binomial, kernels::Link::logit, 1};
  step.optimizer.rule = rule;
  step.optimizer.rate = 0.05f;
  step.batch_rows = batch;
  if (rule == kernels::Rule::ftrl) step.optimizer.epsilon = 1;
  const std::size_t cell = kernels::cell_floats(rule);
  const std::unique_ptr<void, void (*)(void*)> memory(table.allocate(kWeights * cell * sizeof(float)),
                                                      table.release);
  auto* cells = static_cast<float*>(memory.get());
  for (std::size_t i = 0; i < kWeights * cell; ++i) cells[i] = 0;
  float bias[4] = {};
  double loss = 0;
  kernels::Rows rows;
  rows.rows = data.rows;
  rows.slot_width = kSlots;
  rows.slots = data.slots.data();
  kernels::Labels labels;
  labels.target = data.target.data();
  return best_cpu_seconds(budget, [&] {
    table.step_rows(nullptr, step, rows, labels, cells, bias, &loss);
    keep(loss);
  });
}

double margins_seconds(const kernels::Table& table, const Data& data, double budget) {
  const std::vector<float> weights(kWeights, 0.5f);
  std::vector<float> out(data.rows);
  kernels::Rows rows;
  rows.rows = data.rows;
  rows.slot_width = kSlots;
  rows.slots = data.slots.data();
  return best_cpu_seconds(budget, [&] {
    table.margins(nullptr, rows, weights.data(), 0, nullptr, out.data(), 1);
    keep(out[0]);
  });
}

void families(const kernels::Table& table, double budget) {
  constexpr std::size_t kCount = 1 << 14;
  std::vector<float> margins(kCount);
  std::vector<float> target(kCount);
  std::vector<float> out(kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    margins[i] = static_cast<float>(i % 97) * 0.1f - 4.8f;
    target[i] = static_cast<float>(i % 2);
  }
  const double ours = best_cpu_seconds(budget, [&] {
    double loss = 0;
    table.residuals(nullptr, {kernels::Family::binomial, kernels::Link::logit, 1}, margins.data(),
                    target.data(), nullptr, kCount, out.data(), &loss);
    keep(loss);
  });
  const double naive = best_cpu_seconds(budget, [&] {
    double loss = 0;
    for (std::size_t i = 0; i < kCount; ++i) {
      const float mean = 1 / (1 + std::exp(-margins[i]));
      loss -= static_cast<double>(target[i] > 0 ? std::log(mean) : std::log(1 - mean));
      out[i] = mean - target[i];
    }
    keep(loss);
  });
  print({"kernels", "binomial_residuals", "M/s", kCount / ours / 1e6, kCount / naive / 1e6, "plain loop"});
}

}  // namespace

int main(int argc, char** argv) {
  const bool quick = has_flag(argc, argv, "--quick");
  const double budget = quick ? 0.3 : 1.5;
  const kernels::Table& table = kernels::cpu();
  for (const bool skewed : {true, false}) {
    const Data data = make(quick ? 50'000 : 200'000, skewed);
    const double rows = data.rows / 1e6;
    const double naive = rows / naive_seconds(data, budget);
    const char* step = skewed ? "step_adagrad" : "step_adagrad_uniform";
    print({"kernels", step, "M rows/s", rows / step_seconds(table, data, kernels::Rule::adagrad, 8, budget),
           naive, "plain loop"});
    if (has_flag(argc, argv, "--batches")) {
      for (const std::uint32_t batch : {1u, 4u, 8u, 16u, 32u, 64u})
        print({"kernels", "step_batch_" + std::to_string(batch), "M rows/s",
               rows / step_seconds(table, data, kernels::Rule::adagrad, batch, budget)});
      for (const kernels::Table& each : kernels::cpu_tables())
        print({"kernels", std::string("step ") + each.name, "M rows/s",
               rows / step_seconds(each, data, kernels::Rule::adagrad, 8, budget)});
    }
    if (!skewed) continue;
    print({"kernels", "step_ftrl", "M rows/s",
           rows / step_seconds(table, data, kernels::Rule::ftrl, 8, budget)});
    print(
        {"kernels", "step_sgd", "M rows/s", rows / step_seconds(table, data, kernels::Rule::sgd, 8, budget)});
    print({"kernels", "step_adam", "M rows/s",
           rows / step_seconds(table, data, kernels::Rule::adam, 8, budget)});
    print({"kernels", "margins", "M rows/s", rows / margins_seconds(table, data, budget)});
  }
  families(table, budget);
  return 0;
}
