#include "trainer/solvers/stream_device.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "base/assert.hpp"
#include "trainer/solvers/row_source.hpp"

namespace samovar::trainer {

namespace {

constexpr std::size_t kAlignment = 256;  // of the parts of a batch, as a device reads them best

Error failed(const std::string& trouble) {
  return {Errc::unavailable,
          trouble +
              ": start the job again, it goes on from its last checkpoint; with the device \"cpu\" it "
              "does without the GPU"};
}

}  // namespace

StreamDevice::StreamDevice(const kernels::Table* table) : table_(table != nullptr ? table : &kernels::cpu()) {
  if (table_ == &kernels::cpu()) return;
  queue_ = table_->open_stream();
  if (queue_ == nullptr || !grow(loss_room_, sizeof(double))) {
    leave();
    trouble_.clear();  // it never began
    return;
  }
  loss_ = static_cast<double*>(loss_room_.memory);
  *loss_ = 0;
}

StreamDevice::~StreamDevice() { leave(); }

void StreamDevice::leave() {
  loss_ = &own_loss_;
  if (queue_ != nullptr) {
    static_cast<void>(table_->wait(queue_, nullptr));  // nobody is left to be told
    for (Room* room : {&batch_, &scores_, &loss_room_}) table_->release(std::exchange(*room, {}).memory);
    table_->close_stream(std::exchange(queue_, nullptr));
  }
  table_ = &kernels::cpu();
}

Result<void> StreamDevice::grow(Room& room, std::size_t bytes) {
  if (bytes <= room.bytes) return {};
  table_->release(std::exchange(room, {}).memory);
  room.memory = table_->allocate(bytes);
  if (room.memory == nullptr) {
    trouble_ = "the GPU has no room for a batch of rows";
    return failed(trouble_);
  }
  room.bytes = bytes;
  return {};
}

Result<StreamDevice::Brought> StreamDevice::bring(const EncodedBatch& batch, std::span<const float> offsets) {
  Brought out{kernel_rows(batch), kernel_labels(batch)};
  out.labels.offset = offsets.empty() ? nullptr : offsets.data();
  if (!apart()) return out;
  struct Part {
    const void* from;
    std::size_t bytes;
    std::size_t at = 0;
  };
  const auto part = [](const auto& values) {
    return Part{values.data(), values.size() * sizeof(*values.data())};
  };
  Part parts[] = {
      part(batch.dense),         part(batch.slots),  part(batch.ragged_ends), part(batch.ragged_slots),
      part(batch.ragged_values), part(batch.target), part(batch.weight),      part(offsets)};
  std::size_t bytes = 0;
  for (Part& each : parts) {
    each.at = bytes;
    bytes += (each.bytes + kAlignment - 1) / kAlignment * kAlignment;
  }
  // Room for somewhat larger batches at once: the number of words in them differs.
  if (bytes > batch_.bytes) SAMOVAR_CHECK(grow(batch_, bytes + bytes / 4));
  const auto bring_part = [&](const Part& each) -> void* {
    if (each.bytes == 0) return nullptr;
    void* const to = static_cast<char*>(batch_.memory) + each.at;
    std::memcpy(to, each.from, each.bytes);
    return to;
  };
  out.rows.dense = static_cast<const float*>(bring_part(parts[0]));
  out.rows.slots = static_cast<const std::uint32_t*>(bring_part(parts[1]));
  out.rows.ragged_ends = static_cast<const std::uint32_t*>(bring_part(parts[2]));
  out.rows.ragged_slots = static_cast<const std::uint32_t*>(bring_part(parts[3]));
  out.rows.ragged_values = static_cast<const float*>(bring_part(parts[4]));
  out.labels.target = static_cast<const float*>(bring_part(parts[5]));
  out.labels.weight = static_cast<const float*>(bring_part(parts[6]));
  out.labels.offset = static_cast<const float*>(bring_part(parts[7]));
  return out;
}

Result<float*> StreamDevice::room(std::size_t floats) {
  if (!apart()) {
    own_.resize(std::max(own_.size(), floats));
    return own_.data();
  }
  SAMOVAR_CHECK(grow(scores_, floats * sizeof(float)));
  return static_cast<float*>(scores_.memory);
}

Result<void> StreamDevice::wait() {
  if (!apart()) return {};
  const char* text = "";
  if (table_->wait(queue_, &text) == 0) return {};
  trouble_ = std::string("the GPU failed (") + text + ")";
  return failed(trouble_);
}

DeviceFloats::~DeviceFloats() { release(); }

void DeviceFloats::release() {
  if (table_ != nullptr) table_->release(data_);
  table_ = nullptr;
  data_ = nullptr;
  size_ = 0;
}

bool DeviceFloats::make(const StreamDevice& device, std::size_t count) {
  release();
  if (!device.apart()) {
    own_.assign(count, 0);
    data_ = own_.data();
    size_ = count;
    return true;
  }
  void* const memory = device.table().allocate(count * sizeof(float));
  if (memory == nullptr) return false;
  table_ = &device.table();
  data_ = static_cast<float*>(memory);
  size_ = count;
  std::memset(data_, 0, count * sizeof(float));
  return true;
}

void DeviceFloats::assign(LargeVector<float>&& values) {
  SAMOVAR_ASSERT(values.size() == size_);
  if (table_ != nullptr) {
    std::memcpy(data_, values.data(), size_ * sizeof(float));
    return;
  }
  own_ = std::move(values);
  data_ = own_.data();
}

}  // namespace samovar::trainer
