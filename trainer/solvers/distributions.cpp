#include "trainer/solvers/distributions.hpp"

#include <cmath>

namespace samovar::trainer {

namespace {

// Continued fraction of the incomplete beta function, by Lentz (Numerical Recipes 6.4).
double beta_fraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  double c = 1;
  double d = 1 - (a + b) * x / (a + 1);
  d = 1 / (std::abs(d) < kTiny ? kTiny : d);
  double h = d;
  for (int m = 1; m <= 500; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 + even * d;
    d = 1 / (std::abs(d) < kTiny ? kTiny : d);
    c = 1 + even / c;
    c = std::abs(c) < kTiny ? kTiny : c;
    h *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 + odd * d;
    d = 1 / (std::abs(d) < kTiny ? kTiny : d);
    c = 1 + odd / c;
    c = std::abs(c) < kTiny ? kTiny : c;
    h *= d * c;
    if (std::abs(d * c - 1) < 1e-15) break;
  }
  return h;
}

double log_gamma(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}

double incomplete_beta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front =
      std::exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * std::log(x) + b * std::log1p(-x));
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
  return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

}  // namespace

double normal_two_sided(double z) noexcept { return std::erfc(std::abs(z) * M_SQRT1_2); }

double student_two_sided(double t, double freedom) noexcept {
  if (freedom <= 0) return 1;
  return incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t));
}

double student_bound(double freedom) noexcept {
  if (freedom <= 0) return kNormalBound;
  double low = 1.9;
  double high = 13;
  for (int i = 0; i < 100; ++i) {
    const double middle = 0.5 * (low + high);
    (student_two_sided(middle, freedom) > 0.05 ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

double digamma(double x) noexcept {
  double out = 0;
  for (; x < 10; ++x) out -= 1 / x;
  const double r = 1 / (x * x);
  return out + std::log(x) - 0.5 / x -
         r * (1.0 / 12 - r * (1.0 / 120 - r * (1.0 / 252 - r * (1.0 / 240 - r / 132))));
}

double trigamma(double x) noexcept {
  double out = 0;
  for (; x < 10; ++x) out += 1 / (x * x);
  const double r = 1 / (x * x);
  return out + 1 / x + 0.5 * r + r / x * (1.0 / 6 - r * (1.0 / 30 - r * (1.0 / 42 - r / 30)));
}

}  // namespace samovar::trainer
