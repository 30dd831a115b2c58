#include <gtest/gtest.h>

#include <atomic>

#include "tests/unit/trainer/sync/together.hpp"
#include "trainer/models/scorer.hpp"

namespace samovar::trainer {
namespace {

using nlohmann::json;

json evaluation_of_lead(const Result<Trained>& trained) {
  EXPECT_TRUE(trained.has_value()) << (trained ? "" : trained.error().message());
  if (!trained || trained->model.empty()) {
    ADD_FAILURE() << "the lead has no model";
    return json::object();
  }
  return json::parse(trained->evaluation_json);
}

json train_with(tests::MemoryTable& table, const JobSpec& spec, std::size_t members) {
  SharedTable shared(table);
  LocalGroup group(deal(shared.blocks(), members));
  Workers workers(shared, table.schema(), spec, group);
  for (std::uint32_t i = 0; i < members; ++i) workers.start(i);
  workers.join();
  for (std::uint32_t i = 1; i < members; ++i) {
    EXPECT_TRUE(workers.of(i).has_value()) << (workers.of(i) ? "" : workers.of(i).error().message());
    EXPECT_TRUE(!workers.of(i) || workers.of(i)->model.empty());
  }
  return evaluation_of_lead(workers.of(0));
}

double auc(const json& evaluation) { return evaluation["metrics"]["test"]["auc"]["value"]; }
double log_loss(const json& evaluation) { return evaluation["metrics"]["test"]["log_loss"]["value"]; }

// Solvers that add up over all rows: the same sums, so the same model within rounding.
TEST(TrainTogether, ExactSolversGiveWhatOneWorkerGives) {
  auto table = logistic_table(4000, 1, 250);
  for (const char* solver : {"irls", "lbfgs"}) {
    for (const char* target : {"yes", "amount"}) {
      const JobSpec spec = job(target, {{"solver", solver}});
      const json one = evaluation_of(table, spec);
      for (const std::size_t members : {2u, 3u}) {
        const json many = train_with(table, spec, members);
        ASSERT_EQ(one["rows"], many["rows"]);
        ASSERT_EQ(one["coefficients"].size(), many["coefficients"].size());
        for (const auto& [name, figure] : one["metrics"]["test"].items())
          EXPECT_NEAR(figure["value"].get<double>(), many["metrics"]["test"][name]["value"].get<double>(),
                      1e-6)
              << solver << " " << target << " " << name;
      }
    }
  }
}

TEST(TrainTogether, FiguresAreThoseOfOneWorkerOverAllRows) {
  auto table = logistic_table(6000, 2, 250);
  const JobSpec spec = job("yes", {{"solver", "irls"}});
  const json one = evaluation_of(table, spec);
  const json many = train_with(table, spec, 3);
  for (const char* part : {"roc", "pr", "calibration", "thresholds", "confusion", "baseline"}) {
    ASSERT_TRUE(many.contains(part)) << part;
    EXPECT_EQ(one[part].size(), many[part].size()) << part;
  }
  EXPECT_NEAR(auc(one), auc(many), 1e-6);
  EXPECT_EQ(one["subgroups"].size(), many["subgroups"].size());
  EXPECT_EQ(one["importance"].size(), many["importance"].size());
}

// xgboost #9271: all values that are missing sit on one worker.
TEST(TrainTogether, AColumnWhoseMissingValuesAllSitOnOneWorkerTrainsAsOnOne) {
  auto table = logistic_table(4000, 3, 250);
  for (std::size_t row = 0; row < 4000; ++row) {
    if ((row / 250) % 2 == 1 && row % 3 == 0) table.column(0)[row] = std::monostate{};
  }
  const JobSpec spec = job("yes", {{"solver", "irls"}});
  const json one = evaluation_of(table, spec);
  const json many = train_with(table, spec, 2);
  ASSERT_EQ(one["coefficients"].size(), many["coefficients"].size());
  EXPECT_NEAR(log_loss(one), log_loss(many), 1e-7);
}

TEST(TrainTogether, StreamingSolversComeCloseToOneWorker) {
  auto table = logistic_table(40'000, 4, 1000);
  for (const char* solver : {"ftrl", "adagrad"}) {
    const JobSpec spec = job("yes", {{"solver", solver}, {"passes", 5}});
    const json one = evaluation_of(table, spec);
    for (const std::size_t members : {1u, 2u, 3u}) {
      const json many = train_with(table, spec, members);
      EXPECT_EQ(one["rows"], many["rows"]);
      EXPECT_NEAR(auc(one), auc(many), 0.002) << solver << " " << members;
    }
  }
}

// Each fourth row's city has a name of its own, and they are all on one worker of four.
TEST(TrainTogether, AnInputThatOneWorkerAloneMeetsKeepsItsWeight) {
  auto table = logistic_table(40'000, 4, 1000);
  for (std::size_t row = 0; row < 40'000; ++row) {
    RawValue& city = table.column(2)[row];
    if ((row / 1000) % 4 == 1 && city == RawValue(std::string("Odesa"))) city = std::string("Sumy");
  }
  const auto sumy = [](const json& evaluation) -> double {
    for (const json& one : evaluation["coefficients"]) {
      if (one["level"] == "Sumy") return one["estimate"];
    }
    ADD_FAILURE() << evaluation["coefficients"];
    return 0;
  };
  for (const char* solver : {"ftrl", "adagrad"}) {
    JobSpec spec = job("yes", {{"solver", solver}, {"passes", 5}});
    spec.strategy.tau = 1'000'000;  // they never exchange anything but at the end
    const json one = evaluation_of(table, spec);
    const json many = train_with(table, spec, 4);
    EXPECT_NEAR(sumy(many) / sumy(one), 1, 0.35) << solver << sumy(one);
    EXPECT_EQ(many["model"]["together"]["taken"], "merged");
  }
}

TEST(TrainTogether, EverySecondOfAWorkerHasAName) {
  auto table = logistic_table(60'000, 4, 1000);
  SharedTable shared(table);
  const JobSpec spec = job("yes", {{"solver", "ftrl"}, {"passes", 20}, {"early_stop", false}});
  LocalGroup group(deal(shared.blocks(), 2));
  Workers workers(shared, table.schema(), spec, group);
  std::map<std::uint32_t, std::map<std::string, double>> first;
  for (const std::uint32_t member : {0u, 1u}) {
    StepObserver& own = workers.observer(member);
    own.at = [&first, &own, member](std::uint64_t) {
      first[member].insert(own.last.begin(), own.last.end());
    };
    first[member] = {};
  }
  for (const std::uint32_t member : {0u, 1u}) workers.start(member);
  workers.join();
  for (const std::uint32_t member : {0u, 1u}) {
    ASSERT_TRUE(workers.of(member));
    const auto grown = [&](const std::string& name) {
      return workers.observer(member).last.at(name) - first[member].at(name);
    };
    double named = 0;
    for (const char* name : {"data_wait_seconds", "encode_seconds", "step_seconds", "exchange_seconds",
                             "wait_seconds", "tell_seconds"})
      named += grown(name);
    // A busy machine may take the processor away between two looks at the clock.
    EXPECT_NEAR(named / grown("seconds"), 1, 0.2) << member;
  }
}

TEST(TrainTogether, SplitsByTimeAndFoldsAreThoseOfOneWorker) {
  auto table = logistic_table(3000, 5, 250);
  JobSpec spec = job("yes", {{"solver", "irls"}});
  spec.split.kind = SplitSpec::Kind::time;
  spec.split.column = "z";
  const json one = evaluation_of(table, spec);
  EXPECT_EQ(one["rows"], train_with(table, spec, 2)["rows"]);
  spec.split = {};
  spec.split.kind = SplitSpec::Kind::folds;
  spec.split.folds = 3;
  EXPECT_EQ(evaluation_of(table, spec)["rows"], train_with(table, spec, 2)["rows"]);
}

TEST(TrainTogether, WhatIsWrongWithTheDataIsToldByAll) {
  auto table = logistic_table(1000, 6, 100);
  for (auto& value : table.column(3)) value = true;
  SharedTable shared(table);
  const JobSpec spec = job("yes");
  LocalGroup group(deal(shared.blocks(), 2));
  Workers workers(shared, table.schema(), spec, group);
  workers.start(0);
  workers.start(1);
  workers.join();
  for (std::uint32_t i = 0; i < 2; ++i) {
    ASSERT_FALSE(workers.of(i).has_value());
    EXPECT_EQ(workers.of(i).error().code(), Errc::invalid);
  }
}

TEST(TrainTogether, AWorkerThatIsCutChangesNothingButTheTime) {
  auto table = logistic_table(40'000, 7, 1000);
  SharedTable shared(table);
  const JobSpec spec = job("yes", {{"solver", "ftrl"}, {"passes", 6}});
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
    const std::uint32_t lead = lost == 0 ? 1 : 0;
    const json many = evaluation_of_lead(workers.of(lead));
    EXPECT_EQ(one["rows"], many["rows"]) << "the heir has the rows of the one that was lost";
    EXPECT_NEAR(auc(one), auc(many), 0.002) << lost;
  }
}

// Whatever the others are at: learning columns, training, choosing, evaluating.
TEST(TrainTogether, AWorkerMayBeCutAtAnyMoment) {
  auto table = logistic_table(12'000, 11, 500);
  SharedTable shared(table);
  JobSpec spec = job("yes", {{"solver", "ftrl"}, {"passes", 3}});
  spec.strategy.tau = 1;
  for (std::uint64_t trial = 0; trial < 24; ++trial) {
    const auto lost = static_cast<std::uint32_t>(trial % 3);
    LocalGroup group(deal(shared.blocks(), 3));
    Workers workers(shared, table.schema(), spec, group);
    std::atomic<bool> over = false;
    // When it has said so much; a high number is never reached, and nobody is cut.
    const std::uint64_t after = trial * trial / 4;
    std::thread knife([&] {
      while (!over && group.messages_sent(lost) < after) std::this_thread::yield();
      if (!over) group.cut(lost, (lost + 1) % 3);
    });
    for (std::uint32_t i = 0; i < 3; ++i) workers.start(i);
    workers.join();
    over = true;
    knife.join();
    int models = 0;
    for (std::uint32_t i = 0; i < 3; ++i) {
      if (workers.of(i)) {
        models += workers.of(i)->model.empty() ? 0 : 1;
      } else {
        EXPECT_EQ(i, lost) << workers.of(i).error().message();
      }
    }
    // A lead that is cut with its last word has delivered, and the others cannot know: they deliver, too.
    const bool twice = models == 2 && workers.of(lost) && !workers.of(lost)->model.empty();
    EXPECT_TRUE(models == 1 || twice) << models << " in trial " << trial;
  }
}

TEST(TrainTogether, OneThatJoinsTakesPart) {
  auto table = logistic_table(40'000, 8, 1000);
  SharedTable shared(table);
  const JobSpec spec = job("yes", {{"solver", "ftrl"}, {"passes", 6}});
  LocalGroup group(deal(shared.blocks(), 2));
  Workers workers(shared, table.schema(), spec, group);
  std::optional<std::uint32_t> joined;
  std::mutex mutex;
  workers.observer(2);
  workers.observer(0).at = [&](std::uint64_t step) {
    if (step != 3) return;
    const std::lock_guard lock(mutex);
    joined = group.add(0);
  };
  workers.start(0);
  workers.start(1);
  for (;;) {
    {
      const std::lock_guard lock(mutex);
      if (joined) break;
    }
    std::this_thread::yield();
  }
  workers.start(*joined, true);
  workers.join();
  ASSERT_TRUE(workers.of(2).has_value()) << workers.of(2).error().message();
  const json many = evaluation_of_lead(workers.of(0));
  EXPECT_EQ(evaluation_of(table, spec)["rows"], many["rows"]);
}

TEST(TrainTogether, GoesOnFromACheckpointOfTheLead) {
  auto table = logistic_table(20'000, 9, 1000);
  SharedTable shared(table);
  const JobSpec spec = job("yes", {{"solver", "ftrl"}, {"passes", 6}});
  Bytes saved;
  {
    LocalGroup group(deal(shared.blocks(), 2));
    Workers workers(shared, table.schema(), spec, group);
    workers.options.checkpoint_steps = 5;
    for (std::uint32_t i = 0; i < 2; ++i) workers.start(i);
    workers.join();
    ASSERT_FALSE(workers.observer(0).checkpoints.empty());
    EXPECT_TRUE(workers.observer(1).checkpoints.empty()) << "the lead alone saves";
    auto middle = workers.observer(0).checkpoints.begin();
    std::advance(middle, workers.observer(0).checkpoints.size() / 2);
    saved = middle->second;
  }
  // With another number of workers, too.
  for (const std::size_t members : {1u, 2u, 3u}) {
    LocalGroup group(deal(shared.blocks(), members));
    Workers workers(shared, table.schema(), spec, group);
    for (std::uint32_t i = 0; i < members; ++i) workers.start(i, false, saved);
    workers.join();
    const json many = evaluation_of_lead(workers.of(0));
    EXPECT_NEAR(auc(many), auc(evaluation_of(table, spec)), 0.003) << members;
  }
}

}  // namespace
}  // namespace samovar::trainer
