// encode_block of block.hpp column by column and without a copy, for those who make block after block: a
// column is packed while the cache still has it, and its memory serves for the next one.
//
// Threading: one thread.
#pragma once
#include <memory>

#include "base/bytes.hpp"
#include "trainer/data/block.hpp"

namespace samovar::trainer {

class BlockEncoder {
 public:
  BlockEncoder();
  ~BlockEncoder();
  BlockEncoder(const BlockEncoder&) = delete;
  BlockEncoder& operator=(const BlockEncoder&) = delete;

  // Over what `room` holds, which grows to what a block may take and keeps that size, so that nothing is
  // cleared first. It is borrowed until finish().
  void begin(std::uint32_t rows, std::size_t columns, Bytes& room);
  // As many as were announced, in the order of the schema. Vectors not named for a column's type are not
  // looked at.
  void add(const BlockColumn& column);
  // The part of the room that is the block.
  ByteView finish();

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace samovar::trainer
