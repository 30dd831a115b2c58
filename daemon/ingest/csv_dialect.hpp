// Which sign separates the columns, whether cells are quoted, and where the table begins.
//
// Threading: any thread; pure.
#pragma once
#include <cstdint>

#include "daemon/ingest/detect_parts.hpp"
#include "daemon/ingest/sample_table.hpp"

namespace samovar::ingest {

struct CsvDialect {
  CsvRules rules;
  std::size_t columns = 1;  // of most rows
  double consistency = 0;   // share of the rows that have as many
  bool first_fits = false;  // the first row does, which may be a header
};

// Tries each candidate and takes the one under which most rows have the same number of columns. Signs that
// also stand inside numbers or prose need to be clearly better.
CsvDialect detect_dialect(const SampleText& sample, const ParseHints& hints);

// Lines before the first row that has as many cells as most: titles, comments, counts.
std::uint64_t lines_before_table(const SampleRows& rows, std::size_t columns);

}  // namespace samovar::ingest
