#include "base/utf8.hpp"

#include <gtest/gtest.h>

namespace samovar {
namespace {

TEST(Utf8, IsTakenAndItsForgeriesAreNot) {
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

}  // namespace
}  // namespace samovar
