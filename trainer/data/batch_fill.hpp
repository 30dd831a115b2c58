// From a block into a batch: each value is copied once, from where it lies packed to where the model wants
// it.
//
// Threading: any thread; pure.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "trainer/data/block.hpp"
#include "trainer/data/reader.hpp"

namespace samovar::trainer {

// Rows of a block: a run of them, or, when `order` is not empty, those it names.
struct RowChoice {
  const BlockView& view;
  std::uint32_t first = 0;
  std::uint32_t rows = 0;
  std::span<const std::uint32_t> order;
};

// `out` holds rows × columns values.
void fill_numbers(const RowChoice& choice, std::span<const std::size_t> columns, ReadPlan::Layout layout,
                  std::span<float> out);
// `levels`, one per column, turns a block's codes into the model's; empty: they stay the block's.
void fill_codes(const RowChoice& choice, std::span<const std::size_t> columns, ReadPlan::Layout layout,
                std::span<const std::vector<std::uint32_t>> levels, std::span<std::uint32_t> out);

}  // namespace samovar::trainer
