// Any bytes as lines of one of the formats that are read line by line: rows whose cells are well-formed, or a
// reason.
#pragma once
#include <algorithm>

#include "base/assert.hpp"
#include "base/bytes.hpp"
#include "daemon/ingest/line_parser.hpp"
#include "daemon/ingest/utf8.hpp"

namespace samovar::ingest {

inline int fuzz_lines(Format format, ByteView data) {
  ParseOptions options;
  options.format = format;
  options.fields = {"a", "b.c", "d"};
  trainer::Schema schema;
  schema.columns = {{"a", trainer::ColumnType::real, false},
                    {"b", trainer::ColumnType::text, false},
                    {"c", trainer::ColumnType::sparse, false}};
  const auto parser = make_line_parser(options, schema);
  SAMOVAR_ASSERT(parser.has_value());
  LineCells row;
  std::string_view text = as_text(data);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    // What the pipeline promises of a line.
    if (!utf8_valid(line) || line.find('\0') != line.npos) continue;
    const LineKind kind = (*parser)->parse(line, row);
    if (kind == LineKind::bad) SAMOVAR_ASSERT(!row.reason.empty());
    if (kind != LineKind::row) continue;
    SAMOVAR_ASSERT(row.cells.size() == 3 && row.missing.size() == 3 &&
                   row.indices.size() == row.values.size());
    for (const auto cell : row.cells) SAMOVAR_ASSERT(utf8_valid(cell) && cell.find('\0') == cell.npos);
    for (std::size_t i = 1; i < row.indices.size(); ++i) SAMOVAR_ASSERT(row.indices[i - 1] < row.indices[i]);
  }
  return 0;
}

}  // namespace samovar::ingest
