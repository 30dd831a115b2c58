// How far apart two wall clocks are, when one of the times is somebody else's word.
#pragma once
#include <cstdint>

#include "base/clock.hpp"

namespace samovar {

// a - b. A clock that is centuries off does not fit into nanoseconds: the answer is then the largest that
// does, and can still be negated.
constexpr Duration wall_difference(WallTime a, WallTime b) {
  constexpr std::int64_t kMicrosMax = INT64_MAX / 1000;
  const std::int64_t from = b.time_since_epoch().count();
  const std::int64_t to = a.time_since_epoch().count();
  std::int64_t micros = 0;
  if (__builtin_sub_overflow(to, from, &micros)) micros = to > from ? kMicrosMax : -kMicrosMax;
  if (micros > kMicrosMax) micros = kMicrosMax;
  if (micros < -kMicrosMax) micros = -kMicrosMax;
  return std::chrono::microseconds(micros);
}

}  // namespace samovar
