// Places for tokens among 2^bits: levels, numbers, words, indices and pairs of places.
//
// Trained models depend on these functions: they never change. The hash of levels and words is that of
// HashedLevels; numbers are hashed by their bits, so that whole columns take few instructions.
//
// Threading: pure.
// Format:    docs/formats/model.md
#pragma once
#include <bit>
#include <cstdint>
#include <string_view>
#include <vector>

#include "trainer/data/order.hpp"
#include "trainer/data/reader.hpp"

namespace samovar::trainer {

// A level that no file holds: the unit separator is refused in values.
inline constexpr std::string_view kMissingToken = "\x1fmissing";

class Tokens {
 public:
  Tokens(unsigned bits, std::uint64_t seed, std::uint32_t first) noexcept
      : levels_(bits, seed), shift_(64 - bits), seed_(seed), first_(first) {}

  // `input` tells the columns apart: the same level of another one has another place.
  std::uint32_t level(std::size_t input, std::string_view level) const {
    return first_ + levels_.code(input, level);
  }
  // All levels of a block's column, and a missing value last.
  void levels(std::size_t input, const BlockView& block, std::size_t column,
              std::span<std::uint32_t> out) const {
    out.back() = missing(input);
    levels_.code_levels(input, first_, out.back(), column, block, out);
  }
  std::uint32_t missing(std::size_t input) const { return level(input, kMissingToken); }

  std::uint64_t number_key(std::size_t input) const noexcept {
    return SeededOrder::derive(seed_, 0x6e00'0000 + input);
  }
  // The key is number_key's. Zero has one sign here. Numbers within a quarter of a power of two are one
  // token: 1, 2, 3, 4, 5, 6, 7, 8 and 9, 10 and 11, … A token for each value would meet too few rows to be
  // learned.
  std::uint32_t number(std::uint64_t key, double value) const noexcept {
    return whole(key, std::bit_cast<std::uint64_t>(value + 0.0) >> kNumberShift);
  }
  static constexpr unsigned kNumberShift = 50;  // sign, exponent and two bits after it are left
  static constexpr std::size_t kNumberTokens = std::size_t{1} << (64 - kNumberShift);
  static constexpr std::uint16_t kNoNumber = 0x7ff << 2;  // the exponent of infinities and NaN
  // The places of all numbers by those bits of value + 0.0, and of what is no number.
  std::vector<std::uint32_t> numbers(std::size_t input) const {
    std::vector<std::uint32_t> out(kNumberTokens);
    const std::uint64_t key = number_key(input);
    const std::uint32_t none = missing(input);
    constexpr std::size_t kSign = kNumberTokens / 2;
    for (std::size_t token = 0; token < kNumberTokens; ++token) {
      const bool number = (token & (kSign - 1)) < kNoNumber;
      out[token] = number ? whole(key, token) : none;
    }
    return out;
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
    return first_ + static_cast<std::uint32_t>(x >> shift_);
  }

 private:
  const HashedLevels levels_;
  const unsigned shift_;
  const std::uint64_t seed_;
  const std::uint32_t first_;
};

}  // namespace samovar::trainer
