// Families and links of generalized linear models (McCullagh and Nelder): mean, slope, variance, loss,
// deviance. T is float or double.
#pragma once
#include "kernels/kernels.hpp"
#include "kernels/ops/math.hpp"

namespace samovar::kernels::ops {

// Means are kept this far from the edges of where they may be: a loss is never infinite, a weight never 0/0.
template <class T>
struct Edge;
template <>
struct Edge<float> {
  static constexpr float value = 1e-7f;
  static constexpr float log_mean = 40;  // |log mean| at most: its square is still a number
};
template <>
struct Edge<double> {
  static constexpr double value = 1e-15;
  static constexpr double log_mean = 300;
};

// A mean and its derivative by the margin. For links onto (0, 1) also 1 - mean, which must not be had by
// subtraction: near 1 nothing would be left of it.
template <class T>
struct Mean {
  T mean;
  T other;  // 1 - mean
  T slope;
};

template <Link link, class T>
SAMOVAR_HD Mean<T> mean_of(T margin) {
  if constexpr (link == Link::identity) {
    return {margin, T(1) - margin, T(1)};
  } else if constexpr (link == Link::logit) {
    // e^-|x| never overflows; which side it is on is a choice of values, not of ways.
    const T e = exp(-abs(margin));
    const T big = T(1) / (T(1) + e);
    const T small = e * big;
    const bool up = margin >= T(0);
    return {up ? big : small, up ? small : big, small * big};
  } else if constexpr (link == Link::log) {
    const T e = exp(min(max(margin, -Edge<T>::log_mean), Edge<T>::log_mean));
    return {e, T(1) - e, e};
  } else if constexpr (link == Link::inverse) {
    // Only positive margins mean something; others are held at the edge.
    const T positive = min(max(margin, Edge<T>::value), T(1) / Edge<T>::value);
    const T mean = T(1) / positive;
    return {mean, T(1) - mean, -mean * mean};
  } else if constexpr (link == Link::probit) {
    const T tail = normal_tail(margin);
    const bool up = margin >= T(0);
    return {up ? T(1) - tail : tail, up ? tail : T(1) - tail, normal_density(margin)};
  } else {  // cloglog: 1 - e^{-e^x}
    const T e = exp(min(margin, T(4)));
    const T other = exp(-e);
    // Near 0 the difference has no digits left, the series has.
    const T mean = e < T(1e-3) ? e * (T(1) - e * (T(0.5) - e * T(1.0 / 6))) : T(1) - other;
    return {mean, other, e * other};
  }
}

// The variance of a family as a function of the mean.
template <Family family, class T>
SAMOVAR_HD T variance(const Mean<T>& m, T parameter) {
  (void)parameter;
  if constexpr (family == Family::gaussian) return T(1);
  if constexpr (family == Family::binomial) return m.mean * m.other;
  if constexpr (family == Family::poisson) return m.mean;
  if constexpr (family == Family::gamma) return m.mean * m.mean;
  if constexpr (family == Family::negative_binomial) return m.mean + m.mean * m.mean / parameter;
  return pow(m.mean, parameter);
}

// Holds a mean inside its family's range.
template <Family family, class T>
SAMOVAR_HD Mean<T> inside(Mean<T> m) {
  if constexpr (family == Family::binomial) {
    m.mean = min(max(m.mean, Edge<T>::value), T(1));
    m.other = min(max(m.other, Edge<T>::value), T(1));
  } else if constexpr (family != Family::gaussian) {
    m.mean = max(m.mean, Edge<T>::value);
  }
  return m;
}

// The negative log likelihood without what does not depend on the mean.
template <Family family, class T>
SAMOVAR_HD T loss(const Mean<T>& m, T y, T parameter) {
  (void)parameter;
  if constexpr (family == Family::gaussian) {
    const T d = y - m.mean;
    return T(0.5) * d * d;
  }
  if constexpr (family == Family::binomial) return -(y * log(m.mean) + (T(1) - y) * log(m.other));
  if constexpr (family == Family::poisson) return m.mean - y * log(m.mean);
  if constexpr (family == Family::gamma) return y / m.mean + log(m.mean);
  if constexpr (family == Family::negative_binomial)
    return (y + parameter) * log(m.mean + parameter) - y * log(m.mean);
  const T p = parameter;
  return pow(m.mean, T(2) - p) / (T(2) - p) - y * pow(m.mean, T(1) - p) / (T(1) - p);
}

// dloss/dmargin = (mean - y) · slope / variance; with the canonical link just mean - y.
template <Family family, Link link, class T>
SAMOVAR_HD T residual(const Mean<T>& m, T y, T parameter) {
  constexpr bool canonical = (family == Family::gaussian && link == Link::identity) ||
                             (family == Family::binomial && link == Link::logit) ||
                             (family == Family::poisson && link == Link::log);
  // Without a subtraction of nearly equal numbers: mean - y = (1 - y) · mean - y · (1 - mean).
  T difference = m.mean - y;
  if constexpr (family == Family::binomial) difference = (T(1) - y) * m.mean - y * m.other;
  if constexpr (canonical) return difference;
  return difference * m.slope / variance<family>(m, parameter);
}

template <Family family, class T>
SAMOVAR_HD T curvature(const Mean<T>& m, T parameter) {
  return m.slope * m.slope / variance<family>(m, parameter);
}

// y · log(y / mean), which is 0 at y = 0.
SAMOVAR_HD double y_log_ratio(double y, double mean) { return y > 0 ? y * log(y / mean) : 0.0; }

template <Family family>
SAMOVAR_HD double unit_deviance(double mean, double y, double parameter) {
  (void)parameter;
  if constexpr (family == Family::gaussian) return (y - mean) * (y - mean);
  const Mean<double> m = inside<family>(Mean<double>{mean, 1 - mean, 0});
  if constexpr (family == Family::binomial) return 2 * (y_log_ratio(y, m.mean) + y_log_ratio(1 - y, m.other));
  if constexpr (family == Family::poisson) return 2 * (y_log_ratio(y, m.mean) - (y - m.mean));
  if constexpr (family == Family::gamma)
    return 2 * ((y - m.mean) / m.mean - log(max(y, Edge<double>::value) / m.mean));
  if constexpr (family == Family::negative_binomial)
    return 2 * (y_log_ratio(y, m.mean) - (y + parameter) * log((y + parameter) / (m.mean + parameter)));
  const double p = parameter;
  const double saturated = y > 0 ? pow(y, 2 - p) / ((1 - p) * (2 - p)) : 0.0;
  return 2 * (saturated - y * pow(m.mean, 1 - p) / (1 - p) + pow(m.mean, 2 - p) / (2 - p));
}

}  // namespace samovar::kernels::ops
