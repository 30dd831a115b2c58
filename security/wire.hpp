// Little-endian fields for this folder's file formats: a writer that appends, a reader that checks.
//
// Threading: value types. A Reader borrows the bytes it reads.
#pragma once
#include <cstdint>
#include <string_view>

#include "base/bytes.hpp"

namespace samovar::security {

class WireWriter {
 public:
  explicit WireWriter(Bytes& out) : out_(out) {}
  template <class Unsigned>
  void number(Unsigned value) {
    for (std::size_t i = 0; i < sizeof(Unsigned); ++i)
      out_.push_back(static_cast<std::uint8_t>(static_cast<std::uint64_t>(value) >> (8 * i)));
  }
  void raw(ByteView bytes) { out_.insert(out_.end(), bytes.begin(), bytes.end()); }
  // u32 length, then the bytes.
  void sized(ByteView bytes) {
    number(static_cast<std::uint32_t>(bytes.size()));
    raw(bytes);
  }

 private:
  Bytes& out_;
};

// After the first short read every further one yields zeros and ok() stays false, so that a decoder
// reads all fields and asks once.
class WireReader {
 public:
  explicit WireReader(ByteView bytes) : rest_(bytes) {}
  template <class Unsigned>
  Unsigned number() {
    std::uint64_t value = 0;
    const ByteView bytes = raw(sizeof(Unsigned));
    for (std::size_t i = 0; i < bytes.size(); ++i) value |= std::uint64_t{bytes[i]} << (8 * i);
    return static_cast<Unsigned>(value);
  }
  ByteView raw(std::size_t size) {
    if (!ok_ || rest_.size() < size) {
      ok_ = false;
      return {};
    }
    const ByteView bytes = rest_.first(size);
    rest_ = rest_.subspan(size);
    return bytes;
  }
  template <class Array>
  Array array() {
    Array out{};
    const ByteView bytes = raw(out.size());
    for (std::size_t i = 0; i < bytes.size(); ++i) out[i] = bytes[i];
    return out;
  }
  ByteView sized(std::size_t size_max) {
    const auto size = number<std::uint32_t>();
    if (size > size_max) ok_ = false;
    return raw(size);
  }
  bool ok() const noexcept { return ok_; }
  bool at_end() const noexcept { return ok_ && rest_.empty(); }
  ByteView rest() const noexcept { return rest_; }

 private:
  ByteView rest_;
  bool ok_ = true;
};

}  // namespace samovar::security
