#include "daemon/jobs/csv_export.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <iterator>
#include <numeric>
#include <string_view>
#include <vector>

#include "base/ids.hpp"

namespace samovar::jobs {
namespace {

using trainer::ColumnType;

bool looks_like_formula(std::string_view text) {
  return !text.empty() && std::string_view("=+-@\t\r").find(text.front()) != std::string_view::npos;
}

void append_text(std::string_view text, std::string& out) {
  const bool formula = looks_like_formula(text);
  const bool quoted = text.empty() || text.find_first_of(",\"\r\n") != std::string_view::npos ||
                      text.front() == ' ' || text.back() == ' ';
  if (!quoted) {
    if (formula) out += '\'';
    out += text;
    return;
  }
  out += '"';
  if (formula) out += '\'';
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

template <class Number>
void append_number(Number value, std::string& out) {
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  out.append(digits, end);
}

// What RFC 3339 can write: the years 1 to 9999.
constexpr std::int64_t kTimeMin = -62'135'596'800'000'000;
constexpr std::int64_t kTimeMax = 253'402'300'799'999'999;

// Without digits that say nothing; a time that no calendar of ours has stays a number.
void append_time(std::int64_t us, std::string& out) {
  if (us < kTimeMin || us > kTimeMax) return append_number(us, out);
  std::string text = format_time(WallTime(std::chrono::microseconds(us)));
  if (text.size() > 8 && text.compare(text.size() - 8, 8, ".000000Z") == 0)
    text.replace(text.size() - 8, 8, "Z");
  out += text;
}

// One column's cells of the rows asked for, fetched in one go.
struct Cells {
  std::vector<double> reals;
  std::vector<std::int64_t> integers;
};

void append_cell(const trainer::BlockView& block, const trainer::Schema& schema, const Cells& cells,
                 std::size_t column, std::uint32_t row, std::uint32_t index, std::string& out) {
  switch (schema.columns[column].type) {
    case ColumnType::real:
      if (std::isnan(cells.reals[index])) break;
      append_number(cells.reals[index], out);
      break;
    case ColumnType::integer:
      append_number(cells.integers[index], out);
      break;
    case ColumnType::boolean:
      out += cells.integers[index] != 0 ? "true" : "false";
      break;
    case ColumnType::time:
      append_time(cells.integers[index], out);
      break;
    case ColumnType::category:
    case ColumnType::text:
      append_text(block.text(column, row), out);
      break;
    case ColumnType::sparse: {
      const auto pairs = block.sparse(column, row);
      for (std::size_t i = 0; i < pairs.indices.size(); ++i)
        fmt::format_to(std::back_inserter(out), "{}{}:{}", i == 0 ? "" : " ", pairs.indices[i],
                       pairs.values[i]);
      break;
    }
  }
}

}  // namespace

void append_csv_text(std::string_view text, std::string& out) { append_text(text, out); }
void append_csv_number(float value, std::string& out) { append_number(value, out); }

void append_csv_header(const trainer::Schema& schema, std::string& out) {
  for (std::size_t column = 0; column < schema.columns.size(); ++column) {
    if (column > 0) out += ',';
    append_text(schema.columns[column].name, out);
  }
  out += "\r\n";
}

struct CsvRows::State {
  const trainer::BlockView& block;
  const trainer::Schema& schema;
  std::vector<std::size_t> columns;
  std::uint32_t first = 0;
  std::vector<Cells> cells;
};

CsvRows::CsvRows(const trainer::BlockView& block, const trainer::Schema& schema,
                 std::span<const std::size_t> columns, std::uint32_t first, std::uint32_t count)
    : state_(new State{block, schema, {columns.begin(), columns.end()}, first, {}}) {
  state_->cells.resize(columns.size());
  for (std::size_t place = 0; place < columns.size(); ++place) {
    Cells& cells = state_->cells[place];
    const std::size_t column = columns[place];
    const ColumnType type = schema.columns[column].type;
    if (type == ColumnType::real) {
      cells.reals.resize(count);
      block.reals(column, first, std::span<double>(cells.reals));
    } else if (type == ColumnType::integer || type == ColumnType::boolean || type == ColumnType::time) {
      cells.integers.resize(count);
      block.integers(column, first, std::span<std::int64_t>(cells.integers));
    }
  }
}

CsvRows::~CsvRows() = default;

void CsvRows::append(std::uint32_t index, std::string& out) const {
  const State& state = *state_;
  const std::uint32_t row = state.first + index;
  for (std::size_t place = 0; place < state.columns.size(); ++place) {
    if (place > 0) out += ',';
    const std::size_t column = state.columns[place];
    if (state.block.valid(column, row))
      append_cell(state.block, state.schema, state.cells[place], column, row, index, out);
  }
}

void append_csv_rows(const trainer::BlockView& block, const trainer::Schema& schema, std::uint32_t first,
                     std::uint32_t count, std::string& out) {
  std::vector<std::size_t> columns(schema.columns.size());
  std::iota(columns.begin(), columns.end(), std::size_t{0});
  const CsvRows rows(block, schema, columns, first, count);
  for (std::uint32_t index = 0; index < count; ++index) {
    // An empty line would be read as no row at all.
    if (columns.size() == 1 && !block.valid(0, first + index)) out += "\"\"";
    rows.append(index, out);
    out += "\r\n";
  }
}

}  // namespace samovar::jobs
