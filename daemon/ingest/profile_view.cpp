// What is left of a profile for those who may not see rows, and what a chosen target adds to it.
#include <cmath>

#include "base/json.hpp"
#include "daemon/ingest/profile.hpp"

namespace samovar::ingest {

using nlohmann::json;

namespace {

// Members of an object, or nothing: a profile was written by a process that read outside bytes.
json* member(json& object, const char* name) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(name);
  return found == object.end() ? nullptr : &*found;
}

std::uint64_t count_of(const json& value) {
  return value.is_number_unsigned() ? value.get<std::uint64_t>() : 0;
}

void suppress_levels(json& column, std::uint64_t count_min) {
  json* const levels = member(column, "levels");
  if (levels == nullptr || !levels->is_array()) return;
  std::uint64_t other = member(column, "other") != nullptr ? count_of(*member(column, "other")) : 0;
  json kept = json::array();
  for (json& level : *levels) {
    const json* const count = member(level, "count");
    if (count != nullptr && count_of(*count) >= count_min)
      kept.push_back(std::move(level));
    else
      other += count != nullptr ? count_of(*count) : 0;
  }
  *levels = std::move(kept);
  // The remainder is a cell like any other.
  column["other"] = other >= count_min ? json(other) : json(0);
}

void suppress_histogram(json& column, std::uint64_t count_min) {
  json* const histogram = member(column, "histogram");
  json* const counts = histogram != nullptr ? member(*histogram, "counts") : nullptr;
  json* const edges = histogram != nullptr ? member(*histogram, "edges") : nullptr;
  if (counts == nullptr || edges == nullptr || !counts->is_array() || !edges->is_array() || edges->empty())
    return;
  for (json& count : *counts) {
    if (count_of(count) < count_min) count = 0;
  }
  if (const json* const min = member(column, "min")) edges->front() = *min;
  if (const json* const max = member(column, "max")) edges->back() = *max;
}

void suppress_extremes(json& column) {
  const json* const quantiles = member(column, "quantiles");
  const auto quantile = [&](const char* name) {
    return quantiles != nullptr && quantiles->is_object() && quantiles->contains(name) ? (*quantiles)[name]
                                                                                       : json();
  };
  if (member(column, "min") != nullptr) column["min"] = quantile("0.01");
  if (member(column, "max") != nullptr) column["max"] = quantile("0.99");
}

// What association_json wrote, as far as it is that.
void associate(json& columns, std::size_t target, const json& found) {
  const auto list = [&](const char* name) -> const json& {
    static const json none = json::array();
    return found.is_object() && found.contains(name) && found[name].is_array() ? found[name] : none;
  };
  const json& categories = list("categories");
  const json& numbers = list("numbers");
  const json& ratios = list("ratios");
  const json& v = list("v");
  const auto set = [&](std::uint64_t x, std::uint64_t y, const json& values, std::size_t at) {
    if ((x != target && y != target) || at >= values.size() || !values[at].is_number()) return;
    const std::uint64_t other = x == target ? y : x;
    if (other < columns.size() && columns[other].is_object()) columns[other]["correlation"] = values[at];
  };
  std::size_t ratio = 0;
  std::size_t pair = 0;
  for (std::size_t x = 0; x < categories.size(); ++x) {
    const std::uint64_t category = count_of(categories[x]);
    for (const json& number : numbers) set(category, count_of(number), ratios, ratio++);
    for (std::size_t y = x + 1; y < categories.size(); ++y) set(category, count_of(categories[y]), v, pair++);
    if (category == target && columns[target].is_object()) columns[target]["correlation"] = 1.0;
  }
}

}  // namespace

void suppress_small_cells(json& profile, std::uint64_t count_min) {
  if (!profile.is_object()) return;
  profile.erase("head");
  json* const columns = member(profile, "columns");
  if (columns == nullptr || !columns->is_array()) return;
  for (json& column : *columns) {
    if (!column.is_object()) continue;
    const json* const missing = member(column, "missing");
    const std::uint64_t rows = member(profile, "rows") != nullptr ? count_of(profile["rows"]) : 0;
    const std::uint64_t gone = missing != nullptr ? count_of(*missing) : 0;
    suppress_levels(column, count_min);
    if (rows < gone + count_min) {
      // So few values that even their mean would tell them.
      for (const char* name : {"min", "max", "mean", "sd", "quantiles", "histogram", "length"})
        column.erase(name);
      continue;
    }
    suppress_extremes(column);
    suppress_histogram(column, count_min);
    if (json* const length = member(column, "length"); length != nullptr && length->is_object()) {
      length->erase("min");
      length->erase("max");
    }
  }
  profile["suppressed"] = count_min;
}

void mask_sensitive(json& profile, const trainer::Schema& schema) {
  json* const columns = member(profile, "columns");
  if (columns == nullptr || !columns->is_array()) return;
  for (std::size_t i = 0; i < columns->size() && i < schema.columns.size(); ++i) {
    json& column = (*columns)[i];
    if (!column.is_object() || !schema.columns[i].sensitive) continue;
    for (const char* name : {"min", "max", "quantiles", "histogram", "levels", "other"}) column.erase(name);
    column["masked"] = true;
  }
}

Result<void> correlate(json& profile, std::string_view target) {
  json* const columns = member(profile, "columns");
  if (columns == nullptr || !columns->is_array())
    return Error{Errc::corrupt, "the profile of this data set cannot be read"};
  const json moments = member(profile, "moments") != nullptr ? std::move(profile["moments"]) : json::object();
  profile.erase("moments");
  if (target.empty()) return {};
  std::size_t index = columns->size();
  for (std::size_t i = 0; i < columns->size(); ++i) {
    const json* const name = member((*columns)[i], "name");
    if (name != nullptr && name->is_string() && name->get_ref<const std::string&>() == target) index = i;
  }
  if (index == columns->size()) {
    return Error{Errc::invalid, "there is no column \"" + std::string(target) + "\" to correlate with"};
  }
  profile["target"] = target;
  for (json& column : *columns) {
    if (column.is_object()) column["correlation"] = nullptr;
  }
  if (!moments.is_object()) return {};
  if (moments.contains("associations")) associate(*columns, index, moments["associations"]);
  if (!moments.contains("columns") || !moments.contains("correlations")) return {};
  const json& numbers = moments["columns"];
  const json& values = moments["correlations"];
  if (!numbers.is_array() || !values.is_array()) return {};
  std::size_t at = 0;
  for (std::size_t x = 0; x < numbers.size(); ++x) {
    for (std::size_t y = x + 1; y < numbers.size(); ++y, ++at) {
      const std::uint64_t first = count_of(numbers[x]);
      const std::uint64_t second = count_of(numbers[y]);
      if ((first != index && second != index) || at >= values.size() || !values[at].is_number()) continue;
      const std::uint64_t other = first == index ? second : first;
      if (other < columns->size() && (*columns)[other].is_object())
        (*columns)[other]["correlation"] = values[at];
    }
    if (count_of(numbers[x]) == index && (*columns)[index].is_object())
      (*columns)[index]["correlation"] = 1.0;
  }
  return {};
}

}  // namespace samovar::ingest
