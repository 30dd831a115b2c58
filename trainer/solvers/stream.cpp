#include "trainer/solvers/stream.hpp"

#include <algorithm>
#include <cmath>

#include "base/assert.hpp"
#include "trainer/solvers/stream_merge.hpp"
#include "trainer/solvers/stream_solver.hpp"

namespace samovar::trainer {

namespace {

// A pass that does worse than the best one by this share is the last.
constexpr double kWorse = 2e-3;
// Points of the curve in one pass.
constexpr double kPointsPerPass = 8;

using Mean = StreamMean;

}  // namespace

Stream::Stream(RowSource& rows, const Problem& problem, const StreamOptions& options, StepHooks& hooks)
    : rows_(rows),
      problem_(problem),
      options_(options),
      hooks_(hooks),
      cpu_(kernels::cpu()),
      optimizer_(optimizer_of(problem, options)),
      // The intercept is not to be pulled towards 0.
      bias_optimizer_(optimizer_),
      device_(options.table) {
  bias_optimizer_.l1 = bias_optimizer_.l2 = 0;
  cell_ = kernels::cell_floats(optimizer_.rule);
  if (options.table != nullptr && !device_.apart()) device_note_ = "the GPU would not begin";
  const auto made = [&] {
    return cells_.make(device_, problem.outputs * problem.width * cell_) &&
           bias_.make(device_, problem.outputs * cell_);
  };
  if (!made()) {
    device_note_ = "the GPU has no room for this model";
    device_.leave();
    const bool here = made();  // or it threw
    SAMOVAR_ASSERT(here);
  }
  if (options.table != nullptr)
    hooks.computes_on(device_.table().name, device_note_ != nullptr ? device_note_ : "");
  for (std::size_t o = 0; o < problem.outputs; ++o)
    base_.push_back(options.intercepts.empty() ? 0 : scaled(options.intercepts[o]));
  if (rows.council() == nullptr) return;
  alone_ = optimizer_;
  const bool adam = optimizer_.rule == kernels::Rule::adam;
  const bool squares = optimizer_.rule != kernels::Rule::sgd;
  const CellKind cell{cell_, squares, adam ? std::size_t{2} : std::size_t{1}};
  together_ = make_strategy(*rows.council(), options.strategy, cell);
  together_->set_rows_to_do(options.all_rows * options.passes);
  together_->set_rows_of_step(rows.plan().batch_rows);
  together_->set_save_due([this] { return hooks_.save_due(step_); });
  together_->set_rescale([this](double before, double now) { rescale(before, now); });
  together_->set_judge([this](FlatVector x) { return loss_of(x); });
  together_->set_replaced([this] { forget_average(); });
  if (options.early_stop) together_->ask_to_finish_when_worse(kWorse);
  rescale(1, together_->parts());
}

Result<Fit> Stream::run(StateReader* from) {
  auto fit = solve(from);
  // Whatever was told of it last: what the device left is not to be gone on with.
  if (!device_.trouble().empty()) hooks_.computes_on("", device_.trouble());
  return fit;
}

Result<Fit> Stream::solve(StateReader* from) {
  ReadPlan plan = rows_.plan();
  plan.seed = options_.seed;
  plan.shuffle_blocks = true;
  plan.shuffle_rows = options_.shuffle_rows;
  plan.passes = 0;
  std::optional<DataCursor> cursor;
  if (from != nullptr && together_ && together_->in_step()) {
    SAMOVAR_TRY(cursor, load_own_part(*from));
  } else if (from != nullptr) {
    SAMOVAR_TRY(cursor, load(*from));
  }
  if (together_) return run_together(plan, cursor);
  if (!finished_) {
    SAMOVAR_TRY(const auto reader, BatchReader::open(rows_.source(), rows_.schema(), plan, cursor));
    SAMOVAR_CHECK(train(*reader));
  }
  return result();
}

double Stream::scaled(double intercept) const {
  return (intercept - options_.target_center) / options_.target_scale;
}

Result<void> Stream::train(BatchReader& reader) {
  EncodedBatch batch;
  EncodedBatch valid;
  std::vector<RowRole> roles;
  while (!finished_) {
    const double began = seconds_now();
    const double worked = together_ ? thread_work_seconds() : 0;
    SAMOVAR_TRY(const Batch* read, reader.next());
    if (read == nullptr) {
      SAMOVAR_CHECK(end_pass());
      // The next one has other blocks.
      if (together_ && rotates()) return {};
      continue;
    }
    const double got = seconds_now();
    phases_.data_wait += got - began;
    rows_.splitter().roles(*read, roles);
    rows_.encode(*read, roles, RowRole::valid, valid);
    rows_.encode(*read, roles, RowRole::train, batch);
    const double encoded = seconds_now();
    phases_.encode += encoded - got;
    if (valid.rows != 0) {
      if (together_ && !together_->in_step() && kept_rows_ < kKeptRows) keep(valid);
      SAMOVAR_CHECK(judge(valid));
    }
    if (batch.rows != 0) {
      rows_.weigh_classes(batch);
      scale_target(batch);
      SAMOVAR_CHECK(step(batch));
    }
    SAMOVAR_CHECK(check());
    seen_ += read->rows();
    ++step_;
    double now = seconds_now();
    phases_.step += now - encoded;
    if (together_) {
      SAMOVAR_CHECK(settle());
      const double waited = together_->seconds_waited();
      SAMOVAR_CHECK(together_->stepped(read->rows(), now - began, thread_work_seconds() - worked));
      SAMOVAR_CHECK(check());
      const double met = seconds_now();
      phases_.exchange += met - now - (together_->seconds_waited() - waited);
      now = met;
    }
    if (averaging() && seen_ >= next_average_) {
      SAMOVAR_CHECK(settle());
      add_average();
      const double added = seconds_now();
      phases_.step += added - now;
      now = added;
    }
    SAMOVAR_CHECK(report(reader));
    if (together_) SAMOVAR_CHECK(save_in_step(reader.cursor()));
    phases_.told += seconds_now() - now;
    if (!together_) continue;
    finished_ = over();
    if (together_->take_changed()) return {};
  }
  return {};
}

void Stream::scale_target(EncodedBatch& batch) const {
  if (options_.target_scale == 1 && options_.target_center == 0) return;
  for (float& target : batch.target)
    target = static_cast<float>((target - options_.target_center) / options_.target_scale);
  for (float& offset : batch.offset) offset = static_cast<float>(offset / options_.target_scale);
}

std::span<const float> Stream::offsets(const EncodedBatch& batch) {
  const std::size_t outputs = problem_.outputs;
  const bool of_rows = !batch.offset.empty() && outputs == 1;
  if (!of_rows && std::all_of(base_.begin(), base_.end(), [](double base) { return base == 0; })) return {};
  offsets_.resize(outputs * batch.rows);
  for (std::size_t o = 0; o < outputs; ++o)
    std::fill_n(offsets_.begin() + static_cast<std::ptrdiff_t>(o * batch.rows), batch.rows,
                static_cast<float>(base_[o]));
  if (of_rows) {
    for (std::uint32_t row = 0; row < batch.rows; ++row) offsets_[row] += batch.offset[row];
  }
  return offsets_;
}

Result<void> Stream::margins(const EncodedBatch& batch, std::vector<float>& out) {
  const std::size_t outputs = problem_.outputs;
  SAMOVAR_TRY(const StreamDevice::Brought brought, device_.bring(batch, offsets(batch)));
  SAMOVAR_TRY(float* const scores, device_.room(batch.rows * outputs));
  for (std::size_t o = 0; o < outputs; ++o)
    device_.table().margins_cells(device_.queue(), optimizer_, brought.rows, cells_of(o), bias_of(o),
                                  offsets_of(o, brought.labels.offset, batch.rows), scores + o, outputs);
  SAMOVAR_CHECK(device_.wait());
  out.assign(scores, scores + batch.rows * outputs);
  return {};
}

Result<void> Stream::step(const EncodedBatch& batch) {
  SAMOVAR_CHECK(settle());
  optimizer_.step = static_cast<std::uint32_t>(std::min<std::uint64_t>(step_ + 1, 1u << 30));
  *device_.loss() = 0;
  SAMOVAR_TRY(const StreamDevice::Brought brought, device_.bring(batch, offsets(batch)));
  if (problem_.outputs == 1) {
    kernels::Step step;
    step.glm = problem_.glm();
    step.optimizer = optimizer_;
    step.batch_rows = options_.batch_rows;
    device_.table().step_rows(device_.queue(), step, brought.rows, brought.labels, cells_of(0), bias_of(0),
                              device_.loss());
  } else {
    SAMOVAR_CHECK(step_classes(batch, brought));
  }
  pending_ = weight_of(batch);
  rows_done_ += batch.rows;
  const bool clamps = problem_.bounded() && optimizer_.rule != kernels::Rule::ftrl;
  if (!device_.apart() || clamps) SAMOVAR_CHECK(settle());
  keep_bounds();
  return {};
}

Result<void> Stream::settle() {
  if (device_failed_) return *device_failed_;
  if (!pending_) return {};
  const double weight = *std::exchange(pending_, std::nullopt);
  if (auto waited = device_.wait(); !waited) {
    device_failed_ = std::move(waited).error();
    return *device_failed_;
  }
  bias_now_ = bias_[0];
  train_.add(*device_.loss(), weight);
  window_.add(*device_.loss(), weight);
  return {};
}

Result<void> Stream::step_classes(const EncodedBatch& batch, const StreamDevice::Brought& brought) {
  const std::size_t outputs = problem_.outputs;
  const kernels::Table& table = device_.table();
  kernels::Stream* const queue = device_.queue();
  const kernels::Rows& all = brought.rows;
  SAMOVAR_TRY(float* const scores, device_.room(std::min(options_.batch_rows, batch.rows) * outputs));
  for (std::uint32_t first = 0; first < batch.rows; first += options_.batch_rows) {
    kernels::Rows part = all;
    part.rows = std::min(options_.batch_rows, batch.rows - first);
    part.dense += std::size_t{first} * part.dense_width;
    part.slots += std::size_t{first} * part.slot_width;
    if (part.ragged_ends != nullptr) {
      part.ragged_begin = first == 0 ? 0 : batch.ragged_ends[first - 1];
      part.ragged_ends += first;
    }
    for (std::size_t o = 0; o < outputs; ++o) {
      const float* const offset = offsets_of(o, brought.labels.offset, batch.rows);
      table.margins_cells(queue, optimizer_, part, cells_of(o), bias_of(o),
                          offset == nullptr ? nullptr : offset + first, scores + o, outputs);
    }
    const kernels::Labels& labels = brought.labels;
    table.softmax_residuals(queue, scores, labels.target + first,
                            labels.weight == nullptr ? nullptr : labels.weight + first, part.rows, outputs,
                            device_.loss());
    for (std::size_t o = 0; o < outputs; ++o)
      table.update_rows(queue, optimizer_, part, scores + o, outputs, cells_of(o), bias_of(o));
  }
  return {};
}

void Stream::keep_bounds() {
  if (!problem_.bounded() || optimizer_.rule == kernels::Rule::ftrl) return;
  for (std::size_t o = 0; o < problem_.outputs; ++o) {
    for (std::size_t i = 0; i < problem_.width; ++i) {
      float& weight = cells_of(o)[i * cell_];
      weight =
          static_cast<float>(std::clamp(static_cast<double>(weight), problem_.low[i] / options_.target_scale,
                                        problem_.high[i] / options_.target_scale));
    }
  }
}

Result<void> Stream::judge(EncodedBatch& batch) {
  SAMOVAR_CHECK(settle());
  rows_.weigh_classes(batch);
  scale_target(batch);
  SAMOVAR_CHECK(margins(batch, scores_));
  valid_.add(loss_of_scores(batch), weight_of(batch));
  return {};
}

double Stream::loss_of_scores(const EncodedBatch& batch) {
  double loss = 0;
  const float* weight = batch.weight.empty() ? nullptr : batch.weight.data();
  if (problem_.outputs == 1) {
    residuals_.resize(batch.rows);
    cpu_.residuals(nullptr, problem_.glm(), scores_.data(), batch.target.data(), weight, batch.rows,
                   residuals_.data(), &loss);
  } else {
    cpu_.softmax_residuals(nullptr, scores_.data(), batch.target.data(), weight, batch.rows, problem_.outputs,
                           &loss);
  }
  return loss;
}

Result<void> Stream::check() const {
  const float bias = pending_ ? bias_now_ : bias_.values()[0];
  if (std::isfinite(train_.sum) && std::isfinite(bias)) return {};
  return Error{Errc::invalid,
               "training diverged: the loss has no end. Take a smaller learning_rate, or lbfgs as solver"};
}

Result<void> Stream::end_pass() {
  SAMOVAR_CHECK(settle());
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

bool Stream::averaging() const {
  const std::uint64_t all = rows_all() * options_.passes;
  return seen_all() * 5 >= all * 2;
}

void Stream::add_average() {
  // So rarely that it costs little beside the rows in between.
  next_average_ = seen_ + std::max<std::uint64_t>(65'536, problem_.outputs * problem_.width / 8);
  if (average_.empty()) average_.resize(problem_.outputs * problem_.width);
  weights_.resize(std::min<std::size_t>(kChunk, average_.size()));
  for (std::size_t at = 0; at < average_.size(); at += kChunk) {
    const std::size_t count = std::min(kChunk, average_.size() - at);
    const float* const cells = cells_.data() + at * cell_;
    float* const average = average_.data() + at;
    if (averages_sums()) {
      for (std::size_t i = 0; i < count; ++i) average[i] += cells[2 * i];
      continue;
    }
    cpu_.weights_of_cells(nullptr, optimizer_, cells, count, weights_.data());
    cpu_.axpy(nullptr, 1, weights_.data(), count, average);
  }
  average_rows_ += static_cast<double>(seen_all());
  average_bias_.resize(problem_.outputs);
  for (std::size_t o = 0; o < problem_.outputs; ++o) average_bias_[o] += bias_weight(o);
  ++averages_;
}

double Stream::bias_weight(std::size_t output) const {
  float weight = 0;
  cpu_.weights_of_cells(nullptr, bias_optimizer_, bias_.data() + output * cell_, 1, &weight);
  return weight;
}

Result<void> Stream::report(const BatchReader& reader) {
  StepReport report;
  report.step = step_;
  report.rows = rows_done_;
  report.pass = pass_;
  report.share =
      static_cast<double>(seen_all()) / std::max(1.0, static_cast<double>(rows_all()) * options_.passes);
  phases_.add_to(report, seen_, seconds_now());
  if (together_) add_together_figures(*together_, *rows_.council(), report);
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
  // Waits for the device when a checkpoint is due, and only then.
  return hooks_.stepped(report, [&](StateWriter& out) {
    if (auto settled = settle(); !settled) return out.refuse(std::move(settled).error());
    save(reader.cursor(), out);
  });
}

void Stream::save(const DataCursor& cursor, StateWriter& out) const {
  out.put(encode_cursor(cursor));
  out.put(cells_.values());
  out.put(bias_.values());
  out.put(average_);
  std::vector<double> bias = average_bias_;
  // By its length whoever goes on sees what the average is of.
  if (averages_sums() && !average_.empty()) bias.push_back(average_rows_);
  out.put(bias);
  for (const std::uint64_t count : {averages_, step_, seen_all(), rows_done_, next_average_}) out.put(count);
  out.put(pass_);
  for (const Mean& mean : {train_, valid_, window_}) {
    out.put(mean.sum);
    out.put(mean.weight);
  }
  for (const double number : {best_, last_train_, last_valid_, next_point_}) out.put(number);
  if (together_) out.put(together_->parts());
}

Result<std::optional<DataCursor>> Stream::load(StateReader& in) {
  Bytes cursor;
  in.get(cursor);
  LargeVector<float> cells;
  LargeVector<float> bias;
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
  if (together_ && together_->in_step()) {
    saved_seen_ = in.get<std::uint64_t>();
    in.get(saved_together_);
  }
  SAMOVAR_CHECK(in.done());
  const bool of_sums = averages_sums() && average_bias_.size() == problem_.outputs + 1;
  if (of_sums) {
    average_rows_ = average_bias_.back();
    average_bias_.pop_back();
  }
  const bool average_fits = average_.empty() || average_.size() == problem_.outputs * problem_.width;
  if (cells.size() != cells_.size() || bias.size() != bias_.size() || !average_fits ||
      average_bias_.size() != (average_.empty() ? 0 : problem_.outputs))
    return Error{Errc::conflict, "the checkpoint is of another model: start the job anew"};
  cells_.assign(std::move(cells));
  bias_.assign(std::move(bias));
  // A version that averaged weights saved it.
  if (averages_sums() && !of_sums && !average_.empty()) forget_average();
  if (together_) rescale(parts, together_->parts());
  SAMOVAR_TRY(const DataCursor at, decode_cursor(cursor));
  return std::optional<DataCursor>(at);
}

Result<Fit> Stream::result() {
  SAMOVAR_CHECK(settle());
  Fit fit;
  const std::size_t count = problem_.outputs * problem_.width;
  fit.weights.resize(count);
  if (averages_ > 0 && averages_sums()) {
    cell_merge().own(pairs().data(), count, fit.weights.data());
  } else if (averages_ > 0) {
    for (std::size_t i = 0; i < count; ++i)
      fit.weights[i] =
          average_[i] / static_cast<float>(averages_) * static_cast<float>(options_.target_scale);
  } else {
    cpu_.weights_of_cells(nullptr, optimizer_, cells_.data(), count, fit.weights.data());
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
  if (device_note_ != nullptr) fit.notes.push_back("Trained on the CPU: " + std::string(device_note_) + ".");
  if (stopped_early_)
    fit.notes.push_back("Stopped after " + std::to_string(pass_) + " of " + std::to_string(options_.passes) +
                        " passes: the validation loss no longer fell.");
  return fit;
}

Result<Fit> solve_by_stream(RowSource& rows, const Problem& problem, const StreamOptions& options,
                            StepHooks& hooks, StateReader* from) {
  return Stream(rows, problem, options, hooks).run(from);
}

}  // namespace samovar::trainer
