// Figures of some rows as bytes, and those of all rows out of several.
#include <algorithm>
#include <cmath>

#include "trainer/evaluate/importance.hpp"
#include "trainer/evaluate/metrics.hpp"
#include "trainer/evaluate/subgroups.hpp"

namespace samovar::trainer {

void ScoreList::put(StateWriter& out) const {
  out.put(exact_);
  out.put(bins_);
}

void ScoreList::merge(StateReader& in) {
  std::vector<Row> rows;
  std::vector<std::array<double, 3>> bins;
  in.get(rows);
  in.get(bins);
  for (const Row& row : rows)
    add(static_cast<double>(row.probability), row.weight > 0, std::abs(static_cast<double>(row.weight)));
  if (bins.size() != kBins) return;
  if (bins_.empty()) to_bins();
  for (std::size_t i = 0; i < kBins; ++i) {
    for (std::size_t k = 0; k < 3; ++k) bins_[i][k] += bins[i][k];
  }
}

void Average::put(StateWriter& out) const {
  for (const double number : {weight_, mean_, spread_, squares_}) out.put(number);
}

void Average::merge(StateReader& in) {
  const auto weight = in.get<double>();
  const auto mean = in.get<double>();
  const auto spread = in.get<double>();
  const auto squares = in.get<double>();
  if (!(weight > 0)) return;
  const double apart = mean - mean_;
  spread_ += spread + apart * apart * weight_ * weight / (weight_ + weight);
  mean_ += apart * weight / (weight_ + weight);
  weight_ += weight;
  squares_ += squares;
}

void Metrics::put(StateWriter& out) const {
  out.put(rows_);
  for (const Average* each : {&log_loss_, &brier_, &deviance_, &squared_, &absolute_, &right_, &target_})
    each->put(out);
  out.put(counts_);
  scores_.put(out);
}

void Metrics::merge(StateReader& in) {
  rows_ += in.get<std::uint64_t>();
  for (Average* each : {&log_loss_, &brier_, &deviance_, &squared_, &absolute_, &right_, &target_})
    each->merge(in);
  std::vector<double> counts;
  in.get(counts);
  for (std::size_t i = 0; i < std::min(counts.size(), counts_.size()); ++i) counts_[i] += counts[i];
  scores_.merge(in);
}

void Subgroups::put(StateWriter& out) const {
  for (const Input& input : inputs_) {
    out.put(static_cast<std::uint8_t>(input.many));
    out.put(std::uint64_t{input.levels.size()});
    for (const auto& [level, metrics] : input.levels) {
      out.put(std::string_view(level));
      metrics.put(out);
    }
  }
}

void Subgroups::merge(StateReader& in) {
  for (Input& input : inputs_) {
    input.many = in.get<std::uint8_t>() != 0 || input.many;
    const auto levels = in.get<std::uint64_t>();
    for (std::uint64_t i = 0; i < levels && !in.failed(); ++i) {
      std::string level = in.text();
      input.levels.try_emplace(std::move(level), model_).first->second.merge(in);
    }
    if (input.levels.size() > kLevelsMax) input.many = true;
    if (input.many) input.levels.clear();
  }
}

void Importance::put(StateWriter& out) const {
  out.put(sample_.rows);
  for (const std::vector<float>* part :
       {&sample_.dense, &sample_.ragged_values, &sample_.target, &sample_.weight, &sample_.offset})
    out.put(*part);
  for (const std::vector<std::uint32_t>* part : {&sample_.slots, &sample_.ragged_ends, &sample_.ragged_slots})
    out.put(*part);
  out.put(sample_.ragged_inputs);
}

void Importance::merge(StateReader& in) {
  EncodedBatch batch;
  batch.dense_width = sample_.dense_width;
  batch.slot_width = sample_.slot_width;
  batch.rows = in.get<std::uint32_t>();
  for (std::vector<float>* part :
       {&batch.dense, &batch.ragged_values, &batch.target, &batch.weight, &batch.offset})
    in.get(*part);
  for (std::vector<std::uint32_t>* part : {&batch.slots, &batch.ragged_ends, &batch.ragged_slots})
    in.get(*part);
  in.get(batch.ragged_inputs);
  const std::size_t rows = batch.rows;
  const auto fits = [rows](const auto& values) { return values.empty() || values.size() == rows; };
  const bool good = !in.failed() && batch.dense.size() == rows * batch.dense_width &&
                    batch.slots.size() == rows * batch.slot_width && batch.target.size() == rows &&
                    fits(batch.weight) && fits(batch.offset) && fits(batch.ragged_ends) &&
                    batch.ragged_values.size() == batch.ragged_slots.size() &&
                    batch.ragged_inputs.size() == batch.ragged_slots.size() &&
                    std::is_sorted(batch.ragged_ends.begin(), batch.ragged_ends.end()) &&
                    (batch.ragged_ends.empty() || batch.ragged_ends.back() <= batch.ragged_slots.size()) &&
                    within_model(batch);
  if (good && !full_) add(batch, std::vector<std::uint8_t>(batch.rows, 1));
}

// Another worker's rows have places of this model only.
bool Importance::within_model(const EncodedBatch& batch) const {
  const auto known = [this](std::uint32_t slot) { return slot == kNoSlot || slot < model_.width; };
  return std::all_of(batch.slots.begin(), batch.slots.end(), known) &&
         std::all_of(batch.ragged_slots.begin(), batch.ragged_slots.end(),
                     [this](std::uint32_t slot) { return slot < model_.width; }) &&
         std::all_of(batch.ragged_inputs.begin(), batch.ragged_inputs.end(),
                     [this](std::uint16_t input) { return input < ragged_input_.size(); });
}

}  // namespace samovar::trainer
