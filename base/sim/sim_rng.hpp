// Luck by seed: xoshiro256** (Blackman and Vigna), seeded through splitmix64. Never for keys.
//
// Threading: one thread.
#pragma once
#include <array>
#include <cstdint>

#include "base/rng.hpp"

namespace samovar {

class SimRng : public Rng {
 public:
  explicit SimRng(std::uint64_t seed);
  void fill(MutableBytes out) override;
  // True `per_million` times in a million.
  bool chance(std::uint32_t per_million) { return per_million != 0 && below(1'000'000) < per_million; }
  // A generator of its own, so that one part's draws do not shift another's.
  SimRng fork() { return SimRng(word()); }

 private:
  std::uint64_t word();
  std::array<std::uint64_t, 4> state_{};
};

}  // namespace samovar
