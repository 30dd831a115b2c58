// Columns of the formats that are read line by line: libsvm and JSON lines. (ARFF has its own file.)
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <unordered_set>

#include "daemon/ingest/detect_parts.hpp"
#include "daemon/ingest/infer.hpp"
#include "daemon/ingest/json_scan.hpp"
#include "daemon/ingest/line_parsers.hpp"
#include "daemon/ingest/utf8.hpp"

namespace samovar::ingest {
namespace {

using trainer::ColumnType;

bool has_qid(std::string_view line) {
  line = line.substr(0, line.find('#'));
  return line.find(" qid:") != line.npos || line.find("\tqid:") != line.npos;
}

}  // namespace

Result<void> detect_libsvm(const SampleText& sample, Detection& out) {
  const auto lines = split_lines(sample.text, kSampleRowsMax, sample.whole);
  const bool qid = std::any_of(lines.begin(), lines.end(), has_qid);
  trainer::Schema schema;
  schema.columns = {{"label", ColumnType::real, false}};
  if (qid) schema.columns.push_back({"qid", ColumnType::integer, false});
  schema.columns.push_back({"features", ColumnType::sparse, false});
  const auto parser = make_libsvm_parser(schema);

  Table table;
  table.names = {"label"};
  if (qid) table.names.push_back("qid");
  table.columns.resize(table.names.size());
  table.whole = sample.whole;
  std::unordered_set<std::uint32_t> indices;
  std::uint32_t index_min = 0xffff'ffff;
  std::uint32_t index_max = 0;
  std::uint64_t pairs = 0;
  std::uint64_t bad = 0;
  LineCells row;
  for (const auto line : lines) {
    const LineKind kind = parser->parse(line, row);
    if (kind == LineKind::bad) ++bad;
    if (kind != LineKind::row) continue;
    ++out.sample_rows;
    for (std::size_t i = 0; i < table.columns.size(); ++i) table.columns[i].push_back(row.cells[i]);
    pairs += row.indices.size();
    for (const std::uint32_t index : row.indices) {
      index_min = std::min(index_min, index);
      index_max = std::max(index_max, index);
      indices.insert(index);
    }
  }
  if (out.sample_rows == 0)
    return Error{Errc::invalid, "no line reads \"label index:value …\": this is no libsvm file"};
  out.options.header = false;
  out.options.quote.reset();
  infer_table(table, ParseHints{}, false, out);
  ColumnFinding features;
  features.spec = {"features", ColumnType::sparse, false};
  features.evidence = pairs == 0
                          ? "no pairs in the sample"
                          : fmt::format("{} different indices from {} to {}, {:.1f} a row on average",
                                        grouped(indices.size()), index_min, index_max,
                                        static_cast<double>(pairs) / static_cast<double>(out.sample_rows));
  out.columns.push_back(std::move(features));
  if (bad > 0)
    out.notes.push_back(
        fmt::format("Lines of the sample that are no rows and will be bad rows: {}.", grouped(bad)));
  return {};
}

namespace {

// Collects which members there are, in the order of their first appearance.
class MemberCensus final : public JsonVisitor {
 public:
  std::vector<std::string> paths;
  std::set<std::string, std::less<>> arrays;
  bool too_many = false;

 private:
  void member(std::string_view path, JsonKind kind, std::string_view, bool) override {
    if (kind == JsonKind::array && arrays.size() < trainer::kColumnsMax) arrays.emplace(path);
    if (known_.find(path) != known_.end()) return;
    if (paths.size() == trainer::kColumnsMax) {
      too_many = true;
      return;
    }
    known_.emplace(path);
    paths.emplace_back(path);
  }
  std::set<std::string, std::less<>> known_;
};

}  // namespace

Result<void> detect_jsonl(const SampleText& sample, const ParseHints& hints, Detection& out) {
  const auto lines = split_lines(sample.text, kSampleRowsMax, sample.whole);
  MemberCensus census;
  JsonScanner scanner;
  std::string reason;
  for (const auto line : lines) {
    if (trim(line).empty()) continue;
    if (!scanner.scan(line, census, reason)) continue;
  }
  if (census.too_many)
    return Error{Errc::invalid, "the objects have more than " + grouped(trainer::kColumnsMax) +
                                    " different members: keep those that matter, with jq for instance"};
  if (census.paths.empty())
    return Error{Errc::invalid, "no line is a JSON object with members: " + (reason.empty() ? "{}" : reason)};
  if (hints.missing) out.options.missing = *hints.missing;
  out.options.fields = census.paths;
  out.options.header = false;
  out.options.quote.reset();
  const auto parser = make_jsonl_parser(out.options, census.paths.size());

  Table table;
  table.names = census.paths;
  settle_names(table.names, out.notes);
  table.columns.resize(table.names.size());
  table.whole = sample.whole;
  std::deque<std::string> kept;  // unescaped cells live only as long as their line
  LineCells row;
  std::uint64_t bad = 0;
  for (const auto line : lines) {
    const LineKind kind = parser->parse(line, row);
    if (kind == LineKind::bad) ++bad;
    if (kind != LineKind::row) continue;
    ++out.sample_rows;
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      std::string_view cell = row.missing[i] != 0 ? std::string_view{} : row.cells[i];
      const bool borrowed = cell.data() >= line.data() && cell.data() <= line.data() + line.size();
      if (!cell.empty() && !borrowed) cell = kept.emplace_back(cell);
      table.columns[i].push_back(cell);
    }
  }
  infer_table(table, hints, false, out);
  for (std::size_t i = 0; i < census.paths.size(); ++i) {
    if (census.arrays.find(census.paths[i]) == census.arrays.end()) continue;
    out.columns[i].spec.type = ColumnType::text;
    out.columns[i].evidence = "holds JSON arrays: kept as text, as they are written";
  }
  if (bad > 0)
    out.notes.push_back(
        fmt::format("Lines of the sample that are no JSON objects and will be bad rows: {}.", grouped(bad)));
  if (!sample.whole) out.notes.push_back("Members that first appear after the sample are left out.");
  return {};
}

}  // namespace samovar::ingest
