#include "daemon/api/rate_limiter.hpp"

#include <gtest/gtest.h>

#include <string>

namespace samovar::api {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(RateLimiter, BurstThenRate) {
  RateLimiter limiter(10, 3);
  const MonoTime start = seconds(100);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(limiter.allow("a", start));
  EXPECT_FALSE(limiter.allow("a", start));
  EXPECT_FALSE(limiter.allow("a", start + milliseconds(90)));
  EXPECT_TRUE(limiter.allow("a", start + milliseconds(210)));
  EXPECT_TRUE(limiter.allow("b", start)) << "others are not touched";
}

TEST(RateLimiter, NeverSavesMoreThanTheBurst) {
  RateLimiter limiter(10, 2);
  EXPECT_TRUE(limiter.allow("a", seconds(1)));
  int allowed = 0;
  for (int i = 0; i < 10; ++i) allowed += limiter.allow("a", seconds(1000)) ? 1 : 0;
  EXPECT_EQ(allowed, 2);
}

TEST(RateLimiter, MemoryIsBounded) {
  RateLimiter limiter(1, 1);
  for (int i = 0; i < 20000; ++i) limiter.allow(std::to_string(i), seconds(1));
  EXPECT_LE(limiter.size(), RateLimiter::kAddressesMax);
}

}  // namespace
}  // namespace samovar::api
