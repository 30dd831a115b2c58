#include "daemon/ingest/values.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <random>

#include "daemon/ingest/utf8.hpp"

namespace samovar::ingest {
namespace {

std::optional<std::int64_t> integer(std::string_view cell, NumberStyle style = {}) {
  std::int64_t out = 0;
  return parse_integer(cell, style, out) ? std::optional(out) : std::nullopt;
}
std::optional<double> real(std::string_view cell, NumberStyle style = {}) {
  double out = 0;
  return parse_real(cell, style, out) ? std::optional(out) : std::nullopt;
}
std::optional<std::int64_t> seconds(std::string_view cell, DateOrder order = DateOrder::day_first) {
  std::int64_t out = 0;
  if (!parse_time(cell, order, out)) return std::nullopt;
  return out / 1'000'000;
}

TEST(Values, Integers) {
  EXPECT_EQ(integer("0"), 0);
  EXPECT_EQ(integer("-17"), -17);
  EXPECT_EQ(integer("+17"), 17);
  EXPECT_EQ(integer("007"), 7);
  EXPECT_EQ(integer("1e+05"), 100'000);
  EXPECT_EQ(integer("12E3"), 12'000);
  EXPECT_EQ(integer("999999999999999999"), 999'999'999'999'999'999);
  EXPECT_EQ(integer("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(integer("-9223372036854775808"), std::numeric_limits<std::int64_t>::min());
  for (const auto* cell : {"", "-", "+", "--1", "+-1", "1.0", "1 ", " 1", "0x10", "9223372036854775808", "1e",
                           "1e99", "e5", "1e-2", "12a", "1e+", "\xc2\xa0"})
    EXPECT_EQ(integer(cell), std::nullopt) << cell;
}

TEST(Values, RealsAreRoundedAsTheLibraryDoes) {
  std::mt19937_64 luck(7);
  for (int i = 0; i < 20'000; ++i) {
    const double value = std::ldexp(static_cast<double>(static_cast<std::int64_t>(luck())),
                                    static_cast<int>(luck() % 120) - 100);
    for (const auto& text :
         {fmt::format("{:.3f}", value), fmt::format("{:.9g}", value), fmt::format("{}", value)}) {
      const auto got = real(text);
      ASSERT_TRUE(got.has_value()) << text;
      ASSERT_EQ(*got, std::strtod(text.c_str(), nullptr)) << text;
    }
  }
}

TEST(Values, RealsAndWhatIsNone) {
  EXPECT_EQ(real("-0.5"), -0.5);
  EXPECT_EQ(real(".5"), 0.5);
  EXPECT_EQ(real("5."), 5.0);
  EXPECT_EQ(real("+1.5e3"), 1500.0);
  EXPECT_EQ(real("1e-400"), 0.0);
  EXPECT_TRUE(std::signbit(*real("-0")));
  for (const auto* cell : {"", ".", "-", "-.", "+", "1.2.3", "1,5", "inf", "-inf", "nan", "NaN", "1e400",
                           "0x1p3", "1e", "1 2", "--1", "+-1"})
    EXPECT_EQ(real(cell), std::nullopt) << cell;
}

TEST(Values, NumbersOfFiveLocales) {
  EXPECT_EQ(real("1,234.5", {'.', true}), 1234.5);       // en
  EXPECT_EQ(real("1.234,5", {',', true}), 1234.5);       // de, it
  EXPECT_EQ(real("1 234,5", {',', true}), 1234.5);       // fr, with a blank
  EXPECT_EQ(real("1\u00a0234,5", {',', true}), 1234.5);  // fr, U+00A0
  EXPECT_EQ(real("1\u202f234\u202f567,5", {',', true}), 1234567.5);
  EXPECT_EQ(real("1'234.5", {'.', true}), 1234.5);  // de-CH
  EXPECT_EQ(real("1\u2019234.5", {'.', true}), 1234.5);
  EXPECT_EQ(real("-3,75", {',', false}), -3.75);
  EXPECT_EQ(real("1,5e3", {',', false}), 1500.0);
  EXPECT_EQ(integer("1,234,567", {'.', true}), 1'234'567);
  EXPECT_EQ(integer("1.234.567", {',', true}), 1'234'567);
  EXPECT_EQ(integer("1234567", {',', true}), 1'234'567);
  for (const auto* cell : {"1,23,456", "1,2345", ",123", "1234,567", "1,234'567", "12,34", "1,234,", "1.5.5"})
    EXPECT_EQ(real(cell, {'.', true}), std::nullopt) << cell;
  EXPECT_EQ(real("1.5", {',', false}), std::nullopt);
  EXPECT_EQ(real(std::string(500, '1') + ",5", {',', false}), std::nullopt);
}

TEST(Values, Booleans) {
  for (const auto* cell : {"1", "true", "TRUE", "Yes", "y", "T", "on", "ja", "oui", "vrai", "wahr", "si"}) {
    bool out = false;
    EXPECT_TRUE(parse_boolean(cell, out) && out) << cell;
  }
  for (const auto* cell : {"0", "false", "No", "N", "f", "OFF", "nein", "non", "faux", "falsch"}) {
    bool out = true;
    EXPECT_TRUE(parse_boolean(cell, out) && !out) << cell;
  }
  bool out = false;
  for (const auto* cell : {"", "2", "maybe", "yess"}) EXPECT_FALSE(parse_boolean(cell, out)) << cell;
}

TEST(Values, Times) {
  EXPECT_EQ(seconds("1970-01-01"), 0);
  EXPECT_EQ(seconds("2024-02-29"), 1709164800);
  EXPECT_EQ(seconds("2024/02/29"), 1709164800);
  EXPECT_EQ(seconds("20240229"), 1709164800);
  EXPECT_EQ(seconds("2024-02"), 1706745600);
  EXPECT_EQ(seconds("29.02.2024"), 1709164800);
  EXPECT_EQ(seconds("29/2/24"), 1709164800);
  EXPECT_EQ(seconds("2/29/2024", DateOrder::month_first), 1709164800);
  EXPECT_EQ(seconds("29-Feb-2024"), 1709164800);
  EXPECT_EQ(seconds("29 February 2024"), 1709164800);
  EXPECT_EQ(seconds("Feb 29, 2024"), 1709164800);
  EXPECT_EQ(seconds("Thu, 29 Feb 2024 00:00:00 GMT"), 1709164800);
  EXPECT_EQ(seconds("2024-02-29T12:30:15Z"), 1709209815);
  EXPECT_EQ(seconds("2024-02-29 12:30:15.250"), 1709209815);
  EXPECT_EQ(seconds("2024-02-29T13:30:15+01:00"), 1709209815);
  EXPECT_EQ(seconds("2024-02-29T07:00:15-0530"), 1709209815);
  EXPECT_EQ(seconds("29.2.2024 12:30"), 1709209800);
  EXPECT_EQ(seconds("2/29/2024 12:30 PM", DateOrder::month_first), 1709209800);
  EXPECT_EQ(seconds("2/29/2024 12:30 AM", DateOrder::month_first), 1709166600);
  EXPECT_EQ(seconds("1900-01-01"), -2208988800);
  EXPECT_EQ(seconds("1709209815"), 1709209815);
  EXPECT_EQ(seconds("1709209815000"), 1709209815);
  std::int64_t micros = 0;
  EXPECT_TRUE(parse_time("1970-01-01 00:00:00.123456", DateOrder::day_first, micros));
  EXPECT_EQ(micros, 123456);
  for (const auto* cell :
       {"", "2023-02-29", "2024-13-01", "31.4.2024", "2024-02-29T25:00", "2024-02-29 12:60", "12:30",
        "hello there", "2024-02-29x", "2024-02-29 12:30 foo", "1.2.3", "13/13/2024", "29-Foo-2024",
        "2024-02-29T12:30+25:00", "12345", "0000-01-01", "2024-02-"})
    EXPECT_EQ(seconds(cell), std::nullopt) << cell;
}

TEST(Utf8, KnowsWhatIsWellFormed) {
  EXPECT_TRUE(utf8_valid(""));
  EXPECT_TRUE(utf8_valid(std::string(1000, 'x')));
  EXPECT_TRUE(utf8_valid("é€😀"));
  EXPECT_TRUE(utf8_valid(std::string(37, 'x') + "é" + std::string(40, 'y')));
  for (const auto* text : {"\x80", "\xc3", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                           "\xf8\x88\x80\x80\x80", "caf\xe9"})
    for (const int before : {0, 5, 33})
      EXPECT_FALSE(utf8_valid(std::string(static_cast<std::size_t>(before), 'a') + text)) << text;
  EXPECT_EQ(utf8_valid_prefix("abc\xff"
                              "def"),
            3u);
}

TEST(Utf8, PrintableIsShortAndWellFormed) {
  EXPECT_EQ(printable("a\tb\nc", 100), "a b c");
  EXPECT_EQ(printable("caf\xe9\x01", 100), "caf\ufffd\ufffd");
  EXPECT_EQ(printable("ééééé", 5), "éé…");
}

}  // namespace
}  // namespace samovar::ingest
