#include "daemon/jobs/ingest_spec.hpp"

#include "base/json.hpp"
#include "daemon/ingest/options.hpp"

namespace samovar::jobs {
namespace {

using nlohmann::json;

Error damaged() { return {Errc::corrupt, "what this operation is to do cannot be read"}; }

std::string text_of(const json& object, const char* key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_string() ? it->get<std::string>() : std::string();
}

std::uint64_t number_of(const json& object, const char* key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_number_unsigned() ? it->get<std::uint64_t>() : 0;
}

}  // namespace

std::string encode_spec(const IngestSpec& spec) {
  const json document = {{"upload_id", spec.upload_id},
                         {"dataset_id", spec.dataset_id},
                         {"name", spec.name},
                         {"description", spec.description},
                         {"hints", ingest::to_json(spec.hints)},
                         {"columns", ingest::to_json(spec.columns)},
                         {"schema", spec.schema_json},
                         {"seed", spec.seed},
                         {"file_name", spec.file_name},
                         {"sha256", spec.sha256},
                         {"bytes", spec.bytes}};
  return document.dump(-1, ' ', false, json::error_handler_t::replace);
}

Result<IngestSpec> decode_spec(std::string_view text) {
  const json document = json::parse(text, nullptr, false);
  if (!document.is_object()) return damaged();
  IngestSpec spec;
  spec.upload_id = text_of(document, "upload_id");
  spec.dataset_id = text_of(document, "dataset_id");
  spec.name = text_of(document, "name");
  spec.description = text_of(document, "description");
  spec.schema_json = text_of(document, "schema");
  spec.seed = number_of(document, "seed");
  spec.file_name = text_of(document, "file_name");
  spec.sha256 = text_of(document, "sha256");
  spec.bytes = number_of(document, "bytes");
  if (spec.dataset_id.empty()) return damaged();
  const auto hints = document.find("hints");
  if (hints == document.end()) return damaged();
  SAMOVAR_TRY(spec.hints, ingest::parse_hints(*hints));
  const auto columns = document.find("columns");
  if (columns == document.end()) return damaged();
  SAMOVAR_TRY(spec.columns, ingest::parse_column_changes(*columns));
  return spec;
}

bool is_empty(const ingest::ParseHints& hints) { return ingest::to_json(hints).empty(); }

Result<ingest::ParseHints> hints_from(std::string_view options_json, const ingest::ParseHints& changes) {
  const json document = json::parse(options_json, nullptr, false);
  if (!document.is_object()) return damaged();
  SAMOVAR_TRY(const ingest::ParseOptions options, ingest::parse_options(document, {}));
  ingest::ParseHints hints = changes;
  if (!hints.format) hints.format = options.format;
  if (!hints.encoding) hints.encoding = options.encoding;
  if (!hints.delimiter) hints.delimiter = options.delimiter;
  if (!hints.header) hints.header = options.header;
  if (!hints.decimal) hints.decimal = options.decimal;
  if (!hints.quoted) hints.quoted = options.quote.has_value();
  if (!hints.date_order) hints.date_order = options.date_order;
  if (!hints.skip_lines) hints.skip_lines = options.skip_lines;
  if (!hints.missing) hints.missing = options.missing;
  return hints;
}

}  // namespace samovar::jobs
