#include "trainer/spec_columns.hpp"
#include "base/json.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace samovar::trainer {

namespace {

class Check {
 public:
  Check(const JobSpec& spec, const Schema* schema, std::vector<SpecFault>& faults)
      : spec_(spec), schema_(schema), faults_(faults) {
    if (schema_ == nullptr) return;
    for (const ColumnSpec& column : schema_->columns) types_.emplace(column.name, column.type);
  }

  void fit_together() {
    // A column that says something else about the row is no input besides.
    std::map<std::string, std::string_view> roles;
    const auto role = [&](std::string_view what, const std::string& column) {
      if (column.empty()) return;
      const auto [at, fresh] = roles.emplace(column, what);
      if (!fresh)
        fault("/" + std::string(what), "conflict",
              "the column \"" + column + "\" is the " + std::string(at->second) + " already");
    };
    role("target", spec_.target);
    role("weight", spec_.weight);
    role("offset", spec_.offset);
    role("exposure", spec_.exposure);
    if (!spec_.split.column.empty() && spec_.split.column == spec_.target)
      fault("/split/column", "conflict", "rows cannot be split by the target");
    std::set<std::string_view> seen;
    for (std::size_t i = 0; i < spec_.inputs.size(); ++i) {
      const std::string& input = spec_.inputs[i];
      const std::string pointer = "/inputs/" + std::to_string(i);
      if (const auto at = roles.find(input); at != roles.end())
        fault(
            pointer, "conflict",
            "the column \"" + input + "\" is the " + std::string(at->second) + " and cannot be an input too");
      if (!seen.insert(input).second) fault(pointer, "conflict", "\"" + input + "\" is there twice");
      if (std::find(spec_.ignore.begin(), spec_.ignore.end(), input) != spec_.ignore.end())
        fault(pointer, "conflict", "\"" + input + "\" is an input and ignored as well");
    }
    std::set<std::pair<std::string, std::string>> pairs;
    for (std::size_t i = 0; i < spec_.features.interactions.size(); ++i) {
      auto [a, b] = spec_.features.interactions[i];
      const std::string pointer = "/features/interactions/" + std::to_string(i);
      if (a == b) fault(pointer, "conflict", "an interaction is between two different columns");
      if (b < a) std::swap(a, b);
      if (!pairs.emplace(a, b).second) fault(pointer, "conflict", "this interaction is there twice");
      for (const std::string& side : {a, b}) {
        if (roles.contains(side))
          fault(pointer, "conflict",
                "\"" + side + "\" is the " + std::string(roles[side]) + " and cannot interact");
        if (!spec_.inputs.empty() && !seen.contains(side))
          fault(pointer, "conflict", "\"" + side + "\" is not among the inputs");
      }
    }
  }

  void are_there() {
    check_target();
    number("/weight", spec_.weight, "weights");
    number("/offset", spec_.offset, "offsets");
    number("/exposure", spec_.exposure, "exposures");
    for (std::size_t i = 0; i < spec_.inputs.size(); ++i)
      there("/inputs/" + std::to_string(i), spec_.inputs[i]);
    for (std::size_t i = 0; i < spec_.ignore.size(); ++i)
      there("/ignore/" + std::to_string(i), spec_.ignore[i]);
    for (std::size_t i = 0; i < spec_.features.interactions.size(); ++i) {
      const auto& [a, b] = spec_.features.interactions[i];
      for (const std::string& side : {a, b}) {
        const std::string pointer = "/features/interactions/" + std::to_string(i);
        const auto type = there(pointer, side);
        if (type == ColumnType::text || type == ColumnType::sparse)
          fault(pointer, "type", "\"" + side + "\" is no number and no category: it cannot interact");
      }
    }
    check_split();
    if (spec_.inputs.empty() && !any_input_left())
      fault("/inputs", "required", "no column is left to predict from");
  }

 private:
  using MaybeType = std::optional<ColumnType>;

  void fault(std::string pointer, const char* code, std::string detail) {
    faults_.push_back({std::move(pointer), code, std::move(detail)});
  }
  MaybeType there(const std::string& pointer, const std::string& column) {
    if (column.empty()) return std::nullopt;
    const auto at = types_.find(column);
    if (at != types_.end()) return at->second;
    fault(pointer, "unknown", "the data set has no column \"" + column + "\"");
    return std::nullopt;
  }
  void number(const char* pointer, const std::string& column, const char* what) {
    const MaybeType type = there(pointer, column);
    if (type && *type != ColumnType::real && *type != ColumnType::integer && *type != ColumnType::boolean)
      fault(pointer, "type",
            std::string(what) + " must be numbers, and \"" + column + "\" is of type " +
                std::string(to_string(*type)));
  }
  void check_target() {
    const MaybeType type = there("/target", spec_.target);
    if (!type) return;
    if (*type == ColumnType::text || *type == ColumnType::sparse || *type == ColumnType::time)
      return fault("/target", "type",
                   "a column of type " + std::string(to_string(*type)) +
                       " cannot be predicted: take a number, a category, or one with yes and no");
    const auto family =
        spec_.parameters.is_object() ? spec_.parameters.find("family") : spec_.parameters.end();
    if (*type != ColumnType::category || family == spec_.parameters.end() || !family->is_string()) return;
    const auto& name = family->get_ref<const std::string&>();
    if (name != "auto" && name != "binomial" && name != "multinomial")
      fault(
          "/parameters/family", "conflict",
          "the target \"" + spec_.target + "\" holds categories: the family must be binomial or multinomial");
  }
  void check_split() {
    const MaybeType type = there("/split/column", spec_.split.column);
    if (!type) return;
    const bool number =
        *type == ColumnType::real || *type == ColumnType::integer || *type == ColumnType::time;
    if (spec_.split.kind == SplitSpec::Kind::time && !number)
      fault("/split/column", "type", "\"" + spec_.split.column + "\" holds neither times nor numbers");
    if (*type == ColumnType::sparse)
      fault("/split/column", "type", "rows cannot be split by a sparse column");
  }
  bool any_input_left() const {
    for (const auto& [name, type] : types_) {
      if (name == spec_.target || name == spec_.weight || name == spec_.offset || name == spec_.exposure)
        continue;
      if (std::find(spec_.ignore.begin(), spec_.ignore.end(), name) != spec_.ignore.end()) continue;
      if (type == ColumnType::text && !spec_.features.texts) continue;
      if (name == spec_.split.column) continue;
      return true;
    }
    return false;
  }

  const JobSpec& spec_;
  const Schema* const schema_;
  std::vector<SpecFault>& faults_;
  std::map<std::string, ColumnType> types_;
};

}  // namespace

void check_columns_fit_together(const JobSpec& spec, std::vector<SpecFault>& faults) {
  Check(spec, nullptr, faults).fit_together();
}

void check_columns_are_there(const JobSpec& spec, const Schema& schema, std::vector<SpecFault>& faults) {
  Check(spec, &schema, faults).are_there();
}

}  // namespace samovar::trainer
