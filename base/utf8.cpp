#include "base/utf8.hpp"

#include <cstdint>

namespace samovar {

bool is_utf8(std::string_view text) noexcept {
  std::size_t i = 0;
  while (i < text.size()) {
    const auto lead = static_cast<unsigned char>(text[i++]);
    if (lead < 0x80) continue;
    std::size_t more = 0;
    std::uint32_t point = 0;
    std::uint32_t least = 0;  // smaller values have a shorter spelling
    if ((lead & 0xe0) == 0xc0) {
      more = 1, point = lead & 0x1fU, least = 0x80;
    } else if ((lead & 0xf0) == 0xe0) {
      more = 2, point = lead & 0x0fU, least = 0x800;
    } else if ((lead & 0xf8) == 0xf0) {
      more = 3, point = lead & 0x07U, least = 0x10000;
    } else {
      return false;
    }
    if (text.size() - i < more) return false;
    for (; more > 0; --more) {
      const auto next = static_cast<unsigned char>(text[i++]);
      if ((next & 0xc0) != 0x80) return false;
      point = (point << 6) | (next & 0x3fU);
    }
    if (point < least || point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) return false;
  }
  return true;
}

}  // namespace samovar
