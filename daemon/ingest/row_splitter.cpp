#include "daemon/ingest/row_splitter.hpp"

#include <algorithm>
#include <cstring>

namespace samovar::ingest {
namespace {

class Splitter {
 public:
  Splitter(std::string_view row, const SplitRules& rules, char* out, std::uint32_t base, std::uint32_t* marks,
           std::size_t cells_max)
      : row_(row), rules_(rules), out_(out), base_(base), marks_(marks), cells_max_(cells_max) {}

  std::size_t run() {
    if (rules_.wide_blanks) return run_wide();
    if (rules_.blank_runs) skip_blanks();
    if (rules_.blank_runs && at_ == row_.size()) return end_cell(), cells_;
    while (true) {
      cell();
      end_cell();
      if (at_ == row_.size()) return cells_;
      if (rules_.blank_runs) {
        skip_blanks();
        if (at_ == row_.size()) return cells_;
      } else {
        ++at_;
        // A delimiter at the very end is followed by an empty cell.
        if (at_ == row_.size()) return end_cell(), cells_;
      }
    }
  }

 private:
  std::size_t run_wide() {
    while (true) {
      const std::size_t end = std::min(row_.find("  ", at_), row_.size());
      copy_trimmed(row_.substr(at_, end - at_));
      end_cell();
      if (end == row_.size()) return cells_;
      at_ = end;
      while (at_ < row_.size() && row_[at_] == ' ') ++at_;
      if (at_ == row_.size()) return cells_;
    }
  }

  bool is_delimiter(char c) const noexcept { return rules_.blank_runs ? is_blank(c) : c == rules_.delimiter; }
  void skip_blanks() noexcept {
    while (at_ < row_.size() && is_blank(row_[at_])) ++at_;
  }
  void copy(std::string_view text) noexcept {
    if (!text.empty()) std::memcpy(out_ + written_, text.data(), text.size());
    written_ += text.size();
  }
  void copy_trimmed(std::string_view text) noexcept {
    while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
    copy(text);
  }
  std::size_t cell_end(std::size_t at) const noexcept {
    while (at < row_.size() && !is_delimiter(row_[at])) ++at;
    return at;
  }

  void cell() {
    if (rules_.quote && at_ < row_.size() && row_[at_] == *rules_.quote) return quoted_cell();
    const std::size_t end = cell_end(at_);
    copy_trimmed(row_.substr(at_, end - at_));
    at_ = end;
  }

  void quoted_cell() {
    const char quote = *rules_.quote;
    ++at_;
    while (true) {
      const std::size_t close = std::min(row_.find(quote, at_), row_.size());
      copy(row_.substr(at_, close - at_));
      if (close + 1 >= row_.size()) {
        at_ = row_.size();
        return;
      }
      at_ = close + 1;
      if (row_[at_] != quote) break;
      copy(row_.substr(at_, 1));
      ++at_;
    }
    // What stands between the closing quote and the delimiter belongs to the cell as well.
    const std::size_t end = cell_end(at_);
    std::string_view rest = row_.substr(at_, end - at_);
    while (!rest.empty() && is_blank(rest.back())) rest.remove_suffix(1);
    copy(rest);
    at_ = end;
  }

  void end_cell() noexcept {
    if (cells_ < cells_max_) marks_[cells_] = base_ + static_cast<std::uint32_t>(written_);
    out_[written_++] = '\n';
    ++cells_;
  }

  const std::string_view row_;
  const SplitRules& rules_;
  char* const out_;
  const std::uint32_t base_;
  std::uint32_t* const marks_;
  const std::size_t cells_max_;
  std::size_t at_ = 0;
  std::size_t written_ = 0;
  std::size_t cells_ = 0;
};

}  // namespace

SplitRules split_rules(const ParseOptions& options) {
  SplitRules rules{options.delimiter, options.quote, false, false};
  if (options.format == Format::pairs) rules.quote.reset();
  rules.blank_runs = options.delimiter == ' ' && options.format == Format::csv;
  rules.wide_blanks = options.delimiter == ' ' && options.format == Format::pairs;
  return rules;
}

std::size_t split_row(std::string_view row, const SplitRules& rules, char* out, std::uint32_t base,
                      std::uint32_t* marks, std::size_t cells_max) {
  return Splitter(row, rules, out, base, marks, cells_max).run();
}

std::vector<std::string> split_row(std::string_view row, const SplitRules& rules) {
  std::string out(row.size() + 1, '\0');
  std::vector<std::uint32_t> marks(row.size() + 1);
  const std::size_t count = split_row(row, rules, out.data(), 0, marks.data(), marks.size());
  std::vector<std::string> cells;
  cells.reserve(count);
  std::uint32_t begin = 0;
  for (std::size_t i = 0; i < count; ++i) {
    cells.push_back(out.substr(begin, marks[i] - begin));
    begin = marks[i] + 1;
  }
  return cells;
}

}  // namespace samovar::ingest
