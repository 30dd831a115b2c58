// Places for tokens among 2^bits: levels, numbers, words, indices and pairs of places.
//
// Trained models depend on these functions: they never change. The hash of levels and words is level_hash;
// numbers are hashed by their bits, so that whole columns take few instructions. The first `own` places
// belong to frequent values (OwnPlaces): no hash ends there.
//
// Threading: pure.
// Format:    docs/formats/model.md
#pragma once
#include <bit>
#include <cstdint>
#include <string_view>

#include "trainer/data/level_hash.hpp"
#include "trainer/data/order.hpp"

namespace samovar::trainer {

// A level that no file holds: the unit separator is refused in values.
inline constexpr std::string_view kMissingToken = "\x1fmissing";

class Tokens {
 public:
  Tokens(unsigned bits, std::uint64_t seed, std::uint32_t first, std::uint32_t own) noexcept
      : seed_(seed),
        level_seed_(SeededOrder::mix(seed)),
        range_((std::uint64_t{1} << bits) - own),
        first_(first + own) {}

  // Where the upper half of a hash belongs. Without places of their own these are its topmost bits.
  std::uint32_t place(std::uint32_t upper) const noexcept {
    return first_ + static_cast<std::uint32_t>(upper * range_ >> 32);
  }
  // `input` tells the columns apart: the same level of another one has another place.
  std::uint32_t level_upper(std::size_t input, std::string_view level) const noexcept {
    return static_cast<std::uint32_t>(level_hash(level_seed_, input, level) >> 32);
  }
  // For loops over levels that all have eight bytes.
  std::uint64_t eights_start(std::size_t input) const noexcept {
    return level_hash_start(level_seed_, input, 8);
  }
  std::uint32_t level(std::size_t input, std::string_view level) const noexcept {
    return place(level_upper(input, level));
  }
  std::uint32_t missing(std::size_t input) const noexcept { return level(input, kMissingToken); }

  std::uint64_t number_key(std::size_t input) const noexcept {
    return SeededOrder::derive(seed_, 0x6e00'0000 + input);
  }
  // The key is number_key's. Zero has one sign here. Numbers within a quarter of a power of two are one
  // token: 1, 2, 3, 4, 5, 6, 7, 8 and 9, 10 and 11, … A token for each value would meet too few rows to be
  // learned.
  std::uint32_t number(std::uint64_t key, double value) const noexcept {
    return whole(key, number_token(value));
  }
  static std::uint16_t number_token(double value) noexcept {
    return static_cast<std::uint16_t>(std::bit_cast<std::uint64_t>(value + 0.0) >> kNumberShift);
  }
  static constexpr unsigned kNumberShift = 50;  // sign, exponent and two bits after it are left
  static constexpr std::size_t kNumberTokens = std::size_t{1} << (64 - kNumberShift);
  static constexpr std::uint16_t kNoNumber = 0x7ff << 2;  // the exponent of infinities and NaN
  // Of a token by those bits.
  static constexpr bool is_number(std::uint16_t token) noexcept {
    return (token & (kNumberTokens / 2 - 1)) < kNoNumber;
  }
  // The number of a token that is nearest to 0.
  static double least_number(std::uint16_t token) noexcept {
    return std::bit_cast<double>(std::uint64_t{token} << kNumberShift);
  }

  std::uint64_t index_key(std::size_t input) const noexcept {
    return SeededOrder::derive(seed_, 0x6900'0000 + input);
  }
  std::uint64_t pair_key(std::size_t interaction) const noexcept {
    return SeededOrder::derive(seed_, 0x7000'0000 + interaction);
  }
  std::uint32_t whole(std::uint64_t key, std::uint64_t value) const noexcept {
    std::uint64_t x = value ^ key;
    x = (x ^ (x >> 32)) * 0xd6e8'feb8'6659'fd93;
    x = (x ^ (x >> 32)) * 0xd6e8'feb8'6659'fd93;
    return place(static_cast<std::uint32_t>(x >> 32));
  }

 private:
  const std::uint64_t seed_;
  const std::uint64_t level_seed_;
  const std::uint64_t range_;
  const std::uint32_t first_;
};

}  // namespace samovar::trainer
