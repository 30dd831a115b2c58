// Any text through the pipeline, against the naive parser.
#include <cstdlib>

#include "tests/support/ingest_run.hpp"
#include "tests/support/naive_csv.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace samovar;
  if (size < 2 || size > 4096) return 0;
  const std::size_t columns = 1 + data[0] % 8;
  ingest::IngestPlan plan;
  plan.options.delimiter = ",;\t|"[data[1] % 4];
  plan.options.header = (data[1] & 4) != 0;
  if ((data[1] & 8) != 0) plan.options.quote.reset();
  plan.threads = (data[1] & 0xd0) == 0xd0 ? 2 : 1;  // seldom: starting them takes longer than the rest
  plan.bad_rows_share_max = 1;
  const bool typed = (data[1] & 32) != 0;
  for (std::size_t c = 0; c < columns; ++c) {
    const auto type = typed ? static_cast<trainer::ColumnType>((data[0] / 8 + c) % 6)
                            : (c % 2 == 0 ? trainer::ColumnType::category : trainer::ColumnType::text);
    plan.schema.columns.push_back({"c" + std::to_string(c), type, false});
  }
  const std::string text(reinterpret_cast<const char*>(data) + 2, size - 2);
  plan.raw_bytes = text.size();
  test::TextSource source(text, 1 + (data[0] >> 3) * std::size_t{7});
  test::KeepingSink sink;
  const auto report = run_ingest(source, plan, sink, {});
  const test::NaiveTable want = test::naive_csv(text, plan.options, columns);
  if (!report) {
    if (!typed && !want.rows.empty()) std::abort();
    return 0;
  }
  auto got = test::rows_of(sink, report->schema);
  if (!got || got->size() != report->rows) std::abort();
  if (report->rows + report->bad_rows != want.rows.size() + want.bad) std::abort();
  if (typed) return 0;
  std::vector<test::TextRow> rows = want.rows;
  std::sort(rows.begin(), rows.end());
  std::sort(got->begin(), got->end());
  if (*got != rows) std::abort();
  return 0;
}
