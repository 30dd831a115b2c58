// The trial of a device: small, and through every operation that a streaming solver calls.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "daemon/worker/device.hpp"

namespace samovar::worker {
namespace {

using namespace kernels;  // NOLINT: this file is that vocabulary

constexpr std::uint32_t kRows = 40;
constexpr std::uint32_t kDense = 3;
constexpr std::uint32_t kSlots = 4;
constexpr std::uint32_t kWidth = 64;
constexpr std::uint32_t kClasses = 3;
constexpr float kNear = 1e-3f;  // the order of sums differs, and what roots and logarithms make of it

// Numbers of a table's memory, given back at the end.
template <class T>
class Room {
 public:
  Room(const Table& table, std::vector<T> values)
      : table_(table), size_(values.size()), data_(static_cast<T*>(table.allocate(size_ * sizeof(T)))) {
    if (data_ != nullptr) std::memcpy(data_, values.data(), size_ * sizeof(T));
  }
  ~Room() {
    if (data_ != nullptr) table_.release(data_);
  }
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;
  T* get() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }

 private:
  const Table& table_;
  std::size_t size_;
  T* data_;
};

class Queue {
 public:
  explicit Queue(const Table& table) : table_(table), stream_(table.open_stream()) {}
  ~Queue() {
    if (stream_ != nullptr) table_.close_stream(stream_);
  }
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;
  Stream* get() const noexcept { return stream_; }

 private:
  const Table& table_;
  Stream* stream_;
};

// Some numbers between -1 and 1, always the same.
std::vector<float> numbers(std::size_t count, std::uint32_t seed) {
  std::vector<float> out(count);
  for (float& value : out) {
    seed = seed * 1664525u + 1013904223u;
    value = static_cast<float>(seed >> 8) / static_cast<float>(1u << 23) - 1.0f;
  }
  return out;
}

Error trouble(const std::string& what) { return {Errc::unavailable, what}; }

// What comes of a step under `rule`: all cells and intercepts, and the scores of the rows after it.
Result<std::vector<float>> step_with(const Table& table, Rule rule, std::uint32_t outputs) {
  const Queue queue(table);
  if (queue.get() == nullptr && &table != &cpu()) return trouble("the GPU opens no queue");
  const std::size_t cell = cell_floats(rule);
  std::vector<std::uint32_t> slots(kRows * kSlots);
  for (std::size_t i = 0; i < slots.size(); ++i)
    slots[i] = static_cast<std::uint32_t>(kDense + (i * 7) % (kWidth - kDense));
  std::vector<float> target(kRows);
  for (std::uint32_t row = 0; row < kRows; ++row)
    target[row] = static_cast<float>(row % (outputs == 1 ? 2 : outputs));
  const Room<float> dense(table, numbers(kRows * kDense, 1));
  const Room<std::uint32_t> places(table, std::move(slots));
  const Room<float> targets(table, std::move(target));
  const Room<float> weights(table, std::vector<float>(kRows, 1.0f));
  const Room<float> cells(table, std::vector<float>(outputs * kWidth * cell, 0.0f));
  const Room<float> bias(table, std::vector<float>(outputs * cell, 0.0f));
  const Room<float> scores(table, std::vector<float>(kRows * outputs, 0.0f));
  const Room<double> loss(table, {0.0});
  for (const void* memory : {static_cast<const void*>(dense.get()), static_cast<const void*>(places.get()),
                             static_cast<const void*>(targets.get()), static_cast<const void*>(weights.get()),
                             static_cast<const void*>(cells.get()), static_cast<const void*>(bias.get()),
                             static_cast<const void*>(scores.get()), static_cast<const void*>(loss.get())})
    if (memory == nullptr) return trouble("the GPU has no memory");
  Rows rows;
  rows.rows = kRows;
  rows.dense_width = kDense;
  rows.slot_width = kSlots;
  rows.dense = dense.get();
  rows.slots = places.get();
  Step step;
  step.glm = {Family::binomial, Link::logit, 1};
  step.optimizer.rule = rule;
  step.batch_rows = 16;
  if (outputs == 1) {
    const Labels labels{targets.get(), weights.get(), nullptr};
    table.step_rows(queue.get(), step, rows, labels, cells.get(), bias.get(), loss.get());
  } else {
    for (std::uint32_t o = 0; o < outputs; ++o)
      table.margins_cells(queue.get(), step.optimizer, rows, cells.get() + o * kWidth * cell,
                          bias.get() + o * cell, nullptr, scores.get() + o, outputs);
    table.softmax_residuals(queue.get(), scores.get(), targets.get(), weights.get(), kRows, outputs,
                            loss.get());
    for (std::uint32_t o = 0; o < outputs; ++o)
      table.update_rows(queue.get(), step.optimizer, rows, scores.get() + o, outputs,
                        cells.get() + o * kWidth * cell, bias.get() + o * cell);
  }
  for (std::uint32_t o = 0; o < outputs; ++o)
    table.margins_cells(queue.get(), step.optimizer, rows, cells.get() + o * kWidth * cell,
                        bias.get() + o * cell, nullptr, scores.get() + o, outputs);
  const char* text = "";
  if (table.wait(queue.get(), &text) != 0) return trouble(std::string("the GPU failed (") + text + ")");
  std::vector<float> out(cells.get(), cells.get() + cells.size());
  out.insert(out.end(), bias.get(), bias.get() + bias.size());
  out.insert(out.end(), scores.get(), scores.get() + scores.size());
  out.push_back(static_cast<float>(*loss.get()));
  return out;
}

}  // namespace

Result<void> try_steps(const Table& table) {
  for (const Rule rule : {Rule::adagrad, Rule::ftrl, Rule::sgd, Rule::adam}) {
    for (const std::uint32_t outputs : {1u, kClasses}) {
      SAMOVAR_TRY(const auto mine, step_with(cpu(), rule, outputs));
      SAMOVAR_TRY(const auto theirs, step_with(table, rule, outputs));
      for (std::size_t i = 0; i < mine.size(); ++i)
        // Written so that what is not a number is not near either.
        if (!(std::abs(theirs[i] - mine[i]) <= kNear * (1 + std::abs(mine[i]))))
          return trouble("the GPU computes wrongly: its result of a trial is not the CPU's");
    }
  }
  return {};
}

}  // namespace samovar::worker
