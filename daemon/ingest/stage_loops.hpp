// Loops over the rows of a column: eight at once where the CPU can gather (AVX-512).
//
// Threading: any thread; pure.
#pragma once
#include <cstddef>
#include <cstdint>

#include "daemon/ingest/cell.hpp"

namespace samovar::ingest::stage_loops {

// The cell of row r is text[marks[r * stride] + 1, marks[r * stride + 1]).

// out[r] = make_cell(…).
void cells(const char* text, const std::uint32_t* marks, std::size_t stride, std::uint32_t rows,
           Cell* out) noexcept;

// Up to eight digits with or without a minus; an empty cell is kNoInteger. Rows with anything else are listed
// in `odd`, which has room for all of them. Returns how many rows, from the first on, it has done: a multiple
// of eight, or none. ColumnStage does the rest one by one.
std::uint32_t integers(const char* text, const std::uint32_t* marks, std::size_t stride, std::uint32_t rows,
                       std::int64_t* out, std::uint32_t* odd, std::uint32_t& odds) noexcept;

// out[i] = in[order[i]], and valid[i] whether it is there, not kNoInteger or NaN. False when all are: `valid`
// then holds nothing.
bool pick(const std::int64_t* in, const std::uint32_t* order, std::size_t count, std::int64_t* out,
          std::uint8_t* valid) noexcept;
bool pick(const double* in, const std::uint32_t* order, std::size_t count, double* out,
          std::uint8_t* valid) noexcept;
// The same of codes, where one that has all bits set is not there.
bool pick(const std::uint32_t* in, const std::uint32_t* order, std::size_t count, std::uint32_t* out,
          std::uint8_t* valid) noexcept;

// Copies a row. Up to kRowSlack bytes more are read and written: what is too much is overwritten by the next
// row.
void copy_row(const char* row, std::size_t bytes, char* out) noexcept;

}  // namespace samovar::ingest::stage_loops
