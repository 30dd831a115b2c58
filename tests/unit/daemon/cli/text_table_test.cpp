#include "daemon/cli/text_table.hpp"

#include <gtest/gtest.h>

namespace samovar::cli {
namespace {

TEST(TextTable, WidthIsThatOfTheTerminal) {
  EXPECT_EQ(display_width("abc"), 3U);
  EXPECT_EQ(display_width("Größe"), 5U);
  EXPECT_EQ(display_width("самовар"), 7U);
  EXPECT_EQ(display_width("日本"), 4U);
  EXPECT_EQ(display_width("e\xCC\x81"), 1U);  // e with a combining acute
  EXPECT_EQ(display_width("🫖a"), 3U);
  EXPECT_EQ(display_width("\xFF\xFE"), 2U);  // broken bytes take one column each, as U+FFFD
}

TEST(TextTable, NothingFromTheServerMovesTheCursor) {
  EXPECT_EQ(printable("a\x1b[2Jb"), "a\xEF\xBF\xBD[2Jb");
  EXPECT_EQ(printable("a\nb"),
            "a\xEF\xBF\xBD"
            "b");
  EXPECT_EQ(printable("a\nb", true), "a\nb");
  EXPECT_EQ(printable("\xC2\x9B"
                      "31m"),
            "\xEF\xBF\xBD"
            "31m");                                                              // the one-byte CSI, in UTF-8
  EXPECT_EQ(printable("x\xE2\x80\xAEy"), "x\xEF\xBF\xBDy");                      // right-to-left override
  EXPECT_EQ(printable("\xC0\xAF"), "\xEF\xBF\xBD\xEF\xBF\xBD");                  // overlong slash
  EXPECT_EQ(printable("\xED\xA0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");  // lone surrogate
  EXPECT_EQ(printable("наука 日本 é"), "наука 日本 é");
}

TEST(TextTable, ColumnsLineUpForAnyScript) {
  const std::string text = format_table({{"NAME"}, {"SIZE", Align::right}, {"STATE"}},
                                        {{"日本", "5", "up"}, {"Größe", "1234", ""}});
  EXPECT_EQ(text,
            "NAME   SIZE  STATE\n"
            "日本      5  up\n"
            "Größe  1234\n");
}

TEST(TextTable, ColourTakesNoRoom) {
  const std::string text = format_table({{"A"}, {"B"}}, {{"up", "x"}}, {{"\x1b[32m", ""}});
  EXPECT_EQ(text, "A   B\n\x1b[32mup\x1b[0m  x\n");
}

TEST(TextTable, CutsAtColumnsNotBytes) {
  EXPECT_EQ(truncate("short", 5), "short");
  EXPECT_EQ(truncate("longer", 5), "long…");
  EXPECT_EQ(truncate("日本語", 4), "日…");
  EXPECT_EQ(truncate("abc", 0), "");
}

TEST(TextTable, CsvIsQuotedAndRunsNoFormula) {
  EXPECT_EQ(csv_cell("plain"), "plain");
  EXPECT_EQ(csv_cell("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_cell("say \"hi\""), "\"say \"\"hi\"\"\"");
  EXPECT_EQ(csv_cell("=cmd()"), "'=cmd()");
  EXPECT_EQ(csv_cell("@x"), "'@x");
  EXPECT_EQ(csv_cell("-1.5"), "-1.5");
  EXPECT_EQ(csv_cell("-1+cmd"), "'-1+cmd");
}

TEST(TextTable, AmountsForPeople) {
  EXPECT_EQ(human_bytes(0), "0 B");
  EXPECT_EQ(human_bytes(1536), "1.5 KiB");
  EXPECT_EQ(human_bytes(64.0 * 1024 * 1024 * 1024), "64.0 GiB");
  EXPECT_EQ(human_duration(59), "59 s");
  EXPECT_EQ(human_duration(61), "1 min 1 s");
  EXPECT_EQ(human_duration(93784), "1 d 2 h");
  EXPECT_EQ(human_duration(-5), "0 s");
}

TEST(TextTable, DigitsToBeReadAcrossARoom) {
  EXPECT_EQ(large_digits("482917", false), "  482 917\n");
  EXPECT_EQ(large_digits("", false), "  \n");
  EXPECT_EQ(large_digits("17", true),
            "    ██        ██████\n"
            "  ████            ██\n"
            "    ██            ██\n"
            "    ██            ██\n"
            "  ██████          ██\n"
            "\n  17\n");
}

}  // namespace
}  // namespace samovar::cli
