// Loops over the rows of a column: eight at once where the CPU can gather (AVX-512).
//
// Threading: any thread; pure.
#pragma once
#include <cstddef>
#include <cstdint>

#include "daemon/ingest/cell.hpp"

namespace samovar::ingest::stage_loops {

// The cell of row r is text[marks[r * stride] + 1, marks[r * stride + 1]). The first two return how many
// rows, from the first on, they have done: a multiple of eight, or none. ColumnStage does the rest one by
// one.

// out[r] = make_cell(…).
std::uint32_t cells(const char* text, const std::uint32_t* marks, std::size_t stride, std::uint32_t rows,
                    Cell* out) noexcept;

// Up to eight digits with or without a minus; an empty cell is kNoInteger. Rows with anything else are listed
// in `odd`, which has room for all of them.
std::uint32_t integers(const char* text, const std::uint32_t* marks, std::size_t stride, std::uint32_t rows,
                       std::int64_t* out, std::uint32_t* odd, std::uint32_t& odds) noexcept;

// out[i] = in[order[i]].
void pick(const std::int64_t* in, const std::uint32_t* order, std::size_t count, std::int64_t* out) noexcept;
void pick(const double* in, const std::uint32_t* order, std::size_t count, double* out) noexcept;
void pick(const std::uint32_t* in, const std::uint32_t* order, std::size_t count,
          std::uint32_t* out) noexcept;

}  // namespace samovar::ingest::stage_loops
