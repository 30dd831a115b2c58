// is_plain_text of join_wire.hpp.
#include "security/join_wire.hpp"

namespace samovar::security {
namespace {

struct CodePoint {
  std::uint32_t value = 0;
  std::size_t bytes = 0;  // 0: not UTF-8
};

// RFC 3629: shortest form only, no surrogates, nothing above U+10FFFF.
CodePoint next_code_point(std::string_view text) noexcept {
  const auto at = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t first = at(0);
  if (first < 0x80) return {first, 1};
  const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < size) return {};
  std::uint32_t value = first & (0xffU >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    if ((at(i) & 0xc0U) != 0x80U) return {};
    value = (value << 6U) | (at(i) & 0x3fU);
  }
  constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (value < kLeast[size] || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff)) return {};
  return {value, size};
}

bool steers(std::uint32_t c) noexcept {
  const bool control = c < 0x20 || (c >= 0x7f && c < 0xa0);
  const bool direction = c == 0x200e || c == 0x200f || c == 0x061c || (c >= 0x202a && c <= 0x202e) ||
                         (c >= 0x2066 && c <= 0x2069);
  const bool line = c == 0x2028 || c == 0x2029;
  return control || direction || line || c == 0xfeff;
}

}  // namespace

bool is_plain_text(std::string_view text, std::size_t bytes_max) noexcept {
  if (text.size() > bytes_max) return false;
  while (!text.empty()) {
    const CodePoint point = next_code_point(text);
    if (point.bytes == 0 || steers(point.value)) return false;
    text.remove_prefix(point.bytes);
  }
  return true;
}

}  // namespace samovar::security
