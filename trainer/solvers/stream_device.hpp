// Where a streaming solver computes: in the process's own memory on the CPU, or on a device that has memory
// and an order of its own.
//
// A device works while the solver reads and encodes the next rows; what came of it is there after wait(), and
// the CPU keeps away from the device's memory until then.
//
// Threading: one thread.
// Ownership: borrows the table, which outlives it.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "kernels/kernels.hpp"
#include "trainer/features/encoded_batch.hpp"
#include "trainer/solvers/large_pages.hpp"

namespace samovar::trainer {

class StreamDevice {
 public:
  // Null: the CPU.
  explicit StreamDevice(const kernels::Table* table);
  ~StreamDevice();
  StreamDevice(const StreamDevice&) = delete;
  StreamDevice& operator=(const StreamDevice&) = delete;

  // Whether there is a device; without one everything is done when a call returns.
  bool apart() const noexcept { return queue_ != nullptr; }
  // It has no room, or will not begin: the CPU does it.
  void leave();
  const kernels::Table& table() const noexcept { return *table_; }
  kernels::Stream* queue() const noexcept { return queue_; }

  // Rows and labels where the table finds them: on the CPU where they are, else copied, over those that were
  // brought before. Offsets are one for each row and output. A device is waited for beforehand.
  struct Brought {
    kernels::Rows rows;
    kernels::Labels labels;
  };
  Result<Brought> bring(const EncodedBatch& batch, std::span<const float> offsets);
  // Of the table's memory, until the next call.
  Result<float*> room(std::size_t floats);
  // Where a step adds its loss.
  double* loss() noexcept { return loss_; }
  Result<void> wait();
  // Why it failed after it had begun; a part of a sentence, empty: it did not.
  const std::string& trouble() const noexcept { return trouble_; }

 private:
  // Memory of the device that grows.
  struct Room {
    void* memory = nullptr;
    std::size_t bytes = 0;
  };
  Result<void> grow(Room& room, std::size_t bytes);

  const kernels::Table* table_;
  kernels::Stream* queue_ = nullptr;
  Room batch_, scores_, loss_room_;
  std::string trouble_;
  double own_loss_ = 0;
  double* loss_ = &own_loss_;
  std::vector<float> own_;  // the CPU's room
};

// Numbers that the steps of a device change: its memory, or the process's own with large pages.
class DeviceFloats {
 public:
  DeviceFloats() = default;
  ~DeviceFloats();
  DeviceFloats(const DeviceFloats&) = delete;
  DeviceFloats& operator=(const DeviceFloats&) = delete;

  // Zeros. False: the device has no room.
  bool make(const StreamDevice& device, std::size_t count);
  // As many as there are.
  void assign(LargeVector<float>&& values);

  float* data() noexcept { return data_; }
  const float* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }
  float* begin() noexcept { return data_; }
  float* end() noexcept { return data_ + size_; }
  float& operator[](std::size_t i) noexcept { return data_[i]; }
  std::span<const float> values() const noexcept { return {data_, size_}; }

 private:
  void release();

  const kernels::Table* table_ = nullptr;  // whose memory it is; null: own_
  float* data_ = nullptr;
  std::size_t size_ = 0;
  LargeVector<float> own_;
};

}  // namespace samovar::trainer
