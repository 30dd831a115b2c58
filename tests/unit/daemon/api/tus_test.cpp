#include "daemon/api/tus.hpp"

#include <gtest/gtest.h>

namespace samovar::api {
namespace {

TEST(TusNumber, TakesDigitsOnly) {
  EXPECT_EQ(parse_tus_number("0"), 0U);
  EXPECT_EQ(parse_tus_number("10737418240"), 10737418240U);
  EXPECT_EQ(parse_tus_number("9007199254740992"), 1ULL << 53);
  for (const char* bad :
       {"", "-1", "+1", " 1", "1 ", "1.0", "0x10", "9007199254740993", "99999999999999999999"})
    EXPECT_FALSE(parse_tus_number(bad)) << bad;
}

TEST(TusMetadata, IsPairsOfKeyAndBase64) {
  const auto parsed = parse_tus_metadata("filename d29ybGQudHh0, is_confidential ,type dGV4dA==");
  ASSERT_TRUE(parsed) << parsed.error().message();
  const TusMetadata expected = {{"filename", "world.txt"}, {"is_confidential", ""}, {"type", "text"}};
  EXPECT_EQ(*parsed, expected);
  EXPECT_TRUE(parse_tus_metadata("")->empty());
}

TEST(TusMetadata, RefusesWhatIsNot) {
  for (const char* bad :
       {",", "filename d29ybGQudHh0,", "filename d29", "filename d29ybGQudHh0 x", "filename ????",
        "filename d2-_", "filename ====", "filename d29y====", "a YQ==,a Yg==", "\xc3\xbc YQ=="})
    EXPECT_FALSE(parse_tus_metadata(bad)) << bad;
}

TEST(TusMetadata, SurvivesTheWayThereAndBack) {
  const TusMetadata there = {{"filename", "../../etc/пароль\n"}, {"empty", ""}, {"type", "a"}, {"b", "ab"}};
  EXPECT_EQ(parse_tus_metadata(format_tus_metadata(there)).value(), there);
}

TEST(FileName, IsAnyTextOf255Bytes) {
  EXPECT_TRUE(is_file_name("a"));
  EXPECT_TRUE(is_file_name("../../../etc/passwd"));
  EXPECT_TRUE(is_file_name("C:\\данные\n.csv"));
  EXPECT_TRUE(is_file_name(std::string(255, 'x')));
  EXPECT_FALSE(is_file_name(""));
  EXPECT_FALSE(is_file_name(std::string(256, 'x')));
  EXPECT_FALSE(is_file_name("\xff"));
  EXPECT_FALSE(is_file_name(std::string_view("a\0b", 3)));
}

TEST(TusContent, IsTheOneType) {
  EXPECT_TRUE(is_tus_content("application/offset+octet-stream"));
  EXPECT_TRUE(is_tus_content("Application/Offset+Octet-Stream; x=y"));
  EXPECT_FALSE(is_tus_content("application/octet-stream"));
  EXPECT_FALSE(is_tus_content("text/plain"));
  EXPECT_FALSE(is_tus_content(""));
}

}  // namespace
}  // namespace samovar::api
