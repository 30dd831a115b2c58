// Rows in an order that does not depend on who reads them: the blocks of a pass in a seeded order, some of
// them at a time (a wave); a step takes a slice of every block of the wave. Of several workers each reads the
// slices of its own blocks; together they have read the same rows after every step, however the blocks are
// dealt.
//
// Threading: one thread.
// Ownership: borrows the row source.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "trainer/solvers/row_source.hpp"

namespace samovar::trainer {

class WaveReader {
 public:
  struct Place {
    std::uint32_t pass = 0;
    std::uint32_t wave = 0;
    std::uint32_t slice = 0;
  };
  // `rows` of a step of all blocks of a wave together, about.
  WaveReader(RowSource& rows, std::uint64_t seed, bool shuffle_rows, std::uint32_t step_rows);

  std::size_t waves() const noexcept { return (blocks_ + kWaveBlocks - 1) / kWaveBlocks; }
  static constexpr std::size_t kWaveBlocks = 16;

  // From here on, with the blocks that are this worker's now.
  Result<void> go_to(Place place);
  // This worker's slices of the step, one call for each.
  Result<void> step(const std::function<Result<void>(const Batch&)>& take);
  // Whether this worker has rows in a later slice of the wave.
  bool more() const;
  // After a step. `more`: somebody has rows left in the wave. True: a pass has ended.
  Result<bool> advance(bool more);
  Place place() const noexcept { return place_; }

 private:
  struct Lane {
    std::unique_ptr<BatchReader> reader;
    std::uint32_t rows_left = 0;
  };
  Result<void> open();

  // Constant after construction.
  RowSource& rows_;
  const std::uint64_t seed_;
  const bool shuffle_rows_;
  const std::size_t blocks_;
  const std::uint32_t slice_rows_;
  // The caller's thread.
  Place place_;
  std::vector<Lane> lanes_;
};

}  // namespace samovar::trainer
