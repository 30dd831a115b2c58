#include "daemon/api/text.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace samovar::api {
namespace {

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
