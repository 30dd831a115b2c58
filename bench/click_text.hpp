// Text as advertising logs have it: label, 13 counts, 26 categories of 8 hexadecimal digits, tabs between
// them, about 240 bytes a row. The same seed gives the same text on every machine.
#pragma once
#include <cstdint>
#include <string>

#include "daemon/ingest/options.hpp"
#include "trainer/data/schema.hpp"

namespace samovar::bench {

// Appends rows [first, first + rows).
void append_click_text(std::string& out, std::uint64_t first, std::uint64_t rows, std::uint64_t seed);
trainer::Schema click_schema();
ingest::ParseOptions click_options();

// The least that any reader of such text has to do: find tabs and line ends, parse the counts, hash the
// categories. Its result depends on all of it.
std::uint64_t scan_click_text(const char* text, std::size_t bytes);

}  // namespace samovar::bench
