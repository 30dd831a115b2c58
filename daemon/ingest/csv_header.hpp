// Is the first row a header, and what are the columns called?
//
// Threading: any thread; pure.
#pragma once
#include <string>
#include <vector>

#include "daemon/ingest/sample_table.hpp"
#include "daemon/ingest/values.hpp"

namespace samovar::ingest {

// `rows`: the first may be a header, all have as many cells. `style`: how numbers are written.
bool has_header(const std::vector<SampleRow>& rows, NumberStyle style);

// label, I1 … I13, C1 … C26 of Criteo's files, or without the label. `rows` without a header.
bool is_criteo(const std::vector<SampleRow>& rows);
std::vector<std::string> criteo_names(std::size_t columns);
std::vector<std::string> numbered_names(std::size_t columns);  // c1 … cN

}  // namespace samovar::ingest
