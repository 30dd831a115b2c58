#include "trainer/features/plan_json.hpp"

#include <array>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "base/json.hpp"
#include "trainer/features/tokens.hpp"
#include "trainer/features/values.hpp"
#include "trainer/models/strict_json.hpp"

namespace samovar::trainer {

namespace {

using Json = nlohmann::json;
using Kind = InteractionPlan::Kind;

// Frequent values with places of their own; without any the form is the one before, which older software
// reads.
constexpr int kVersion = 1;
constexpr int kOwnVersion = 2;
constexpr std::size_t kNameBytesMax = 256;
constexpr std::size_t kLevelBytesMax = 1 << 16;
constexpr std::size_t kLevelsMax = 100'000;
constexpr std::size_t kInputsMax = 3 * kColumnsMax;  // a time is three of them

constexpr std::array<std::pair<Treatment, std::string_view>, 9> kTreatments = {{
    {Treatment::number, "number"},
    {Treatment::number_hash, "number_hash"},
    {Treatment::levels, "levels"},
    {Treatment::level_hash, "level_hash"},
    {Treatment::words, "words"},
    {Treatment::places, "places"},
    {Treatment::place_hash, "place_hash"},
    {Treatment::weekday, "weekday"},
    {Treatment::hour, "hour"},
}};
constexpr std::array<std::pair<Kind, std::string_view>, 5> kKinds = {{
    {Kind::product, "product"},
    {Kind::cross, "cross"},
    {Kind::cross_hash, "cross_hash"},
    {Kind::scaled, "scaled"},
    {Kind::scaled_hash, "scaled_hash"},
}};

template <class T, std::size_t N>
std::string_view word_of(const std::array<std::pair<T, std::string_view>, N>& words, T value) {
  for (const auto& [known, word] : words) {
    if (known == value) return word;
  }
  return "";
}
template <class T, std::size_t N>
Result<T> value_of(const std::array<std::pair<T, std::string_view>, N>& words, std::string_view text) {
  for (const auto& [known, word] : words) {
    if (word == text) return known;
  }
  return Error{Errc::invalid, "unknown treatment in the feature pipeline"};
}

Error bad(const std::string& what) { return {Errc::invalid, "the feature pipeline " + what}; }

bool hashes(Treatment treatment) {
  return treatment == Treatment::level_hash || treatment == Treatment::number_hash;
}

// `own`: the form with places of their own.
Json input_to_json(const InputPlan& input, bool own) {
  Json out = {{"name", input.name},
              {"type", to_string(input.type)},
              {"sensitive", input.sensitive},
              {"as", word_of(kTreatments, input.treatment)}};
  if (input.treatment == Treatment::number) {
    out["center"] = input.center;
    out["scale"] = input.scale;
    out["indicator"] = input.indicator;
  }
  if (input.treatment == Treatment::number || input.treatment == Treatment::number_hash) {
    out["fill"] = input.fill;
    out["min"] = input.seen_range ? Json(input.min) : Json(nullptr);
    out["max"] = input.seen_range ? Json(input.max) : Json(nullptr);
  }
  if (input.treatment == Treatment::levels) {
    out["levels"] = input.levels;
    out["other"] = input.other;
    out["missing"] = input.missing;
  }
  if (input.treatment == Treatment::places) out["count"] = input.count;
  if (own && hashes(input.treatment)) {
    out["frequent"] =
        input.treatment == Treatment::level_hash ? Json(input.frequent) : Json(input.frequent_numbers);
    out["frequent_missing"] = input.frequent_missing;
  }
  return out;
}

bool type_fits(Treatment treatment, ColumnType type) {
  switch (treatment) {
    case Treatment::number:
    case Treatment::number_hash:
      return type == ColumnType::real || type == ColumnType::integer || type == ColumnType::boolean ||
             type == ColumnType::time;
    case Treatment::levels:
    case Treatment::level_hash:
      return type == ColumnType::category;
    case Treatment::words:
      return type == ColumnType::text;
    case Treatment::places:
    case Treatment::place_hash:
      return type == ColumnType::sparse;
    case Treatment::weekday:
    case Treatment::hour:
      return type == ColumnType::time;
  }
  return false;
}

Result<bool> yes_no(const Json& json, const char* member) {
  const Json& value = json.at(member);
  if (!value.is_boolean()) return bad(std::string("has a \"") + member + "\" that is neither true nor false");
  return value.get<bool>();
}

Result<void> texts(const Json& list, std::size_t count_max, std::size_t bytes_max,
                   std::vector<std::string>& out) {
  if (!list.is_array() || list.size() > count_max) return bad("has a list that is none or is too long");
  std::set<std::string_view> seen;
  out.reserve(list.size());
  for (const Json& each : list) {
    if (!each.is_string() || each.get_ref<const std::string&>().size() > bytes_max)
      return bad("has a list with something else than short texts");
    if (!seen.insert(each.get_ref<const std::string&>()).second) return bad("has a list with a text twice");
    out.push_back(each.get<std::string>());
  }
  return {};
}

Result<void> read_number(const Json& json, InputPlan& input) {
  if (input.treatment == Treatment::number) {
    SAMOVAR_TRY(input.center, finite_number(json, "center"));
    SAMOVAR_TRY(input.scale, finite_number(json, "scale"));
    SAMOVAR_TRY(input.indicator, yes_no(json, "indicator"));
    if (!(input.scale > 0)) return bad("has a scale that is not above 0");
  }
  SAMOVAR_TRY(input.fill, finite_number(json, "fill"));
  input.seen_range = !json.at("min").is_null();
  if (!input.seen_range) return json.at("max").is_null() ? Result<void>() : bad("has a max without a min");
  SAMOVAR_TRY(input.min, finite_number(json, "min"));
  SAMOVAR_TRY(input.max, finite_number(json, "max"));
  if (input.min > input.max) return bad("has a min above its max");
  return {};
}

Result<void> read_frequent(const Json& json, InputPlan& input) {
  SAMOVAR_TRY(input.frequent_missing, yes_no(json, "frequent_missing"));
  const Json& list = json.at("frequent");
  if (input.treatment == Treatment::level_hash) {
    SAMOVAR_CHECK(texts(list, kOwnPlacesMax, kLevelBytesMax, input.frequent));
    for (const std::string& level : input.frequent) {
      if (level.empty()) return bad("has an empty level");
    }
    return {};
  }
  if (!list.is_array() || list.size() > kOwnPlacesMax) return bad("has a list that is none or is too long");
  std::set<std::uint16_t> seen;
  for (const Json& each : list) {
    if (!each.is_number_unsigned() || each.get<std::uint64_t>() >= Tokens::kNumberTokens ||
        !Tokens::is_number(each.get<std::uint16_t>()))
      return bad("has a frequent number that is none");
    if (!seen.insert(each.get<std::uint16_t>()).second) return bad("has a frequent number twice");
    input.frequent_numbers.push_back(each.get<std::uint16_t>());
  }
  return {};
}

Result<InputPlan> read_input(const Json& json, bool own) {
  if (!json.is_object() || !json.contains("as") || !json.at("as").is_string())
    return bad("has an input without \"as\"");
  InputPlan input;
  SAMOVAR_TRY(input.treatment, value_of(kTreatments, json.at("as").get_ref<const std::string&>()));
  std::vector<std::string_view> members = {"name", "type", "sensitive", "as"};
  const auto also = [&](std::initializer_list<std::string_view> more) {
    members.insert(members.end(), more);
  };
  if (input.treatment == Treatment::number) also({"center", "scale", "indicator", "fill", "min", "max"});
  if (input.treatment == Treatment::number_hash) also({"fill", "min", "max"});
  if (input.treatment == Treatment::levels) also({"levels", "other", "missing"});
  if (input.treatment == Treatment::places) also({"count"});
  if (own && hashes(input.treatment)) also({"frequent", "frequent_missing"});
  SAMOVAR_CHECK(require_members(json, members, "an input"));
  SAMOVAR_TRY(input.name, short_text(json, "name", kNameBytesMax));
  if (input.name.empty()) return bad("has an input without a name");
  SAMOVAR_TRY(const std::string type_name, short_text(json, "type", 16));
  const auto type = parse_column_type(type_name);
  if (!type || !type_fits(input.treatment, *type))
    return bad("cannot treat a column of type \"" + type_name + "\" so");
  input.type = *type;
  SAMOVAR_TRY(input.sensitive, yes_no(json, "sensitive"));
  if (input.treatment == Treatment::number || input.treatment == Treatment::number_hash)
    SAMOVAR_CHECK(read_number(json, input));
  if (input.treatment == Treatment::levels) {
    SAMOVAR_CHECK(texts(json.at("levels"), kLevelsMax, kLevelBytesMax, input.levels));
    SAMOVAR_TRY(input.other, yes_no(json, "other"));
    SAMOVAR_TRY(input.missing, yes_no(json, "missing"));
    for (const std::string& level : input.levels) {
      if (level.empty()) return bad("has an empty level");
    }
    if (input.levels.empty()) return bad("has a category without levels");
  }
  if (input.treatment == Treatment::places) {
    SAMOVAR_TRY(const std::uint64_t count, whole_number(json, "count", kSparsePlacesMax));
    if (count == 0) return bad("has a sparse input without places");
    input.count = static_cast<std::uint32_t>(count);
  }
  if (own && hashes(input.treatment)) SAMOVAR_CHECK(read_frequent(json, input));
  return input;
}

bool kind_fits(Kind kind, const InputPlan& a, const InputPlan& b) {
  const auto placed = [](const InputPlan& i) { return i.treatment == Treatment::levels; };
  const auto slot = [&](const InputPlan& i) {
    return placed(i) || i.treatment == Treatment::level_hash || i.treatment == Treatment::number_hash;
  };
  const auto number = [](const InputPlan& i) { return i.treatment == Treatment::number; };
  switch (kind) {
    case Kind::product:
      return number(a) && number(b);
    case Kind::cross:
      return placed(a) && placed(b);
    case Kind::cross_hash:
      return slot(a) && slot(b);
    case Kind::scaled:
      return placed(a) && number(b);
    case Kind::scaled_hash:
      return slot(a) && number(b);
  }
  return false;
}

Result<InteractionPlan> read_interaction(const Json& json, const std::vector<InputPlan>& inputs) {
  constexpr std::array<std::string_view, 3> kMembers = {"a", "b", "as"};
  SAMOVAR_CHECK(require_members(json, kMembers, "an interaction"));
  InteractionPlan out;
  SAMOVAR_TRY(const std::uint64_t a, whole_number(json, "a", kInputsMax));
  SAMOVAR_TRY(const std::uint64_t b, whole_number(json, "b", kInputsMax));
  SAMOVAR_TRY(const std::string as, short_text(json, "as", 16));
  SAMOVAR_TRY(out.kind, value_of(kKinds, as));
  if (a >= inputs.size() || b >= inputs.size() || a == b || !kind_fits(out.kind, inputs[a], inputs[b]))
    return bad("has an interaction between inputs that cannot");
  out.a = static_cast<std::uint32_t>(a);
  out.b = static_cast<std::uint32_t>(b);
  return out;
}

Result<TargetPlan> read_target(const Json& json) {
  constexpr std::array<std::string_view, 3> kMembers = {"name", "type", "classes"};
  SAMOVAR_CHECK(require_members(json, kMembers, "the target"));
  TargetPlan out;
  SAMOVAR_TRY(out.name, short_text(json, "name", kNameBytesMax));
  SAMOVAR_TRY(const std::string type_name, short_text(json, "type", 16));
  const auto type = parse_column_type(type_name);
  if (!type || out.name.empty()) return bad("has a target without a name or a type");
  out.type = *type;
  SAMOVAR_CHECK(texts(json.at("classes"), kClassesMax, kLevelBytesMax, out.classes));
  if (out.classes.size() == 1) return bad("has a target with one class");
  const bool number = out.type == ColumnType::real || out.type == ColumnType::integer;
  if (!number && out.type != ColumnType::boolean && out.type != ColumnType::category)
    return bad("has a target of a type that cannot be one");
  if (out.type == ColumnType::boolean && !out.classes.empty() && out.classes.size() != 2)
    return bad("has a target of yes and no with other classes");
  if (out.type == ColumnType::category && out.classes.empty()) return bad("has a target without its classes");
  for (const std::string& each : out.classes) {
    if (number && !read_value(ColumnType::real, each))
      return bad("has a target with a class that is no number");
  }
  return out;
}

Result<std::string> column_name(const Json& json, const char* member) {
  if (json.at(member).is_null()) return std::string();
  return short_text(json, member, kNameBytesMax);
}

}  // namespace

Json plan_to_json(const PipelinePlan& plan) {
  const auto column = [](const std::string& name) { return name.empty() ? Json(nullptr) : Json(name); };
  const bool own = plan.own_places != 0;
  Json inputs = Json::array();
  for (const InputPlan& input : plan.inputs) inputs.push_back(input_to_json(input, own));
  Json interactions = Json::array();
  for (const InteractionPlan& pair : plan.interactions)
    interactions.push_back({{"a", pair.a}, {"b", pair.b}, {"as", word_of(kKinds, pair.kind)}});
  Json target = {
      {"name", plan.target.name}, {"type", to_string(plan.target.type)}, {"classes", plan.target.classes}};
  return {{"version", own ? kOwnVersion : kVersion},
          {"target", std::move(target)},
          {"weight", column(plan.weight)},
          {"offset", column(plan.offset)},
          {"exposure", column(plan.exposure)},
          {"hash_bits", plan.hash_bits},
          {"hash_seed", plan.hash_seed},
          {"inputs", std::move(inputs)},
          {"interactions", std::move(interactions)},
          {"unused", plan.unused},
          {"weights", plan.weights}};
}

Result<PipelinePlan> plan_from_json(const Json& json) {
  constexpr std::array<std::string_view, 11> kMembers = {"version",      "target",    "weight",    "offset",
                                                         "exposure",     "hash_bits", "hash_seed", "inputs",
                                                         "interactions", "unused",    "weights"};
  const bool own = json.is_object() && json.contains("version") && json.at("version") == kOwnVersion;
  if (json.is_object() && json.contains("version") && json.at("version") != kVersion && !own)
    return Error{Errc::unsupported, "the feature pipeline is of a later version"};
  SAMOVAR_CHECK(require_members(json, kMembers, "the feature pipeline"));
  PipelinePlan plan;
  SAMOVAR_TRY(plan.target, read_target(json.at("target")));
  SAMOVAR_TRY(plan.weight, column_name(json, "weight"));
  SAMOVAR_TRY(plan.offset, column_name(json, "offset"));
  SAMOVAR_TRY(plan.exposure, column_name(json, "exposure"));
  SAMOVAR_TRY(const std::uint64_t bits, whole_number(json, "hash_bits", 28));
  if (bits < 10) return bad("hashes to fewer than 10 bits");
  plan.hash_bits = static_cast<unsigned>(bits);
  SAMOVAR_TRY(plan.hash_seed, whole_number(json, "hash_seed", std::uint64_t{1} << 53));
  const Json& inputs = json.at("inputs");
  if (!inputs.is_array() || inputs.size() > kInputsMax) return bad("has no list of inputs");
  std::set<std::pair<std::string, Treatment>> seen;
  std::map<std::string, ColumnType> types;
  for (const Json& each : inputs) {
    SAMOVAR_TRY(InputPlan input, read_input(each, own));
    const bool calendar = input.treatment == Treatment::weekday || input.treatment == Treatment::hour;
    if (!seen.emplace(input.name, input.treatment).second || (!calendar && types.contains(input.name)))
      return bad("has an input twice");
    if (!types.emplace(input.name, input.type).second && types[input.name] != input.type)
      return bad("has an input of two types");
    plan.inputs.push_back(std::move(input));
  }
  const Json& interactions = json.at("interactions");
  if (!interactions.is_array() || interactions.size() > kInteractionsMax)
    return bad("has no list of interactions");
  for (const Json& each : interactions) {
    SAMOVAR_TRY(InteractionPlan pair, read_interaction(each, plan.inputs));
    plan.interactions.push_back(pair);
  }
  SAMOVAR_CHECK(texts(json.at("unused"), kColumnsMax, kNameBytesMax, plan.unused));
  if (!lay_out(plan)) return bad("has too many weights");
  SAMOVAR_TRY(const std::uint64_t weights, whole_number(json, "weights", kWeightsMax));
  if (weights != plan.weights) return bad("has other weights than its inputs need");
  if (own && plan.own_places == 0) return bad("has no frequent values, though its version says so");
  return plan;
}

}  // namespace samovar::trainer
