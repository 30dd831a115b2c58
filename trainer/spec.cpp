#include "trainer/spec.hpp"

#include <array>
#include <limits>

#include "trainer/features/plan.hpp"
#include "trainer/models/glm_parameters.hpp"
#include "trainer/spec_columns.hpp"
#include "trainer/spec_device.hpp"
#include "trainer/spec_members.hpp"
#include "trainer/spec_power.hpp"
#include "trainer/spec_together.hpp"

namespace samovar::trainer {

namespace {

using Json = nlohmann::json;

constexpr std::size_t kNameBytesMax = 100;

constexpr std::array<std::pair<SplitSpec::Kind, std::string_view>, 4> kSplits = {{
    {SplitSpec::Kind::random, "random"},
    {SplitSpec::Kind::group, "group"},
    {SplitSpec::Kind::time, "time"},
    {SplitSpec::Kind::folds, "folds"},
}};
using Categories = FeatureOptions::Categories;
constexpr std::array<std::pair<Categories, std::string_view>, 3> kCategories = {{
    {Categories::automatic, "auto"},
    {Categories::onehot, "onehot"},
    {Categories::hash, "hash"},
}};
using Numbers = FeatureOptions::Numbers;
constexpr std::array<std::pair<Numbers, std::string_view>, 3> kNumbers = {{
    {Numbers::standardise, "standardise"},
    {Numbers::plain, "plain"},
    {Numbers::hash, "hash"},
}};

// A name goes into addresses and file names: letters, digits, and . _ - between them.
bool good_name(std::string_view name) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  if (name.empty() || name.size() > kNameBytesMax || !plain(name.front())) return false;
  for (const char c : name) {
    if (!plain(c) && c != '.' && c != '_' && c != '-') return false;
  }
  return true;
}

void parse_split(const Json& json, SplitSpec& split, std::vector<SpecFault>& faults) {
  SpecMembers members(json, "/split", faults);
  members.choice("kind", kSplits, split.kind);
  members.text("column", kColumnBytesMax, split.column);
  members.share("valid", 0.9, split.valid);
  members.share("test", 0.9, split.test);
  members.whole("folds", 2, 20, split.folds);
  members.refuse_others();
  if (split.valid + split.test > 0.9)
    members.fault("", "range", "validation and test together may take at most 0.9 of the rows");
  using Kind = SplitSpec::Kind;
  if (split.column.empty() && (split.kind == Kind::group || split.kind == Kind::time))
    members.fault("column", "required", "a split by group or time needs the column to go by");
  if (!split.column.empty() && split.kind == Kind::random)
    members.fault("column", "conflict", "a random split goes by no column; did you mean \"group\"?");
}

void parse_features(const Json& json, FeatureOptions& features, std::vector<SpecFault>& faults) {
  SpecMembers members(json, "/features", faults);
  members.choice("categories", kCategories, features.categories);
  members.choice("numbers", kNumbers, features.numbers);
  members.whole("hash_bits", 10, 28, features.hash_bits);
  if (const Json* most = members.find("frequent_levels"); most != nullptr && *most != "auto") {
    std::uint32_t count = 0;
    members.whole("frequent_levels", 0, kOwnPlacesMax, count);
    features.frequent_levels = count;
  }
  members.whole("levels_max", 1, 100'000, features.levels_max);
  members.yes_no("missing_indicators", features.missing_indicators);
  members.yes_no("texts", features.texts);
  if (const Json* list = members.find("interactions"); list != nullptr) {
    bool good = list->is_array() && list->size() <= kInteractionsSpecMax;
    if (good) {
      for (const Json& pair : *list) {
        good = good && pair.is_array() && pair.size() == 2 && pair[0].is_string() && pair[1].is_string();
        if (good) features.interactions.emplace_back(pair[0].get<std::string>(), pair[1].get<std::string>());
      }
    }
    if (!good)
      members.fault("interactions", "type", "this must be a list of at most 256 pairs of column names");
  }
  members.refuse_others();
}

}  // namespace

std::string escape_pointer(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (c == '~') {
      out += "~0";
    } else if (c == '/') {
      out += "~1";
    } else {
      out += c;
    }
  }
  return out;
}

ParsedSpec parse_spec(const Json& json, const Schema* schema) {
  ParsedSpec out;
  JobSpec& spec = out.spec;
  SpecMembers members(json, "", out.faults);
  if (!json.is_object()) return out;
  members.text("kind", 32, spec.kind);
  if (spec.kind != "glm") members.fault("kind", "choice", "the kinds of model are: glm");
  members.text("name", kNameBytesMax, spec.name);
  if (!good_name(spec.name))
    members.fault("name", spec.name.empty() ? "required" : "range",
                  "the model needs a name of up to 100 letters, digits, dots, dashes and underscores, "
                  "beginning with a letter or digit");
  members.text("dataset", 64, spec.dataset_id);
  if (spec.dataset_id.empty()) members.fault("dataset", "required", "say which data set to train on");
  members.whole("dataset_version", 0, std::numeric_limits<std::uint32_t>::max(), spec.dataset_version);
  members.text("target", kColumnBytesMax, spec.target);
  if (spec.target.empty()) members.fault("target", "required", "say which column is to be predicted");
  members.columns("inputs", spec.inputs);
  members.columns("ignore", spec.ignore);
  members.text("weight", kColumnBytesMax, spec.weight);
  members.text("offset", kColumnBytesMax, spec.offset);
  members.text("exposure", kColumnBytesMax, spec.exposure);
  if (const Json* split = members.find("split")) parse_split(*split, spec.split, out.faults);
  if (const Json* features = members.find("features")) parse_features(*features, spec.features, out.faults);
  parse_together(members, spec, out.faults);
  parse_power(members, spec, out.faults);
  parse_device(members, spec);
  // A number in JSON is exact up to here in every program that may read it.
  members.whole("seed", 0, std::uint64_t{1} << 53, spec.seed);
  const Json* parameters = members.find("parameters");
  if (spec.kind == "glm") {
    const Json given = parameters != nullptr ? *parameters : Json::object();
    spec.parameters = to_json(parse_glm_parameters(given, "/parameters", out.faults));
  }
  members.refuse_others();
  check_columns_fit_together(spec, out.faults);
  if (schema != nullptr) check_columns_are_there(spec, *schema, out.faults);
  return out;
}

Json to_json(const JobSpec& spec) {
  const auto column = [](const std::string& name) { return name.empty() ? Json(nullptr) : Json(name); };
  Json interactions = Json::array();
  for (const auto& [a, b] : spec.features.interactions) interactions.push_back({a, b});
  Json split = {{"kind", word_of(kSplits, spec.split.kind)},
                {"column", column(spec.split.column)},
                {"valid", spec.split.valid},
                {"test", spec.split.test},
                {"folds", spec.split.folds}};
  Json features = {{"categories", word_of(kCategories, spec.features.categories)},
                   {"numbers", word_of(kNumbers, spec.features.numbers)},
                   {"hash_bits", spec.features.hash_bits},
                   {"levels_max", spec.features.levels_max},
                   {"missing_indicators", spec.features.missing_indicators},
                   {"texts", spec.features.texts},
                   {"interactions", std::move(interactions)}};
  // Nodes of an earlier version refuse what they do not know: written only when it was asked for.
  if (spec.features.frequent_levels) features["frequent_levels"] = *spec.features.frequent_levels;
  Json all = {{"kind", spec.kind},
              {"name", spec.name},
              {"dataset", spec.dataset_id},
              {"dataset_version", spec.dataset_version},
              {"target", spec.target},
              {"inputs", spec.inputs},
              {"ignore", spec.ignore},
              {"weight", column(spec.weight)},
              {"offset", column(spec.offset)},
              {"exposure", column(spec.exposure)},
              {"split", std::move(split)},
              {"features", std::move(features)},
              {"parameters", spec.parameters},
              {"strategy", to_json(spec.strategy)},
              {"nodes", {{"min", spec.nodes.min}, {"max", spec.nodes.max}}},
              {"on_lost_node", to_string(spec.on_lost_node)},
              {"seed", spec.seed}};
  // Nodes of an earlier version refuse what they do not know: it is written only when it was asked for.
  if (Json power = to_json(spec.power); !power.is_null()) all["power"] = std::move(power);
  if (spec.device != Device::automatic) all["device"] = to_string(spec.device);
  return all;
}

}  // namespace samovar::trainer
