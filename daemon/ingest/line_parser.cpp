#include "daemon/ingest/line_parser.hpp"

#include "daemon/ingest/line_parsers.hpp"

namespace samovar::ingest {

void begin_row(LineCells& out, std::size_t columns) {
  out.cells.assign(columns, {});
  out.missing.assign(columns, 1);
  out.indices.clear();
  out.values.clear();
  out.scratch.clear();
  // Views point into these strings: they must not move while the row grows.
  out.scratch.reserve(columns);
  out.reason.clear();
}

Result<std::unique_ptr<LineParser>> make_line_parser(const ParseOptions& options,
                                                     const trainer::Schema& schema) {
  switch (options.format) {
    case Format::libsvm:
      if (schema.columns.size() < 2 || schema.columns.back().type != trainer::ColumnType::sparse)
        return Error{Errc::invalid, "a libsvm file has a label and, as its last column, sparse features"};
      return make_libsvm_parser(schema);
    case Format::arff:
      return make_arff_parser(options, schema.columns.size());
    case Format::jsonl:
      if (options.fields.size() != schema.columns.size())
        return Error{Errc::invalid, "fields: one for each column of a JSON lines file"};
      return make_jsonl_parser(options, schema.columns.size());
    case Format::csv:
    case Format::pairs:
      break;
  }
  return Error{Errc::unsupported, "this format is not read line by line"};
}

bool LinePrologue::takes(std::string_view line) noexcept {
  if (!open_) return false;
  if (arff_keyword(line) == "data") open_ = false;
  return true;
}

}  // namespace samovar::ingest
