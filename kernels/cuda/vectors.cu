// Reductions and sums of vectors: twins of kernels/cpu/vectors.cpp.
#include "kernels/cuda/gpu.hpp"
#include "kernels/ops/elastic_pull.hpp"
#include "kernels/ops/math.hpp"

namespace samovar::kernels {
namespace {

using namespace gpu;

enum class Reduction { sum, squares, dot };

template <Reduction what, class T>
__global__ void __launch_bounds__(kThreads) reduce(const T* x, const T* y, std::size_t n, double* out) {
  double mine = 0;
  for (std::size_t i = first_index(); i < n; i += index_stride()) {
    const auto a = static_cast<double>(x[i]);
    if (what == Reduction::sum) mine += a;
    if (what == Reduction::squares) mine += a * a;
    if (what == Reduction::dot) mine += a * static_cast<double>(y[i]);
  }
  const double total = block_sum(mine);
  if (threadIdx.x == 0) add(out, total);
}

template <Reduction what, class T>
void launch_reduce(Stream* stream, const T* x, const T* y, std::size_t n, double* out) {
  cudaMemsetAsync(out, 0, sizeof *out, stream->queue);
  SAMOVAR_LAUNCH((reduce<what, T>), blocks_for(n), kThreads, stream->queue, x, y, n, out);
}
void sum(Stream* stream, const float* x, std::size_t n, double* out) {
  launch_reduce<Reduction::sum, float>(stream, x, nullptr, n, out);
}
void sum_squares(Stream* stream, const float* x, std::size_t n, double* out) {
  launch_reduce<Reduction::squares, float>(stream, x, nullptr, n, out);
}
void dot(Stream* stream, const float* x, const float* y, std::size_t n, double* out) {
  launch_reduce<Reduction::dot, float>(stream, x, y, n, out);
}
void dot_f64(Stream* stream, const double* x, const double* y, std::size_t n, double* out) {
  launch_reduce<Reduction::dot, double>(stream, x, y, n, out);
}

// One block: a maximum has no atomic of floats, and is asked for rarely.
__global__ void __launch_bounds__(kThreads) largest(const float* x, std::size_t n, float* out) {
  __shared__ float parts[kThreads];
  float mine = -__builtin_huge_valf();
  for (std::size_t i = threadIdx.x; i < n; i += blockDim.x) mine = ops::max(mine, x[i]);
  parts[threadIdx.x] = mine;
  __syncthreads();
  for (unsigned half = kThreads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) parts[threadIdx.x] = ops::max(parts[threadIdx.x], parts[threadIdx.x + half]);
    __syncthreads();
  }
  if (threadIdx.x == 0) *out = parts[0];
}
void max(Stream* stream, const float* x, std::size_t n, float* out) {
  SAMOVAR_LAUNCH(largest, 1, kThreads, stream->queue, x, n, out);
}

template <class T>
__global__ void __launch_bounds__(kThreads) add_scaled(T a, const T* x, std::size_t n, T* y) {
  for (std::size_t i = first_index(); i < n; i += index_stride()) y[i] += a * x[i];
}
void axpy(Stream* stream, float a, const float* x, std::size_t n, float* y) {
  SAMOVAR_LAUNCH((add_scaled<float>), blocks_for(n), kThreads, stream->queue, a, x, n, y);
}
void axpy_f64(Stream* stream, double a, const double* x, std::size_t n, double* y) {
  SAMOVAR_LAUNCH((add_scaled<double>), blocks_for(n), kThreads, stream->queue, a, x, n, y);
}

__global__ void __launch_bounds__(kThreads) pull(float* x, const float* center, std::size_t n, float alpha) {
  for (std::size_t i = first_index(); i < n; i += index_stride())
    x[i] = ops::elastic_pull(x[i], center[i], alpha);
}
void elastic_pull(Stream* stream, float* x, const float* center, std::size_t n, float alpha) {
  SAMOVAR_LAUNCH(pull, blocks_for(n), kThreads, stream->queue, x, center, n, alpha);
}

}  // namespace

void fill_cuda_vectors(Table& table) {
  table.sum = sum;
  table.sum_squares = sum_squares;
  table.dot = dot;
  table.dot_f64 = dot_f64;
  table.max = max;
  table.axpy = axpy;
  table.axpy_f64 = axpy_f64;
  table.elastic_pull = elastic_pull;
}

}  // namespace samovar::kernels
