#include "daemon/jobs/csv_export.hpp"

#include <gtest/gtest.h>

#include <charconv>
#include <limits>

#include "tests/support/block_samples.hpp"

namespace samovar::jobs {
namespace {

using trainer::BlockColumn;
using trainer::BlockView;
using trainer::ColumnType;
using trainer::Schema;

BlockColumn texts(ColumnType type, const std::vector<std::string>& values) {
  BlockColumn column = tests::column_of(type);
  for (const std::string& value : values) {
    column.chars.insert(column.chars.end(), value.begin(), value.end());
    column.ends.push_back(static_cast<std::uint32_t>(column.chars.size()));
    if (type == ColumnType::category) column.codes.push_back(static_cast<std::uint32_t>(column.codes.size()));
  }
  return column;
}

std::string exported(std::uint32_t rows, const std::vector<BlockColumn>& columns) {
  Schema schema;
  for (std::size_t i = 0; i < columns.size(); ++i)
    schema.columns.push_back({"c" + std::to_string(i), columns[i].type});
  const Bytes bytes = tests::encoded(rows, columns);
  const auto view = BlockView::open(bytes, schema);
  EXPECT_TRUE(view);
  std::string out;
  append_csv_rows(*view, schema, 0, rows, out);
  return out;
}

TEST(CsvExport, EveryTypeInOneRow) {
  BlockColumn real = tests::column_of(ColumnType::real);
  real.reals = {0.1};
  BlockColumn integer = tests::column_of(ColumnType::integer);
  integer.integers = {-42};
  BlockColumn boolean = tests::column_of(ColumnType::boolean);
  boolean.integers = {1};
  BlockColumn time = tests::column_of(ColumnType::time);
  time.integers = {1'500'000'000'000'000};
  BlockColumn sparse = tests::column_of(ColumnType::sparse);
  sparse.ends = {2};
  sparse.indices = {3, 70'000};
  sparse.values = {1, 0.5};
  EXPECT_EQ(exported(1, {real, integer, boolean, time, texts(ColumnType::category, {"ward 3"}),
                         texts(ColumnType::text, {"fine"}), sparse}),
            "0.1,-42,true,2017-07-14T02:40:00Z,ward 3,fine,3:1 70000:0.5\r\n");
}

TEST(CsvExport, QuotesWhatRfc4180Says) {
  EXPECT_EQ(exported(5, {texts(ColumnType::text, {"a,b", "say \"x\"", "two\nlines", "plain", ""})}),
            "\"a,b\"\r\n\"say \"\"x\"\"\"\r\n\"two\nlines\"\r\nplain\r\n\"\"\r\n");
}

TEST(CsvExport, FormulasAreDefused) {
  for (const ColumnType type : {ColumnType::text, ColumnType::category}) {
    EXPECT_EQ(exported(6, {texts(type, {"=1+1", "+x", "-x", "@x", "\tx", "=a,b"})}),
              "'=1+1\r\n'+x\r\n'-x\r\n'@x\r\n'\tx\r\n\"'=a,b\"\r\n");
  }
  EXPECT_EQ(exported(1, {texts(ColumnType::text, {"\rx"})}), "\"'\rx\"\r\n");
}

TEST(CsvExport, NumbersAreNoFormulasAndComeBackExactly) {
  BlockColumn column = tests::column_of(ColumnType::real);
  column.reals = {-1.5, 1.0 / 3, 5e-324, 1.7976931348623157e308, -0.0, 1e21, 123456789.125};
  const std::string out = exported(7, {column});
  std::size_t at = 0;
  for (const double was : column.reals) {
    const std::size_t end = out.find("\r\n", at);
    double value = 0;
    const auto parsed = std::from_chars(out.data() + at, out.data() + end, value);
    EXPECT_EQ(parsed.ptr, out.data() + end);
    EXPECT_EQ(value, was);
    at = end + 2;
  }
  EXPECT_EQ(out.substr(0, 6), "-1.5\r\n");
}

TEST(CsvExport, MissingValuesAreEmpty) {
  BlockColumn a = tests::column_of(ColumnType::integer);
  a.integers = {1, 2};
  a.valid = {0, 1};
  BlockColumn b = texts(ColumnType::text, {"x", "y"});
  b.valid = {1, 0};
  EXPECT_EQ(exported(2, {a, b}), ",x\r\n2,\r\n");
  // A table of one column must not have lines that are no rows.
  EXPECT_EQ(exported(2, {a}), "\"\"\r\n2\r\n");
}

TEST(CsvExport, TimesWithFractionsAndBeyondTheCalendar) {
  BlockColumn time = tests::column_of(ColumnType::time);
  time.integers = {1, -1, std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()};
  EXPECT_EQ(exported(4, {time}),
            "1970-01-01T00:00:00.000001Z\r\n1969-12-31T23:59:59.999999Z\r\n"
            "-9223372036854775808\r\n9223372036854775807\r\n");
}

TEST(CsvExport, AnIntegerBlockOfARealColumn) {
  BlockColumn column = tests::column_of(ColumnType::integer);
  column.integers = {7};
  const Bytes bytes = tests::encoded(1, {column});
  const Schema schema{{{"x", ColumnType::real}}};
  const auto view = BlockView::open(bytes, schema);
  ASSERT_TRUE(view);
  std::string out;
  append_csv_rows(*view, schema, 0, 1, out);
  EXPECT_EQ(out, "7\r\n");
}

TEST(CsvExport, NamesInTheHeaderAreTextToo) {
  std::string out;
  append_csv_header(Schema{{{"a", ColumnType::real}, {"=cmd", ColumnType::text}, {"x,y", ColumnType::text}}},
                    out);
  EXPECT_EQ(out, "a,'=cmd,\"x,y\"\r\n");
}

}  // namespace
}  // namespace samovar::jobs
