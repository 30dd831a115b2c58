#include "trainer/features/level_codes.hpp"

#include "trainer/features/values.hpp"

namespace samovar::trainer {

LevelCodes::LevelCodes(const PipelinePlan& plan, const Tokens& tokens)
    : plan_(plan), tokens_(tokens), levels_(plan.inputs.size()) {
  for (std::size_t i = 0; i < plan.inputs.size(); ++i) {
    const InputPlan& input = plan.inputs[i];
    if (input.treatment != Treatment::levels) continue;
    levels_[i].reserve(input.levels.size());
    for (std::uint32_t level = 0; level < input.levels.size(); ++level)
      levels_[i].emplace(input.levels[level], input.first + level);
  }
}

std::uint32_t LevelCodes::weight(std::size_t input, std::string_view level) const {
  const InputPlan& plan = plan_.inputs[input];
  if (level.empty()) return missing(input);
  if (plan.treatment == Treatment::level_hash) return tokens_.level(input, level);
  const auto at = levels_[input].find(level);
  if (at != levels_[input].end()) return at->second;
  if (says_missing(level)) return missing(input);
  return plan.other ? plan.first + static_cast<std::uint32_t>(plan.levels.size()) : kNoSlot;
}

std::uint32_t LevelCodes::missing(std::size_t input) const {
  const InputPlan& plan = plan_.inputs[input];
  if (plan.treatment == Treatment::level_hash) return tokens_.missing(input);
  return plan.missing ? plan.first + plan.count - 1 : kNoSlot;
}

void LevelCodes::weights(std::size_t input, const BlockView& block, std::size_t column,
                         std::span<std::uint32_t> out) const {
  if (plan_.inputs[input].treatment == Treatment::level_hash)
    return tokens_.levels(input, block, column, out);
  block.each_level(column,
                   [&](std::uint32_t level, std::string_view text) { out[level] = weight(input, text); });
  out.back() = missing(input);
}

bool LevelCodes::known(std::size_t input, std::string_view level) const {
  return plan_.inputs[input].treatment == Treatment::level_hash || levels_[input].contains(level) ||
         says_missing(level);
}

}  // namespace samovar::trainer
