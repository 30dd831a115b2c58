// What a step does to one cell. AdaGrad: Duchi et al. 2011, with a proximal L1; FTRL-proximal: McMahan et al.
// 2013, Algorithm 1; Adam: Kingma and Ba 2015, on the coordinates that are touched.
#pragma once
#include "kernels/kernels.hpp"
#include "kernels/ops/math.hpp"

namespace samovar::kernels::ops {

// Towards 0 by `by`, and not across it.
SAMOVAR_HD float shrink(float x, float by) { return max(x - by, 0.0f) + min(x + by, 0.0f); }

SAMOVAR_HD float ftrl_weight(float z, float n, const Optimizer& o) {
  return -shrink(z, o.l1) / ((o.epsilon + sqrt(n)) / o.rate + o.l2);
}

// What an optimiser's steps have in common, worked out once for a call.
struct Rates {
  float mean_scale = 1;      // adam: rate / (1 - momentum^t)
  float variance_scale = 1;  // adam: 1 / (1 - decay^t)
};
SAMOVAR_HD Rates rates_of(const Optimizer& o) {
  Rates r;
  if (o.rule == Rule::adam) {
    const auto t = static_cast<double>(o.step);
    r.mean_scale = static_cast<float>(o.rate / (1 - pow(static_cast<double>(o.momentum), t)));
    r.variance_scale = static_cast<float>(1 / (1 - pow(static_cast<double>(o.decay), t)));
  }
  return r;
}

template <Rule rule>
SAMOVAR_HD float weight_of(const float* cell, const Optimizer& o) {
  if constexpr (rule == Rule::ftrl) return ftrl_weight(cell[0], cell[1], o);
  return cell[0];
}

template <Rule rule>
SAMOVAR_HD void step_cell(float* cell, float g, const Optimizer& o, const Rates& r) {
  if constexpr (rule == Rule::adagrad) {
    const float w = cell[0];
    g = g + o.l2 * w;
    const float sum = cell[1] + g * g;
    const float rate = o.rate / sqrt(sum + o.epsilon);
    cell[0] = shrink(w - rate * g, rate * o.l1);
    cell[1] = sum;
  } else if constexpr (rule == Rule::ftrl) {
    const float w = ftrl_weight(cell[0], cell[1], o);
    const float sum = cell[1] + g * g;
    const float sigma = (sqrt(sum) - sqrt(cell[1])) / o.rate;
    cell[0] = cell[0] + g - sigma * w;
    cell[1] = sum;
  } else if constexpr (rule == Rule::sgd) {
    const float w = cell[0];
    const float velocity = o.momentum * cell[1] + g + o.l2 * w;
    cell[0] = shrink(w - o.rate * velocity, o.rate * o.l1);
    cell[1] = velocity;
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
