#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "base/assert.hpp"
#include "base/clock.hpp"
#include "base/rng.hpp"
#include "base/wall_difference.hpp"

namespace samovar {
namespace {

TEST(RealClock, MonotonicTimeNeverGoesBack) {
  MonoTime last = real_clock().mono();
  for (int i = 0; i < 1000; ++i) {
    const MonoTime now = real_clock().mono();
    EXPECT_GE(now, last);
    last = now;
  }
}

TEST(RealClock, WallTimeIsThisMillennium) {
  const std::chrono::sys_days floor = std::chrono::year(2024) / 1 / 1;
  const std::chrono::sys_days ceiling = std::chrono::year(3000) / 1 / 1;
  EXPECT_GT(real_clock().wall(), WallTime(floor));
  EXPECT_LT(real_clock().wall(), WallTime(ceiling));
}

TEST(WallDifference, IsExactOrTheLargestThatFits) {
  using std::chrono::microseconds;
  const auto at = [](std::int64_t micros) { return WallTime(microseconds(micros)); };
  EXPECT_EQ(wall_difference(at(5), at(3)), microseconds(2));
  EXPECT_EQ(wall_difference(at(3), at(5)), microseconds(-2));
  const Duration most = wall_difference(at(INT64_MAX), at(1'800'000'000'000'000));
  const Duration least = wall_difference(at(INT64_MIN), at(1'800'000'000'000'000));
  EXPECT_GT(most, std::chrono::hours(24 * 365 * 290));
  EXPECT_EQ(least, -most);
  EXPECT_EQ(wall_difference(at(INT64_MAX), at(INT64_MIN)), most);
}

TEST(SystemRng, FillsEveryByte) {
  // A byte that stays 0 through 64 draws would happen by luck once in 256^64.
  std::array<std::uint8_t, 1000> ever{};
  for (int i = 0; i < 64; ++i) {
    std::array<std::uint8_t, 1000> drawn{};
    system_rng().fill(drawn);
    for (std::size_t k = 0; k < drawn.size(); ++k) ever[k] |= drawn[k];
  }
  EXPECT_TRUE(std::none_of(ever.begin(), ever.end(), [](std::uint8_t b) { return b == 0; }));
  system_rng().fill({});
}

TEST(Rng, BelowStaysBelowAndReachesAll) {
  std::array<int, 7> seen{};
  for (int i = 0; i < 2000; ++i) {
    const auto n = system_rng().below(7);
    ASSERT_LT(n, 7U);
    ++seen[n];
  }
  for (const int count : seen) EXPECT_GT(count, 0);
  EXPECT_EQ(system_rng().below(1), 0U);
}

// Answers with what it is told, to see that values from the unfair end are drawn again.
class ScriptedRng : public Rng {
 public:
  explicit ScriptedRng(std::vector<std::uint64_t> values) : values_(std::move(values)) {}
  void fill(MutableBytes out) override {
    const std::uint64_t value = values_.at(next_++);
    SAMOVAR_ASSERT(out.size() <= sizeof value);
    std::copy_n(reinterpret_cast<const std::uint8_t*>(&value), out.size(), out.begin());
  }
  std::size_t drawn() const { return next_; }

 private:
  std::vector<std::uint64_t> values_;
  std::size_t next_ = 0;
};

TEST(Rng, BelowDrawsAgainWhereItWouldBeUnfair) {
  // 2^64 mod 3 is 1, so exactly the value 0 is unfair.
  ScriptedRng rng({0, 5});
  EXPECT_EQ(rng.below(3), 2U);
  EXPECT_EQ(rng.drawn(), 2U);
}

TEST(RngDeathTest, BelowZeroAsserts) { EXPECT_DEATH(system_rng().below(0), "bound > 0"); }

}  // namespace
}  // namespace samovar
