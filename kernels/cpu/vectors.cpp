// Reductions and sums of vectors. Partial sums are kept in a fixed number of lanes and added in double at the
// end of a stretch: exact enough for any length, and the same on every processor.
#include "kernels/cpu/variant.hpp"
#include "kernels/ops/elastic_pull.hpp"
#include "kernels/ops/math.hpp"

namespace samovar::kernels::SAMOVAR_KERNELS_VARIANT {
namespace {

constexpr std::size_t kLanes = 16;

// f(i) is a double to be added.
template <class F>
inline double total(std::size_t n, F f) {
  double lanes[kLanes] = {};
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (std::size_t j = 0; j < kLanes; ++j) lanes[j] += f(i + j);
  }
  for (std::size_t j = 0; i < n; ++i, ++j) lanes[j] += f(i);
  for (std::size_t width = kLanes / 2; width > 0; width /= 2) {
    for (std::size_t j = 0; j < width; ++j) lanes[j] += lanes[j + width];
  }
  return lanes[0];
}

void sum(Stream*, const float* x, std::size_t n, double* out) {
  *out = total(n, [x](std::size_t i) { return static_cast<double>(x[i]); });
}
void sum_squares(Stream*, const float* x, std::size_t n, double* out) {
  *out = total(n, [x](std::size_t i) { return static_cast<double>(x[i]) * static_cast<double>(x[i]); });
}
void dot(Stream*, const float* x, const float* y, std::size_t n, double* out) {
  *out = total(n, [x, y](std::size_t i) { return static_cast<double>(x[i]) * static_cast<double>(y[i]); });
}
void dot_f64(Stream*, const double* x, const double* y, std::size_t n, double* out) {
  *out = total(n, [x, y](std::size_t i) { return x[i] * y[i]; });
}

void max(Stream*, const float* x, std::size_t n, float* out) {
  float lanes[kLanes];
  for (float& lane : lanes) lane = -__builtin_inff();
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (std::size_t j = 0; j < kLanes; ++j) lanes[j] = ops::max(lanes[j], x[i + j]);
  }
  for (; i < n; ++i) lanes[0] = ops::max(lanes[0], x[i]);
  for (std::size_t j = 1; j < kLanes; ++j) lanes[0] = ops::max(lanes[0], lanes[j]);
  *out = lanes[0];
}

void axpy(Stream*, float a, const float* x, std::size_t n, float* y) {
  for (std::size_t i = 0; i < n; ++i) y[i] += a * x[i];
}
void axpy_f64(Stream*, double a, const double* x, std::size_t n, double* y) {
  for (std::size_t i = 0; i < n; ++i) y[i] += a * x[i];
}
void elastic_pull(Stream*, float* x, const float* center, std::size_t n, float alpha) {
  for (std::size_t i = 0; i < n; ++i) x[i] = ops::elastic_pull(x[i], center[i], alpha);
}

}  // namespace

void fill_vectors(Table& table) noexcept {
  table.sum = sum;
  table.sum_squares = sum_squares;
  table.dot = dot;
  table.dot_f64 = dot_f64;
  table.max = max;
  table.axpy = axpy;
  table.axpy_f64 = axpy_f64;
  table.elastic_pull = elastic_pull;
}

}  // namespace samovar::kernels::SAMOVAR_KERNELS_VARIANT
