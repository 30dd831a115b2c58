// Whole numbers in little endian, as libraft's files and our frames hold them.
#pragma once
#include <cstddef>
#include <cstdint>

#include "base/bytes.hpp"

namespace samovar::raft {

inline void put_u32(Bytes& out, std::uint32_t value) {
  for (int shift = 0; shift < 32; shift += 8) out.push_back(static_cast<std::uint8_t>(value >> shift));
}

inline void put_u64(Bytes& out, std::uint64_t value) {
  for (int shift = 0; shift < 64; shift += 8) out.push_back(static_cast<std::uint8_t>(value >> shift));
}

// The caller has checked that the bytes are there.
inline std::uint32_t get_u32(ByteView bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value |= static_cast<std::uint32_t>(bytes[at + i]) << (8 * i);
  return value;
}

inline std::uint64_t get_u64(ByteView bytes, std::size_t at) {
  return get_u32(bytes, at) | static_cast<std::uint64_t>(get_u32(bytes, at + 4)) << 32;
}

inline void append(Bytes& out, ByteView bytes) { out.insert(out.end(), bytes.begin(), bytes.end()); }

}  // namespace samovar::raft
