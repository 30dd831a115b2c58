// One JSON object a line; each column is read from one member.
#include <functional>
#include <unordered_map>

#include "daemon/ingest/json_scan.hpp"
#include "daemon/ingest/line_parsers.hpp"
#include "daemon/ingest/missing.hpp"
#include "daemon/ingest/values.hpp"

namespace samovar::ingest {
namespace {

struct PathHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view path) const noexcept { return std::hash<std::string_view>{}(path); }
};

class JsonlParser final : public LineParser, private JsonVisitor {
 public:
  JsonlParser(const ParseOptions& options, std::size_t columns)
      : columns_(columns), missing_(options.missing) {
    for (std::size_t i = 0; i < options.fields.size(); ++i) column_of_.emplace(options.fields[i], i);
  }

  LineKind parse(std::string_view line, LineCells& out) override {
    begin_row(out, columns_);
    line = trim(line);
    if (line.empty() || line == "\r") return LineKind::nothing;
    out_ = &out;
    return scanner_.scan(line, *this, out.reason) ? LineKind::row : LineKind::bad;
  }

 private:
  // A member that no column is read from is left out; the last of two alike counts.
  void member(std::string_view path, JsonKind kind, std::string_view value, bool escaped) override {
    const auto found = column_of_.find(path);
    if (found == column_of_.end()) return;
    const std::size_t column = found->second;
    if (escaped && out_->scratch.size() < out_->scratch.capacity())
      value = out_->scratch.emplace_back(json_unescape(value));
    out_->cells[column] = value;
    out_->missing[column] = kind == JsonKind::null || missing_.contains(value) ? 1 : 0;
  }

  const std::size_t columns_;
  const MissingTokens missing_;
  std::unordered_map<std::string, std::size_t, PathHash, std::equal_to<>> column_of_;
  JsonScanner scanner_;
  LineCells* out_ = nullptr;
};

}  // namespace

std::unique_ptr<LineParser> make_jsonl_parser(const ParseOptions& options, std::size_t columns) {
  return std::make_unique<JsonlParser>(options, columns);
}

}  // namespace samovar::ingest
