#include "daemon/api/text.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace samovar::api {
namespace {

TEST(Text, Utf8IsTakenAndItsForgeriesAreNot) {
  EXPECT_TRUE(is_utf8("plain"));
  EXPECT_TRUE(is_utf8("gr\xc3\xbc\xc3\x9f"));
  EXPECT_TRUE(is_utf8("\xf0\x9f\xab\x96"));
  EXPECT_FALSE(is_utf8("\xc0\xaf")) << "overlong slash";
  EXPECT_FALSE(is_utf8("\xe0\x80\xaf")) << "overlong slash in three";
  EXPECT_FALSE(is_utf8("\xed\xa0\x80")) << "surrogate";
  EXPECT_FALSE(is_utf8("\xf4\x90\x80\x80")) << "past U+10FFFF";
  EXPECT_FALSE(is_utf8("\xc3")) << "cut short";
  EXPECT_FALSE(is_utf8("\x80")) << "no lead";
}

TEST(Text, ItemsAreTrimmedAndEmptyOnesDropped) {
  std::vector<std::string_view> items;
  for_each_item(" gzip ,, br;q=1\t,", [&](std::string_view item) { items.push_back(item); });
  EXPECT_EQ(items, (std::vector<std::string_view>{"gzip", "br;q=1"}));
}

TEST(Text, TokensHaveNoSeparators) {
  for (const char c : std::string_view("aZ09!#$%&'*+-.^_`|~")) EXPECT_TRUE(is_token(c)) << c;
  for (const char c : std::string_view("()<>@,;:\\\"/[]?={} \t\x7f\0", 21))
    EXPECT_FALSE(is_token(c)) << int(c);
}

}  // namespace
}  // namespace samovar::api
