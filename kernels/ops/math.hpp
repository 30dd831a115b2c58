// Elementary functions for loops: no branch and no call, so that compilers turn them into vectors. Single
// precision, within 4 units in the last place on the stated range; doubles go to the C library.
#pragma once
#include <cstdint>
#if defined(__AVX__) && !defined(__CUDACC__)
#include <immintrin.h>
#endif

#include "kernels/ops/hd.hpp"

namespace samovar::kernels::ops {

SAMOVAR_HD float min(float a, float b) { return b < a ? b : a; }
SAMOVAR_HD float max(float a, float b) { return a < b ? b : a; }
SAMOVAR_HD double min(double a, double b) { return b < a ? b : a; }
SAMOVAR_HD double max(double a, double b) { return a < b ? b : a; }

SAMOVAR_HD float float_of_bits(std::int32_t bits) {
#if defined(__CUDA_ARCH__)
  return __int_as_float(bits);
#else
  float value;
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
#endif
}
SAMOVAR_HD std::int32_t bits_of_float(float value) {
#if defined(__CUDA_ARCH__)
  return __float_as_int(value);
#else
  std::int32_t bits;
  __builtin_memcpy(&bits, &value, sizeof bits);
  return bits;
#endif
}

// e^x, held to [-87, 88]: never 0, never infinite. x = k·ln 2 + r, and a polynomial for e^r (Cephes expf).
SAMOVAR_HD float exp(float x) {
  x = min(max(x, -87.0f), 88.0f);
  constexpr float kRound = 12582912.0f;  // 1.5 · 2^23: adding and taking it away rounds to whole
  const float k = (x * 1.44269504f + kRound) - kRound;
  float r = x - k * 0.693359375f;  // ln 2 in two parts, the first exact in few bits
  r = r + k * 2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  return p * float_of_bits((static_cast<std::int32_t>(k) + 127) << 23);
}

// ln x for normal positive x (Cephes logf); below the smallest normal number it is that number's.
SAMOVAR_HD float log(float x) {
  x = max(x, 1.17549435e-38f);
  const std::int32_t bits = bits_of_float(x);
  // Mantissa in [sqrt(1/2), sqrt(2)).
  const std::int32_t shifted = bits - 0x3f3504f3;
  const std::int32_t exponent = shifted >> 23;
  const float m = float_of_bits((shifted & 0x007fffff) + 0x3f3504f3) - 1.0f;
  const auto e = static_cast<float>(exponent);
  const float z = m * m;
  float p = 7.0376836292e-2f;
  p = p * m - 1.1514610310e-1f;
  p = p * m + 1.1676998740e-1f;
  p = p * m - 1.2420140846e-1f;
  p = p * m + 1.4249322787e-1f;
  p = p * m - 1.6668057665e-1f;
  p = p * m + 2.0000714765e-1f;
  p = p * m - 2.4999993993e-1f;
  p = p * m + 3.3333331174e-1f;
  float y = m * z * p;
  y = y + e * -2.12194440e-4f;
  y = y - 0.5f * z;
  return m + y + e * 0.693359375f;
}

SAMOVAR_HD double exp(double x) {
#if defined(__CUDA_ARCH__)
  return ::exp(min(max(x, -700.0), 700.0));
#else
  return __builtin_exp(min(max(x, -700.0), 700.0));
#endif
}
SAMOVAR_HD double log(double x) {
#if defined(__CUDA_ARCH__)
  return ::log(max(x, 2.3e-308));
#else
  return __builtin_log(max(x, 2.3e-308));
#endif
}

SAMOVAR_HD float sqrt(float x) {
#if defined(__CUDA_ARCH__)
  return ::sqrtf(x);
#else
  return __builtin_sqrtf(x);
#endif
}

SAMOVAR_HD double sqrt(double x) {
#if defined(__CUDA_ARCH__)
  return ::sqrt(x);
#else
  return __builtin_sqrt(x);
#endif
}

// 1/√x within 8e-7 for x ≥ 0, and finite at 0, so that x · rsqrt(x) is √x everywhere. By whole numbers,
// products and sums only (Walczyk, Moroz, Cieśliński 2019): a processor's own estimate differs from maker to
// maker, and models would with it. F is float or a vector of floats, I the whole numbers of the same width.
template <class I, class F>
SAMOVAR_HD F rsqrt(F x) {
  I bits;
  F y;
#if defined(__CUDA_ARCH__)
  bits = __float_as_int(x);
  y = __int_as_float(0x5f376908 - (bits >> 1));
#else
  __builtin_memcpy(&bits, &x, sizeof bits);
  bits = 0x5f376908 - (bits >> 1);
  __builtin_memcpy(&y, &bits, sizeof y);
#endif
  const F half = 0.5f * x;
  y = y * (1.50087896f - half * y * y);
  return y * (1.50000057f - half * y * y);
}
// √x for x ≥ 0. Processors with wide vectors have an exact one that is quicker than the steps above.
template <class I, class F>
SAMOVAR_HD F root(F x) {
#if defined(__AVX__) && !defined(__CUDACC__)
  if constexpr (sizeof(F) == sizeof(__m256)) return _mm256_sqrt_ps(x);
  if constexpr (sizeof(F) == sizeof(float)) return __builtin_sqrtf(x);
#endif
  return x * rsqrt<I, F>(x);
}
SAMOVAR_HD float rsqrt(float x) { return rsqrt<std::int32_t, float>(x); }

SAMOVAR_HD float abs(float x) {
#if defined(__CUDA_ARCH__)
  return ::fabsf(x);
#else
  return __builtin_fabsf(x);
#endif
}
SAMOVAR_HD double abs(double x) {
#if defined(__CUDA_ARCH__)
  return ::fabs(x);
#else
  return __builtin_fabs(x);
#endif
}

// x^a for x > 0.
SAMOVAR_HD float pow(float x, float a) { return exp(a * log(x)); }
SAMOVAR_HD double pow(double x, double a) { return exp(a * log(x)); }

// The upper tail of the normal distribution, P(Z > |z|) = erfc(|z| / √2) / 2. Single: a Chebyshev fit with a
// relative error below 2e-7 however far out (Press et al., erfcc); double: the C library's.
SAMOVAR_HD float normal_tail(float z) {
  const float x = abs(z) * 0.70710678f;
  const float t = 1.0f / (1.0f + 0.5f * x);
  float p = 0.17087277f;
  p = p * t - 0.82215223f;
  p = p * t + 1.48851587f;
  p = p * t - 1.13520398f;
  p = p * t + 0.27886807f;
  p = p * t - 0.18628806f;
  p = p * t + 0.09678418f;
  p = p * t + 0.37409196f;
  p = p * t + 1.00002368f;
  return 0.5f * t * exp(p * t - 1.26551223f - x * x);
}
SAMOVAR_HD double normal_tail(double z) {
#if defined(__CUDA_ARCH__)
  return 0.5 * ::erfc(abs(z) * 0.70710678118654752);
#else
  return 0.5 * __builtin_erfc(abs(z) * 0.70710678118654752);
#endif
}
SAMOVAR_HD float normal_density(float z) { return 0.39894228f * exp(-0.5f * z * z); }
SAMOVAR_HD double normal_density(double z) { return 0.3989422804014327 * exp(-0.5 * z * z); }

}  // namespace samovar::kernels::ops
