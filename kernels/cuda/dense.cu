// Dense products by cuBLAS, and Cholesky for the small systems of a linear model: twins of
// kernels/cpu/dense.cpp.
#include "kernels/cuda/gpu.hpp"
#include "kernels/ops/math.hpp"

namespace samovar::kernels {
namespace {

using namespace gpu;

constexpr cublasOperation_t op(bool transpose) { return transpose ? CUBLAS_OP_T : CUBLAS_OP_N; }
constexpr int narrow(std::size_t n) { return static_cast<int>(n); }

// Made when it is needed: it takes memory and files, and streaming solvers, which a sandbox is closed around,
// never ask for it. Null: it does not begin, and the next wait says so.
cublasHandle_t blas_of(Stream* stream) {
  if (stream->blas != nullptr || stream->blas_failed) return stream->blas;
  if (cublasCreate(&stream->blas) != CUBLAS_STATUS_SUCCESS) stream->blas = nullptr;
  stream->blas_failed =
      stream->blas == nullptr || cublasSetStream(stream->blas, stream->queue) != CUBLAS_STATUS_SUCCESS;
  return stream->blas;
}

// cuBLAS has matrices a column after the other: a product by rows is the product of the factors swapped.
void gemm(Stream* stream, bool ta, bool tb, std::size_t m, std::size_t n, std::size_t k, float alpha,
          const float* a, std::size_t lda, const float* b, std::size_t ldb, float beta, float* c,
          std::size_t ldc) {
  if (cublasHandle_t blas = blas_of(stream))
    cublasSgemm(blas, op(tb), op(ta), narrow(n), narrow(m), narrow(k), &alpha, b, narrow(ldb), a, narrow(lda),
                &beta, c, narrow(ldc));
}
void gemm_f64(Stream* stream, bool ta, bool tb, std::size_t m, std::size_t n, std::size_t k, double alpha,
              const double* a, std::size_t lda, const double* b, std::size_t ldb, double beta, double* c,
              std::size_t ldc) {
  if (cublasHandle_t blas = blas_of(stream))
    cublasDgemm(blas, op(tb), op(ta), narrow(n), narrow(m), narrow(k), &alpha, b, narrow(ldb), a, narrow(lda),
                &beta, c, narrow(ldc));
}
void gemv(Stream* stream, bool transpose, std::size_t m, std::size_t n, float alpha, const float* a,
          std::size_t lda, const float* x, float beta, float* y) {
  if (cublasHandle_t blas = blas_of(stream))
    cublasSgemv(blas, op(!transpose), narrow(n), narrow(m), &alpha, a, narrow(lda), x, 1, &beta, y, 1);
}

// One block; the lower triangle becomes the factor, a column after the other.
__global__ void __launch_bounds__(kThreads) factor(double* a, std::size_t n, int* info) {
  __shared__ double pivot;
  for (std::size_t k = 0; k < n; ++k) {
    if (threadIdx.x == 0) pivot = a[k * n + k];
    __syncthreads();
    const double here = pivot;
    if (!(here > 0)) {
      if (threadIdx.x == 0) *info = static_cast<int>(k) + 1;
      return;  // all threads saw the same
    }
    const double root = ops::sqrt(here);
    for (std::size_t i = k + threadIdx.x; i < n; i += blockDim.x)
      a[i * n + k] = i == k ? root : a[i * n + k] / root;
    __syncthreads();
    for (std::size_t i = k + 1 + threadIdx.x; i < n; i += blockDim.x) {
      const double scale = a[i * n + k];
      for (std::size_t j = k + 1; j <= i; ++j) a[i * n + j] -= scale * a[j * n + k];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) *info = 0;
}
void cholesky_f64(Stream* stream, double* a, std::size_t n, int* info) {
  SAMOVAR_LAUNCH(factor, 1, kThreads, stream->queue, a, n, info);
}

// A thread takes a right side.
SAMOVAR_DEVICE void solve_side(const double* factor, std::size_t n, double* b, std::size_t step) {
  for (std::size_t i = 0; i < n; ++i) {
    double sum = b[i * step];
    for (std::size_t j = 0; j < i; ++j) sum -= factor[i * n + j] * b[j * step];
    b[i * step] = sum / factor[i * n + i];
  }
  for (std::size_t i = n; i-- > 0;) {
    double sum = b[i * step];
    for (std::size_t j = i + 1; j < n; ++j) sum -= factor[j * n + i] * b[j * step];
    b[i * step] = sum / factor[i * n + i];
  }
}
__global__ void __launch_bounds__(kThreads)
    solve(const double* factor, std::size_t n, std::size_t count, double* b) {
  for (std::size_t side = first_index(); side < count; side += index_stride())
    solve_side(factor, n, b + side * n, 1);
}
void cholesky_solve_f64(Stream* stream, const double* factor, std::size_t n, std::size_t count, double* b) {
  SAMOVAR_LAUNCH(solve, blocks_for(count), kThreads, stream->queue, factor, n, count, b);
}

}  // namespace

// cholesky_inverse_f64 stays empty: it is asked for once a model, in place, and the CPU does it well.
void fill_cuda_dense(Table& table) {
  table.gemm = gemm;
  table.gemm_f64 = gemm_f64;
  table.gemv = gemv;
  table.cholesky_f64 = cholesky_f64;
  table.cholesky_solve_f64 = cholesky_solve_f64;
}

}  // namespace samovar::kernels
