#include "trainer/data/schema.hpp"

#include <array>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

namespace samovar::trainer {

namespace {

using Json = nlohmann::json;

constexpr std::size_t kNameBytesMax = 256;
// Every column at its longest, each byte of a name escaped.
constexpr std::size_t kSchemaBytesMax = kColumnsMax * (6 * kNameBytesMax + 64) + 64;

constexpr std::array<std::pair<ColumnType, std::string_view>, 7> kTypes = {{
    {ColumnType::real, "real"},
    {ColumnType::integer, "integer"},
    {ColumnType::boolean, "boolean"},
    {ColumnType::category, "category"},
    {ColumnType::text, "text"},
    {ColumnType::time, "time"},
    {ColumnType::sparse, "sparse"},
}};

Error bad_column(std::size_t index, const std::string& what) {
  return Error{Errc::invalid, "column " + std::to_string(index + 1) + " of the schema: " + what};
}

Result<ColumnSpec> decode_column(const Json& json, std::size_t index) {
  if (!json.is_object()) return bad_column(index, "it must be an object");
  for (const auto& [key, value] : json.items()) {
    if (key != "name" && key != "type" && key != "sensitive")
      return bad_column(index, "unknown member \"" + key + "\"");
  }
  ColumnSpec spec;
  const auto name = json.find("name");
  if (name == json.end() || !name->is_string()) return bad_column(index, "\"name\" must be a string");
  spec.name = name->get<std::string>();
  if (spec.name.empty() || spec.name.size() > kNameBytesMax)
    return bad_column(index, "a name has 1 to " + std::to_string(kNameBytesMax) + " bytes");
  const auto type = json.find("type");
  if (type == json.end() || !type->is_string()) return bad_column(index, "\"type\" must be a string");
  const auto known = parse_column_type(type->get_ref<const std::string&>());
  if (!known) return bad_column(index, "type must be real, integer, boolean, category, text, time or sparse");
  spec.type = *known;
  const auto sensitive = json.find("sensitive");
  if (sensitive == json.end() || !sensitive->is_boolean())
    return bad_column(index, "\"sensitive\" must be true or false");
  spec.sensitive = sensitive->get<bool>();
  return spec;
}

}  // namespace

std::string_view to_string(ColumnType type) noexcept {
  for (const auto& [known, name] : kTypes) {
    if (known == type) return name;
  }
  return "unknown";
}

std::optional<ColumnType> parse_column_type(std::string_view text) noexcept {
  for (const auto& [type, name] : kTypes) {
    if (name == text) return type;
  }
  return std::nullopt;
}

std::optional<std::size_t> Schema::find(std::string_view name) const noexcept {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].name == name) return i;
  }
  return std::nullopt;
}

std::string encode_schema(const Schema& schema) {
  Json columns = Json::array();
  for (const ColumnSpec& column : schema.columns)
    columns.push_back(
        {{"name", column.name}, {"type", to_string(column.type)}, {"sensitive", column.sensitive}});
  const Json json = {{"columns", std::move(columns)}};
  // A name that is not UTF-8 is the caller's mistake; a replacement character beats an exception.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<Schema> decode_schema(std::string_view text) {
  if (text.size() > kSchemaBytesMax) return Error{Errc::invalid, "the schema is too long"};
  // A member given twice would silently lose one; the parser itself keeps the last.
  bool twice = false;
  std::vector<std::set<std::string, std::less<>>> members;
  const auto watch = [&](int depth, Json::parse_event_t event, Json& value) {
    if (depth > 4) twice = true;  // nothing of ours is nested deeper
    if (event == Json::parse_event_t::object_start) members.emplace_back();
    if (event == Json::parse_event_t::object_end && !members.empty()) members.pop_back();
    if (event == Json::parse_event_t::key && !members.empty())
      twice |= !members.back().insert(value.get<std::string>()).second;
    return !twice;
  };
  const Json json = Json::parse(text, watch, false);
  if (twice || json.is_discarded() || !json.is_object())
    return Error{Errc::invalid, "the schema is not a JSON object"};
  const auto list = json.find("columns");
  if (json.size() != 1 || list == json.end() || !list->is_array())
    return Error{Errc::invalid, "the schema must hold \"columns\", a list, and nothing else"};
  if (list->empty() || list->size() > kColumnsMax)
    return Error{Errc::invalid, "a schema has 1 to " + std::to_string(kColumnsMax) + " columns"};
  Schema schema;
  std::set<std::string_view> names;
  schema.columns.reserve(list->size());
  for (std::size_t i = 0; i < list->size(); ++i) {
    SAMOVAR_TRY(ColumnSpec column, decode_column((*list)[i], i));
    schema.columns.push_back(std::move(column));
    if (!names.insert(schema.columns.back().name).second)
      return bad_column(i, "the name \"" + schema.columns.back().name + "\" is there twice");
  }
  return schema;
}

}  // namespace samovar::trainer
