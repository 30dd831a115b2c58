#include "base/toml.hpp"

#include <gtest/gtest.h>

namespace samovar {
namespace {

using Entries = std::vector<TomlEntry>;
using Texts = std::vector<std::string>;

Entries parse(std::string_view text) {
  auto parsed = parse_toml(text);
  if (const auto* fault = std::get_if<TomlFault>(&parsed))
    ADD_FAILURE() << "line " << fault->line << ": " << fault->text;
  return std::holds_alternative<Entries>(parsed) ? std::get<Entries>(parsed) : Entries{};
}

// "3: why", or nothing when it parses.
std::string fault(std::string_view text) {
  const auto parsed = parse_toml(text);
  const auto* found = std::get_if<TomlFault>(&parsed);
  return found == nullptr ? "" : std::to_string(found->line) + ": " + found->text;
}

bool faults_at(std::string_view text, std::string_view beginning) {
  return fault(text).starts_with(beginning);
}

TEST(Toml, EveryKindOfValue) {
  const auto all = parse(
      "a = \"x \\\"y\\\" \\u00fc\\U0001FAD6\\t\"  # a comment\r\n"
      "b='C:\\raw'\n\nc = -12\nd =true\n\"e f\" = [\n  \"one\", # first\n\n  'two',\n]\n"
      "[context.\"10.0.0.1:8443\"]\nserver = \"s\"");
  ASSERT_EQ(all.size(), 6u);
  EXPECT_EQ(std::get<std::string>(all[0].value), "x \"y\" \u00fc\U0001FAD6\t");
  EXPECT_EQ(std::get<std::string>(all[1].value), "C:\\raw");
  EXPECT_EQ(std::get<std::int64_t>(all[2].value), -12);
  EXPECT_EQ(all[2].line, 4u);
  EXPECT_TRUE(std::get<bool>(all[3].value));
  EXPECT_EQ(all[4].name, "e f");
  EXPECT_EQ(std::get<Texts>(all[4].value), (Texts{"one", "two"}));
  EXPECT_TRUE(all[4].section.empty());
  EXPECT_EQ(all[5].section, (Texts{"context", "10.0.0.1:8443"}));
  EXPECT_EQ(all[5].line, 12u);
  EXPECT_TRUE(parse("").empty());
  EXPECT_TRUE(parse("\xEF\xBB\xBF  # only a comment").empty());
  EXPECT_TRUE(std::get<Texts>(parse("a = []")[0].value).empty());
}

TEST(Toml, LettersOfOtherScriptsStandInQuotesAndComments) {
  EXPECT_EQ(std::get<std::string>(parse("# für die Küche\na = \"/srv/küche\"")[0].value), "/srv/küche");
  EXPECT_TRUE(faults_at("é = 1", "1: the name of a setting is expected, not 'é = 1'"));
  EXPECT_TRUE(faults_at("a = 'x' ü", "1: nothing may follow here, but 'ü' does"));
  EXPECT_TRUE(faults_at("a = 1\nb = \"gr\xFC\xDF\"\n", "2: letters that are not UTF-8"));
}

TEST(Toml, MistakesNameTheirLineAndWhatToDo) {
  EXPECT_TRUE(faults_at("\nhost_names = [\n  \"a.lan\",\n}\n", "4: a text in quotes or a ']' is expected"));
  EXPECT_TRUE(faults_at("a = [\"x\"\n\"y\"]", "2: a ',' or a ']' is expected"));
  EXPECT_TRUE(faults_at("\na = [\"x\",\n\n", "2: this list has no ']'"));
  EXPECT_TRUE(faults_at("a = [1]", "1: a text in quotes or a ']'"));
  EXPECT_TRUE(faults_at("a = [[\"x\"]]", "1: a text in quotes or a ']'"));
  EXPECT_TRUE(faults_at("a = \"x\n", "1: a quote that does not end"));
  EXPECT_TRUE(faults_at("a = \"x\\\"", "1: a quote that does not end"));
  EXPECT_TRUE(faults_at("a = \"\"\"x\"\"\"", "1: a text over several lines"));
  EXPECT_TRUE(faults_at("a = \"C:\\dir\"", "1: a backslash that means nothing"));
  EXPECT_TRUE(faults_at("a = \"\\ud800\"", "1: a backslash that means nothing"));
  EXPECT_TRUE(faults_at("a = \"\\u12", "1: a backslash that means nothing"));
  EXPECT_TRUE(faults_at("a", "1: a '=' is expected after a, not the end of the line"));
  EXPECT_TRUE(faults_at("a.b = 1", "1: a '=' is expected"));
  EXPECT_TRUE(faults_at("a = ", "1: a text in quotes, a whole number"));
  EXPECT_TRUE(faults_at("a = yes", "1: a text in quotes, a whole number"));
  EXPECT_TRUE(faults_at("a = 1.5", "1: a text in quotes, a whole number"));
  EXPECT_TRUE(faults_at("a = {}", "1: a text in quotes, a whole number"));
  EXPECT_TRUE(faults_at("a = 99999999999999999999", "1: this number is too large"));
  EXPECT_TRUE(faults_at("a = 1 b = 2", "1: nothing may follow"));
  EXPECT_TRUE(faults_at("a = 1\na = 2", "2: a is set twice"));
  EXPECT_TRUE(faults_at("[x]\n[x]", "2: this section is in the file twice"));
  EXPECT_TRUE(faults_at("[:]", "1: the name of a section is expected"));
  EXPECT_TRUE(faults_at("[a.]", "1: the name of a section is expected"));
  EXPECT_TRUE(faults_at("[a", "1: a ']' is expected"));
  EXPECT_TRUE(faults_at("[[a]]", "1: lists of sections"));
  EXPECT_TRUE(faults_at(std::string_view("a = 1\n\0", 7), "2: a control character"));
  EXPECT_EQ(fault("[x]\na = 1\n[y]\na = 1\n"), "");
}

}  // namespace
}  // namespace samovar
