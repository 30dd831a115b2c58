#include <gtest/gtest.h>

#include <cmath>

#include "base/sim/sim_rng.hpp"
#include "daemon/power/history.hpp"

namespace samovar::power {
namespace {

constexpr std::int64_t kT0 = 1'767'225'600;

WallTime at(std::int64_t second) { return WallTime{} + std::chrono::seconds(second); }

History filled(std::int64_t from, std::int64_t count, double watts) {
  History history;
  SimRng rng(3);
  for (std::int64_t i = 0; i < count; ++i) {
    Sample s;
    s.t = at(from + i);
    s.covers_s = 1;
    s.cpu = static_cast<double>(rng.below(1000)) / 1000;
    if (rng.below(2) == 0) s.watts = watts;
    s.mem_used_bytes = 1 << 30;
    history.add(s);
  }
  return history;
}

TEST(HistoryCodec, DecodeGivesBackWhatWasEncoded) {
  const History history = filled(kT0, 5000, 7);
  const Bytes bytes = history.encode();
  const auto again = History::decode(bytes);
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_EQ(again->encode(), bytes);
  EXPECT_DOUBLE_EQ(again->energy(at(kT0), at(kT0 + 5000)).joules,
                   history.energy(at(kT0), at(kT0 + 5000)).joules);
}

TEST(HistoryCodec, EmptyHistoryRoundTrips) {
  const auto again = History::decode(History().encode());
  ASSERT_TRUE(again);
  EXPECT_EQ(again->encode(), History().encode());
}

TEST(HistoryCodec, EveryTruncationIsNoticed) {
  const Bytes bytes = filled(kT0, 3, 7).encode();
  for (std::size_t n = 0; n < bytes.size(); ++n) EXPECT_FALSE(History::decode(ByteView(bytes).first(n))) << n;
  Bytes longer = bytes;
  longer.push_back(0);
  EXPECT_FALSE(History::decode(longer));
}

TEST(HistoryCodec, AnotherVersionSaysSo) {
  Bytes bytes = History().encode();
  bytes[4] = 2;
  const auto decoded = History::decode(bytes);
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().code(), Errc::unsupported);
}

TEST(HistoryCodec, FlippedBytesNeverGiveANumberThatIsNone) {
  const Bytes bytes = filled(kT0, 3, 7).encode();
  for (std::size_t i = 0; i < bytes.size(); i += 5) {  // 5 meets every field of a slot in turn
    Bytes bad = bytes;
    bad[i] ^= 0xff;
    if (const auto decoded = History::decode(bad)) {
      const Energy e = decoded->energy(at(kT0), at(kT0 + 600));
      EXPECT_TRUE(std::isfinite(e.joules)) << i;
    }
  }
}

TEST(HistoryCodec, AMetricOfANewerVersionIsLeftOut) {
  Bytes bytes = filled(kT0, 20, 7).encode();
  // Rename "cpu" (the first column) to a metric that this version does not know.
  ASSERT_EQ(as_text(ByteView(bytes).subspan(7, 3)), "cpu");
  bytes[7] = 'x';
  const auto decoded = History::decode(bytes);
  ASSERT_TRUE(decoded) << decoded.error().message();
  const auto table = decoded->query({{"cpu", "mem_used_bytes"}, at(kT0), at(kT0 + 20), 1});
  ASSERT_TRUE(table);
  EXPECT_TRUE(std::isnan(table->cols[1][3]));
  EXPECT_EQ(table->cols[2][3], 1 << 30);
}

TEST(HistoryCodec, MergeJoinsAStepThatARestartCutInTwo) {
  const std::int64_t t0 = kT0 / 300 * 300;
  History whole;
  History first;
  History second;
  for (std::int64_t i = 0; i < 300; ++i) {
    Sample s;
    s.t = at(t0 + i);
    s.covers_s = 1;
    s.cpu = static_cast<double>(i) / 300;
    s.watts = static_cast<double>(i);
    whole.add(s);
    (i < 117 ? first : second).add(s);
  }
  second.merge(*History::decode(first.encode()));
  for (const std::uint32_t step : {1U, 10U, 300U}) {
    const HistoryQuery query{{"cpu", "watts", "watts_max"}, at(t0), at(t0 + 300), step};
    const HistoryTable a = *whole.query(query);
    const HistoryTable b = *second.query(query);
    for (std::size_t c = 0; c < a.cols.size(); ++c)
      for (std::size_t i = 0; i < a.cols[c].size(); ++i)
        EXPECT_NEAR(a.cols[c][i], b.cols[c][i], 2e-3) << c << " " << i;
  }
  EXPECT_NEAR(second.energy(at(t0), at(t0 + 300)).joules, whole.energy(at(t0), at(t0 + 300)).joules, 0.1);
}

TEST(HistoryCodec, MergeAfterASleepIn1970KeepsTheOldDays) {
  const History old = filled(kT0, 3600, 7);
  History now = filled(50, 60, 7);  // a board without a clock battery, before its unlock
  now.merge(old);
  const auto table = now.query({{"mem_used_bytes"}, at(kT0), at(kT0 + 3600), 10});
  ASSERT_TRUE(table);
  for (const double v : table->cols[1]) EXPECT_EQ(v, 1 << 30);
}

}  // namespace
}  // namespace samovar::power
