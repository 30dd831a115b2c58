#include "base/ids.hpp"

#include <gtest/gtest.h>

#include <set>

#include "base/sim/sim_clock.hpp"
#include "base/sim/sim_rng.hpp"

namespace samovar {
namespace {

using namespace std::chrono_literals;

TEST(Ids, HaveThePrefixAndForm) {
  SimClock clock;
  SimRng rng(1);
  const std::string id = new_id("usr", clock, rng);
  EXPECT_EQ(id.size(), 4 + kUlidChars);
  EXPECT_TRUE(is_id("usr", id)) << id;
  EXPECT_FALSE(is_id("tok", id));
}

TEST(Ids, SortByAge) {
  SimClock clock;
  SimRng rng(2);
  std::string last = new_ulid(clock, rng);
  for (int i = 0; i < 2000; ++i) {
    clock.advance(i % 10 == 0 ? Duration(1h) : Duration(1ms));
    const std::string next = new_ulid(clock, rng);
    EXPECT_LT(last, next);
    last = next;
  }
}

// The example of the ULID specification.
TEST(Ids, EncodeTheTimeAsTheSpecificationDoes) {
  SimClock clock{WallTime(1469918176385ms)};
  clock.set_mono(0s);
  SimRng rng(3);
  EXPECT_EQ(new_ulid(clock, rng).substr(0, 10), "01ARYZ6S41");
}

TEST(Ids, DoNotRepeatWithinAMillisecond) {
  SimClock clock;
  std::set<std::string> seen;
  for (int i = 0; i < 10000; ++i) seen.insert(new_ulid(clock, system_rng()));
  EXPECT_EQ(seen.size(), 10000U);
}

TEST(Ids, IsIdRefusesOtherText) {
  EXPECT_TRUE(is_id("a", "a_01ARYZ6S410000000000000000"));
  for (const char* bad :
       {"", "a", "a_", "a_01ARYZ6S41000000000000000", "a_01ARYZ6S4100000000000000000",
        "a-01ARYZ6S410000000000000000", "a_01ARYZ6S41000000000000000u", "a_01ARYZ6S41000000000000000U",
        "a_81ARYZ6S410000000000000000", "a_01ARYZ6S41000000000000000\n"}) {
    EXPECT_FALSE(is_id("a", bad)) << bad;
  }
}

TEST(Times, FormatIsFixedWidthUtc) {
  EXPECT_EQ(format_time(WallTime(0us)), "1970-01-01T00:00:00.000000Z");
  EXPECT_EQ(format_time(WallTime(1767225845000006us)), "2026-01-01T00:04:05.000006Z");
  EXPECT_EQ(format_time(WallTime(-1us)), "1969-12-31T23:59:59.999999Z");
  EXPECT_EQ(format_time(WallTime(951782400s)), "2000-02-29T00:00:00.000000Z");
}

TEST(Times, ParseTakesRfc3339) {
  EXPECT_EQ(*parse_time("1970-01-01T00:00:00Z"), WallTime(0us));
  EXPECT_EQ(*parse_time("1985-04-12t23:20:50.52z"), WallTime(482196050520ms));
  EXPECT_EQ(*parse_time("1996-12-19T16:39:57-08:00"), *parse_time("1996-12-20T00:39:57Z"));
  EXPECT_EQ(*parse_time("1937-01-01T12:00:27.87+00:20"), *parse_time("1937-01-01T11:40:27.870Z"));
  EXPECT_EQ(*parse_time("2016-12-31T23:59:60Z"), *parse_time("2017-01-01T00:00:00Z"));
  EXPECT_EQ(*parse_time("2026-01-01T00:00:00.1234567899Z"), *parse_time("2026-01-01T00:00:00.123456Z"));
}

TEST(Times, RoundTrip) {
  SimRng rng(4);
  for (int i = 0; i < 2000; ++i) {
    const WallTime t{
        std::chrono::microseconds(static_cast<std::int64_t>(rng.below(253'000'000'000'000'000)))};
    const auto back = parse_time(format_time(t));
    ASSERT_TRUE(back) << format_time(t);
    EXPECT_EQ(*back, t);
  }
}

TEST(Times, ParseRefusesEverythingElse) {
  for (const char* bad : {"",
                          "2026",
                          "2026-01-01",
                          "2026-01-01 00:00:00Z",
                          "2026-01-01T00:00Z",
                          "2026-01-01T00:00:00",
                          "2026-13-01T00:00:00Z",
                          "2026-00-01T00:00:00Z",
                          "2026-02-29T00:00:00Z",
                          "2026-01-32T00:00:00Z",
                          "2026-01-01T24:00:00Z",
                          "2026-01-01T00:60:00Z",
                          "2026-01-01T00:00:61Z",
                          "2026-01-01T00:00:00.Z",
                          "2026-01-01T00:00:00+24:00",
                          "2026-01-01T00:00:00+0100",
                          "2026-01-01T00:00:00Zx",
                          "0000-01-01T00:00:00Z",
                          "+026-01-01T00:00:00Z",
                          "2026-01-01T00:00:00 Z",
                          "2026-1-01T00:00:00Z",
                          "2026-01-01T-1:00:00Z",
                          "0001-01-01T00:00:00+00:01",
                          "9999-12-31T23:59:60Z"}) {
    EXPECT_FALSE(parse_time(bad)) << bad;
  }
  EXPECT_EQ(parse_time("yesterday").error().code(), Errc::invalid);
}

}  // namespace
}  // namespace samovar
