#include "daemon/ingest/column_stage.hpp"

#include <algorithm>
#include <cmath>

#include "daemon/ingest/hex_levels.hpp"
#include "daemon/ingest/stage_loops.hpp"
#include "daemon/ingest/stats_loops.hpp"

namespace samovar::ingest {

using trainer::ColumnType;

namespace {

constexpr double kNoReal = std::numeric_limits<double>::quiet_NaN();

// '0' in the low bytes that do not belong to a number of so many digits.
constexpr std::uint64_t kZeroDigits = 0x3030'3030'3030'3030;

// Eight digits, the first in the lowest byte (D. Lemire, "Quickly parsing eight digits", 2018).
inline std::uint64_t eight_digits(std::uint64_t word) noexcept {
  word -= kZeroDigits;
  word = word * 10 + (word >> 8);
  const std::uint64_t low = (word & 0x0000'00ff'0000'00ff) * 0x000f'4240'0000'0064;
  const std::uint64_t high = (word >> 16 & 0x0000'00ff'0000'00ff) * 0x0000'2710'0000'0001;
  return (low + high) >> 32;
}
inline bool all_digits(std::uint64_t word) noexcept {
  return ((word & 0xf0f0'f0f0'f0f0'f0f0) | (((word + 0x0606'0606'0606'0606) & 0xf0f0'f0f0'f0f0'f0f0) >> 4)) ==
         0x3333'3333'3333'3333;
}

// An empty cell, or a sign and up to eight digits. False: look again with care. Whether a cell is empty or
// negative is as good as random, so nothing branches on it.
inline bool quick_integer(const char* text, std::uint32_t begin, std::uint32_t end, std::uint64_t empty_unfit,
                          std::int64_t& out) noexcept {
  const std::uint64_t negative =
      static_cast<std::uint64_t>(text[begin] == '-') & static_cast<std::uint64_t>(begin != end);
  const std::uint64_t digits = end - begin - negative;
  if (digits > 8) [[unlikely]]
    return false;
  // The word ends with the last digit; what stands before the first is made '0'.
  const std::uint64_t others = kLowBytes[8 - digits];
  const std::uint64_t word = (load_word(text + end - 8) & ~others) | (kZeroDigits & others);
  const std::uint64_t empty = static_cast<std::uint64_t>(digits == 0);
  const std::uint64_t value = (eight_digits(word) ^ (0 - negative)) + negative;
  out =
      static_cast<std::int64_t>(value | empty << 63);  // of an empty cell the value is 0, and this kNoInteger
  const std::uint64_t odd = empty & (empty_unfit | negative);
  return static_cast<bool>(static_cast<std::uint64_t>(all_digits(word)) & (odd ^ 1));
}

}  // namespace

CellRules::CellRules(const ParseOptions& options)
    : style(number_style(options)), date_order(options.date_order), tokens(options.missing) {
  for (const std::string& token : tokens) {
    token_bytes_max = std::max(token_bytes_max, token.size());
    double real = 0;
    bool boolean = false;
    std::int64_t time = 0;
    tokens_look_real |= parse_real(token, style, real) || parse_boolean(token, boolean) ||
                        parse_time(token, date_order, time);
  }
}

bool CellRules::missing(std::string_view cell) const noexcept {
  if (cell.size() > token_bytes_max) return false;
  return std::find(tokens.begin(), tokens.end(), cell) != tokens.end();
}

void ColumnStage::begin(ColumnType column_type, std::uint32_t rows, bool may_be_hex) {
  type = column_type;
  spelled_ = false;
  rows_ = rows;
  hex = may_be_hex && type == ColumnType::category;
  switch (type) {
    case ColumnType::category:
      if (hex) {
        keys.resize(rows + HexLevels::kSlack);
        gone.resize(rows + HexLevels::kSlack);
        break;
      }
      [[fallthrough]];
    case ColumnType::text:
      cells.resize(rows);
      break;
    case ColumnType::integer:
    case ColumnType::boolean:
    case ColumnType::time:
      integers.resize(rows);
      break;
    case ColumnType::real:
      reals.resize(rows);
      break;
    case ColumnType::sparse:
      sparse_begin.assign(rows, 0);
      sparse_end.assign(rows, 0);
      indices.clear();
      values.clear();
      break;
  }
}

// Rows not staged yet are staged after this, as reals.
void ColumnStage::widen() {
  type = ColumnType::real;
  reals.resize(integers.size());
  for (std::size_t i = 0; i < integers.size(); ++i) {
    reals[i] = integers[i] == kNoInteger ? kNoReal : static_cast<double>(integers[i]);
  }
}

template <bool kTrim>
void ColumnStage::stage_cells(const CellSpan& cells_of, Cell* out) {
  const CellSpan span = cells_of;
  if constexpr (!kTrim) return stage_loops::cells(span.text, span.marks, span.stride, span.rows, out);
  for (std::uint32_t row = 0; row < span.rows; ++row) {
    const std::string_view cell = trim(span.cell(row));
    const auto begin = static_cast<std::uint32_t>(cell.data() - span.text);
    out[row] = make_cell(span.text, begin, begin + static_cast<std::uint32_t>(cell.size()));
  }
}

void ColumnStage::stage_category(const CellSpan& span, const CellRules& rules) {
  const auto stage_to = [&](Cell* out) {
    span.trim ? stage_cells<true>(span, out) : stage_cells<false>(span, out);
  };
  if (!hex) return stage_to(cells.data() + span.first_row);
  if (group_.size() < span.rows) group_.resize(span.rows);
  stage_to(group_.data());
  if (HexLevels::read(group_.data(), span.rows, rules.missing(""), keys.data() + span.first_row,
                      gone.data() + span.first_row))
    return;
  give_up_keys(span.first_row);
  std::copy_n(group_.data(), span.rows, cells.data() + span.first_row);
}

// A cell is none: those before it become cells again, and those to come stay cells.
void ColumnStage::give_up_keys(std::size_t rows_done) {
  hex = false;
  cells.resize(rows_);
  stats_loops::hex_cells(keys.data(), rows_done, cells.data());
  for (std::size_t row = 0; row < rows_done; ++row) {
    if (gone[row] != 0) cells[row] = kNoCell;
  }
}

std::uint32_t ColumnStage::stage_integers(const CellSpan& span, const CellRules& rules,
                                          std::vector<std::uint32_t>& unfit) {
  const bool quick = rules.style.plain() && !rules.tokens_look_real;
  const std::uint64_t empty_unfit = rules.missing("") ? 0 : 1;
  std::int64_t* const out = integers.data() + span.first_row;
  const CellSpan here = span;  // a copy: stores through `out` cannot change it
  std::uint32_t done = 0;
  if (quick && empty_unfit == 0) {
    odd_.resize(here.rows);
    std::uint32_t odds = 0;
    done = stage_loops::integers(here.text, here.marks, here.stride, here.rows, out, odd_.data(), odds);
    for (std::uint32_t i = 0; i < odds; ++i) {
      const std::uint32_t row = odd_[i];
      if (!stage_one(here.first_row + row, here.cell(row), rules)) unfit.push_back(here.first_row + row);
      // The rows after it are read again, as reals.
      if (type == ColumnType::real) return row + 1;
    }
  }
  for (std::uint32_t row = done; row < here.rows; ++row) {
    if (quick && quick_integer(here.text, here.begin(row), here.end(row), empty_unfit, out[row])) [[likely]]
      continue;
    if (!stage_one(here.first_row + row, here.cell(row), rules)) unfit.push_back(here.first_row + row);
    if (type == ColumnType::real) return row + 1;
  }
  return here.rows;
}

void ColumnStage::stage_reals(const CellSpan& span, std::uint32_t from, const CellRules& rules,
                              std::vector<std::uint32_t>& unfit) {
  const bool quick = rules.style.plain() && !rules.tokens_look_real;
  double* const out = reals.data() + span.first_row;
  for (std::uint32_t row = from; row < span.rows; ++row) {
    if (quick && parse_real(span.cell(row), out[row])) continue;
    if (!stage_one(span.first_row + row, span.cell(row), rules)) unfit.push_back(span.first_row + row);
  }
}

void ColumnStage::stage(const CellSpan& span, const CellRules& rules, std::vector<std::uint32_t>& unfit) {
  switch (type) {
    case ColumnType::category:
    case ColumnType::text:
      return stage_category(span, rules);
    case ColumnType::integer: {
      const std::uint32_t done = stage_integers(span, rules, unfit);
      if (done < span.rows) stage_reals(span, done, rules, unfit);
      return;
    }
    case ColumnType::real:
      return stage_reals(span, 0, rules, unfit);
    default:
      for (std::uint32_t row = 0; row < span.rows; ++row) {
        const std::uint32_t at = span.first_row + row;
        if (type == ColumnType::boolean && !rules.tokens_look_real && span.end(row) - span.begin(row) == 1 &&
            (span.text[span.begin(row)] | 1) == '1') {
          integers.data()[at] = span.text[span.begin(row)] & 1;
          continue;
        }
        if (!stage_one(at, span.cell(row), rules)) unfit.push_back(at);
      }
  }
}

void ColumnStage::stage_missing(std::uint32_t row) {
  switch (type) {
    case ColumnType::category:
    case ColumnType::text:
      if (hex)
        gone[row] = 1;
      else
        cells[row] = kNoCell;
      break;
    case ColumnType::real:
      reals[row] = kNoReal;
      break;
    case ColumnType::sparse:
      break;
    default:
      integers[row] = kNoInteger;
  }
}

bool ColumnStage::stage_one(std::uint32_t row, std::string_view cell, const CellRules& rules) {
  cell = trim(cell);
  stage_missing(row);
  if (rules.missing(cell)) return true;
  bool truth = false;
  switch (type) {
    case ColumnType::integer:
      if (parse_integer(cell, rules.style, integers[row]) && integers[row] != kNoInteger) return true;
      integers[row] = kNoInteger;
      {
        double value = 0;
        if (!parse_real(cell, rules.style, value)) return false;
        widen();
        reals[row] = value;
      }
      return true;
    case ColumnType::real:
      if (parse_real(cell, rules.style, reals[row])) return true;
      reals[row] = kNoReal;
      return false;
    case ColumnType::boolean:
      if (!parse_boolean(cell, truth)) return stage_counted(row, cell, rules);
      spelled_ = spelled_ || (cell != "0" && cell != "1");
      integers[row] = truth ? 1 : 0;
      return true;
    case ColumnType::time:
      if (parse_time(cell, rules.date_order, integers[row]) && integers[row] != kNoInteger) return true;
      integers[row] = kNoInteger;
      return false;
    default:
      return false;
  }
}

// What was taken for yes and no was a count whose first values happened to be 0 and 1. Only where it was
// written in digits: a 2 among words is a fault.
bool ColumnStage::stage_counted(std::uint32_t row, std::string_view cell, const CellRules& rules) {
  double value = 0;
  if (spelled_ || !parse_real(cell, rules.style, value)) return false;
  type = ColumnType::integer;
  return stage_one(row, cell, rules);
}

void ColumnStage::stage_sparse(std::uint32_t row, const std::vector<std::uint32_t>& at,
                               const std::vector<float>& value) {
  sparse_begin[row] = static_cast<std::uint32_t>(indices.size());
  indices.insert(indices.end(), at.begin(), at.end());
  values.insert(values.end(), value.begin(), value.end());
  sparse_end[row] = static_cast<std::uint32_t>(indices.size());
}

std::string_view unfit_reason(ColumnType type) noexcept {
  switch (type) {
    case ColumnType::integer:
    case ColumnType::real:
      return "is not a number";
    case ColumnType::boolean:
      return "is neither yes nor no";
    case ColumnType::time:
      return "is not a time";
    default:
      return "does not fit";
  }
}

}  // namespace samovar::ingest
