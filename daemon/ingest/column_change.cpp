#include "daemon/ingest/column_change.hpp"
#include "base/json.hpp"

#include <fmt/format.h>

#include <set>

namespace samovar::ingest {
namespace {

constexpr std::size_t kNameBytesMax = 256;

Error wrong(std::string_view what) { return {Errc::invalid, fmt::format("columns: {}", what)}; }

Result<ColumnChange> parse_change(const nlohmann::json& item) {
  if (!item.is_object()) return wrong("each change must be an object");
  ColumnChange change;
  for (const auto& [key, value] : item.items()) {
    if (key == "column" && value.is_string()) {
      change.column = value.get<std::string>();
    } else if (key == "rename" && value.is_string()) {
      change.rename = value.get<std::string>();
    } else if (key == "type" && value.is_string()) {
      change.type = trainer::parse_column_type(value.get<std::string>());
      if (!change.type) return wrong("type must be real, integer, boolean, category, text, time or sparse");
    } else if (key == "sensitive" && value.is_boolean()) {
      change.sensitive = value.get<bool>();
    } else {
      return wrong(fmt::format("\"{}\" is not a member of a change, or has the wrong kind of value",
                               key.substr(0, 64)));
    }
  }
  if (change.column.empty() || change.column.size() > kNameBytesMax)
    return wrong("\"column\" must name a column of the file");
  if (change.rename && (change.rename->empty() || change.rename->size() > kNameBytesMax))
    return wrong("\"rename\" must have 1 to 256 bytes");
  return change;
}

}  // namespace

nlohmann::json to_json(const std::vector<ColumnChange>& changes) {
  auto list = nlohmann::json::array();
  for (const auto& change : changes) {
    nlohmann::json item = {{"column", change.column}};
    if (change.rename) item["rename"] = *change.rename;
    if (change.type) item["type"] = std::string(trainer::to_string(*change.type));
    if (change.sensitive) item["sensitive"] = *change.sensitive;
    list.push_back(std::move(item));
  }
  return list;
}

Result<std::vector<ColumnChange>> parse_column_changes(const nlohmann::json& json) {
  if (!json.is_array()) return wrong("a list is expected");
  if (json.size() > trainer::kColumnsMax) return wrong("more changes than a file may have columns");
  std::vector<ColumnChange> changes;
  for (const auto& item : json) {
    SAMOVAR_TRY(auto change, parse_change(item));
    changes.push_back(std::move(change));
  }
  return changes;
}

Result<void> apply(const std::vector<ColumnChange>& changes, trainer::Schema& schema) {
  const trainer::Schema found = schema;
  std::set<std::size_t> changed;
  for (const auto& change : changes) {
    const auto index = found.find(change.column);
    if (!index)
      return Error{Errc::invalid, fmt::format("there is no column \"{}\" in this file", change.column)};
    if (!changed.insert(*index).second)
      return Error{Errc::invalid, fmt::format("the column \"{}\" is changed twice", change.column)};
    auto& column = schema.columns[*index];
    if (change.rename) column.name = *change.rename;
    if (change.type) {
      // Sparse pairs are what libsvm has, and nothing else can be read as them.
      if ((*change.type == trainer::ColumnType::sparse) != (column.type == trainer::ColumnType::sparse))
        return Error{Errc::invalid, fmt::format("the column \"{}\" cannot be read as {}", change.column,
                                                trainer::to_string(*change.type))};
      column.type = *change.type;
    }
    if (change.sensitive) column.sensitive = *change.sensitive;
  }
  std::set<std::string_view> names;
  for (const auto& column : schema.columns)
    if (!names.insert(column.name).second)
      return Error{Errc::invalid,
                   fmt::format("two columns would be called \"{}\": give one another name", column.name)};
  return {};
}

}  // namespace samovar::ingest
