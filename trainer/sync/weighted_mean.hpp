// The mean of the members' pieces, each weighed by its rows, in the order of the members: the same bits
// always.
#pragma once
#include <algorithm>
#include <span>
#include <vector>

#include "trainer/sync/slice_rule.hpp"

namespace samovar::trainer {

inline void weighted_mean(std::span<const SliceRule::Given> all, std::vector<double>& out) {
  double rows = 0;
  for (const SliceRule::Given& one : all) rows += one.rows;
  out.assign(all.front().x.size(), 0);
  for (const SliceRule::Given& one : all) {
    const double weight = rows > 0 ? one.rows / rows : 1 / static_cast<double>(all.size());
    for (std::size_t i = 0; i < out.size(); ++i) out[i] += weight * static_cast<double>(one.x[i]);
  }
}

}  // namespace samovar::trainer
