// Rows cut up: where a row's pairs begin, and a stretch of rows as rows of their own.
#pragma once
#include "kernels/kernels.hpp"
#include "kernels/ops/hd.hpp"

namespace samovar::kernels {

SAMOVAR_HD std::uint32_t ragged_begin(const Rows& x, std::uint32_t row) {
  return row == 0 ? x.ragged_begin : x.ragged_ends[row - 1];
}

// `count` rows from `first` on.
SAMOVAR_HD Rows part(const Rows& x, std::uint32_t first, std::uint32_t count) {
  Rows out = x;
  out.rows = count;
  if (x.dense != nullptr) out.dense = x.dense + std::size_t{first} * x.dense_width;
  if (x.slots != nullptr) out.slots = x.slots + std::size_t{first} * x.slot_width;
  if (x.ragged_ends != nullptr) {
    out.ragged_ends = x.ragged_ends + first;
    out.ragged_begin = ragged_begin(x, first);
  }
  return out;
}

}  // namespace samovar::kernels
