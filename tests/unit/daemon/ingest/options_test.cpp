#include "daemon/ingest/options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.hpp"
#include "daemon/ingest/detect.hpp"

namespace samovar::ingest {
namespace {

using nlohmann::json;
using testing::HasSubstr;

ParseOptions unusual() {
  ParseOptions options;
  options.format = Format::jsonl;
  options.compression = Compression::xz;
  options.encoding = Encoding::utf16be;
  options.delimiter = '\t';
  options.quote.reset();
  options.header = false;
  options.decimal = ',';
  options.thousands = true;
  options.date_order = DateOrder::month_first;
  options.missing = {"", "n/a"};
  options.skip_lines = 3;
  options.fields = {"a", "b.c"};
  return options;
}

TEST(ParseOptions, SurviveJson) {
  for (const auto& options : {ParseOptions{}, unusual()}) {
    const auto back = parse_options(json::parse(to_json(options).dump()), {});
    ASSERT_TRUE(back.has_value()) << back.error().message();
    EXPECT_EQ(*back, options);
  }
}

TEST(ParseOptions, AbsentMembersKeepTheBase) {
  const auto options = parse_options(json{{"header", true}}, unusual());
  ASSERT_TRUE(options.has_value());
  ParseOptions expected = unusual();
  expected.header = true;
  EXPECT_EQ(*options, expected);
}

TEST(ParseOptions, NameTheMemberThatIsWrong) {
  for (const auto* text :
       {R"({"format":"xlsx"})", R"({"compression":7})", R"({"encoding":"klingon"})", R"({"delimiter":"ab"})",
        R"({"delimiter":"a"})", R"({"delimiter":"\n"})", R"({"delimiter":"\""})", R"({"quote":"x"})",
        R"({"header":"yes"})", R"({"decimal":";"})", R"({"thousands":1})", R"({"date_order":"ymd"})",
        R"({"missing":"NA"})", R"({"missing":[1]})", R"({"skip_lines":-1})", R"({"skip_lines":1e12})",
        R"({"fields":{}})", R"({"unheard":1})"}) {
    const json value = json::parse(text);
    const auto options = parse_options(value, {});
    ASSERT_FALSE(options.has_value()) << text;
    EXPECT_EQ(options.error().code(), Errc::invalid);
    EXPECT_THAT(options.error().message(), HasSubstr(value.begin().key())) << text;
  }
  EXPECT_FALSE(parse_options(json::array(), {}).has_value());
}

TEST(ParseOptions, DelimitersHaveNames) {
  for (const auto& [word, sign] :
       {std::pair("tab", '\t'), std::pair("comma", ','), std::pair("semicolon", ';'), std::pair("pipe", '|'),
        std::pair("space", ' '), std::pair("\\t", '\t')})
    EXPECT_EQ(parse_options(json{{"delimiter", word}}, {})->delimiter, sign);
}

TEST(ParseHints, SurviveJsonAndTakeNullAsAbsent) {
  ParseHints hints;
  hints.format = Format::pairs;
  hints.encoding = Encoding::latin1;
  hints.delimiter = ';';
  hints.header = false;
  hints.decimal = ',';
  hints.quoted = true;
  hints.date_order = DateOrder::month_first;
  hints.skip_lines = 2;
  hints.missing = std::vector<std::string>{"x"};
  const json first = to_json(hints);
  EXPECT_EQ(first.size(), 9u);
  const auto back = parse_hints(first);
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(to_json(*back), first);
  EXPECT_EQ(to_json(*parse_hints(json::parse(R"({"format":null})"))), json::object());
  EXPECT_FALSE(parse_hints(json::parse(R"({"compression":"gzip"})")).has_value());
  EXPECT_FALSE(parse_hints(json::parse("[]")).has_value());
}

Detection detection() {
  Detection found;
  found.options = unusual();
  found.columns.push_back({{"age", trainer::ColumnType::integer, false},
                           "all 3 values are whole numbers",
                           {"1", "2"},
                           4,
                           false,
                           true,
                           ""});
  found.columns.push_back({{"mail", trainer::ColumnType::text, true},
                           "free text",
                           {"•@•.•"},
                           0,
                           true,
                           false,
                           "looks like e-mail addresses"});
  found.sample_rows = 7;
  found.notes = {"A note."};
  return found;
}

TEST(Detection, SurvivesJson) {
  const json first = to_json(detection());
  const auto back = parse_detection(json::parse(first.dump()));
  ASSERT_TRUE(back.has_value()) << back.error().message();
  EXPECT_EQ(to_json(*back), first);
  EXPECT_EQ(back->columns[1].spec, detection().columns[1].spec);
}

// It comes out of the sandbox: whatever is missing, of another type or too long is refused.
TEST(Detection, IsCheckedMemberByMember) {
  const json whole = to_json(detection());
  for (const auto& [name, value] : whole.items()) {
    json without = whole;
    without.erase(name);
    EXPECT_FALSE(parse_detection(without).has_value()) << name;
    json other = whole;
    other[name] = -1;
    EXPECT_FALSE(parse_detection(other).has_value()) << name;
  }
  for (const auto& [name, value] : whole["columns"][0].items()) {
    json without = whole;
    without["columns"][0].erase(name);
    EXPECT_FALSE(parse_detection(without).has_value()) << name;
    json other = whole;
    other["columns"][0][name] = json{{"x", 1}};
    EXPECT_FALSE(parse_detection(other).has_value()) << name;
  }
  json long_name = whole;
  long_name["columns"][0]["name"] = std::string(257, 'x');
  EXPECT_FALSE(parse_detection(long_name).has_value());
  json many = whole;
  for (int i = 0; i < 5000; ++i) many["columns"].push_back(whole["columns"][0]);
  EXPECT_FALSE(parse_detection(many).has_value());
}

}  // namespace
}  // namespace samovar::ingest
