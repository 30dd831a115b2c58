// How a resource is shown: as the API's JSON unchanged, or as text by a list of columns.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "daemon/cli/text_table.hpp"

namespace samovar::cli {

class App;

enum class Shape {
  text,
  bytes,
  percent,
  watts,
  celsius,
  duration,
  time,
  list,
  yes,
  rate,
  count,
  ms,
  watt_hours
};

struct Column {
  std::string_view title;    // "MEMORY"
  std::string_view pointer;  // JSON pointer: "/sample/mem_used_bytes"
  Shape shape = Shape::text;
  bool wide = false;   // only with --output wide, csv or in show
  bool state = false;  // coloured by its word: up, ok, warning…
};

// {"items":[…]} by --output; with --quiet only the ids (`id_pointer`), one per line.
Result<void> show_list(App& app, const nlohmann::json& list, const std::vector<Column>& columns,
                       std::string_view id_pointer = "/id");
// One resource: "Name: value" lines.
Result<void> show_record(App& app, const nlohmann::json& resource, const std::vector<Column>& columns);

// The JSON of a command without a text form of its own: --json=a,b keeps only these fields.
Result<void> print_json(App& app, const nlohmann::json& value);

// One cell as a person reads it; "–" for null or absent.
std::string cell_text(const nlohmann::json& resource, const Column& column);
// The table alone, for views that draw more than a list.
std::string table_text(App& app, const nlohmann::json& items, const std::vector<Column>& columns);
// The escape sequence for a state word, or nothing.
std::string_view state_color(std::string_view word) noexcept;

}  // namespace samovar::cli
