#include "trainer/evaluate/importance.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/json.hpp"
#include "trainer/data/order.hpp"
#include "trainer/evaluate/metrics.hpp"

namespace samovar::trainer {

namespace {
constexpr std::uint32_t kRowsMax = 10'000;
constexpr std::size_t kInputsMax = 1000;
}  // namespace

Importance::Importance(const GlmModel& model, const FeaturePipeline& pipeline, std::size_t bytes_max)
    : model_(model), bytes_max_(bytes_max) {
  const auto named = [&](const std::string& name) {
    const auto found = std::find(names_.begin(), names_.end(), name);
    if (found != names_.end()) return static_cast<std::size_t>(found - names_.begin());
    names_.push_back(name);
    return names_.size() - 1;
  };
  for (std::size_t i = 0; i < pipeline.dense_width(); ++i)
    dense_input_.push_back(named(pipeline.weight_name(i).input));
  for (std::size_t i = 0; i < pipeline.slot_width(); ++i)
    slot_input_.push_back(named(pipeline.slot_input(i)));
  if (pipeline.ragged()) {
    for (const ColumnSpec& column : pipeline.inputs().columns) ragged_input_.push_back(named(column.name));
  }
  sample_.dense_width = pipeline.dense_width();
  sample_.slot_width = pipeline.slot_width();
}

void Importance::add(const EncodedBatch& batch, const std::vector<std::uint8_t>& counts) {
  const auto append = [](auto& to, const auto& from, std::size_t row, std::size_t width) {
    to.insert(to.end(), from.begin() + static_cast<std::ptrdiff_t>(row * width),
              from.begin() + static_cast<std::ptrdiff_t>((row + 1) * width));
  };
  for (std::uint32_t row = 0; row < batch.rows && !full_; ++row) {
    if (counts[row] == 0) continue;
    append(sample_.dense, batch.dense, row, batch.dense_width);
    append(sample_.slots, batch.slots, row, batch.slot_width);
    sample_.target.push_back(batch.target[row]);
    sample_.weight.push_back(batch.weight.empty() ? 1.0f : batch.weight[row]);
    sample_.offset.push_back(batch.offset.empty() ? 0.0f : batch.offset[row]);
    if (!batch.ragged_ends.empty()) {
      for (std::uint32_t i = row == 0 ? 0 : batch.ragged_ends[row - 1]; i < batch.ragged_ends[row]; ++i) {
        sample_.ragged_slots.push_back(batch.ragged_slots[i]);
        sample_.ragged_values.push_back(batch.ragged_values[i]);
        sample_.ragged_inputs.push_back(batch.ragged_inputs[i]);
      }
      sample_.ragged_ends.push_back(static_cast<std::uint32_t>(sample_.ragged_slots.size()));
    }
    ++sample_.rows;
    const std::size_t bytes =
        (sample_.dense.size() + sample_.slots.size() + 3 * sample_.ragged_slots.size()) * sizeof(float);
    full_ = sample_.rows >= kRowsMax || bytes >= bytes_max_;
  }
}

std::vector<float> Importance::contributions(std::size_t input) const {
  const std::size_t outputs = model_.outputs();
  std::vector<float> out(sample_.rows * outputs);
  for (std::size_t o = 0; o < outputs; ++o) {
    const float* weights = model_.weights.data() + o * model_.width;
    for (std::size_t i = 0; i < sample_.dense_width; ++i) {
      if (dense_input_[i] != input) continue;
      for (std::uint32_t row = 0; row < sample_.rows; ++row)
        out[row * outputs + o] += weights[i] * sample_.dense[row * sample_.dense_width + i];
    }
    for (std::size_t i = 0; i < sample_.slot_width; ++i) {
      if (slot_input_[i] != input) continue;
      for (std::uint32_t row = 0; row < sample_.rows; ++row) {
        const std::uint32_t slot = sample_.slots[row * sample_.slot_width + i];
        if (slot != kNoSlot) out[row * outputs + o] += weights[slot];
      }
    }
    std::uint32_t begin = 0;
    for (std::uint32_t row = 0; row < sample_.ragged_ends.size(); ++row) {
      for (std::uint32_t i = begin; i < sample_.ragged_ends[row]; ++i) {
        if (ragged_input_[sample_.ragged_inputs[i]] == input)
          out[row * outputs + o] += weights[sample_.ragged_slots[i]] * sample_.ragged_values[i];
      }
      begin = sample_.ragged_ends[row];
    }
  }
  return out;
}

double Importance::loss(const std::vector<float>& predictors) const {
  std::vector<float> expected = predictors;
  expected_values(model_, sample_, expected);
  Metrics metrics(model_);
  for (std::uint32_t row = 0; row < sample_.rows; ++row)
    metrics.add(expected.data() + row * model_.outputs(), static_cast<double>(sample_.target[row]),
                static_cast<double>(sample_.weight[row]));
  return metrics.loss();
}

nlohmann::json Importance::to_json(std::uint64_t seed) const {
  struct Line {
    std::string input;
    double standardised = 0;
    double permutation = 0;
  };
  std::vector<Line> lines;
  nlohmann::json out = nlohmann::json::array();
  if (sample_.rows < 2) return out;
  std::vector<float> predictors;
  linear_predictors(model_, sample_, predictors);
  const double as_is = loss(predictors);
  const std::size_t outputs = model_.outputs();
  std::vector<std::uint32_t> order(sample_.rows);
  for (std::size_t input = 0; input < std::min(names_.size(), kInputsMax); ++input) {
    const std::vector<float> own = contributions(input);
    Line line;
    line.input = names_[input];
    for (std::size_t o = 0; o < outputs; ++o) {
      Average spread;
      for (std::uint32_t row = 0; row < sample_.rows; ++row)
        spread.add(static_cast<double>(own[row * outputs + o]), 1);
      line.standardised += std::sqrt(spread.variance()) / static_cast<double>(outputs);
    }
    if (line.standardised > 0) {
      std::iota(order.begin(), order.end(), 0u);
      SeededOrder(SeededOrder::derive(seed, 0x1000 + input)).shuffle(order);
      std::vector<float> dealt = predictors;
      for (std::uint32_t row = 0; row < sample_.rows; ++row) {
        for (std::size_t o = 0; o < outputs; ++o)
          dealt[row * outputs + o] += own[order[row] * outputs + o] - own[row * outputs + o];
      }
      line.permutation = loss(dealt) - as_is;
    }
    lines.push_back(std::move(line));
  }
  std::stable_sort(lines.begin(), lines.end(),
                   [](const Line& a, const Line& b) { return a.permutation > b.permutation; });
  for (const Line& line : lines)
    out.push_back({{"input", line.input},
                   {"standardised", std::isfinite(line.standardised) ? line.standardised : 0},
                   {"permutation", std::isfinite(line.permutation) ? line.permutation : 0}});
  return out;
}

}  // namespace samovar::trainer
