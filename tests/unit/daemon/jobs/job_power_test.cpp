// "Finish by 06:00 under 60 W": when that is, what cannot be asked for, how fast it must go, and what it will
// be.
#include "daemon/jobs/job_power.hpp"

#include <gtest/gtest.h>

#include "base/ids.hpp"
#include "daemon/jobs/energy_error.hpp"
#include "daemon/jobs/job_estimate.hpp"

namespace samovar::jobs {
namespace {

using std::chrono::hours;
using std::chrono::seconds;
using trainer::PowerSpec;

WallTime at(const char* text) { return *parse_time(text); }
PowerSpec by(const char* finish_by) { return {PowerSpec::Mode::full, std::nullopt, finish_by}; }

const ZoneOffset kBerlin = [](WallTime time) {
  return time < at("2026-03-29T01:00:00Z")   ? hours(1)
         : time < at("2026-10-25T01:00:00Z") ? hours(2)
                                             : hours(1);
};

TEST(JobPower, ATimeOfDayIsTheNextOneInTheBoxsZone) {
  EXPECT_EQ(deadline_of(by("06:00"), at("2026-11-17T22:00:00Z"), kBerlin), at("2026-11-18T05:00:00Z"));
  EXPECT_EQ(deadline_of(by("06:00"), at("2026-11-17T04:00:00Z"), kBerlin), at("2026-11-17T05:00:00Z"));
  EXPECT_EQ(deadline_of(by("06:00"), at("2026-11-17T05:00:00Z"), kBerlin), at("2026-11-18T05:00:00Z"));
  EXPECT_EQ(deadline_of(by("06:00"), at("2026-11-17T05:00:00Z"), nullptr), at("2026-11-17T06:00:00Z"));
  EXPECT_EQ(deadline_of(by("2026-11-18T05:00:00Z"), at("2026-11-17T05:00:00Z"), kBerlin),
            at("2026-11-18T05:00:00Z"));
  EXPECT_FALSE(deadline_of({}, at("2026-11-17T05:00:00Z"), kBerlin));
}

TEST(JobPower, TheClockMayBeChangedInTheNight) {
  EXPECT_EQ(deadline_of(by("06:00"), at("2026-03-28T22:00:00Z"), kBerlin), at("2026-03-29T04:00:00Z"));
  EXPECT_EQ(deadline_of(by("06:00"), at("2026-10-24T22:00:00Z"), kBerlin), at("2026-10-25T05:00:00Z"));
  // There is no 02:30 in this night: it is as long after two as it would have been.
  EXPECT_EQ(deadline_of(by("02:30"), at("2026-03-29T00:50:00Z"), kBerlin), at("2026-03-29T01:30:00Z"));
}

TEST(JobPower, StartedAgainInTimeTheDeadlineStays) {
  const WallTime created = at("2026-11-17T22:00:00Z");
  EXPECT_FALSE(summary_asked_again(by("06:00"), created, "{}", at("2026-11-18T04:59:00Z"), kBerlin));
  EXPECT_FALSE(summary_asked_again({}, created, "{}", at("2026-12-18T05:00:00Z"), kBerlin));
  EXPECT_EQ(deadline_of_job(by("06:00"), created, "{}", kBerlin), at("2026-11-18T05:00:00Z"));
}

TEST(JobPower, StartedAgainTooLateATimeOfDayIsItsNextOne) {
  const WallTime created = at("2026-11-17T22:00:00Z");
  const auto again =
      summary_asked_again(by("06:00"), created, R"({"rows":7})", at("2026-11-18T05:00:00Z"), kBerlin);
  ASSERT_TRUE(again);
  EXPECT_NE(again->find("\"rows\":7"), std::string::npos);
  EXPECT_EQ(asked_again_at(*again), at("2026-11-18T05:00:00Z"));
  EXPECT_EQ(deadline_of_job(by("06:00"), created, *again, kBerlin), at("2026-11-19T05:00:00Z"));
  // Again before that: it stays; after it: the one after.
  EXPECT_FALSE(summary_asked_again(by("06:00"), created, *again, at("2026-11-19T04:00:00Z"), kBerlin));
  const auto third = summary_asked_again(by("06:00"), created, *again, at("2026-11-19T09:00:00Z"), kBerlin);
  ASSERT_TRUE(third);
  EXPECT_EQ(deadline_of_job(by("06:00"), created, *third, kBerlin), at("2026-11-20T05:00:00Z"));
}

TEST(JobPower, StartedAgainTooLateAMomentIsNone) {
  const WallTime created = at("2026-11-17T22:00:00Z");
  const PowerSpec power = by("2026-11-18T05:00:00Z");
  const auto again = summary_asked_again(power, created, "", at("2026-11-18T06:00:00Z"), kBerlin);
  ASSERT_TRUE(again);
  EXPECT_FALSE(deadline_of_job(power, created, *again, kBerlin));
  EXPECT_FALSE(summary_asked_again(power, created, *again, at("2026-11-18T07:00:00Z"), kBerlin));
  EXPECT_EQ(deadline_of_job(power, created, R"({"asked_again_at":"soon"})", kBerlin),
            at("2026-11-18T05:00:00Z"));
}

TEST(JobPower, IsSaidAsPeopleDo) {
  const WallTime now = at("2026-11-17T22:00:00Z");
  EXPECT_EQ(clock_text(at("2026-11-18T05:00:00Z"), now, kBerlin), "06:00");
  EXPECT_EQ(clock_text(at("2026-11-20T05:00:00Z"), now, kBerlin), "2026-11-20 06:00");
}

std::string fault_of(const PowerSpec& power, const PowerFacts& facts) {
  std::vector<trainer::SpecFault> faults;
  check_power(power, facts, at("2026-11-17T22:00:00Z"), kBerlin, faults);
  return faults.empty() ? "" : faults.front().pointer + " " + faults.front().detail;
}

TEST(JobPower, WhatCannotBeIsRefusedWithWhatCan) {
  const PowerFacts facts{30, 100, 120};
  PowerSpec power;
  power.watts = 60;
  EXPECT_EQ(fault_of(power, facts), "");
  EXPECT_EQ(fault_of(power, {}), "") << "nothing is known: nothing is refused";
  power.watts = 30;
  EXPECT_NE(fault_of(power, facts).find("/power/watts the nodes draw about 30 W at rest"), std::string::npos);
  EXPECT_NE(fault_of(power, facts).find("give it 34 W or more"), std::string::npos) << fault_of(power, facts);
  power.watts = 110;
  EXPECT_EQ(fault_of(power, facts), "") << "the schedule gives as much at night";
  power.watts = 130;
  EXPECT_NE(fault_of(power, facts).find("the power budget of the box is 120 W"), std::string::npos);
  EXPECT_NE(fault_of(by("2026-11-17T21:00:00Z"), facts).find("this moment is over"), std::string::npos);
  EXPECT_NE(fault_of(by("2026-11-17T22:00:05Z"), facts).find("only seconds away"), std::string::npos);
  EXPECT_EQ(fault_of(by("21:00"), facts), "") << "tomorrow";
}

TEST(PaceMeter, TellsHowFastItMustGo) {
  PaceMeter meter;
  MonoTime now{seconds(100)};
  EXPECT_FALSE(meter.pace(100));
  for (int i = 0; i <= 20; ++i) meter.add(now + seconds(i), 0.01 * i);
  EXPECT_NEAR(*meter.share_per_second(), 0.01, 1e-9);
  EXPECT_NEAR(*meter.seconds_to_go(), 80, 1e-6);
  EXPECT_NEAR(*meter.pace(80 / 0.97 + 4 / 0.97), 1, 1e-6);
  EXPECT_LT(*meter.pace(200), 0.5);
  EXPECT_EQ(meter.pace(-5), PaceMeter::kPaceMax) << "the moment is over";
  // It looks back ten seconds only.
  for (int i = 21; i <= 40; ++i) meter.add(now + seconds(i), 0.2 + 0.02 * (i - 20));
  EXPECT_NEAR(*meter.share_per_second(), 0.02, 1e-9);
  // From a checkpoint again.
  meter.add(now + seconds(41), 0.3);
  EXPECT_FALSE(meter.share_per_second());
}

// As solvers do whose passes take long: looked at each second, it changes every half a minute.
TEST(PaceMeter, KnowsTheSpeedOfWhatIsToldOnceAPass) {
  PaceMeter meter;
  int i = 0;
  for (; i <= 90; ++i) meter.add(MonoTime{seconds(i)}, 0.1 * (i / 30));
  EXPECT_NEAR(*meter.share_per_second(), 0.1 / 30, 1e-9);
  EXPECT_NEAR(*meter.seconds_to_go(), 210, 1e-6);
  EXPECT_TRUE(meter.pace(400));
  for (; i <= 105; ++i) meter.add(MonoTime{seconds(i)}, 0.3);
  EXPECT_FALSE(meter.pace(400)) << "what is not new was acted upon already";
}

TEST(PaceMeter, SaysNothingOfAJobThatStands) {
  PaceMeter meter;
  for (int i = 0; i <= 20; ++i) meter.add(MonoTime{seconds(i)}, 0.5);
  EXPECT_FALSE(meter.pace(100));
}

// An hour at full speed, which takes 40 W beyond the 20 W at rest.
Estimate an_hour() {
  Estimate estimate;
  estimate.seconds = 3600;
  estimate.watt_hours = 40;
  return estimate;
}

TEST(JobEstimate, ALimitInWattsMakesItLongerNotDearer) {
  const WallTime now = at("2026-11-17T22:00:00Z");
  Estimate estimate = an_hour();
  PowerSpec power;
  power.watts = 40;
  plan_power(estimate, power, {20, std::nullopt, std::nullopt}, std::nullopt, now);
  EXPECT_NEAR(estimate.seconds, 7200, 1e-6);
  EXPECT_EQ(estimate.watt_hours, 40);
  EXPECT_NEAR(*estimate.watts, 40, 1e-6);
  EXPECT_EQ(estimate.ends_at, now + hours(2));
  EXPECT_FALSE(estimate.in_time);
  // The box's budget does the same.
  estimate = an_hour();
  plan_power(estimate, {}, {20, 30, 30}, std::nullopt, now);
  EXPECT_NEAR(estimate.seconds, 14400, 1e-6);
  // And nothing asked for and no budget leave it as it is.
  estimate = an_hour();
  plan_power(estimate, {}, {20, std::nullopt, std::nullopt}, std::nullopt, now);
  EXPECT_EQ(estimate.seconds, 3600);
  EXPECT_FALSE(estimate.watts);
}

TEST(JobEstimate, ADeadlineIsKeptWithFewWattsOrSaidToBeTooNear) {
  const WallTime now = at("2026-11-17T22:00:00Z");
  PowerSpec power;
  power.watts = 40;
  power.finish_by = "06:00";
  Estimate estimate = an_hour();
  plan_power(estimate, power, {20, std::nullopt, std::nullopt}, now + hours(4), now);
  EXPECT_EQ(estimate.in_time, true);
  EXPECT_NEAR(estimate.seconds, 0.95 * 4 * 3600, 1);
  EXPECT_NEAR(*estimate.watts, 20 + 40 / (0.95 * 4), 0.1);
  estimate = an_hour();
  plan_power(estimate, power, {20, std::nullopt, std::nullopt}, now + seconds(5400), now);
  EXPECT_EQ(estimate.in_time, false);
  EXPECT_NEAR(estimate.seconds, 7200, 1) << "the limit wins";
  EXPECT_NEAR(*estimate.needed_watts, 20 + 40 * 3600 / (0.95 * 5400), 0.1);
  estimate = an_hour();
  plan_power(estimate, power, {20, std::nullopt, std::nullopt}, now + seconds(1800), now);
  EXPECT_EQ(estimate.in_time, false);
  EXPECT_FALSE(estimate.needed_watts) << "no watts would do";
}

TEST(JobEstimate, GentleTakesTwiceAsLongAndAPastThatWasHeldBackCountsAtFullSpeed) {
  Estimate estimate = an_hour();
  PowerSpec gentle;
  gentle.mode = PowerSpec::Mode::gentle;
  plan_power(estimate, gentle, {20, std::nullopt, std::nullopt}, std::nullopt, WallTime{});
  EXPECT_NEAR(estimate.seconds, 7200, 1e-6);
  trainer::JobSpec spec;
  spec.dataset_id = "dst_1";
  const auto size = size_of(spec, 1000, 10);
  PastJob past{size, 200, 1000};
  past.speed_share = 0.5;
  const Estimate again = estimate_job(spec, size, {past});
  EXPECT_NEAR(again.seconds, 100, 1e-9);
  EXPECT_NEAR(again.watt_hours * 3600, 1000, 1e-6);
}

TEST(EnergyError, AddsUpWhatIsOffInTheSameWay) {
  EXPECT_EQ(combined_error({}), 0);
  // One sensor, two workers after each other.
  EXPECT_NEAR(combined_error({{"a", 3, false}, {"a", 4, false}}), 7, 1e-12);
  // Two sensors.
  EXPECT_NEAR(combined_error({{"a", 3, false}, {"b", 4, false}}), 5, 1e-12);
  // Estimates come from one formula.
  EXPECT_NEAR(combined_error({{"a", 3, true}, {"b", 4, true}}), 7, 1e-12);
  EXPECT_NEAR(combined_error({{"a", 3, true}, {"b", 4, false}}), 5, 1e-12);
}

}  // namespace
}  // namespace samovar::jobs
