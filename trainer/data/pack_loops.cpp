// The loops of pack::Table. Compiled once for every processor and, where there is one, once more for a wider
// instruction set; SAMOVAR_PACK_TABLE names the function that gives the table.
//
// Plain loops that a compiler turns into vectors. Nothing of the standard library is called here: a function
// of it compiled for a newer processor could be the copy the linker keeps for everybody.
#include <cstddef>
#include <cstdint>

#include "trainer/data/pack.hpp"

#ifndef SAMOVAR_PACK_TABLE
#define SAMOVAR_PACK_TABLE baseline_table
#endif

namespace samovar::trainer::pack {
namespace {

template <class T>
inline T load(const std::uint8_t* in, std::size_t i) {
  T value;
  __builtin_memcpy(&value, in + i * sizeof(T), sizeof(T));
  return value;
}
template <class T>
inline void store(std::uint8_t* out, std::size_t i, T value) {
  __builtin_memcpy(out + i * sizeof(T), &value, sizeof(T));
}

// Calls f with a value of the packed type, so that each width is a loop of its own.
template <class F>
inline auto with_width(unsigned width, F f) {
  if (width == 1) return f(std::uint8_t{});
  if (width == 2) return f(std::uint16_t{});
  if (width == 4) return f(std::uint32_t{});
  return f(std::uint64_t{});
}
template <class F>
inline auto with_width32(unsigned width, F f) {
  if (width == 1) return f(std::uint8_t{});
  if (width == 2) return f(std::uint16_t{});
  return f(std::uint32_t{});
}

Range range64(const std::int64_t* in, const std::uint8_t* valid, std::int64_t fill, std::size_t n) {
  std::int64_t low = fill;
  std::int64_t high = fill;
  if (valid == nullptr) {
    for (std::size_t i = 0; i < n; ++i) {
      low = in[i] < low ? in[i] : low;
      high = in[i] > high ? in[i] : high;
    }
    return {low, high};
  }
  for (std::size_t i = 0; i < n; ++i) {
    const std::int64_t value = valid[i] != 0 ? in[i] : fill;
    low = value < low ? value : low;
    high = value > high ? value : high;
  }
  return {low, high};
}

template <class T>
void narrow64_to(const std::int64_t* in, const std::uint8_t* valid, std::int64_t base, std::size_t n,
                 std::uint8_t* out) {
  const auto from = static_cast<std::uint64_t>(base);
  if (valid == nullptr) {
    for (std::size_t i = 0; i < n; ++i)
      store<T>(out, i, static_cast<T>(static_cast<std::uint64_t>(in[i]) - from));
    return;
  }
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint64_t value = static_cast<std::uint64_t>(in[i]) - from;
    store<T>(out, i, static_cast<T>(valid[i] != 0 ? value : 0));
  }
}
void narrow64(const std::int64_t* in, const std::uint8_t* valid, std::int64_t base, std::size_t n,
              unsigned width, std::uint8_t* out) {
  with_width(width, [&](auto t) { narrow64_to<decltype(t)>(in, valid, base, n, out); });
}

Range range32(const std::int32_t* in, std::size_t n) {
  std::int32_t low = in[0];
  std::int32_t high = in[0];
  for (std::size_t i = 0; i < n; ++i) {
    low = in[i] < low ? in[i] : low;
    high = in[i] > high ? in[i] : high;
  }
  return {low, high};
}
void narrow32(const std::int32_t* in, std::int32_t base, std::size_t n, unsigned width, std::uint8_t* out) {
  const auto from = static_cast<std::uint32_t>(base);
  with_width32(width, [&](auto t) {
    using T = decltype(t);
    for (std::size_t i = 0; i < n; ++i)
      store<T>(out, i, static_cast<T>(static_cast<std::uint32_t>(in[i]) - from));
  });
}

std::uint32_t max_code(const std::uint32_t* in, const std::uint8_t* valid, std::size_t n) {
  std::uint32_t high = 0;
  if (valid == nullptr) {
    for (std::size_t i = 0; i < n; ++i) high = in[i] > high ? in[i] : high;
    return high;
  }
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t value = in[i] & -static_cast<std::uint32_t>(valid[i]);
    high = value > high ? value : high;
  }
  return high;
}
void narrow_codes(const std::uint32_t* in, const std::uint8_t* valid, std::uint32_t missing, std::size_t n,
                  unsigned width, std::uint8_t* out) {
  with_width32(width, [&](auto t) {
    using T = decltype(t);
    if (valid == nullptr) {
      for (std::size_t i = 0; i < n; ++i) store<T>(out, i, static_cast<T>(in[i]));
    } else {
      for (std::size_t i = 0; i < n; ++i) store<T>(out, i, static_cast<T>(valid[i] != 0 ? in[i] : missing));
    }
  });
}

bool all_present(const std::uint8_t* valid, std::size_t n) {
  std::uint8_t every = 1;
  for (std::size_t i = 0; i < n; ++i) every &= valid[i];
  return every != 0;
}

void to_bits(const std::uint8_t* bytes, std::size_t n, std::uint8_t* out) {
  const std::size_t whole = n / 8;
  for (std::size_t i = 0; i < whole; ++i) {
    // The multiplication gathers the lowest bit of each byte in the topmost one, the first row lowest.
    const std::uint64_t eight = load<std::uint64_t>(bytes, i) & 0x0101'0101'0101'0101;
    out[i] = static_cast<std::uint8_t>((eight * 0x0102'0408'1020'4080) >> 56);
  }
  if (n % 8 == 0) return;
  unsigned last = 0;
  for (std::size_t i = whole * 8; i < n; ++i) last |= (bytes[i] & 1u) << (i % 8);
  out[whole] = static_cast<std::uint8_t>(last);
}
void booleans_to_bits(const std::int64_t* in, const std::uint8_t* valid, std::size_t n, std::uint8_t* out) {
  constexpr std::size_t kStep = 1024;
  std::uint8_t bytes[kStep];
  for (std::size_t first = 0; first < n; first += kStep) {
    const std::size_t count = n - first < kStep ? n - first : kStep;
    for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::uint8_t>(in[first + i] & 1);
    if (valid != nullptr) {
      for (std::size_t i = 0; i < count; ++i)
        bytes[i] = static_cast<std::uint8_t>(bytes[i] & valid[first + i]);
    }
    to_bits(bytes, count, out + first / 8);
  }
}

inline std::uint64_t bits_of(double value) { return __builtin_bit_cast(std::uint64_t, value); }

bool fits_f32(const double* in, const std::uint8_t* valid, std::size_t n) {
  constexpr std::size_t kStep = 1024;  // most columns that do not fit say so early
  for (std::size_t first = 0; first < n; first += kStep) {
    const std::size_t end = n - first < kStep ? n : first + kStep;
    std::uint64_t differs = 0;
    for (std::size_t i = first; i < end; ++i) {
      const std::uint64_t wrong = bits_of(static_cast<double>(static_cast<float>(in[i]))) ^ bits_of(in[i]);
      differs |= valid == nullptr || valid[i] != 0 ? wrong : 0;
    }
    if (differs != 0) return false;
  }
  return true;
}
void to_f32(const double* in, const std::uint8_t* valid, std::size_t n, std::uint8_t* out) {
  for (std::size_t i = 0; i < n; ++i)
    store<float>(out, i, valid == nullptr || valid[i] != 0 ? static_cast<float>(in[i]) : __builtin_nanf(""));
}
void copy_f64(const double* in, const std::uint8_t* valid, std::size_t n, std::uint8_t* out) {
  for (std::size_t i = 0; i < n; ++i)
    store<double>(out, i, valid == nullptr || valid[i] != 0 ? in[i] : __builtin_nan(""));
}

// A step of decimals(); 0 when all of it inverts.
template <bool kAll>
std::uint64_t decimals_step(const double* in, const std::uint8_t* valid, double scale, std::int32_t fill,
                            std::size_t n, std::int32_t* out) {
  constexpr double kRound = 6755399441055744.0;  // 1.5 · 2^52: adding and taking it away rounds to whole
  constexpr double kMost = 2147483647.0;
  std::uint64_t differs = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double whole = (in[i] * scale + kRound) - kRound;
    // By masks, not by choices: the loop is to have no branch.
    const std::uint64_t fits = -static_cast<std::uint64_t>(__builtin_fabs(whole) <= kMost);
    const auto value = static_cast<std::int32_t>(__builtin_bit_cast(double, bits_of(whole) & fits));
    const std::uint64_t wrong = bits_of(static_cast<double>(value) / scale) ^ bits_of(in[i]);
    if constexpr (kAll) {
      differs |= wrong;
      out[i] = value;
    } else {
      differs |= wrong & -static_cast<std::uint64_t>(valid[i]);
      const std::int32_t present = -static_cast<std::int32_t>(valid[i]);
      out[i] = (value & present) | (fill & ~present);
    }
  }
  return differs;
}
bool decimals(const double* in, const std::uint8_t* valid, double scale, std::int32_t fill, std::size_t n,
              std::int32_t* out) {
  constexpr std::size_t kStep = 1024;
  for (std::size_t first = 0; first < n; first += kStep) {
    const std::size_t count = n - first < kStep ? n - first : kStep;
    const std::uint64_t differs =
        valid == nullptr ? decimals_step<true>(in + first, nullptr, scale, fill, count, out + first)
                         : decimals_step<false>(in + first, valid + first, scale, fill, count, out + first);
    if (differs != 0) return false;
  }
  return true;
}

bool is_hex(const char* in, std::size_t n) {
  constexpr std::size_t kStep = 4096;
  for (std::size_t first = 0; first < n; first += kStep) {
    const std::size_t end = n - first < kStep ? n : first + kStep;
    std::uint8_t other = 0;
    for (std::size_t i = first; i < end; ++i) {
      const auto c = static_cast<std::uint8_t>(in[i]);
      const bool digit = static_cast<std::uint8_t>(c - '0') < 10;
      const bool letter = static_cast<std::uint8_t>(c - 'a') < 6;
      other |= static_cast<std::uint8_t>(digit | letter) ^ 1;
    }
    if (other != 0) return false;
  }
  return true;
}
inline std::uint8_t nibble(char c) {
  const auto u = static_cast<std::uint8_t>(c);
  return static_cast<std::uint8_t>((u & 15) + (u >> 6) * 9);  // letters have bit 6
}
inline char hex_digit(unsigned value) {
  return static_cast<char>(value < 10 ? '0' + value : 'a' + value - 10);
}

void pack_hex(const char* in, std::size_t n, std::uint8_t* out) {
  for (std::size_t i = 0; i < n / 2; ++i)
    out[i] = static_cast<std::uint8_t>(nibble(in[2 * i]) | nibble(in[2 * i + 1]) << 4);
  if (n % 2 != 0) out[n / 2] = nibble(in[n - 1]);
}
void unpack_hex(const std::uint8_t* in, std::size_t n, char* out) {
  for (std::size_t i = 0; i < n / 2; ++i) {
    const std::uint8_t both = in[i];
    out[2 * i] = hex_digit(both & 15);
    out[2 * i + 1] = hex_digit(both >> 4);
  }
  if (n % 2 != 0) out[n - 1] = hex_digit(in[n / 2] & 15);
}

std::uint32_t max_packed(const std::uint8_t* in, unsigned width, std::size_t n) {
  return with_width32(width, [&](auto t) {
    using T = decltype(t);
    T high = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const T value = load<T>(in, i);
      high = value > high ? value : high;
    }
    return static_cast<std::uint32_t>(high);
  });
}
bool never_falls(const std::uint8_t* in, unsigned width, std::size_t n) {
  return with_width32(width, [&](auto t) {
    using T = decltype(t);
    T falls = 0;
    for (std::size_t i = 1; i < n; ++i) falls |= load<T>(in, i) < load<T>(in, i - 1) ? 1 : 0;
    return falls == 0;
  });
}

void widen64(const std::uint8_t* in, unsigned width, std::int64_t base, std::size_t n, std::int64_t* out) {
  with_width(width, [&](auto t) {
    using T = decltype(t);
    for (std::size_t i = 0; i < n; ++i)
      out[i] = static_cast<std::int64_t>(static_cast<std::uint64_t>(base) + load<T>(in, i));
  });
}
void widen_codes(const std::uint8_t* in, unsigned width, std::uint32_t levels, std::uint32_t missing,
                 std::size_t n, std::uint32_t* out) {
  with_width32(width, [&](auto t) {
    using T = decltype(t);
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint32_t code = load<T>(in, i);
      out[i] = code < levels ? code : missing;
    }
  });
}

// Out of double: one rounding of the exact quotient, and for float one more, as if the double was asked for.
template <class Out>
void reals(const std::uint8_t* in, unsigned width, std::int64_t base, double divisor, std::size_t n,
           Out* out) {
  constexpr std::int64_t kExact = std::int64_t{1} << 52;
  constexpr std::int64_t kFloatExact = std::int64_t{1} << 23;
  with_width(width, [&](auto t) {
    using T = decltype(t);
    if (sizeof(T) == 8 || base > kExact || base < -kExact) {
      for (std::size_t i = 0; i < n; ++i) {
        const auto whole = static_cast<std::int64_t>(static_cast<std::uint64_t>(base) + load<T>(in, i));
        out[i] = static_cast<Out>(static_cast<double>(whole) / divisor);
      }
    } else if (divisor == 1.0 && sizeof(T) <= 2 && base > -kFloatExact && base < kFloatExact) {
      // Below 2^24 in all: a float holds it, and the way through double gives the same.
      const auto from = static_cast<std::int32_t>(base);
      for (std::size_t i = 0; i < n; ++i)
        out[i] = static_cast<Out>(from + static_cast<std::int32_t>(load<T>(in, i)));
    } else if (divisor == 1.0) {
      const auto from = static_cast<double>(base);
      for (std::size_t i = 0; i < n; ++i)
        out[i] = static_cast<Out>(from + static_cast<double>(load<T>(in, i)));
    } else {
      const auto from = static_cast<double>(base);
      for (std::size_t i = 0; i < n; ++i)
        out[i] = static_cast<Out>((from + static_cast<double>(load<T>(in, i))) / divisor);
    }
  });
}
void reals64(const std::uint8_t* in, unsigned width, std::int64_t base, double divisor, std::size_t n,
             double* out) {
  reals<double>(in, width, base, divisor, n, out);
}
void reals32(const std::uint8_t* in, unsigned width, std::int64_t base, double divisor, std::size_t n,
             float* out) {
  reals<float>(in, width, base, divisor, n, out);
}
// Whole numbers below 2^24 are floats, which are half as wide: the bits of the double follow from theirs.
template <class T>
void small_number_tokens(const std::uint8_t* in, std::int32_t base, std::size_t n, std::uint32_t* out) {
  constexpr std::uint32_t kLow = (1u << 10) - 1;        // exponent and two bits more, of a float
  constexpr std::uint32_t kBias = (1023u - 127u) << 2;  // what a double adds to the exponent
  for (std::size_t i = 0; i < n; ++i) {
    const auto value = static_cast<float>(base + static_cast<std::int32_t>(load<T>(in, i)));
    const auto bits = __builtin_bit_cast(std::uint32_t, value);
    const std::uint32_t low = bits >> 21 & kLow;
    out[i] = (low != 0 ? low + kBias : 0) | bits >> 31 << 13;
  }
}
void number_tokens(const std::uint8_t* in, unsigned width, double base, double divisor,
                   const std::uint8_t* valid, std::uint32_t none, std::size_t n, std::uint32_t* out) {
  constexpr unsigned kShift = 50;
  constexpr double kSmall = 1 << 23;
  with_width32(width, [&](auto t) {
    using T = decltype(t);
    if (divisor == 1.0 && sizeof(T) <= 2 && base > -kSmall && base < kSmall) {
      small_number_tokens<T>(in, static_cast<std::int32_t>(base), n, out);
    } else if (divisor == 1.0) {
      for (std::size_t i = 0; i < n; ++i)
        out[i] = static_cast<std::uint32_t>(bits_of(base + static_cast<double>(load<T>(in, i))) >> kShift);
    } else {
      for (std::size_t i = 0; i < n; ++i)
        out[i] = static_cast<std::uint32_t>(bits_of((base + static_cast<double>(load<T>(in, i))) / divisor) >>
                                            kShift);
    }
  });
  if (valid == nullptr) return;
  // Eight at once by the compiler's own vectors: its loops take the bits of a byte one after the other.
  using Eight = std::uint32_t __attribute__((vector_size(32)));
  const Eight bit = {1, 2, 4, 8, 16, 32, 64, 128};
  for (std::size_t i = 0; i < n / 8; ++i) {
    Eight tokens;
    __builtin_memcpy(&tokens, out + 8 * i, sizeof tokens);
    const Eight there = Eight{} + std::uint32_t{valid[i]};
    tokens = (there & bit) != 0 ? tokens : Eight{} + none;
    __builtin_memcpy(out + 8 * i, &tokens, sizeof tokens);
  }
}

void hash_eights(const char* in, std::uint64_t start, unsigned shift, std::uint32_t add, std::size_t n,
                 std::uint32_t* out) {
  // As level_hash and SeededOrder::mix have it, for vectors of levels.
  for (std::size_t i = 0; i < n; ++i) {
    std::uint64_t eight;
    __builtin_memcpy(&eight, in + i * 8, sizeof eight);
    std::uint64_t x = (start ^ eight) * 0x9e37'79b9'7f4a'7c15;
    x ^= x >> 32;
    x = (x ^ (x >> 30)) * 0xbf58'476d'1ce4'e5b9;
    x = (x ^ (x >> 27)) * 0x94d0'49bb'1331'11eb;
    x ^= x >> 31;
    out[i] = add + static_cast<std::uint32_t>(x >> shift);
  }
}

template <class Out>
void spread_bits(const std::uint8_t* bits, std::size_t n, Out* out) {
  for (std::size_t i = 0; i < n / 8; ++i) {
    const std::uint32_t eight = bits[i];
    for (unsigned j = 0; j < 8; ++j)
      out[8 * i + j] = static_cast<Out>(static_cast<std::int32_t>(eight >> j & 1));
  }
}
void bits_to_f64(const std::uint8_t* bits, std::size_t n, double* out) { spread_bits(bits, n, out); }
void bits_to_f32(const std::uint8_t* bits, std::size_t n, float* out) { spread_bits(bits, n, out); }
void bits_to_i64(const std::uint8_t* bits, std::size_t n, std::int64_t* out) { spread_bits(bits, n, out); }
template <class Out, class Bits>
void blank(const std::uint8_t* bits, std::size_t n, Out* out) {
  constexpr Bits kNan = __builtin_bit_cast(Bits, static_cast<Out>(__builtin_nan("")));
  for (std::size_t i = 0; i < n / 8; ++i) {
    const Bits eight = bits[i];
    for (unsigned j = 0; j < 8; ++j) {
      const Bits present = -static_cast<Bits>(eight >> j & 1);
      const Bits value = __builtin_bit_cast(Bits, out[8 * i + j]);
      out[8 * i + j] = __builtin_bit_cast(Out, static_cast<Bits>((value & present) | (kNan & ~present)));
    }
  }
}
void blank_f64(const std::uint8_t* bits, std::size_t n, double* out) {
  blank<double, std::uint64_t>(bits, n, out);
}
void blank_f32(const std::uint8_t* bits, std::size_t n, float* out) {
  blank<float, std::uint32_t>(bits, n, out);
}
void f32_to_f64(const std::uint8_t* in, std::size_t n, double* out) {
  for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<double>(load<float>(in, i));
}
void f64_to_f32(const std::uint8_t* in, std::size_t n, float* out) {
  for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<float>(load<double>(in, i));
}

constexpr Table kLoops = {.range64 = range64,
                          .narrow64 = narrow64,
                          .range32 = range32,
                          .narrow32 = narrow32,
                          .max_code = max_code,
                          .narrow_codes = narrow_codes,
                          .all_present = all_present,
                          .to_bits = to_bits,
                          .booleans_to_bits = booleans_to_bits,
                          .fits_f32 = fits_f32,
                          .to_f32 = to_f32,
                          .copy_f64 = copy_f64,
                          .decimals = decimals,
                          .is_hex = is_hex,
                          .pack_hex = pack_hex,
                          .unpack_hex = unpack_hex,
                          .max_packed = max_packed,
                          .never_falls = never_falls,
                          .widen64 = widen64,
                          .widen_codes = widen_codes,
                          .reals64 = reals64,
                          .reals32 = reals32,
                          .number_tokens = number_tokens,
                          .hash_eights = hash_eights,
                          .bits_to_f64 = bits_to_f64,
                          .bits_to_f32 = bits_to_f32,
                          .bits_to_i64 = bits_to_i64,
                          .blank_f64 = blank_f64,
                          .blank_f32 = blank_f32,
                          .f32_to_f64 = f32_to_f64,
                          .f64_to_f32 = f64_to_f32};

}  // namespace

const Table& SAMOVAR_PACK_TABLE() noexcept { return kLoops; }

}  // namespace samovar::trainer::pack
