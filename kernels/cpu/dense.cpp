// What OpenBLAS and LAPACK do better than loops: dense products, Gram matrices, Cholesky.
#include <cblas.h>

#include "kernels/cpu/row_parts.hpp"
#include "kernels/cpu/variant.hpp"

// LAPACK's Fortran entries, which libopenblas has; matrices a column after the other.
extern "C" {
void dpotrf_(const char* uplo, const int* n, double* a, const int* lda, int* info, std::size_t);
void dpotrs_(const char* uplo, const int* n, const int* nrhs, const double* a, const int* lda, double* b,
             const int* ldb, int* info, std::size_t);
void dpotri_(const char* uplo, const int* n, double* a, const int* lda, int* info, std::size_t);
}

namespace samovar::kernels {
namespace {

constexpr int narrow(std::size_t n) { return static_cast<int>(n); }
constexpr CBLAS_TRANSPOSE op(bool transpose) { return transpose ? CblasTrans : CblasNoTrans; }

void gemm(Stream*, bool ta, bool tb, std::size_t m, std::size_t n, std::size_t k, float alpha, const float* a,
          std::size_t lda, const float* b, std::size_t ldb, float beta, float* c, std::size_t ldc) {
  cblas_sgemm(CblasRowMajor, op(ta), op(tb), narrow(m), narrow(n), narrow(k), alpha, a, narrow(lda), b,
              narrow(ldb), beta, c, narrow(ldc));
}
void gemm_f64(Stream*, bool ta, bool tb, std::size_t m, std::size_t n, std::size_t k, double alpha,
              const double* a, std::size_t lda, const double* b, std::size_t ldb, double beta, double* c,
              std::size_t ldc) {
  cblas_dgemm(CblasRowMajor, op(ta), op(tb), narrow(m), narrow(n), narrow(k), alpha, a, narrow(lda), b,
              narrow(ldb), beta, c, narrow(ldc));
}
void gemv(Stream*, bool transpose, std::size_t m, std::size_t n, float alpha, const float* a, std::size_t lda,
          const float* x, float beta, float* y) {
  cblas_sgemv(CblasRowMajor, op(transpose), narrow(m), narrow(n), alpha, a, narrow(lda), x, 1, beta, y, 1);
}

// Adds one row's part that is not dense × dense: each of its places with each, and with its numbers.
class RowPart {
 public:
  RowPart(const Rows& x, std::size_t width, double* gram) : x_(x), stride_(width + 1), gram_(gram) {}

  void add(std::uint32_t row, double weight) {
    const float* dense = x_.dense + std::size_t{row} * x_.dense_width;
    const std::uint32_t* slots = x_.slots + std::size_t{row} * x_.slot_width;
    const std::uint32_t begin = x_.ragged_ends != nullptr ? ragged_begin(x_, row) : 0;
    const std::uint32_t end = x_.ragged_ends != nullptr ? x_.ragged_ends[row] : 0;
    for (std::uint32_t i = 0; i < x_.slot_width; ++i) {
      if (slots[i] == kNoSlot) continue;
      with_dense(slots[i], weight, dense);
      gram_[slots[i] * stride_ + slots[i]] += weight;
      for (std::uint32_t j = 0; j < i; ++j) {
        if (slots[j] != kNoSlot) pair(slots[i], slots[j], weight);
      }
    }
    for (std::uint32_t i = begin; i < end; ++i) {
      const std::uint32_t place = x_.ragged_slots[i];
      const double value = weight * static_cast<double>(x_.ragged_values[i]);
      with_dense(place, value, dense);
      gram_[place * stride_ + place] += value * static_cast<double>(x_.ragged_values[i]);
      for (std::uint32_t j = 0; j < x_.slot_width; ++j) {
        if (slots[j] != kNoSlot) pair(place, slots[j], value);
      }
      for (std::uint32_t j = begin; j < i; ++j)
        pair(place, x_.ragged_slots[j], value * static_cast<double>(x_.ragged_values[j]));
    }
  }

 private:
  // Two different occurrences: when they are the same place, the square has the product twice.
  void pair(std::size_t a, std::size_t b, double value) {
    const std::size_t low = a < b ? a : b;
    const std::size_t high = a < b ? b : a;
    gram_[high * stride_ + low] += a == b ? 2 * value : value;
  }
  // With the numbers of the row, which come before all places, and with the intercept, which comes last.
  void with_dense(std::size_t place, double value, const float* dense) {
    double* line = gram_ + place * stride_;
    for (std::uint32_t k = 0; k < x_.dense_width; ++k) line[k] += value * static_cast<double>(dense[k]);
    gram_[(stride_ - 1) * stride_ + place] += value;
  }

  const Rows& x_;
  std::size_t stride_;
  double* gram_;
};

void gram_f64(Stream*, const Rows& x, const double* weights, std::size_t width, double* gram,
              double* scratch) {
  const std::size_t stride = width + 1;
  const std::size_t dense = x.dense_width;
  double total = 0;
  for (std::uint32_t first = 0; first < x.rows; first += kGramRows) {
    const std::size_t count = x.rows - first < kGramRows ? x.rows - first : kGramRows;
    if (dense != 0) {
      // √w · x, so that one symmetric product does it; the intercept's line is X'w.
      double* roots = scratch + kGramRows * dense;
      for (std::size_t i = 0; i < count; ++i) {
        const float* row = x.dense + (first + i) * dense;
        const double root = __builtin_sqrt(weights[first + i]);
        roots[i] = root;
        for (std::size_t k = 0; k < dense; ++k) scratch[i * dense + k] = root * static_cast<double>(row[k]);
      }
      cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, narrow(dense), narrow(count), 1.0, scratch,
                  narrow(dense), 1.0, gram, narrow(stride));
      cblas_dgemv(CblasRowMajor, CblasTrans, narrow(count), narrow(dense), 1.0, scratch, narrow(dense), roots,
                  1, 1.0, gram + width * stride, 1);
    }
    for (std::size_t i = 0; i < count; ++i) total += weights[first + i];
  }
  gram[width * stride + width] += total;
  if (x.slot_width == 0 && x.ragged_ends == nullptr) return;
  RowPart part(x, width, gram);
  for (std::uint32_t row = 0; row < x.rows; ++row) part.add(row, weights[row]);
}

// A lower triangle by rows is an upper one by columns.
constexpr char kTriangle = 'U';

void cholesky_f64(Stream*, double* a, std::size_t n, int* info) {
  const int size = narrow(n);
  *info = 0;
  if (n != 0) dpotrf_(&kTriangle, &size, a, &size, info, 1);
}
void cholesky_solve_f64(Stream*, const double* factor, std::size_t n, std::size_t count, double* b) {
  const int size = narrow(n);
  const int sides = narrow(count);
  int info = 0;
  if (n != 0 && count != 0) dpotrs_(&kTriangle, &size, &sides, factor, &size, b, &size, &info, 1);
}
void cholesky_inverse_f64(Stream*, double* factor, std::size_t n, int* info) {
  const int size = narrow(n);
  *info = 0;
  if (n != 0) dpotri_(&kTriangle, &size, factor, &size, info, 1);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < i; ++j) factor[j * n + i] = factor[i * n + j];
  }
}

}  // namespace

void fill_dense(Table& table) noexcept {
  table.gemm = gemm;
  table.gemm_f64 = gemm_f64;
  table.gemv = gemv;
  table.gram_f64 = gram_f64;
  table.cholesky_f64 = cholesky_f64;
  table.cholesky_solve_f64 = cholesky_solve_f64;
  table.cholesky_inverse_f64 = cholesky_inverse_f64;
}

}  // namespace samovar::kernels
