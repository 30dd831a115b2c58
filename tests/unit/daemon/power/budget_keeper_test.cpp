// The leader's book: who counts how much, which budget holds, and what a new leader says.
#include "daemon/power/budget_keeper.hpp"

#include <gtest/gtest.h>

#include "daemon/power/cap_lease.hpp"

namespace samovar::power {
namespace {

using std::chrono::seconds;

PowerStatus at_work(double idle, double full, double rate) {
  PowerStatus status;
  status.working = true;
  status.idle_watts = idle;
  status.watts = full;
  status.curve = {{full, rate}};
  return status;
}

CapAnswer answer_of(bool ready, std::optional<double> cap, std::optional<double> budget) {
  CapAnswer answer;
  answer.ready = ready;
  answer.cap_watts = cap;
  answer.budget_watts = budget;
  return answer;
}

struct Book {
  void second(const std::vector<std::string>& who = {"a", "b"}) {
    now += seconds(1);
    for (const auto& id : who) keeper.heard(id, status[id], now);
    keeper.step(now, settings, {}, members);
  }
  double cap(const std::string& id) const { return keeper.answer(id).cap_watts.value_or(-1); }
  std::string state(const std::string& id) const {
    for (const auto& node : keeper.view(now).nodes)
      if (node.id == id) return node.state;
    return "";
  }
  MonoTime now{seconds(100)};
  BudgetKeeper keeper{now};
  Settings settings = [] {
    Settings s;
    s.budget_watts = 40;
    return s;
  }();
  std::vector<std::string> members = {"a", "b"};
  std::map<std::string, PowerStatus> status = {{"a", at_work(5, 25, 1000)}, {"b", at_work(5, 25, 3000)}};
};

TEST(BudgetKeeper, SplitsWhereAWattBuysMost) {
  Book book;
  for (int i = 0; i < 3; ++i) book.second();
  ASSERT_TRUE(book.keeper.answer("a").ready);
  EXPECT_GT(book.cap("b"), 22);
  EXPECT_GT(book.cap("b"), book.cap("a") + 5);
  EXPECT_LE(book.cap("a") + book.cap("b"), 40);
  EXPECT_EQ(book.keeper.view(book.now).reason, "budget");
  EXPECT_EQ(book.state("a"), "reporting");
}

TEST(BudgetKeeper, ANewLeaderGathersBeforeItSpeaks) {
  Book book;
  book.second({"a"});
  EXPECT_FALSE(book.keeper.answer("a").ready) << "b was not heard yet";
  book.second({"a", "b"});
  EXPECT_TRUE(book.keeper.answer("a").ready);
  Book other;
  for (int i = 0; i < 4; ++i) other.second({"a"});
  EXPECT_TRUE(other.keeper.answer("a").ready) << "who does not come is not waited for";
  EXPECT_EQ(other.state("b"), "unknown");
}

TEST(BudgetKeeper, WhoRestsNeedNotSaySoEverySecondUntilABudgetHolds) {
  Book book;
  book.settings.budget_watts.reset();
  book.status["b"].working = false;
  book.second();
  for (int i = 0; i < 40; ++i) book.second({"a"});
  EXPECT_EQ(book.state("b"), "reporting");
  book.settings.budget_watts = 40;
  for (int i = 0; i < 2; ++i) book.second({"a"});
  EXPECT_EQ(book.state("b"), "away") << "now it would have said something";
  book.second();
  EXPECT_EQ(book.state("b"), "reporting");
}

TEST(ReportPace, IsSlowOnlyWhileNothingChanges) {
  ReportPace pace;
  MonoTime now{seconds(100)};
  const auto next = [&] { return now += seconds(1); };
  EXPECT_TRUE(pace.due(next(), "a", false));
  EXPECT_TRUE(pace.due(next(), "a", false)) << "each second at work";
  EXPECT_TRUE(pace.due(next(), "a", true)) << "that it rests now";
  int told = 0;
  for (int i = 0; i < 120; ++i) told += pace.due(next(), "a", true) ? 1 : 0;
  EXPECT_EQ(told, 120 / ReportPace::kRest.count());
  EXPECT_TRUE(pace.due(next(), "b", true)) << "the new leader knows nothing of it";
  EXPECT_FALSE(pace.due(next(), "b", true));
  pace.failed();
  EXPECT_TRUE(pace.due(next(), "b", true));
  EXPECT_TRUE(pace.due(next(), "b", false)) << "it works";
}

TEST(BudgetKeeper, ASilentNodeKeepsItsCapUntilItCannotDrawItAnyMore) {
  static_assert(BudgetKeeper::kSilent > CapLease::kHold + BudgetKeeper::kFresh);
  Book book;
  for (int i = 0; i < 3; ++i) book.second();
  const double lost = book.cap("b");
  for (int i = 0; i < 10; ++i) book.second({"a"});
  EXPECT_EQ(book.state("b"), "silent");
  EXPECT_LE(book.cap("a") + lost, 40.01) << "it may still draw all of it";
  for (int i = 0; i < 15; ++i) book.second({"a"});
  EXPECT_EQ(book.state("b"), "away");
  EXPECT_GT(book.cap("a"), 24) << "its watts are free";
  EXPECT_LE(book.cap("a"), 35) << "but not what it draws at rest";
  for (int i = 0; i < 700; ++i) book.second({"a"});
  EXPECT_EQ(book.state("b"), "unknown");
  book.second();
  EXPECT_EQ(book.state("b"), "reporting");
  EXPECT_LE(book.cap("a") + book.cap("b"), 40);
}

TEST(BudgetKeeper, WhoIsRemovedIsForgotten) {
  Book book;
  book.second();
  book.members = {"a"};
  book.second({"a"});
  EXPECT_EQ(book.keeper.view(book.now).nodes.size(), 1u);
  EXPECT_FALSE(book.keeper.answer("b").ready);
}

TEST(BudgetKeeper, ATrainingsOwnLimitHoldsWhileItRuns) {
  Book book;
  book.status["b"].job_watts = 30;
  book.status["b"].job_id = "job_1";
  book.second();
  EXPECT_EQ(book.keeper.view(book.now).reason, "job");
  EXPECT_EQ(book.keeper.view(book.now).job_id, "job_1");
  EXPECT_EQ(book.keeper.view(book.now).budget_watts, 30);
  book.status["b"].job_watts.reset();
  book.second();
  EXPECT_EQ(book.keeper.view(book.now).budget_watts, 40);
  book.status["b"].job_watts = 90;
  book.second();
  EXPECT_EQ(book.keeper.view(book.now).reason, "budget") << "it cannot raise what the administrator set";
}

TEST(BudgetKeeper, ATrainingsOwnLimitHoldsWhileItsNodeIsSilent) {
  Book book;
  book.settings.budget_watts.reset();
  book.status["b"].job_watts = 30;
  book.status["b"].job_id = "job_1";
  for (int i = 0; i < 3; ++i) book.second();
  for (int i = 0; i < 10; ++i) book.second({"a"});
  ASSERT_EQ(book.state("b"), "silent");
  EXPECT_EQ(book.keeper.view(book.now).budget_watts, 30) << "it may go on with what it was told";
  for (int i = 0; i < 15; ++i) book.second({"a"});
  ASSERT_EQ(book.state("b"), "away");
  EXPECT_FALSE(book.keeper.view(book.now).budget_watts);
}

TEST(BudgetKeeper, OneNodeOnBatteryIsEnoughForUps) {
  Book book;
  book.settings.ups_watts = 20;
  book.second();
  EXPECT_EQ(book.keeper.view(book.now).reason, "budget");
  book.status["a"].on_battery = true;
  book.second();
  EXPECT_EQ(book.keeper.view(book.now).reason, "ups");
  EXPECT_EQ(book.keeper.view(book.now).budget_watts, 20);
}

TEST(BudgetKeeper, ABudgetBelowRestIsSaidAndALiftedOneIsNoCap) {
  Book book;
  book.settings.budget_watts = 8;
  book.second();
  EXPECT_FALSE(book.keeper.view(book.now).held);
  EXPECT_EQ(book.keeper.view(book.now).idle_watts, 10);
  book.settings.budget_watts.reset();
  book.second();
  EXPECT_TRUE(book.keeper.answer("a").ready);
  EXPECT_FALSE(book.keeper.answer("a").cap_watts);
  EXPECT_TRUE(book.keeper.view(book.now).held);
}

TEST(CapLease, HoldsForAWhileThenRestsWhenABudgetIsSet) {
  CapLease lease;
  MonoTime now{seconds(10)};
  EXPECT_EQ(lease.cap(now, 40), 0) << "nobody has said anything yet";
  EXPECT_EQ(lease.cap(now, std::nullopt), std::nullopt);
  lease.told(now, answer_of(true, 17, 40));
  lease.told(now + seconds(1), answer_of(false, std::nullopt, std::nullopt));
  EXPECT_EQ(lease.cap(now + seconds(14), 40), 17) << "an answer that is not ready changes nothing";
  EXPECT_EQ(lease.cap(now + seconds(16), 40), 0);
  EXPECT_EQ(lease.cap(now + seconds(16), std::nullopt), std::nullopt);
  lease.told_nothing(now + seconds(20), 40, 4);
  EXPECT_EQ(lease.cap(now + seconds(21), 40), 10);
}

TEST(PowerMessage, ComesBackAsItWent) {
  PowerQuestion question;
  question.status = at_work(5, 25.5, 1000);
  question.status->celsius = 61.5;
  question.status->job_watts = 60;
  question.status->job_id = "job_1";
  question.status->clocks = "cpufreq policy0";
  question.status->jobs = {{"job_1", 60, false, true, 0.8}, {"", std::nullopt, true, false, std::nullopt}};
  question.look = true;
  const auto back = decode_question(encode_question(question));
  ASSERT_TRUE(back && back->status);
  EXPECT_TRUE(back->look);
  EXPECT_EQ(back->status->watts, 25.5);
  EXPECT_EQ(back->status->curve.at(0).rate, 1000);
  EXPECT_EQ(back->status->celsius, 61.5);
  EXPECT_EQ(back->status->job_watts, 60);
  ASSERT_EQ(back->status->jobs.size(), 2u);
  EXPECT_EQ(back->status->jobs[0].pace, 0.8);
  EXPECT_EQ(back->status->jobs[0].cap_watts, 60);
  EXPECT_TRUE(back->status->jobs[0].deadline);
  EXPECT_TRUE(back->status->jobs[1].gentle);
  EXPECT_EQ(back->status->clocks, "cpufreq policy0");
  PowerReply reply;
  reply.cap = answer_of(true, 12.5, 40);
  reply.cap.idle_watts = 10;
  reply.cap.jobs = {{"job_1", 45, 60, true, 85}};
  reply.all = ClusterPower{};
  reply.all->reason = "schedule";
  reply.all->nodes.push_back({"a", "away", *back->status, 7});
  const auto answered = decode_reply(encode_reply(reply));
  ASSERT_TRUE(answered && answered->all);
  EXPECT_EQ(answered->cap.cap_watts, 12.5);
  EXPECT_EQ(answered->cap.idle_watts, 10);
  ASSERT_EQ(answered->cap.jobs.size(), 1u);
  EXPECT_TRUE(answered->cap.jobs[0].late);
  EXPECT_EQ(answered->cap.jobs[0].needed_watts, 85);
  EXPECT_EQ(answered->all->nodes.at(0).state, "away");
  EXPECT_EQ(answered->all->nodes.at(0).status->idle_watts, 5);
}

TEST(PowerMessage, NonsenseIsLeftOutAndABudgetWithoutACapIsNone) {
  EXPECT_FALSE(decode_question(as_bytes("[]")));
  EXPECT_FALSE(decode_question(as_bytes("{")));
  const auto odd = decode_question(as_bytes(
      R"({"status":{"watts":-1,"idle_watts":"x","duty":7,"curve":[[1],[2,"x"],[3,4],[-1,2]],"levels":0}})"));
  ASSERT_TRUE(odd && odd->status);
  EXPECT_FALSE(odd->status->watts);
  EXPECT_EQ(odd->status->duty, 1);
  EXPECT_EQ(odd->status->curve.size(), 1u);
  EXPECT_EQ(odd->status->levels, 1u);
  EXPECT_FALSE(decode_reply(as_bytes(R"({"ready":true,"budget_watts":40})"))->cap.ready);
  EXPECT_TRUE(decode_reply(as_bytes(R"({"ready":true})"))->cap.ready);
}

TEST(LocalTime, KnowsTheDayAndTheMinute) {
  const auto at = [](std::int64_t unix_seconds, int offset) {
    return local_time_at(WallTime(seconds(unix_seconds)), seconds(offset));
  };
  EXPECT_EQ(at(0, 0).weekday, 3u);  // a Thursday
  EXPECT_EQ(at(0, -60).weekday, 2u);
  EXPECT_EQ(at(0, -60).minute, 24u * 60 - 1);
  EXPECT_EQ(at(1'795'000'000, 3600).minute, 12u * 60 + 6);  // 2026-11-18 11:06:40 UTC, a Wednesday
  EXPECT_EQ(at(1'795'000'000, 3600).weekday, 2u);
}

}  // namespace
}  // namespace samovar::power
