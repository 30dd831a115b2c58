#include "base/rng.hpp"

#include <sys/random.h>

#include <cerrno>
#include <cstring>

#include "base/assert.hpp"

namespace samovar {
namespace {

class SystemRng : public Rng {
 public:
  void fill(MutableBytes out) override {
    while (!out.empty()) {
      const ssize_t got = ::getrandom(out.data(), out.size(), 0);
      if (got < 0 && errno == EINTR) continue;
      // Keys without luck are worse than no process.
      SAMOVAR_ASSERT(got > 0);
      out = out.subspan(static_cast<std::size_t>(got));
    }
  }
};

}  // namespace

std::uint64_t Rng::next() {
  std::uint8_t bytes[8];
  fill(bytes);
  std::uint64_t value = 0;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

std::uint64_t Rng::below(std::uint64_t bound) {
  SAMOVAR_ASSERT(bound > 0);
  // 2^64 mod bound values at the bottom would make the low results likelier: draw again.
  const std::uint64_t unfair = (0 - bound) % bound;
  for (;;) {
    const std::uint64_t value = next();
    if (value >= unfair) return value % bound;
  }
}

Rng& system_rng() {
  static SystemRng rng;
  return rng;
}

}  // namespace samovar
