// Is this UTF-8? Asked of every byte of every file, so it must cost next to nothing.
//
// Threading: any thread; pure.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace samovar::ingest {

// Where the text stops being well-formed (RFC 3629: no overlong forms, no surrogates), or its size.
std::size_t utf8_valid_prefix(std::string_view text) noexcept;

// Eight bytes at a time: the compiler makes vector code of it.
inline bool is_ascii(std::string_view text) noexcept {
  constexpr std::uint64_t kHighBits = 0x8080'8080'8080'8080;
  const char* at = text.data();
  const char* const end = at + text.size();
  std::uint64_t seen = 0;
  for (; end - at >= 32; at += 32) {
    std::uint64_t words[4];
    std::memcpy(words, at, sizeof words);
    seen |= words[0] | words[1] | words[2] | words[3];
    if ((seen & kHighBits) != 0) return false;
  }
  for (; at != end; ++at) seen |= static_cast<unsigned char>(*at);
  return (seen & kHighBits) == 0;
}

inline bool utf8_valid(std::string_view text) noexcept {
  return is_ascii(text) || utf8_valid_prefix(text) == text.size();
}

// For people: not longer than bytes_max (cut between characters, with "…"), what is not UTF-8 and control
// characters become U+FFFD, so that it may stand in JSON and on a screen.
std::string printable(std::string_view text, std::size_t bytes_max);

}  // namespace samovar::ingest
