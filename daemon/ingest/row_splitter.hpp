// One row's text to cells, with all the care that quotes and blanks need. Rows without them are split by
// find_marks alone; this is for the others.
//
// Threading: any thread; pure.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/ingest/options.hpp"

namespace samovar::ingest {

struct SplitRules {
  char delimiter = ',';
  std::optional<char> quote = '"';
  bool blank_runs = false;   // any run of blanks is one delimiter, and those at the ends do not count
  bool wide_blanks = false;  // two or more spaces are one delimiter
  // Whether rows must come through here even when they hold no quote.
  bool special() const noexcept { return blank_runs || wide_blanks; }
};
SplitRules split_rules(const ParseOptions& options);

inline bool is_blank(char c) noexcept { return c == ' ' || c == '\t'; }

// Writes the cells, unquoted and trimmed, to `out` with one byte between them: never more than the row's
// bytes + 1. `marks` gets where each cell ends, shifted by `base`, at most `cells_max` of them.
// Returns how many cells the row has, which may be more.
std::size_t split_row(std::string_view row, const SplitRules& rules, char* out, std::uint32_t base,
                      std::uint32_t* marks, std::size_t cells_max);

std::vector<std::string> split_row(std::string_view row, const SplitRules& rules);

}  // namespace samovar::ingest
