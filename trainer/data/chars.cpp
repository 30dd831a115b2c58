#include "trainer/data/chars.hpp"

#include <lz4.h>

#include <algorithm>

#include "base/assert.hpp"
#include "trainer/data/pack.hpp"

namespace samovar::trainer {

using block_format::Chars;

namespace {

constexpr std::size_t kLz4BytesMin = 256;  // less does not matter
constexpr std::size_t kSampleBytes = 4096;
constexpr std::size_t kSamples = 4;
// Packing runs at about 1 GB/s, as sealing and hashing do together; unpacking at 3. Below this share reading
// gets faster, and disks and links carry less, for about the same time of writing.
constexpr double kLz4ShareMax = 0.65;
constexpr std::size_t kLz4RatioMax = 256;  // its longest run of 255 for a byte

// Small pieces from all over: is the whole worth the time?
bool lz4_seems_to_pay(std::span<const char> chars) {
  if (chars.size() < kLz4BytesMin) return false;
  char packed[LZ4_COMPRESSBOUND(kSampleBytes)];
  std::size_t plain = 0;
  std::size_t stored = 0;
  const std::size_t step = std::max(kSampleBytes, chars.size() / kSamples);
  for (std::size_t first = 0; first < chars.size(); first += step) {
    const auto piece = chars.subspan(first, std::min(kSampleBytes, chars.size() - first));
    const int size =
        LZ4_compress_default(piece.data(), packed, static_cast<int>(piece.size()), sizeof packed);
    if (size <= 0) return false;
    plain += piece.size();
    stored += static_cast<std::size_t>(size);
  }
  return static_cast<double>(stored) < kLz4ShareMax * static_cast<double>(plain);
}

}  // namespace

PackedChars pack_chars(std::span<const char> chars, std::uint8_t* out) {
  const pack::Table& loops = pack::table();
  if (!chars.empty() && loops.is_hex(chars.data(), chars.size())) {
    loops.pack_hex(chars.data(), chars.size(), out);
    return {Chars::hex, static_cast<std::uint32_t>((chars.size() + 1) / 2)};
  }
  if (lz4_seems_to_pay(chars)) {
    const auto room = static_cast<std::size_t>(kLz4ShareMax * static_cast<double>(chars.size()));
    const int stored = LZ4_compress_default(chars.data(), reinterpret_cast<char*>(out),
                                            static_cast<int>(chars.size()), static_cast<int>(room));
    if (stored > 0) return {Chars::lz4, static_cast<std::uint32_t>(stored)};
  }
  std::copy(chars.begin(), chars.end(), out);
  return {Chars::plain, static_cast<std::uint32_t>(chars.size())};
}

bool chars_sizes_fit(Chars packing, std::size_t stored, std::size_t chars) noexcept {
  switch (packing) {
    case Chars::plain:
      return stored == chars;
    case Chars::hex:
      return chars > 0 && stored == (chars + 1) / 2;
    case Chars::lz4:
      return stored > 0 && chars > 0 && chars / kLz4RatioMax <= stored;
  }
  return false;
}

bool unpack_chars(Chars packing, ByteView stored, std::span<char> out) noexcept {
  if (packing == Chars::hex) {
    pack::table().unpack_hex(stored.data(), out.size(), out.data());
    return true;
  }
  SAMOVAR_ASSERT(packing == Chars::lz4);
  const int size = LZ4_decompress_safe(reinterpret_cast<const char*>(stored.data()), out.data(),
                                       static_cast<int>(stored.size()), static_cast<int>(out.size()));
  return size >= 0 && static_cast<std::size_t>(size) == out.size();
}

}  // namespace samovar::trainer
