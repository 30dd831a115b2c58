#include "daemon/ingest/csv_dialect.hpp"

#include <algorithm>
#include <map>

namespace samovar::ingest {
namespace {

constexpr std::size_t kRowsLooked = 1000;
constexpr std::size_t kBytesLooked = 512 << 10;
constexpr double kConsistent = 0.9;

CsvDialect measure(const SampleText& sample, const CsvRules& rules) {
  const SampleText looked{sample.text.substr(0, kBytesLooked),
                          sample.whole && sample.text.size() <= kBytesLooked};
  auto split = split_csv(looked.text, rules, kRowsLooked, looked.whole);
  // A single line longer than that: no other way to see its columns.
  if (split.rows.empty()) split = split_csv(sample.text, rules, kRowsLooked, true);
  std::map<std::size_t, std::size_t> counts;
  for (const auto& row : split.rows) ++counts[row.cells.size()];
  CsvDialect dialect;
  dialect.rules = rules;
  std::size_t best = 0;
  for (const auto& [columns, rows] : counts) {
    if (rows <= best) continue;
    best = rows;
    dialect.columns = columns;
  }
  dialect.first_fits = !split.rows.empty() && split.rows[0].cells.size() == dialect.columns;
  // Titles above the table do not make it less of one.
  const std::uint64_t before = lines_before_table(split, dialect.columns);
  const auto skipped = static_cast<std::size_t>(std::count_if(
      split.rows.begin(), split.rows.end(), [&](const SampleRow& row) { return row.line <= before; }));
  const std::size_t rows = split.rows.size() - skipped;
  if (rows > 0) dialect.consistency = static_cast<double>(best) / static_cast<double>(rows);
  return dialect;
}

std::optional<char> choose_quote(const SampleText& sample, char delimiter, const ParseHints& hints) {
  if (hints.quoted) return *hints.quoted ? std::optional<char>('"') : std::nullopt;
  if (sample.text.find('"') == std::string_view::npos) return '"';
  const auto split = split_csv(sample.text, {delimiter, '"'}, kRowsLooked, sample.whole);
  // Cells that begin with a quote and do not end with it: prose, inches, not quoting.
  if (split.quote_faults > 1 && split.quote_faults * 20 > split.quoted) return std::nullopt;
  if (split.rows.empty() && split.quoted > 0) return std::nullopt;
  return '"';
}

// A comma inside "1,5;2,5" makes as regular a table as the semicolon: which of two regular ones is right?
bool better(const CsvDialect& a, const CsvDialect& b) {
  const auto rank = [](char delimiter) {
    constexpr std::string_view kOrder = "\t;|,\x01^~: ";
    return kOrder.find(delimiter);
  };
  const bool a_table = a.columns > 1 && a.consistency >= kConsistent;
  const bool b_table = b.columns > 1 && b.consistency >= kConsistent;
  if (a_table != b_table) return a_table;
  if (!a_table) {
    if ((a.columns > 1) != (b.columns > 1)) return a.columns > 1;
    return a.consistency > b.consistency;
  }
  // A sign inside every row's prose does not stand in the header.
  if (a.first_fits != b.first_fits) return a.first_fits;
  // n columns with a decimal comma in each give at most 2n with the comma.
  if (a.columns > 2 * b.columns && b.columns <= 3) return true;
  if (b.columns > 2 * a.columns && a.columns <= 3) return false;
  return rank(a.rules.delimiter) < rank(b.rules.delimiter);
}

}  // namespace

CsvDialect detect_dialect(const SampleText& sample, const ParseHints& hints) {
  if (hints.delimiter)
    return measure(sample, {*hints.delimiter, choose_quote(sample, *hints.delimiter, hints)});
  CsvDialect best;
  best.rules = {',', choose_quote(sample, ',', hints)};
  for (const char delimiter : {',', '\t', ';', '|', '\x01', '^', '~', ':', ' '}) {
    const CsvDialect here = measure(sample, {delimiter, choose_quote(sample, delimiter, hints)});
    // Prose has blanks and colons too: those must fit nearly always, and nothing else at all.
    const bool weak = delimiter == ' ' || delimiter == ':' || delimiter == '^' || delimiter == '~';
    if (weak && (here.consistency < 0.97 || (best.columns > 1 && best.consistency >= 0.8))) continue;
    if (here.consistency < 0.5 || here.columns < 2) continue;
    if (best.columns < 2 || better(here, best)) best = here;
  }
  if (best.columns < 2) {
    // One column: a sign that does not occur cuts nothing.
    for (const char delimiter : {',', '\t', ';', '|', '\x01'}) {
      best.rules = {delimiter, choose_quote(sample, delimiter, hints)};
      if (sample.text.find(delimiter) == std::string_view::npos) break;
    }
    return measure(sample, best.rules);
  }
  return best;
}

std::uint64_t lines_before_table(const SampleRows& rows, std::size_t columns) {
  constexpr std::size_t kTitlesMax = 200;
  if (columns < 2) return 0;
  for (std::size_t i = 0; i < std::min(rows.rows.size(), kTitlesMax); ++i) {
    const auto& row = rows.rows[i];
    const std::size_t cells = row.cells.size();
    // R's write.table leaves out the name of the first column.
    const bool short_header = i == 0 && cells + 1 == columns && columns > 2;
    const bool comment = !row.cells[0].empty() && row.cells[0].substr(0, 2) == "# " &&
                         i + 1 < rows.rows.size() && rows.rows[i + 1].cells.size() == columns &&
                         cells != columns;
    if (cells == columns || (short_header && !comment)) return row.line - 1;
    // More than a title: the rows are just ragged.
    if (cells > columns) return rows.rows[0].line - 1;
  }
  return rows.rows.empty() ? 0 : rows.rows[0].line - 1;
}

}  // namespace samovar::ingest
