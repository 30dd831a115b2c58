// Orders drawn from a seed, the same on every machine and with every library.
//
// Threading: values.
#pragma once
#include <cstdint>
#include <span>
#include <utility>

namespace samovar::trainer {

// splitmix64: one addition and a few multiplications a number, any seed is good.
class SeededOrder {
 public:
  explicit constexpr SeededOrder(std::uint64_t seed) noexcept : state_(seed) {}

  constexpr std::uint64_t next() noexcept { return mix(state_ += 0x9e37'79b9'7f4a'7c15); }
  static constexpr std::uint64_t mix(std::uint64_t x) noexcept {
    x = (x ^ (x >> 30)) * 0xbf58'476d'1ce4'e5b9;
    x = (x ^ (x >> 27)) * 0x94d0'49bb'1331'11eb;
    return x ^ (x >> 31);
  }
  // A seed for each of several things drawn from one.
  static constexpr std::uint64_t derive(std::uint64_t seed, std::uint64_t what) noexcept {
    return mix(seed ^ mix(what + 0x9e37'79b9'7f4a'7c15));
  }

  void shuffle(std::span<std::uint32_t> items) noexcept {
    for (std::size_t left = items.size(); left > 1; --left) {
      // The upper half times the bound: off by less than 2^-16 for the 65,536 rows of a block.
      const std::size_t other = ((next() >> 32) * left) >> 32;
      std::swap(items[left - 1], items[other]);
    }
  }

 private:
  std::uint64_t state_;
};

}  // namespace samovar::trainer
