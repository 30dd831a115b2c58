// encode_block of block.hpp without a copy, for those who make block after block.
//
// Threading: any thread; pure.
#pragma once
#include "base/bytes.hpp"
#include "trainer/data/block.hpp"

namespace samovar::trainer {

// Over what `room` holds, which grows to what a block may take and keeps that size, so that nothing is
// cleared first. Returns the part of it that is the block.
ByteView encode_block_over(const BlockColumns& block, Bytes& room);

}  // namespace samovar::trainer
