// Text for people: columns that line up for any script, and nothing a server sends can move the cursor.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace samovar::cli {

// Columns a terminal uses for UTF-8 text: 0 for combining marks, 2 for East Asian wide and emoji.
std::size_t display_width(std::string_view text) noexcept;

// Control characters (and so escape sequences), broken UTF-8 and direction overrides become U+FFFD.
// `lines` keeps line feeds.
std::string printable(std::string_view text, bool lines = false);

// Cut to `width` columns with "…" at the end.
std::string truncate(std::string_view text, std::size_t width);

enum class Align { left, right };

struct TableColumn {
  std::string title;
  Align align = Align::left;
};

// Two spaces between columns, none at a line's end. Cells may carry colour: `colors[row][column]` is
// the escape sequence put around the cell, or empty.
std::string format_table(const std::vector<TableColumn>& columns,
                         const std::vector<std::vector<std::string>>& rows,
                         const std::vector<std::vector<std::string_view>>& colors = {});

// RFC 4180, and a leading = + - @ is disarmed with ' so that no spreadsheet runs it as a formula.
std::string csv_cell(std::string_view text);

// 1536 → "1.5 KiB"; 93784 → "1 d 2 h".
std::string human_bytes(double bytes);
std::string human_duration(double seconds);
// 1234567 → "1,234,567"; what is no whole number as it is.
std::string human_count(double number);
// "482917" → "  482 917", and with `large` five lines of blocks above it, to be read across a room.
std::string large_digits(std::string_view digits, bool large);

}  // namespace samovar::cli
