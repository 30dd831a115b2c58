// As many floats at once as a register of the instruction set holds, eight or four, in the compiler's own
// vectors.
//
// Pairs are cells of two floats: several of them become a vector of firsts and one of seconds.
#pragma once
#include <cstddef>
#include <cstdint>

#include "kernels/cpu/variant.hpp"
#include "kernels/ops/hd.hpp"

#if defined(__AVX__)
#include <immintrin.h>
#endif

namespace samovar::kernels::SAMOVAR_KERNELS_VARIANT::lanes {

#if defined(__AVX__)
inline constexpr std::size_t kLanes = 8;
#else
inline constexpr std::size_t kLanes = 4;
#endif

using Floats = float __attribute__((vector_size(4 * kLanes)));
using Ints = std::int32_t __attribute__((vector_size(4 * kLanes)));
using Words = std::uint32_t __attribute__((vector_size(4 * kLanes)));
using Float4 = float __attribute__((vector_size(16)));
using Float2 = float __attribute__((vector_size(8)));

SAMOVAR_HD Floats spread(float x) { return Floats{} + x; }

SAMOVAR_HD Words load(const std::uint32_t* p) {
  Words v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
SAMOVAR_HD Floats load(const float* p) {
  Floats v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}

SAMOVAR_HD float sum(Floats v) {
#if defined(__AVX__)
  const Float4 s = __builtin_shufflevector(v, v, 0, 1, 2, 3) + __builtin_shufflevector(v, v, 4, 5, 6, 7);
#else
  const Float4 s = v;
#endif
  return (s[0] + s[2]) + (s[1] + s[3]);
}

SAMOVAR_HD bool any(Ints mask) {
#if defined(__AVX__)
  __m256i v;
  __builtin_memcpy(&v, &mask, sizeof v);
  return _mm256_testz_si256(v, v) == 0;
#else
  std::uint64_t v[2];
  __builtin_memcpy(&v, &mask, sizeof v);
  return (v[0] | v[1]) != 0;
#endif
}
SAMOVAR_HD bool any_none(Words s) { return any(s == kNoSlot); }

// Whether two of them are equal, or one is kNoSlot: then they cannot be stepped side by side.
SAMOVAR_HD bool must_take_turns(Words s) {
#if defined(__AVX512CD__) && defined(__AVX512VL__)
  __m256i v;
  __builtin_memcpy(&v, &s, sizeof v);
  const __m256i earlier = _mm256_conflict_epi32(v);
  return (_mm256_test_epi32_mask(earlier, earlier) | _mm256_cmpeq_epi32_mask(v, _mm256_set1_epi32(-1))) != 0;
#elif defined(__AVX__)
  const Words by1 = __builtin_shufflevector(s, s, 1, 2, 3, 4, 5, 6, 7, 0);
  const Words by2 = __builtin_shufflevector(s, s, 2, 3, 4, 5, 6, 7, 0, 1);
  const Words by3 = __builtin_shufflevector(s, s, 3, 4, 5, 6, 7, 0, 1, 2);
  const Words by4 = __builtin_shufflevector(s, s, 4, 5, 6, 7, 0, 1, 2, 3);
  return any((s == by1) | (s == by2) | (s == by3) | (s == by4) | (s == kNoSlot));
#else
  const Words by1 = __builtin_shufflevector(s, s, 1, 2, 3, 0);
  const Words by2 = __builtin_shufflevector(s, s, 2, 3, 0, 1);
  return any((s == by1) | (s == by2) | (s == kNoSlot));
#endif
}

// Which of a row's last slots are new when `left` of them are: the others were stepped in the group before.
SAMOVAR_HD Ints newest(std::size_t left) {
#if defined(__AVX__)
  const Ints lane = {7, 6, 5, 4, 3, 2, 1, 0};
#else
  const Ints lane = {3, 2, 1, 0};
#endif
  return lane < static_cast<std::int32_t>(left);
}

struct Pairs {
  Floats first;
  Floats second;
};

SAMOVAR_HD Float4 two_pairs(const float* cells, std::uint32_t a, std::uint32_t b) {
#if defined(__AVX__)
  // Two instructions: the second loads into the upper half.
  __m128 both = _mm_castpd_ps(_mm_load_sd(reinterpret_cast<const double*>(cells + std::size_t{a} * 2)));
  both = _mm_loadh_pi(both, reinterpret_cast<const __m64*>(cells + std::size_t{b} * 2));
  return both;
#else
  Float2 low;
  Float2 high;
  __builtin_memcpy(&low, cells + std::size_t{a} * 2, sizeof low);
  __builtin_memcpy(&high, cells + std::size_t{b} * 2, sizeof high);
  return __builtin_shufflevector(low, high, 0, 1, 2, 3);
#endif
}
SAMOVAR_HD void put_two(float* cells, std::uint32_t a, std::uint32_t b, Float4 v) {
#if defined(__AVX__)
  _mm_storel_pi(reinterpret_cast<__m64*>(cells + std::size_t{a} * 2), v);
  _mm_storeh_pi(reinterpret_cast<__m64*>(cells + std::size_t{b} * 2), v);
#else
  const Float2 low = __builtin_shufflevector(v, v, 0, 1);
  const Float2 high = __builtin_shufflevector(v, v, 2, 3);
  __builtin_memcpy(cells + std::size_t{a} * 2, &low, sizeof low);
  __builtin_memcpy(cells + std::size_t{b} * 2, &high, sizeof high);
#endif
}

SAMOVAR_HD Pairs gather(const float* cells, const std::uint32_t* s) {
  const Float4 a = two_pairs(cells, s[0], s[1]);
  const Float4 b = two_pairs(cells, s[2], s[3]);
#if defined(__AVX__)
  const Float4 c = two_pairs(cells, s[4], s[5]);
  const Float4 d = two_pairs(cells, s[6], s[7]);
  // The order which AVX's half-wise shuffles undo: pairs 0 1 4 5 and 2 3 6 7.
  const Floats even = __builtin_shufflevector(a, c, 0, 1, 2, 3, 4, 5, 6, 7);
  const Floats odd = __builtin_shufflevector(b, d, 0, 1, 2, 3, 4, 5, 6, 7);
  return {__builtin_shufflevector(even, odd, 0, 2, 8, 10, 4, 6, 12, 14),
          __builtin_shufflevector(even, odd, 1, 3, 9, 11, 5, 7, 13, 15)};
#else
  return {__builtin_shufflevector(a, b, 0, 2, 4, 6), __builtin_shufflevector(a, b, 1, 3, 5, 7)};
#endif
}

SAMOVAR_HD void scatter(float* cells, const std::uint32_t* s, const Pairs& p) {
#if defined(__AVX__)
  const Floats even = __builtin_shufflevector(p.first, p.second, 0, 8, 1, 9, 4, 12, 5, 13);
  const Floats odd = __builtin_shufflevector(p.first, p.second, 2, 10, 3, 11, 6, 14, 7, 15);
  put_two(cells, s[0], s[1], __builtin_shufflevector(even, even, 0, 1, 2, 3));
  put_two(cells, s[2], s[3], __builtin_shufflevector(odd, odd, 0, 1, 2, 3));
  put_two(cells, s[4], s[5], __builtin_shufflevector(even, even, 4, 5, 6, 7));
  put_two(cells, s[6], s[7], __builtin_shufflevector(odd, odd, 4, 5, 6, 7));
#else
  put_two(cells, s[0], s[1], __builtin_shufflevector(p.first, p.second, 0, 4, 1, 5));
  put_two(cells, s[2], s[3], __builtin_shufflevector(p.first, p.second, 2, 6, 3, 7));
#endif
}

// The cells of a vector's places, one after the other.
inline constexpr std::uint32_t kInOrder[8] = {0, 1, 2, 3, 4, 5, 6, 7};

}  // namespace samovar::kernels::SAMOVAR_KERNELS_VARIANT::lanes
