// What a step does to one cell. AdaGrad: Duchi et al. 2011, with a proximal L1; FTRL-proximal: McMahan et al.
// 2013, Algorithm 1; Adam: Kingma and Ba 2015, on the coordinates that are touched.
//
// F is float, or a vector of floats with whole numbers I of the same width.
#pragma once
#include "kernels/kernels.hpp"
#include "kernels/ops/math.hpp"

namespace samovar::kernels::ops {

// Towards 0 by `by`, and not across it.
template <class F, class By>
SAMOVAR_HD F shrink(F x, By by) {
  const F most = F{} + by;
  const F least = -most;
  const F below = x < most ? x : most;
  return x - (below > least ? below : least);
}

// What an optimiser's steps have in common, worked out once for a call.
struct Rates {
  float mean_scale = 1;      // adam: rate / (1 - momentum^t)
  float variance_scale = 1;  // adam: 1 / (1 - decay^t)
  float ftrl_scale = 1;      // ftrl: 1 / alpha
};
SAMOVAR_HD Rates rates_of(const Optimizer& o) {
  Rates r;
  if (o.rule == Rule::adam) {
    const auto t = static_cast<double>(o.step);
    r.mean_scale =
        static_cast<float>(static_cast<double>(o.rate) / (1 - pow(static_cast<double>(o.momentum), t)));
    r.variance_scale = static_cast<float>(1 / (1 - pow(static_cast<double>(o.decay), t)));
  }
  if (o.rule == Rule::ftrl) r.ftrl_scale = 1 / o.rate;
  return r;
}

// A cell of two: {weight, Σg²}, {z, Σg²} or {weight, velocity}.
template <Rule rule, class I, class F>
SAMOVAR_HD F weight_of(F first, F second, const Optimizer& o, const Rates& r) {
  if constexpr (rule == Rule::ftrl) {
    const F square_root = root<I, F>(second);
    return -shrink(first, o.l1) / ((o.epsilon + square_root) * r.ftrl_scale + o.l2);
  }
  return first;
}

// kShrinks: whether l1 or l2 is not 0; without them a step is a third shorter.
template <Rule rule, bool kShrinks, class I, class F, class G>
SAMOVAR_HD void step_pair(F& first, F& second, G gradient, const Optimizer& o, const Rates& r) {
  if constexpr (rule == Rule::adagrad) {
    F g = F{} + gradient;
    if constexpr (kShrinks) g = gradient + o.l2 * first;
    second = second + g * g;
    const F rate = o.rate * rsqrt<I, F>(second + o.epsilon);
    first = first - rate * g;
    if constexpr (kShrinks) first = shrink(first, rate * o.l1);
  } else if constexpr (rule == Rule::ftrl) {
    const F before = root<I, F>(second);
    const F held = (o.epsilon + before) * r.ftrl_scale + o.l2;  // the weight is -shrink(z) / held
    const F square = F{} + gradient * gradient;
    second = second + square;
    const F after = root<I, F>(second);
    // The root grew by square / (after + before): as a difference nothing would be left of it once the sum is
    // large. One division for that and for the weight.
    const F grown = square * r.ftrl_scale * shrink(first, o.l1) / (held * (after + before + 1e-30f));
    first = first + gradient + grown;
  } else {
    F g = F{} + gradient;
    if constexpr (kShrinks) g = gradient + o.l2 * first;
    second = o.momentum * second + g;
    // Nesterov's, for the point x - rate · momentum · velocity at which the gradient is taken.
    const F by = o.ahead ? g + o.momentum * second : second;
    first = first - o.rate * by;
    if constexpr (kShrinks) first = shrink(first, o.rate * o.l1);
  }
}

template <Rule rule>
SAMOVAR_HD float cell_weight(const float* cell, const Optimizer& o, const Rates& r) {
  if constexpr (rule == Rule::ftrl) return weight_of<rule, std::int32_t, float>(cell[0], cell[1], o, r);
  return cell[0];
}

template <Rule rule>
SAMOVAR_HD void step_cell(float* cell, float g, const Optimizer& o, const Rates& r) {
  if constexpr (rule != Rule::adam) {
    step_pair<rule, true, std::int32_t, float>(cell[0], cell[1], g, o, r);
  } else {
    const float w = cell[0];
    g = g + o.l2 * w;
    cell[1] = o.momentum * cell[1] + (1 - o.momentum) * g;
    cell[2] = o.decay * cell[2] + (1 - o.decay) * g * g;
    const float scale = 1 / (sqrt(cell[2] * r.variance_scale) + o.epsilon);
    cell[0] = shrink(w - r.mean_scale * cell[1] * scale, o.rate * o.l1 * scale);
  }
}

}  // namespace samovar::kernels::ops
