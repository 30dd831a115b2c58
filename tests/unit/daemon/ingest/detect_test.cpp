#include "daemon/ingest/detect.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.hpp"
#include "tests/unit/daemon/ingest/input_support.hpp"

namespace samovar::ingest {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using trainer::ColumnType;

Detection found(std::string_view text, const ParseHints& hints = {}) {
  auto detection = detect_text(text, hints);
  EXPECT_TRUE(detection.has_value()) << detection.error().message() << "\n" << text.substr(0, 200);
  return detection ? *std::move(detection) : Detection{};
}
std::string refused(std::string_view text) {
  const auto detection = detect_text(text);
  EXPECT_FALSE(detection.has_value()) << text.substr(0, 200);
  return detection ? "" : detection.error().message();
}
std::vector<std::string> names(const Detection& detection) {
  std::vector<std::string> out;
  for (const auto& column : detection.columns) out.push_back(column.spec.name);
  return out;
}
std::vector<ColumnType> types(const Detection& detection) {
  std::vector<ColumnType> out;
  for (const auto& column : detection.columns) out.push_back(column.spec.type);
  return out;
}
constexpr auto kInteger = ColumnType::integer;
constexpr auto kReal = ColumnType::real;
constexpr auto kBoolean = ColumnType::boolean;
constexpr auto kCategory = ColumnType::category;
constexpr auto kText = ColumnType::text;
constexpr auto kTime = ColumnType::time;

std::string table(char delimiter, bool header = true, std::string_view end = "\n") {
  std::string text;
  const auto row = [&](std::initializer_list<std::string> cells) {
    std::string line;
    for (const auto& cell : cells) line += (line.empty() ? "" : std::string(1, delimiter)) + cell;
    text += line + std::string(end);
  };
  if (header) row({"age", "city", "score", "member", "since"});
  for (int i = 0; i < 60; ++i)
    row({std::to_string(20 + i), i % 3 == 0 ? "Bern" : "Basel", fmt::format("{}.{}", i, i % 10),
         i % 2 == 0 ? "yes" : "no", fmt::format("2024-01-{:02}", i % 28 + 1)});
  return text;
}

TEST(Detect, EveryDelimiterWithAndWithoutHeader) {
  for (const char delimiter : {',', ';', '\t', '|'})
    for (const bool header : {true, false})
      for (const auto* end : {"\n", "\r\n", "\r"}) {
        const auto detection = found(table(delimiter, header, end));
        EXPECT_EQ(detection.options.delimiter, delimiter);
        EXPECT_EQ(detection.options.header, header) << delimiter;
        EXPECT_EQ(detection.sample_rows, 60u);
        EXPECT_THAT(types(detection), ElementsAre(kInteger, kCategory, kReal, kBoolean, kTime));
        EXPECT_EQ(names(detection)[1], header ? "city" : "c2");
      }
}

TEST(Detect, PackedFilesAndOtherEncodings) {
  const std::string text = table(',');
  EXPECT_EQ(found(gzip(text)).options.compression, Compression::gzip);
  EXPECT_EQ(found(zstd(text)).options.compression, Compression::zstd);
  EXPECT_EQ(found(xz(text)).options.compression, Compression::xz);
  EXPECT_EQ(found(zip({{"t.csv", text}})).options.compression, Compression::zip);
  EXPECT_THAT(names(found("\xef\xbb\xbf" + text)), ElementsAre("age", "city", "score", "member", "since"));
  for (const bool big : {false, true})
    for (const bool mark : {false, true}) {
      std::string wide;
      if (mark) wide = big ? "\xfe\xff" : "\xff\xfe";
      for (const char c : text) wide += big ? std::string{'\0', c} : std::string{c, '\0'};
      const auto detection = found(wide);
      EXPECT_EQ(detection.options.encoding, big ? Encoding::utf16be : Encoding::utf16le);
      EXPECT_THAT(names(detection), ElementsAre("age", "city", "score", "member", "since"));
    }
  const auto latin = found("name,town\nJos\xe9,Z\xfcrich\nAnn,Bern\nBea,Gen\xe8ve\n");
  EXPECT_EQ(latin.options.encoding, Encoding::latin1);
  EXPECT_THAT(latin.columns[1].examples, Contains("Zürich"));
  EXPECT_EQ(found("name,town\nJosé,Zürich\nAnn,Bern\n").options.encoding, Encoding::utf8);
}

TEST(Detect, MixedEncodingsAreNamed) {
  std::string text = "id,town\n";
  for (int i = 0; i < 50; ++i) text += fmt::format("{},Zürich\n", i);
  text += "51,Gen\xe8ve\n";
  const auto detection = found(text);
  EXPECT_EQ(detection.options.encoding, Encoding::utf8);
  EXPECT_THAT(
      detection.notes,
      Contains(HasSubstr(
          "not everywhere (places in the sample that are not: 1). Rows with one are counted as bad rows")));
}

TEST(Detect, DecimalCommaDoesNotLookLikeADelimiter) {
  std::string text = "a;b;c\n";
  for (int i = 0; i < 50; ++i) text += fmt::format("{},{};{},5;x{}\n", i, i % 10, i * 3, i % 4);
  const auto detection = found(text);
  EXPECT_EQ(detection.options.delimiter, ';');
  EXPECT_EQ(detection.options.decimal, ',');
  EXPECT_THAT(types(detection), ElementsAre(kReal, kReal, kCategory));
  std::string bare;
  for (int i = 0; i < 50; ++i) bare += fmt::format("{},5;{},25;{},75\n", i, i, i * 2);
  EXPECT_EQ(found(bare).options.delimiter, ';');
  EXPECT_THAT(types(found(bare)), ElementsAre(kReal, kReal, kReal));
}

TEST(Detect, GroupedDigits) {
  std::string text = "n,amount\n";
  for (int i = 0; i < 50; ++i) text += fmt::format("{},\"{},{:03}.50\"\n", i, i + 1, i * 7);
  const auto english = found(text);
  EXPECT_EQ(english.options.decimal, '.');
  EXPECT_TRUE(english.options.thousands);
  EXPECT_THAT(types(english), ElementsAre(kInteger, kReal));
  std::string german = "n;betrag\n";
  for (int i = 0; i < 50; ++i) german += fmt::format("{};{}.{:03},50\n", i, i + 1, i * 7);
  EXPECT_EQ(found(german).options.decimal, ',');
  EXPECT_TRUE(found(german).options.thousands);
  std::string swiss = "n;betrag\n";
  for (int i = 0; i < 50; ++i) swiss += fmt::format("{};{}'{:03}.50\n", i, i + 1, i * 7);
  EXPECT_THAT(types(found(swiss)), ElementsAre(kInteger, kReal));
  std::string doubtful = "n\tamount\n";
  for (int i = 0; i < 50; ++i) doubtful += fmt::format("{}\t{},{:03}\n", i, i + 1, i * 7);
  const auto read = found(doubtful);
  EXPECT_TRUE(read.options.thousands);
  EXPECT_THAT(read.notes, Contains(HasSubstr("Numbers like 1,234 were read as 1234")));
}

TEST(Detect, QuotesWithDelimitersNewlinesAndQuotesInside) {
  std::string text = "id,comment,n\n";
  for (int i = 0; i < 30; ++i)
    text += fmt::format("{},\"He said \"\"no\"\", twice,\nand left number {} there\",{}\n", i, i, i * 2);
  const auto detection = found(text);
  EXPECT_EQ(detection.sample_rows, 30u);
  EXPECT_EQ(detection.options.quote, '"');
  EXPECT_THAT(types(detection), ElementsAre(kInteger, kText, kInteger));
  EXPECT_THAT(detection.columns[1].examples[0], HasSubstr("He said \"no\", twice, and left"));
}

TEST(Detect, QuotesThatQuoteNothing) {
  std::string text;
  for (int i = 0; i < 40; ++i) text += fmt::format("{}\t\"{}\" screen\t{}\n", i, i % 30, i * 3);
  const auto detection = found(text);
  EXPECT_EQ(detection.options.quote, std::nullopt);
  EXPECT_EQ(detection.columns.size(), 3u);
  EXPECT_EQ(detection.sample_rows, 40u);
}

TEST(Detect, HeadersOfTextOnlyAndNone) {
  std::string text;
  for (int i = 0; i < 40; ++i)
    text += fmt::format("{},{}\n", i % 2 == 0 ? "red" : "blue", i % 3 == 0 ? "big" : "small");
  EXPECT_TRUE(found("colour,size\n" + text).options.header);
  EXPECT_FALSE(found(text).options.header);
  ParseHints hints;
  hints.header = true;
  EXPECT_TRUE(found(text, hints).options.header);
  EXPECT_THAT(names(found(text, hints)), ElementsAre("red", "big"));
  EXPECT_TRUE(found("country,2019,2020,2021\nFrance,1.5,2.5,3\nItaly,2.5,1,2\nSpain,1,2,3\n").options.header);
}

TEST(Detect, NamesAreMadeUniqueWithANote) {
  const auto detection = found("id,x,x,,x\n1,2,3,4,5\n2,3,4,5,6\n");
  EXPECT_THAT(names(detection), ElementsAre("id", "x", "x_2", "c4", "x_3"));
  EXPECT_THAT(detection.notes, Contains(HasSubstr("more than once")));
  EXPECT_THAT(detection.notes, Contains(HasSubstr("no name")));
}

TEST(Detect, AHeaderAgainInTheMiddleIsNoted) {
  const auto detection = found(table(',') + table(','));
  EXPECT_TRUE(detection.options.header);
  EXPECT_EQ(detection.sample_rows, 120u);
  EXPECT_THAT(types(detection), ElementsAre(kInteger, kCategory, kReal, kBoolean, kTime));
  EXPECT_THAT(detection.notes, Contains(HasSubstr("The header stands again in line 62")));
}

TEST(Detect, TitlesAboveTheTableAreSkipped) {
  const auto detection = found("Quarterly report\n\nmade on Monday\n" + table(';'));
  EXPECT_EQ(detection.options.skip_lines, 3u);
  EXPECT_THAT(names(detection), ElementsAre("age", "city", "score", "member", "since"));
  const auto counts = found("3\n5\n4\n1 2 3\n1 3 4\n2 2 5\n3 1 1\n");
  EXPECT_EQ(counts.options.skip_lines, 3u);
  EXPECT_EQ(counts.options.delimiter, ' ');
  EXPECT_EQ(counts.sample_rows, 4u);
}

TEST(Detect, ASignInEveryRowsProseIsNoDelimiter) {
  std::string text = "id,comment\n";
  for (int i = 0; i < 50; ++i) text += fmt::format("{},first; second\n", i);
  EXPECT_EQ(found(text).options.delimiter, ',');
  EXPECT_THAT(names(found(text)), ElementsAre("id", "comment"));
}

TEST(Detect, ExcelMayNameTheDelimiter) {
  const auto detection = found("sep=;\r\na,x;b\r\n1;2\r\n3;4\r\n");
  EXPECT_EQ(detection.options.delimiter, ';');
  EXPECT_EQ(detection.options.skip_lines, 1u);
  EXPECT_THAT(names(detection), ElementsAre("a,x", "b"));
}

TEST(Detect, ACellOfManyMegabytesIsASentence) {
  EXPECT_THAT(refused("a,b\n1," + std::string(5 << 20, 'x') + "\n"), HasSubstr("longer than 4 MB"));
}

TEST(Detect, RaggedRowsAreCounted) {
  const auto detection = found(table(',') + "1,2\n3,4,5,6,7,8\n");
  EXPECT_EQ(detection.columns.size(), 5u);
  EXPECT_THAT(detection.notes, Contains(HasSubstr("2 of 63 rows in the sample do not have 5 columns")));
}

TEST(Detect, MissingWordsAmongNumbersAreFound) {
  std::string text = "a,b\n";
  for (int i = 0; i < 60; ++i)
    text += fmt::format("{},{}\n", i % 10 == 3 ? "n/a" : std::to_string(i), i % 7 == 0 ? "NA" : "1.5");
  const auto detection = found(text);
  EXPECT_THAT(types(detection), ElementsAre(kInteger, kReal));
  EXPECT_THAT(detection.options.missing, Contains("n/a"));
  EXPECT_EQ(detection.columns[0].missing, 6u);
  EXPECT_EQ(detection.columns[1].missing, 9u);
}

TEST(Detect, DatesTellTheirOrder) {
  const auto dates = [](std::initializer_list<std::string> cells) {
    std::string text = "when,n\n";
    for (const auto& cell : cells) text += cell + ",1\n";
    return text;
  };
  EXPECT_EQ(found(dates({"3/4/2024", "13/4/2024", "5/4/2024"})).options.date_order, DateOrder::day_first);
  EXPECT_EQ(found(dates({"3/4/2024", "4/13/2024", "5/4/2024"})).options.date_order, DateOrder::month_first);
  const auto open = found(dates({"3/4/2024", "4/5/2024"}));
  EXPECT_EQ(open.columns[0].spec.type, kTime);
  EXPECT_THAT(open.notes, Contains(HasSubstr("could be read both ways")));
}

TEST(Detect, CriteoGetsItsNames) {
  std::string text;
  for (int i = 0; i < 50; ++i) {
    text += std::to_string(i % 4 == 0);
    for (int c = 0; c < 13; ++c) text += c == 11 ? "\t" : "\t" + std::to_string(i * c);
    for (int c = 0; c < 26; ++c)
      text += c % 9 == 8 ? std::string("\t") : fmt::format("\t{:08x}", (i * 31 + c) * 2654435761u);
    text += "\n";
  }
  const auto detection = found(text);
  ASSERT_EQ(detection.columns.size(), 40u);
  EXPECT_EQ(detection.columns[0].spec.name, "label");
  EXPECT_EQ(detection.columns[0].spec.type, kBoolean);
  EXPECT_EQ(detection.columns[12].spec.name, "I12");
  EXPECT_EQ(detection.columns[12].spec.type, kInteger);
  EXPECT_EQ(detection.columns[39].spec.name, "C26");
  EXPECT_EQ(detection.columns[39].spec.type, kCategory);
}

TEST(Detect, Libsvm) {
  const auto detection = found("# made by hand\n1 1:0.5 7:2\n-1 2:1\n1 qid:3 1:1 9:4\n");
  EXPECT_EQ(detection.options.format, Format::libsvm);
  EXPECT_THAT(names(detection), ElementsAre("label", "qid", "features"));
  EXPECT_THAT(types(detection), ElementsAre(kInteger, kInteger, ColumnType::sparse));
  EXPECT_EQ(detection.columns[2].evidence, "4 different indices from 1 to 9, 1.7 a row on average");
}

TEST(Detect, Arff) {
  const auto detection = found(
      "% flowers\n@relation iris\n@attribute 'sepal length' numeric\n@attribute n INTEGER\n@attribute class "
      "{a,'b c',d}\n"
      "@attribute ok {yes,no}\n@attribute note string\n@attribute day date 'yyyy-MM-dd'\n@data\n"
      "5.1,3,'b c',yes,'some words',2024-01-01\n4.9,?,a,no,?,2024-01-02\n{0 1}\n");
  EXPECT_EQ(detection.options.format, Format::arff);
  EXPECT_THAT(names(detection), ElementsAre("sepal length", "n", "class", "ok", "note", "day"));
  EXPECT_EQ(detection.columns[0].spec.type, kReal);
  EXPECT_EQ(detection.columns[1].spec.type, kInteger);
  EXPECT_EQ(detection.columns[2].spec.type, kCategory);
  EXPECT_EQ(detection.columns[3].spec.type, kBoolean);
  EXPECT_EQ(detection.columns[4].spec.type, kText);
  EXPECT_THAT(detection.options.fields, ElementsAre("0", "0", "a", "yes", "", ""));
  EXPECT_EQ(detection.sample_rows, 3u);
  EXPECT_THAT(refused("@relation x\n@attribute a relational\n@data\n1\n"), HasSubstr("\"relational\""));
  EXPECT_THAT(refused("@relation x\n@attribute a numeric\n"), HasSubstr("no @data"));
}

TEST(Detect, JsonLines) {
  const auto detection = found(
      "{\"id\":1,\"name\":\"x\",\"at\":{\"city\":\"Bern\"},\"tags\":[1]}\n{\"id\":2,\"ok\":true,\"at\":{"
      "\"city\":\"Z\\u00fcrich\"}}\n{\"id\":3,\"ok\":false}\n");
  EXPECT_EQ(detection.options.format, Format::jsonl);
  EXPECT_THAT(names(detection), ElementsAre("id", "name", "at.city", "tags", "ok"));
  EXPECT_THAT(types(detection), ElementsAre(kInteger, kCategory, kCategory, kText, kBoolean));
  EXPECT_THAT(detection.columns[2].examples, ElementsAre("Bern", "Zürich"));
  EXPECT_THAT(refused("[{\"a\":1},{\"a\":2}]"), HasSubstr("jq -c"));
  EXPECT_THAT(refused("{\n  \"a\": 1,\n  \"b\": 2\n}\n"), HasSubstr("jq -c"));
}

TEST(Detect, ParallelText) {
  std::string text;
  for (int i = 0; i < 20; ++i) text += fmt::format("Go \"{} away.\tVa-t'en {} !\n", i, i);
  const auto detection = found(text);
  EXPECT_EQ(detection.options.format, Format::pairs);
  EXPECT_THAT(names(detection), ElementsAre("source", "target"));
  EXPECT_EQ(detection.sample_rows, 20u);
  std::string dictionary = ";;; a comment\n;;; another\n";
  for (int i = 0; i < 20; ++i) dictionary += fmt::format("WORD{}  W ER D {}\n", i, i);
  const auto wide = found(dictionary);
  EXPECT_EQ(wide.options.format, Format::pairs);
  EXPECT_EQ(wide.options.delimiter, ' ');
  EXPECT_EQ(wide.options.skip_lines, 2u);
  EXPECT_EQ(found("question\tanswer\n" + text).options.format, Format::csv);
  EXPECT_TRUE(found("question\tanswer\n" + text).options.header);
}

TEST(Detect, IdxFilesOfNumbers) {
  using namespace std::string_literals;
  std::string images = "\0\0\x08\x03\0\0\0\x1e\0\0\0\x02\0\0\0\x02"s;
  for (int i = 0; i < 30 * 4; ++i) images += static_cast<char>(i * 37);
  const auto detection = found(gzip(images));
  EXPECT_EQ(detection.options.encoding, Encoding::idx);
  EXPECT_THAT(names(detection), ElementsAre("p1", "p2", "p3", "p4"));
  EXPECT_THAT(types(detection), ElementsAre(kInteger, kInteger, kInteger, kInteger));
  EXPECT_EQ(detection.sample_rows, 30u);
  EXPECT_THAT(refused(images.substr(0, 50)), HasSubstr("ends in the middle"));
  EXPECT_THAT(refused(images + "x"), HasSubstr("longer than its head says"));
  EXPECT_THAT(names(found("\0\0\x08\x01\0\0\0\x03\x05\0\x04"s)), ElementsAre("value"));
  EXPECT_EQ(
      decode("\0\0\x0d\x02\0\0\0\x01\0\0\0\x02\x3f\xc0\0\0\xc0\0\0\0"s, Compression::none, Encoding::idx),
      "p1,p2\n1.5,-2\n");
  EXPECT_THAT(refused("\0\0\x08\x03\0\0\0\x01\0\x01\0\0\0\x01\0\0........"s), HasSubstr("too many"));
}

TEST(Detect, HintsWin) {
  ParseHints hints;
  hints.delimiter = ';';
  EXPECT_EQ(found(table(','), hints).options.delimiter, ';');
  hints = {};
  hints.skip_lines = 1;
  const auto skipped = found(table(','), hints);
  EXPECT_EQ(skipped.options.skip_lines, 1u);
  EXPECT_FALSE(skipped.options.header);
  hints = {};
  hints.missing = std::vector<std::string>{"Bern"};
  EXPECT_EQ(found(table(','), hints).columns[1].missing, 20u);
  hints = {};
  hints.quoted = false;
  EXPECT_EQ(found("a,b\n\"x\",1\n", hints).options.quote, std::nullopt);
  hints = {};
  hints.encoding = Encoding::latin1;
  EXPECT_EQ(found("a,b\nx,1\n", hints).options.encoding, Encoding::latin1);
}

TEST(Detect, WhatIsNoTableIsNamed) {
  using namespace std::string_literals;
  EXPECT_THAT(refused(""), HasSubstr("empty"));
  EXPECT_THAT(refused("  \n\n \r\n"), HasSubstr("nothing but blanks"));
  EXPECT_THAT(refused("\x89PNG\r\n\x1a\n........"), HasSubstr("PNG image"));
  EXPECT_THAT(refused("\xff\xd8\xff\xe0 JFIF"), HasSubstr("JPEG image"));
  EXPECT_THAT(refused("%PDF-1.7\n"), HasSubstr("PDF"));
  EXPECT_THAT(refused("\x7f"
                      "ELF\x02\x01\x01"),
              HasSubstr("a program"));
  EXPECT_THAT(refused("PAR1\x15\x04"), HasSubstr("Parquet"));
  EXPECT_THAT(refused("SQLite format 3\0 ..."s), HasSubstr("SQLite"));
  EXPECT_THAT(refused("<!DOCTYPE html><html>"), HasSubstr("web page"));
  EXPECT_THAT(refused(zip({{"[Content_Types].xml", "x"}, {"xl/workbook.xml", "y"}})), HasSubstr("Excel"));
  EXPECT_THAT(refused(gzip("\x89PNG\r\n\x1a\n........")), HasSubstr("PNG image"));
  std::string noise;
  for (int i = 0; i < 5000; ++i) noise += static_cast<char>(i * 2654435761u >> 13);
  EXPECT_THAT(refused(noise), HasSubstr("binary"));
  EXPECT_THAT(refused("a,b,c\n"), HasSubstr("header and no rows"));
  EXPECT_THAT(refused(std::string(kSampleBytesMax + 10, 'x')), HasSubstr("longer than 4 MB"));
}

TEST(Detect, TooManyColumnsIsASentence) {
  std::string row;
  for (int i = 0; i < 1'000'000; ++i) row += "1,";
  EXPECT_THAT(refused(row + "1\n" + row + "1\n"), HasSubstr("1,000,001 columns, and 4,096 are the limit"));
  std::string wide;
  for (int i = 0; i < 4097; ++i) wide += i == 0 ? "x" : ",x";
  EXPECT_THAT(refused(wide + "\n" + wide + "\n"), HasSubstr("4,097 columns"));
}

TEST(Detect, NulsAreNoted) {
  std::string text = table(',');
  text[200] = '\0';
  EXPECT_THAT(found(text).notes, Contains(HasSubstr("zero bytes (NUL)")));
}

TEST(Detect, OneColumnIsATableWithANote) {
  const auto detection = found("12\n15\n17\n");
  EXPECT_EQ(detection.columns.size(), 1u);
  EXPECT_EQ(detection.sample_rows, 3u);
  EXPECT_THAT(detection.notes, Contains(HasSubstr("Only one column")));
}

TEST(Detect, NothingInTheAnswerBreaksJson) {
  std::string text = "a\xff,b\n";
  for (int i = 0; i < 40; ++i) text += "some text,1\n";
  for (const auto encoding : {Encoding::utf8, Encoding::latin1}) {
    ParseHints hints;
    hints.encoding = encoding;
    const auto detection = found(text + "\xfe\x01,1\nq\x02\xc3,2\n", hints);
    const std::string json = to_json(detection).dump();  // throws on what is no UTF-8
    EXPECT_TRUE(parse_detection(nlohmann::json::parse(json)).has_value());
  }
}

}  // namespace
}  // namespace samovar::ingest
