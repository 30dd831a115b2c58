// A data set of which only a worker's own blocks have rows: all numbers stay those of the whole, so that a
// row has the same role whoever reads it.
//
// Threading: refresh() while nobody reads; else as BlockSource.
#pragma once
#include <vector>

#include "trainer/data/reader.hpp"
#include "trainer/sync/council.hpp"

namespace samovar::trainer {

class OwnBlocks final : public BlockSource {
 public:
  OwnBlocks(BlockSource& source, const Council& council) : source_(source), council_(council) { refresh(); }

  // Takes over the blocks of the present epoch. True when they are others than before.
  bool refresh() {
    if (council_.membership().blocks == blocks_ && !own_.empty()) return false;
    blocks_ = council_.membership().blocks;
    own_.assign(source_.blocks(), false);
    for (const std::uint32_t block : blocks_) {
      if (block < own_.size()) own_[block] = true;
    }
    return true;
  }

  std::size_t blocks() const override { return source_.blocks(); }
  std::uint32_t rows(std::size_t block) const override { return own_[block] ? source_.rows(block) : 0; }
  std::uint32_t rows_of_all(std::size_t block) const override { return source_.rows_of_all(block); }
  Result<void> read(std::size_t block, Bytes& out) override { return source_.read(block, out); }
  bool here(std::size_t block) const override { return source_.here(block); }
  // Of all workers.
  BlockSource& whole() const { return source_; }

 private:
  BlockSource& source_;
  const Council& council_;
  std::vector<std::uint32_t> blocks_;
  std::vector<bool> own_;
};

}  // namespace samovar::trainer
