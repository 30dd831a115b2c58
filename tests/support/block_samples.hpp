// Columns and blocks made up for tests, and what a view must give back for them.
#pragma once
#include <string_view>
#include <utility>

#include "trainer/data/block.hpp"

namespace samovar::tests {

trainer::BlockColumn column_of(trainer::ColumnType type);
// Every n-th value missing, the first one too.
trainer::BlockColumn with_holes(trainer::BlockColumn column, std::uint32_t rows, std::uint32_t every);

trainer::BlockColumn categories(std::uint32_t rows, std::uint32_t levels, std::string_view prefix);
trainer::BlockColumn hex_text(std::uint32_t rows);  // 8 digits each
trainer::BlockColumn prose(std::uint32_t rows);     // repetitive
trainer::BlockColumn noise(std::uint32_t rows);     // nothing to pack, some of it empty
trainer::BlockColumn sparse(std::uint32_t rows, std::uint32_t index_max, bool same_value);

// Every type and encoding, some values missing; other values for another seed.
std::pair<trainer::Schema, trainer::BlockColumns> mixed(std::uint32_t rows, std::uint64_t seed);

Bytes encoded(std::uint32_t rows, std::vector<trainer::BlockColumn> columns);
Bytes encoded(const trainer::BlockColumns& block);

// Reads every value in every way; only worth a comparison when `block` is what was encoded.
bool same_values(const trainer::BlockView& view, const trainer::BlockColumns& block);
// The same without an expectation: every value is touched, for sanitizers to watch.
std::uint64_t touch_everything(const trainer::BlockView& view, const trainer::Schema& schema);

}  // namespace samovar::tests
