// Products with rows: twins of kernels/cpu/rows.cpp and of its Gram matrix. A warp takes a row.
#include "kernels/cuda/row_view.hpp"

namespace samovar::kernels {
namespace {

using namespace gpu;

template <class T>
__global__ void __launch_bounds__(kThreads)
    row_margins(Rows x, const T* weights, T bias, const float* offset, T* out, std::size_t out_stride) {
  const unsigned lane = threadIdx.x % kWarp;
  for (std::uint32_t row = first_warp(); row < x.rows; row += warp_stride()) {
    T sum = 0;
    each_of_row(x, row, lane, kWarp,
                [&](std::uint32_t place, float value) { sum += weights[place] * static_cast<T>(value); });
    sum = warp_sum(sum);
    if (lane == 0)
      out[row * out_stride] = sum + bias + (offset != nullptr ? static_cast<T>(offset[row]) : T(0));
  }
}

void margins(Stream* stream, const Rows& x, const float* weights, float bias, const float* offset, float* out,
             std::size_t out_stride) {
  SAMOVAR_LAUNCH((row_margins<float>), blocks_for(std::size_t{x.rows} * kWarp), kThreads, stream->queue, x,
                 weights, bias, offset, out, out_stride);
}
void margins_f64(Stream* stream, const Rows& x, const double* weights, double bias, const float* offset,
                 double* out, std::size_t out_stride) {
  SAMOVAR_LAUNCH((row_margins<double>), blocks_for(std::size_t{x.rows} * kWarp), kThreads, stream->queue, x,
                 weights, bias, offset, out, out_stride);
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    row_gradient(Rows x, const T* coefficients, std::size_t stride, T* gradient, T* bias) {
  const unsigned lane = threadIdx.x % kWarp;
  T total = 0;
  for (std::uint32_t row = first_warp(); row < x.rows; row += warp_stride()) {
    const T c = coefficients[row * stride];
    each_of_row(x, row, lane, kWarp,
                [&](std::uint32_t place, float value) { add(gradient + place, c * static_cast<T>(value)); });
    total += c;
  }
  if (bias != nullptr && lane == 0 && total != T(0)) add(bias, total);
}

// Numbers are in every row: a thread keeps a column's sum and adds it once, instead of once for each row.
template <class T>
__global__ void __launch_bounds__(kThreads)
    dense_gradient(Rows x, const T* coefficients, std::size_t stride, T* gradient) {
  for (std::size_t column = first_index(); column < x.dense_width; column += index_stride()) {
    T sum = 0;
    for (std::uint32_t row = blockIdx.y; row < x.rows; row += gridDim.y)
      sum += coefficients[row * stride] * static_cast<T>(x.dense[std::size_t{row} * x.dense_width + column]);
    add(gradient + column, sum);
  }
}

template <class T>
void launch_gradient(Stream* stream, const Rows& x, const T* coefficients, std::size_t stride, T* gradient,
                     T* bias) {
  if (x.dense_width != 0) {
    const unsigned parts = x.rows < 64 ? 1 : 16;
    SAMOVAR_LAUNCH((dense_gradient<T>), dim3(blocks_for(x.dense_width), parts), kThreads, stream->queue, x,
                   coefficients, stride, gradient);
  }
  Rows rest = x;
  rest.dense_width = 0;
  SAMOVAR_LAUNCH((row_gradient<T>), blocks_for(std::size_t{x.rows} * kWarp), kThreads, stream->queue, rest,
                 coefficients, stride, gradient, bias);
}
void gradient(Stream* stream, const Rows& x, const float* coefficients, std::size_t stride, float* gradient,
              float* bias) {
  launch_gradient(stream, x, coefficients, stride, gradient, bias);
}
void gradient_f64(Stream* stream, const Rows& x, const double* coefficients, std::size_t stride,
                  double* gradient, double* bias) {
  launch_gradient(stream, x, coefficients, stride, gradient, bias);
}

constexpr unsigned kTile = 16;

// Numbers with numbers: a block makes a tile of the square out of tiles of rows; its last column is the
// intercept.
__global__ void __launch_bounds__(kTile* kTile)
    gram_tile(Rows x, const double* weights, std::size_t width, double* gram) {
  __shared__ double left[kTile][kTile + 1];  // one more, so that columns lie in different banks
  __shared__ double right[kTile][kTile + 1];
  const unsigned i = blockIdx.y * kTile + threadIdx.y;
  const unsigned j = blockIdx.x * kTile + threadIdx.x;
  double sum = 0;
  for (std::uint32_t first = blockIdx.z * kTile; first < x.rows; first += gridDim.z * kTile) {
    const std::uint32_t row = first + threadIdx.y;
    const auto value = [&](unsigned column) {
      if (row >= x.rows || column > x.dense_width) return 0.0;
      return column == x.dense_width
                 ? 1.0
                 : static_cast<double>(x.dense[std::size_t{row} * x.dense_width + column]);
    };
    left[threadIdx.y][threadIdx.x] =
        row < x.rows ? weights[row] * value(blockIdx.y * kTile + threadIdx.x) : 0.0;
    right[threadIdx.y][threadIdx.x] = value(blockIdx.x * kTile + threadIdx.x);
    __syncthreads();
    for (unsigned k = 0; k < kTile; ++k) sum += left[k][threadIdx.y] * right[k][threadIdx.x];
    __syncthreads();
  }
  if (i > x.dense_width || j > i) return;
  const std::size_t line = i == x.dense_width ? width : i;
  const std::size_t column = j == x.dense_width ? width : j;
  add(gram + line * (width + 1) + column, sum);
}

// Places with numbers, with the intercept and with each other: a thread takes a row.
__global__ void __launch_bounds__(kThreads)
    gram_places(Rows x, const double* weights, std::size_t width, double* gram) {
  const std::size_t stride = width + 1;
  for (std::size_t at = first_index(); at < x.rows; at += index_stride()) {
    const auto row = static_cast<std::uint32_t>(at);
    const double weight = weights[row];
    Rows places = x;
    places.dense_width = 0;
    unsigned seen = 0;
    each_of_row(places, row, 0, 1, [&](std::uint32_t place, float value) {
      const double scaled = weight * static_cast<double>(value);
      for (std::uint32_t k = 0; k < x.dense_width; ++k)
        add(gram + place * stride + k,
            scaled * static_cast<double>(x.dense[std::size_t{row} * x.dense_width + k]));
      add(gram + width * stride + place, scaled);
      unsigned before = 0;
      each_of_row(places, row, 0, 1, [&](std::uint32_t other, float other_value) {
        if (before++ > seen) return;
        const bool itself = before == seen + 1;
        const std::size_t low = place < other ? place : other;
        const std::size_t high = place < other ? other : place;
        const double product = scaled * static_cast<double>(other_value);
        // Two occurrences of one place have their product twice in its square.
        add(gram + high * stride + low, place == other && !itself ? 2 * product : product);
      });
      ++seen;
    });
  }
}

void gram_f64(Stream* stream, const Rows& x, const double* weights, std::size_t width, double* gram,
              double*) {
  const unsigned tiles = (x.dense_width + kTile) / kTile;
  const unsigned parts = x.rows < 256 ? 1 : 16;
  SAMOVAR_LAUNCH(gram_tile, dim3(tiles, tiles, parts), dim3(kTile, kTile), stream->queue, x, weights, width,
                 gram);
  if (x.slot_width == 0 && x.ragged_ends == nullptr) return;
  SAMOVAR_LAUNCH(gram_places, blocks_for(x.rows), kThreads, stream->queue, x, weights, width, gram);
}

}  // namespace

void fill_cuda_rows(Table& table) {
  table.margins = margins;
  table.margins_f64 = margins_f64;
  table.gradient = gradient;
  table.gradient_f64 = gradient_f64;
  table.gram_f64 = gram_f64;
}

}  // namespace samovar::kernels
