#include "daemon/cli/text_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace samovar::cli {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

struct Range {
  std::uint32_t first, last;
};

// Marks that sit on the letter before them. Unicode 15, the scripts a name or message may use.
constexpr Range kZero[] = {{0x300, 0x36F},   {0x483, 0x489},   {0x591, 0x5BD},   {0x610, 0x61A},
                           {0x64B, 0x65F},   {0x6D6, 0x6DC},   {0x900, 0x902},   {0x93C, 0x93C},
                           {0x941, 0x948},   {0x94D, 0x94D},   {0xE31, 0xE31},   {0xE34, 0xE3A},
                           {0xE47, 0xE4E},   {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF}, {0x200B, 0x200D},
                           {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}};
constexpr Range kWide[] = {{0x1100, 0x115F},   {0x2E80, 0x303E},   {0x3041, 0x33FF},   {0x3400, 0x4DBF},
                           {0x4E00, 0x9FFF},   {0xA000, 0xA4CF},   {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},
                           {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},   {0x1F300, 0x1F64F},
                           {0x1F680, 0x1F6FF}, {0x1F900, 0x1F9FF}, {0x1FA70, 0x1FAFF}, {0x20000, 0x3FFFD}};

template <std::size_t n>
bool within(std::uint32_t c, const Range (&ranges)[n]) {
  for (const Range& range : ranges) {
    if (c >= range.first && c <= range.last) return true;
  }
  return false;
}

struct Rune {
  std::uint32_t value = 0xFFFD;
  std::size_t bytes = 1;
  bool valid = false;
};

Rune decode(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  const std::size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < size) return {};
  std::uint32_t value = lead & (0x7F >> size);
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    value = value << 6 | (byte(i) & 0x3F);
  }
  constexpr std::array<std::uint32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
  if (value < kLeast[size] || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF)) return {};
  return {value, size, true};
}

std::size_t rune_width(const Rune& rune) {
  if (!rune.valid) return 1;
  if (rune.value < 0x300) return 1;
  if (within(rune.value, kZero)) return 0;
  return within(rune.value, kWide) ? 2 : 1;
}

bool is_harmful(const Rune& rune) {
  const std::uint32_t c = rune.value;
  return !rune.valid || c < 0x20 || (c >= 0x7F && c < 0xA0) || (c >= 0x202A && c <= 0x202E) ||
         (c >= 0x2066 && c <= 0x2069) || c == 0x2028 || c == 0x2029;
}

}  // namespace

std::size_t display_width(std::string_view text) noexcept {
  std::size_t width = 0;
  while (!text.empty()) {
    const Rune rune = decode(text);
    width += rune_width(rune);
    text.remove_prefix(rune.bytes);
  }
  return width;
}

std::string printable(std::string_view text, bool lines) {
  std::string out;
  while (!text.empty()) {
    const Rune rune = decode(text);
    if (lines && rune.valid && rune.value == '\n') {
      out.push_back('\n');
    } else if (is_harmful(rune)) {
      out += kReplacement;
    } else {
      out += text.substr(0, rune.bytes);
    }
    text.remove_prefix(rune.bytes);
  }
  return out;
}

std::string truncate(std::string_view text, std::size_t width) {
  if (display_width(text) <= width) return std::string(text);
  if (width == 0) return {};
  std::string out;
  std::size_t used = 0;
  while (!text.empty()) {
    const Rune rune = decode(text);
    if (used + rune_width(rune) > width - 1) break;
    used += rune_width(rune);
    out += text.substr(0, rune.bytes);
    text.remove_prefix(rune.bytes);
  }
  return out + "…";
}

std::string format_table(const std::vector<TableColumn>& columns,
                         const std::vector<std::vector<std::string>>& rows,
                         const std::vector<std::vector<std::string_view>>& colors) {
  std::vector<std::size_t> widths;
  for (const TableColumn& column : columns) widths.push_back(display_width(column.title));
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], display_width(row[i]));
  }
  std::string out;
  const auto line = [&](const auto& cell_at, const std::vector<std::string_view>* color) {
    std::string text;
    std::size_t owed = 0;  // spaces are written only when something follows
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const std::string& cell = cell_at(i);
      const std::size_t pad = widths[i] - display_width(cell);
      const bool right = columns[i].align == Align::right;
      if (right) owed += pad;
      if (!cell.empty()) {
        text.append(owed, ' ');
        owed = 0;
        const std::string_view paint =
            color != nullptr && i < color->size() ? (*color)[i] : std::string_view();
        text += paint.empty() ? cell : fmt::format("{}{}\x1b[0m", paint, cell);
      }
      owed += (right ? 0 : pad) + 2;
    }
    out += text + "\n";
  };
  line([&](std::size_t i) -> const std::string& { return columns[i].title; }, nullptr);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    line([&](std::size_t i) -> const std::string& { return rows[r][i]; },
         r < colors.size() ? &colors[r] : nullptr);
  }
  return out;
}

std::string csv_cell(std::string_view text) {
  std::string cell(text);
  // A plain number may begin with a minus; anything else that a spreadsheet would compute may not.
  const bool number = cell.find_first_not_of("0123456789.-+eE") == std::string::npos;
  if (!cell.empty() && !number && std::string_view("=+-@\t\r").find(cell[0]) != std::string_view::npos)
    cell.insert(0, "'");
  if (cell.find_first_of(",\"\r\n") == std::string::npos) return cell;
  std::string out = "\"";
  for (const char c : cell) {
    if (c == '"') out.push_back('"');
    out.push_back(c);
  }
  return out + "\"";
}

std::string human_bytes(double bytes) {
  constexpr std::array<const char*, 6> kUnits = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  std::size_t unit = 0;
  while (std::abs(bytes) >= 1024 && unit + 1 < kUnits.size()) {
    bytes /= 1024;
    ++unit;
  }
  return unit == 0 || std::abs(bytes) >= 100 ? fmt::format("{:.0f} {}", bytes, kUnits[unit])
                                             : fmt::format("{:.1f} {}", bytes, kUnits[unit]);
}

std::string human_duration(double seconds) {
  const auto whole = static_cast<long long>(std::max(0.0, seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  if (whole < 86400) return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
  return fmt::format("{} d {} h", whole / 86400, whole % 86400 / 3600);
}

std::string human_count(double number) {
  if (number != std::floor(number) || std::abs(number) > 9e15) return fmt::format("{}", number);
  std::string digits = fmt::format("{:.0f}", std::abs(number));
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return (number < 0 ? "-" : "") + digits;
}

std::string large_digits(std::string_view digits, bool large) {
  // Three columns and five rows per digit, a bit each, the top left one first.
  constexpr std::array<unsigned, 10> kShapes = {
      0b111101101101111, 0b010110010010111, 0b111001111100111, 0b111001111001111, 0b101101111001001,
      0b111100111001111, 0b111100111101111, 0b111001001001001, 0b111101111101111, 0b111101111001111};
  std::string out;
  for (unsigned row = 0; large && row < 5; ++row) {
    std::string line = "  ";
    for (std::size_t i = 0; i < digits.size(); ++i) {
      if (i != 0 && i * 2 == digits.size()) line += "    ";
      if (digits[i] < '0' || digits[i] > '9') continue;
      const unsigned shape = kShapes[static_cast<std::size_t>(digits[i] - '0')] >> (12 - 3 * row);
      for (unsigned column = 0; column < 3; ++column) line += (shape >> (2 - column) & 1U) != 0 ? "██" : "  ";
      line += "  ";
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  if (large) out += "\n";
  const std::size_t half = digits.size() == 6 ? 3 : digits.size();
  return out + fmt::format("  {}{}{}\n", digits.substr(0, half), half < digits.size() ? " " : "",
                           digits.substr(half));
}

}  // namespace samovar::cli
