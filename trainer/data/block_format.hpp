// The bytes of a block, for its encoder and its decoder alone.
//
// Format: docs/formats/block.md
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>

#include "trainer/data/block.hpp"

namespace samovar::trainer::block_format {

static_assert(std::endian::native == std::endian::little, "fields are written as they lie in memory");

inline constexpr std::uint32_t kMagic = 0x4256'4d53;  // "SMVB"
inline constexpr std::uint16_t kVersion = 1;

struct BlockHead {
  std::uint32_t magic = kMagic;
  std::uint16_t version = kVersion;
  std::uint16_t columns = 0;
  std::uint32_t rows = 0;
  std::uint32_t bytes = 0;  // of the whole block
};
static_assert(sizeof(BlockHead) == 16);

enum class Encoding : std::uint8_t {
  packed = 0,   // integer, time: base + u
  decimal = 1,  // real: (base + u) / 10^scale
  f32 = 2,      // real, missing ones are NaN
  f64 = 3,
  bits = 4,   // boolean
  codes = 5,  // category
  text = 6,
  sparse = 7,
};
enum class Chars : std::uint8_t { plain = 0, lz4 = 1, hex = 2 };
enum class SparseValues : std::uint8_t { f32 = 0, same = 1 };

inline constexpr std::uint8_t kHasMissing = 1;  // a bitmap is there; for codes: the code `count` is

struct ColumnHead {
  std::uint8_t type = 0;
  std::uint8_t encoding = 0;
  std::uint8_t width = 0;       // bytes of a value, a code, or a sparse index: 0, 1, 2, 4, 8
  std::uint8_t ends_width = 0;  // bytes of an end: 0 (all `stride` apart), 1, 2, 4
  std::uint8_t packing = 0;     // Chars, or SparseValues
  std::uint8_t flags = 0;
  std::uint16_t zero = 0;
  std::int64_t base = 0;     // of packed integers and decimals; bits of the same sparse value
  std::uint32_t count = 0;   // levels, pairs
  std::uint32_t chars = 0;   // plain
  std::uint32_t stored = 0;  // bytes of the characters as they are stored
  std::uint32_t extra = 0;   // stride of the ends, scale of decimals
};
static_assert(sizeof(ColumnHead) == 32);

inline constexpr std::size_t kAlign = 8;
constexpr std::size_t padded(std::size_t bytes) noexcept { return (bytes + kAlign - 1) / kAlign * kAlign; }
constexpr std::size_t bitmap_bytes(std::size_t rows) noexcept { return (rows + 7) / 8; }

inline constexpr std::uint32_t kScaleMax = 6;
inline constexpr double kPowersOfTen[kScaleMax + 1] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6};

}  // namespace samovar::trainer::block_format
