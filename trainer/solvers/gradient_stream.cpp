#include "trainer/solvers/gradient_stream.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/clock.hpp"
#include "trainer/solvers/exact_sum.hpp"
#include "trainer/solvers/stream_merge.hpp"
#include "trainer/solvers/stream_optimizer.hpp"
#include "trainer/solvers/wave_reader.hpp"
#include "trainer/sync/strategies.hpp"

namespace samovar::trainer {

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr double kWorse = 2e-3;
constexpr double kPointsPerPass = 8;
// Rows of a step of all workers.
constexpr std::uint64_t kStepRowsLeast = 64;
constexpr std::uint64_t kStepRowsMost = 1024;
// What rates are made for; those of larger steps are larger.
constexpr double kUsualRows = 32;
// Rows whose gradients SGD adds up; beyond, they are averaged.
constexpr double kSgdRows = 256;
// By how much a gradient may be larger than the largest of the step before.
constexpr double kGrowth = 4096;
// Behind the gradient, when the codec is exact: what the rows of a step lose, and their weight; of those to
// train on, and of the validation's. Otherwise they would only drown gradients that are rounded with them.
constexpr std::size_t kLosses = 4;
constexpr double kLossMost = 1 << 24;

double seconds_now() { return std::chrono::duration<double>(real_clock().mono()).count(); }

class GradientStream {
 public:
  GradientStream(RowSource& rows, const Problem& problem, const StreamOptions& options, StepHooks& hooks)
      : rows_(rows),
        problem_(problem),
        options_(options),
        hooks_(hooks),
        table_(kernels::cpu()),
        step_rows_(std::clamp(options.all_rows / 64, kStepRowsLeast, kStepRowsMost)),
        optimizer_(optimizer_of(problem, options)),
        inputs_(problem.outputs * problem.width),
        count_(inputs_ + problem.outputs),
        reader_(rows, options.seed, options.shuffle_rows, static_cast<std::uint32_t>(step_rows_)) {
    const double larger = static_cast<double>(step_rows_) / kUsualRows;
    if (optimizer_.rule == kernels::Rule::sgd) {
      scale_ = std::min(1.0, kSgdRows / static_cast<double>(step_rows_));
    } else {
      optimizer_.rate = static_cast<float>(static_cast<double>(optimizer_.rate) * std::sqrt(larger));
    }
    bias_optimizer_ = optimizer_;
    bias_optimizer_.l1 = bias_optimizer_.l2 = 0;
    cell_ = kernels::cell_floats(optimizer_.rule);
    cells_.resize(count_ * cell_);
    weights_.resize(count_);
    gradient_.resize(count_);
    total_.resize(count_);
    for (std::size_t o = 0; o < problem.outputs; ++o)
      base_.push_back(options.intercepts.empty()
                          ? 0
                          : (options.intercepts[o] - options.target_center) / options.target_scale);
    exact_ = make_codec(options.strategy.codec)->exact();
    sums_.resize(count_ + kLosses);
    if (!exact_) floats_.resize(count_);
    if (rows.council() == nullptr) return;
    together_ = make_strategy(*rows.council(), options.strategy, {exact_ ? 2u : 1u, false});
    together_->set_rows_to_do(options.all_rows * options.passes);
    together_->set_rows_of_step(step_rows_);
    if (options.early_stop && !exact_) together_->ask_to_finish_when_worse(kWorse);
    // After the step that is being made.
    if (!exact_) together_->set_save_due([this] { return hooks_.save_due(step_ + 1); });
    together_->set_state(
        [this] {
          StateWriter out;
          save(out);
          return out.take();
        },
        [this](ByteView bytes) -> Result<void> {
          StateReader in(bytes);
          SAMOVAR_CHECK(load(in));
          return in.done();
        });
  }

  Result<Fit> run(StateReader* from) {
    if (from != nullptr) SAMOVAR_CHECK(load(*from));
    if (from != nullptr) SAMOVAR_CHECK(load_parts(*from));
    if (together_) {
      Together::Start start;
      start.rows_before = seen_;
      start.resumed = from != nullptr;
      start.joining = options_.joining;
      start.exact = [this, resumed = from != nullptr] { return resumed && (exact_ || fits_own()); };
      start.state = std::move(saved_together_);
      SAMOVAR_TRY(const bool exact, together_->begin(vector(), std::move(start)));
      if (exact && !exact_) SAMOVAR_CHECK(load_own());
      static_cast<void>(together_->take_changed());
    }
    SAMOVAR_CHECK(reader_.go_to(place_));
    finished_ = place_.pass >= options_.passes || (together_ && together_->training_is_over());
    while (!finished_) SAMOVAR_CHECK(step());
    if (together_) {
      SAMOVAR_CHECK(together_->tell_done());
      together_->end();
    }
    return result();
  }

 private:
  FlatVector vector() {
    if (!exact_) return {floats_, {}};
    return {{reinterpret_cast<float*>(sums_.data()), 2 * sums_.size()}, {}};
  }

  Result<void> step() {
    const double began = seconds_now();
    const double worked = thread_work_seconds();
    const std::uint64_t epoch = together_ ? rows_.council()->membership().epoch : 0;
    SAMOVAR_CHECK(add_up());
    bool more = reader_.more();
    if (together_) {
      for (std::size_t i = 0; i < floats_.size(); ++i) {
        floats_[i] = static_cast<float>(sums_[i]);
        // A codec that rounds would keep it to itself.
        if (!std::isfinite(floats_[i])) return diverged();
      }
      // Who computed this with other members, or for another step, has other rows in it.
      together_->set_word(more, SeededOrder::derive(step_, epoch));
      SAMOVAR_CHECK(together_->stepped(rows_read_, seconds_now() - began, thread_work_seconds() - worked));
      const bool changed = together_->take_changed();
      if (changed || !together_->all_same()) return again();
      for (std::size_t i = 0; i < floats_.size(); ++i) sums_[i] = static_cast<double>(floats_[i]);
      more = together_->more_of_all();
    }
    SAMOVAR_CHECK(apply());
    seen_ = together_ ? together_->rows_done() : seen_ + rows_read_;
    rows_done_ += rows_trained_;
    ++step_;
    // Of all workers; of this one's own with codecs that are not exact.
    const double* const losses = exact_ ? sums_.data() + count_ : losses_.data();
    train_.add(losses[0], losses[1]);
    window_.add(losses[0], losses[1]);
    valid_.add(losses[2], losses[3]);
    SAMOVAR_TRY(const bool over, reader_.advance(more));
    place_ = reader_.place();
    if (over) SAMOVAR_CHECK(end_pass());
    if (place_.pass * std::uint64_t{5} >= options_.passes * std::uint64_t{2}) add_average();
    if (together_ && !exact_ && together_->take_save()) SAMOVAR_CHECK(gather_parts());
    SAMOVAR_CHECK(report());
    parts_.clear();
    finished_ = finished_ || place_.pass >= options_.passes || (together_ && together_->asked_to_finish());
    return {};
  }

  // From what the lead has, with the blocks that are this worker's now.
  Result<void> again() {
    SAMOVAR_CHECK(together_->take_lead_state());
    static_cast<void>(together_->take_changed());
    if (together_->training_is_over()) finished_ = true;
    return reader_.go_to(place_);
  }

  // The gradients of this worker's rows of the step, and their losses.
  Result<void> add_up() {
    std::fill(sums_.begin(), sums_.end(), 0);
    losses_.assign(kLosses, 0);
    rows_read_ = rows_trained_ = 0;
    table_.weights_of_cells(nullptr, optimizer_, cells_.data(), inputs_, weights_.data());
    table_.weights_of_cells(nullptr, bias_optimizer_, cells_.data() + inputs_ * cell_, problem_.outputs,
                            weights_.data() + inputs_);
    const ExactGrid grid(most_, WaveReader::kWaveBlocks);
    const ExactGrid loss_grid(kLossMost, WaveReader::kWaveBlocks);
    SAMOVAR_CHECK(add_slices(grid, loss_grid));
    std::copy(losses_.begin(), losses_.end(), sums_.begin() + static_cast<std::ptrdiff_t>(count_));
    return {};
  }

  Result<void> add_slices(const ExactGrid& grid, const ExactGrid& loss_grid) {
    return reader_.step([&](const Batch& read) -> Result<void> {
      rows_read_ += read.rows();
      rows_.splitter().roles(read, roles_);
      rows_.encode(read, roles_, RowRole::valid, batch_);
      if (batch_.rows != 0) {
        prepare();
        losses_[2] += loss_grid.round(residuals());
        losses_[3] += loss_grid.round(weight_of(batch_));
      }
      rows_.encode(read, roles_, RowRole::train, batch_);
      if (batch_.rows == 0) return {};
      prepare();
      losses_[0] += loss_grid.round(residuals());
      losses_[1] += loss_grid.round(weight_of(batch_));
      rows_trained_ += batch_.rows;
      for (std::size_t o = 0; o < problem_.outputs; ++o)
        table_.gradient(nullptr, kernel_rows(batch_), scores_.data() + o, problem_.outputs,
                        gradient_.data() + o * problem_.width, gradient_.data() + inputs_ + o);
      add_touched(kernel_rows(batch_), grid);
      return {};
    });
  }

  // Only what the rows have met is looked at: of a hashed design that is little. The room is all 0 again
  // then.
  void add_touched(const kernels::Rows& rows, const ExactGrid& grid) {
    const auto add = [&](std::size_t i) {
      if (gradient_[i] == 0) return;
      sums_[i] += grid.round(static_cast<double>(gradient_[i]));
      gradient_[i] = 0;
    };
    const std::size_t slots = std::size_t{rows.rows} * rows.slot_width;
    const std::size_t ragged = rows.ragged_ends == nullptr ? 0 : rows.ragged_ends[rows.rows - 1];
    for (std::size_t o = 0; o < problem_.outputs; ++o) {
      const std::size_t first = o * problem_.width;
      for (std::size_t i = 0; i < rows.dense_width; ++i) add(first + i);
      for (std::size_t i = 0; i < slots; ++i) {
        if (rows.slots[i] != kernels::kNoSlot) add(first + rows.slots[i]);
      }
      for (std::size_t i = rows.ragged_begin; i < ragged; ++i) add(first + rows.ragged_slots[i]);
      add(inputs_ + o);
    }
  }

  void prepare() {
    rows_.weigh_classes(batch_);
    if (options_.target_scale == 1 && options_.target_center == 0) return;
    for (float& target : batch_.target)
      target = static_cast<float>((target - options_.target_center) / options_.target_scale);
    for (float& offset : batch_.offset) offset = static_cast<float>(offset / options_.target_scale);
  }

  // Scores become residuals; the sum of the losses.
  double residuals() {
    const std::size_t outputs = problem_.outputs;
    scores_.resize(batch_.rows * outputs);
    const float* const offset = batch_.offset.empty() || outputs > 1 ? nullptr : batch_.offset.data();
    for (std::size_t o = 0; o < outputs; ++o)
      table_.margins(nullptr, kernel_rows(batch_), weights_.data() + o * problem_.width,
                     weights_[inputs_ + o] + static_cast<float>(base_[o]), offset, scores_.data() + o,
                     outputs);
    double loss = 0;
    const float* const weight = batch_.weight.empty() ? nullptr : batch_.weight.data();
    if (outputs == 1) {
      table_.residuals(nullptr, problem_.glm(), scores_.data(), batch_.target.data(), weight, batch_.rows,
                       scores_.data(), &loss);
    } else {
      table_.softmax_residuals(nullptr, scores_.data(), batch_.target.data(), weight, batch_.rows, outputs,
                               &loss);
    }
    return loss;
  }

  static Error diverged() {
    return {Errc::invalid, "training diverged: the loss has no end. Take a smaller learning_rate"};
  }

  Result<void> apply() {
    double most = 0;
    for (std::size_t i = 0; i < count_; ++i) {
      most = std::max(most, std::abs(sums_[i]));
      total_[i] = static_cast<float>(scale_ * sums_[i]);
      if (!std::isfinite(total_[i])) most = kNone;
    }
    if (!std::isfinite(most)) return diverged();
    most_ = std::max(1.0, kGrowth * most);
    optimizer_.step = bias_optimizer_.step =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(step_ + 1, 1u << 30));
    table_.update_dense(nullptr, optimizer_, total_.data(), inputs_, cells_.data());
    table_.update_dense(nullptr, bias_optimizer_, total_.data() + inputs_, problem_.outputs,
                        cells_.data() + inputs_ * cell_);
    if (!problem_.bounded() || optimizer_.rule == kernels::Rule::ftrl) return {};
    for (std::size_t i = 0; i < inputs_; ++i) {
      const std::size_t place = i % problem_.width;
      float& weight = cells_[i * cell_];
      weight = static_cast<float>(std::clamp(static_cast<double>(weight),
                                             problem_.low[place] / options_.target_scale,
                                             problem_.high[place] / options_.target_scale));
    }
    return {};
  }

  Result<void> end_pass() {
    const double valid = valid_.value();
    // All see the same losses, or they have to agree on what follows.
    const bool agrees = together_ && !exact_;
    if (agrees) SAMOVAR_CHECK(together_->tell_pass(place_.pass, valid_.sum, valid_.weight));
    const bool worse = std::isfinite(valid) && best_ < valid * (1 - kWorse);
    if (std::isfinite(valid)) best_ = std::min(best_, valid);
    if (std::isfinite(valid)) last_valid_ = valid;
    train_ = valid_ = StreamMean{};
    if (!agrees && options_.early_stop && worse && place_.pass >= 2) finished_ = true;
    return {};
  }

  void add_average() {
    table_.weights_of_cells(nullptr, optimizer_, cells_.data(), inputs_, weights_.data());
    table_.weights_of_cells(nullptr, bias_optimizer_, cells_.data() + inputs_ * cell_, problem_.outputs,
                            weights_.data() + inputs_);
    average_.resize(count_);
    for (std::size_t i = 0; i < count_; ++i) average_[i] += static_cast<double>(weights_[i]);
    ++averages_;
  }

  Result<void> report() {
    StepReport report;
    report.step = step_;
    report.rows = rows_done_;
    report.pass = place_.pass;
    const double all = static_cast<double>(options_.all_rows) * options_.passes;
    report.share = static_cast<double>(seen_) / std::max(1.0, all);
    report.curve = static_cast<double>(seen_) >= next_point_;
    report.train_loss = window_.value();
    if (valid_.weight > 0) {
      report.valid_loss = valid_.value();
    } else if (std::isfinite(last_valid_)) {
      report.valid_loss = last_valid_;
    }
    if (report.curve) {
      next_point_ = static_cast<double>(seen_) + static_cast<double>(options_.all_rows) / kPointsPerPass;
      window_ = StreamMean{};
    }
    if (together_) add_together_figures(*together_, *rows_.council(), report);
    return hooks_.stepped(report, [&](StateWriter& out) {
      save(out);
      if (parts_.empty()) return;
      out.put(static_cast<std::uint32_t>(parts_.size()));
      for (const Bytes& part : parts_) out.put(part);
    });
  }

  // ---- with codecs that are not exact: what is each worker's own, in their order, behind the state of all.
  // Only a checkpoint of a step that all know to be saved has it, not one of a job that is stopped. ----

  Result<void> gather_parts() {
    StateWriter own;
    own.put(rows_done_);
    for (const double number : {best_, last_valid_, next_point_}) own.put(number);
    put_means(own);
    StateWriter part;
    part.put(rows_.council()->membership().blocks);
    part.put(own.take());
    part.put(together_->save());
    SAMOVAR_TRY(parts_, together_->gather(part.take()));
    return {};
  }
  // That of the worker that had this one's place.
  Result<void> load_parts(StateReader& in) {
    if (in.left() == 0) return in.done();
    const std::size_t place = together_ ? place_of_self() : 0;
    saved_workers_ = in.get<std::uint32_t>();
    Bytes own;
    for (std::uint32_t i = 0; i < saved_workers_ && !in.failed(); ++i) {
      Bytes one;
      in.get(one);
      if (i == place) own = std::move(one);
    }
    SAMOVAR_CHECK(in.done());
    if (place >= saved_workers_) return {};
    StateReader part(own);
    part.get(saved_blocks_);
    part.get(saved_own_);
    part.get(saved_together_);
    return part.done();
  }
  std::size_t place_of_self() const {
    const Membership& now = rows_.council()->membership();
    return static_cast<std::size_t>(std::lower_bound(now.members.begin(), now.members.end(), now.self) -
                                    now.members.begin());
  }
  bool fits_own() const {
    const Membership& now = rows_.council()->membership();
    return saved_workers_ == now.members.size() && saved_blocks_ == now.blocks;
  }
  Result<void> load_own() {
    StateReader own(saved_own_);
    rows_done_ = own.get<std::uint64_t>();
    for (double* number : {&best_, &last_valid_, &next_point_}) *number = own.get<double>();
    get_means(own);
    return own.done();
  }

  void put_means(StateWriter& out) const {
    for (const StreamMean& mean : {train_, valid_, window_}) {
      out.put(mean.sum);
      out.put(mean.weight);
    }
  }
  void get_means(StateReader& in) {
    for (StreamMean* mean : {&train_, &valid_, &window_}) {
      mean->sum = in.get<double>();
      mean->weight = in.get<double>();
    }
  }

  // The state of all: the same for every worker, but for the rows and losses, which are the lead's.
  void save(StateWriter& out) const {
    out.put(cells_);
    out.put(average_);
    for (const std::uint64_t count : {averages_, step_, seen_, rows_done_}) out.put(count);
    for (const std::uint32_t count : {place_.pass, place_.wave, place_.slice}) out.put(count);
    for (const double number : {most_, best_, last_valid_, next_point_}) out.put(number);
    put_means(out);
  }
  Result<void> load(StateReader& in) {
    std::vector<float> cells;
    in.get(cells);
    in.get(average_);
    std::uint64_t rows = 0;
    for (std::uint64_t* count : {&averages_, &step_, &seen_, &rows}) *count = in.get<std::uint64_t>();
    for (std::uint32_t* count : {&place_.pass, &place_.wave, &place_.slice}) *count = in.get<std::uint32_t>();
    for (double* number : {&most_, &best_, &last_valid_, &next_point_}) *number = in.get<double>();
    get_means(in);
    if (in.failed()) return in.done();
    if (cells.size() != cells_.size() || (!average_.empty() && average_.size() != count_) || !(most_ >= 1) ||
        !std::isfinite(most_))
      return Error{Errc::conflict, "the checkpoint is of another model: start the job anew"};
    cells_ = std::move(cells);
    // The lead's; all keep their own, which are added up at the end.
    if (!together_ || rows_.council()->membership().leads()) rows_done_ = rows;
    return {};
  }

  Result<Fit> result() {
    Fit fit;
    if (averages_ == 0) add_average();
    for (double& weight : average_) weight /= static_cast<double>(averages_);
    fit.weights.resize(inputs_);
    for (std::size_t i = 0; i < inputs_; ++i)
      fit.weights[i] = static_cast<float>(average_[i] * options_.target_scale);
    for (std::size_t o = 0; o < problem_.outputs; ++o)
      fit.intercepts.push_back((base_[o] + average_[inputs_ + o]) * options_.target_scale +
                               options_.target_center);
    fit.steps = step_;
    std::vector<double> rows = {static_cast<double>(rows_done_)};
    SAMOVAR_CHECK(rows_.sum(rows));
    fit.rows = static_cast<std::uint64_t>(rows[0]);
    fit.passes = place_.pass;
    if (together_) {
      fit.workers = rows_.council()->membership().members.size();
      fit.taken = "same";
      if (fit.workers > 1)
        fit.notes.push_back("Trained by " + std::to_string(fit.workers) + " workers (" +
                            options_.strategy.kind + "): all have the same model.");
    }
    return fit;
  }

  // Constant after construction.
  RowSource& rows_;
  const Problem& problem_;
  const StreamOptions& options_;
  StepHooks& hooks_;
  const kernels::Table& table_;
  const std::uint64_t step_rows_;
  kernels::Optimizer optimizer_;
  kernels::Optimizer bias_optimizer_;
  const std::size_t inputs_;
  const std::size_t count_;  // inputs and intercepts
  double scale_ = 1;
  std::size_t cell_ = 2;
  std::vector<double> base_;
  bool exact_ = true;
  std::unique_ptr<Together> together_;  // null: this worker is alone

  // The state.
  std::vector<float> cells_;
  std::vector<double> average_;
  std::uint64_t averages_ = 0;
  std::uint64_t step_ = 0;
  std::uint64_t seen_ = 0;
  std::uint64_t rows_done_ = 0;
  WaveReader::Place place_;
  double most_ = 1e6;  // of a gradient
  double best_ = std::numeric_limits<double>::infinity();
  double last_valid_ = kNone;
  double next_point_ = 0;
  StreamMean train_, valid_, window_;
  bool finished_ = false;
  // Of the checkpoint, with codecs that are not exact: this worker's own part …
  std::size_t saved_workers_ = 0;
  std::vector<std::uint32_t> saved_blocks_;
  Bytes saved_own_, saved_together_;
  // … and the lead's, of all, while it saves.
  std::vector<Bytes> parts_;

  // Of the step.
  WaveReader reader_;
  std::vector<double> sums_;
  std::vector<float> floats_;   // instead, for codecs that are not exact
  std::vector<double> losses_;  // of this worker's rows
  std::uint64_t rows_read_ = 0, rows_trained_ = 0;
  // Room that is used again.
  std::vector<float> weights_, scores_;
  std::vector<float> gradient_;  // of one slice; 0 in between
  std::vector<float> total_;     // of all
  std::vector<RowRole> roles_;
  EncodedBatch batch_;
};

}  // namespace

Result<Fit> solve_by_gradients(RowSource& rows, const Problem& problem, const StreamOptions& options,
                               StepHooks& hooks, StateReader* from) {
  return GradientStream(rows, problem, options, hooks).run(from);
}

}  // namespace samovar::trainer
