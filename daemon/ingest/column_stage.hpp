// One column of one block while its cells are parsed, in the order of the text.
//
// A missing number is a number that cannot be (kNoInteger, NaN), so that parsing writes one word a cell.
//
// Threading: one thread.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/ingest/cell.hpp"
#include "daemon/ingest/options.hpp"
#include "daemon/ingest/values.hpp"
#include "trainer/data/schema.hpp"

namespace samovar::ingest {

inline constexpr std::int64_t kNoInteger = std::numeric_limits<std::int64_t>::min();
inline constexpr std::size_t kCellBytesMax = 1u << 20;

// What is the same for all cells of a file.
struct CellRules {
  explicit CellRules(const ParseOptions& options);
  bool missing(std::string_view cell) const noexcept;

  NumberStyle style;
  DateOrder date_order = DateOrder::day_first;
  std::vector<std::string> tokens;  // of missing values
  bool tokens_look_real = false;    // one of them could also be read as a value: "-999", "0"
  std::size_t token_bytes_max = 0;
};

// Cells of some rows: that of row r is text[marks[r * stride] + 1, marks[r * stride + 1]).
struct CellSpan {
  const char* text = nullptr;
  const std::uint32_t* marks = nullptr;
  std::size_t stride = 0;
  std::uint32_t first_row = 0;  // in the block
  std::uint32_t rows = 0;
  bool trim = false;  // blanks around a cell do not belong to it

  std::uint32_t begin(std::size_t row) const noexcept { return marks[row * stride] + 1; }
  std::uint32_t end(std::size_t row) const noexcept { return marks[row * stride + 1]; }
  std::string_view cell(std::size_t row) const noexcept { return {text + begin(row), end(row) - begin(row)}; }
};

class ColumnStage {
 public:
  // `hex`: a category's cells may be kept as numbers, as long as they are (HexLevels::suits).
  void begin(trainer::ColumnType type, std::uint32_t rows, bool hex);
  // Rows whose cell does not fit the type are added to `unfit`.
  void stage(const CellSpan& cells, const CellRules& rules, std::vector<std::uint32_t>& unfit);
  // So many rows from there on are staged soon: their memory is brought nearer. All columns together are more
  // than a cache holds, and each is written for too short a time for the CPU to see it coming.
  void expect(std::size_t first_row, std::size_t rows) const noexcept {
    const auto near = [&](const auto& column) {
      if (first_row >= column.size()) return;
      const auto* const at = reinterpret_cast<const char*>(column.data() + first_row);
      const std::size_t bytes = (std::min(first_row + rows, column.size()) - first_row) * sizeof column[0];
      for (std::size_t i = 0; i < bytes; i += 64) __builtin_prefetch(at + i, 1, 2);
    };
    if (hex)
      near(keys);
    else if (type == trainer::ColumnType::category || type == trainer::ColumnType::text)
      near(cells);
    else if (type == trainer::ColumnType::real)
      near(reals);
    else
      near(integers);
  }
  // The same for a single cell. False when it does not fit.
  bool stage_one(std::uint32_t row, std::string_view cell, const CellRules& rules);
  void stage_missing(std::uint32_t row);
  void stage_text(std::uint32_t row, Cell cell) { cells[row] = cell; }
  void stage_sparse(std::uint32_t row, const std::vector<std::uint32_t>& at, const std::vector<float>& value);

  // An integer becomes real when it meets one, a boolean of 0 and 1 integer when it meets another number.
  trainer::ColumnType type = trainer::ColumnType::text;
  bool hex = false;                    // category: keys and gone hold it, not cells
  std::vector<std::uint32_t> keys;     // of HexLevels
  std::vector<std::uint8_t> gone;      // whether missing
  std::vector<Cell> cells;             // category, text
  std::vector<std::int64_t> integers;  // integer, boolean, time
  std::vector<double> reals;
  std::vector<std::uint32_t> sparse_begin;  // sparse: of each row in the two below
  std::vector<std::uint32_t> sparse_end;
  std::vector<std::uint32_t> indices;
  std::vector<float> values;

 private:
  std::uint32_t stage_integers(const CellSpan& cells, const CellRules& rules,
                               std::vector<std::uint32_t>& unfit);
  void stage_reals(const CellSpan& cells, std::uint32_t from, const CellRules& rules,
                   std::vector<std::uint32_t>& unfit);
  template <bool kTrim>
  void stage_cells(const CellSpan& span, Cell* out);
  void stage_category(const CellSpan& span, const CellRules& rules);
  void give_up_keys(std::size_t rows_done);
  bool stage_counted(std::uint32_t row, std::string_view cell, const CellRules& rules);
  void widen();

  bool spelled_ = false;  // a boolean column of this block has words
  std::uint32_t rows_ = 0;
  std::vector<std::uint32_t> odd_;
  std::vector<Cell> group_;
};

// A sentence's end: "is not a whole number".
std::string_view unfit_reason(trainer::ColumnType type) noexcept;

}  // namespace samovar::ingest
