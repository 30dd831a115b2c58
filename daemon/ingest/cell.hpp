// A cell of text in eight bytes: itself when it is that short, else where it stands.
//
// Well-formed UTF-8 has no byte 0xff, so the two cannot be mistaken for each other, and equal short cells are
// equal numbers: dictionaries compare and hash one word.
//
// Threading: any thread; pure.
#pragma once
#include <cstdint>
#include <cstring>
#include <string_view>

namespace samovar::ingest {

using Cell = std::uint64_t;                                 // 0: empty
inline constexpr Cell kNoCell = std::uint64_t{0xfe} << 56;  // missing, whatever the tokens are

inline constexpr std::uint64_t kLowBytes[9] = {0,
                                               0xff,
                                               0xffff,
                                               0xff'ffff,
                                               0xffff'ffff,
                                               0xff'ffff'ffff,
                                               0xffff'ffff'ffff,
                                               0xff'ffff'ffff'ffff,
                                               0xffff'ffff'ffff'ffff};

inline std::uint64_t load_word(const char* at) noexcept {
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return word;
}

// Of well-formed UTF-8 without NUL, shorter than 16 MiB; eight bytes at `begin` are readable.
inline Cell make_cell(const char* text, std::uint32_t begin, std::uint32_t end) noexcept {
  const std::uint32_t size = end - begin;
  if (size <= 8) return load_word(text + begin) & kLowBytes[size];
  return std::uint64_t{0xff} << 56 | std::uint64_t{size} << 32 | begin;
}
inline bool cell_is_long(Cell cell) noexcept { return cell >> 56 == 0xff; }
inline std::size_t cell_size(Cell cell) noexcept {
  if (cell_is_long(cell)) return static_cast<std::size_t>(cell >> 32 & 0xff'ffff);
  return cell == 0 ? 0 : 8 - static_cast<std::size_t>(__builtin_clzll(cell)) / 8;
}
// A short cell's text is the cell's own bytes: it lives as long as `cell`.
inline std::string_view cell_text(const Cell& cell, const char* text) noexcept {
  if (cell_is_long(cell)) return {text + static_cast<std::uint32_t>(cell), cell_size(cell)};
  return {reinterpret_cast<const char*>(&cell), cell_size(cell)};
}

inline std::uint64_t mix_word(std::uint64_t x) noexcept {
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93;
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93;
  return x ^ x >> 32;
}
// The same for the same text, wherever it stands. Not against an adversary: tables are bounded by their
// block.
inline std::uint64_t hash_text(std::string_view text) noexcept {
  std::uint64_t hash = 0x9e3779b97f4a7c15 ^ text.size();
  const char* at = text.data();
  std::size_t left = text.size();
  for (; left >= 8; left -= 8, at += 8)
    hash = (hash ^ load_word(at)) * 0xff51afd7ed558ccd, hash ^= hash >> 29;
  if (left > 0) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, left);
    hash = (hash ^ word) * 0xff51afd7ed558ccd;
    hash ^= hash >> 29;
  }
  return mix_word(hash);
}

}  // namespace samovar::ingest
