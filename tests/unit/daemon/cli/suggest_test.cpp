#include "daemon/cli/suggest.hpp"

#include <gtest/gtest.h>

namespace samovar::cli {
namespace {

TEST(Suggest, CountsSlipsOfTheFinger) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("status", "status"), 0U);
  EXPECT_EQ(edit_distance("statsu", "status"), 1U);  // swapped neighbours are one slip
  EXPECT_EQ(edit_distance("stats", "status"), 1U);
  EXPECT_EQ(edit_distance("abc", "xyz"), 3U);
}

TEST(Suggest, OffersTheNearestOrNothing) {
  const std::vector<std::string_view> known = {"login", "logout", "nodes", "completion"};
  EXPECT_EQ(nearest("logn", known), "login");
  EXPECT_EQ(nearest("logotu", known), "logout");
  EXPECT_EQ(nearest("node", known), "nodes");
  EXPECT_EQ(nearest("comp", known), "completion");
  EXPECT_EQ(nearest("frobnicate", known), "");
  EXPECT_EQ(nearest("", known), "");
  EXPECT_EQ(nearest(std::string(100000, 'x'), known), "");
}

TEST(Suggest, SplitsAtBars) {
  EXPECT_EQ(split_words("").size(), 0U);
  const auto words = split_words("a|bc|d");
  ASSERT_EQ(words.size(), 3U);
  EXPECT_EQ(words[1], "bc");
}

}  // namespace
}  // namespace samovar::cli
