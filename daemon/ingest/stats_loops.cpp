#include "daemon/ingest/stats_loops.hpp"

#include <algorithm>
#include <limits>

#include "daemon/ingest/column_stage.hpp"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__)
#define SAMOVAR_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define SAMOVAR_CLONES
#endif

namespace samovar::ingest::stats_loops {
namespace {

constexpr std::size_t kLanes = 8;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Eight side by side: vectors of any width, and always the same rounding.
typedef double Reals __attribute__((vector_size(64)));           // NOLINT: `using` cannot say it
typedef std::int64_t Integers __attribute__((vector_size(64)));  // NOLINT

inline __attribute__((always_inline)) void load(const double* at, Reals& out) {
  __builtin_memcpy(&out, at, sizeof out);
}
inline __attribute__((always_inline)) void load(const std::int64_t* at, Reals& out) {
  Integers raw;
  __builtin_memcpy(&raw, at, sizeof raw);
  // A missing one becomes NaN: all bits set.
  const Integers gone = raw == kNoInteger;
  out = reinterpret_cast<Reals>(reinterpret_cast<Integers>(__builtin_convertvector(raw, Reals)) | gone);
}

// Two passes over what is in the cache anyway. The last few values are read from a copy, filled up with
// missing ones.
template <class T>
inline __attribute__((always_inline)) void moments_of(const T* values, std::size_t count, T missing,
                                                      Moments& out) {
  T rest[kLanes];
  const std::size_t whole = count / kLanes * kLanes;
  for (std::size_t i = 0; i < kLanes; ++i) rest[i] = whole + i < count ? values[whole + i] : missing;
  const Reals zero = {};
  Reals counts = {};
  Reals sums = {};
  Reals low = zero + kInfinity;
  Reals high = zero - kInfinity;
  for (std::size_t i = 0; i <= whole; i += kLanes) {
    Reals value;
    load(i < whole ? values + i : rest, value);
    const Integers here = value == value;
    counts += here ? zero + 1.0 : zero;
    sums += here ? value : zero;
    low = value < low ? value : low;  // false for NaN
    high = value > high ? value : high;
  }
  out = {0, kInfinity, -kInfinity, 0, 0};
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    out.count += counts[lane];
    out.mean += sums[lane];
    out.min = std::min(out.min, low[lane]);
    out.max = std::max(out.max, high[lane]);
  }
  if (out.count == 0) return;
  out.mean /= out.count;
  Reals squares = {};
  for (std::size_t i = 0; i <= whole; i += kLanes) {
    Reals value;
    load(i < whole ? values + i : rest, value);
    const Reals off = value == value ? value - out.mean : zero;
    squares += off * off;
  }
  for (std::size_t lane = 0; lane < kLanes; ++lane) out.m2 += squares[lane];
}

}  // namespace

SAMOVAR_CLONES void moments(const std::int64_t* values, std::size_t count, Moments& out) {
  moments_of(values, count, kNoInteger, out);
}
SAMOVAR_CLONES void moments(const double* values, std::size_t count, Moments& out) {
  moments_of(values, count, std::numeric_limits<double>::quiet_NaN(), out);
}

SAMOVAR_CLONES void pair_sums(const double* x, const double* y, const double* x_present,
                              const double* y_present, std::size_t count, PairSums& out) {
  Reals sums[6] = {};
  double rest[kLanes];
  const std::size_t whole = count / kLanes * kLanes;
  for (std::size_t i = 0; i < count; i += kLanes) {
    // The last few are copied, filled up with rows that are not there.
    const auto get = [&](const double* from, double otherwise, Reals& to) __attribute__((always_inline)) {
      if (i < whole && from != nullptr) return load(from + i, to);
      if (i < whole) {
        to = Reals{} + otherwise;
        return;
      }
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        rest[lane] = i + lane >= count ? 0.0 : from == nullptr ? otherwise : from[i + lane];
      }
      load(rest, to);
    };
    Reals a;
    Reals b;
    Reals pa;
    Reals pb;
    get(x, 0, a);
    get(y, 0, b);
    get(x_present, 1, pa);
    get(y_present, 1, pb);
    const Reals both = pa * pb;
    a *= both;
    b *= both;
    sums[0] += both;
    sums[1] += a;
    sums[2] += b;
    sums[3] += a * a;
    sums[4] += b * b;
    sums[5] += a * b;
  }
  double total[6] = {};
  for (std::size_t k = 0; k < 6; ++k) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) total[k] += sums[k][lane];
  }
  out = {total[0], total[1], total[2], total[3], total[4], total[5]};
}

SAMOVAR_CLONES void hex_cells(const std::uint32_t* keys, std::size_t count, std::uint64_t* out) {
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t x = keys[i];  // four bits to each byte
    x = (x | x << 16) & 0x0000'ffff'0000'ffff;
    x = (x | x << 8) & 0x00ff'00ff'00ff'00ff;
    x = (x | x << 4) & 0x0f0f'0f0f'0f0f'0f0f;
    const std::uint64_t letters = (x + 0x0606'0606'0606'0606) >> 4 & 0x0101'0101'0101'0101;
    out[i] = x + 0x3030'3030'3030'3030 + ((letters << 5) + (letters << 3) - letters);
  }
}

SAMOVAR_CLONES void mix_words(const std::uint64_t* words, std::size_t count, std::uint64_t* out) {
  for (std::size_t i = 0; i < count; ++i) out[i] = mix_word(words[i]);
}

}  // namespace samovar::ingest::stats_loops
