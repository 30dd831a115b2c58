// EASGD, Algorithm 1 (Zhang, Choromanska, LeCun 2015): a worker's parameters move towards the centre.
#pragma once
#include "kernels/ops/hd.hpp"

namespace samovar::kernels::ops {

SAMOVAR_HD float elastic_pull(float x, float center, float alpha) { return x - alpha * (x - center); }

}  // namespace samovar::kernels::ops
