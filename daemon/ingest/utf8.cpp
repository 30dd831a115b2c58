#include "daemon/ingest/utf8.hpp"

namespace samovar::ingest {
namespace {

// Length of the well-formed character at the front, 0 when there is none. Unicode table 3-7.
std::size_t character_size(const unsigned char* at, std::size_t left) noexcept {
  const unsigned char first = at[0];
  if (first < 0x80) return 1;
  if (first < 0xc2) return 0;
  const auto follows = [&](std::size_t i, unsigned char low, unsigned char high) {
    return i < left && at[i] >= low && at[i] <= high;
  };
  if (first < 0xe0) return follows(1, 0x80, 0xbf) ? 2 : 0;
  if (first < 0xf0) {
    const unsigned char low = first == 0xe0 ? 0xa0 : 0x80;
    const unsigned char high = first == 0xed ? 0x9f : 0xbf;
    return follows(1, low, high) && follows(2, 0x80, 0xbf) ? 3 : 0;
  }
  if (first > 0xf4) return 0;
  const unsigned char low = first == 0xf0 ? 0x90 : 0x80;
  const unsigned char high = first == 0xf4 ? 0x8f : 0xbf;
  return follows(1, low, high) && follows(2, 0x80, 0xbf) && follows(3, 0x80, 0xbf) ? 4 : 0;
}

const unsigned char* bytes_of(std::string_view text) noexcept {
  return reinterpret_cast<const unsigned char*>(text.data());
}

}  // namespace

std::size_t utf8_valid_prefix(std::string_view text) noexcept {
  std::size_t at = 0;
  while (at < text.size()) {
    // Mostly ASCII even in French: jump over it eight at a time.
    while (at + 8 <= text.size()) {
      std::uint64_t word = 0;
      std::memcpy(&word, text.data() + at, 8);
      if ((word & 0x8080'8080'8080'8080) != 0) break;
      at += 8;
    }
    if (at == text.size()) break;
    const std::size_t size = character_size(bytes_of(text) + at, text.size() - at);
    if (size == 0) return at;
    at += size;
  }
  return at;
}

std::string printable(std::string_view text, std::size_t bytes_max) {
  constexpr std::string_view kReplacement = "\xef\xbf\xbd";
  constexpr std::string_view kEllipsis = "\xe2\x80\xa6";
  std::string out;
  std::size_t at = 0;
  while (at < text.size()) {
    std::size_t size = character_size(bytes_of(text) + at, text.size() - at);
    std::string_view piece = kReplacement;
    const auto first = static_cast<unsigned char>(text[at]);
    if (size == 0) {
      size = 1;
    } else if (first >= 0x20 && first != 0x7f) {
      piece = text.substr(at, size);
    } else if (first == '\t' || first == '\n' || first == '\r') {
      piece = " ";
    }
    if (out.size() + piece.size() > bytes_max) return out.append(kEllipsis);
    out.append(piece);
    at += size;
  }
  return out;
}

}  // namespace samovar::ingest
