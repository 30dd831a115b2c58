#include "daemon/ingest/csv_header.hpp"

#include <algorithm>
#include <unordered_set>

namespace samovar::ingest {
namespace {

constexpr std::size_t kRowsLooked = 1000;

bool is_number(std::string_view cell, NumberStyle style) {
  double number = 0;
  return parse_real(cell, style, number) || parse_real(cell, {',', true}, number) ||
         parse_real(cell, {'.', true}, number);
}

bool is_value(std::string_view cell, NumberStyle style) {
  std::int64_t time = 0;
  return is_number(cell, style) || parse_time(cell, DateOrder::day_first, time) ||
         parse_time(cell, DateOrder::month_first, time);
}

bool is_year(std::string_view cell) {
  std::int64_t year = 0;
  return cell.size() == 4 && parse_integer(cell, year) && year >= 1900 && year <= 2100;
}

// As a column would be called: short, one line, mostly letters.
bool is_name(std::string_view cell) {
  if (cell.empty() || cell.size() > 80) return false;
  std::size_t letters = 0;
  for (const char c : cell) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20) return false;
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || byte >= 0x80) ++letters;
  }
  const char last = cell.back();
  return letters > 0 && last != '!' && !(last == '.' && cell.find(' ') != cell.npos);
}

struct ColumnVote {
  bool against = false;  // the first cell is a value like those below
  bool in_favour = false;
  bool weak = false;  // in favour, if nothing speaks against it
};

ColumnVote vote(const std::vector<SampleRow>& rows, std::size_t column, NumberStyle style) {
  const std::string_view first = rows[0].cells[column];
  std::size_t present = 0;
  std::size_t values = 0;
  std::size_t same = 0;
  std::unordered_set<std::string_view> distinct;
  for (std::size_t i = 1; i < std::min(rows.size(), kRowsLooked); ++i) {
    const std::string_view cell = rows[i].cells[column];
    if (cell.empty() || cell == "NA" || cell == "?") continue;
    ++present;
    values += is_value(cell, style) ? 1 : 0;
    same += cell == first ? 1 : 0;
    distinct.insert(cell);
  }
  ColumnVote out;
  if (is_value(first, style)) {
    out.against = !is_year(first) || same > 0;
  } else if (present > 0 && values * 10 >= present * 9) {
    out.in_favour = is_name(first);  // a word above numbers
  } else if (same > 0) {
    // A level of the column itself, unless a header stands twice in the file.
    out.against = same > 1 || present < 50;
  } else if (present >= 5 && distinct.size() * 2 <= present && is_name(first)) {
    out.weak = true;  // the levels come back, and this one never does
  }
  return out;
}

}  // namespace

bool has_header(const std::vector<SampleRow>& rows, NumberStyle style) {
  if (rows.empty()) return false;
  const auto& first = rows[0].cells;
  std::size_t empty = 0;
  std::size_t names = 0;
  std::unordered_set<std::string_view> distinct;
  for (const auto cell : first) {
    empty += cell.empty() ? 1 : 0;
    names += is_name(cell) ? 1 : 0;
    if (!cell.empty()) distinct.insert(cell);
  }
  if (rows.size() == 1) return first.size() > 1 && names == first.size() && distinct.size() == first.size();
  // A name may be missing, as above row numbers; not most of them.
  if (empty * 2 > first.size() || names == 0) return false;
  std::size_t in_favour = 0;
  std::size_t weak = 0;
  std::size_t against = 0;
  for (std::size_t column = 0; column < first.size(); ++column) {
    const ColumnVote here = vote(rows, column, style);
    in_favour += here.in_favour ? 1 : 0;
    weak += here.weak ? 1 : 0;
    against += here.against ? 1 : 0;
  }
  if (against > 0) return in_favour > 3 * against;
  // "country,2019,2020": years that the columns below do not hold.
  const auto years = static_cast<std::size_t>(std::count_if(first.begin(), first.end(), is_year));
  if (years >= 2 && names > 0 && names + years == first.size()) return true;
  if (in_favour > 0) return true;
  if (distinct.size() + empty < first.size()) return false;  // levels stand twice, names seldom
  if (weak > 0) return weak * 2 >= first.size() || weak >= 2;
  // Only text, all different: a header if it reads like one word each.
  return std::all_of(first.begin(), first.end(),
                     [](std::string_view cell) {
                       return is_name(cell) && cell.size() <= 24 &&
                              cell.find_first_of(" ,.;:!?'\"/()") == cell.npos;
                     }) &&
         first.size() > 1;
}

bool is_criteo(const std::vector<SampleRow>& rows) {
  constexpr std::size_t kIntegers = 13;
  constexpr std::size_t kHashes = 26;
  if (rows.empty()) return false;
  const std::size_t columns = rows[0].cells.size();
  if (columns != kIntegers + kHashes && columns != kIntegers + kHashes + 1) return false;
  const std::size_t label = columns - kIntegers - kHashes;
  std::size_t hashes = 0;
  for (std::size_t i = 0; i < std::min(rows.size(), kRowsLooked); ++i) {
    const auto& cells = rows[i].cells;
    if (label == 1 && cells[0] != "0" && cells[0] != "1") return false;
    for (std::size_t c = label; c < columns; ++c) {
      if (cells[c].empty()) continue;
      std::int64_t integer = 0;
      if (c < label + kIntegers) {
        if (!parse_integer(cells[c], integer)) return false;
        continue;
      }
      if (cells[c].size() != 8 || cells[c].find_first_not_of("0123456789abcdef") != std::string_view::npos)
        return false;
      ++hashes;
    }
  }
  return hashes > 0;
}

std::vector<std::string> criteo_names(std::size_t columns) {
  std::vector<std::string> names;
  if (columns == 40) names.push_back("label");
  for (int i = 1; i <= 13; ++i) names.push_back("I" + std::to_string(i));
  for (int i = 1; i <= 26; ++i) names.push_back("C" + std::to_string(i));
  return names;
}

std::vector<std::string> numbered_names(std::size_t columns) {
  std::vector<std::string> names;
  for (std::size_t i = 1; i <= columns; ++i) names.push_back("c" + std::to_string(i));
  return names;
}

}  // namespace samovar::ingest
