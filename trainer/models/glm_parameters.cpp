#include "trainer/models/glm_parameters.hpp"
#include "base/json.hpp"

#include <array>
#include <cmath>

namespace samovar::trainer {

namespace {

using nlohmann::json;

struct SolverName {
  SolverKind kind;
  std::string_view name;
};
constexpr std::array<SolverName, 7> kSolvers = {{{SolverKind::automatic, "auto"},
                                                 {SolverKind::irls, "irls"},
                                                 {SolverKind::lbfgs, "lbfgs"},
                                                 {SolverKind::adagrad, "adagrad"},
                                                 {SolverKind::ftrl, "ftrl"},
                                                 {SolverKind::sgd, "sgd"},
                                                 {SolverKind::adam, "adam"}}};

// Reads one object's members and gathers what is wrong with them.
class Reader {
 public:
  Reader(const json& object, std::string_view at, std::vector<SpecFault>& faults)
      : object_(object), at_(at), faults_(faults) {}

  void fault(std::string_view key, std::string_view code, std::string detail) {
    std::string pointer(at_);
    if (!key.empty()) pointer.append("/").append(escaped(key));
    faults_.push_back({std::move(pointer), std::string(code), std::move(detail)});
  }

  // Null when it is absent or null: the default holds.
  const json* find(std::string_view key) const {
    const auto found = object_.find(std::string(key));
    return found == object_.end() || found->is_null() ? nullptr : &*found;
  }
  std::optional<double> number(std::string_view key, double low, double high, std::string_view range) {
    const json* value = find(key);
    if (value == nullptr) return std::nullopt;
    if (!value->is_number()) {
      fault(key, "type", "\"" + std::string(key) + "\" is a number");
      return std::nullopt;
    }
    const double number = value->get<double>();
    if (!(number >= low && number <= high)) {
      fault(key, "range", "\"" + std::string(key) + "\" is " + std::string(range));
      return std::nullopt;
    }
    return number;
  }
  std::optional<unsigned> count(std::string_view key, unsigned low, unsigned high) {
    const std::string range = "a whole number from " + std::to_string(low) + " to " + std::to_string(high);
    const auto number = this->number(key, low, high, range);
    if (!number) return std::nullopt;
    if (*number != std::floor(*number)) {
      fault(key, "type", "\"" + std::string(key) + "\" is " + range);
      return std::nullopt;
    }
    return static_cast<unsigned>(*number);
  }
  std::optional<bool> flag(std::string_view key) {
    const json* value = find(key);
    if (value == nullptr) return std::nullopt;
    if (value->is_boolean()) return value->get<bool>();
    fault(key, "type", "\"" + std::string(key) + "\" is true or false");
    return std::nullopt;
  }
  // The text, or "auto" when it is absent.
  std::string choice(std::string_view key, const json& among) {
    const json* value = find(key);
    if (value == nullptr) return "auto";
    if (value->is_string()) {
      for (const json& one : among) {
        if (one == *value) return value->get<std::string>();
      }
    }
    std::string names;
    for (const json& one : among) names += (names.empty() ? "" : ", ") + one.get<std::string>();
    fault(key, "choice", "\"" + std::string(key) + "\" is one of " + names);
    return "auto";
  }

 private:
  static std::string escaped(std::string_view key) {
    std::string out;
    for (const char c : key) {
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

  const json& object_;
  std::string at_;
  std::vector<SpecFault>& faults_;
};

const json& families() {
  static const json names = {"auto",    "gaussian", "binomial",          "multinomial",
                             "poisson", "gamma",    "negative_binomial", "tweedie"};
  return names;
}
const json& links() {
  static const json names = {"auto", "identity", "logit", "log", "inverse", "probit", "cloglog"};
  return names;
}
const json& solvers() {
  static const json names = [] {
    json list = json::array();
    for (const SolverName& solver : kSolvers) list.push_back(solver.name);
    return list;
  }();
  return names;
}

void read_bounds(const json& object, std::string_view at, std::map<std::string, Bound>& out,
                 std::vector<SpecFault>& faults) {
  Reader reader(object, at, faults);
  for (const auto& [column, pair] : object.items()) {
    const auto fits = [](const json& end) { return end.is_null() || end.is_number(); };
    if (!pair.is_array() || pair.size() != 2 || !fits(pair[0]) || !fits(pair[1])) {
      reader.fault(column, "type", "bounds are [lowest, highest], null for none");
      continue;
    }
    Bound bound;
    if (pair[0].is_number()) bound.low = pair[0].get<double>();
    if (pair[1].is_number()) bound.high = pair[1].get<double>();
    if (bound.low && bound.high && *bound.low > *bound.high)
      reader.fault(column, "range", "the lowest value is above the highest");
    out[column] = bound;
  }
}

void check_together(const GlmParameters& p, Reader& reader) {
  const bool streaming = p.solver == SolverKind::adagrad || p.solver == SolverKind::ftrl ||
                         p.solver == SolverKind::sgd || p.solver == SolverKind::adam;
  if (p.family && p.link && !link_fits(*p.family, *p.link))
    reader.fault("link", "conflict",
                 "the link " + std::string(to_string(*p.link)) + " does not go with the family " +
                     std::string(to_string(*p.family)));
  if (p.solver == SolverKind::irls) {
    if (p.l1.value_or(0) > 0)
      reader.fault("solver", "conflict", "irls has no l1: take lbfgs, or leave it to auto");
    if (!p.bounds.empty()) reader.fault("solver", "conflict", "irls has no bounds: take lbfgs");
    if (p.family == Family::multinomial)
      reader.fault("solver", "conflict", "irls does not do several classes: take lbfgs");
  }
  if (p.lambda_path > 0 && streaming)
    reader.fault("solver", "conflict", "a path of penalties needs lbfgs or irls");
}

json number_of(const std::optional<double>& value) { return value ? json(*value) : json(nullptr); }
json count_of(const std::optional<unsigned>& value) { return value ? json(*value) : json(nullptr); }

json property(json type, const char* title, const char* description, json standard, bool advanced) {
  return {{"type", std::move(type)},
          {"title", title},
          {"description", description},
          {"default", std::move(standard)},
          {"x-advanced", advanced}};
}
json choice_of(const json& names, const char* title, const char* description, bool advanced) {
  json out = property("string", title, description, "auto", advanced);
  out["enum"] = names;
  return out;
}
json ranged(json out, json low, json high) {
  if (!low.is_null()) out["minimum"] = std::move(low);
  if (!high.is_null()) out["maximum"] = std::move(high);
  return out;
}

}  // namespace

std::string_view to_string(SolverKind solver) noexcept {
  for (const SolverName& one : kSolvers) {
    if (one.kind == solver) return one.name;
  }
  return "auto";
}

GlmParameters parse_glm_parameters(const json& object, std::string_view at, std::vector<SpecFault>& faults) {
  GlmParameters p;
  Reader reader(object, at, faults);
  if (!object.is_object()) {
    if (!object.is_null()) reader.fault("", "type", "parameters are an object");
    return p;
  }
  static const json schema = glm_parameters_schema();
  for (const auto& [key, value] : object.items()) {
    if (!schema["properties"].contains(key))
      reader.fault(key, "unknown", "a generalized linear model has no parameter \"" + key + "\"");
  }
  constexpr double kMost = 1e12;
  p.family = parse_family(reader.choice("family", families()));
  p.link = parse_link(reader.choice("link", links()));
  const std::string solver = reader.choice("solver", solvers());
  for (const SolverName& one : kSolvers) {
    if (one.name == solver) p.solver = one.kind;
  }
  p.l1 = reader.number("l1", 0, kMost, "0 or more");
  p.l2 = reader.number("l2", 0, kMost, "0 or more");
  p.passes = reader.count("passes", 1, 100'000);
  p.batch_rows = reader.count("batch_rows", 1, kBatchRowsMost);
  p.learning_rate = reader.number("learning_rate", 1e-9, 1e3, "above 0, at most 1000");
  static const json kWeightings = {"none", "balanced"};
  p.balanced = reader.choice("class_weight", kWeightings) == "balanced";
  p.lambda_path = reader.count("lambda_path", 0, 200).value_or(p.lambda_path);
  p.early_stop = reader.flag("early_stop").value_or(p.early_stop);
  p.tolerance = reader.number("tolerance", 1e-14, 0.1, "from 1e-14 to 0.1").value_or(p.tolerance);
  p.theta = reader.number("theta", 1e-6, 1e9, "above 0");
  p.power = reader.number("power", 1.01, 1.99, "from 1.01 to 1.99").value_or(p.power);
  if (const json* bounds = reader.find("bounds")) {
    if (bounds->is_object()) {
      read_bounds(*bounds, std::string(at) + "/bounds", p.bounds, faults);
    } else {
      reader.fault("bounds", "type", "\"bounds\" is an object: {\"column\": [lowest, highest]}");
    }
  }
  check_together(p, reader);
  return p;
}

json to_json(const GlmParameters& p) {
  json bounds = json::object();
  for (const auto& [column, bound] : p.bounds)
    bounds[column] = json::array({number_of(bound.low), number_of(bound.high)});
  return {{"family", p.family ? json(to_string(*p.family)) : json("auto")},
          {"link", p.link ? json(to_string(*p.link)) : json("auto")},
          {"solver", to_string(p.solver)},
          {"l1", number_of(p.l1)},
          {"l2", number_of(p.l2)},
          {"passes", count_of(p.passes)},
          {"batch_rows", count_of(p.batch_rows)},
          {"learning_rate", number_of(p.learning_rate)},
          {"class_weight", p.balanced ? "balanced" : "none"},
          {"bounds", std::move(bounds)},
          {"lambda_path", p.lambda_path},
          {"early_stop", p.early_stop},
          {"tolerance", p.tolerance},
          {"theta", number_of(p.theta)},
          {"power", p.power}};
}

json glm_parameters_schema() {
  const json number_or_none = json::array({"number", "null"});
  const json count_or_none = json::array({"integer", "null"});
  const GlmParameters d;
  json weighting = property("string", "Class weights",
                            "balanced: rare classes count as much as frequent ones; probabilities then no "
                            "longer are shares.",
                            "none", false);
  weighting["enum"] = {"none", "balanced"};
  json bounds = property("object", "Bounds",
                         "Lowest and highest coefficient by column, null for none: "
                         "{\"age\": [0, null]} keeps age from lowering the prediction.",
                         json::object(), true);
  bounds["additionalProperties"] = {
      {"type", "array"}, {"minItems", 2}, {"maxItems", 2}, {"items", {{"type", number_or_none}}}};
  json properties = {
      {"family", choice_of(families(), "Family",
                           "What the target is: a yes or no (binomial), a class (multinomial), a number "
                           "(gaussian), a count (poisson, negative_binomial), a positive amount (gamma), an "
                           "amount that is often 0 (tweedie). auto decides by the target's column.",
                           false)},
      {"link", choice_of(links(), "Link", "How the sum of the effects becomes the expected value.", true)},
      {"solver", choice_of(solvers(), "Solver",
                           "auto takes irls for small designs (with standard errors and p-values), lbfgs for "
                           "medium ones, ftrl for large ones.",
                           true)},
      {"l1", ranged(property(number_or_none, "L1 penalty",
                             "Sets weak coefficients to exactly 0. Empty: none, or what suits hashed inputs.",
                             nullptr, false),
                    0, nullptr)},
      {"l2", ranged(property(number_or_none, "L2 penalty",
                             "Pulls coefficients towards 0; 1 is as much as one row's worth of doubt. Empty: "
                             "none where the data carry it, else a little.",
                             nullptr, false),
                    0, nullptr)},
      {"passes", ranged(property(count_or_none, "Passes",
                                 "Over the training rows for streaming solvers, iterations at most for the "
                                 "others. Empty: 5 and 500.",
                                 nullptr, false),
                        1, 100'000)},
      {"batch_rows",
       ranged(property(count_or_none, "Rows per update", "Streaming solvers only.", nullptr, true), 1,
              kBatchRowsMost)},
      {"learning_rate",
       ranged(property(number_or_none, "Learning rate", "Streaming solvers only.", nullptr, true), 1e-9,
              1000)},
      {"class_weight", std::move(weighting)},
      {"bounds", std::move(bounds)},
      {"lambda_path", ranged(property("integer", "Path of penalties",
                                      "Tries so many penalties from strong to weak and keeps the one that "
                                      "does best on the validation rows. 0: only the penalty given.",
                                      d.lambda_path, true),
                             0, 200)},
      {"early_stop",
       property("boolean", "Stop early", "Streaming solvers end when the validation loss no longer falls.",
                d.early_stop, true)},
      {"tolerance",
       ranged(property("number", "Tolerance",
                       "Irls and lbfgs end when the loss changes less than this share.", d.tolerance, true),
              1e-14, 0.1)},
      {"theta", ranged(property(number_or_none, "Theta",
                                "Negative binomial: the variance is mean + mean²/theta. Empty: estimated.",
                                nullptr, true),
                       1e-6, 1e9)},
      {"power", ranged(property("number", "Power", "Tweedie: the variance is proportional to mean^power.",
                                d.power, true),
                       1.01, 1.99)}};
  return {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
          {"type", "object"},
          {"additionalProperties", false},
          {"properties", std::move(properties)}};
}

}  // namespace samovar::trainer
