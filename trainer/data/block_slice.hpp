// A part of a block's rows as a block of its own: how few large blocks become work for many.
//
// Threading: a pure function.
#pragma once
#include "trainer/data/block.hpp"

namespace samovar::trainer {

// Rows [first, first + rows) of the block, appended to `out`.
void slice_block(const BlockView& block, const Schema& schema, std::uint32_t first, std::uint32_t rows,
                 Bytes& out);

}  // namespace samovar::trainer
