// The rows of a sample, for detection: simple and complete rather than fast. The pipeline has its own way to
// read the whole file.
//
// Threading: values.
#pragma once
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace samovar::ingest {

struct SampleRow {
  std::vector<std::string_view> cells;  // unquoted, trimmed
  std::uint64_t line = 1;               // where it begins, from 1
};

struct CsvRules {
  char delimiter = ',';
  std::optional<char> quote = '"';
};

struct SampleRows {
  std::vector<SampleRow> rows;
  std::deque<std::string> unescaped;  // cells with doubled quotes point here
  std::size_t quoted = 0;             // cells in quotes
  std::size_t quote_faults = 0;       // text behind a closing quote, or a quote that never closes
};

// Rows of `text`, which borrows; at most rows_max. Blank lines are none. A row that the text does not end is
// left out unless `whole`. RFC 4180; delimiter ' ' takes any run of blanks.
SampleRows split_csv(std::string_view text, const CsvRules& rules, std::size_t rows_max, bool whole);

// Lines without their ends; \n, \r\n, or \r alone when the text has no \n. As above, the last only if whole.
std::vector<std::string_view> split_lines(std::string_view text, std::size_t lines_max, bool whole);

}  // namespace samovar::ingest
