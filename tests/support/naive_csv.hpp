// CSV as its rules read, one character after the other: slow, short, and what the pipeline must agree with.
#pragma once
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/ingest/options.hpp"
#include "daemon/ingest/utf8.hpp"

namespace samovar::test {

struct NaiveTable {
  using Row = std::vector<std::optional<std::string>>;
  std::vector<Row> rows;
  std::size_t bad = 0;
};

inline bool naive_blank(char c) { return c == ' ' || c == '\t'; }

inline std::vector<std::string> naive_cells(const std::string& row, const ingest::ParseOptions& options) {
  std::vector<std::string> cells;
  std::size_t at = 0;
  while (true) {
    std::string cell;
    if (options.quote && at < row.size() && row[at] == *options.quote) {
      ++at;
      while (at < row.size()) {
        if (row[at] != *options.quote) {
          cell += row[at++];
        } else if (at + 1 < row.size() && row[at + 1] == *options.quote) {
          cell += row[at];
          at += 2;
        } else {
          ++at;
          break;
        }
      }
      std::string rest;
      while (at < row.size() && row[at] != options.delimiter) rest += row[at++];
      while (!rest.empty() && naive_blank(rest.back())) rest.pop_back();
      cell += rest;
    } else {
      while (at < row.size() && row[at] != options.delimiter) cell += row[at++];
      while (!cell.empty() && naive_blank(cell.back())) cell.pop_back();
      while (!cell.empty() && naive_blank(cell.front())) cell.erase(0, 1);
    }
    cells.push_back(cell);
    if (at == row.size()) return cells;
    ++at;
  }
}

// Text columns only; the text is shorter than what the pipeline reads at once.
inline NaiveTable naive_csv(const std::string& text, const ingest::ParseOptions& options,
                            std::size_t columns) {
  const bool old_mac = text.find('\n') == std::string::npos && text.find('\r') != std::string::npos;
  const char newline = old_mac ? '\r' : '\n';
  NaiveTable table;
  std::optional<std::string> header;
  std::string row;
  bool quoted = false;
  const auto end_row = [&](bool open) {
    if (!old_mac && !row.empty() && row.back() == '\r') row.pop_back();
    const bool blank = std::all_of(row.begin(), row.end(), naive_blank);
    if (!header && options.header) {
      if (!blank) header = row;
    } else if (open) {
      ++table.bad;
    } else if (!blank) {
      const std::vector<std::string> cells = naive_cells(row, options);
      const bool well = row.find('\0') == std::string::npos && ingest::utf8_valid(row);
      if (!well || cells.size() != columns || row == header) {
        ++table.bad;
      } else {
        NaiveTable::Row values;
        for (const std::string& cell : cells) {
          const bool missing =
              std::find(options.missing.begin(), options.missing.end(), cell) != options.missing.end();
          values.push_back(missing ? std::nullopt : std::optional(cell));
        }
        table.rows.push_back(values);
      }
    }
    row.clear();
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      row += c;
      if (c != *options.quote) continue;
      if (i + 1 < text.size() && text[i + 1] == *options.quote)
        row += text[++i];
      else
        quoted = false;
    } else if (c == newline) {
      end_row(false);
    } else {
      if (options.quote && c == *options.quote && (row.empty() || row.back() == options.delimiter))
        quoted = true;
      row += c;
    }
  }
  if (!row.empty()) end_row(quoted);
  return table;
}

}  // namespace samovar::test
