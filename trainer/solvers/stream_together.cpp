// A streaming solver as one of several workers: how it begins, keeps pace, is saved, and becomes one model
// with the others.
#include <algorithm>
#include <cmath>

#include "trainer/solvers/stream_merge.hpp"
#include "trainer/solvers/stream_solver.hpp"

namespace samovar::trainer {

using Mean = StreamMean;

void Stream::rescale(double before, double now) {
  const auto root = static_cast<float>(std::sqrt(now));
  const auto parts = static_cast<float>(now);
  const bool ftrl = alone_.rule == kernels::Rule::ftrl;
  if (!ftrl && alone_.rule != kernels::Rule::adagrad) return;
  optimizer_.rate = alone_.rate * root;
  optimizer_.epsilon = ftrl ? alone_.epsilon / root : alone_.epsilon / parts;
  if (ftrl) {
    optimizer_.l1 = alone_.l1 / parts;
    optimizer_.l2 = alone_.l2 / parts;
  }
  bias_optimizer_ = optimizer_;
  bias_optimizer_.l1 = bias_optimizer_.l2 = 0;
  const auto ratio = static_cast<float>(before / now);
  if (ratio == 1) return;
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    if (ftrl || i % cell_ == 1) cells_[i] *= ratio;
  }
  for (std::size_t i = 0; i < bias_.size(); ++i) {
    if (ftrl || i % cell_ == 1) bias_[i] *= ratio;
  }
  if (averages_sums()) {
    for (float& sum : average_) sum *= ratio;
  }
}

Result<Fit> Stream::run_together(const ReadPlan& plan, std::optional<DataCursor> from) {
  Together::Start start;
  start.rows_before = seen_;
  start.resumed = from.has_value();
  start.joining = options_.joining;
  if (saved_workers_ != 0) start.exact = [this] { return goes_on_from_own(); };
  start.state = std::move(saved_together_);
  if (!from && warms_up()) {
    SAMOVAR_CHECK(warm_up(plan));
    start.rows_before = seen_;
    start.resumed = true;
  }
  const std::uint64_t next_average = std::exchange(next_average_, 0);
  seen_ = 0;
  SAMOVAR_TRY(const bool exact, together_->begin({cells_, bias_}, std::move(start)));
  if (exact) {
    seen_ = saved_seen_;
    next_average_ = next_average;
  } else if (from) {
    begin_anew();
    from.reset();
  }
  finished_ = over();
  const auto first_pass = [&] { return together_->rows_before() / std::max<std::uint64_t>(1, rows_all()); };
  std::uint64_t pass = from ? from->pass : first_pass();
  bool same = from.has_value();
  while (!finished_) {
    // With every epoch the blocks may be others, and those that go round begin anew: all members know where.
    if (together_->take_changed() && !std::exchange(same, false)) pass = first_pass();
    rows_.refresh();
    together_->set_rows_most(rows_most());
    if (rows_.rows() == 0) {
      SAMOVAR_CHECK(nothing_to_read());
      continue;
    }
    if (rotates()) {
      SAMOVAR_TRY(pass, train_turn(plan, pass, std::exchange(from, std::nullopt)));
      continue;
    }
    SAMOVAR_TRY(const auto reader,
                BatchReader::open(rows_.source(), rows_.schema(), own_plan(plan, rows_.rows()),
                                  std::exchange(from, std::nullopt)));
    SAMOVAR_CHECK(train(*reader));
  }
  SAMOVAR_CHECK(together_->tell_done());
  return result_together();
}

bool Stream::warms_up() const {
  const Membership& now = rows_.council()->membership();
  return options_.strategy.warm_steps != 0 && !options_.joining && now.members.size() > 1 && now.leads();
}

Result<void> Stream::warm_up(const ReadPlan& plan) {
  const double parts = together_->parts();
  rescale(parts, 1);
  rows_.refresh();
  EncodedBatch batch;
  std::vector<RowRole> roles;
  SAMOVAR_TRY(const auto reader, BatchReader::open(rows_.source(), rows_.schema(), plan));
  while (step_ < options_.strategy.warm_steps) {
    SAMOVAR_CHECK(hooks_.waiting());
    SAMOVAR_TRY(const Batch* read, reader->next());
    if (read == nullptr) break;
    rows_.splitter().roles(*read, roles);
    rows_.encode(*read, roles, RowRole::train, batch);
    seen_ += read->rows();
    ++step_;
    if (batch.rows == 0) continue;
    rows_.weigh_classes(batch);
    scale_target(batch);
    SAMOVAR_CHECK(step(batch));
    SAMOVAR_CHECK(settle());
    SAMOVAR_CHECK(check());
  }
  rescale(1, parts);
  return {};
}

Result<std::uint64_t> Stream::train_turn(const ReadPlan& plan, std::uint64_t pass,
                                         std::optional<DataCursor> from) {
  const auto& turns = rows_.council()->membership().turns;
  // A copy: the members may become others meanwhile.
  const std::vector<std::uint32_t> blocks = turns[pass % turns.size()];
  SAMOVAR_CHECK(await_blocks(blocks));
  if (finished_ || together_->changed()) return pass;
  std::uint64_t rows = 0;
  for (const std::uint32_t block : blocks)
    rows += block < rows_.whole().blocks() ? rows_.whole().rows(block) : 0;
  if (rows == 0) {
    SAMOVAR_CHECK(nothing_to_read());
    return pass + 1;
  }
  ReadPlan turn = own_plan(plan, rows);
  turn.blocks = blocks;
  turn.first_pass = pass;
  turn.passes = pass + 1;
  SAMOVAR_TRY(const auto reader, BatchReader::open(rows_.whole(), rows_.schema(), turn, from));
  SAMOVAR_CHECK(train(*reader));
  return reader->pass();
}

Result<void> Stream::await_blocks(const std::vector<std::uint32_t>& blocks) {
  const double began = seconds_now();
  const double waited = together_->seconds_waited();
  const auto here = [&] {
    return std::all_of(blocks.begin(), blocks.end(),
                       [&](std::uint32_t block) { return rows_.whole().here(block); });
  };
  while (!here() && !finished_ && !together_->changed()) {
    SAMOVAR_CHECK(hooks_.waiting());
    SAMOVAR_CHECK(together_->idle());
    finished_ = over();
  }
  phases_.data_wait += seconds_now() - began - (together_->seconds_waited() - waited);
  return {};
}

std::vector<std::uint32_t> Stream::blocks_of_turns() const {
  constexpr std::uint32_t kNext = 0xffff'ffff;
  const Membership& now = rows_.council()->membership();
  std::vector<std::uint32_t> out = now.blocks;
  for (const auto& turn : now.turns) {
    out.push_back(kNext);
    out.insert(out.end(), turn.begin(), turn.end());
  }
  return out;
}

ReadPlan Stream::own_plan(ReadPlan plan, std::uint64_t rows) const {
  if (!together_->in_step() || options_.all_rows == 0) return plan;
  const double share = static_cast<double>(rows) / static_cast<double>(options_.all_rows);
  plan.batch_rows =
      std::max(1u, static_cast<std::uint32_t>(std::lround(share * static_cast<double>(plan.batch_rows))));
  return plan;
}

Result<void> Stream::nothing_to_read() {
  if (!together_->in_step()) {
    SAMOVAR_CHECK(together_->idle());
    finished_ = over() || together_->all_done();
    return {};
  }
  ++step_;
  SAMOVAR_CHECK(together_->stepped(0, 0, 0));
  SAMOVAR_CHECK(save_in_step(DataCursor{}));
  // Alone it has nobody to wait for rows with.
  finished_ = over() || rows_.council()->membership().members.size() < 2;
  return {};
}

Result<void> Stream::save_in_step(const DataCursor& cursor) {
  if (!together_->take_save()) return {};
  StateWriter own;
  own.put(blocks_of_turns());
  save(cursor, own);
  own.put(seen_);
  own.put(together_->save());
  SAMOVAR_TRY(const std::vector<Bytes> all, together_->gather(own.take()));
  if (all.empty()) return {};
  StateWriter out;
  out.put(static_cast<std::uint32_t>(all.size()));
  for (const Bytes& one : all) out.put(one);
  return hooks_.saved(step_, out.take());
}

Result<std::optional<DataCursor>> Stream::load_own_part(StateReader& in) {
  const Membership& now = rows_.council()->membership();
  const auto place = std::lower_bound(now.members.begin(), now.members.end(), now.self) - now.members.begin();
  const auto count = in.get<std::uint32_t>();
  Bytes own;
  for (std::uint32_t i = 0; i < count && !in.failed(); ++i) {
    Bytes one;
    in.get(one);
    if (i == 0 || i == static_cast<std::uint32_t>(place)) own = std::move(one);
  }
  SAMOVAR_CHECK(in.done());
  saved_workers_ = count;
  StateReader part(own);
  part.get(saved_blocks_);
  SAMOVAR_TRY(const auto cursor, load(part));
  return cursor;
}

bool Stream::goes_on_from_own() const {
  const Membership& now = rows_.council()->membership();
  return saved_workers_ == now.members.size() && saved_blocks_ == blocks_of_turns();
}

void Stream::begin_anew() {
  train_ = valid_ = window_ = Mean{};
  next_point_ = 0;
}

bool Stream::over() const {
  if (together_->in_step())
    return seen_all() >= options_.all_rows * options_.passes || together_->asked_to_finish();
  return seen_all() >= options_.all_rows * options_.passes || together_->asked_to_finish() ||
         together_->share_done() || (rows_.rows() > 0 && seen_ >= rows_most());
}

std::uint64_t Stream::rows_most() const {
  constexpr double kOwnMost = 1.25;
  return static_cast<std::uint64_t>(
      std::ceil(kOwnMost * static_cast<double>(rows_.rows()) * options_.passes));
}

Result<Fit> Stream::result_together() {
  SAMOVAR_CHECK(settle());
  // Where there are many workers each has few moments: the last one is among them.
  const bool several = rows_.council()->membership().members.size() > 1;
  if (averages_ > 0 && several && !together_->best_is_taken()) add_average();
  SAMOVAR_TRY(Fit own, result());
  if (together_->best_is_taken()) {
    SAMOVAR_TRY(BestFit best, best_of_workers(rows_, kept_, problem_, own));
    together_->end();
    if (best.workers < 2) return best.fit;
    return told(std::move(best.fit), best.workers, "best",
                "the best of theirs, by their loss on the validation rows.");
  }
  SAMOVAR_TRY(Merged all, merge(own));
  together_->end();
  if (all.workers < 2) return all.fits.front().fit;
  if (all.fits.size() > 1 && together_->in_step()) SAMOVAR_CHECK(keep_first());
  SAMOVAR_TRY(const std::size_t best, best_fit(rows_, kept_, problem_, all.fits));
  const char* const better = all.fits.size() > 1 ? ", which does best on the validation rows." : ".";
  MergedFit& one = all.fits[best];
  return told(std::move(one.fit), all.workers, one.taken, one.what + std::string(better));
}

std::vector<float> Stream::pairs() const {
  if (!CellMerge::knows(optimizer_.rule)) return {};
  const std::size_t count = problem_.outputs * problem_.width;
  const std::size_t squares_at = optimizer_.rule == kernels::Rule::adam ? 2 : 1;
  const auto moments = static_cast<float>(averages_);
  // Sums of squares grow with the rows: at those moments there were so many of today's, on average.
  const double rows = static_cast<double>(seen_all()) * static_cast<double>(averages_);
  const auto then = static_cast<float>(averages_sums() && rows > 0 ? std::min(1.0, average_rows_ / rows) : 1);
  std::vector<float> out(2 * count);
  for (std::size_t i = 0; i < count; ++i) {
    const float* const cell = cells_.data() + i * cell_;
    out[2 * i] = averages_ > 0 ? average_[i] / moments : cell[0];
    out[2 * i + 1] = then * std::max(cell[squares_at], 0.0f);
  }
  return out;
}

Result<Merged> Stream::merge(const Fit& own) {
  std::vector<float> learned;
  std::optional<CellMerge> by;
  // At each attempt anew: with other members the sums have another scale.
  const auto part = [&] {
    learned = pairs();
    by.emplace(cell_merge());
    MeanPart mine;
    mine.weights = own.weights;
    mine.pairs = learned;
    mine.merge = &*by;
    mine.few = own.intercepts;
    mine.rows = own.rows;
    mine.steps = own.steps;
    mine.centre_first = together_->slice_first() / cell_;
    mine.centre = centre_weights();
    return mine;
  };
  SAMOVAR_TRY(auto mean, together_->mean_of_all(part));
  // One that came when it was made has it from the lead.
  constexpr std::string_view kModel = "model";
  if (!mean) {
    const auto nothing = []() -> Result<Bytes> {
      return Error{Errc::unavailable, "the others have the model, and are gone"};
    };
    const auto none = [](const std::vector<Bytes>&) -> Result<Bytes> { return Bytes(); };
    SAMOVAR_TRY(const Bytes merged, rows_.council()->agree(kModel, nothing, none));
    return read_merged(merged, problem_, own);
  }
  learned = std::vector<float>();  // its memory is wanted
  const Bytes merged = write_merged(*std::move(mean), problem_, base_, options_);
  rows_.council()->keep(kModel, merged);
  return read_merged(merged, problem_, own);
}

Fit Stream::told(Fit fit, std::uint64_t workers, const char* taken, const std::string& what) const {
  fit.workers = workers;
  fit.taken = taken;
  fit.notes.push_back("Trained by " + std::to_string(workers) + " workers (" + options_.strategy.kind +
                      "): the model is " + what);
  return fit;
}

double Stream::loss_of(FlatVector x) {
  Mean mean;
  EncodedBatch batch;
  for (const EncodedBatch& kept : kept_) {
    batch = kept;
    scale_target(batch);
    const std::size_t outputs = problem_.outputs;
    scores_.resize(batch.rows * outputs);
    const std::span<const float> offset = offsets(batch);
    for (std::size_t o = 0; o < outputs; ++o)
      cpu_.margins_cells(nullptr, optimizer_, kernel_rows(batch), x.head.data() + o * problem_.width * cell_,
                         x.tail.data() + o * cell_, offsets_of(o, offset.data(), batch.rows),
                         scores_.data() + o, outputs);
    mean.add(loss_of_scores(batch), weight_of(batch));
  }
  return mean.value();
}

void Stream::forget_average() {
  average_.clear();
  average_bias_.clear();
  average_rows_ = 0;
  averages_ = 0;
  next_average_ = seen_;
}

void Stream::keep(const EncodedBatch& valid) {
  kept_rows_ += valid.rows;
  kept_.push_back(valid);
  rows_.weigh_classes(kept_.back());
}

Result<void> Stream::keep_first() {
  kept_.clear();
  kept_rows_ = 0;
  return rows_.each(RowRole::valid, [&](const EncodedBatch& valid) -> Result<bool> {
    kept_rows_ += valid.rows;
    kept_.push_back(valid);
    return kept_rows_ < kKeptRows;
  });
}

std::vector<float> Stream::centre_weights() const {
  const std::span<const float> slice = together_->slice();
  const std::size_t first = together_->slice_first() / cell_;
  const std::size_t count = slice.size() / cell_;
  const std::size_t inputs = problem_.outputs * problem_.width;
  std::vector<float> out(count);
  const std::size_t of_inputs = first < inputs ? std::min(count, inputs - first) : 0;
  cpu_.weights_of_cells(nullptr, optimizer_, slice.data(), of_inputs, out.data());
  cpu_.weights_of_cells(nullptr, bias_optimizer_, slice.data() + of_inputs * cell_, count - of_inputs,
                        out.data() + of_inputs);
  return out;
}

}  // namespace samovar::trainer
