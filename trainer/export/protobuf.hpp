// The wire format of protocol buffers, as far as ONNX needs it: numbers, and bytes with a length.
//
// Threading: values.
// https://protobuf.dev/programming-guides/encoding/
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.hpp"

namespace samovar::trainer {

class ProtoWriter {
 public:
  void number(std::uint32_t field, std::uint64_t value);    // int64, int32, enum
  void bytes(std::uint32_t field, std::string_view value);  // string, bytes, message
  void message(std::uint32_t field, const ProtoWriter& value) { bytes(field, value.out_); }
  const std::string& str() const noexcept { return out_; }

 private:
  void varint(std::uint64_t value);
  std::string out_;
};

class ProtoReader {
 public:
  explicit ProtoReader(std::string_view bytes) noexcept : left_(bytes) {}

  struct Field {
    std::uint32_t number = 0;
    std::uint64_t value = 0;  // of a number
    std::string_view bytes;   // of the rest
  };
  // Empty at the end, and for what is no field of the two kinds; ok() tells them apart.
  std::optional<Field> next();
  bool ok() const noexcept { return ok_; }

 private:
  bool varint(std::uint64_t& out);
  std::string_view left_;
  bool ok_ = true;
};

}  // namespace samovar::trainer
