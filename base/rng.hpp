// Luck as a seam: the kernel's generator in the product, a seeded one in simulations.
#pragma once
#include <cstdint>

#include "base/bytes.hpp"

namespace samovar {

class Rng {
 public:
  virtual ~Rng() = default;
  virtual void fill(MutableBytes out) = 0;
  std::uint64_t next();
  // Uniform in [0, bound); bound > 0.
  std::uint64_t below(std::uint64_t bound);
};

// getrandom(2), fit for keys. Any thread.
Rng& system_rng();

}  // namespace samovar
