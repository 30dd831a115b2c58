// Blocks as CSV for people: RFC 4180, UTF-8, times in RFC 3339, missing values empty.
//
// Text that a spreadsheet would take for a formula (= + - @ and control characters in front) gets a ' before
// it, so that opening a download runs nothing.
//
// Threading: any thread; pure.
#pragma once
#include <cstdint>
#include <string>

#include "trainer/data/block.hpp"
#include "trainer/data/schema.hpp"

namespace samovar::jobs {

void append_csv_header(const trainer::Schema& schema, std::string& out);
// Rows [first, first + count) of a block of this schema.
void append_csv_rows(const trainer::BlockView& block, const trainer::Schema& schema, std::uint32_t first,
                     std::uint32_t count, std::string& out);

}  // namespace samovar::jobs
