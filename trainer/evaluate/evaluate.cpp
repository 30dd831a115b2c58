#include "trainer/evaluate/evaluate.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/json.hpp"
#include "trainer/evaluate/importance.hpp"
#include "trainer/evaluate/metrics.hpp"
#include "trainer/evaluate/subgroups.hpp"
#include "trainer/sync/council.hpp"

namespace samovar::trainer {

namespace {

using nlohmann::json;

constexpr std::array<const char*, 3> kRoles = {"train", "valid", "test"};
// Rows whose means are taken for the average contributions: more do not change them.
constexpr std::uint64_t kMeansRowsMax = 100'000;

// Rows to judge how well a model of two classes fits what it was trained on: more do not change the figures.
// Of a larger set one batch in several is asked, so that the rows are spread; all of them until both classes
// were met so often.
constexpr std::uint64_t kTrainRowsJudged = 200'000;
constexpr double kRowsOfEachClass = 1'000;

// The predictors of a batch with the kernels, and what is expected from them.
class Predictor {
 public:
  explicit Predictor(const GlmModel& model) : model_(model) {}
  const std::vector<float>& expected(const EncodedBatch& batch) {
    const std::size_t outputs = model_.outputs();
    out_.resize(batch.rows * outputs);
    for (std::size_t o = 0; o < outputs; ++o)
      kernels::cpu().margins(nullptr, kernel_rows(batch), model_.weights.data() + o * model_.width,
                             static_cast<float>(model_.intercepts[o]), nullptr, out_.data() + o, outputs);
    expected_values(model_, batch, out_);
    return out_;
  }
  // For a model of one output, and for the rows that were held out alone; the others have 0.
  const std::vector<float>& expected(const EncodedBatch& batch, const std::vector<RowRole>& roles) {
    held_.rows = 0;
    held_.dense_width = batch.dense_width;
    held_.slot_width = batch.slot_width;
    for (auto* values : {&held_.dense, &held_.offset}) values->clear();
    held_.slots.clear();
    for (std::uint32_t row = 0; row < batch.rows; ++row) {
      if (roles[row] != RowRole::train) take(batch, row);
    }
    expected(held_);
    spread_.assign(batch.rows, 0);
    std::uint32_t next = 0;
    for (std::uint32_t row = 0; row < batch.rows; ++row) {
      if (roles[row] != RowRole::train) spread_[row] = out_[next++];
    }
    return spread_;
  }

 private:
  void take(const EncodedBatch& batch, std::uint32_t row) {
    const auto append = [row](auto& to, const auto& from, std::size_t width) {
      const auto at = from.begin() + static_cast<std::ptrdiff_t>(row * width);
      to.insert(to.end(), at, at + static_cast<std::ptrdiff_t>(width));
    };
    append(held_.dense, batch.dense, batch.dense_width);
    append(held_.slots, batch.slots, batch.slot_width);
    if (!batch.offset.empty()) held_.offset.push_back(batch.offset[row]);
    ++held_.rows;
  }

  const GlmModel& model_;
  std::vector<float> out_;
  EncodedBatch held_;
  std::vector<float> spread_;
};

class ContributionMeans {
 public:
  ContributionMeans(const GlmModel& model, const FeaturePipeline& pipeline)
      : model_(model),
        dense_(pipeline.dense_width()),
        slots_(pipeline.slot_width()),
        places_(dense_ + slots_ + 1),
        sums_(model.outputs() * places_) {}

  void add(const EncodedBatch& batch, const std::vector<RowRole>& roles) {
    for (std::uint32_t row = 0; row < batch.rows && rows_ < kMeansRowsMax; ++row) {
      if (roles[row] != RowRole::train || (!batch.weight.empty() && batch.weight[row] <= 0)) continue;
      ++rows_;
      for (std::size_t o = 0; o < model_.outputs(); ++o) add(batch, row, o);
    }
  }
  bool full() const noexcept { return rows_ >= kMeansRowsMax; }
  void put(StateWriter& out) const {
    out.put(rows_);
    out.put(sums_);
  }
  void merge(StateReader& in) {
    rows_ += in.get<std::uint64_t>();
    std::vector<double> theirs;
    in.get(theirs);
    for (std::size_t i = 0; i < std::min(theirs.size(), sums_.size()); ++i) sums_[i] += theirs[i];
  }
  void finish(GlmModel& model) const {
    model.contribution_means.clear();
    for (const double sum : sums_)
      model.contribution_means.push_back(
          static_cast<float>(sum / static_cast<double>(std::max<std::uint64_t>(rows_, 1))));
  }

 private:
  void add(const EncodedBatch& batch, std::uint32_t row, std::size_t output) {
    const float* weights = model_.weights.data() + output * model_.width;
    double* sums = sums_.data() + output * places_;
    for (std::size_t i = 0; i < dense_; ++i)
      sums[i] += static_cast<double>(weights[i] * batch.dense[row * dense_ + i]);
    for (std::size_t i = 0; i < slots_; ++i) {
      const std::uint32_t slot = batch.slots[row * slots_ + i];
      if (slot != kNoSlot) sums[dense_ + i] += static_cast<double>(weights[slot]);
    }
    if (batch.ragged_ends.empty()) return;
    for (std::uint32_t i = row == 0 ? 0 : batch.ragged_ends[row - 1]; i < batch.ragged_ends[row]; ++i)
      sums[places_ - 1] += static_cast<double>(weights[batch.ragged_slots[i]] * batch.ragged_values[i]);
  }

  const GlmModel& model_;
  const std::size_t dense_, slots_, places_;
  std::vector<double> sums_;
  std::uint64_t rows_ = 0;
};

// A model without inputs: the mean of training, or its mean rate where rows have an exposure.
class Constant {
 public:
  explicit Constant(const GlmModel& model) : model_(model) {}
  void learn(const EncodedBatch& batch, std::uint32_t row, double weight) {
    const double offset = offset_of(batch, row);
    target_.add(static_cast<double>(batch.target[row]), weight);
    offset_.add(model_.link == Link::log ? std::exp(offset) : offset, weight);
  }
  void put(StateWriter& out) const {
    target_.put(out);
    offset_.put(out);
  }
  void merge(StateReader& in) {
    target_.merge(in);
    offset_.merge(in);
  }
  double mean() const noexcept { return target_.mean(); }
  double weight() const noexcept { return target_.weight(); }
  double expected(const EncodedBatch& batch, std::uint32_t row) const {
    const double offset = offset_of(batch, row);
    switch (model_.link) {
      case Link::log:
        return mean() / std::max(offset_.mean(), 1e-300) * std::exp(offset);
      case Link::identity:
        return mean() - offset_.mean() + offset;
      default:
        return mean();
    }
  }
  // Its figures for the rows of a role. Only a second look at the rows knows them: the mean comes last.
  Result<json> figures(RowSource& rows, RowRole role) const {
    Metrics metrics(model_);
    const auto read = [&](Metrics& into) {
      return rows.each(role, [&](const EncodedBatch& batch) -> Result<bool> {
        for (std::uint32_t row = 0; row < batch.rows; ++row) {
          const auto answer = static_cast<float>(expected(batch, row));
          into.add(&answer, static_cast<double>(batch.target[row]),
                   batch.weight.empty() ? 1 : static_cast<double>(batch.weight[row]));
        }
        return true;
      });
    };
    if (rows.council() == nullptr) {
      SAMOVAR_CHECK(read(metrics));
    } else {
      SAMOVAR_TRY(const std::vector<Bytes> parts, rows.council()->collect("baseline", [&]() -> Result<Bytes> {
        Metrics own(model_);
        SAMOVAR_CHECK(read(own));
        StateWriter out;
        own.put(out);
        return out.take();
      }));
      for (const Bytes& part : parts) {
        StateReader in(part);
        metrics.merge(in);
        if (in.failed()) return Error{Errc::corrupt, "another worker's figures are damaged"};
      }
    }
    metrics.finish();
    json out = json::object();
    const json estimates = metrics.to_json();
    for (const auto& [name, estimate] : estimates.items()) out[name] = estimate["value"];
    return out;
  }

 private:
  static double offset_of(const EncodedBatch& batch, std::uint32_t row) {
    return batch.offset.empty() ? 0 : static_cast<double>(batch.offset[row]);
  }

  const GlmModel& model_;
  Average target_;
  Average offset_;
};

}  // namespace

namespace {

// What one read of the rows adds up; those of several workers become one.
class Tally {
 public:
  Tally(const GlmModel& model, const RowSource& rows, const EvaluateOptions& options)
      : metrics(3, Metrics(model)),
        means(model, rows.pipeline()),
        subgroups(model, rows.pipeline(), rows.schema()),
        importance(model, rows.pipeline(), options.sample_bytes),
        shares(model.classes),
        constant(model),
        model_(model),
        options_(options) {}

  Result<void> read(RowSource& rows) {
    Predictor predictor(model_);
    std::vector<std::uint8_t> held_out;
    std::uint64_t seen = 0;
    bool stop = false;
    bool judged = true;
    const auto wants_training = [&] {
      judged = judges_training(rows);
      return judged || !means.full();
    };
    SAMOVAR_CHECK(rows.all(
        [&](const Batch& batch, const std::vector<RowRole>& roles, EncodedBatch& encoded) -> Result<bool> {
          const std::vector<float>& expected =
              judged ? predictor.expected(encoded) : predictor.expected(encoded, roles);
          ++batches_;
          held_out.assign(encoded.rows, 0);
          for (std::uint32_t row = 0; row < encoded.rows; ++row) {
            const double weight = encoded.weight.empty() ? 1 : static_cast<double>(encoded.weight[row]);
            if (weight <= 0) continue;
            const auto role = static_cast<std::size_t>(roles[row]);
            const double target = static_cast<double>(encoded.target[row]);
            ++counted[role];
            if (judged || roles[row] != RowRole::train) {
              finite = finite && std::isfinite(expected[row * model_.outputs()]);
              metrics[role].add(expected.data() + row * model_.outputs(), target, weight);
            }
            held_out[row] = roles[row] == RowRole::test ? 1 : 0;
            if (roles[row] == RowRole::train) {
              constant.learn(encoded, row, weight);
              if (!shares.empty()) shares[static_cast<std::size_t>(target)] += weight;
            }
          }
          means.add(encoded, roles);
          if (options_.explain) subgroups.add(batch, held_out, encoded, expected);
          if (options_.explain && !importance.full()) importance.add(encoded, held_out);
          seen += batch.rows();
          stop = options_.progress &&
                 !options_.progress(static_cast<double>(seen) /
                                    static_cast<double>(std::max<std::uint64_t>(rows.rows(), 1)));
          return !stop;
        },
        wants_training));
    if (stop) return Error{Errc::conflict, "stopped as asked"};
    return {};
  }

  Bytes put() const {
    StateWriter out;
    for (const Metrics& one : metrics) one.put(out);
    means.put(out);
    subgroups.put(out);
    importance.put(out);
    out.put(shares);
    constant.put(out);
    for (const std::uint64_t count : counted) out.put(count);
    out.put(static_cast<std::uint8_t>(finite));
    return out.take();
  }
  Result<void> merge(ByteView bytes) {
    StateReader in(bytes);
    for (Metrics& one : metrics) one.merge(in);
    means.merge(in);
    subgroups.merge(in);
    importance.merge(in);
    std::vector<double> theirs;
    in.get(theirs);
    for (std::size_t i = 0; i < std::min(theirs.size(), shares.size()); ++i) shares[i] += theirs[i];
    constant.merge(in);
    for (std::uint64_t& count : counted) count += in.get<std::uint64_t>();
    finite = in.get<std::uint8_t>() != 0 && finite;
    if (in.failed() || in.left() != 0) return Error{Errc::corrupt, "another worker's figures are damaged"};
    return {};
  }

  std::vector<Metrics> metrics;
  ContributionMeans means;
  Subgroups subgroups;
  Importance importance;
  std::vector<double> shares;
  Constant constant;
  std::array<std::uint64_t, 3> counted{};
  bool finite = true;

 private:
  // Whether the training rows of the next batch are asked too.
  bool judges_training(const RowSource& rows) const {
    const std::uint64_t one_in = rows.rows() / kTrainRowsJudged;
    if (model_.classes != 2 || one_in < 2 || rows.pipeline().ragged()) return true;
    const bool rare = *std::min_element(shares.begin(), shares.end()) < kRowsOfEachClass;
    return rare || batches_ % one_in == 0;
  }

  const GlmModel& model_;
  const EvaluateOptions& options_;
  std::uint64_t batches_ = 0;
};

}  // namespace

Result<json> evaluate_model(RowSource& rows, GlmModel& model, const EvaluateOptions& options) {
  const FeaturePipeline& pipeline = rows.pipeline();
  Tally tally(model, rows, options);
  if (rows.council() == nullptr) {
    SAMOVAR_CHECK(tally.read(rows));
  } else {
    SAMOVAR_TRY(const std::vector<Bytes> parts, rows.council()->collect("evaluate", [&]() -> Result<Bytes> {
      Tally own(model, rows, options);
      SAMOVAR_CHECK(own.read(rows));
      return own.put();
    }));
    for (const Bytes& part : parts) SAMOVAR_CHECK(tally.merge(part));
  }
  std::vector<Metrics>& metrics = tally.metrics;
  const std::array<std::uint64_t, 3>& counted = tally.counted;
  std::vector<double>& shares = tally.shares;
  const Constant& constant = tally.constant;
  if (!tally.finite)
    return Error{Errc::invalid, "the model answers some rows with no finite number: set an l2 penalty"};
  tally.means.finish(model);
  for (Metrics& one : metrics) one.finish();
  for (double& share : shares) share /= std::max(constant.weight(), 1e-300);

  // What is shown in curves: the test rows, or the best there is instead of them.
  const std::size_t shown = counted[2] > 0 ? 2 : counted[1] > 0 ? 1 : 0;
  const Metrics& main = metrics[shown];
  json out;
  out["task"] = to_string(task_of(model.family));
  out["shown"] = kRoles[shown];
  for (std::size_t role = 0; role < 3; ++role) {
    out["rows"][kRoles[role]] = counted[role];
    out["metrics"][kRoles[role]] = metrics[role].to_json();
  }
  if (model.classes > 0) {
    out["baseline"] = Metrics::baseline(model, main, constant.mean(), shares);
  } else {
    SAMOVAR_TRY(out["baseline"], constant.figures(rows, static_cast<RowRole>(shown)));
  }
  if (model.family == Family::binomial && main.scores().both()) {
    out["roc"] = main.scores().roc();
    out["pr"] = main.scores().precision_recall();
    out["calibration"] = main.scores().calibration();
    out["lift"] = main.scores().lift_curve();
    out["thresholds"] = main.scores().thresholds();
  }
  if (model.classes > 0 && main.rows() > 0) out["confusion"] = main.confusion(pipeline.classes());
  if (!options.explain) return out;
  out["subgroups"] = tally.subgroups.to_json();
  out["importance"] = tally.importance.to_json(options.seed);
  return out;
}

}  // namespace samovar::trainer
