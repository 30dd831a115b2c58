// Products with rows: margins, gradients, Gram matrices.
#include "kernels/cpu/lanes.hpp"
#include "kernels/cpu/row_parts.hpp"
#include "kernels/cpu/variant.hpp"

namespace samovar::kernels::SAMOVAR_KERNELS_VARIANT {
namespace {

template <class T>
T dense_dot(const float* values, const T* weights, std::size_t n) {
  // Eight sums: the order is fixed, and vectors of any width can keep it.
  T sums[8] = {};
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    for (std::size_t j = 0; j < 8; ++j) sums[j] += static_cast<T>(values[i + j]) * weights[i + j];
  }
  for (std::size_t j = 0; i < n; ++i, ++j) sums[j] += static_cast<T>(values[i]) * weights[i];
  return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

template <class T>
T slot_sum(const std::uint32_t* slots, const T* weights, std::size_t n) {
  T a = 0, b = 0, c = 0, d = 0;
  std::size_t i = 0;
  // Loads alone where all places are some.
  for (; i + lanes::kLanes <= n && !lanes::any_none(lanes::load(slots + i)); i += lanes::kLanes) {
    for (std::size_t j = i; j < i + lanes::kLanes; j += 4) {
      a += weights[slots[j]];
      b += weights[slots[j + 1]];
      c += weights[slots[j + 2]];
      d += weights[slots[j + 3]];
    }
  }
  T sums[4] = {a, b, c, d};
  for (; i < n; ++i) {
    if (slots[i] != kNoSlot) sums[i % 4] += weights[slots[i]];
  }
  return (sums[0] + sums[2]) + (sums[1] + sums[3]);
}

// How many rows ahead weights are asked for: hashed ones lie anywhere.
constexpr std::uint32_t kRowsAhead = 8;
template <class T>
void prefetch_row(const std::uint32_t* slots, const T* weights, std::size_t n) {
  // A place that is none is fetched as well: an address is only asked for, never read.
  for (std::size_t i = 0; i < n; ++i) __builtin_prefetch(weights + slots[i], 0, 3);
}

template <class T>
T ragged_dot(const Rows& x, std::uint32_t row, const T* weights) {
  T sum = 0;
  const std::uint32_t end = x.ragged_ends[row];
  for (std::uint32_t i = ragged_begin(x, row); i < end; ++i)
    sum += weights[x.ragged_slots[i]] * static_cast<T>(x.ragged_values[i]);
  return sum;
}

template <class T>
void margins_of(const Rows& x, const T* weights, T bias, const float* offset, T* out,
                std::size_t out_stride) {
  for (std::uint32_t row = 0; row < x.rows; ++row) {
    if (row + kRowsAhead < x.rows)
      prefetch_row(x.slots + std::size_t{row + kRowsAhead} * x.slot_width, weights, x.slot_width);
    T sum = bias;
    if (offset != nullptr) sum += static_cast<T>(offset[row]);
    if (x.dense_width != 0)
      sum += dense_dot(x.dense + std::size_t{row} * x.dense_width, weights, x.dense_width);
    if (x.slot_width != 0) sum += slot_sum(x.slots + std::size_t{row} * x.slot_width, weights, x.slot_width);
    if (x.ragged_ends != nullptr) sum += ragged_dot(x, row, weights);
    out[row * out_stride] = sum;
  }
}

void margins(Stream*, const Rows& x, const float* weights, float bias, const float* offset, float* out,
             std::size_t out_stride) {
  margins_of(x, weights, bias, offset, out, out_stride);
}
void margins_f64(Stream*, const Rows& x, const double* weights, double bias, const float* offset, double* out,
                 std::size_t out_stride) {
  margins_of(x, weights, bias, offset, out, out_stride);
}

template <class T>
void gradient_of(const Rows& x, const T* coefficients, std::size_t stride, T* gradient, T* bias) {
  T total = 0;
  for (std::uint32_t row = 0; row < x.rows; ++row) {
    const T c = coefficients[row * stride];
    total += c;
    const float* dense = x.dense + std::size_t{row} * x.dense_width;
    for (std::size_t i = 0; i < x.dense_width; ++i) gradient[i] += c * static_cast<T>(dense[i]);
    const std::uint32_t* slots = x.slots + std::size_t{row} * x.slot_width;
    for (std::size_t i = 0; i < x.slot_width; ++i) {
      if (slots[i] != kNoSlot) gradient[slots[i]] += c;
    }
    if (x.ragged_ends != nullptr) {
      for (std::uint32_t i = ragged_begin(x, row); i < x.ragged_ends[row]; ++i)
        gradient[x.ragged_slots[i]] += c * static_cast<T>(x.ragged_values[i]);
    }
  }
  if (bias != nullptr) *bias += total;
}

void gradient(Stream*, const Rows& x, const float* coefficients, std::size_t stride, float* gradient,
              float* bias) {
  gradient_of(x, coefficients, stride, gradient, bias);
}
void gradient_f64(Stream*, const Rows& x, const double* coefficients, std::size_t stride, double* gradient,
                  double* bias) {
  gradient_of(x, coefficients, stride, gradient, bias);
}

}  // namespace

void fill_rows(Table& table) noexcept {
  table.margins = margins;
  table.margins_f64 = margins_f64;
  table.gradient = gradient;
  table.gradient_f64 = gradient_f64;
}

}  // namespace samovar::kernels::SAMOVAR_KERNELS_VARIANT
