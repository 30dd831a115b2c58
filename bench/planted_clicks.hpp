// A click log in which the truth is known: label, 13 counts, 26 categories, tabs between them, about 243
// bytes a row, 26 % positive. Each value of a column has an effect that a hash gives; pairs of columns have
// effects too, which no linear model of single columns can learn: the best of those reaches an AUC of about
// 0.777.
#pragma once
#include <cstdint>
#include <string>

namespace samovar::bench {

// Appends rows [first, first + rows); each row depends on its number and the seed alone.
void append_planted_clicks(std::string& out, std::uint64_t first, std::uint64_t rows, std::uint64_t seed);

}  // namespace samovar::bench
