#include <fmt/format.h>

#include <algorithm>

#include "daemon/ingest/csv_dialect.hpp"
#include "daemon/ingest/csv_header.hpp"
#include "daemon/ingest/detect_parts.hpp"
#include "daemon/ingest/infer.hpp"

namespace samovar::ingest {
namespace {

using trainer::ColumnType;

std::string_view after_lines(std::string_view text, std::uint64_t lines) {
  const char newline = text.find('\n') == text.npos ? '\r' : '\n';
  for (; lines > 0 && !text.empty(); --lines) {
    const std::size_t end = text.find(newline);
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
  }
  return text;
}

std::string ordinal_notice(std::size_t ragged, std::size_t rows, std::size_t columns) {
  return fmt::format("{} of {} rows in the sample do not have {} column{} and will be bad rows.",
                     grouped(ragged), grouped(rows), columns, columns == 1 ? "" : "s");
}

// Criteo's hashes may by chance read as numbers ("1e345678"): what the columns are is known.
void settle_criteo(Detection& out) {
  for (auto& column : out.columns) {
    const bool hash = column.spec.name[0] == 'C';
    if (hash) {
      column.spec.type = ColumnType::category;
      column.identifier = false;
    } else if (column.spec.name[0] == 'I') {
      column.spec.type = ColumnType::integer;
    }
    column.spec.sensitive = false;
    column.sensitive_reason.clear();
  }
  out.notes.push_back("The columns are those of Criteo's click logs and got their names.");
}

void note_repeated_header(const std::vector<SampleRow>& rows, Detection& out) {
  const auto repeats = std::count_if(rows.begin() + 1, rows.end(),
                                     [&](const SampleRow& row) { return row.cells == rows[0].cells; });
  if (repeats == 0) return;
  const auto again = std::find_if(rows.begin() + 1, rows.end(),
                                  [&](const SampleRow& row) { return row.cells == rows[0].cells; });
  out.notes.push_back(
      fmt::format("The header stands again in line {}{}, as when files are put together. Such lines "
                  "are no rows.",
                  again->line, repeats > 1 ? " and further down" : ""));
}

struct Rows {
  std::vector<SampleRow> rows;  // as many cells as columns, each
  std::size_t ragged = 0;
};

Rows regular_rows(SampleRows& split, std::size_t columns, bool may_have_short_header) {
  Rows out;
  for (std::size_t i = 0; i < split.rows.size(); ++i) {
    auto& row = split.rows[i];
    // R: the column of row names has no name of its own.
    if (i == 0 && may_have_short_header && row.cells.size() + 1 == columns)
      row.cells.insert(row.cells.begin(), "row");
    if (row.cells.size() == columns)
      out.rows.push_back(std::move(row));
    else
      ++out.ragged;
  }
  return out;
}

std::string delimiter_word(char delimiter) {
  switch (delimiter) {
    case '\t':
      return "a tab";
    case ' ':
      return "blanks";
    case ',':
      return "a comma";
    case ';':
      return "a semicolon";
    default:
      return std::string("\"") + delimiter + "\"";
  }
}

void note_shape(const CsvDialect& dialect, const Rows& rows, std::size_t all, Detection& out) {
  if (rows.ragged > 0) out.notes.push_back(ordinal_notice(rows.ragged, all, dialect.columns));
  if (dialect.columns == 1 && out.options.encoding != Encoding::idx)
    out.notes.push_back("Only one column was found. If there are more, set the sign that separates them.");
  else if (dialect.columns > 1 && dialect.consistency < 0.9)
    out.notes.push_back("It is not certain that " + delimiter_word(dialect.rules.delimiter) +
                        " separates the columns. Set it if that is wrong.");
}

// Excel's own way to name the delimiter: a first line "sep=;".
void take_excel_line(std::string_view text, ParseHints& hints) {
  if (hints.skip_lines || hints.delimiter || text.size() < 6 || text.substr(0, 4) != "sep=") return;
  if (text[5] != '\r' && text[5] != '\n') return;
  if (std::string_view(",;\t|").find(text[4]) == std::string_view::npos) return;
  hints.delimiter = text[4];
  hints.skip_lines = 1;
}

// Numbers in the first row do not care how the others are written: any style that fits will do here.
NumberStyle header_style(const ParseHints& hints) { return {hints.decimal.value_or('.'), false}; }

}  // namespace

Result<void> detect_csv(const SampleText& sample, const ParseHints& hints, Detection& out) {
  ParseHints known = hints;
  take_excel_line(sample.text, known);
  const std::uint64_t skip_given = known.skip_lines.value_or(0);
  SampleText rest{after_lines(sample.text, skip_given), sample.whole};
  CsvDialect dialect = detect_dialect(rest, known);
  auto split = split_csv(rest.text, dialect.rules, kSampleRowsMax, rest.whole);
  if (split.rows.empty()) {
    // One row without an end is all there is of the sample.
    split = split_csv(rest.text, dialect.rules, 1, true);
    if (split.rows.empty())
      return Error{Errc::invalid, "there is no row in the file behind the lines to skip"};
    if (!rest.whole && split.rows[0].cells.size() <= trainer::kColumnsMax)
      return Error{Errc::invalid, "the first row is longer than 4 MB: a quotation mark may not be closed"};
    dialect.columns = split.rows[0].cells.size();
  }
  if (dialect.columns > trainer::kColumnsMax) return too_many_columns(dialect.columns);

  out.options.delimiter = dialect.rules.delimiter;
  out.options.quote = dialect.rules.quote;
  std::uint64_t before = known.skip_lines ? 0 : lines_before_table(split, dialect.columns);
  out.options.skip_lines = skip_given + before;
  if (before > 0) std::erase_if(split.rows, [&](const SampleRow& row) { return row.line <= before; });
  if (before > 0 && sample.text.substr(0, 64).find_first_not_of("\r\n \t") < 64)
    out.notes.push_back(fmt::format("The first {} line{} of the file {} no part of the table and skipped.",
                                    out.options.skip_lines, out.options.skip_lines == 1 ? "" : "s",
                                    out.options.skip_lines == 1 ? "is" : "are"));

  const std::size_t all = split.rows.size();
  Rows rows = regular_rows(split, dialect.columns, hints.header.value_or(true));
  if (rows.rows.empty())
    return Error{Errc::invalid, "no two rows have the same number of columns: this is no table"};
  note_shape(dialect, rows, all, out);

  const bool criteo = !hints.header.value_or(false) && is_criteo(rows.rows);
  out.options.header = hints.header.value_or(!criteo && has_header(rows.rows, header_style(hints)));
  Table table;
  table.whole = rest.whole && all < kSampleRowsMax;
  table.names = criteo ? criteo_names(dialect.columns) : numbered_names(dialect.columns);
  if (out.options.header) {
    table.names.assign(rows.rows[0].cells.begin(), rows.rows[0].cells.end());
    // "# id, name": the sign belongs to the line, not to the name.
    if (table.names[0].rfind("#", 0) == 0) table.names[0].erase(0, 1);
    settle_names(table.names, out.notes);
    note_repeated_header(rows.rows, out);
  }
  table.columns.resize(dialect.columns);
  for (std::size_t i = out.options.header ? 1 : 0; i < rows.rows.size(); ++i) {
    if (out.options.header && rows.rows[i].cells == rows.rows[0].cells) continue;
    ++out.sample_rows;
    for (std::size_t c = 0; c < dialect.columns; ++c) table.columns[c].push_back(rows.rows[i].cells[c]);
  }
  if (out.sample_rows == 0 && !rest.whole)
    return Error{
        Errc::invalid,
        "the row behind the header is longer than 4 MB: a quotation mark may not be closed, or a cell is "
        "too long for a table"};
  if (out.sample_rows == 0) return Error{Errc::invalid, "the file has a header and no rows"};
  infer_table(table, hints, true, out);
  if (criteo) settle_criteo(out);
  return {};
}

}  // namespace samovar::ingest
