#include "trainer/features/plan.hpp"

#include <map>
#include <string_view>

namespace samovar::trainer {

namespace {

bool fills_slot(Treatment treatment) {
  switch (treatment) {
    case Treatment::number_hash:
    case Treatment::levels:
    case Treatment::level_hash:
    case Treatment::weekday:
    case Treatment::hour:
      return true;
    default:
      return false;
  }
}
bool is_hashed(Treatment treatment) {
  return treatment == Treatment::number_hash || treatment == Treatment::level_hash ||
         treatment == Treatment::words || treatment == Treatment::place_hash;
}
bool is_ragged(Treatment treatment) {
  return treatment == Treatment::words || treatment == Treatment::places ||
         treatment == Treatment::place_hash;
}

std::uint64_t places_of(const InputPlan& input) {
  switch (input.treatment) {
    case Treatment::levels:
      return input.levels.size() + (input.other ? 1 : 0) + (input.missing ? 1 : 0);
    case Treatment::places:
      return input.count;
    case Treatment::weekday:
      return 7;
    case Treatment::hour:
      return 24;
    default:
      return 0;
  }
}

}  // namespace

bool lay_out(PipelinePlan& plan) {
  using Kind = InteractionPlan::Kind;
  std::uint64_t next = 0;
  std::uint32_t slot = 0;
  plan.hashed = false;
  plan.ragged = false;
  const auto take = [&](std::uint64_t count) {
    const std::uint64_t first = next;
    next += count;
    return static_cast<std::uint32_t>(first);
  };
  std::map<std::string_view, std::uint16_t> columns;
  for (InputPlan& input : plan.inputs) {
    input.column = columns.emplace(input.name, static_cast<std::uint16_t>(columns.size())).first->second;
    if (input.treatment == Treatment::number) input.first = take(1);
  }
  for (InputPlan& input : plan.inputs) {
    if (input.treatment == Treatment::number && input.indicator) input.indicator_weight = take(1);
  }
  for (InteractionPlan& pair : plan.interactions) {
    if (pair.kind == Kind::product) pair.first = take(pair.count = 1);
  }
  plan.dense_width = next;
  for (InputPlan& input : plan.inputs) {
    plan.hashed = plan.hashed || is_hashed(input.treatment);
    plan.ragged = plan.ragged || is_ragged(input.treatment);
    if (const std::uint64_t count = places_of(input); count != 0 || input.treatment == Treatment::levels) {
      if (count > kWeightsMax) return false;
      input.count = static_cast<std::uint32_t>(count);
      input.first = take(count);
    }
    input.slot = fills_slot(input.treatment) ? slot++ : kNoSlot;
  }
  for (InteractionPlan& pair : plan.interactions) {
    pair.slot = pair.kind == Kind::cross || pair.kind == Kind::cross_hash ? slot++ : kNoSlot;
    plan.hashed = plan.hashed || pair.kind == Kind::cross_hash || pair.kind == Kind::scaled_hash;
    plan.ragged = plan.ragged || pair.kind == Kind::scaled || pair.kind == Kind::scaled_hash;
    if (pair.kind != Kind::cross && pair.kind != Kind::scaled) continue;
    const std::uint64_t count =
        std::uint64_t{plan.inputs[pair.a].count} * (pair.kind == Kind::cross ? plan.inputs[pair.b].count : 1);
    if (count > kWeightsMax) return false;
    pair.count = static_cast<std::uint32_t>(count);
    pair.first = take(count);
    if (next > kWeightsMax) return false;
  }
  if (next > kWeightsMax) return false;
  plan.hash_first = static_cast<std::uint32_t>(next);
  plan.own_places = 0;
  for (InputPlan& input : plan.inputs) {
    if (input.treatment != Treatment::level_hash && input.treatment != Treatment::number_hash) continue;
    const std::uint64_t count =
        input.frequent.size() + input.frequent_numbers.size() + (input.frequent_missing ? 1 : 0);
    if (plan.own_places + count > own_places_max(plan.hash_bits)) return false;
    input.first = plan.hash_first + plan.own_places;
    input.count = static_cast<std::uint32_t>(count);
    plan.own_places += input.count;
  }
  if (plan.hashed) next += std::uint64_t{1} << plan.hash_bits;
  plan.slot_width = slot;
  plan.weights = next;
  return next <= kWeightsMax;
}

}  // namespace samovar::trainer
