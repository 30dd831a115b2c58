// The class behind solve_by_stream: its steps are in stream.cpp, what it does with other workers in
// stream_together.cpp.
//
// Threading: one thread; the reader has its own.
#pragma once
#include <chrono>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "trainer/solvers/cell_merge.hpp"
#include "trainer/solvers/large_pages.hpp"
#include "trainer/solvers/phase_seconds.hpp"
#include "trainer/solvers/stream.hpp"
#include "trainer/solvers/stream_device.hpp"
#include "trainer/solvers/stream_optimizer.hpp"
#include "trainer/sync/strategies.hpp"

namespace samovar::trainer {

class Stream {
 public:
  Stream(RowSource& rows, const Problem& problem, const StreamOptions& options, StepHooks& hooks);

  Result<Fit> run(StateReader* from);

 private:
  Result<Fit> solve(StateReader* from);
  double scaled(double intercept) const;

  Result<void> train(BatchReader& reader);

  // ---- several workers ----

  static double seconds_now() { return std::chrono::duration<double>(real_clock().mono()).count(); }

  // A worker's cells stand for one of `now` parts of what all workers see: sums of gradients are that much
  // smaller than those of one worker alone, and rates and penalties such that the same weights follow.
  void rescale(double before, double now);

  Result<Fit> run_together(const ReadPlan& plan, std::optional<DataCursor> from);

  // The lead's first steps are its own; the others wait, and begin with what it has then.
  bool warms_up() const;
  Result<void> warm_up(const ReadPlan& plan);

  // In step all do a step of the same size together, each of it the share it has of the rows: their passes
  // end together, and a step is as large with any number of workers.
  ReadPlan own_plan(ReadPlan plan, std::uint64_t rows) const;

  // Where blocks go round between passes. A reader is then for one pass, and which blocks it has follows
  // from the number of the pass alone.
  bool rotates() const { return !rows_.council()->membership().turns.empty(); }
  // Until what they lie in is here; or the members are others, or it is over.
  Result<void> await_blocks(const std::vector<std::uint32_t>& blocks);
  // One pass, or what is left of it; the number of the next one.
  Result<std::uint64_t> train_turn(const ReadPlan& plan, std::uint64_t pass, std::optional<DataCursor> from);
  // All that a saved state must have been made with: this worker's blocks, in each turn.
  std::vector<std::uint32_t> blocks_of_turns() const;

  Result<void> nothing_to_read();

  // ---- checkpoints of workers in step: the blocks and the state of each, in their order ----

  Result<void> save_in_step(const DataCursor& cursor);

  // The part of the worker that had this one's place; of the first, when there were fewer.
  Result<std::optional<DataCursor>> load_own_part(StateReader& in);
  bool goes_on_from_own() const;
  // The model is the lead's from now on, and the rows of its passes are others.
  void begin_anew();

  // All rows were seen as often as asked for, by whoever was quick, or this worker has done what the lead
  // dealt to it; nobody sees its own much more often than the others theirs.
  bool over() const;
  std::uint64_t rows_most() const;
  std::uint64_t seen_all() const { return together_ ? together_->rows_done() : seen_; }
  std::uint64_t rows_all() const { return together_ ? options_.all_rows : rows_.rows(); }

  // The mean of the workers' weights, what they learned put together, and the centre; which of them does best
  // on the validation rows. Or the best of the workers'.
  Result<Fit> result_together();
  Result<struct Merged> merge(const Fit& own);
  // What was learned of each weight, and from how much (CellMerge): of the later half of the passes.
  std::vector<float> pairs() const;
  CellMerge cell_merge() const { return {optimizer_, alone_, options_.target_scale}; }
  Fit told(Fit fit, std::uint64_t workers, const char* taken, const std::string& what) const;

  // Of a whole vector, on the validation rows that were kept; not a number when there are none.
  double loss_of(FlatVector x);
  void forget_average();

  // Some validation rows stay in memory: reading all rows again to find them costs as much as a pass.
  void keep(const EncodedBatch& valid);

  // Which rows are met first after a checkpoint, depends on where it was: in step the same are to decide
  // always.
  Result<void> keep_first();

  // Of the slice of the centre that is this worker's.
  std::vector<float> centre_weights() const;

  void scale_target(EncodedBatch& batch) const;

  // What every row begins with: the given intercepts, and the offset of the row. Those of the rows for each
  // output after the other; empty: all 0.
  std::span<const float> offsets(const EncodedBatch& batch);
  static const float* offsets_of(std::size_t output, const float* all, std::size_t rows) {
    return all == nullptr ? nullptr : all + output * rows;
  }

  Result<void> margins(const EncodedBatch& batch, std::vector<float>& out);

  // A device may be at it still when this returns.
  Result<void> step(const EncodedBatch& batch);

  Result<void> step_classes(const EncodedBatch& batch, const StreamDevice::Brought& brought);

  // Waits for the step that a device is at: cells, intercepts and losses are those after it then. Before
  // anybody looks at them.
  Result<void> settle();

  void keep_bounds();

  // The loss of validation rows under the weights of this moment.
  Result<void> judge(EncodedBatch& batch);
  double loss_of_scores(const EncodedBatch& batch);

  Result<void> check() const;

  Result<void> end_pass();

  // The later half of the passes; one pass alone: its later half.
  bool averaging() const;
  void add_average();
  // With FTRL it is the mean of the sums that weights follow from: no worse, and those of several workers can
  // be put together. Else of the weights.
  bool averages_sums() const { return optimizer_.rule == kernels::Rule::ftrl; }

  double bias_weight(std::size_t output) const;

  Result<void> report(const BatchReader& reader);

  void save(const DataCursor& cursor, StateWriter& out) const;
  Result<std::optional<DataCursor>> load(StateReader& in);

  Result<Fit> result();

  float* cells_of(std::size_t output) { return cells_.data() + output * problem_.width * cell_; }
  float* bias_of(std::size_t output) { return bias_.data() + output * cell_; }

  static constexpr std::size_t kChunk = 16'384;
  static constexpr std::size_t kKeptRows = 20'000;

  // Constant after construction.
  RowSource& rows_;
  const Problem& problem_;
  const StreamOptions& options_;
  StepHooks& hooks_;
  const kernels::Table& cpu_;
  kernels::Optimizer optimizer_;
  kernels::Optimizer bias_optimizer_;
  kernels::Optimizer alone_;  // as it is for one worker
  std::size_t cell_ = 2;
  std::vector<double> base_;  // intercepts to begin with: the cells learn what is to be added

  // The state.
  DeviceFloats cells_, bias_;
  StreamDevice device_;                 // ends before the memory that it steps
  std::optional<double> pending_;       // the weight of the rows that the device is at
  std::optional<Error> device_failed_;  // and has nothing more to say
  const char* device_note_ = nullptr;   // why there is none, though one was given
  LargeVector<float> average_;
  std::vector<double> average_bias_;
  double average_rows_ = 0;  // seen by all when each was added: of sums alone
  std::uint64_t averages_ = 0;
  std::uint64_t step_ = 0;
  std::uint64_t seen_ = 0;  // rows read, whatever their roles
  std::uint64_t rows_done_ = 0;
  std::uint64_t next_average_ = 0;
  std::uint32_t pass_ = 0;
  StreamMean train_, valid_, window_;
  double best_ = std::numeric_limits<double>::infinity();
  double last_train_ = std::numeric_limits<double>::quiet_NaN();
  double last_valid_ = std::numeric_limits<double>::quiet_NaN();
  double next_point_ = 0;
  float bias_now_ = 0;  // as it was when the device was last waited for
  bool finished_ = false;
  bool stopped_early_ = false;
  std::unique_ptr<Together> together_;  // null: this worker is alone
  // Of the checkpoint, in step.
  std::size_t saved_workers_ = 0;
  std::vector<std::uint32_t> saved_blocks_;
  std::uint64_t saved_seen_ = 0;
  Bytes saved_together_;
  PhaseSeconds phases_;

  std::vector<EncodedBatch> kept_;  // validation rows, to choose between models
  std::size_t kept_rows_ = 0;

  // Room that is used again.
  std::vector<float> offsets_, scores_, residuals_, weights_;
};

}  // namespace samovar::trainer
