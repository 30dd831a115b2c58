#include "trainer/data/schema.hpp"

#include <gtest/gtest.h>

namespace samovar::trainer {
namespace {

Schema all_types() {
  return {{{"größe", ColumnType::real, false},
           {"age", ColumnType::integer, true},
           {"smoker", ColumnType::boolean, false},
           {"ward \"3\"", ColumnType::category, false},
           {"notes", ColumnType::text, true},
           {"admitted", ColumnType::time, false},
           {"features", ColumnType::sparse, false}}};
}

std::string refusal(std::string_view json) {
  const auto decoded = decode_schema(json);
  if (decoded) return "accepted";
  EXPECT_EQ(decoded.error().code(), Errc::invalid);
  return decoded.error().message();
}

TEST(Schema, ComesBackAsItWas) {
  const auto decoded = decode_schema(encode_schema(all_types()));
  ASSERT_TRUE(decoded) << decoded.error().message();
  EXPECT_EQ(*decoded, all_types());
}

TEST(Schema, FindsAColumnByName) {
  EXPECT_EQ(all_types().find("smoker"), 2u);
  EXPECT_EQ(all_types().find("Smoker"), std::nullopt);
}

TEST(Schema, EveryTypeHasAWord) {
  for (const ColumnSpec& column : all_types().columns)
    EXPECT_EQ(parse_column_type(to_string(column.type)), column.type);
  EXPECT_EQ(parse_column_type("float"), std::nullopt);
}

TEST(Schema, RefusesWhatItWouldNotWrite) {
  const auto one = [](std::string_view column) { return R"({"columns":[)" + std::string(column) + "]}"; };
  EXPECT_EQ(refusal(one(R"({"name":"a","type":"real","sensitive":false})")), "accepted");
  for (const std::string& json : {
           std::string(),
           std::string("[]"),
           std::string(R"({"columns":[]})"),
           std::string(R"({"columns":{}})"),
           one(R"({"name":"a","type":"real","sensitive":false})") + "x",
           std::string(R"({"columns":[{"name":"a","type":"real","sensitive":false}],"version":1})"),
           one(R"({"name":"a","type":"real"})"),
           one(R"({"name":"a","type":"float","sensitive":false})"),
           one(R"({"name":"","type":"real","sensitive":false})"),
           one(R"({"name":7,"type":"real","sensitive":false})"),
           one(R"({"name":"a","type":"real","sensitive":0})"),
           one(R"({"name":"a","name":"b","type":"real","sensitive":false})"),
           one(R"({"name":"a","type":"real","sensitive":false,"more":1})"),
           one(R"({"name":")" + std::string(257, 'a') + R"(","type":"real","sensitive":false})"),
           one("{\"name\":\"\xff\",\"type\":\"real\",\"sensitive\":false}"),
       }) {
    EXPECT_NE(refusal(json), "accepted") << json;
  }
}

TEST(Schema, NamesTheColumnAtFault) {
  const std::string twice =
      R"({"columns":[{"name":"a","type":"real","sensitive":false},{"name":"a","type":"text","sensitive":false}]})";
  EXPECT_EQ(refusal(twice), "column 2 of the schema: the name \"a\" is there twice");
}

TEST(Schema, HasAtMostAsManyColumnsAsABlockCanHold) {
  Schema wide;
  for (std::size_t i = 0; i <= kColumnsMax; ++i)
    wide.columns.push_back({"c" + std::to_string(i), ColumnType::real});
  EXPECT_NE(refusal(encode_schema(wide)), "accepted");
  wide.columns.pop_back();
  EXPECT_EQ(refusal(encode_schema(wide)), "accepted");
}

}  // namespace
}  // namespace samovar::trainer
