#include "daemon/power/history.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "base/sim/sim_rng.hpp"
#include "daemon/power/history_metrics.hpp"

namespace samovar::power {
namespace {

using std::chrono::seconds;

constexpr std::int64_t kT0 = 1'767'225'600;  // 2026-01-01

WallTime at(std::int64_t second) { return WallTime{} + seconds(second); }

Sample sample(std::int64_t second, double cpu, double watts) {
  Sample s;
  s.t = at(second) + std::chrono::milliseconds(500);
  s.covers_s = 1;
  s.cpu = cpu;
  s.watts = watts;
  return s;
}

HistoryTable ask(const History& history, std::vector<std::string> metrics, std::int64_t from, std::int64_t to,
                 std::uint32_t step = 0) {
  auto table = history.query({std::move(metrics), at(from), at(to), step});
  EXPECT_TRUE(table) << table.error().message();
  return table ? *table : HistoryTable{};
}

TEST(History, ReturnsWhatWasAddedSecondBySecond) {
  History history;
  for (int i = 0; i < 10; ++i) history.add(sample(kT0 + i, i / 10.0, 5 + i));
  const HistoryTable t = ask(history, {"cpu", "watts"}, kT0, kT0 + 10);
  EXPECT_EQ(t.names, (std::vector<std::string>{"t", "cpu", "watts"}));
  EXPECT_EQ(t.step_s, 1U);
  ASSERT_EQ(t.cols[0].size(), 10U);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(t.cols[0][static_cast<std::size_t>(i)], static_cast<double>(kT0 + i));
    EXPECT_EQ(t.cols[1][static_cast<std::size_t>(i)], i / 10.0);
    EXPECT_EQ(t.cols[2][static_cast<std::size_t>(i)], 5.0 + i);
  }
}

TEST(History, GapsAreNoValueNotZero) {
  History history;
  history.add(sample(kT0, 0.5, 5));
  history.add(sample(kT0 + 9, 0.5, 5));
  const HistoryTable t = ask(history, {"cpu", "gpu_load"}, kT0, kT0 + 10);
  EXPECT_FALSE(std::isnan(t.cols[1][0]));
  for (std::size_t i = 1; i < 9; ++i) EXPECT_TRUE(std::isnan(t.cols[1][i])) << i;
  EXPECT_FALSE(std::isnan(t.cols[1][9]));
  for (const double v : t.cols[2]) EXPECT_TRUE(std::isnan(v));
}

TEST(History, ASkippedTickIsBridgedByTheNextSample) {
  History history;
  history.add(sample(kT0, 0.5, 10));
  Sample late = sample(kT0 + 2, 0.25, 20);
  late.covers_s = 2;
  history.add(late);
  const HistoryTable t = ask(history, {"cpu"}, kT0, kT0 + 3);
  EXPECT_EQ(t.cols[1], (std::vector<double>{0.5, 0.25, 0.25}));
  EXPECT_NEAR(history.energy(at(kT0), at(kT0 + 3)).joules, 10 + 40, 1e-4);
}

// Against a naive reference: every sample kept, every answer computed from all of them.
class Reference {
 public:
  void add(const Sample& s) { samples_[std::chrono::floor<seconds>(s.t).time_since_epoch().count()] = s; }
  double mean(std::optional<double> Sample::*field, std::int64_t from, std::int64_t to) const {
    double sum = 0;
    double n = 0;
    for (auto it = samples_.lower_bound(from); it != samples_.end() && it->first < to; ++it)
      if (it->second.*field) {
        sum += *(it->second.*field);
        ++n;
      }
    return n > 0 ? sum / n : std::nan("");
  }
  double max(std::optional<double> Sample::*field, std::int64_t from, std::int64_t to) const {
    double most = std::nan("");
    for (auto it = samples_.lower_bound(from); it != samples_.end() && it->first < to; ++it)
      if (it->second.*field)
        most = std::isnan(most) ? *(it->second.*field) : std::max(most, *(it->second.*field));
    return most;
  }
  double energy(std::int64_t from, std::int64_t to) const {
    double sum = 0;
    for (auto it = samples_.lower_bound(from); it != samples_.end() && it->first < to; ++it)
      sum += it->second.watts.value_or(0) * it->second.covers_s;
    return sum;
  }

 private:
  std::map<std::int64_t, Sample> samples_;
};

struct Filled {
  // 30 hours with gaps, and with metrics that come and go.
  Filled() {
    SimRng rng(7);
    const std::int64_t end = kT0 + 30 * 3600;
    std::int64_t s = kT0;
    while (s < end) {
      if (rng.below(2000) == 0) s += static_cast<std::int64_t>(10 + rng.below(900));
      Sample one = sample(s, static_cast<double>(rng.below(1001)) / 1000,
                          3 + static_cast<double>(rng.below(20000)) / 1000);
      if (rng.below(4) == 0) one.watts.reset();
      if (rng.below(3) == 0) one.temp_max_c = 30 + static_cast<double>(rng.below(60));
      history.add(one);
      reference.add(one);
      last = s;
      ++s;
    }
  }
  History history;
  Reference reference;
  std::int64_t last = 0;
};

void expect_near(double got, double want, double tolerance, std::int64_t t) {
  if (std::isnan(want)) {
    EXPECT_TRUE(std::isnan(got)) << "at " << t << " got " << got;
  } else {
    EXPECT_NEAR(got, want, tolerance) << "at " << t;
  }
}

TEST(History, DownSamplingAgreesWithANaiveReference) {
  const Filled f;
  const std::int64_t now = f.last + 1;
  for (const std::int64_t range : {300, 3600, 6 * 3600, 24 * 3600, 30 * 3600}) {
    const HistoryTable t =
        ask(f.history, {"cpu", "watts", "temp_max_c", "watts_max", "temp_max_c_max"}, now - range, now);
    ASSERT_LE(t.cols[0].size(), History::kPointsAuto + 2);
    for (std::size_t i = 0; i < t.cols[0].size(); ++i) {
      const auto from = static_cast<std::int64_t>(t.cols[0][i]);
      if (from < now - range) continue;  // the first step may begin before the range, where rings forget
      const std::int64_t to = from + t.step_s;
      expect_near(t.cols[1][i], f.reference.mean(&Sample::cpu, from, to), 2e-4, from);
      expect_near(t.cols[2][i], f.reference.mean(&Sample::watts, from, to), 2e-3, from);
      expect_near(t.cols[3][i], f.reference.mean(&Sample::temp_max_c, from, to), 2e-2, from);
      expect_near(t.cols[4][i], f.reference.max(&Sample::watts, from, to), 1e-3, from);
      expect_near(t.cols[5][i], f.reference.max(&Sample::temp_max_c, from, to), 1e-2, from);
    }
  }
}

TEST(History, EnergyAgreesWithANaiveReference) {
  const Filled f;
  SimRng rng(9);
  // Within the last hour both ends are exact to the second; further back whole steps are.
  for (int i = 0; i < 100; ++i) {
    const std::int64_t from = f.last - 3000 + static_cast<std::int64_t>(rng.below(1500));
    const std::int64_t to = from + 1 + static_cast<std::int64_t>(rng.below(1400));
    const double want = f.reference.energy(from, to);
    EXPECT_NEAR(f.history.energy(at(from), at(to)).joules, want, 1e-4 * want + 1e-3) << from << " " << to;
  }
  for (int i = 0; i < 50; ++i) {
    const std::int64_t from = (kT0 + 8 * 3600 + static_cast<std::int64_t>(rng.below(36000))) / 10 * 10;
    const std::int64_t to = from + 10 + static_cast<std::int64_t>(rng.below(9000)) / 10 * 10;
    const double want = f.reference.energy(from, to);
    EXPECT_NEAR(f.history.energy(at(from), at(to)).joules, want, 1e-4 * want + 1e-3) << from << " " << to;
  }
}

TEST(History, EnergySharesAStepThatOnlyTheCoarseRingRemembers) {
  History history;
  const std::int64_t t0 = kT0 / 300 * 300;
  for (int i = 0; i < 300; ++i) history.add(sample(t0 + i, 0, 10));
  for (std::int64_t i = 0; i < 25LL * 3600; ++i) history.add(sample(t0 + 300 + i, 0, 0));
  EXPECT_NEAR(history.energy(at(t0), at(t0 + 300)).joules, 3000, 0.1);
  EXPECT_NEAR(history.energy(at(t0), at(t0 + 150)).joules, 1500, 0.1);
  EXPECT_NEAR(history.energy(at(t0), at(t0 + 300)).seconds, 300, 1e-6);
}

TEST(History, EnergySaysHowMuchTimeItKnows) {
  History history;
  for (int i = 0; i < 100; ++i) {
    Sample s = sample(kT0 + i, 0, 10);
    if (i >= 40) s.watts.reset();
    history.add(s);
  }
  EXPECT_NEAR(history.energy(at(kT0), at(kT0 + 100)).seconds, 40, 1e-6);
  EXPECT_EQ(history.energy(at(kT0 + 100), at(kT0)).joules, 0);
  EXPECT_EQ(history.energy(WallTime::min(), WallTime::max()).joules, 0);  // the year 2106 has no power yet
}

TEST(History, RangesChooseTheRingThatStillRemembers) {
  const Filled f;
  const std::int64_t now = f.last;
  EXPECT_EQ(ask(f.history, {"cpu"}, now - 300, now, 1).step_s, 1U);
  EXPECT_EQ(ask(f.history, {"cpu"}, now - 7200, now - 6900, 1).step_s, 10U);
  EXPECT_EQ(ask(f.history, {"cpu"}, now - 29 * 3600, now - 28 * 3600, 1).step_s, 300U);
  EXPECT_EQ(ask(f.history, {"cpu"}, now - 86400, now).step_s, 60U);
  EXPECT_EQ(ask(f.history, {"cpu"}, now - 7 * 86400, now).step_s, 600U);
  EXPECT_EQ(ask(f.history, {"cpu"}, now - 30 * 86400, now).step_s, 1800U);
  EXPECT_EQ(ask(f.history, {"cpu"}, now - 29 * 3600, now, 7).step_s, 300U);
}

TEST(History, ForgetsOneHourAtOneSecond) {
  History history;
  for (std::int64_t i = 0; i < 3601; ++i) history.add(sample(kT0 + i, 0.5, 1));
  const HistoryTable t = ask(history, {"cpu"}, kT0, kT0 + 3601, 1);
  ASSERT_EQ(t.step_s, 1U);
  EXPECT_TRUE(std::isnan(t.cols[1][0]));
  for (std::size_t i = 1; i < t.cols[1].size(); ++i) ASSERT_FALSE(std::isnan(t.cols[1][i])) << i;
}

TEST(History, ClockFrom1970To2026KeepsBothTimesApart) {
  History history;
  for (int i = 100; i < 160; ++i) history.add(sample(i, 0.25, 5));
  for (int i = 0; i < 60; ++i) history.add(sample(kT0 + i, 0.75, 5));
  const HistoryTable now = ask(history, {"cpu"}, kT0 - 240, kT0 + 60, 1);
  int known = 0;
  for (const double v : now.cols[1])
    if (!std::isnan(v)) {
      EXPECT_EQ(v, 0.75);
      ++known;
    }
  EXPECT_EQ(known, 60);
  EXPECT_NEAR(history.energy(at(kT0 - 86400), at(kT0 + 60)).joules, 300, 0.1);
}

TEST(History, ClockBackTo1970DoesNotEraseTheDaysBefore) {
  History history;
  for (std::int64_t i = 0; i < 7200; ++i) history.add(sample(kT0 + i, 0.75, 5));
  for (int i = 0; i < 60; ++i) history.add(sample(i, 0.25, 5));
  for (std::int64_t i = 7300; i < 7310; ++i) history.add(sample(kT0 + i, 0.75, 5));
  const HistoryTable t = ask(history, {"cpu"}, kT0, kT0 + 7310, 10);
  int known = 0;
  for (const double v : t.cols[1]) known += std::isnan(v) ? 0 : 1;
  EXPECT_GE(known, 720 - 7);  // at most the minute that was spent in 1970
}

TEST(History, ClockBackByAFewSecondsMergesTheSameSeconds) {
  History history;
  for (int i = 0; i < 10; ++i) history.add(sample(kT0 + i, 0.2, 10));
  for (int i = 5; i < 10; ++i) history.add(sample(kT0 + i, 0.4, 10));
  const HistoryTable t = ask(history, {"cpu"}, kT0, kT0 + 10);
  EXPECT_NEAR(t.cols[1][0], 0.2, 1e-9);
  EXPECT_NEAR(t.cols[1][7], 0.3, 1e-4);
  EXPECT_NEAR(history.energy(at(kT0), at(kT0 + 10)).joules, 150, 1e-3);  // the joules were really used
}

TEST(History, TimesOutsideTheEpochAreIgnored) {
  History history;
  history.add(sample(-5, 0.5, 5));
  history.add(sample(std::int64_t{1} << 33, 0.5, 5));
  EXPECT_EQ(history.encode(), History().encode());
}

TEST(History, NumbersThatAreNoneAreNoValue) {
  History history;
  Sample s = sample(kT0, std::nan(""), INFINITY);
  s.net_rx_bps = 1e300;
  history.add(s);
  const HistoryTable t = ask(history, {"cpu", "watts", "net_rx_bps"}, kT0, kT0 + 1);
  for (std::size_t i = 1; i <= 3; ++i) EXPECT_TRUE(std::isnan(t.cols[i][0]));
}

TEST(History, QuestionsThatMakeNoSenseSayWhy) {
  History history;
  history.add(sample(kT0, 0.5, 5));
  const auto code = [&](std::vector<std::string> metrics, std::int64_t from, std::int64_t to,
                        std::uint32_t step) {
    const auto table = history.query({std::move(metrics), at(from), at(to), step});
    return table ? std::string("fine") : table.error().message();
  };
  EXPECT_NE(code({"cpus"}, kT0, kT0 + 1, 0).find("cpu, watts"), std::string::npos);
  EXPECT_NE(code({}, kT0, kT0 + 1, 0), "fine");
  EXPECT_NE(code({"cpu"}, kT0, kT0, 0), "fine");
  EXPECT_NE(code({"cpu"}, kT0 + 5, kT0, 0), "fine");
  EXPECT_NE(code({"cpu"}, 0, kT0, 0), "fine");
  EXPECT_NE(code({"cpu"}, kT0, kT0 + 20000, 1), "fine");
  EXPECT_NE(code({"cpu"}, kT0, kT0 + 60, 4'000'000'000), "fine");
  EXPECT_EQ(code({"cpu"}, kT0, kT0 + 60, 60), "fine");
  EXPECT_EQ(code({"cpu"}, -100, 60, 0), "fine");
}

TEST(History, StaysWithinItsMemory) { EXPECT_LT(kHistoryBytes, 2'000'000U); }

}  // namespace
}  // namespace samovar::power
