#include "base/result.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace samovar {
namespace {

Result<int> half(int n) {
  if (n % 2 != 0) return Error{Errc::invalid, "odd"};
  return n / 2;
}

Result<int> quarter(int n) {
  SAMOVAR_TRY(const int once, half(n));
  SAMOVAR_TRY(const int twice, half(once));
  return twice;
}

Result<void> check_even(int n) {
  SAMOVAR_TRY([[maybe_unused]] int unused, half(n));
  return {};
}

Result<int> both(int a, int b) {
  SAMOVAR_CHECK(check_even(a));
  SAMOVAR_CHECK(check_even(b));
  return a + b;
}

TEST(Result, HoldsAValue) {
  Result<int> r = 7;
  ASSERT_TRUE(r);
  EXPECT_EQ(*r, 7);
  EXPECT_EQ(r.value_or(1), 7);
}

TEST(Result, HoldsAnErrorWithItsPlace) {
  const Result<int> r = Error{Errc::busy, "later"};
  ASSERT_FALSE(r);
  EXPECT_EQ(r.error().code(), Errc::busy);
  EXPECT_EQ(r.error().message(), "later");
  EXPECT_NE(std::string(r.error().file()).find("result_test.cpp"), std::string::npos);
  EXPECT_GT(r.error().line(), 0);
  EXPECT_EQ(r.value_or(1), 1);
}

TEST(Result, TryReturnsTheFirstError) {
  EXPECT_EQ(*quarter(8), 2);
  EXPECT_EQ(quarter(7).error().message(), "odd");
  EXPECT_EQ(quarter(6).error().code(), Errc::invalid);
}

TEST(Result, CheckReturnsTheFirstError) {
  EXPECT_EQ(*both(2, 4), 6);
  EXPECT_FALSE(both(2, 3));
  EXPECT_FALSE(both(3, 2));
}

TEST(Result, MovesOutMoveOnlyValues) {
  Result<std::unique_ptr<int>> r = std::make_unique<int>(5);
  const std::unique_ptr<int> taken = *std::move(r);
  EXPECT_EQ(*taken, 5);
}

TEST(Result, WithinPutsTheDeedInFront) {
  EXPECT_EQ((Error{Errc::io, "no disk"}.within("saving").within("set-up")).message(),
            "set-up: saving: no disk");
}

TEST(Result, EveryCodeHasAName) {
  for (int i = 0; i <= static_cast<int>(Errc::internal); ++i) {
    EXPECT_NE(to_string(static_cast<Errc>(i)), "unknown") << i;
  }
  EXPECT_EQ(to_string(Errc::no_space), "no_space");
}

TEST(ResultDeathTest, ReadingTheWrongSideAsserts) {
  const Result<int> error = Error{Errc::io, "x"};
  const Result<int> value = 1;
  const Result<void> nothing;
  EXPECT_DEATH(static_cast<void>(error.value()), "assertion failed");
  EXPECT_DEATH(static_cast<void>(value.error()), "assertion failed");
  EXPECT_DEATH(static_cast<void>(nothing.error()), "assertion failed");
}

}  // namespace
}  // namespace samovar
