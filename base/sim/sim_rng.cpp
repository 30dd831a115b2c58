#include "base/sim/sim_rng.hpp"

#include <bit>

namespace samovar {

SimRng::SimRng(std::uint64_t seed) {
  for (auto& word : state_) {  // splitmix64
    seed += 0x9e3779b97f4a7c15;
    std::uint64_t z = seed;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    word = z ^ z >> 31;
  }
}

std::uint64_t SimRng::word() {
  const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const std::uint64_t t = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= t;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

void SimRng::fill(MutableBytes out) {
  std::uint64_t held = 0;
  for (std::size_t i = 0; i < out.size(); ++i, held >>= 8) {
    if (i % 8 == 0) held = word();
    out[i] = static_cast<std::uint8_t>(held);  // byte by byte: the same on every endianness
  }
}

}  // namespace samovar
