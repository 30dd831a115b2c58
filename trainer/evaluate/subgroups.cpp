#include "trainer/evaluate/subgroups.hpp"
#include "base/json.hpp"

#include <cmath>

namespace samovar::trainer {

namespace {
constexpr std::size_t kInputsMax = 12;
constexpr std::uint64_t kRowsLeast = 30;  // fewer say nothing
constexpr const char* kMissing = "";
}  // namespace

Subgroups::Subgroups(const GlmModel& model, const FeaturePipeline& pipeline, const Schema& schema)
    : model_(model) {
  for (const ColumnSpec& spec : pipeline.inputs().columns) {
    if (spec.type != ColumnType::category && spec.type != ColumnType::boolean) continue;
    const auto column = schema.find(spec.name);
    if (!column || schema.columns[*column].type != spec.type || inputs_.size() == kInputsMax) continue;
    Input input;
    input.name = spec.name;
    input.column = *column;
    input.boolean = spec.type == ColumnType::boolean;
    inputs_.push_back(std::move(input));
  }
}

void Subgroups::add(const Batch& batch, const std::vector<std::uint8_t>& counts, const EncodedBatch& rows,
                    const std::vector<float>& expected) {
  for (Input& input : inputs_) {
    if (!input.many) add(input, batch, counts, rows, expected);
  }
}

void Subgroups::add(Input& input, const Batch& batch, const std::vector<std::uint8_t>& counts,
                    const EncodedBatch& rows, const std::vector<float>& expected) {
  const BlockView& block = batch.block();
  // A block's number of a level to its figures, found when it is met.
  std::map<std::uint32_t, Metrics*> known;
  if (input.boolean) {
    numbers_.resize(batch.rows());
    const auto order = batch.block_rows();
    if (order.empty()) {
      block.reals(input.column, batch.block_row(0), std::span<float>(numbers_));
    } else {
      block.reals(input.column, order, numbers_);
    }
  } else {
    codes_.resize(batch.rows());
    const auto order = batch.block_rows();
    if (order.empty()) {
      block.codes(input.column, batch.block_row(0), std::span<std::uint32_t>(codes_));
    } else {
      block.codes(input.column, order, codes_);
    }
  }
  const std::size_t outputs = model_.outputs();
  for (std::uint32_t row = 0; row < batch.rows(); ++row) {
    if (counts[row] == 0) continue;
    std::uint32_t code = 0;
    if (input.boolean) {
      code = std::isnan(numbers_[row]) ? BlockView::kMissingCode : static_cast<std::uint32_t>(numbers_[row]);
    } else {
      code = codes_[row];
    }
    Metrics*& metrics = known[code];
    if (metrics == nullptr) {
      std::string level;
      if (code == BlockView::kMissingCode) {
        level = kMissing;
      } else if (input.boolean) {
        level = code == 0 ? "false" : "true";
      } else {
        level = block.level(input.column, code);
      }
      metrics = &input.levels.try_emplace(std::move(level), model_).first->second;
      if (input.levels.size() > kLevelsMax) {
        input.many = true;
        input.levels.clear();
        return;
      }
    }
    metrics->add(expected.data() + row * outputs, static_cast<double>(rows.target[row]),
                 rows.weight.empty() ? 1 : static_cast<double>(rows.weight[row]));
  }
}

nlohmann::json Subgroups::to_json() {
  nlohmann::json out = nlohmann::json::array();
  for (Input& input : inputs_) {
    if (input.many) continue;
    for (auto& [level, metrics] : input.levels) {
      if (metrics.rows() < kRowsLeast) continue;
      metrics.finish();
      out.push_back({{"input", input.name},
                     {"level", level.empty() ? nlohmann::json(nullptr) : nlohmann::json(level)},
                     {"rows", metrics.rows()},
                     {"metrics", metrics.to_json()}});
    }
  }
  return out;
}

}  // namespace samovar::trainer
