// The few distributions that tests and intervals need.
//
// Threading: pure.
#pragma once

namespace samovar::trainer {

// How likely a value at least this far from 0 is, on both sides together.
double normal_two_sided(double z) noexcept;
double student_two_sided(double t, double freedom) noexcept;
// The value beyond which 2.5 % lie on each side.
double student_bound(double freedom) noexcept;
inline constexpr double kNormalBound = 1.959963984540054;

double digamma(double x) noexcept;  // x > 0
double trigamma(double x) noexcept;

}  // namespace samovar::trainer
