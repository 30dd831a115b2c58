// Bytes and views of bytes, and the few conversions everybody needs.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace samovar {

using Bytes = std::vector<std::uint8_t>;
using ByteView = std::span<const std::uint8_t>;
using MutableBytes = std::span<std::uint8_t>;

inline ByteView as_bytes(std::string_view text) noexcept {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}
inline std::string_view as_text(ByteView bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
inline Bytes to_bytes(std::string_view text) { return {text.begin(), text.end()}; }
inline Bytes to_bytes(ByteView view) { return {view.begin(), view.end()}; }

}  // namespace samovar
