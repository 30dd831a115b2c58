// Prints what detection finds in files: inspect_file [--ingest] PATH…, or inspect_file --sample: the sample
// data.
//
// For trials by hand with real data: rows, columns and types of each file; with --ingest the whole file is
// read as well and the time told.
#include <fmt/format.h>

#include <chrono>
#include <cstring>
#include <map>
#include <memory>
#include <string>

#include "base/json.hpp"
#include "bench/sources.hpp"
#include "daemon/ingest/detect.hpp"
#include "daemon/ingest/pipeline.hpp"
#include "daemon/ingest/sample_data.hpp"

using namespace samovar;
using namespace samovar::ingest;

namespace {

class CountingSink final : public ShardSink {
 public:
  Result<void> block(std::uint32_t, std::uint32_t, ByteView encoded) override {
    bytes += encoded.size();
    return {};
  }
  Result<void> bad_row(std::string_view line) override {
    if (++bad_lines <= 4) shown += std::string(line.substr(0, 160)) + (line.size() > 160 ? "…\n" : "");
    return {};
  }
  std::uint64_t bytes = 0;
  std::uint64_t bad_lines = 0;
  std::string shown;
};

void print(const Detection& found) {
  const auto& options = found.options;
  fmt::print("  {} {} {} delimiter {} quote {} header {} decimal {}{} dates {} skip {} sample rows {}\n",
             to_string(options.format), to_string(options.compression), to_string(options.encoding),
             options.delimiter == '\t' ? "tab" : std::string(1, options.delimiter),
             options.quote ? "yes" : "no", options.header ? "yes" : "no", options.decimal,
             options.thousands ? " grouped" : "", to_string(options.date_order), options.skip_lines,
             found.sample_rows);
  for (const auto& column : found.columns)
    fmt::print("  {:<28} {:<8} {}{}{}{} | {}\n", column.spec.name, trainer::to_string(column.spec.type),
               column.evidence, column.constant ? " [constant]" : "",
               column.identifier ? " [identifier]" : "",
               column.spec.sensitive ? " [sensitive: " + column.sensitive_reason + "]" : "",
               fmt::join(column.examples, " | "));
  for (const auto& note : found.notes) fmt::print("  note: {}\n", note);
}

Result<void> ingest(const std::string& path, const Detection& found) {
  bench::FileSource source(path);
  IngestPlan plan;
  plan.options = found.options;
  for (const auto& column : found.columns) plan.schema.columns.push_back(column.spec);
  CountingSink sink;
  const auto begin = std::chrono::steady_clock::now();
  SAMOVAR_TRY(const IngestReport report,
              run_ingest(source, plan, sink, [](const IngestProgress&) { return true; }));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::map<std::string, std::size_t> types;
  for (const auto& column : report.schema.columns) ++types[std::string(trainer::to_string(column.type))];
  std::string list;
  for (const auto& [type, count] : types)
    list += fmt::format("{}{} {}", list.empty() ? "" : ", ", count, type);
  fmt::print("  => {} rows, {} columns ({}), {} bad rows, {:.2f} s\n{}", report.rows,
             report.schema.columns.size(), list, report.bad_rows, took.count(), sink.shown);
  for (const auto& note : report.notes) fmt::print("  ingest note: {}\n", note);
  return {};
}

Result<void> inspect(const std::string& path, bool whole) {
  bench::FileSource source(path);
  SAMOVAR_TRY(const Detection found, detect(source, path, ParseHints{}));
  print(found);
  if (whole) return ingest(path, found);
  return {};
}

}  // namespace

static void print_sample() {
  const auto source = make_sample_data();
  Bytes piece(1 << 16);
  for (;;) {
    const auto size = source->read(piece);
    if (!size || *size == 0) return;
    fmt::print("{}", as_text(ByteView(piece).first(*size)));
  }
}

int main(int argc, char** argv) {
  bool whole = false;
  if (argc == 2 && std::strcmp(argv[1], "--sample") == 0) {
    print_sample();
    return 0;
  }
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--ingest") == 0) {
      whole = true;
      continue;
    }
    fmt::print("{}\n", argv[i]);
    const auto done = inspect(argv[i], whole);
    if (!done) fmt::print("  refused: {}\n", done.error().message());
  }
  return 0;
}
