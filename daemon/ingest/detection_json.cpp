// Detection and hints as JSON. A detection comes back from the sandbox: it is checked like any outside bytes.

#include "base/json.hpp"
#include "daemon/ingest/detect.hpp"
#include "daemon/ingest/options_json.hpp"
#include "daemon/ingest/utf8.hpp"

namespace samovar::ingest {
namespace {

using nlohmann::json;

constexpr std::size_t kSentenceBytesMax = 4096;
constexpr std::size_t kExamplesMax = 5;
constexpr std::size_t kNotesMax = 256;
constexpr std::size_t kNameBytesMax = 256;

Error wrong(std::string_view member) {
  return Error{Errc::invalid, "the detection's \"" + std::string(member) + "\" is not as expected"};
}

Result<std::string> text_of(const json& object, const char* member, std::size_t bytes_max) {
  const auto found = object.find(member);
  if (found == object.end() || !found->is_string()) return wrong(member);
  const auto& text = found->get_ref<const std::string&>();
  if (text.size() > bytes_max || !utf8_valid(text)) return wrong(member);
  return text;
}

Result<bool> flag_of(const json& object, const char* member) {
  const auto found = object.find(member);
  if (found == object.end() || !found->is_boolean()) return wrong(member);
  return found->get<bool>();
}

Result<std::uint64_t> count_of(const json& object, const char* member) {
  const auto found = object.find(member);
  if (found == object.end() || !found->is_number_unsigned()) return wrong(member);
  return found->get<std::uint64_t>();
}

Result<std::vector<std::string>> texts_of(const json& object, const char* member, std::size_t count_max) {
  const auto found = object.find(member);
  if (found == object.end() || !found->is_array() || found->size() > count_max) return wrong(member);
  std::vector<std::string> texts;
  for (const auto& text : *found) {
    if (!text.is_string() || text.get_ref<const std::string&>().size() > kSentenceBytesMax ||
        !utf8_valid(text.get_ref<const std::string&>()))
      return wrong(member);
    texts.push_back(text.get<std::string>());
  }
  return texts;
}

Result<ColumnFinding> parse_column(const json& value) {
  if (!value.is_object()) return wrong("columns");
  ColumnFinding column;
  SAMOVAR_TRY(column.spec.name, text_of(value, "name", kNameBytesMax));
  if (column.spec.name.empty()) return wrong("name");
  SAMOVAR_TRY(const std::string type_name, text_of(value, "type", 16));
  const auto type = trainer::parse_column_type(type_name);
  if (!type) return wrong("type");
  column.spec.type = *type;
  SAMOVAR_TRY(column.spec.sensitive, flag_of(value, "sensitive"));
  SAMOVAR_TRY(column.evidence, text_of(value, "evidence", kSentenceBytesMax));
  SAMOVAR_TRY(column.examples, texts_of(value, "examples", kExamplesMax));
  SAMOVAR_TRY(column.missing, count_of(value, "missing"));
  SAMOVAR_TRY(column.constant, flag_of(value, "constant"));
  SAMOVAR_TRY(column.identifier, flag_of(value, "identifier"));
  SAMOVAR_TRY(column.sensitive_reason, text_of(value, "sensitive_reason", kSentenceBytesMax));
  return column;
}

}  // namespace

json to_json(const Detection& detection) {
  json columns = json::array();
  for (const auto& column : detection.columns) {
    columns.push_back({{"name", column.spec.name},
                       {"type", trainer::to_string(column.spec.type)},
                       {"sensitive", column.spec.sensitive},
                       {"evidence", column.evidence},
                       {"examples", column.examples},
                       {"missing", column.missing},
                       {"constant", column.constant},
                       {"identifier", column.identifier},
                       {"sensitive_reason", column.sensitive_reason}});
  }
  return {{"options", to_json(detection.options)},
          {"columns", std::move(columns)},
          {"sample_rows", detection.sample_rows},
          {"notes", detection.notes}};
}

Result<Detection> parse_detection(const json& value) {
  if (!value.is_object()) return wrong("detection");
  Detection detection;
  const auto options = value.find("options");
  if (options == value.end()) return wrong("options");
  SAMOVAR_TRY(detection.options, parse_options(*options, {}));
  const auto columns = value.find("columns");
  if (columns == value.end() || !columns->is_array() || columns->empty() ||
      columns->size() > trainer::kColumnsMax)
    return wrong("columns");
  for (const auto& column : *columns) {
    SAMOVAR_TRY(ColumnFinding finding, parse_column(column));
    detection.columns.push_back(std::move(finding));
  }
  SAMOVAR_TRY(detection.sample_rows, count_of(value, "sample_rows"));
  SAMOVAR_TRY(detection.notes, texts_of(value, "notes", kNotesMax));
  return detection;
}

json to_json(const ParseHints& hints) {
  json out = json::object();
  if (hints.format) out["format"] = to_string(*hints.format);
  if (hints.encoding) out["encoding"] = to_string(*hints.encoding);
  if (hints.delimiter) out["delimiter"] = std::string(1, *hints.delimiter);
  if (hints.header) out["header"] = *hints.header;
  if (hints.decimal) out["decimal"] = std::string(1, *hints.decimal);
  if (hints.quoted) out["quoted"] = *hints.quoted;
  if (hints.date_order) out["date_order"] = to_string(*hints.date_order);
  if (hints.skip_lines) out["skip_lines"] = *hints.skip_lines;
  if (hints.missing) out["missing"] = *hints.missing;
  return out;
}

Result<ParseHints> parse_hints(const json& value) {
  if (!value.is_object()) return Error{Errc::invalid, "hints: an object"};
  ParseHints hints;
  for (const auto& [name, member] : value.items()) {
    if (member.is_null()) continue;  // as if it were absent: found, not fixed
    if (name == "format") {
      SAMOVAR_TRY(hints.format, format_member(member));
    } else if (name == "encoding") {
      SAMOVAR_TRY(hints.encoding, encoding_member(member));
    } else if (name == "delimiter") {
      SAMOVAR_TRY(hints.delimiter, delimiter_member(member));
    } else if (name == "header") {
      SAMOVAR_TRY(hints.header, flag_member(member, name));
    } else if (name == "decimal") {
      SAMOVAR_TRY(hints.decimal, decimal_member(member));
    } else if (name == "quoted") {
      SAMOVAR_TRY(hints.quoted, flag_member(member, name));
    } else if (name == "date_order") {
      SAMOVAR_TRY(hints.date_order, date_order_member(member));
    } else if (name == "skip_lines") {
      SAMOVAR_TRY(hints.skip_lines, skip_lines_member(member));
    } else if (name == "missing") {
      SAMOVAR_TRY(hints.missing, missing_member(member));
    } else {
      return Error{Errc::invalid, name + ": not known as a hint"};
    }
  }
  return hints;
}

}  // namespace samovar::ingest
