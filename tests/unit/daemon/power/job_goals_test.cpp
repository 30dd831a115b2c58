// "Finish by 06:00 under 60 W" on simulated boards with heat: the leader's book, a regulator on each board,
// and a training that is so many samples long.
#include "daemon/power/job_goals.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <memory>

#include "daemon/power/budget_keeper.hpp"
#include "daemon/power/regulator.hpp"
#include "tests/support/simulated_board.hpp"

namespace samovar::power {
namespace {

using std::chrono::seconds;

struct Box {
  explicit Box(std::uint32_t seed = 1) {
    std::uint32_t number = 0;
    for (const auto& model : {test::tx1_like(), test::orin_like(), test::nano_like()}) {
      boards.push_back(std::make_unique<test::SimulatedBoard>(model, seed * 10 + number++));
      regulators.emplace_back(model.clocks.size());
      ids.push_back(model.name);
    }
    caps.resize(boards.size());
    before.resize(boards.size());
  }

  double samples() const {
    double sum = 0;
    for (const auto& board : boards) sum += board->samples();
    return sum;
  }
  double joules() const {
    double sum = 0;
    for (const auto& board : boards) sum += board->joules();
    return sum;
  }
  // What they would do and draw at full power, now.
  double full_rate() const {
    double sum = 0;
    for (const auto& board : boards) sum += board->rate_at(0, 1);
    return sum;
  }
  double full_watts() const {
    double sum = 0;
    for (const auto& board : boards) sum += board->watts_at(0, 1);
    return sum;
  }

  void second(bool working, const std::vector<JobWish>& wishes) {
    now += seconds(1);
    const double joules_before = joules();
    for (std::size_t i = 0; i < boards.size(); ++i) {
      for (int tenth = 0; tenth < 10; ++tenth) boards[i]->pass(0.1);
      RegulatorInput input;
      input.watts = boards[i]->sense();
      input.rate = boards[i]->samples() - before[i];
      before[i] = boards[i]->samples();
      input.working = working;
      input.kind = "glm";
      input.cap_watts = caps[i];
      const Drive drive = regulators[i].step(input);
      boards[i]->set(drive.level, drive.duty, working);
      PowerStatus status;
      status.working = working;
      status.watts = input.watts;
      status.idle_watts = regulators[i].idle_watts();
      if (const auto curve = regulators[i].curve(); curve && !regulators[i].probing())
        status.curve.assign(curve->points().begin() + 1, curve->points().end());
      status.jobs = wishes;
      keeper.heard(ids[i], status, now);
    }
    keeper.step(now, settings, {}, ids);
    for (std::size_t i = 0; i < boards.size(); ++i)
      if (const auto answer = keeper.answer(ids[i]); answer.ready) caps[i] = answer.cap_watts;
    last_ten.push_back(joules() - joules_before);
    if (last_ten.size() > 10) last_ten.pop_front();
    double mean = 0;
    for (const double j : last_ten) mean += j / static_cast<double>(last_ten.size());
    // A limit that has just begun cannot hold for the seconds before it.
    if (working && ++worked > 15) worst = std::max(worst, mean);
  }

  // A training of so many samples; true when it ended in time.
  bool train(double amount, double deadline_seconds, std::optional<double> cap, double over = 3) {
    const double begin = samples();
    std::deque<double> speeds;
    double before_second = begin;
    for (passed = 0; passed < over * deadline_seconds; ++passed) {
      JobWish wish;
      wish.id = "job_1";
      wish.cap_watts = cap;
      wish.deadline = true;
      const double done = samples() - begin;
      double speed = 0;
      for (const double s : speeds) speed += s / static_cast<double>(speeds.size());
      const double left = 0.97 * (deadline_seconds - passed) - 4;
      if (speeds.size() >= 5 && speed > 0)
        wish.pace = left <= 0 ? 10 : std::min(10.0, (amount - done) / left / speed);
      second(true, {wish});
      speeds.push_back(samples() - before_second);
      before_second = samples();
      if (speeds.size() > 10) speeds.pop_front();
      const auto view = keeper.view(now);
      if (!view.jobs.empty()) {
        late = late || view.jobs[0].late;
        if (view.jobs[0].needed_watts && !needed) needed = view.jobs[0].needed_watts;
      }
      if (samples() - begin >= amount) break;
    }
    return passed <= deadline_seconds;
  }

  MonoTime now{seconds(100)};
  BudgetKeeper keeper{now};
  Settings settings;
  std::vector<std::string> ids;
  std::vector<std::unique_ptr<test::SimulatedBoard>> boards;
  std::vector<Regulator> regulators;
  std::vector<std::optional<double>> caps;
  std::vector<double> before;
  std::deque<double> last_ten;
  int worked = 0;
  double worst = 0;  // ten-second mean of all boards
  double passed = 0;
  bool late = false;
  std::optional<double> needed;
};

TEST(JobGoals, ADeadlineIsKeptWithFewWattsWithinTheLimit) {
  for (std::uint32_t seed = 1; seed <= 10; ++seed) {
    Box box(seed);
    for (int i = 0; i < 20; ++i) box.second(false, {});
    const double full_seconds = 300;
    const double joules = box.joules();
    // At full speed it would take half of the time there is.
    ASSERT_TRUE(box.train(full_seconds * box.full_rate(), 2 * full_seconds, 45)) << "seed " << seed;
    EXPECT_LE(box.worst, 45 * 1.03) << "seed " << seed;
    EXPECT_FALSE(box.late) << "seed " << seed;
    EXPECT_GE(box.passed, 0.85 * 2 * full_seconds) << "it could have gone slower, seed " << seed;
    // With clocks it costs less than the half that pacing alone takes, and rest goes on.
    const double rest = 2.5 + 5 + 1.8;
    EXPECT_LE((box.joules() - joules) / box.passed, rest + 0.55 * (box.full_watts() - rest))
        << "seed " << seed;
  }
}

TEST(JobGoals, TheLimitWinsAndWhatWouldDoIsSaid) {
  Box box;
  for (int i = 0; i < 20; ++i) box.second(false, {});
  // As much as 35 W or so do in the time, under 22 W.
  EXPECT_FALSE(box.train(200 * box.full_rate(), 300, 22, 5));
  EXPECT_TRUE(box.late);
  EXPECT_LE(box.worst, 22 * 1.03);
  ASSERT_TRUE(box.needed);
  EXPECT_GT(*box.needed, 25);
  EXPECT_LT(*box.needed, 45);
  // And with about that much it is in time.
  Box other;
  for (int i = 0; i < 20; ++i) other.second(false, {});
  EXPECT_TRUE(other.train(200 * other.full_rate(), 300, *box.needed * 1.1));
}

TEST(JobGoals, FallsBehindAndCatchesUp) {
  Box box;
  for (int i = 0; i < 20; ++i) box.second(false, {});
  const double amount = 200 * box.full_rate();
  // Another job comes for a while and takes what it can: half of the speed is gone.
  const double begin = box.samples();
  std::optional<double> pace = 0.5;
  const auto wish = [&] {
    JobWish one;
    one.id = "job_1";
    one.cap_watts = 50;
    one.deadline = true;
    one.pace = pace;
    return one;
  };
  for (int i = 0; i < 60; ++i) box.second(true, {wish()});
  const double slow = *box.keeper.view(box.now).budget_watts;
  EXPECT_LT(slow, 40);
  pace = 1.6;
  for (int i = 0; i < 40; ++i) box.second(true, {wish()});
  EXPECT_GT(*box.keeper.view(box.now).budget_watts, 1.2 * slow);
  EXPECT_LE(*box.keeper.view(box.now).budget_watts, 50);
  EXPECT_GT(amount, box.samples() - begin);
}

struct Goals {
  JobGoals::Outcome step(std::optional<double> budget, const std::vector<JobWish>& wishes, int times = 1) {
    JobGoals::Outcome outcome;
    for (int i = 0; i < times; ++i) outcome = goals.step(1, budget, wishes, nodes, 50);
    return outcome;
  }
  NodeStatus node(const char* id) {
    NodeStatus status;
    status.id = id;
    status.working = true;
    status.idle_watts = 5;
    status.watts = 25;
    status.curve = {{25, 1000}};
    return status;
  }
  JobGoals goals;
  std::vector<NodeStatus> nodes = {node("a"), node("b")};
};

TEST(JobGoals, TheSmallestLimitHoldsAndNobodyRaisesTheBudget) {
  Goals goals;
  JobWish a{"job_a", 40, false, false, std::nullopt};
  JobWish b{"job_b", 30, false, false, std::nullopt};
  EXPECT_EQ(goals.step(std::nullopt, {a, b}).watts, 30);
  EXPECT_EQ(goals.step(std::nullopt, {a, b}).job_id, "job_b");
  EXPECT_EQ(goals.step(35, {a}).watts, 35);
  EXPECT_EQ(goals.step(35, {a}).job_id, "");
  EXPECT_EQ(goals.step(std::nullopt, {}).watts, std::nullopt);
}

TEST(JobGoals, AGentleOneTakesHalfUnlessOthersWantMore) {
  Goals goals;
  JobWish gentle{"job_a", std::nullopt, true, false, std::nullopt};
  EXPECT_EQ(goals.step(std::nullopt, {gentle}).watts, 30) << "10 W at rest, and half of 40 W";
  EXPECT_EQ(goals.step(20, {gentle}).watts, 20);
  JobWish other{"job_b", std::nullopt, false, false, std::nullopt};
  EXPECT_EQ(goals.step(std::nullopt, {gentle, other}).watts, std::nullopt);
  EXPECT_EQ(goals.step(45, {gentle, JobWish{}}).watts, 45) << "a file that is read in";
}

TEST(JobGoals, OneThatCouldDoWithLessDoesNotHoldBackOthers) {
  Goals goals;
  JobWish frugal{"job_a", 60, false, true, 0.5};
  EXPECT_LT(*goals.step(std::nullopt, {frugal}, 14).watts, 40);
  JobWish other{"job_b", std::nullopt, false, false, std::nullopt};
  EXPECT_EQ(goals.step(std::nullopt, {frugal, other}, 1).watts, 60) << "but its limit holds";
}

TEST(JobGoals, WithoutASpeedAllThereIsIsGiven) {
  Goals goals;
  JobWish frugal{"job_a", 45, false, true, std::nullopt};
  EXPECT_EQ(goals.step(std::nullopt, {frugal}, 60).watts, 45);
}

TEST(JobGoals, TheHomeKnowsThePaceTheOthersTheRest) {
  const auto all = merged({{"job_a", 50, false, true, std::nullopt},
                           {"job_a", 50, false, true, 0.8},
                           {"job_b", std::nullopt, true, false, std::nullopt},
                           {"job_a", 50, false, true, std::nullopt}});
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].pace, 0.8);
  EXPECT_TRUE(all[1].gentle);
}

}  // namespace
}  // namespace samovar::power
