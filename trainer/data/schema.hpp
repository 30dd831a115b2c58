// What a column is: its name, its type, and how missing values are told. One Schema per dataset version.
//
// Threading: values.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace samovar::trainer {

enum class ColumnType : std::uint8_t {
  real,      // a number, as f64
  integer,   // i64
  boolean,   // 0 or 1
  category,  // one of a set of levels, text
  text,      // free text, UTF-8
  time,      // microseconds since 1970-01-01T00:00:00Z
  sparse,    // index:value pairs, as libsvm has them
};
std::string_view to_string(ColumnType type) noexcept;
std::optional<ColumnType> parse_column_type(std::string_view text) noexcept;
// May a block's column of type `stored` be read as one of type `wanted`? The same, or a number of a wider
// type: a column is widened by what comes late in a file, when its first blocks are written.
constexpr bool stands_for(ColumnType stored, ColumnType wanted) noexcept {
  return stored == wanted || (stored == ColumnType::integer && wanted == ColumnType::real) ||
         (stored == ColumnType::boolean && (wanted == ColumnType::integer || wanted == ColumnType::real));
}

struct ColumnSpec {
  std::string name;  // unique within the schema, UTF-8, 1 to 256 bytes
  ColumnType type = ColumnType::text;
  bool sensitive = false;  // masked in previews
  friend bool operator==(const ColumnSpec&, const ColumnSpec&) = default;
};

struct Schema {
  std::vector<ColumnSpec> columns;  // 1 to kColumnsMax
  std::optional<std::size_t> find(std::string_view name) const noexcept;
  friend bool operator==(const Schema&, const Schema&) = default;
};

inline constexpr std::size_t kColumnsMax = 4096;

// {"columns":[{"name":"age","type":"integer","sensitive":false},…]}
std::string encode_schema(const Schema& schema);
// Errc::invalid, naming the column, for anything encode_schema would not write.
Result<Schema> decode_schema(std::string_view json);

}  // namespace samovar::trainer
