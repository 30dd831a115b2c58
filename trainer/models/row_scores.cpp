#include "trainer/models/row_scores.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace samovar::trainer {

namespace {

double row_predictor(const GlmModel& model, const EncodedBatch& batch, std::uint32_t row,
                     std::size_t output) {
  const float* weights = model.weights.data() + output * model.width;
  double sum = model.intercepts[output];
  const float* dense = batch.dense.data() + row * batch.dense_width;
  for (std::size_t i = 0; i < batch.dense_width; ++i) sum += static_cast<double>(weights[i]) * dense[i];
  const std::uint32_t* slots = batch.slots.data() + row * batch.slot_width;
  for (std::size_t i = 0; i < batch.slot_width; ++i) {
    if (slots[i] != kNoSlot) sum += static_cast<double>(weights[slots[i]]);
  }
  if (!batch.ragged_ends.empty()) {
    const std::uint32_t first = row == 0 ? 0 : batch.ragged_ends[row - 1];
    for (std::uint32_t i = first; i < batch.ragged_ends[row]; ++i)
      sum += static_cast<double>(weights[batch.ragged_slots[i]]) * batch.ragged_values[i];
  }
  return batch.offset.empty() ? sum : sum + batch.offset[row];
}

}  // namespace

std::vector<double> row_predictors(const GlmModel& model, const EncodedBatch& batch) {
  const std::size_t outputs = model.outputs();
  std::vector<double> out(batch.rows * outputs);
  for (std::uint32_t row = 0; row < batch.rows; ++row) {
    for (std::size_t k = 0; k < outputs; ++k) out[row * outputs + k] = row_predictor(model, batch, row, k);
  }
  return out;
}

void predictors_to_scores(const GlmModel& model, std::span<double> row) {
  if (model.family != Family::multinomial) {
    row[0] = inverse_link(model.link, row[0]);
    return;
  }
  const double most = *std::max_element(row.begin(), row.end());
  double sum = 0;
  for (double& value : row) sum += value = std::exp(value - most);
  for (double& value : row) value /= sum;
}

Result<std::vector<double>> row_scores(const GlmModel& model, const EncodedBatch& batch) {
  std::vector<double> out = row_predictors(model, batch);
  const std::size_t outputs = model.outputs();
  for (std::uint32_t row = 0; row < batch.rows; ++row) {
    const std::span<double> scores(out.data() + row * outputs, outputs);
    predictors_to_scores(model, scores);
    if (!std::all_of(scores.begin(), scores.end(), [](double score) { return std::isfinite(score); }))
      return Error{Errc::invalid, "row " + std::to_string(row + 1) +
                                      " has no finite prediction: its values lie too far from those of the "
                                      "training data"};
  }
  return out;
}

}  // namespace samovar::trainer
