#include "trainer/solvers/stream.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "base/assert.hpp"
#include "base/clock.hpp"
#include "trainer/solvers/large_pages.hpp"
#include "trainer/solvers/stream_merge.hpp"
#include "trainer/sync/strategies.hpp"

namespace samovar::trainer {

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
// A pass that does worse than the best one by this share is the last.
constexpr double kWorse = 2e-3;
// Points of the curve in one pass.
constexpr double kPointsPerPass = 8;

kernels::Rule rule_of(SolverKind solver) {
  switch (solver) {
    case SolverKind::ftrl:
      return kernels::Rule::ftrl;
    case SolverKind::sgd:
      return kernels::Rule::sgd;
    case SolverKind::adam:
      return kernels::Rule::adam;
    default:
      return kernels::Rule::adagrad;
  }
}

kernels::Optimizer optimizer_of(const Problem& problem, const StreamOptions& options) {
  kernels::Optimizer o;
  o.rule = rule_of(options.solver);
  o.rate = static_cast<float>(options.rate);
  // A penalty on the sum over all rows is met a little at each touch; FTRL keeps it whole.
  const double part = o.rule == kernels::Rule::ftrl ? 1 : 1 / std::max(options.train_rows, 1.0);
  o.l1 = static_cast<float>(problem.l1 * part);
  o.l2 = static_cast<float>(problem.l2 * part);
  if (o.rule == kernels::Rule::adagrad || o.rule == kernels::Rule::ftrl) o.epsilon = 1.0f;
  return o;
}

struct Mean {
  double sum = 0;
  double weight = 0;
  double value() const { return weight > 0 ? sum / weight : kNone; }
  void add(double loss, double by) {
    sum += loss;
    weight += by;
  }
};

class Stream {
 public:
  Stream(RowSource& rows, const Problem& problem, const StreamOptions& options, StepHooks& hooks)
      : rows_(rows),
        problem_(problem),
        options_(options),
        hooks_(hooks),
        table_(kernels::cpu()),
        optimizer_(optimizer_of(problem, options)),
        // The intercept is not to be pulled towards 0.
        bias_optimizer_(optimizer_) {
    bias_optimizer_.l1 = bias_optimizer_.l2 = 0;
    cell_ = kernels::cell_floats(optimizer_.rule);
    cells_.resize(problem.outputs * problem.width * cell_);
    bias_.resize(problem.outputs * cell_);
    for (std::size_t o = 0; o < problem.outputs; ++o)
      base_.push_back(options.intercepts.empty() ? 0 : scaled(options.intercepts[o]));
    if (rows.council() == nullptr) return;
    alone_ = optimizer_;
    const bool squares = optimizer_.rule == kernels::Rule::ftrl || optimizer_.rule == kernels::Rule::adagrad;
    together_ = make_strategy(*rows.council(), options.strategy, {cell_, squares});
    together_->set_rows_to_do(options.all_rows * options.passes);
    together_->set_rescale([this](double before, double now) { rescale(before, now); });
    if (options.early_stop) together_->ask_to_finish_when_worse(kWorse);
    rescale(1, together_->parts());
  }

  Result<Fit> run(StateReader* from) {
    ReadPlan plan = rows_.plan();
    plan.seed = options_.seed;
    plan.shuffle_blocks = true;
    plan.shuffle_rows = options_.shuffle_rows;
    plan.passes = 0;
    std::optional<DataCursor> cursor;
    if (from != nullptr) {
      SAMOVAR_TRY(cursor, load(*from));
    }
    if (together_) return run_together(plan, from != nullptr);
    if (!finished_) {
      SAMOVAR_TRY(const auto reader, BatchReader::open(rows_.source(), rows_.schema(), plan, cursor));
      SAMOVAR_CHECK(train(*reader));
    }
    return result();
  }

 private:
  double scaled(double intercept) const {
    return (intercept - options_.target_center) / options_.target_scale;
  }

  Result<void> train(BatchReader& reader) {
    EncodedBatch batch;
    EncodedBatch valid;
    std::vector<RowRole> roles;
    while (!finished_) {
      const double began = together_ ? seconds_now() : 0;
      const double worked = together_ ? thread_work_seconds() : 0;
      SAMOVAR_TRY(const Batch* read, reader.next());
      if (read == nullptr) {
        SAMOVAR_CHECK(end_pass());
        continue;
      }
      rows_.splitter().roles(*read, roles);
      rows_.encode(*read, roles, RowRole::valid, valid);
      rows_.encode(*read, roles, RowRole::train, batch);
      if (valid.rows != 0) {
        if (together_ && kept_rows_ < kKeptRows) keep(valid);
        judge(valid);
      }
      if (batch.rows != 0) {
        rows_.weigh_classes(batch);
        scale_target(batch);
        step(batch);
      }
      SAMOVAR_CHECK(check());
      seen_ += read->rows();
      ++step_;
      if (together_) {
        SAMOVAR_CHECK(
            together_->stepped(read->rows(), seconds_now() - began, thread_work_seconds() - worked));
        SAMOVAR_CHECK(check());
      }
      if (averaging() && seen_ >= next_average_) add_average();
      SAMOVAR_CHECK(report(reader));
      if (!together_) continue;
      finished_ = over();
      if (together_->take_changed()) return {};
    }
    return {};
  }

  // ---- several workers ----

  static double seconds_now() { return std::chrono::duration<double>(real_clock().mono()).count(); }

  // A worker's cells stand for one of `now` parts of what all workers see: sums of gradients are that much
  // smaller than those of one worker alone, and rates and penalties such that the same weights follow.
  void rescale(double before, double now) {
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
  }

  Result<Fit> run_together(const ReadPlan& plan, bool resumed) {
    const std::uint64_t before = seen_;
    seen_ = next_average_ = 0;
    SAMOVAR_CHECK(together_->begin({cells_, bias_}, before, resumed, options_.joining));
    finished_ = over();
    while (!finished_) {
      // With every epoch the blocks may be others.
      static_cast<void>(together_->take_changed());
      rows_.refresh();
      if (rows_.rows() == 0) {
        SAMOVAR_CHECK(together_->idle());
        finished_ = over() || together_->all_done();
        continue;
      }
      SAMOVAR_TRY(const auto reader, BatchReader::open(rows_.source(), rows_.schema(), plan));
      SAMOVAR_CHECK(train(*reader));
    }
    SAMOVAR_CHECK(together_->tell_done());
    return result_together();
  }

  // All rows were seen as often as asked for, by whoever was quick; nobody sees its own much more often than
  // the others theirs.
  bool over() const {
    constexpr double kOwnMost = 1.25;
    const double own = static_cast<double>(rows_.rows()) * options_.passes;
    return seen_all() >= options_.all_rows * options_.passes || together_->asked_to_finish() ||
           (own > 0 && static_cast<double>(seen_) >= kOwnMost * own);
  }
  std::uint64_t seen_all() const { return together_ ? together_->rows_done() : seen_; }
  std::uint64_t rows_all() const { return together_ ? options_.all_rows : rows_.rows(); }

  // The mean of the workers' weights and the centre's; which of them does better on the validation rows.
  Result<Fit> result_together() {
    SAMOVAR_TRY(Fit own, result());
    const auto part = [&]() -> Result<Bytes> {
      StateWriter out(own.weights.size() * 2 * sizeof(float));
      out.put(own.weights);
      out.put(own.intercepts);
      out.put(own.rows);
      out.put(own.steps);
      out.put(std::uint64_t{together_->slice_first() / cell_});
      out.put(centre_weights());
      return out.take();
    };
    const auto merge = [&](const std::vector<Bytes>& parts) {
      return merge_fits(parts, problem_, base_, options_);
    };
    SAMOVAR_TRY(const Bytes merged, rows_.council()->agree("finish", part, merge));
    together_->end();
    SAMOVAR_TRY(Merged both, read_merged(merged, problem_, own));
    if (both.workers < 2) return both.mean;
    if (!both.has_centre) return told(std::move(both.mean), both.workers, "the mean of theirs.");
    SAMOVAR_TRY(const bool take_centre, centre_is_better(rows_, kept_, problem_, both.mean, both.centre));
    const std::string better = ", which does better on the validation rows.";
    if (take_centre) return told(std::move(both.centre), both.workers, "their centre" + better);
    return told(std::move(both.mean), both.workers, "the mean of theirs" + better);
  }
  Fit told(Fit fit, std::uint64_t workers, const std::string& what) const {
    fit.notes.push_back("Trained by " + std::to_string(workers) + " workers (" + options_.strategy.kind +
                        "): the model is " + what);
    return fit;
  }

  // Some validation rows stay in memory: reading all rows again to find them costs as much as a pass.
  void keep(const EncodedBatch& valid) {
    kept_rows_ += valid.rows;
    kept_.push_back(valid);
    rows_.weigh_classes(kept_.back());
  }

  // Of the slice of the centre that is this worker's.
  std::vector<float> centre_weights() const {
    const std::span<const float> slice = together_->slice();
    const std::size_t first = together_->slice_first() / cell_;
    const std::size_t count = slice.size() / cell_;
    const std::size_t inputs = problem_.outputs * problem_.width;
    std::vector<float> out(count);
    const std::size_t of_inputs = first < inputs ? std::min(count, inputs - first) : 0;
    table_.weights_of_cells(nullptr, optimizer_, slice.data(), of_inputs, out.data());
    table_.weights_of_cells(nullptr, bias_optimizer_, slice.data() + of_inputs * cell_, count - of_inputs,
                            out.data() + of_inputs);
    return out;
  }

  void scale_target(EncodedBatch& batch) const {
    if (options_.target_scale == 1 && options_.target_center == 0) return;
    for (float& target : batch.target)
      target = static_cast<float>((target - options_.target_center) / options_.target_scale);
    for (float& offset : batch.offset) offset = static_cast<float>(offset / options_.target_scale);
  }

  // What every row begins with: the given intercepts, and the offset of the row.
  const float* offsets(const EncodedBatch& batch, std::size_t output) {
    if (base_[output] == 0 && (batch.offset.empty() || problem_.outputs > 1)) return nullptr;
    offsets_.assign(batch.rows, static_cast<float>(base_[output]));
    if (!batch.offset.empty() && problem_.outputs == 1) {
      for (std::uint32_t row = 0; row < batch.rows; ++row) offsets_[row] += batch.offset[row];
    }
    return offsets_.data();
  }

  void margins(const EncodedBatch& batch, std::vector<float>& out) {
    const std::size_t outputs = problem_.outputs;
    out.resize(batch.rows * outputs);
    for (std::size_t o = 0; o < outputs; ++o)
      table_.margins_cells(nullptr, optimizer_, kernel_rows(batch), cells_of(o), bias_of(o),
                           offsets(batch, o), out.data() + o, outputs);
  }

  void step(const EncodedBatch& batch) {
    double loss = 0;
    optimizer_.step = static_cast<std::uint32_t>(std::min<std::uint64_t>(step_ + 1, 1u << 30));
    if (problem_.outputs == 1) {
      kernels::Step step;
      step.glm = problem_.glm();
      step.optimizer = optimizer_;
      step.batch_rows = options_.batch_rows;
      kernels::Labels labels = kernel_labels(batch);
      labels.offset = offsets(batch, 0);
      table_.step_rows(nullptr, step, kernel_rows(batch), labels, cells_of(0), bias_of(0), &loss);
    } else {
      step_classes(batch, loss);
    }
    keep_bounds();
    rows_done_ += batch.rows;
    const double weight = weight_of(batch);
    train_.add(loss, weight);
    window_.add(loss, weight);
  }

  void step_classes(const EncodedBatch& batch, double& loss) {
    const std::size_t outputs = problem_.outputs;
    const kernels::Rows all = kernel_rows(batch);
    for (std::uint32_t first = 0; first < batch.rows; first += options_.batch_rows) {
      kernels::Rows part = all;
      part.rows = std::min(options_.batch_rows, batch.rows - first);
      part.dense += std::size_t{first} * part.dense_width;
      part.slots += std::size_t{first} * part.slot_width;
      if (part.ragged_ends != nullptr) {
        part.ragged_begin = first == 0 ? 0 : all.ragged_ends[first - 1];
        part.ragged_ends += first;
      }
      scores_.resize(part.rows * outputs);
      offsets_.resize(part.rows);
      for (std::size_t o = 0; o < outputs; ++o) {
        std::fill(offsets_.begin(), offsets_.end(), static_cast<float>(base_[o]));
        table_.margins_cells(nullptr, optimizer_, part, cells_of(o), bias_of(o), offsets_.data(),
                             scores_.data() + o, outputs);
      }
      table_.softmax_residuals(nullptr, scores_.data(), batch.target.data() + first,
                               batch.weight.empty() ? nullptr : batch.weight.data() + first, part.rows,
                               outputs, &loss);
      for (std::size_t o = 0; o < outputs; ++o)
        table_.update_rows(nullptr, optimizer_, part, scores_.data() + o, outputs, cells_of(o), bias_of(o));
    }
  }

  void keep_bounds() {
    if (!problem_.bounded() || optimizer_.rule == kernels::Rule::ftrl) return;
    for (std::size_t o = 0; o < problem_.outputs; ++o) {
      for (std::size_t i = 0; i < problem_.width; ++i) {
        float& weight = cells_of(o)[i * cell_];
        weight = static_cast<float>(std::clamp(static_cast<double>(weight),
                                               problem_.low[i] / options_.target_scale,
                                               problem_.high[i] / options_.target_scale));
      }
    }
  }

  // The loss of validation rows under the weights of this moment.
  void judge(EncodedBatch& batch) {
    rows_.weigh_classes(batch);
    scale_target(batch);
    margins(batch, scores_);
    double loss = 0;
    const float* weight = batch.weight.empty() ? nullptr : batch.weight.data();
    if (problem_.outputs == 1) {
      residuals_.resize(batch.rows);
      table_.residuals(nullptr, problem_.glm(), scores_.data(), batch.target.data(), weight, batch.rows,
                       residuals_.data(), &loss);
    } else {
      table_.softmax_residuals(nullptr, scores_.data(), batch.target.data(), weight, batch.rows,
                               problem_.outputs, &loss);
    }
    valid_.add(loss, weight_of(batch));
  }

  Result<void> check() const {
    if (std::isfinite(train_.sum) && std::isfinite(bias_[0])) return {};
    return Error{Errc::invalid,
                 "training diverged: the loss has no end. Take a smaller learning_rate, or lbfgs as solver"};
  }

  Result<void> end_pass() {
    ++pass_;
    if (together_) SAMOVAR_CHECK(together_->tell_pass(pass_, valid_.sum, valid_.weight));
    const double valid = valid_.value();
    const bool worse = std::isfinite(valid) && best_ < valid * (1 - kWorse);
    if (std::isfinite(valid)) best_ = std::min(best_, valid);
    last_train_ = train_.value();
    last_valid_ = valid;
    train_ = valid_ = Mean{};
    if (together_) return {};
    finished_ = pass_ >= options_.passes || (options_.early_stop && worse && pass_ >= 2);
    if (finished_ && worse && pass_ < options_.passes) stopped_early_ = true;
    return {};
  }

  // The later half of the passes; one pass alone: its later half.
  bool averaging() const {
    const std::uint64_t all = rows_all() * options_.passes;
    return seen_all() * 5 >= all * 2;
  }
  void add_average() {
    // So rarely that it costs little beside the rows in between.
    next_average_ = seen_ + std::max<std::uint64_t>(65'536, problem_.outputs * problem_.width / 8);
    if (average_.empty()) average_.resize(problem_.outputs * problem_.width);
    weights_.resize(std::min<std::size_t>(kChunk, average_.size()));
    for (std::size_t at = 0; at < average_.size(); at += kChunk) {
      const std::size_t count = std::min(kChunk, average_.size() - at);
      table_.weights_of_cells(nullptr, optimizer_, cells_.data() + at * cell_, count, weights_.data());
      table_.axpy(nullptr, 1, weights_.data(), count, average_.data() + at);
    }
    average_bias_.resize(problem_.outputs);
    for (std::size_t o = 0; o < problem_.outputs; ++o) average_bias_[o] += bias_weight(o);
    ++averages_;
  }

  double bias_weight(std::size_t output) const {
    float weight = 0;
    table_.weights_of_cells(nullptr, bias_optimizer_, bias_.data() + output * cell_, 1, &weight);
    return weight;
  }

  Result<void> report(const BatchReader& reader) {
    StepReport report;
    report.step = step_;
    report.rows = rows_done_;
    report.pass = pass_;
    report.share =
        static_cast<double>(seen_all()) / std::max(1.0, static_cast<double>(rows_all()) * options_.passes);
    if (together_) add_figures(report);
    report.curve = static_cast<double>(seen_) >= next_point_;
    report.train_loss = window_.value();
    if (valid_.weight > 0) {
      report.valid_loss = valid_.value();
    } else if (std::isfinite(last_valid_)) {
      report.valid_loss = last_valid_;
    }
    if (report.curve) {
      next_point_ = static_cast<double>(seen_) + static_cast<double>(rows_.rows()) / kPointsPerPass;
      window_ = Mean{};
    }
    return hooks_.stepped(report, [&](StateWriter& out) { save(reader.cursor(), out); });
  }

  void add_figures(StepReport& report) {
    const Together::Figures& figures = together_->figures();
    const Council& council = *rows_.council();
    const double now = seconds_now();
    if (began_ == 0) began_ = now;
    const double rate = now > began_ ? static_cast<double>(seen_) / (now - began_) : 0;
    const std::pair<const char*, double> all[] = {
        {"samples_per_second", rate},
        {"bytes_sent", static_cast<double>(council.bytes_sent())},
        {"bytes_received", static_cast<double>(council.bytes_received())},
        {"wait_seconds", council.seconds_waited()},
        {"exchange_seconds", figures.exchange_seconds},
        {"staleness", static_cast<double>(figures.behind)},
        {"round", static_cast<double>(figures.rounds)},
        {"tau", static_cast<double>(figures.tau)},
        {"workers", static_cast<double>(council.membership().members.size())},
    };
    for (const auto& [name, value] : all) report.figures.emplace_back(name, value);
  }

  void save(const DataCursor& cursor, StateWriter& out) const {
    out.put(encode_cursor(cursor));
    out.put(cells_);
    out.put(bias_);
    out.put(average_);
    out.put(average_bias_);
    for (const std::uint64_t count : {averages_, step_, seen_all(), rows_done_, next_average_})
      out.put(count);
    out.put(pass_);
    for (const Mean& mean : {train_, valid_, window_}) {
      out.put(mean.sum);
      out.put(mean.weight);
    }
    for (const double number : {best_, last_train_, last_valid_, next_point_}) out.put(number);
    if (together_) out.put(together_->parts());
  }
  Result<std::optional<DataCursor>> load(StateReader& in) {
    Bytes cursor;
    in.get(cursor);
    LargeVector<float> cells;
    std::vector<float> bias;
    in.get(cells);
    in.get(bias);
    in.get(average_);
    in.get(average_bias_);
    for (std::uint64_t* count : {&averages_, &step_, &seen_, &rows_done_, &next_average_})
      *count = in.get<std::uint64_t>();
    pass_ = in.get<std::uint32_t>();
    for (Mean* mean : {&train_, &valid_, &window_}) {
      mean->sum = in.get<double>();
      mean->weight = in.get<double>();
    }
    for (double* number : {&best_, &last_train_, &last_valid_, &next_point_}) *number = in.get<double>();
    const double parts = together_ && in.left() != 0 ? in.get<double>() : 1;
    SAMOVAR_CHECK(in.done());
    const bool average_fits = average_.empty() || average_.size() == problem_.outputs * problem_.width;
    if (cells.size() != cells_.size() || bias.size() != bias_.size() || !average_fits ||
        average_bias_.size() != (average_.empty() ? 0 : problem_.outputs))
      return Error{Errc::conflict, "the checkpoint is of another model: start the job anew"};
    cells_ = std::move(cells);
    bias_ = std::move(bias);
    if (together_) rescale(parts, together_->parts());
    SAMOVAR_TRY(const DataCursor at, decode_cursor(cursor));
    return std::optional<DataCursor>(at);
  }

  Result<Fit> result() {
    Fit fit;
    const std::size_t count = problem_.outputs * problem_.width;
    fit.weights.resize(count);
    if (averages_ > 0) {
      for (std::size_t i = 0; i < count; ++i)
        fit.weights[i] =
            average_[i] / static_cast<float>(averages_) * static_cast<float>(options_.target_scale);
    } else {
      table_.weights_of_cells(nullptr, optimizer_, cells_.data(), count, fit.weights.data());
      for (float& weight : fit.weights) weight *= static_cast<float>(options_.target_scale);
    }
    for (std::size_t o = 0; o < problem_.outputs; ++o) {
      const double bias = averages_ > 0 ? average_bias_[o] / static_cast<double>(averages_) : bias_weight(o);
      fit.intercepts.push_back((base_[o] + bias) * options_.target_scale + options_.target_center);
    }
    for (const float weight : fit.weights) {
      if (!std::isfinite(weight))
        return Error{Errc::invalid,
                     "training diverged: a coefficient has no end. Take a smaller learning_rate"};
    }
    fit.steps = step_;
    fit.rows = rows_done_;
    fit.passes = pass_;
    if (stopped_early_)
      fit.notes.push_back("Stopped after " + std::to_string(pass_) + " of " +
                          std::to_string(options_.passes) + " passes: the validation loss no longer fell.");
    return fit;
  }

  float* cells_of(std::size_t output) { return cells_.data() + output * problem_.width * cell_; }
  float* bias_of(std::size_t output) { return bias_.data() + output * cell_; }

  static constexpr std::size_t kChunk = 16'384;
  static constexpr std::size_t kKeptRows = 20'000;

  // Constant after construction.
  RowSource& rows_;
  const Problem& problem_;
  const StreamOptions& options_;
  StepHooks& hooks_;
  const kernels::Table& table_;
  kernels::Optimizer optimizer_;
  kernels::Optimizer bias_optimizer_;
  kernels::Optimizer alone_;  // as it is for one worker
  std::size_t cell_ = 2;
  std::vector<double> base_;  // intercepts to begin with: the cells learn what is to be added

  // The state.
  LargeVector<float> cells_;
  std::vector<float> bias_;
  LargeVector<float> average_;
  std::vector<double> average_bias_;
  std::uint64_t averages_ = 0;
  std::uint64_t step_ = 0;
  std::uint64_t seen_ = 0;  // rows read, whatever their roles
  std::uint64_t rows_done_ = 0;
  std::uint64_t next_average_ = 0;
  std::uint32_t pass_ = 0;
  Mean train_, valid_, window_;
  double best_ = std::numeric_limits<double>::infinity();
  double last_train_ = kNone;
  double last_valid_ = kNone;
  double next_point_ = 0;
  bool finished_ = false;
  bool stopped_early_ = false;
  std::unique_ptr<Together> together_;  // null: this worker is alone
  double began_ = 0;

  std::vector<EncodedBatch> kept_;  // validation rows, to choose between models
  std::size_t kept_rows_ = 0;

  // Room that is used again.
  std::vector<float> offsets_, scores_, residuals_, weights_;
};

}  // namespace

Result<Fit> solve_by_stream(RowSource& rows, const Problem& problem, const StreamOptions& options,
                            StepHooks& hooks, StateReader* from) {
  return Stream(rows, problem, options, hooks).run(from);
}

}  // namespace samovar::trainer
