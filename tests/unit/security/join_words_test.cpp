#include "security/join_words.hpp"

#include <gtest/gtest.h>

#include <set>

#include "base/sim/sim_rng.hpp"
#include "tests/unit/security/join_pair.hpp"

namespace samovar::security {
namespace {

TEST(JoinWords, TheListIsShortSortedAndToldApartByThreeLetters) {
  std::set<std::string> prefixes;
  for (std::size_t i = 0; i < kWordListSize; ++i) {
    const std::string word(join_word(i));
    ASSERT_GE(word.size(), 3u);
    ASSERT_LE(word.size(), 8u) << word;
    ASSERT_EQ(word.find_first_not_of("abcdefghijklmnopqrstuvwxyz"), std::string::npos) << word;
    if (i > 0) {
      ASSERT_LT(join_word(i - 1), join_word(i));
    }
    prefixes.insert(word.substr(0, 3));
  }
  EXPECT_EQ(prefixes.size(), kWordListSize);
}

TEST(JoinWords, WhatIsMadeIsParsedHoweverItIsTyped) {
  SimRng rng(7);
  std::set<std::string> made;
  for (int i = 0; i < 200; ++i) {
    const std::string words = make_join_words(rng);
    made.insert(words);
    ASSERT_EQ(*parse_join_words(words), words);
    std::string shouted = "  ";
    for (const char c : words)
      shouted += c == '-' ? std::string(" ,  ") : std::string(1, static_cast<char>(c & ~0x20));
    ASSERT_EQ(*parse_join_words(shouted), words);
  }
  EXPECT_EQ(made.size(), 200u);
}

TEST(JoinWords, ThreeLettersOfAWordAreEnoughAndWrongOnesAreNamed) {
  const std::string words = std::string(join_word(10)) + "-" + std::string(join_word(200)) + "-" +
                            std::string(join_word(500)) + "-" + std::string(join_word(900)) + "-" +
                            std::string(join_word(1295));
  std::string cut;
  for (const std::size_t i : {10, 200, 500, 900, 1295}) cut += std::string(join_word(i).substr(0, 3)) + " ";
  EXPECT_EQ(*parse_join_words(cut), words);
  const auto wrong = parse_join_words(std::string(join_word(10)) + " xylophon " + std::string(join_word(3)));
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().message().find("xylophon"), std::string::npos);
  const auto longer = parse_join_words(std::string(join_word(10)) + "s");
  ASSERT_FALSE(longer);
  const auto few = parse_join_words(std::string(join_word(10)) + " " + std::string(join_word(11)));
  ASSERT_FALSE(few);
  EXPECT_NE(few.error().message().find("2"), std::string::npos);
  EXPECT_FALSE(parse_join_words(""));
  EXPECT_FALSE(parse_join_words(std::string(1000, 'a')));
  EXPECT_FALSE(parse_join_words("a\xff\x01"));
}

TEST(JoinWords, TheKeyFollowsFromTheWordsAlone) {
  const auto one = words_key("able-acid-acorn-acre-act", kTestCost);
  const auto same = words_key("able-acid-acorn-acre-act", kTestCost);
  const auto other = words_key("able-acid-acorn-acre-add", kTestCost);
  ASSERT_TRUE(one && same && other);
  EXPECT_TRUE(one->equal(*same));
  EXPECT_FALSE(one->equal(*other));
  EXPECT_EQ(one->size(), 32u);
}

TEST(JoinWords, TheDigestIsThatOfOneAuthorityOnly) {
  const TestCluster cluster;
  const TestCluster other;
  std::string digest = ca_digest(cluster.ca);
  EXPECT_EQ(digest.size(), 14u);
  EXPECT_TRUE(ca_digest_matches(digest, cluster.ca));
  EXPECT_FALSE(ca_digest_matches(digest, other.ca));
  for (char& c : digest) c = static_cast<char>(c >= 'a' && c <= 'z' ? c & ~0x20 : c);
  EXPECT_TRUE(ca_digest_matches(" " + digest, cluster.ca));
  EXPECT_FALSE(ca_digest_matches(digest.substr(0, 12), cluster.ca));
  EXPECT_FALSE(ca_digest_matches("", cluster.ca));
}

}  // namespace
}  // namespace samovar::security
