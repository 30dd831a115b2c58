// The tables a test program tries: the CPU's, one for each instruction set, or the CUDA plug-in's kernels
// under the emulator, once for each order of threads.
#pragma once
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "kernels/kernels.hpp"

namespace samovar::kernels {

struct Device {
  std::string name;
  const Table* table = nullptr;
  std::function<void()> begin = [] {};  // before a test
  friend std::ostream& operator<<(std::ostream& out, const Device& device) { return out << device.name; }
};

std::vector<Device> devices();

// Memory of a device with a vector's values.
template <class T>
class Buffer {
 public:
  Buffer(const Table& table, const std::vector<T>& values) : Buffer(table, values.size()) {
    for (std::size_t i = 0; i < size_; ++i) data_[i] = values[i];
  }
  Buffer(const Table& table, std::size_t size)
      : table_(table), size_(size), data_(static_cast<T*>(table.allocate(size * sizeof(T)))) {
    for (std::size_t i = 0; i < size_; ++i) data_[i] = T{};
  }
  ~Buffer() { table_.release(data_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  Buffer(Buffer&& other) noexcept
      : table_(other.table_), size_(other.size_), data_(std::exchange(other.data_, nullptr)) {}

  T* data() { return data_; }
  T& operator[](std::size_t i) { return data_[i]; }
  std::size_t size() const { return size_; }
  std::vector<T> values() const { return std::vector<T>(data_, data_ + size_); }

 private:
  const Table& table_;
  std::size_t size_;
  T* data_;
};

class KernelTest : public testing::TestWithParam<Device> {
 protected:
  void SetUp() override {
    GetParam().begin();
    stream_ = table().open_stream();
  }
  void TearDown() override {
    wait();
    table().close_stream(stream_);
  }
  const Table& table() const { return *GetParam().table; }
  void wait() {
    const char* text = "";
    EXPECT_EQ(table().wait(stream_, &text), 0) << text;
  }
  template <class T>
  Buffer<T> buffer(const std::vector<T>& values) {
    return Buffer<T>(table(), values);
  }

  Stream* stream_ = nullptr;
};

inline std::string device_name(const testing::TestParamInfo<Device>& info) {
  std::string name = info.param.name;
  for (char& c : name) c = c == ' ' ? '_' : c;
  return name;
}

#define SAMOVAR_KERNEL_SUITE(suite)   \
  class suite : public KernelTest {}; \
  INSTANTIATE_TEST_SUITE_P(On, suite, testing::ValuesIn(devices()), device_name)

}  // namespace samovar::kernels
