// The race check: every kernel once on a small grid, watched by ThreadSanitizer. With an argument also the
// planted mistake, which must be reported.
#include <cstdio>

#include "kernels/cuda/plugin.hpp"
#include "kernels/emulator/emulator.hpp"
#include "tests/kernels/planted.hpp"

namespace {

using namespace samovar::kernels;

// Few enough for ThreadSanitizer, more than a block has warps.
constexpr std::uint32_t kRows = 9;
constexpr std::uint32_t kWidth = 24;

void run(const Table& table, Stream* stream) {
  static float dense[kRows * 3];
  static std::uint32_t slots[kRows * 5];
  static float target[kRows];
  static float out[kRows];
  static double out_f64[kRows];
  static double weights_f64[kRows];
  static float weights[kWidth];
  static float gradient[kWidth];
  alignas(8) static float cells[(kWidth + 1) * 4];
  static double gram[(kWidth + 1) * (kWidth + 1)];
  static double total;
  static int info;
  for (std::uint32_t i = 0; i < kRows * 5; ++i) slots[i] = 3 + i % 7;  // places meet
  for (std::uint32_t i = 0; i < kRows; ++i) weights_f64[i] = 1;
  Rows rows;
  rows.rows = kRows;
  rows.dense_width = 3;
  rows.slot_width = 5;
  rows.dense = dense;
  rows.slots = slots;
  const Glm glm{Family::binomial, Link::logit, 1};
  table.margins(stream, rows, weights, 0, nullptr, out, 1);
  table.gradient(stream, rows, out, 1, gradient, gradient);
  table.gram_f64(stream, rows, weights_f64, kWidth, gram, nullptr);
  table.residuals(stream, glm, out, target, nullptr, kRows, out, &total);
  table.deviance_f64(stream, glm, out_f64, target, nullptr, kRows, &total);
  table.softmax_residuals(stream, out, target, nullptr, kRows / 3, 3, &total);
  for (const Rule rule : {Rule::adagrad, Rule::ftrl, Rule::adam}) {
    Step step;
    step.glm = glm;
    step.optimizer.rule = rule;
    step.batch_rows = 5;
    const Labels labels{target, nullptr, nullptr};
    table.step_rows(stream, step, rows, labels, cells, cells + kWidth * cell_floats(rule), &total);
  }
  float high = 0;
  table.sum(stream, out, kRows, &total);
  table.max(stream, out, kRows, &high);
  for (std::uint32_t i = 0; i <= kWidth; ++i) gram[i * (kWidth + 1) + i] = 1;
  table.cholesky_f64(stream, gram, kWidth + 1, &info);
}

}  // namespace

int main(int argc, char**) {
  Table table{};
  char why[100] = "";
  if (samovar_cuda_table(&table, sizeof table, why, sizeof why) != 0) return 2;
  Stream* stream = table.open_stream();
  run(table, stream);
  const char* text = "";
  const int error = table.wait(stream, &text);
  table.close_stream(stream);
  int out[64] = {};
  planted_rotate(argc < 2, out);
  std::printf("race check: %s\n", error == 0 ? "every kernel ran" : text);
  return error == 0 ? 0 : 1;
}
