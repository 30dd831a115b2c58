// The characters of a column, packed where it pays: hexadecimal digits in half, repetitive text by LZ4.
//
// Threading: any thread; pure.
#pragma once
#include <cstdint>
#include <span>

#include "base/bytes.hpp"
#include "trainer/data/block_format.hpp"

namespace samovar::trainer {

struct PackedChars {
  block_format::Chars packing = block_format::Chars::plain;
  std::uint32_t stored = 0;
};
// Writes the stored form, not padded, to `out`, which has room for as many bytes as characters.
PackedChars pack_chars(std::span<const char> chars, std::uint8_t* out);
// Whether `stored` bytes can stand for `chars` characters: asked before room for them is made.
bool chars_sizes_fit(block_format::Chars packing, std::size_t stored, std::size_t chars) noexcept;
// False when the bytes do not unpack to exactly `out`. Not for Chars::plain, which is read in place.
bool unpack_chars(block_format::Chars packing, ByteView stored, std::span<char> out) noexcept;

}  // namespace samovar::trainer
