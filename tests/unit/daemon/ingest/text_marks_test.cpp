#include "daemon/ingest/text_marks.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace samovar::ingest {
namespace {

constexpr MarksVariant kVariants[] = {MarksVariant::portable, MarksVariant::narrow, MarksVariant::avx2,
                                      MarksVariant::avx512};

TEST(TextMarks, EveryVariantFindsTheSame) {
  std::mt19937_64 random(7);
  // Of bytes that are not ASCII, those too that would be marks without their topmost bit.
  const std::string alphabet("abc,,,\n\"\t \xc3\0\x8a\xac\x89\xa2\x80", 18);
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    const std::size_t bytes = random() % 300;
    const std::size_t letters = 3 + random() % 16;
    for (std::size_t i = 0; i < bytes; ++i) text += alphabet[random() % letters];
    const std::size_t begin = bytes == 0 ? 0 : random() % bytes;
    const TextMarks marks{round % 7 == 0 ? '\xac' : round % 2 == 0 ? ',' : '\t', '\n', '"'};
    std::vector<std::uint32_t> want;
    TextTraits traits_want;
    for (std::size_t i = begin; i < bytes; ++i) {
      if (text[i] == marks.first || text[i] == '\n') want.push_back(static_cast<std::uint32_t>(i));
      traits_want.quote |= text[i] == '"';
      traits_want.nul |= text[i] == '\0';
      traits_want.high |= static_cast<unsigned char>(text[i]) >= 0x80;
      traits_want.blank |= text[i] == ' ' || (text[i] == '\t' && marks.first != '\t');
    }
    // What stands behind the end must not count.
    text += std::string(kTextSlack, round % 3 == 0 ? ',' : '"');
    for (const MarksVariant variant : kVariants) {
      if (!marks_variant_runs(variant)) continue;
      std::vector<std::uint32_t> got(bytes - begin + 64);
      TextTraits traits;
      got.resize(find_marks_with(variant, text.data(), begin, bytes, marks, got.data(), traits));
      EXPECT_EQ(got, want) << static_cast<int>(variant);
      EXPECT_EQ(traits.quote, traits_want.quote);
      EXPECT_EQ(traits.nul, traits_want.nul);
      EXPECT_EQ(traits.high, traits_want.high);
      EXPECT_EQ(traits.blank, traits_want.blank);
    }
  }
}

TEST(TextMarks, LineEndsAreThoseOfALoop) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    const std::size_t bytes = random() % 700;
    const std::size_t rare = 1 + random() % 200;  // many ends in 64 bytes, and none in many
    for (std::size_t i = 0; i < bytes; ++i) {
      const std::size_t luck = random() % (rare + 2);
      text += luck == 0 ? '\n' : luck == 1 && round % 4 == 0 ? '"' : 'x';
    }
    const std::size_t begin = bytes == 0 ? 0 : random() % bytes;
    std::vector<std::uint32_t> want;
    for (std::size_t i = begin; i < bytes; ++i) {
      if (text[i] == '\n') want.push_back(static_cast<std::uint32_t>(i));
    }
    const bool quote_want = text.find('"', begin) != std::string::npos;
    text += std::string(kTextSlack, round % 3 == 0 ? '\n' : '"');
    std::vector<std::uint32_t> got(bytes - begin + 64);
    bool quote = false;
    got.resize(find_line_ends(text.data(), begin, bytes, '\n', '"', got.data(), quote));
    EXPECT_EQ(got, want);
    EXPECT_EQ(quote, quote_want);
  }
}

}  // namespace
}  // namespace samovar::ingest
