#include "trainer/solvers/normal_matrix.hpp"

#include <algorithm>
#include <cmath>

#include "base/assert.hpp"
#include "kernels/kernels.hpp"

namespace samovar::trainer {

namespace {
// What is left of a column's square after the others are taken off it, as a share: below, it follows from
// them.
constexpr double kDependent = 1e-10;
}  // namespace

void NormalMatrix::set(const std::vector<double>& gram, const std::vector<double>& centers, double ridge) {
  const std::size_t n = width_ + 1;
  SAMOVAR_ASSERT(gram.size() == n * n && centers.size() >= dense_width_);
  matrix_ = gram;
  const double* ones = gram.data() + width_ * n;  // the intercept with every column
  const double total = ones[width_];
  const auto center = [&](std::size_t i) { return i < dense_width_ ? centers[i] : 0; };
  for (std::size_t i = 0; i < width_; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      if (j >= dense_width_) break;
      matrix_[i * n + j] += center(i) * center(j) * total - center(i) * ones[j] - center(j) * ones[i];
    }
    matrix_[i * n + i] += ridge;
  }
  for (std::size_t j = 0; j < dense_width_; ++j) matrix_[width_ * n + j] -= center(j) * total;
}

std::vector<std::uint32_t> NormalMatrix::independent() const {
  const std::size_t n = width_ + 1;
  std::vector<std::uint32_t> order;
  order.push_back(static_cast<std::uint32_t>(width_));
  for (std::size_t i = 0; i < dense_width_; ++i) order.push_back(static_cast<std::uint32_t>(i));
  for (std::size_t i = width_; i-- > dense_width_;) order.push_back(static_cast<std::uint32_t>(i));
  // Cholesky that skips what has nothing left.
  std::vector<std::uint32_t> kept;
  std::vector<std::vector<double>> rows;  // of the factor
  for (const std::uint32_t column : order) {
    const double square = at(column, column);
    if (!(square > 0)) continue;
    const double scale = std::sqrt(square);
    std::vector<double> row(rows.size() + 1);
    double left = 1;
    for (std::size_t k = 0; k < rows.size(); ++k) {
      double value = at(column, kept[k]) / scale / std::sqrt(at(kept[k], kept[k]));
      for (std::size_t l = 0; l < k; ++l) value -= row[l] * rows[k][l];
      row[k] = value / rows[k][k];
      left -= row[k] * row[k];
    }
    if (left < kDependent) continue;
    row[rows.size()] = std::sqrt(left);
    rows.push_back(std::move(row));
    kept.push_back(column);
  }
  std::sort(kept.begin(), kept.end());
  SAMOVAR_ASSERT(kept.size() <= n);
  return kept;
}

bool NormalMatrix::factor(const std::vector<std::uint32_t>& kept) {
  const std::size_t n = kept.size();
  kept_ = kept;
  scales_.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double square = at(kept[i], kept[i]);
    if (!(square > 0) || !std::isfinite(square)) return false;
    scales_[i] = std::sqrt(square);
  }
  factor_.assign(n * n, 0);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j)
      factor_[i * n + j] = at(kept[i], kept[j]) / (scales_[i] * scales_[j]);
  }
  int info = 0;
  kernels::cpu().cholesky_f64(nullptr, factor_.data(), n, &info);
  return info == 0;
}

std::vector<double> NormalMatrix::solve(const std::vector<double>& b) const {
  const std::size_t n = kept_.size();
  std::vector<double> x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = b[kept_[i]] / scales_[i];
  kernels::cpu().cholesky_solve_f64(nullptr, factor_.data(), n, 1, x.data());
  std::vector<double> out(width_ + 1, 0);
  for (std::size_t i = 0; i < n; ++i) out[kept_[i]] = x[i] / scales_[i];
  return out;
}

std::vector<double> NormalMatrix::inverse() {
  const std::size_t n = kept_.size();
  int info = 0;
  kernels::cpu().cholesky_inverse_f64(nullptr, factor_.data(), n, &info);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) factor_[i * n + j] /= scales_[i] * scales_[j];
  }
  return std::move(factor_);
}

}  // namespace samovar::trainer
