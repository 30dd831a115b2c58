#include "trainer/features/plan_names.hpp"

#include <array>
#include <charconv>

#include "trainer/features/tokens.hpp"

namespace samovar::trainer {

namespace {

using Kind = InteractionPlan::Kind;
constexpr std::array<const char*, 7> kDays = {"Monday", "Tuesday",  "Wednesday", "Thursday",
                                              "Friday", "Saturday", "Sunday"};

bool within(std::size_t weight, std::uint32_t first, std::uint32_t count) {
  return weight >= first && weight - first < count;
}
// The numbers of a token: "0", "1.25 to 1.5" and the like.
std::string number_range(std::uint16_t token) {
  const auto text = [](double value) {
    char out[32];
    const auto end = std::to_chars(out, out + sizeof out, value).ptr;
    return std::string(out, end);
  };
  if (token == 0) return "0";
  return text(Tokens::least_number(token)) + " to " +
         text(Tokens::least_number(static_cast<std::uint16_t>(token + 1)));
}

bool is_hashed(Treatment treatment) {
  return treatment == Treatment::level_hash || treatment == Treatment::number_hash;
}
bool has_places(Treatment treatment) {
  return treatment == Treatment::levels || treatment == Treatment::places ||
         treatment == Treatment::weekday || treatment == Treatment::hour;
}

WeightName pair_name(const PipelinePlan& plan, const InteractionPlan& pair, std::size_t place) {
  const InputPlan& a = plan.inputs[pair.a];
  const InputPlan& b = plan.inputs[pair.b];
  WeightName name{pair_input(plan, pair), "", false};
  const auto part = [](const WeightName& each) { return each.missing ? std::string("missing") : each.level; };
  if (pair.kind == Kind::cross) {
    name.level = part(level_name(a, place / b.count)) + " × " + part(level_name(b, place % b.count));
  } else if (pair.kind == Kind::scaled) {
    name.level = part(level_name(a, place));
  }
  return name;
}

}  // namespace

std::string pair_input(const PipelinePlan& plan, const InteractionPlan& pair) {
  return plan.inputs[pair.a].name + " × " + plan.inputs[pair.b].name;
}

WeightName level_name(const InputPlan& input, std::size_t place) {
  switch (input.treatment) {
    case Treatment::levels:
      if (place < input.levels.size()) return {input.name, input.levels[place], false};
      if (input.other && place == input.levels.size()) return {input.name, "(other)", false};
      return {input.name, "", true};
    case Treatment::level_hash:
      if (place < input.frequent.size()) return {input.name, input.frequent[place], false};
      return {input.name, "", true};
    case Treatment::number_hash:
      if (place < input.frequent_numbers.size())
        return {input.name, number_range(input.frequent_numbers[place]), false};
      return {input.name, "", true};
    case Treatment::weekday:
      return {input.name, kDays[place % 7], false};
    case Treatment::hour:
      return {input.name, std::to_string(place) + ":00", false};
    default:
      return {input.name, std::to_string(place), false};
  }
}

WeightName name_of(const PipelinePlan& plan, std::size_t weight) {
  for (const InputPlan& input : plan.inputs) {
    if (input.treatment == Treatment::number) {
      if (weight == input.first) return {input.name, "", false};
      if (input.indicator && weight == input.indicator_weight) return {input.name, "", true};
    } else if ((has_places(input.treatment) || is_hashed(input.treatment)) &&
               within(weight, input.first, input.count)) {
      return level_name(input, weight - input.first);
    }
  }
  for (const InteractionPlan& pair : plan.interactions) {
    const bool placed = pair.kind == Kind::product || pair.kind == Kind::cross || pair.kind == Kind::scaled;
    if (placed && within(weight, pair.first, pair.count)) return pair_name(plan, pair, weight - pair.first);
  }
  return {"(hashed)", "#" + std::to_string(weight - plan.hash_first), false};
}

WeightScale scale_of(const PipelinePlan& plan, std::size_t weight) {
  for (const InputPlan& input : plan.inputs) {
    if (input.treatment == Treatment::number && weight == input.first) return {input.center, input.scale};
  }
  return {};
}

std::vector<WeightGroup> groups_of(const PipelinePlan& plan) {
  std::vector<WeightGroup> out;
  for (const InputPlan& input : plan.inputs) {
    if (has_places(input.treatment) && input.treatment != Treatment::places)
      out.push_back({input.first, input.count});
  }
  for (const InteractionPlan& pair : plan.interactions) {
    if (pair.kind == Kind::cross) out.push_back({pair.first, pair.count});
  }
  return out;
}

}  // namespace samovar::trainer
