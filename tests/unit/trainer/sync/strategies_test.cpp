// What every strategy of the table has to do: one test for all of them.
#include "trainer/sync/strategies.hpp"

#include <gtest/gtest.h>

#include <array>
#include <barrier>
#include <mutex>
#include <set>

#include "tests/unit/trainer/sync/members.hpp"
#include "tests/unit/trainer/sync/together.hpp"

namespace samovar::trainer {
namespace {

using nlohmann::json;

// How far the AUC of three workers may be from that of one after as many passes.
double margin(std::string_view kind) {
  // Each model of a tournament has seen the rows of one worker only; steps of SGD are small.
  return kind == "ltfb" || kind == "eamsgd" ? 0.006 : 0.003;
}

double auc(const json& evaluation) { return evaluation["metrics"]["test"]["auc"]["value"]; }

class Conformance : public testing::TestWithParam<std::string> {
 protected:
  JobSpec spec(unsigned passes = 5) const {
    const bool momentum = GetParam() == "eamsgd";
    JobSpec spec = job("yes", {{"solver", momentum ? "sgd" : "ftrl"}, {"passes", passes}});
    spec.strategy.kind = GetParam();
    return spec;
  }
  // The lead's.
  json evaluation(Workers& workers, std::uint32_t lead = 0) {
    const auto& trained = workers.of(lead);
    EXPECT_TRUE(trained.has_value()) << (trained ? "" : trained.error().message());
    if (!trained || trained->model.empty()) {
      ADD_FAILURE() << "the lead has no model";
      return {};
    }
    return json::parse(trained->evaluation_json);
  }
};

std::vector<std::string> all_names() {
  std::vector<std::string> names;
  for (const std::string_view name : strategy_names()) names.emplace_back(name);
  return names;
}
INSTANTIATE_TEST_SUITE_P(Strategies, Conformance, testing::ValuesIn(all_names()),
                         [](const auto& one) { return one.param; });

TEST_P(Conformance, OneWorkerTrainsAsIfThereWereNoStrategy) {
  auto table = logistic_table(8000, 31, 500);
  SharedTable shared(table);
  const JobSpec spec = this->spec(3);
  auto alone = train_on(table, spec);
  ASSERT_TRUE(alone.has_value()) << alone.error().message();
  LocalGroup group(deal(shared.blocks(), 1));
  Workers workers(shared, table.schema(), spec, group);
  workers.start(0);
  workers.join();
  ASSERT_TRUE(workers.of(0).has_value()) << workers.of(0).error().message();
  EXPECT_EQ(alone->model, workers.of(0)->model);
}

TEST_P(Conformance, LearnsAsWellAsOneWorker) {
  auto table = logistic_table(20'000, 32, 500);
  SharedTable shared(table);
  const JobSpec spec = this->spec();
  const double one = auc(evaluation_of(table, spec));
  for (const std::uint32_t members : {2u, 3u}) {
    LocalGroup group(deal(shared.blocks(), members));
    Workers workers(shared, table.schema(), spec, group);
    for (std::uint32_t i = 0; i < members; ++i) workers.start(i);
    workers.join();
    const json many = evaluation(workers);
    EXPECT_NEAR(auc(many), one, margin(GetParam())) << members;
    // Which model it is, is told with it.
    EXPECT_EQ(many["model"]["together"]["workers"], members);
    EXPECT_EQ(many["model"]["together"]["strategy"], GetParam());
    const std::string taken = many["model"]["together"]["taken"];
    const std::set<std::string> known = {"centre", "mean", "merged", "best", "same"};
    EXPECT_TRUE(known.contains(taken)) << taken;
  }
}

TEST_P(Conformance, GoesOnWithoutALostWorker) {
  auto table = logistic_table(20'000, 33, 500);
  SharedTable shared(table);
  const JobSpec spec = this->spec();
  const json one = evaluation_of(table, spec);
  for (const std::uint32_t lost : {0u, 2u}) {
    LocalGroup group(deal(shared.blocks(), 3));
    Workers workers(shared, table.schema(), spec, group);
    workers.observer(lost).at = [&](std::uint64_t step) {
      if (step == 3) group.cut(lost, 1);
    };
    for (std::uint32_t i = 0; i < 3; ++i) workers.start(i);
    workers.join();
    EXPECT_EQ(workers.of(lost).error().code(), Errc::unavailable);
    const json many = evaluation(workers, lost == 0 ? 1 : 0);
    EXPECT_EQ(one["rows"], many["rows"]) << "the heir has the rows of the one that was lost";
    EXPECT_NEAR(auc(one), auc(many), margin(GetParam())) << lost;
  }
}

TEST_P(Conformance, TakesInOneThatJoins) {
  auto table = logistic_table(20'000, 34, 500);
  SharedTable shared(table);
  const JobSpec spec = this->spec();
  LocalGroup group(deal(shared.blocks(), 2));
  Workers workers(shared, table.schema(), spec, group);
  std::mutex mutex;
  std::condition_variable there;
  std::optional<std::uint32_t> joined;
  workers.observer(2);
  workers.observer(0).at = [&](std::uint64_t step) {
    if (step != 3) return;
    const std::lock_guard lock(mutex);
    joined = group.add(0);
    there.notify_all();
  };
  workers.start(0);
  workers.start(1);
  {
    std::unique_lock lock(mutex);
    there.wait(lock, [&] { return joined.has_value(); });
  }
  workers.start(*joined, true);
  workers.join();
  ASSERT_TRUE(workers.of(2).has_value()) << workers.of(2).error().message();
  const json one = evaluation_of(table, spec);
  const json many = evaluation(workers);
  EXPECT_EQ(one["rows"], many["rows"]);
  EXPECT_NEAR(auc(one), auc(many), margin(GetParam()));
}

TEST_P(Conformance, GoesOnFromACheckpoint) {
  auto table = logistic_table(20'000, 35, 500);
  SharedTable shared(table);
  const JobSpec spec = this->spec();
  Bytes saved, model;
  {
    LocalGroup group(deal(shared.blocks(), 2));
    Workers workers(shared, table.schema(), spec, group);
    workers.options.checkpoint_steps = 4;
    for (std::uint32_t i = 0; i < 2; ++i) workers.start(i);
    workers.join();
    ASSERT_TRUE(workers.of(0).has_value()) << workers.of(0).error().message();
    model = workers.of(0)->model;
    const auto& all = workers.observer(0).checkpoints;
    ASSERT_FALSE(all.empty());
    EXPECT_TRUE(workers.observer(1).checkpoints.empty()) << "the lead alone saves";
    saved = std::next(all.begin(), static_cast<std::ptrdiff_t>(all.size() / 2))->second;
  }
  LocalGroup group(deal(shared.blocks(), 2));
  Workers workers(shared, table.schema(), spec, group);
  for (std::uint32_t i = 0; i < 2; ++i) workers.start(i, false, saved);
  workers.join();
  EXPECT_NEAR(auc(evaluation(workers)), auc(evaluation_of(table, spec)), margin(GetParam()));
  if (strategy_in_step(spec.strategy)) {
    EXPECT_EQ(model, workers.of(0)->model) << "in step: the same bits";
  }
}

// A rule sees what a codec made of the vectors.
TEST_P(Conformance, LearnsWithEveryCodec) {
  auto table = logistic_table(12'000, 38, 250);
  SharedTable shared(table);
  JobSpec spec = this->spec();
  const double one = auc(evaluation_of(table, spec));
  for (const std::string_view codec : codec_names()) {
    spec.strategy.codec = codec;
    LocalGroup group(deal(shared.blocks(), 3));
    Workers workers(shared, table.schema(), spec, group);
    for (std::uint32_t i = 0; i < 3; ++i) workers.start(i);
    workers.join();
    for (std::uint32_t i = 0; i < 3; ++i)
      ASSERT_TRUE(workers.of(i).has_value()) << codec << ": " << workers.of(i).error().message();
    EXPECT_NEAR(auc(evaluation(workers)), one, 2 * margin(GetParam())) << codec;
  }
}

// What the table says of a round is what a round takes.
TEST_P(Conformance, ARoundCostsWhatItsSheetSays) {
  for (const std::size_t count : {2u, 4u}) {
    Members members;
    members.strategy.kind = GetParam();
    members.strategy.tau = 2;
    // Of gradients: doubles.
    const bool gradients = find_strategy(GetParam())->gradients;
    if (gradients) members.cell = {2, false};
    members.members = count;
    members.floats = 200'000;
    members.steps = 40;
    const auto out = members.run([](std::uint32_t member, std::uint32_t, std::vector<float>& x) {
      for (std::size_t i = member; i < x.size(); i += 97) x[i] += 0.01f;
    });
    const RoundCost cost = find_strategy(GetParam())->cost({count, members.floats, members.cell, 2, "fp32"});
    double bytes = 0, rounds = 0;
    for (const auto& one : out) {
      bytes += static_cast<double>(one.bytes);
      rounds += static_cast<double>(one.figures.rounds);
    }
    ASSERT_GT(rounds, 0);
    EXPECT_EQ(cost.steps, GetParam() == "allreduce" ? 1 : 2);
    EXPECT_LT(bytes / rounds, 1.1 * cost.bytes) << count;
    // Where nobody waits, a piece whose answer is still to come is left out of a round.
    const bool free = !cost.waits && find_strategy(GetParam())->cost != find_strategy("gossip")->cost;
    EXPECT_GT(bytes / rounds, free ? 0 : 0.9 * cost.bytes) << count;
  }
}

TEST(Strategies, MembersThatAreSetAreAlikeToTheBit) {
  for (const char* kind : {"averaging", "bmuf"}) {
    Members members;
    members.strategy.kind = kind;
    members.strategy.tau = 5;
    members.floats = 1000;
    const auto out = members.run([](std::uint32_t member, std::uint32_t step, std::vector<float>& x) {
      for (std::size_t i = 0; i < x.size(); ++i)
        x[i] += 0.001f * static_cast<float>((i * 7 + member * 13 + step) % 101);
    });
    for (const auto& one : out) EXPECT_EQ(one.x, out[0].x) << kind;
  }
}

// f = (x - 1)²/2, N = 4 members, rounds of 5 steps: what is kept apart pays off.
TEST(Strategies, BlockMomentumReachesTheMinimumSoonerWhenItLooksAhead) {
  const auto error = [](bool nesterov) {
    Members members;
    members.strategy.kind = "bmuf";
    members.strategy.nesterov = nesterov;
    members.strategy.tau = 5;
    members.members = 4;
    members.steps = 5 * 30;
    const auto out = members.run([](std::uint32_t, std::uint32_t, std::vector<float>& x) {
      for (float& one : x) one -= 0.02f * (one - 1);
    });
    double most = 0;
    for (const auto& one : out) {
      for (const float value : one.centre) most = std::max(most, std::abs(static_cast<double>(value) - 1));
    }
    return most;
  };
  const double classic = error(false);
  const double ahead = error(true);
  EXPECT_LT(classic, 0.1);
  EXPECT_LT(ahead, classic / 4);
}

TEST(Strategies, NobodyIsFurtherAheadThanTheStalenessAllows) {
  for (const std::uint32_t staleness : {0u, 2u}) {
    Members members;
    members.strategy.kind = "ssp";
    members.strategy.tau = 1;
    members.strategy.staleness = staleness;
    members.steps = 60;
    std::array<std::atomic<std::uint32_t>, 3> at{};
    std::atomic<std::uint32_t> most = 0;
    members.run([&](std::uint32_t member, std::uint32_t step, std::vector<float>& x) {
      x[0] += 1;
      at[member] = step;
      std::uint32_t slowest = step;
      for (const auto& other : at) slowest = std::min(slowest, other.load());
      std::uint32_t seen = most;
      while (step - slowest > seen && !most.compare_exchange_weak(seen, step - slowest)) continue;
      if (member == 2) std::this_thread::yield();
    });
    // A member at its step s + 1 has had its answer in round s + 1, for which the slowest has made at least
    // s + 1 - staleness.
    EXPECT_LE(most, staleness + 1) << staleness;
  }
}

// Nothing that a member adds is lost or counted twice.
TEST(Strategies, WhatIsAddedIsTheSumOfAll) {
  for (const char* kind : {"ssp", "downpour"}) {
    Members members;
    members.strategy.kind = kind;
    members.strategy.tau = 1;
    members.strategy.staleness = 0;
    members.cell = {2, true};  // cells of sums
    members.steps = 40;
    const auto out = members.run([](std::uint32_t, std::uint32_t, std::vector<float>& x) {
      for (float& one : x) one += 1;
    });
    for (const auto& one : out) {
      for (const float value : one.centre) {
        // The first words are averaged: between 39 and 40 rounds of three.
        EXPECT_LE(value, 120) << kind;
        // Who does not wait may end with an answer still to come.
        EXPECT_GE(value, std::string(kind) == "ssp" ? 117 : 1) << kind;
      }
    }
  }
}

// Of four members and three floats the first owns none: the others need nothing of it.
TEST(Strategies, ASlowMemberDoesNotHoldUpAQuorum) {
  Members members;
  members.strategy.kind = "quorum";
  members.strategy.tau = 1;
  members.members = 4;
  members.floats = 3;
  std::array<std::atomic<std::uint32_t>, 4> at{};
  const auto out = members.run([&](std::uint32_t member, std::uint32_t step, std::vector<float>& x) {
    for (float& one : x) one += 1;
    at[member] = step;
    at[member].notify_all();
    // In its fifth step until the others have made fifteen: they do without it.
    for (std::size_t other = 1; member == 0 && step == 5 && other < 4; ++other) {
      for (std::uint32_t now = at[other]; now < 15; now = at[other]) at[other].wait(now);
    }
  });
  for (const auto& one : out) EXPECT_EQ(one.figures.rounds, 20u);
}

// From the last tenth on nobody hears of anybody: each ends with what was dealt to it, and together they did
// what was asked for.
TEST(Strategies, ThoseWhoHearNothingMoreEndWithTheRowsDealtToThem) {
  constexpr std::uint64_t kRows = 2000, kStep = 10, kStepsTogether = 63;
  LocalGroup group(std::vector<std::vector<std::uint32_t>>(2));
  std::barrier both(2);
  std::array<std::uint64_t, 2> did{};
  const auto member = [&](std::uint32_t number) {
    struct Leave {
      std::barrier<>& both;
      ~Leave() { both.arrive_and_drop(); }
    } leave{both};
    Council council(group.member(number), false);
    std::vector<float> x(8);
    const auto together = make_strategy(council, StrategySpec{}, CellKind{1, false});
    together->set_rows_to_do(kRows);
    ASSERT_TRUE(together->begin({x, {}}, {}));
    // One does twice the rows of the other.
    const std::uint64_t rows = kStep * (number + 1);
    for (std::uint64_t step = 1; !together->share_done() && did[number] < kRows; ++step) {
      ASSERT_TRUE(together->stepped(rows, 0.001, 0.001));
      did[number] += rows;
      if (step < kStepsTogether) both.arrive_and_wait();
      if (step == kStepsTogether) group.delay(number, std::chrono::hours(1));
    }
  };
  std::thread other(member, 1);
  member(0);
  other.join();
  EXPECT_GE(did[0] + did[1], kRows);
  EXPECT_LE(did[0] + did[1], kRows + 4 * kStep);
  EXPECT_NEAR(static_cast<double>(did[1]) / static_cast<double>(did[0]), 2, 0.15);
}

TEST(Strategies, TheFirstStepsOfOneAreEverybodysBeginning) {
  auto table = logistic_table(20'000, 37, 500);
  SharedTable shared(table);
  JobSpec spec = job("yes", {{"solver", "ftrl"}, {"passes", 3}, {"early_stop", false}});
  spec.strategy.sync = true;
  const double one = auc(evaluation_of(table, spec));
  std::vector<Bytes> models;
  for (const std::uint32_t warm : {0u, 4u, 4u}) {
    spec.strategy.warm_steps = warm;
    LocalGroup group(deal(shared.blocks(), 3));
    Workers workers(shared, table.schema(), spec, group);
    for (std::uint32_t i = 0; i < 3; ++i) workers.start(i);
    workers.join();
    ASSERT_TRUE(workers.of(0).has_value()) << workers.of(0).error().message();
    EXPECT_NEAR(auc(json::parse(workers.of(0)->evaluation_json)), one, 0.003);
    models.push_back(workers.of(0)->model);
  }
  EXPECT_NE(models[0], models[1]);
  EXPECT_EQ(models[1], models[2]);
}

}  // namespace
}  // namespace samovar::trainer
