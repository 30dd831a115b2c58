// What an accepted ingest is to do, as it lies in the replicated state until it is done.
//
// Threading: values.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "daemon/ingest/column_change.hpp"
#include "daemon/ingest/detect.hpp"

namespace samovar::jobs {

struct IngestSpec {
  std::string upload_id;   // empty: a new version, from the kept source
  std::string dataset_id;  // given at once, so that a restart finds what it left
  std::string name;        // of a new data set
  std::string description;
  ingest::ParseHints hints;
  std::vector<ingest::ColumnChange> columns;
  std::string schema_json;  // of a new version: the columns as they are to be
  std::uint64_t seed = 1;
  std::string file_name;
  std::string sha256;
  std::uint64_t bytes = 0;
};

std::string encode_spec(const IngestSpec& spec);
Result<IngestSpec> decode_spec(std::string_view json);

// How a version was read, as hints for the next one: only what `changes` names is read differently.
Result<ingest::ParseHints> hints_from(std::string_view options_json, const ingest::ParseHints& changes);
bool is_empty(const ingest::ParseHints& hints);

}  // namespace samovar::jobs
