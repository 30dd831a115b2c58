// What a person changed about the columns that detection found: a name, a type, whether it is sensitive.
//
// Threading: values.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "trainer/data/schema.hpp"

namespace samovar::ingest {

struct ColumnChange {
  std::string column;  // as found
  std::optional<std::string> rename;
  std::optional<trainer::ColumnType> type;
  std::optional<bool> sensitive;
  friend bool operator==(const ColumnChange&, const ColumnChange&) = default;
};

nlohmann::json to_json(const std::vector<ColumnChange>& changes);
// [{"column":"age","rename":"years","type":"real","sensitive":false},…]. Errc::invalid names the fault.
Result<std::vector<ColumnChange>> parse_column_changes(const nlohmann::json& json);

// Errc::invalid, as a sentence, for a column that is not there, one named twice, or two that would share
// a name.
Result<void> apply(const std::vector<ColumnChange>& changes, trainer::Schema& schema);

}  // namespace samovar::ingest
