// Rows of an ARFF file, behind @data: dense "5.1,3.5,'Iris setosa'" or sparse "{0 5.1, 2 'Iris setosa'}".
#include <algorithm>

#include "daemon/ingest/line_parsers.hpp"
#include "daemon/ingest/missing.hpp"
#include "daemon/ingest/values.hpp"

namespace samovar::ingest {
namespace {

class ArffParser final : public LineParser {
 public:
  ArffParser(const ParseOptions& options, std::size_t columns)
      : columns_(columns), missing_(options.missing), defaults_(options.fields) {
    defaults_.resize(columns_, "0");
  }

  LineKind parse(std::string_view line, LineCells& out) override {
    begin_row(out, columns_);
    line = trim(line);
    if (!line.empty() && line.back() == '\r') line = trim(line.substr(0, line.size() - 1));
    if (line.empty() || line[0] == '%') return LineKind::nothing;
    if (line[0] == '{') return sparse(line.substr(1), out);
    return dense(line, out);
  }

 private:
  static LineKind bad(LineCells& out, std::string reason) {
    out.reason = std::move(reason);
    return LineKind::bad;
  }

  // One value off the front of `rest`, up to one of `ends`, which stays.
  bool value(std::string_view& rest, std::string_view ends, std::size_t column, LineCells& out) {
    while (!rest.empty() && (rest[0] == ' ' || rest[0] == '\t')) rest.remove_prefix(1);
    if (!rest.empty() && (rest[0] == '\'' || rest[0] == '"')) return quoted(rest, ends, column, out);
    const std::size_t end = std::min(rest.find_first_of(ends), rest.size());
    const std::string_view cell = trim(rest.substr(0, end));
    out.cells[column] = cell;
    out.missing[column] = cell == "?" || missing_.contains(cell) ? 1 : 0;
    rest.remove_prefix(end);
    return true;
  }

  bool quoted(std::string_view& rest, std::string_view ends, std::size_t column, LineCells& out) {
    const char quote = rest[0];
    std::size_t at = 1;
    bool escaped = false;
    while (at < rest.size() && rest[at] != quote) {
      if (rest[at] == '\\') {
        escaped = true;
        ++at;
      }
      ++at;
    }
    if (at >= rest.size()) {
      out.reason = "a quotation mark is not closed";
      return false;
    }
    out.cells[column] = rest.substr(1, at - 1);
    out.missing[column] = 0;
    if (escaped && out.scratch.size() < out.scratch.capacity())
      out.cells[column] = out.scratch.emplace_back(unescape(out.cells[column]));
    rest.remove_prefix(at + 1);
    while (!rest.empty() && (rest[0] == ' ' || rest[0] == '\t')) rest.remove_prefix(1);
    if (!rest.empty() && ends.find(rest[0]) == ends.npos) {
      out.reason = "there is text behind a closing quotation mark";
      return false;
    }
    return true;
  }

  static std::string unescape(std::string_view text) {
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] != '\\' || i + 1 == text.size()) {
        plain += text[i];
        continue;
      }
      const char next = text[++i];
      plain += next == 'n' ? '\n' : next == 't' ? '\t' : next == 'r' ? '\r' : next;
    }
    return plain;
  }

  LineKind dense(std::string_view rest, LineCells& out) {
    for (std::size_t column = 0;; ++column) {
      if (column == columns_) {
        // An instance's weight may stand behind: "…, {5}". It is not kept.
        const std::string_view weight = trim(rest);
        if (!weight.empty() && weight[0] == '{' && weight.back() == '}') return LineKind::row;
        return bad(out, "more than " + std::to_string(columns_) + " values");
      }
      if (!value(rest, ",", column, out)) return LineKind::bad;
      if (rest.empty()) {
        if (column + 1 == columns_) return LineKind::row;
        return bad(out, std::to_string(column + 1) + " values instead of " + std::to_string(columns_));
      }
      rest.remove_prefix(1);
    }
  }

  LineKind sparse(std::string_view rest, LineCells& out) {
    for (std::size_t i = 0; i < columns_; ++i) {
      out.cells[i] = defaults_[i];
      out.missing[i] = 0;
    }
    for (;;) {
      rest = trim(rest);
      if (!rest.empty() && rest[0] == '}') return LineKind::row;
      const std::size_t end = rest.find_first_of(" \t");
      std::int64_t index = 0;
      if (end == rest.npos || !parse_integer(rest.substr(0, end), index) || index < 0 ||
          index >= static_cast<std::int64_t>(columns_))
        return bad(out, "a sparse row has pairs of a column's number, from 0, and a value");
      rest.remove_prefix(end);
      if (!value(rest, ",}", static_cast<std::size_t>(index), out)) return LineKind::bad;
      if (rest.empty()) return bad(out, "the sparse row is not closed with }");
      if (rest[0] == ',') rest.remove_prefix(1);
    }
  }

  const std::size_t columns_;
  const MissingTokens missing_;
  std::vector<std::string> defaults_;
};

}  // namespace

std::unique_ptr<LineParser> make_arff_parser(const ParseOptions& options, std::size_t columns) {
  return std::make_unique<ArffParser>(options, columns);
}

std::string arff_keyword(std::string_view line) {
  line = trim(line);
  if (line.empty() || line[0] != '@') return {};
  std::string word;
  for (const char c : line.substr(1)) {
    const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
    if (lower < 'a' || lower > 'z' || word.size() == 16) break;
    word += lower;
  }
  return word;
}

}  // namespace samovar::ingest
