// The head of an ARFF file names the columns and their types.
#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "daemon/ingest/detect_parts.hpp"
#include "daemon/ingest/infer.hpp"
#include "daemon/ingest/line_parsers.hpp"
#include "daemon/ingest/missing.hpp"
#include "daemon/ingest/utf8.hpp"

namespace samovar::ingest {
namespace {

using trainer::ColumnType;

enum class Declared : std::uint8_t { numeric, nominal, string, date };

struct Attribute {
  std::string name;
  Declared type = Declared::numeric;
  std::size_t levels = 0;
  std::string left_out = "0";  // what a sparse row means
};

std::string lower(std::string_view text) {
  std::string out;
  for (const char c : text) out += c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  return out;
}

// A name or a level, in quotes or not, off the front.
std::string take_word(std::string_view& rest, std::string_view ends) {
  rest = trim(rest);
  std::string word;
  if (!rest.empty() && (rest[0] == '\'' || rest[0] == '"')) {
    const char quote = rest[0];
    std::size_t at = 1;
    for (; at < rest.size() && rest[at] != quote; ++at) {
      if (rest[at] == '\\' && at + 1 < rest.size()) ++at;
      word += rest[at];
    }
    rest.remove_prefix(std::min(at + 1, rest.size()));
    return word;
  }
  const std::size_t end = std::min(rest.find_first_of(ends), rest.size());
  word = std::string(trim(rest.substr(0, end)));
  rest.remove_prefix(end);
  return word;
}

Result<Attribute> parse_attribute(std::string_view line) {
  std::string_view rest = trim(line);
  rest.remove_prefix(std::min(rest.find_first_of(" \t"), rest.size()));
  Attribute attribute;
  attribute.name = take_word(rest, " \t{");
  rest = trim(rest);
  if (!rest.empty() && rest[0] == '{') {
    attribute.type = Declared::nominal;
    rest.remove_prefix(1);
    for (;;) {
      std::string level = take_word(rest, ",}");
      if (attribute.levels++ == 0) attribute.left_out = std::move(level);
      rest = trim(rest);
      if (rest.empty() || rest[0] != ',') break;
      rest.remove_prefix(1);
    }
    return attribute;
  }
  const std::string type = lower(rest.substr(0, rest.find_first_of(" \t\r[")));
  if (type == "numeric" || type == "real" || type == "integer") return attribute;
  attribute.left_out.clear();
  if (type == "string") {
    attribute.type = Declared::string;
    return attribute;
  }
  if (type == "date") {
    attribute.type = Declared::date;
    return attribute;
  }
  return Error{Errc::invalid, "the attribute \"" + printable(attribute.name, 80) + "\" is of type \"" +
                                  printable(type, 40) +
                                  "\", which is not read here: numeric, nominal, string and "
                                  "date are"};
}

// The declaration decides between numbers, levels, text and dates; the values decide the rest.
ColumnFinding settle(const Attribute& attribute, const ColumnSample& column, const InferRules& rules) {
  ColumnFinding found = infer_column(column, rules);
  const ColumnType type = found.spec.type;
  switch (attribute.type) {
    case Declared::numeric:
      if (type == ColumnType::integer || type == ColumnType::real || type == ColumnType::boolean)
        return found;
      return describe_column(column, ColumnType::real, "declared numeric");
    case Declared::nominal:
      if (type == ColumnType::boolean && attribute.levels == 2) return found;
      return describe_column(column, ColumnType::category,
                             fmt::format("declared with {} level{}", grouped(attribute.levels),
                                         attribute.levels == 1 ? "" : "s"));
    case Declared::string:
      return describe_column(column, ColumnType::text, "declared as string");
    case Declared::date:
      if (type == ColumnType::time) return found;
      return describe_column(column, ColumnType::text,
                             "declared as date, in a writing that is not known here");
  }
  return found;
}

}  // namespace

Result<void> detect_arff(const SampleText& sample, const ParseHints& hints, Detection& out) {
  const auto lines = split_lines(sample.text, kSampleRowsMax, sample.whole);
  std::vector<Attribute> attributes;
  std::size_t at = 0;
  LinePrologue prologue(Format::arff);
  bool data = false;
  for (; at < lines.size() && prologue.takes(lines[at]); ++at) {
    const auto keyword = arff_keyword(lines[at]);
    if (keyword == "data") data = true;
    if (keyword != "attribute") continue;
    if (attributes.size() == trainer::kColumnsMax)
      return Error{Errc::invalid,
                   "the file declares more than " + grouped(trainer::kColumnsMax) +
                       " attributes, which is the limit: if it is sparse, use the libsvm format"};
    SAMOVAR_TRY(Attribute attribute, parse_attribute(lines[at]));
    attributes.push_back(std::move(attribute));
  }
  if (attributes.empty()) return Error{Errc::invalid, "the ARFF file declares no attribute before @data"};
  if (!data)
    return Error{Errc::invalid, sample.whole ? "the ARFF file has no @data line: it ends before its rows"
                                             : "the ARFF file has no @data line in its first 4 MB"};
  if (hints.missing) out.options.missing = *hints.missing;
  out.options.header = false;
  Table table;
  for (const auto& attribute : attributes) {
    table.names.push_back(attribute.name);
    out.options.fields.push_back(attribute.left_out);
  }
  settle_names(table.names, out.notes);
  table.columns.resize(attributes.size());

  const auto parser = make_arff_parser(out.options, attributes.size());
  std::deque<std::string> kept;
  LineCells row;
  std::uint64_t bad = 0;
  std::vector<std::uint64_t> missing(attributes.size());
  for (; at < lines.size(); ++at) {
    const LineKind kind = parser->parse(lines[at], row);
    if (kind == LineKind::bad) ++bad;
    if (kind != LineKind::row) continue;
    ++out.sample_rows;
    for (std::size_t i = 0; i < attributes.size(); ++i) {
      if (row.missing[i] != 0) {
        ++missing[i];
        continue;
      }
      const std::string_view cell = row.cells[i];
      const bool borrowed =
          cell.data() >= sample.text.data() && cell.data() <= sample.text.data() + sample.text.size();
      if (borrowed)
        table.columns[i].push_back(cell);
      else if (cell == out.options.fields[i])
        table.columns[i].push_back(out.options.fields[i]);
      else
        table.columns[i].push_back(kept.emplace_back(cell));
    }
  }
  const InferRules rules{NumberStyle{}, hints.date_order.value_or(DateOrder::day_first), sample.whole};
  out.options.date_order = rules.date_order;
  for (std::size_t i = 0; i < attributes.size(); ++i)
    out.columns.push_back(
        settle(attributes[i], {table.names[i], std::move(table.columns[i]), missing[i]}, rules));
  if (bad > 0)
    out.notes.push_back(
        fmt::format("Lines of the sample that are no rows and will be bad rows: {}.", grouped(bad)));
  return {};
}

}  // namespace samovar::ingest
