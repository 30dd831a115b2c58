// A row's places and values, dealt out to the lanes of a warp.
#pragma once
#include "kernels/cuda/gpu.hpp"

namespace samovar::kernels::gpu {

// f(place, value) for this lane's share of a row. Numbers first, then slots, then pairs.
template <class F>
SAMOVAR_DEVICE void each_of_row(const Rows& x, std::uint32_t row, unsigned lane, unsigned lanes, F f) {
  for (std::uint32_t i = lane; i < x.dense_width; i += lanes)
    f(i, x.dense[std::size_t{row} * x.dense_width + i]);
  for (std::uint32_t i = lane; i < x.slot_width; i += lanes) {
    const std::uint32_t slot = x.slots[std::size_t{row} * x.slot_width + i];
    if (slot != kNoSlot) f(slot, 1.0f);
  }
  if (x.ragged_ends != nullptr) {
    const std::uint32_t begin = row == 0 ? x.ragged_begin : x.ragged_ends[row - 1];
    for (std::uint32_t i = begin + lane; i < x.ragged_ends[row]; i += lanes)
      f(x.ragged_slots[i], x.ragged_values[i]);
  }
}

// Warps of the whole grid, and this thread's among them.
SAMOVAR_DEVICE std::uint32_t first_warp() { return static_cast<std::uint32_t>(first_index() / kWarp); }
SAMOVAR_DEVICE std::uint32_t warp_stride() { return static_cast<std::uint32_t>(index_stride() / kWarp); }

}  // namespace samovar::kernels::gpu
