// Rows for a model out of CSV and JSON lines, however the bytes arrive.
#include "daemon/cli/row_reader.hpp"

#include <gtest/gtest.h>

namespace samovar::cli {
namespace {

using nlohmann::json;

const InputTypes kTypes = {{"age", "integer"}, {"bmi", "real"}, {"ward", "category"}, {"alone", "boolean"}};

struct Got {
  std::vector<json> rows;
  std::vector<std::vector<std::string>> kept;
  std::string error;
};

// `piece` bytes at a time: a row must not care where the pieces end.
Got read(const std::string& text, std::size_t piece, RowFormat format = {},
         std::vector<std::string> keep = {}, const InputTypes& types = kTypes) {
  std::size_t at = 0;
  RowReader reader(
      [&](char* out, std::size_t room) -> Result<std::size_t> {
        const std::size_t count = text.copy(out, std::min(room, piece), at);
        at += count;
        return count;
      },
      format, types, std::move(keep));
  Got got;
  for (;;) {
    auto row = reader.next();
    if (!row) {
      got.error = row.error().message();
      return got;
    }
    if (!*row) return got;
    got.rows.push_back((*row)->values);
    got.kept.push_back((*row)->kept);
  }
}

TEST(RowReader, CsvInPiecesOfAnySize) {
  const std::string text =
      "\xEF\xBB\xBFid,age,ward,bmi,alone\r\n1,70,\"North, "
      "\"\"A\"\"\",21.5,true\r\n\r\n2,NA,\"two\nlines\",,0\n";
  for (const std::size_t piece : {std::size_t{1}, std::size_t{2}, std::size_t{7}, std::size_t{1000}}) {
    const Got got = read(text, piece, {}, {"id"});
    EXPECT_EQ(got.error, "") << piece;
    ASSERT_EQ(got.rows.size(), 2U) << piece;
    EXPECT_EQ(got.rows[0], json::parse(R"({"age":70,"ward":"North, \"A\"","bmi":21.5,"alone":true})"));
    EXPECT_EQ(got.rows[1], json::parse(R"({"age":null,"ward":"two\nlines","bmi":null,"alone":0})"));
    EXPECT_EQ(got.kept[1], std::vector<std::string>{"2"});
  }
}

TEST(RowReader, DelimiterIsFoundAndADecimalCommaIsANumber) {
  RowFormat format;
  format.decimal = ',';
  const Got got = read("age;bmi;ward\n70;21,5;007\n", 5, format);
  ASSERT_EQ(got.rows.size(), 1U) << got.error;
  EXPECT_EQ(got.rows[0], json::parse(R"({"age":70,"bmi":21.5,"ward":"007"})"));
}

TEST(RowReader, JsonLinesKeepTheirTypes) {
  const Got got = read("{\"age\":70,\"x\":1}\n\n  \n{\"ward\":null}", 3, {}, {"x"});
  EXPECT_EQ(got.error, "");
  ASSERT_EQ(got.rows.size(), 2U);
  EXPECT_EQ(got.rows[0], json::parse(R"({"age":70})"));
  EXPECT_EQ(got.kept[0], std::vector<std::string>{"1"});
  EXPECT_EQ(got.rows[1], json::parse(R"({"ward":null})"));
}

TEST(RowReader, WithoutTypesEverythingIsSent) {
  const Got got = read("a,b\n1,x\n", 100, {}, {}, {});
  EXPECT_EQ(got.rows.at(0), json::parse(R"({"a":1,"b":"x"})"));
}

TEST(RowReader, FaultsNameTheLine) {
  EXPECT_EQ(read("age,bmi\n1,2\n1\n", 100).error, "line 3: 1 cells, but the header has 2");
  EXPECT_EQ(read("age,bmi\n1,\"2\n1\n", 100).error,
            "line 2: a quotation mark is opened here and never closed");
  EXPECT_EQ(read("", 100).error, "line 1: the file is empty");
  EXPECT_NE(read("a,b\n1,2\n", 100).error.find("no column is an input"), std::string::npos);
  EXPECT_NE(read("[{\"age\":1}]", 100).error.find("JSON array"), std::string::npos);
  EXPECT_EQ(read("{\"age\":1}\n{\"age\":", 100).error, "line 2: this is no JSON object");
  EXPECT_NE(read("age,bmi\n1,2\n", 100, {}, {"agee"}).error.find("did you mean \"age\""), std::string::npos);
  EXPECT_NE(read("age,bmi\n1,\"" + std::string(2 << 20, 'x'), 4096).error.find("longer than 1 MiB"),
            std::string::npos);
}

TEST(RowReader, CellsByType) {
  EXPECT_EQ(cell_value("12", "integer", '.'), json(12));
  EXPECT_EQ(cell_value("+1e3", "real", '.'), json(1000.0));
  EXPECT_EQ(cell_value("12", "category", '.'), json("12"));
  EXPECT_EQ(cell_value("twelve", "integer", '.'), json("twelve")) << "the box warns of it";
  EXPECT_TRUE(cell_value("N/A", "category", '.').is_null());
}

}  // namespace
}  // namespace samovar::cli
