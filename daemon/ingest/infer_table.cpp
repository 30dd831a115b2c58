// What holds for a file as a whole: how its numbers and dates are written, and what stands for "missing".
#include <algorithm>
#include <map>
#include <unordered_set>

#include "daemon/ingest/detect_parts.hpp"
#include "daemon/ingest/infer.hpp"
#include "daemon/ingest/missing.hpp"
#include "daemon/ingest/utf8.hpp"

namespace samovar::ingest {
namespace {

constexpr std::size_t kNameBytesMax = 256;

std::vector<std::string_view> present(const std::vector<std::string_view>& cells,
                                      const MissingTokens& missing) {
  std::vector<std::string_view> values;
  for (const auto cell : cells)
    if (!missing.contains(cell)) values.push_back(cell);
  return values;
}

// Words that stand for "missing" only where a column is numbers otherwise.
void add_missing_tokens(const Table& table, NumberStyle style, Detection& out) {
  static const MissingTokens candidates(
      {"n/a",    "#N/A",    "#NA",     "<NA>",    "NaT",     "n.a.", "N.A.",    "na",     "nil", "none",
       "NONE",   "missing", "Missing", "unknown", "Unknown", ".",    "..",      "--",     "---", "*",
       "(null)", "[null]",  "<null>",  "k.A.",    "-nan",    "NAN",  "#DIV/0!", "#VALUE!"});
  std::vector<std::string> added;
  for (const auto& column : table.columns) {
    const MissingTokens known(out.options.missing);
    std::size_t numbers = 0;
    std::size_t others = 0;
    std::map<std::string, std::size_t> tokens;
    for (const auto value : present(column, known)) {
      double number = 0;
      if (parse_real(value, style, number))
        ++numbers;
      else if (candidates.contains(value))
        ++tokens[std::string(value)];
      else
        ++others;
    }
    if (tokens.empty() || numbers == 0 || others * 100 > numbers) continue;
    for (const auto& [token, count] : tokens) {
      out.options.missing.push_back(token);
      added.push_back("\"" + token + "\"");
    }
  }
  if (added.empty()) return;
  std::string list;
  for (const auto& token : added) list += (list.empty() ? "" : ", ") + token;
  out.notes.push_back("Among numbers, " + list + " was found and is taken as missing, in every column.");
}

// How many columns are numbers in this writing, and how many cells need it.
struct StyleScore {
  std::size_t columns = 0;
  std::size_t cells = 0;
};

StyleScore score(const Table& table, const MissingTokens& missing, NumberStyle style) {
  constexpr std::size_t kRowsLooked = 2000;
  StyleScore total;
  for (const auto& column : table.columns) {
    std::size_t values = 0;
    std::size_t numbers = 0;
    for (std::size_t i = 0; i < std::min(column.size(), kRowsLooked); ++i) {
      if (missing.contains(column[i])) continue;
      double number = 0;
      ++values;
      numbers += parse_real(column[i], style, number) ? 1 : 0;
    }
    total.cells += numbers;
    if (values > 0 && numbers * 100 >= values * 95) ++total.columns;
  }
  return total;
}

// "1,234" could be 1234 or 1.234: true when every comma found has exactly three digits behind it.
bool only_thousands(const Table& table, char sign) {
  for (const auto& column : table.columns) {
    for (const auto cell : column) {
      const std::size_t at = cell.find(sign);
      double number = 0;
      if (at == cell.npos || !parse_real(cell, {sign, false}, number)) continue;
      if (cell.size() - at != 4 || at == 0 || at > 4 || cell[0] == '0') return false;
    }
  }
  return true;
}

void decide_style(const Table& table, const ParseHints& hints, Detection& out) {
  const MissingTokens missing(out.options.missing);
  const auto better = [](StyleScore a, StyleScore b) {
    return a.columns > b.columns || (a.columns == b.columns && a.cells > b.cells);
  };
  NumberStyle best{hints.decimal.value_or('.'), false};
  StyleScore best_score = score(table, missing, best);
  for (const NumberStyle style : {NumberStyle{',', false}, NumberStyle{'.', true}, NumberStyle{',', true}}) {
    if (hints.decimal && *hints.decimal != style.decimal) continue;
    const StyleScore here = score(table, missing, style);
    if (better(here, best_score)) {
      best = style;
      best_score = here;
    }
  }
  const bool doubtful =
      best.decimal == ',' && !best.thousands && !hints.decimal && only_thousands(table, ',');
  if (doubtful) {
    // A semicolon between columns means the comma was taken: it is the decimal sign there.
    if (out.options.delimiter != ';') best = {'.', true};
    out.notes.push_back(
        std::string("Numbers like 1,234 were read as ") +
        (best.thousands ? "1234 (the comma groups digits)" : "1.234 (the comma is the decimal sign)") +
        ". If that is wrong, set the decimal sign.");
  }
  out.options.decimal = best.decimal;
  out.options.thousands = best.thousands;
}

// 3/4/2024: some other row may tell, as 13/4/2024 does.
void decide_date_order(const Table& table, const ParseHints& hints, Detection& out) {
  if (hints.date_order) {
    out.options.date_order = *hints.date_order;
    return;
  }
  std::size_t day_first = 0;
  std::size_t month_first = 0;
  std::size_t open = 0;
  bool slashes = false;
  for (const auto& column : table.columns) {
    for (const auto cell : column) {
      if (cell.size() < 6 || cell.size() > 32) continue;
      const AmbiguousDate date = ambiguous_date(cell);
      if (date.first == 0 || date.second == 0 || date.first > 31 || date.second > 31) continue;
      if (date.first > 12 && date.second <= 12)
        ++day_first;
      else if (date.second > 12 && date.first <= 12)
        ++month_first;
      else
        ++open;
      slashes = slashes || cell.find('/') != cell.npos;
    }
  }
  out.options.date_order = month_first > day_first ? DateOrder::month_first : DateOrder::day_first;
  if (month_first > 0 && day_first > 0)
    out.notes.push_back("Some dates have the day first and others the month. They are read with the " +
                        std::string(month_first > day_first ? "month" : "day") + " first.");
  else if (month_first == 0 && day_first == 0 && open > 0 && slashes)
    out.notes.push_back(
        "Dates like 3/4/2024 could be read both ways; they are read with the day first. If that is "
        "wrong, set the order of dates.");
}

}  // namespace

void infer_table(const Table& table, const ParseHints& hints, bool style_open, Detection& out) {
  if (hints.missing) out.options.missing = *hints.missing;
  if (style_open) decide_style(table, hints, out);
  if (!hints.missing) add_missing_tokens(table, number_style(out.options), out);
  decide_date_order(table, hints, out);
  const MissingTokens missing(out.options.missing);
  const InferRules rules{number_style(out.options), out.options.date_order, table.whole};
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    ColumnSample column{table.names[i], present(table.columns[i], missing), 0};
    column.missing = table.columns[i].size() - column.values.size();
    out.columns.push_back(infer_column(column, rules));
  }
}

void settle_names(std::vector<std::string>& names, std::vector<std::string>& notes) {
  std::unordered_set<std::string> taken;
  std::size_t twice = 0;
  std::size_t empty = 0;
  std::string example;
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::string name = printable(trim(names[i]), kNameBytesMax - 16);
    if (name.empty()) {
      ++empty;
      name = "c" + std::to_string(i + 1);
    }
    std::string unique = name;
    for (unsigned n = 2; !taken.insert(unique).second; ++n) unique = name + "_" + std::to_string(n);
    if (unique != name) {
      ++twice;
      if (example.empty()) example = "\"" + name + "\" became \"" + unique + "\"";
    }
    names[i] = std::move(unique);
  }
  if (twice > 0)
    notes.push_back(std::to_string(twice) + " column name" + (twice == 1 ? " stands" : "s stand") +
                    " more than once in the header: " + example + (twice > 1 ? ", and so on." : "."));
  if (empty > 0)
    notes.push_back(std::to_string(empty) + " column" + (empty == 1 ? " has" : "s have") +
                    " no name in the header and got one by position.");
}

Error too_many_columns(std::size_t columns) {
  return Error{Errc::invalid,
               "the file has " + grouped(columns) + " columns, and " + grouped(trainer::kColumnsMax) +
                   " are the limit: if it is sparse, use the libsvm format; else turn it round or split "
                   "it"};
}

}  // namespace samovar::ingest
