#include "trainer/features/signature.hpp"
#include "base/json.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace samovar::trainer {

namespace {

using Json = nlohmann::json;

constexpr std::size_t kLevelsShown = 1000;

Json number(ColumnType type, double value) {
  if (type == ColumnType::real || std::abs(value) > 9e15) return value;
  return static_cast<std::int64_t>(std::llround(value));
}

// Three digits are enough for an example.
double rounded(double value) {
  if (value == 0 || !std::isfinite(value)) return 0;
  const double unit = std::pow(10, std::floor(std::log10(std::abs(value))) - 2);
  const double out = std::round(value / unit) * unit;
  return std::isfinite(out) ? out : value;
}

}  // namespace

Json signature_of(const PipelinePlan& plan) {
  Json inputs = Json::array();
  std::set<std::string_view> seen;
  for (const InputPlan& input : plan.inputs) {
    if (!seen.insert(input.name).second) continue;
    Json levels = nullptr, min = nullptr, max = nullptr, example = nullptr;
    const bool numbers = input.treatment == Treatment::number || input.treatment == Treatment::number_hash;
    if (input.treatment == Treatment::levels) {
      levels = Json::array();
      for (std::size_t i = 0; i < std::min(input.levels.size(), kLevelsShown); ++i)
        levels.push_back(input.levels[i]);
      if (!input.levels.empty()) example = input.levels.front();
    } else if (input.type == ColumnType::boolean) {
      example = input.fill >= 0.5;
    } else if (numbers && input.seen_range && !input.sensitive) {
      // The extremes of a sensitive column are somebody's.
      min = number(input.type, input.min);
      max = number(input.type, input.max);
      example = number(input.type, input.type == ColumnType::real ? rounded(input.fill) : input.fill);
    }
    inputs.push_back({{"name", input.name},
                      {"type", to_string(input.type)},
                      {"levels", std::move(levels)},
                      {"min", std::move(min)},
                      {"max", std::move(max)},
                      {"example", std::move(example)}});
  }
  return {{"inputs", std::move(inputs)}, {"target", plan.target.name}, {"classes", plan.target.classes}};
}

}  // namespace samovar::trainer
