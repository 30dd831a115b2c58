#include "trainer/features/level_codes.hpp"

#include "trainer/data/pack.hpp"
#include "trainer/features/values.hpp"

namespace samovar::trainer {

LevelCodes::LevelCodes(const PipelinePlan& plan, const Tokens& tokens)
    : plan_(plan), tokens_(tokens), levels_(plan.inputs.size()) {
  own_.reserve(plan.inputs.size());
  for (std::size_t i = 0; i < plan.inputs.size(); ++i) {
    const InputPlan& input = plan.inputs[i];
    own_.emplace_back(input, i, tokens);
    if (input.treatment != Treatment::levels) continue;
    levels_[i].reserve(input.levels.size());
    for (std::uint32_t level = 0; level < input.levels.size(); ++level)
      levels_[i].emplace(input.levels[level], input.first + level);
  }
}

std::uint32_t LevelCodes::weight(std::size_t input, std::string_view level) const {
  const InputPlan& plan = plan_.inputs[input];
  if (level.empty()) return missing(input);
  if (plan.treatment == Treatment::level_hash) {
    const std::uint32_t upper = tokens_.level_upper(input, level);
    const OwnPlaces& own = own_[input];
    const std::uint32_t place = own.has_levels() && own.may_have(upper) ? own.level(upper, level) : kNoSlot;
    return place != kNoSlot ? place : tokens_.place(upper);
  }
  const auto at = levels_[input].find(level);
  if (at != levels_[input].end()) return at->second;
  if (says_missing(level)) return missing(input);
  return plan.other ? plan.first + static_cast<std::uint32_t>(plan.levels.size()) : kNoSlot;
}

std::uint32_t LevelCodes::missing(std::size_t input) const {
  const InputPlan& plan = plan_.inputs[input];
  if (plan.treatment != Treatment::levels) return own_[input].missing();
  return plan.missing ? plan.first + plan.count - 1 : kNoSlot;
}

void LevelCodes::weights(std::size_t input, const BlockView& block, std::size_t column,
                         std::span<std::uint32_t> out) const {
  out.back() = missing(input);
  if (plan_.inputs[input].treatment == Treatment::level_hash) {
    const std::string_view chars = block.levels_of_one_length(column, 8);
    if (!chars.empty()) return hashed_eights(input, chars, out.data());
  }
  block.each_level(column,
                   [&](std::uint32_t level, std::string_view text) { out[level] = weight(input, text); });
}

// The same numbers as by weight(), with the hashes of many levels at once.
void LevelCodes::hashed_eights(std::size_t input, std::string_view chars, std::uint32_t* out) const {
  const std::size_t levels = chars.size() / 8;
  pack::table().hash_eights(chars.data(), tokens_.eights_start(input), 32, 0, levels, out);
  const OwnPlaces& own = own_[input];
  if (!own.has_levels()) {
    for (std::size_t level = 0; level < levels; ++level) out[level] = tokens_.place(out[level]);
    return;
  }
  if (own.eights(chars.data(), levels, tokens_, out)) return;
  for (std::size_t level = 0; level < levels; ++level) {
    const std::uint32_t upper = out[level];
    out[level] = tokens_.place(upper);
    if (!own.may_have(upper)) continue;
    const std::uint32_t place = own.level(upper, chars.substr(level * 8, 8));
    if (place != kNoSlot) out[level] = place;
  }
}

std::vector<std::uint32_t> LevelCodes::number_places(std::size_t input) const {
  std::vector<std::uint32_t> out(Tokens::kNumberTokens);
  const std::uint64_t key = tokens_.number_key(input);
  const std::uint32_t none = missing(input);
  for (std::uint32_t token = 0; token < Tokens::kNumberTokens; ++token)
    out[token] = Tokens::is_number(static_cast<std::uint16_t>(token)) ? tokens_.whole(key, token) : none;
  for (const auto& [token, place] : own_[input].numbers()) out[token] = place;
  return out;
}

bool LevelCodes::known(std::size_t input, std::string_view level) const {
  return plan_.inputs[input].treatment == Treatment::level_hash || levels_[input].contains(level) ||
         says_missing(level);
}

}  // namespace samovar::trainer
