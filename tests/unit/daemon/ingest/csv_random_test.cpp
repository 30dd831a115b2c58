// Random tables, well-formed and not, through the pipeline and through the naive parser: the same rows.
#include <gtest/gtest.h>

#include <random>

#include "tests/support/ingest_run.hpp"
#include "tests/support/naive_csv.hpp"

namespace samovar::ingest {
namespace {

using test::TextRow;

class RandomCsv {
 public:
  explicit RandomCsv(std::uint64_t seed) : random_(seed) {}

  std::string text(std::size_t columns, char delimiter, std::size_t rows) {
    const int wildness = below(3);
    const std::string newline = below(2) == 0 ? "\n" : "\r\n";
    std::string out;
    for (std::size_t row = 0; row < rows; ++row) {
      const std::size_t cells =
          wildness > 0 && below(20) == 0 ? columns + 1 - 2 * static_cast<std::size_t>(below(2)) : columns;
      for (std::size_t c = 0; c < cells; ++c) {
        if (c > 0) out += delimiter;
        out += cell(wildness, delimiter);
      }
      if (row + 1 < rows || below(2) == 0) out += newline;
    }
    return out;
  }

 private:
  int below(int bound) { return static_cast<int>(random_() % static_cast<unsigned>(bound)); }

  std::string cell(int wildness, char delimiter) {
    switch (below(12)) {
      case 0:
        return "";
      case 1:
        return "NA";
      case 2:
        return std::to_string(random_() % 100'000);
      case 3:
        return " padded\t";
      case 4:
        return std::string(static_cast<std::size_t>(below(40)), static_cast<char>('a' + below(26)));
      case 5:
        return "\xc3\xa4\xe2\x82\xac";
      case 6: {
        std::string inner = "a" + std::string(1, delimiter) + "b\"\"c\n d";
        return "\"" + inner.substr(0, static_cast<std::size_t>(below(10))) + "x\"";
      }
      case 7:
        return "it\"s";
      case 8:
        return wildness < 2 ? "plain" : std::string("\xff\0\"x", static_cast<std::size_t>(below(5)));
      case 9:
        return wildness < 1 ? "12345678" : "\"q\"rest ";
      default:
        return "level" + std::to_string(below(9));
    }
  }

  std::mt19937_64 random_;
};

std::vector<TextRow> sorted(std::vector<TextRow> rows) {
  std::sort(rows.begin(), rows.end());
  return rows;
}

TEST(RandomCsv, AgreesWithTheNaiveParser) {
  std::size_t rows_seen = 0;
  std::size_t bad_seen = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    RandomCsv random(seed);
    const std::size_t columns = 1 + seed % 7;
    trainer::Schema schema;
    for (std::size_t c = 0; c < columns; ++c) {
      const auto type = (seed + c) % 2 == 0 ? trainer::ColumnType::category : trainer::ColumnType::text;
      schema.columns.push_back({"c" + std::to_string(c), type, false});
    }
    ingest::IngestPlan plan = test::plan_of(schema, 0);
    plan.options.delimiter = seed % 3 == 0 ? ';' : seed % 3 == 1 ? ',' : '\t';
    plan.options.header = seed % 2 == 0;
    if (seed % 5 == 4) plan.options.quote.reset();
    plan.bad_rows_share_max = 1;
    const std::string text = random.text(columns, plan.options.delimiter, seed % 200);
    plan.raw_bytes = text.size();
    const test::NaiveTable want = test::naive_csv(text, plan.options, columns);

    // Reads of a few bytes cut records at every place.
    test::TextSource source(text, 1 + seed % 97);
    test::KeepingSink sink;
    const auto report = run_ingest(source, plan, sink, {});
    if (want.rows.empty()) {
      EXPECT_FALSE(report) << seed;
      continue;
    }
    ASSERT_TRUE(report) << seed << ": " << report.error().message();
    EXPECT_EQ(report->bad_rows, want.bad) << seed;
    const auto got = test::rows_of(sink, report->schema);
    ASSERT_TRUE(got) << seed;
    EXPECT_EQ(sorted(*got), sorted(want.rows)) << seed;
    rows_seen += want.rows.size();
    bad_seen += want.bad;
  }
  EXPECT_GT(rows_seen, 10'000u);
  EXPECT_GT(bad_seen, 500u);
}

}  // namespace
}  // namespace samovar::ingest
