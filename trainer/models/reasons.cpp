#include "trainer/models/reasons.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <set>

namespace samovar::trainer {

namespace {

constexpr std::size_t kValueBytesMax = 80;

bool is_ragged(const InputPlan& input) {
  return input.treatment == Treatment::words || input.treatment == Treatment::places ||
         input.treatment == Treatment::place_hash;
}
bool is_ragged(const InteractionPlan& pair) {
  return pair.kind == InteractionPlan::Kind::scaled || pair.kind == InteractionPlan::Kind::scaled_hash;
}

std::string number_text(double value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::general, 12).ptr;
  return {text, end};
}

std::string value_text(const RawValue& value) {
  if (const auto* held = std::get_if<bool>(&value)) return *held ? "true" : "false";
  if (const auto* held = std::get_if<std::int64_t>(&value)) return std::to_string(*held);
  if (const auto* held = std::get_if<double>(&value))
    return std::isfinite(*held) ? number_text(*held) : "(missing)";
  if (const auto* held = std::get_if<std::string>(&value)) {
    if (held->empty()) return "(missing)";
    if (held->size() <= kValueBytesMax) return *held;
    // Not in the middle of a character.
    std::size_t cut = kValueBytesMax;
    while (cut > 0 && (static_cast<unsigned char>((*held)[cut]) & 0xc0) == 0x80) --cut;
    return held->substr(0, cut) + "…";
  }
  return "(missing)";
}

}  // namespace

Reasons::Reasons(const GlmModel& model, const FeaturePipeline& pipeline) : model_(model) {
  const PipelinePlan& plan = pipeline.plan();
  for (const InputPlan& input : plan.inputs) {
    if (std::find(names_.begin(), names_.end(), input.name) != names_.end()) continue;
    names_.push_back(input.name);
    columns_.push_back({input.name});
  }
  for (std::size_t i = 0; i < pipeline.dense_width(); ++i)
    dense_.push_back(origin(pipeline.weight_name(i).input));
  for (std::size_t i = 0; i < pipeline.slot_width(); ++i) slots_.push_back(origin(pipeline.slot_input(i)));
  for (const InteractionPlan& pair : plan.interactions) {
    // What was multiplied is told by the name of the product, which the pipeline chose.
    const std::uint32_t at = pair.kind == InteractionPlan::Kind::product ? dense_[pair.first]
                             : pair.slot != kNoSlot                      ? slots_[pair.slot]
                                                                         : static_cast<std::uint32_t>(-1);
    if (at < columns_.size()) columns_[at] = {plan.inputs[pair.a].name, plan.inputs[pair.b].name};
  }
  // All that is ragged has one mean, so it is one origin: of its own where several inputs share it.
  std::set<std::string> ragged;
  for (const InputPlan& input : plan.inputs) {
    if (is_ragged(input)) ragged.insert(input.name);
  }
  for (const InteractionPlan& pair : plan.interactions) {
    if (is_ragged(pair)) ragged.insert(plan.inputs[pair.a].name + " × " + plan.inputs[pair.b].name);
  }
  std::string together;
  for (const std::string& name : ragged) together += (together.empty() ? "" : ", ") + name;
  if (!ragged.empty()) ragged_ = origin(together);
}

std::uint32_t Reasons::origin(const std::string& name) {
  const auto found = std::find(names_.begin(), names_.end(), name);
  if (found != names_.end()) return static_cast<std::uint32_t>(found - names_.begin());
  names_.push_back(name);
  columns_.emplace_back();
  return static_cast<std::uint32_t>(names_.size() - 1);
}

void Reasons::add_parts(const EncodedBatch& batch, std::uint32_t row, std::size_t output, double share,
                        std::vector<double>& parts) const {
  const float* weights = model_.weights.data() + output * model_.width;
  for (std::size_t i = 0; i < dense_.size(); ++i)
    parts[dense_[i]] += share * weights[i] * batch.dense[row * dense_.size() + i];
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const std::uint32_t slot = batch.slots[row * slots_.size() + i];
    if (slot != kNoSlot) parts[slots_[i]] += share * weights[slot];
  }
  if (!batch.ragged_ends.empty()) {
    const std::uint32_t first = row == 0 ? 0 : batch.ragged_ends[row - 1];
    for (std::uint32_t i = first; i < batch.ragged_ends[row]; ++i)
      parts[ragged_] += share * weights[batch.ragged_slots[i]] * batch.ragged_values[i];
  }
  if (model_.contribution_means.empty()) return;
  const float* means = model_.contribution_means.data() + output * (dense_.size() + slots_.size() + 1);
  for (const std::uint32_t at : dense_) parts[at] -= share * *means++;
  for (const std::uint32_t at : slots_) parts[at] -= share * *means++;
  if (!batch.ragged_ends.empty()) parts[ragged_] -= share * *means;
}

std::string Reasons::value(const std::string& name, const RawTable& table, std::uint32_t row) const {
  const auto column = table.columns.find(name);
  return column == table.columns.end() ? "(missing)" : value_text(column->second[row]);
}

std::vector<Reason> Reasons::of(const EncodedBatch& batch, std::uint32_t row, std::size_t output,
                                const RawTable& table, std::size_t most) const {
  std::vector<double> parts(names_.size());
  const std::size_t outputs = model_.outputs();
  if (outputs == 1) {
    add_parts(batch, row, 0, 1, parts);
  } else {
    // What is added to every class alike changes no probability.
    for (std::size_t k = 0; k < outputs; ++k)
      add_parts(batch, row, k, (k == output ? 1.0 : 0.0) - 1.0 / static_cast<double>(outputs), parts);
  }
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < parts.size(); ++i) {
    if (parts[i] != 0) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return std::abs(parts[a]) > std::abs(parts[b]); });
  if (order.size() > most) order.resize(most);
  std::vector<Reason> reasons;
  for (const std::uint32_t i : order) {
    Reason reason{names_[i], {}, parts[i]};
    for (const std::string& column : columns_[i])
      reason.value += (reason.value.empty() ? "" : " × ") + value(column, table, row);
    reasons.push_back(std::move(reason));
  }
  return reasons;
}

}  // namespace samovar::trainer
