#include "daemon/jobs/priority.hpp"
#include "base/json.hpp"

#include <gtest/gtest.h>

namespace samovar::jobs {
namespace {

TEST(Priority, IsAWordOrANumber) {
  EXPECT_EQ(parse_priority("low"), -10);
  EXPECT_EQ(parse_priority("normal"), 0);
  EXPECT_EQ(parse_priority("high"), 10);
  EXPECT_EQ(parse_priority(-100), -100);
  EXPECT_EQ(parse_priority(100u), 100);
}

TEST(Priority, NothingElse) {
  using nlohmann::json;
  for (const json& bad : {json("urgent"), json(101), json(-101), json(1.5), json(UINT64_MAX), json(INT64_MIN),
                          json(true), json(nullptr), json::array()})
    EXPECT_FALSE(parse_priority(bad)) << bad;
}

}  // namespace
}  // namespace samovar::jobs
