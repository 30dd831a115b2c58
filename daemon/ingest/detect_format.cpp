#include <algorithm>

#include "daemon/ingest/detect_parts.hpp"
#include "daemon/ingest/json_scan.hpp"
#include "daemon/ingest/line_parsers.hpp"
#include "daemon/ingest/values.hpp"

namespace samovar::ingest {
namespace {

constexpr std::size_t kLinesLooked = 500;

class Ignore final : public JsonVisitor {
  void member(std::string_view, JsonKind, std::string_view, bool) override {}
};

bool is_json_object(std::string_view line) {
  Ignore ignore;
  std::string reason;
  return JsonScanner().scan(line, ignore, reason);
}

bool is_libsvm_line(std::string_view line, LineParser& parser) {
  LineCells row;
  if (parser.parse(line, row) != LineKind::row || row.indices.empty()) return false;
  double label = 0;
  const std::string_view first = row.cells[0].substr(0, row.cells[0].find(','));
  return parse_real(first, label);
}

bool begins_like_json_array(std::string_view text) {
  const std::size_t next = text.find_first_not_of(" \t\r\n", 1);
  return next != text.npos && (text[next] == '{' || text[next] == '[');
}

Error not_lines_of_json() {
  return Error{
      Errc::invalid,
      "this is one JSON document, not one object a line: convert it with `jq -c '.[]' FILE > FILE.jsonl`"};
}

}  // namespace

Result<Format> detect_format(const SampleText& sample) {
  const auto lines = split_lines(sample.text, kLinesLooked, sample.whole);
  trainer::Schema schema;
  schema.columns = {{"label", trainer::ColumnType::real, false},
                    {"features", trainer::ColumnType::sparse, false}};
  const auto libsvm_parser = make_libsvm_parser(schema);
  std::size_t looked = 0;
  std::size_t json = 0;
  std::size_t libsvm = 0;
  for (const auto line : lines) {
    const std::string_view content = trim(line);
    if (content.empty() || content[0] == '%') continue;
    const auto keyword = arff_keyword(content);
    if (looked == 0 && (keyword == "relation" || keyword == "attribute")) return Format::arff;
    if (content[0] == '#') continue;
    ++looked;
    if (content[0] == '{' && is_json_object(content))
      ++json;
    else if (is_libsvm_line(content, *libsvm_parser))
      ++libsvm;
  }
  if (looked == 0) return Format::csv;
  if (json * 10 >= looked * 9) return Format::jsonl;
  if (libsvm * 20 >= looked * 19) return Format::libsvm;
  const std::size_t first = sample.text.find_first_not_of(" \t\r\n");
  const std::string_view text = sample.text.substr(first);
  if (text[0] == '[' && begins_like_json_array(text)) return not_lines_of_json();
  if (text[0] == '{' && json == 0) {
    const std::size_t next = text.find_first_not_of(" \t\r\n", 1);
    if (next != text.npos && text[next] == '"') return not_lines_of_json();
  }
  return Format::csv;
}

}  // namespace samovar::ingest
