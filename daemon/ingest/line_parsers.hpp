// The parsers behind make_line_parser, one a format.
//
// Threading: as LineParser.
#pragma once
#include <memory>

#include "daemon/ingest/line_parser.hpp"

namespace samovar::ingest {

std::unique_ptr<LineParser> make_libsvm_parser(const trainer::Schema& schema);
std::unique_ptr<LineParser> make_arff_parser(const ParseOptions& options, std::size_t columns);
std::unique_ptr<LineParser> make_jsonl_parser(const ParseOptions& options, std::size_t columns);

// Empties `out` for a row of so many columns, all missing.
void begin_row(LineCells& out, std::size_t columns);

// "@data", "@ATTRIBUTE …": the word behind the @ in lower case, or empty.
std::string arff_keyword(std::string_view line);

}  // namespace samovar::ingest
