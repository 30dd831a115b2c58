// The hash behind hashed levels and words.
//
// Threading: pure.
#pragma once
#include <cstdint>
#include <cstring>
#include <string_view>

#include "trainer/data/order.hpp"

namespace samovar::trainer {

// What the hash of a level of this length begins with: the length goes in first, so that zeros at the end
// count.
inline std::uint64_t level_hash_start(std::uint64_t seed, std::size_t column, std::size_t length) noexcept {
  return seed ^ (column + 1) * 0xbf58'476d'1ce4'e5b9 ^ length * 0x9e37'79b9'7f4a'7c15;
}

// `seed` is mixed already. Trained models depend on these numbers: this function never changes, another would
// be another coder.
inline std::uint64_t level_hash(std::uint64_t seed, std::size_t column, std::string_view level) noexcept {
  constexpr std::uint64_t kOdd = 0x9e37'79b9'7f4a'7c15;
  std::uint64_t hash = level_hash_start(seed, column, level.size());  // then eight bytes at a time
  const auto add = [&](std::uint64_t eight) {
    hash = (hash ^ eight) * kOdd;
    hash ^= hash >> 32;
  };
  const char* at = level.data();
  std::size_t left = level.size();
  for (; left >= 8; at += 8, left -= 8) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, at, sizeof eight);
    add(eight);
  }
  if (left != 0) {
    std::uint64_t rest = 0;
    for (std::size_t i = 0; i < left; ++i)
      rest |= std::uint64_t{static_cast<unsigned char>(at[i])} << (8 * i);
    add(rest);
  }
  return SeededOrder::mix(hash);
}

}  // namespace samovar::trainer
