// Files that are no tables, told by their first bytes: a sentence that says what it is and what to do.
//
// Threading: any thread; pure.
#pragma once
#include <optional>
#include <string>

#include "base/bytes.hpp"

namespace samovar::ingest {

inline constexpr std::size_t kMagicBytes = 512;

// Of up to kMagicBytes, packed or unpacked. Nothing: it may be a table.
std::optional<std::string> not_a_table(ByteView head);

}  // namespace samovar::ingest
