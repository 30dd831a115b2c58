// X'WX of a small design: which columns follow from others, the step of Newton, and the covariance.
//
// The unknowns are the weights and, last, the intercept. Numbers have their means taken off, so a column far
// from 0 does not look like the intercept; every column is scaled to a diagonal of 1.
//
// Threading: values.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace samovar::trainer {

class NormalMatrix {
 public:
  NormalMatrix() = default;
  NormalMatrix(std::size_t width, std::size_t dense_width) : width_(width), dense_width_(dense_width) {}

  // `gram` as kernels::Table::gram_f64 leaves it; `centers` of the numbers; `ridge` on every weight.
  void set(const std::vector<double>& gram, const std::vector<double>& centers, double ridge);

  // Finds the columns to keep, by set()'s matrix: the intercept, numbers, then the other weights from the
  // last to the first, so that of a category it is the first level that follows from the rest.
  std::vector<std::uint32_t> independent() const;

  // With the columns kept. False when the matrix is not positive: some direction has no curvature left.
  bool factor(const std::vector<std::uint32_t>& kept);
  // x of (X'WX + ridge) x = b, both over all unknowns, 0 where not kept.
  std::vector<double> solve(const std::vector<double>& b) const;
  // Over the kept ones, both triangles. Consumes the factor.
  std::vector<double> inverse();

 private:
  double at(std::size_t i, std::size_t j) const noexcept {
    return i >= j ? matrix_[i * (width_ + 1) + j] : matrix_[j * (width_ + 1) + i];
  }
  std::size_t width_ = 0;
  std::size_t dense_width_ = 0;
  std::vector<double> matrix_;  // lower triangle of (width + 1)²
  std::vector<std::uint32_t> kept_;
  std::vector<double> scales_;  // of the kept ones
  std::vector<double> factor_;
};

}  // namespace samovar::trainer
