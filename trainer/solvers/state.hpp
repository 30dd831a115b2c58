// Numbers as bytes and back, for checkpoints: little endian, vectors with their length before them.
//
// Threading: values.
#pragma once
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"

namespace samovar::trainer {

class StateWriter {
 public:
  StateWriter() = default;
  // Room for so many beforehand.
  explicit StateWriter(std::size_t bytes) { bytes_.reserve(bytes); }
  // Keeps nothing: `take` gets each piece as it is put, and take() is empty.
  explicit StateWriter(std::function<void(ByteView)> take) : take_(std::move(take)) {}

  template <class T>
  requires(std::is_arithmetic_v<T> || std::is_enum_v<T>) void put(T value) { raw(&value, sizeof value); }
  template <class T, class Memory>
  void put(const std::vector<T, Memory>& values) {
    static_assert(std::is_trivially_copyable_v<T>);
    put(std::uint64_t{values.size()});
    raw(values.data(), values.size() * sizeof(T));
  }
  // As a vector of them.
  void put(std::span<const float> values) {
    put(std::uint64_t{values.size()});
    raw(values.data(), values.size_bytes());
  }
  void put(std::string_view text) {
    put(std::uint64_t{text.size()});
    raw(text.data(), text.size());
  }
  // Without a length.
  void put_raw(ByteView bytes) { raw(bytes.data(), bytes.size()); }
  Bytes take() { return std::move(bytes_); }

  // What was put is not to be kept.
  void refuse(Error error) { refused_ = std::move(error); }
  Result<void> kept() const {
    if (refused_) return *refused_;
    return {};
  }

 private:
  void raw(const void* from, std::size_t bytes) {
    if (bytes == 0) return;
    if (take_) return take_(ByteView(static_cast<const std::uint8_t*>(from), bytes));
    const std::size_t before = bytes_.size();
    bytes_.resize(before + bytes);
    std::memcpy(bytes_.data() + before, from, bytes);
  }
  Bytes bytes_;
  std::function<void(ByteView)> take_;
  std::optional<Error> refused_;
};

// Reading past the end, or a vector longer than what is left, is remembered; the values are then 0 or empty.
class StateReader {
 public:
  explicit StateReader(ByteView bytes) : bytes_(bytes) {}

  template <class T>
  requires(std::is_arithmetic_v<T> || std::is_enum_v<T>) T get() {
    T value{};
    raw(&value, sizeof value);
    return value;
  }
  template <class T, class Memory>
  void get(std::vector<T, Memory>& out) {
    static_assert(std::is_trivially_copyable_v<T>);
    const std::size_t count = length(sizeof(T));
    out.resize(count);
    raw(out.data(), count * sizeof(T));
  }
  std::string text() {
    std::string out(length(1), '\0');
    raw(out.data(), out.size());
    return out;
  }
  // A vector of bytes where it lies, not copied.
  ByteView bytes() {
    const std::size_t count = length(1);
    const ByteView all = bytes_.first(count);
    bytes_ = bytes_.subspan(count);
    return all;
  }
  // All that is left.
  ByteView rest() {
    const ByteView all = bytes_;
    bytes_ = {};
    return all;
  }
  bool failed() const noexcept { return failed_; }
  std::size_t left() const noexcept { return bytes_.size(); }
  Result<void> done() const {
    if (failed_ || !bytes_.empty())
      return Error{Errc::corrupt, "the checkpoint is damaged: start the job anew"};
    return {};
  }

 private:
  std::size_t length(std::size_t each) {
    const auto count = get<std::uint64_t>();
    if (count <= bytes_.size() / each) return static_cast<std::size_t>(count);
    failed_ = true;
    return 0;
  }
  void raw(void* to, std::size_t bytes) {
    if (bytes > bytes_.size()) {
      failed_ = true;
      return;
    }
    if (bytes != 0) std::memcpy(to, bytes_.data(), bytes);
    bytes_ = bytes_.subspan(bytes);
  }
  ByteView bytes_;
  bool failed_ = false;
};

}  // namespace samovar::trainer
