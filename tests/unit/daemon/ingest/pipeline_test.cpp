#include "daemon/ingest/pipeline.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/support/ingest_run.hpp"

namespace samovar::ingest {
namespace {

using test::KeepingSink;
using test::plan_of;
using test::rows_of;
using test::schema_of;
using test::TextRow;
using test::TextSource;
using testing::HasSubstr;
using testing::UnorderedElementsAre;
using trainer::ColumnType;

struct Outcome {
  KeepingSink sink;
  std::optional<IngestReport> report;
  std::string error;
  std::vector<TextRow> rows() const { return *rows_of(sink, report->schema); }
};

Outcome run(const std::string& text, const IngestPlan& plan) {
  Outcome out;
  TextSource source(text);
  auto report = run_ingest(source, plan, out.sink, {});
  if (report)
    out.report = *std::move(report);
  else
    out.error = report.error().message();
  return out;
}
Outcome run(const std::string& text, trainer::Schema schema) {
  return run(text, plan_of(std::move(schema), text.size()));
}

const trainer::Schema kThree =
    schema_of({{"n", ColumnType::integer}, {"x", ColumnType::real}, {"c", ColumnType::category}});

TEST(Pipeline, ReadsNumbersAndCategories) {
  const Outcome got = run("n,x,c\n1,0.5,red\n-20,,blue\r\n,1e3, red \n", kThree);
  ASSERT_TRUE(got.report) << got.error;
  EXPECT_EQ(got.report->rows, 3u);
  EXPECT_EQ(got.report->bad_rows, 0u);
  EXPECT_EQ(got.report->shards, 1u);
  EXPECT_THAT(got.rows(),
              UnorderedElementsAre(TextRow{"1", "0.500000", "red"}, TextRow{"-20", std::nullopt, "blue"},
                                   TextRow{std::nullopt, "1000.000000", "red"}));
  EXPECT_EQ(got.sink.bad, "");
}

TEST(Pipeline, KeepsQuotedDelimitersQuotesAndLines) {
  const Outcome got = run("a,b\n\"x, y\",\"say \"\"hi\"\"\"\n\"two\nlines\",it\"s\n",
                          schema_of({{"a", ColumnType::text}, {"b", ColumnType::category}}));
  ASSERT_TRUE(got.report) << got.error;
  EXPECT_THAT(got.rows(),
              UnorderedElementsAre(TextRow{"x, y", "say \"hi\""}, TextRow{"two\nlines", "it\"s"}));
}

// Levels of eight hexadecimal digits are kept as numbers, until one is none; bad rows and missing ones among
// them.
TEST(Pipeline, ReadsHexadecimalLevelsAndOthersAmongThem) {
  for (const bool other : {false, true}) {
    std::string text = "n,c\n";
    std::multiset<std::string> want;
    for (std::uint32_t i = 0; i < 3000; ++i) {
      std::string level(8, '0');
      for (std::size_t k = 0; k < 8; ++k) level[k] = "0123456789abcdef"[i * 2654435761u % 900 >> k * 2 & 15];
      if (i % 7 == 3) level = other && i % 2 == 0 ? "NA" : "";
      if (other && i == 2000) level = "none such, at all";
      const bool bad = i % 50 == 17;
      text += (bad ? "x" : std::to_string(i)) + ",\"" + level + "\"\n";
      if (!bad) want.insert(std::to_string(i) + " " + (level.empty() || level == "NA" ? "-" : level));
    }
    IngestPlan plan =
        plan_of(schema_of({{"n", ColumnType::integer}, {"c", ColumnType::category}}), text.size());
    plan.options.missing = {"", "NA"};
    const Outcome got = run(text, plan);
    ASSERT_TRUE(got.report) << got.error;
    std::multiset<std::string> rows;
    for (const TextRow& row : got.rows()) rows.insert(*row[0] + " " + row[1].value_or("-"));
    EXPECT_EQ(rows, want) << other;
  }
}

TEST(Pipeline, SetsBadRowsAsideWithLineReasonAndText) {
  std::string text = "n,x,c\n1,2,a\n1,2\nx,2,a\n\n\"1\n\",2,a\n1,2,a,\xff\n1,2,";
  text += '\0';
  text += "\nn,x,c\n5,6,\"open\n";
  const Outcome got = run(text, kThree);
  ASSERT_TRUE(got.report) << got.error;
  EXPECT_EQ(got.report->rows, 1u);
  EXPECT_EQ(got.report->bad_rows, 7u);
  EXPECT_THAT(got.sink.bad,
              testing::StartsWith("line,reason,text\n3,\"it has 2 cells instead of 3\",\"1,2\"\n"
                                  "4,\"n: \"\"x\"\" is not a number\",\"x,2,a\"\n"));
  EXPECT_THAT(got.sink.bad, HasSubstr("\n6,"));
  EXPECT_THAT(got.sink.bad, HasSubstr("\n8,\"it is not written in UTF-8\","));
  EXPECT_THAT(got.sink.bad, HasSubstr("\n9,\"it holds a NUL character\","));
  EXPECT_THAT(got.sink.bad, HasSubstr("\n10,\"it is the header again\",\"n,x,c\"\n"));
  EXPECT_THAT(got.sink.bad, HasSubstr("\n11,\"a quote is opened and never closed\","));
}

TEST(Pipeline, WidensIntegersThatMeetReals) {
  const Outcome got = run("n,x,c\n1,1,a\n2.5,1,a\n99999999999999999999,1,a\n", kThree);
  ASSERT_TRUE(got.report) << got.error;
  EXPECT_EQ(got.report->bad_rows, 0u);
  EXPECT_EQ(got.report->schema.columns[0].type, ColumnType::real);
  EXPECT_THAT(got.report->notes, testing::Contains(HasSubstr("\"n\"")));
  EXPECT_THAT(got.rows(), testing::Contains(TextRow{"2.500000", "1.000000", "a"}));
}

TEST(Pipeline, WidensYesAndNoInDigitsThatMeetOtherNumbers) {
  const Outcome got =
      run("n,x,c\n1,1,a\n0,1,a\n,1,a\n7,0.5,a\n",
          schema_of({{"n", ColumnType::boolean}, {"x", ColumnType::boolean}, {"c", ColumnType::category}}));
  ASSERT_TRUE(got.report) << got.error;
  EXPECT_EQ(got.report->bad_rows, 0u);
  EXPECT_EQ(got.report->schema.columns[0].type, ColumnType::integer);
  EXPECT_EQ(got.report->schema.columns[1].type, ColumnType::real);
  EXPECT_THAT(got.report->notes, testing::Contains(HasSubstr("\"n\" holds other numbers than 0 and 1")));
  EXPECT_THAT(got.rows(), testing::Contains(TextRow{"7", "0.500000", "a"}));
}

TEST(Pipeline, KeepsYesAndNoInWordsAndSetsNumbersAside) {
  const Outcome got = run("n,x\nyes,1\nno,1\n7,1\nyes,1\nyes,1\n",
                          schema_of({{"n", ColumnType::boolean}, {"x", ColumnType::boolean}}));
  ASSERT_TRUE(got.report) << got.error;
  EXPECT_EQ(got.report->schema.columns[0].type, ColumnType::boolean);
  EXPECT_EQ(got.report->bad_rows, 1u);
}

TEST(Pipeline, ReadsEveryLengthOfInteger) {
  std::string text = "n\n";
  std::multiset<std::string> want;
  for (std::int64_t value = 1; value < 1'000'000'000'000'000'000; value *= 10) {
    for (const std::int64_t n : {value, -value, 10 * value - 1, 1 - 10 * value}) {
      text += std::to_string(n) + "\n";
      want.insert(std::to_string(n));
    }
  }
  text += "-\n+7\n007\n9223372036854775807\n";
  want.insert({"7", "7", "9223372036854775807"});
  const Outcome got = run(text, schema_of({{"n", ColumnType::integer}}));
  ASSERT_TRUE(got.report) << got.error;
  EXPECT_EQ(got.report->bad_rows, 0u);
  std::multiset<std::string> found;
  for (const TextRow& row : got.rows()) {
    if (row[0]) found.insert(*row[0]);
  }
  EXPECT_EQ(found, want);
}

TEST(Pipeline, StopsAboveTheLimitAndNamesTheColumn) {
  std::string text = "n,x,c\n";
  for (int i = 0; i < 3000; ++i) text += i % 2 == 0 ? "1,2,a\n" : "oops,2,a\n";
  const Outcome got = run(text, kThree);
  ASSERT_FALSE(got.report);
  EXPECT_THAT(got.error, HasSubstr("\"n\""));
  EXPECT_THAT(got.error, HasSubstr("\"oops\""));
  EXPECT_THAT(got.error, HasSubstr("Set its type to category or text"));
}

TEST(Pipeline, RefusesFilesWithoutARow) {
  EXPECT_THAT(run("", kThree).error, HasSubstr("no rows"));
  EXPECT_THAT(run("n,x,c\n\n \n", kThree).error, HasSubstr("no rows"));
  EXPECT_THAT(run("n,x,c\na\nb\n", kThree).error, HasSubstr("1 cells instead of 3"));
}

TEST(Pipeline, RefusesRowsAndTablesThatAreTooLarge) {
  const std::string row(17u << 20, 'x');
  EXPECT_THAT(run("c\na\n" + row + "\n", schema_of({{"c", ColumnType::text}})).error, HasSubstr("line 3"));
  EXPECT_THAT(run("c\n\"" + row, schema_of({{"c", ColumnType::text}})).error, HasSubstr("quote"));
  trainer::Schema wide;
  for (int i = 0; i < 5000; ++i) wide.columns.push_back({std::to_string(i), ColumnType::text, false});
  EXPECT_THAT(run("a\n", wide).error, HasSubstr("4096"));
}

TEST(Pipeline, SetsLongCellsAside) {
  const std::string cell(1'100'000, 'x');
  const Outcome got =
      run("c,d\na,b\n" + cell + ",b\n", schema_of({{"c", ColumnType::text}, {"d", ColumnType::text}}));
  ASSERT_TRUE(got.report) << got.error;
  EXPECT_EQ(got.report->rows, 1u);
  EXPECT_THAT(got.sink.bad, HasSubstr("longer than 1 MiB"));
  EXPECT_LT(got.sink.bad.size(), 2000u);
}

TEST(Pipeline, ReadsFourThousandColumns) {
  trainer::Schema schema;
  std::string header;
  std::string row;
  for (int i = 0; i < 4096; ++i) {
    schema.columns.push_back(
        {"c" + std::to_string(i), i % 2 == 0 ? ColumnType::integer : ColumnType::category, false});
    header += (i == 0 ? "c" : ",c") + std::to_string(i);
    row += (i == 0 ? "" : ",") + std::to_string(i);
  }
  std::string text = header + "\n";
  for (int i = 0; i < 300; ++i) text += row + "\n";
  const Outcome got = run(text, schema);
  ASSERT_TRUE(got.report) << got.error;
  EXPECT_EQ(got.report->rows, 300u);
  const auto rows = got.rows();
  EXPECT_EQ(rows.front()[4095], "4095");
}

TEST(Pipeline, SkipsLinesAndReadsOldMacLineEnds) {
  IngestPlan plan = plan_of(schema_of({{"a", ColumnType::integer}, {"b", ColumnType::text}}), 1);
  plan.options.skip_lines = 2;
  const Outcome got = run("about\r\"this\ra,b\r1,x\r2,y\r", plan);
  ASSERT_TRUE(got.report) << got.error;
  EXPECT_THAT(got.rows(), UnorderedElementsAre(TextRow{"1", "x"}, TextRow{"2", "y"}));
}

TEST(Pipeline, ReadsRunsOfBlanksAndPairs) {
  IngestPlan plan = plan_of(schema_of({{"a", ColumnType::integer}, {"b", ColumnType::integer}}), 1);
  plan.options.delimiter = ' ';
  plan.options.header = false;
  EXPECT_THAT(run("  1   2\n3 4  \n", plan).rows(),
              UnorderedElementsAre(TextRow{"1", "2"}, TextRow{"3", "4"}));
  plan.schema = schema_of({{"a", ColumnType::text}, {"b", ColumnType::text}});
  plan.options.format = Format::pairs;
  plan.options.delimiter = '\t';
  EXPECT_THAT(run("He said \"no\"\tIl dit\n", plan).rows(),
              UnorderedElementsAre(TextRow{"He said \"no\"", "Il dit"}));
  plan.options.delimiter = ' ';
  EXPECT_THAT(run("WORD  W ER D\n", plan).rows(), UnorderedElementsAre(TextRow{"WORD", "W ER D"}));
}

TEST(Pipeline, ReadsOtherFormats) {
  IngestPlan plan = plan_of(schema_of({{"label", ColumnType::integer}, {"features", ColumnType::sparse}}), 1);
  plan.options.format = Format::libsvm;
  plan.options.header = false;
  const Outcome svm = run("1 3:0.5 7:2\n-1 1:1\nnonsense\n", plan);
  ASSERT_TRUE(svm.report) << svm.error;
  EXPECT_EQ(svm.report->rows, 2u);
  EXPECT_EQ(svm.report->bad_rows, 1u);
  plan.schema = schema_of({{"a", ColumnType::integer}, {"b", ColumnType::text}});
  plan.options.format = Format::jsonl;
  plan.options.fields = {"a", "b"};
  const Outcome lines = run("{\"a\":1,\"b\":\"x\\ny\"}\n{\"b\":null,\"a\":2}\n", plan);
  ASSERT_TRUE(lines.report) << lines.error;
  EXPECT_THAT(lines.rows(), UnorderedElementsAre(TextRow{"1", "x\ny"}, TextRow{"2", std::nullopt}));
}

TEST(Pipeline, TakesMissingTokensFromTheOptions) {
  IngestPlan plan = plan_of(kThree, 1);
  plan.options.missing = {"-999", "none at all", "x"};
  const Outcome got = run("n,x,c\n-999,-999,-999\n1,1,none at all\n1,1,\n", plan);
  ASSERT_TRUE(got.report) << got.error;
  EXPECT_THAT(got.rows(),
              UnorderedElementsAre(TextRow{std::nullopt, std::nullopt, std::nullopt},
                                   TextRow{"1", "1.000000", std::nullopt}, TextRow{"1", "1.000000", ""}));
}

TEST(Pipeline, StopsWhenCancelled) {
  std::string text = "n\n";
  while (text.size() < 9u << 20) text += "12345\n";
  TextSource source(text);
  KeepingSink sink;
  const auto report = run_ingest(source, plan_of(schema_of({{"n", ColumnType::integer}}), text.size()), sink,
                                 [](const IngestProgress& at) { return at.raw_bytes < 4u << 20; });
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code(), Errc::conflict);
}

TEST(Pipeline, CountsShardsBySize) {
  EXPECT_EQ(shard_count(0), 1u);
  EXPECT_EQ(shard_count(1u << 20), 1u);
  EXPECT_EQ(shard_count((1u << 20) + 1), 8u);
  EXPECT_EQ(shard_count(std::uint64_t{10} << 30), 160u);
  EXPECT_EQ(shard_count(std::uint64_t{1} << 40), 512u);
}

// 3 MiB: eight shards, several blocks each.
std::string many_rows() {
  std::string text = "id,group,note\n";
  for (int i = 0; text.size() < 3u << 20; ++i) {
    text += std::to_string(i) + "," + std::to_string(i % 7 == 3 ? 0.5 : i % 5) + ",";
    text += i % 11 == 0 ? "\"a, long \"\"note\"\" of number " + std::to_string(i) + "\"\n"
                        : "n" + std::to_string(i % 100) + "\n";
    if (i % 1000 == 999) text += "broken\n";
  }
  return text;
}

TEST(Pipeline, GivesTheSameForAnyNumberOfThreads) {
  const std::string text = many_rows();
  IngestPlan plan = plan_of(
      schema_of(
          {{"id", ColumnType::integer}, {"group", ColumnType::integer}, {"note", ColumnType::category}}),
      text.size());
  plan.memory_bytes_max = 64u << 20;
  const Outcome one = run(text, plan);
  ASSERT_TRUE(one.report) << one.error;
  EXPECT_EQ(one.report->schema.columns[1].type, ColumnType::real);
  for (const unsigned threads : {2u, 4u}) {
    plan.threads = threads;
    const Outcome more = run(text, plan);
    ASSERT_TRUE(more.report) << more.error;
    EXPECT_EQ(more.sink.blocks, one.sink.blocks);
    EXPECT_EQ(more.sink.bad, one.sink.bad);
    EXPECT_EQ(more.report->profile_json, one.report->profile_json);
  }
}

TEST(Pipeline, DealsEveryShardAFairSample) {
  const std::string text = many_rows();
  IngestPlan plan = plan_of(
      schema_of({{"id", ColumnType::integer}, {"group", ColumnType::real}, {"note", ColumnType::text}}),
      text.size());
  const Outcome got = run(text, plan);
  ASSERT_TRUE(got.report) << got.error;
  ASSERT_EQ(got.report->shards, 8u);
  const double rows = static_cast<double>(got.report->rows);
  std::map<std::uint32_t, double> count;
  std::map<std::uint32_t, double> sum;
  std::set<std::int64_t> ids;
  bool in_order = true;
  for (const auto& block : got.sink.blocks) {
    const auto view = trainer::BlockView::open(block.bytes, got.report->schema);
    ASSERT_TRUE(view);
    std::vector<std::int64_t> values(view->rows());
    view->integers(0, 0, values);
    count[block.shard] += view->rows();
    for (const std::int64_t value : values) sum[block.shard] += static_cast<double>(value);
    ids.insert(values.begin(), values.end());
    in_order &= std::is_sorted(values.begin(), values.end());
  }
  EXPECT_EQ(ids.size(), got.report->rows);
  EXPECT_FALSE(in_order);
  ASSERT_EQ(count.size(), 8u);
  for (const auto& [shard, n] : count) {
    EXPECT_NEAR(n, rows / 8, rows / 80) << shard;
    EXPECT_NEAR(sum[shard] / n, rows / 2, rows / 50) << shard;
  }
  plan.seed = 2;
  const Outcome other = run(text, plan);
  EXPECT_NE(other.sink.blocks, got.sink.blocks);
}

}  // namespace
}  // namespace samovar::ingest
