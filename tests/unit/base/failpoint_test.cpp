#include "base/failpoint.hpp"

#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>

#include "base/clock.hpp"

namespace samovar {
namespace {

Result<int> guarded() {
  SAMOVAR_FAILPOINT("test.plain");
  SAMOVAR_FAILPOINT_ERROR("test.error");
  return 1;
}

std::size_t shortened(std::size_t n) { return SAMOVAR_FAILPOINT_SHORT("test.short", n); }

class Failpoint : public testing::Test {
 protected:
  void SetUp() override {
    if (failpoint::names().empty()) GTEST_SKIP() << "compiled out";
  }
  void TearDown() override { failpoint::disarm_all(); }
};
using FailpointDeathTest = Failpoint;

TEST_F(Failpoint, DisarmedDoesNothing) {
  EXPECT_TRUE(guarded());
  EXPECT_EQ(shortened(10), 10U);
}

TEST_F(Failpoint, NamesListsEveryPointOnce) {
  const auto names = failpoint::names();
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  for (const char* name : {"test.plain", "test.error", "test.short", "disk.write", "disk.sync.before",
                           "disk.sync.after", "disk.rename.before", "disk.rename.after"}) {
    EXPECT_EQ(std::count(names.begin(), names.end(), name), 1) << name;
  }
}

TEST_F(Failpoint, ErrorReturnsFromTheFunction) {
  ASSERT_TRUE(failpoint::arm("test.error=error"));
  const auto r = guarded();
  ASSERT_FALSE(r);
  EXPECT_EQ(r.error().code(), Errc::io);
  EXPECT_EQ(r.error().message(), "failpoint test.error");
  failpoint::disarm_all();
  EXPECT_TRUE(guarded());
}

TEST_F(Failpoint, ErrorCarriesTheCodeAskedFor) {
  ASSERT_TRUE(failpoint::arm("test.error=error:no_space"));
  EXPECT_EQ(guarded().error().code(), Errc::no_space);
}

TEST_F(Failpoint, ErrorWithoutAnErrorPathIsIgnored) {
  ASSERT_TRUE(failpoint::arm("test.plain=error"));
  EXPECT_TRUE(guarded());
}

TEST_F(Failpoint, FiresOnlyAtTheHitAskedFor) {
  ASSERT_TRUE(failpoint::arm("test.error=error@3"));
  for (int hit = 1; hit <= 5; ++hit) EXPECT_EQ(guarded().has_value(), hit != 3) << hit;
}

TEST_F(Failpoint, ShortMakesItSmaller) {
  ASSERT_TRUE(failpoint::arm("test.short=short:4"));
  EXPECT_EQ(shortened(10), 4U);
  EXPECT_EQ(shortened(3), 3U);
}

TEST_F(Failpoint, DelayWaits) {
  ASSERT_TRUE(failpoint::arm("test.plain=delay:20@1"));
  const MonoTime before = real_clock().mono();
  EXPECT_TRUE(guarded());
  EXPECT_GE(real_clock().mono() - before, std::chrono::milliseconds(20));
}

TEST_F(Failpoint, ArmsSeveralAtOnce) {
  ASSERT_TRUE(failpoint::arm("test.error=error@2,test.short=short:1"));
  EXPECT_EQ(shortened(5), 1U);
  EXPECT_TRUE(guarded());
  EXPECT_FALSE(guarded());
}

TEST_F(Failpoint, RearmingReplaces) {
  ASSERT_TRUE(failpoint::arm("test.error=error"));
  ASSERT_TRUE(failpoint::arm("test.error=error@2"));
  EXPECT_TRUE(guarded());
  EXPECT_FALSE(guarded());
}

TEST_F(Failpoint, RefusesWhatItDoesNotUnderstand) {
  for (const char* bad :
       {"x", "=crash", "test.error=", "test.error=explode", "test.error=delay", "test.error=delay:x",
        "test.error=short", "test.error=error:sad", "test.error=crash:1", "test.error=error@0",
        "test.error=error@x", "test.error=error@"}) {
    const auto r = failpoint::arm(bad);
    ASSERT_FALSE(r) << bad;
    EXPECT_EQ(r.error().code(), Errc::invalid) << bad;
  }
  EXPECT_EQ(failpoint::arm("no.such.point=crash").error().code(), Errc::not_found);
  EXPECT_TRUE(failpoint::arm(""));
}

TEST_F(FailpointDeathTest, CrashKillsWithoutCleaningUp) {
  EXPECT_EXIT(
      {
        ignore(failpoint::arm("test.plain=crash@2"), "the exit says it all");
        ignore(guarded(), "first hit");
        ignore(guarded(), "second hit");
      },
      testing::KilledBySignal(SIGKILL), "");
}

TEST_F(FailpointDeathTest, PanicSaysWhere) {
  EXPECT_DEATH(
      {
        ignore(failpoint::arm("test.plain=panic"), "the exit says it all");
        ignore(guarded(), "panics");
      },
      "failpoint test.plain: panic");
}

}  // namespace
}  // namespace samovar
