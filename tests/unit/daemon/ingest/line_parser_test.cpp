#include "daemon/ingest/line_parser.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace samovar::ingest {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using trainer::ColumnType;

trainer::Schema schema_of(std::vector<std::pair<std::string, ColumnType>> columns) {
  trainer::Schema schema;
  for (auto& [name, type] : columns) schema.columns.push_back({name, type, false});
  return schema;
}

std::unique_ptr<LineParser> parser_of(Format format, const trainer::Schema& schema,
                                      std::vector<std::string> fields = {}) {
  ParseOptions options;
  options.format = format;
  options.fields = std::move(fields);
  auto parser = make_line_parser(options, schema);
  EXPECT_TRUE(parser.has_value());
  return *std::move(parser);
}

class Libsvm : public testing::Test {
 protected:
  std::unique_ptr<LineParser> parser_ = parser_of(
      Format::libsvm,
      schema_of(
          {{"label", ColumnType::real}, {"qid", ColumnType::integer}, {"features", ColumnType::sparse}}));
  LineCells row_;
};

TEST_F(Libsvm, ReadsLabelGroupAndPairs) {
  ASSERT_EQ(parser_->parse("-1.5 qid:7 3:0.25 10:-2 4000000000:1e-3 # a comment", row_), LineKind::row);
  EXPECT_THAT(row_.cells, ElementsAre("-1.5", "7", ""));
  EXPECT_THAT(row_.missing, ElementsAre(0, 0, 0));
  EXPECT_THAT(row_.indices, ElementsAre(3u, 10u, 4'000'000'000u));
  EXPECT_THAT(row_.values, ElementsAre(0.25f, -2.f, 1e-3f));
}

TEST_F(Libsvm, ARowMayHaveNoPairsAndNoGroup) {
  ASSERT_EQ(parser_->parse("+1", row_), LineKind::row);
  EXPECT_EQ(row_.missing[1], 1);
  EXPECT_TRUE(row_.indices.empty());
}

TEST_F(Libsvm, SortsPairsThatAreNot) {
  ASSERT_EQ(parser_->parse("1 9:9 2:2 5:5", row_), LineKind::row);
  EXPECT_THAT(row_.indices, ElementsAre(2u, 5u, 9u));
  EXPECT_THAT(row_.values, ElementsAre(2.f, 5.f, 9.f));
}

TEST_F(Libsvm, CommentsAndBlankLinesAreNothing) {
  for (const auto* line : {"", "   ", "# only a comment", "\t", "\r"})
    EXPECT_EQ(parser_->parse(line, row_), LineKind::nothing);
}

TEST_F(Libsvm, SaysWhyALineIsNoRow) {
  const auto reason = [&](std::string_view line) {
    EXPECT_EQ(parser_->parse(line, row_), LineKind::bad) << line;
    return row_.reason;
  };
  EXPECT_THAT(reason("3:1 4:2"), HasSubstr("no label"));
  EXPECT_THAT(reason("1 3"), HasSubstr("\"3\" is no index:value pair"));
  EXPECT_THAT(reason("1 a:1"), HasSubstr("of numbers"));
  EXPECT_THAT(reason("1 -1:1"), HasSubstr("of numbers"));
  EXPECT_THAT(reason("1 1:nan"), HasSubstr("of numbers"));
  EXPECT_THAT(reason("1 5000000000:1"), HasSubstr("of numbers"));
  EXPECT_THAT(reason("1 2:1 2:3"), HasSubstr("index 2 stands twice"));
}

class Arff : public testing::Test {
 protected:
  std::unique_ptr<LineParser> parser_ = parser_of(
      Format::arff,
      schema_of({{"width", ColumnType::real}, {"kind", ColumnType::category}, {"note", ColumnType::text}}),
      {"0", "rose", ""});
  LineCells row_;
};

TEST_F(Arff, ReadsQuotedEscapedAndMissingValues) {
  ASSERT_EQ(parser_->parse("5.1, 'Iris setosa' ,\"it\\'s, \\\"fine\\\"\"", row_), LineKind::row);
  EXPECT_THAT(row_.cells, ElementsAre("5.1", "Iris setosa", "it's, \"fine\""));
  ASSERT_EQ(parser_->parse("?,'?',?", row_), LineKind::row);
  EXPECT_THAT(row_.missing, ElementsAre(1, 0, 1));
}

TEST_F(Arff, SparseRowsMeanTheFirstLevelAndZero) {
  ASSERT_EQ(parser_->parse("{0 7, 2 'a } b'}", row_), LineKind::row);
  EXPECT_THAT(row_.cells, ElementsAre("7", "rose", "a } b"));
  ASSERT_EQ(parser_->parse("{ }", row_), LineKind::row);
  EXPECT_THAT(row_.cells, ElementsAre("0", "rose", ""));
  ASSERT_EQ(parser_->parse("{1 ?}", row_), LineKind::row);
  EXPECT_EQ(row_.missing[1], 1);
}

TEST_F(Arff, SaysWhyALineIsNoRow) {
  for (const auto* line : {"1,2", "1,2,3,4", "1,'open,3", "1,'x'y,3", "{9 1}", "{0 1", "{a b}", "{0}"}) {
    EXPECT_EQ(parser_->parse(line, row_), LineKind::bad) << line;
    EXPECT_FALSE(row_.reason.empty()) << line;
  }
  EXPECT_EQ(parser_->parse("% remark", row_), LineKind::nothing);
  EXPECT_EQ(parser_->parse("1,rose,x,{5}", row_), LineKind::row);
}

TEST(LinePrologue, EndsWithTheDataLine) {
  LinePrologue arff(Format::arff);
  for (const auto* line : {"% x", "@RELATION r", "@attribute a numeric", "", "  @DATA  "})
    EXPECT_TRUE(arff.takes(line)) << line;
  EXPECT_FALSE(arff.takes("1"));
  EXPECT_FALSE(LinePrologue(Format::jsonl).takes("{}"));
}

class Jsonl : public testing::Test {
 protected:
  std::unique_ptr<LineParser> parser_ = parser_of(
      Format::jsonl,
      schema_of({{"a", ColumnType::integer}, {"city", ColumnType::text}, {"tags", ColumnType::text}}),
      {"a", "address.city", "tags"});
  LineCells row_;
};

TEST_F(Jsonl, ReadsNestedMembersNumbersAsWrittenAndArraysWhole) {
  ASSERT_EQ(
      parser_->parse(
          R"( {"a": 12345678901234567890, "address": {"city": "Zürich"}, "tags": [1, {"x": "]"}], "other": true} )",
          row_),
      LineKind::row);
  EXPECT_THAT(row_.cells, ElementsAre("12345678901234567890", "Zürich", R"([1, {"x": "]"}])"));
}

TEST_F(Jsonl, UnescapesAndLeavesOut) {
  ASSERT_EQ(parser_->parse(R"({"address":{"city":"a\"\\\/\n\u00e9\ud83d\ude00\ud800x"},"a":null})", row_),
            LineKind::row);
  EXPECT_EQ(row_.cells[1], "a\"\\/\né😀\ufffdx");
  EXPECT_THAT(row_.missing, ElementsAre(1, 0, 1));
}

TEST_F(Jsonl, SaysWhyALineIsNoRow) {
  for (const auto* line : {"[1]", "{", R"({"a":})", R"({"a" 1})", R"({"a":1,})", R"({"a":1}x)",
                           R"({"a":tru})", R"({"a":01a})", R"({"a":"\q"})", R"({"a":"\u12"})", R"({"a":-})",
                           R"({"a":1.})", R"({"a":[1,})", R"({a:1})", "{\"a\":\"\x01\"}", "x"}) {
    EXPECT_EQ(parser_->parse(line, row_), LineKind::bad) << line;
    EXPECT_THAT(row_.reason, HasSubstr("(character ")) << line;
  }
  EXPECT_EQ(parser_->parse("", row_), LineKind::nothing);
  std::string deep = "{\"a\":";
  for (int i = 0; i < 100'000; ++i) deep += "[";
  EXPECT_EQ(parser_->parse(deep, row_), LineKind::bad);
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += "{\"a\":";
  EXPECT_EQ(parser_->parse(objects, row_), LineKind::bad);
}

TEST(MakeLineParser, RefusesWhatDoesNotFit) {
  ParseOptions options;
  EXPECT_EQ(make_line_parser(options, schema_of({{"a", ColumnType::real}})).error().code(),
            Errc::unsupported);
  options.format = Format::libsvm;
  EXPECT_FALSE(make_line_parser(options, schema_of({{"a", ColumnType::real}})).has_value());
  options.format = Format::jsonl;
  EXPECT_FALSE(make_line_parser(options, schema_of({{"a", ColumnType::real}})).has_value());
}

}  // namespace
}  // namespace samovar::ingest
