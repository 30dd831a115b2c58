#include "daemon/ingest/sample_table.hpp"

#include "daemon/ingest/values.hpp"

namespace samovar::ingest {
namespace {

class Splitter {
 public:
  Splitter(std::string_view text, const CsvRules& rules, SampleRows& out)
      : text_(text), rules_(rules), out_(out), newline_(text.find('\n') == text.npos ? '\r' : '\n') {}

  void run(std::size_t rows_max, bool whole) {
    while (at_ < text_.size() && out_.rows.size() < rows_max) {
      SampleRow row;
      row.line = line_;
      const bool ended = read_row(row);
      if (!ended && !whole) return;
      const bool blank = row.cells.size() == 1 && row.cells[0].empty();
      if (!blank && !row.cells.empty()) out_.rows.push_back(std::move(row));
    }
  }

 private:
  bool runs() const { return rules_.delimiter == ' '; }
  bool is_delimiter(char c) const { return c == rules_.delimiter || (runs() && c == '\t'); }

  // True when a line end closed it.
  bool read_row(SampleRow& row) {
    if (runs()) skip_blanks();
    for (;;) {
      row.cells.push_back(read_cell());
      if (at_ == text_.size()) return false;
      if (text_[at_] == newline_) {
        ++at_;
        ++line_;
        return true;
      }
      ++at_;  // the delimiter
      if (!runs()) continue;
      skip_blanks();
      if (at_ < text_.size() && (text_[at_] == newline_ || text_[at_] == '\r')) {
        if (text_[at_] != newline_) ++at_;
        if (at_ == text_.size()) return false;
        ++at_;
        ++line_;
        return true;
      }
    }
  }

  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }

  std::string_view read_cell() {
    std::size_t begin = at_;
    // A blank before the quote is common behind a comma: 1, "two", 3.
    while (!runs() && begin < text_.size() && text_[begin] == ' ') ++begin;
    if (rules_.quote && begin < text_.size() && text_[begin] == *rules_.quote) {
      at_ = begin;
      return read_quoted();
    }
    while (at_ < text_.size() && !is_delimiter(text_[at_]) && text_[at_] != newline_) ++at_;
    std::string_view cell = text_.substr(begin, at_ - begin);
    if (!cell.empty() && cell.back() == '\r') cell.remove_suffix(1);
    return trim(cell);
  }

  std::string_view read_quoted() {
    const char quote = *rules_.quote;
    ++out_.quoted;
    const std::size_t begin = ++at_;
    bool doubled = false;
    for (;; ++at_) {
      if (at_ == text_.size()) {
        // A sample may end inside a quote; one that swallows this much was none.
        constexpr std::size_t kCellBytesUsual = 64 << 10;
        out_.quote_faults += at_ - begin > kCellBytesUsual ? out_.quoted : 1;
        return text_.substr(begin);
      }
      if (text_[at_] == newline_) ++line_;
      if (text_[at_] != quote) continue;
      if (at_ + 1 < text_.size() && text_[at_ + 1] == quote) {
        doubled = true;
        ++at_;
        continue;
      }
      break;
    }
    std::string_view cell = text_.substr(begin, at_ - begin);
    ++at_;
    const std::size_t rest = at_;
    while (at_ < text_.size() && !is_delimiter(text_[at_]) && text_[at_] != newline_) ++at_;
    if (text_.substr(rest, at_ - rest).find_first_not_of(" \t\r") != std::string_view::npos)
      ++out_.quote_faults;
    if (!doubled) return cell;
    std::string& plain = out_.unescaped.emplace_back();
    for (std::size_t i = 0; i < cell.size(); ++i) {
      plain += cell[i];
      if (cell[i] == quote) ++i;
    }
    return plain;
  }

  const std::string_view text_;
  const CsvRules rules_;
  SampleRows& out_;
  const char newline_;
  std::size_t at_ = 0;
  std::uint64_t line_ = 1;
};

}  // namespace

SampleRows split_csv(std::string_view text, const CsvRules& rules, std::size_t rows_max, bool whole) {
  SampleRows out;
  Splitter(text, rules, out).run(rows_max, whole);
  return out;
}

std::vector<std::string_view> split_lines(std::string_view text, std::size_t lines_max, bool whole) {
  const char newline = text.find('\n') == text.npos ? '\r' : '\n';
  std::vector<std::string_view> lines;
  std::size_t at = 0;
  while (at < text.size() && lines.size() < lines_max) {
    const std::size_t end = text.find(newline, at);
    if (end == text.npos && !whole) break;
    std::string_view line = text.substr(at, end == text.npos ? text.npos : end - at);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    lines.push_back(line);
    if (end == text.npos) break;
    at = end + 1;
  }
  return lines;
}

}  // namespace samovar::ingest
