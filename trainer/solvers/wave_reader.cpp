#include "trainer/solvers/wave_reader.hpp"

#include <algorithm>
#include <numeric>

#include "trainer/data/order.hpp"

namespace samovar::trainer {

WaveReader::WaveReader(RowSource& rows, std::uint64_t seed, bool shuffle_rows, std::uint32_t step_rows)
    : rows_(rows),
      seed_(seed),
      shuffle_rows_(shuffle_rows),
      blocks_(rows.source().blocks()),
      slice_rows_(std::max<std::uint32_t>(
          1, step_rows / static_cast<std::uint32_t>(std::clamp<std::size_t>(blocks_, 1, kWaveBlocks)))) {}

Result<void> WaveReader::go_to(Place place) {
  place_ = place;
  rows_.refresh();
  return open();
}

Result<void> WaveReader::open() {
  lanes_.clear();
  const std::uint64_t seed = SeededOrder::derive(seed_, place_.pass);
  std::vector<std::uint32_t> order(blocks_);
  std::iota(order.begin(), order.end(), 0u);
  SeededOrder(seed).shuffle(order);
  const std::size_t first = place_.wave * kWaveBlocks;
  for (std::size_t i = first; i < std::min(first + kWaveBlocks, order.size()); ++i) {
    const std::uint32_t rows = rows_.source().rows(order[i]);
    const std::uint64_t done = std::uint64_t{place_.slice} * slice_rows_;
    if (done >= rows) continue;
    ReadPlan plan = rows_.plan();
    plan.seed = seed;
    plan.shuffle_blocks = false;
    plan.shuffle_rows = shuffle_rows_;
    plan.passes = 1;
    plan.blocks = {order[i]};
    plan.batch_rows = slice_rows_;
    plan.blocks_ahead = 0;
    SAMOVAR_TRY(auto reader, BatchReader::open(rows_.source(), rows_.schema(), plan));
    if (done != 0) {
      DataCursor cursor = reader->cursor();
      cursor.row = static_cast<std::uint32_t>(done);
      SAMOVAR_TRY(reader, BatchReader::open(rows_.source(), rows_.schema(), plan, cursor));
    }
    lanes_.push_back({std::move(reader), rows - static_cast<std::uint32_t>(done)});
  }
  return {};
}

Result<void> WaveReader::step(const std::function<Result<void>(const Batch&)>& take) {
  for (Lane& lane : lanes_) {
    if (lane.rows_left == 0) continue;
    SAMOVAR_TRY(const Batch* batch, lane.reader->next());
    if (batch == nullptr) return Error{Errc::corrupt, "a block has fewer rows than its index says"};
    lane.rows_left -= std::min(lane.rows_left, batch->rows());
    SAMOVAR_CHECK(take(*batch));
  }
  return {};
}

bool WaveReader::more() const {
  return std::any_of(lanes_.begin(), lanes_.end(), [](const Lane& lane) { return lane.rows_left != 0; });
}

Result<bool> WaveReader::advance(bool more) {
  ++place_.slice;
  if (more) return false;
  place_.slice = 0;
  ++place_.wave;
  const bool over = place_.wave >= waves();
  if (over) {
    place_.wave = 0;
    ++place_.pass;
  }
  SAMOVAR_CHECK(open());
  return over;
}

}  // namespace samovar::trainer
