// label [qid:n] index:value index:value … [# comment]: libsvm and svmlight.
#include <algorithm>
#include <numeric>

#include "daemon/ingest/line_parsers.hpp"
#include "daemon/ingest/values.hpp"

namespace samovar::ingest {
namespace {

class LibsvmParser final : public LineParser {
 public:
  explicit LibsvmParser(const trainer::Schema& schema) : columns_(schema.columns.size()) {}

  LineKind parse(std::string_view line, LineCells& out) override {
    begin_row(out, columns_);
    line = line.substr(0, line.find('#'));
    std::string_view label = next_word(line);
    if (label.empty()) return LineKind::nothing;
    if (label.find(':') != label.npos) return bad(out, "the line has no label before its first index:value");
    set(out, 0, label);
    out.missing[columns_ - 1] = 0;
    for (std::string_view word = next_word(line); !word.empty(); word = next_word(line)) {
      const std::size_t colon = word.find(':');
      if (colon == word.npos)
        return bad(out, "\"" + std::string(word.substr(0, 40)) + "\" is no index:value pair");
      if (word.substr(0, colon) == "qid") {
        if (columns_ > 2) set(out, 1, word.substr(colon + 1));
        continue;
      }
      std::int64_t index = 0;
      double value = 0;
      if (!parse_integer(word.substr(0, colon), index) || index < 0 || index > kIndexMax ||
          !parse_real(word.substr(colon + 1), value))
        return bad(out, "\"" + std::string(word.substr(0, 40)) + "\" is no index:value pair of numbers");
      out.indices.push_back(static_cast<std::uint32_t>(index));
      out.values.push_back(static_cast<float>(value));
    }
    return settle(out);
  }

 private:
  static constexpr std::int64_t kIndexMax = 0xffff'fffe;

  static std::string_view next_word(std::string_view& line) {
    const std::size_t begin = line.find_first_not_of(" \t\r");
    if (begin == line.npos) return {};
    const std::size_t end = std::min(line.find_first_of(" \t\r", begin), line.size());
    const std::string_view word = line.substr(begin, end - begin);
    line.remove_prefix(end);
    return word;
  }
  static void set(LineCells& out, std::size_t column, std::string_view cell) {
    out.cells[column] = cell;
    out.missing[column] = cell.empty() ? 1 : 0;
  }
  static LineKind bad(LineCells& out, std::string reason) {
    out.reason = std::move(reason);
    return LineKind::bad;
  }

  // Readers count on rising indices; the format asks for them, and not every writer keeps to it.
  LineKind settle(LineCells& out) {
    if (!std::is_sorted(out.indices.begin(), out.indices.end())) {
      order_.resize(out.indices.size());
      std::iota(order_.begin(), order_.end(), std::size_t{0});
      std::sort(order_.begin(), order_.end(),
                [&](std::size_t a, std::size_t b) { return out.indices[a] < out.indices[b]; });
      const auto indices = out.indices;
      const auto values = out.values;
      for (std::size_t i = 0; i < order_.size(); ++i) {
        out.indices[i] = indices[order_[i]];
        out.values[i] = values[order_[i]];
      }
    }
    const auto twice = std::adjacent_find(out.indices.begin(), out.indices.end());
    if (twice != out.indices.end()) return bad(out, "index " + std::to_string(*twice) + " stands twice");
    return LineKind::row;
  }

  const std::size_t columns_;
  std::vector<std::size_t> order_;
};

}  // namespace

std::unique_ptr<LineParser> make_libsvm_parser(const trainer::Schema& schema) {
  return std::make_unique<LibsvmParser>(schema);
}

}  // namespace samovar::ingest
