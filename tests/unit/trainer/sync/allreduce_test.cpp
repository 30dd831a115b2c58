// Gradients of all workers in every step: the same bits, whoever has which rows.
#include <gtest/gtest.h>

#include <random>

#include "tests/unit/trainer/sync/together.hpp"
#include "trainer/models/model_file.hpp"
#include "trainer/solvers/exact_sum.hpp"

namespace samovar::trainer {
namespace {

using nlohmann::json;

JobSpec spec_of(const char* solver, const char* target = "yes", unsigned passes = 3) {
  JobSpec spec = job(target, {{"solver", solver}, {"passes", passes}});
  spec.strategy.kind = "allreduce";
  return spec;
}

struct Weights {
  std::vector<float> weights;
  std::vector<double> intercepts;
  friend bool operator==(const Weights&, const Weights&) = default;
};
Weights weights_of(const Result<Trained>& trained) {
  EXPECT_TRUE(trained.has_value()) << (trained ? "" : trained.error().message());
  if (!trained || trained->model.empty()) {
    ADD_FAILURE() << "no model";
    return {};
  }
  auto opened = decode_model(trained->model);
  EXPECT_TRUE(opened.has_value());
  return {opened->glm.weights, opened->glm.intercepts};
}

TEST(ExactGrid, SumsDoNotDependOnTheirOrder) {
  std::mt19937_64 luck(3);
  std::normal_distribution<double> normal(0, 100);
  const ExactGrid grid(1000, 64);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<double> numbers(64);
    for (double& number : numbers) number = grid.round(normal(luck) * std::exp(normal(luck) / 20));
    double first = 0, last = 0;
    for (const double number : numbers) first += number;
    std::shuffle(numbers.begin(), numbers.end(), luck);
    for (const double number : numbers) last += number;
    EXPECT_EQ(first, last);
  }
  EXPECT_NEAR(grid.round(1.0 / 3), 1.0 / 3, 1e-9);
  EXPECT_EQ(grid.round(1e9), 1024) << "cut at the bound";
  EXPECT_TRUE(std::isnan(grid.round(std::nan(""))));
}

TEST(Allreduce, OneToFourWorkersGiveTheSameBits) {
  auto table = logistic_table(6000, 41, 250);
  SharedTable shared(table);
  for (const auto& [solver, target] :
       {std::pair("adagrad", "yes"), {"ftrl", "yes"}, {"sgd", "amount"}, {"adam", "class"}}) {
    const JobSpec spec = spec_of(solver, target);
    const Weights alone = weights_of(train_on(table, spec));
    for (const std::uint32_t members : {1u, 2u, 3u, 4u}) {
      LocalGroup group(deal(shared.blocks(), members));
      Workers workers(shared, table.schema(), spec, group);
      for (std::uint32_t i = 0; i < members; ++i) workers.start(i);
      workers.join();
      EXPECT_EQ(alone, weights_of(workers.of(0))) << solver << " " << members;
    }
  }
}

TEST(Allreduce, ExactCodecsGiveTheSameBits) {
  auto table = logistic_table(3000, 44, 250);
  SharedTable shared(table);
  JobSpec spec = spec_of("adagrad");
  const Weights alone = weights_of(train_on(table, spec));
  spec.strategy.codec = "sparse";
  LocalGroup group(deal(shared.blocks(), 3));
  Workers workers(shared, table.schema(), spec, group);
  for (std::uint32_t i = 0; i < 3; ++i) workers.start(i);
  workers.join();
  EXPECT_EQ(alone, weights_of(workers.of(0)));
}

// Gradients that are rounded lead to about the same model, and all rows of all workers count.
TEST(Allreduce, EveryCodecReachesAboutTheSameLoss) {
  auto table = logistic_table(12'000, 45, 250);
  SharedTable shared(table);
  for (const char* solver : {"sgd", "adagrad"}) {
    JobSpec spec = spec_of(solver, "yes", 4);
    spec.parameters["early_stop"] = false;
    std::optional<double> whole;
    std::uint64_t rows = 0;
    for (const std::string_view codec : {"fp32", "fp16", "int8", "one_bit", "top_k"}) {
      spec.strategy.codec = codec;
      LocalGroup group(deal(shared.blocks(), 4));
      Workers workers(shared, table.schema(), spec, group);
      for (std::uint32_t i = 0; i < 4; ++i) workers.start(i);
      workers.join();
      ASSERT_TRUE(workers.of(0).has_value()) << codec << ": " << workers.of(0).error().message();
      const json evaluation = json::parse(workers.of(0)->evaluation_json);
      const double loss = evaluation["metrics"]["test"]["log_loss"]["value"];
      const std::uint64_t did = json::parse(workers.of(0)->summary_json)["rows"];
      if (!whole) {
        whole = loss;
        rows = did;
      }
      EXPECT_NEAR(loss, *whole, 0.003) << solver << " " << codec;
      EXPECT_EQ(did, rows) << solver << " " << codec;
    }
  }
}

// The others take the lead's state and go on with the rows of the one that was lost.
TEST(Allreduce, ALostWorkerChangesNoBit) {
  auto table = logistic_table(6000, 42, 250);
  SharedTable shared(table);
  const JobSpec spec = spec_of("ftrl");
  const Weights alone = weights_of(train_on(table, spec));
  for (const std::uint32_t lost : {0u, 1u, 2u}) {
    for (const std::uint64_t at : {1u, 5u, 9u}) {
      LocalGroup group(deal(shared.blocks(), 3));
      Workers workers(shared, table.schema(), spec, group);
      workers.observer(lost).at = [&](std::uint64_t step) {
        if (step == at) group.cut(lost, (lost + 1) % 3);
      };
      for (std::uint32_t i = 0; i < 3; ++i) workers.start(i);
      workers.join();
      EXPECT_EQ(alone, weights_of(workers.of(lost == 0 ? 1 : 0))) << lost << " at " << at;
    }
  }
}

TEST(Allreduce, GoesOnFromAnyStepWithAnyNumberOfWorkers) {
  auto table = logistic_table(3200, 43, 100);
  SharedTable shared(table);
  const JobSpec spec = spec_of("adagrad", "yes", 1);
  std::map<std::uint64_t, Bytes> checkpoints;
  Weights whole;
  {
    LocalGroup group(deal(shared.blocks(), 3));
    Workers workers(shared, table.schema(), spec, group);
    workers.options.checkpoint_steps = 1;
    for (std::uint32_t i = 0; i < 3; ++i) workers.start(i);
    workers.join();
    whole = weights_of(workers.of(0));
    checkpoints = workers.observer(0).checkpoints;
  }
  ASSERT_GE(checkpoints.size(), 48u);
  for (const auto& [step, bytes] : checkpoints) {
    const auto members = static_cast<std::uint32_t>(1 + step % 4);
    LocalGroup group(deal(shared.blocks(), members));
    Workers workers(shared, table.schema(), spec, group);
    for (std::uint32_t i = 0; i < members; ++i) workers.start(i, false, bytes);
    workers.join();
    ASSERT_EQ(whole, weights_of(workers.of(0))) << "from step " << step << " with " << members;
  }
}

}  // namespace
}  // namespace samovar::trainer
