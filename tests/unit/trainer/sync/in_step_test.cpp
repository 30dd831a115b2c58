// Workers that go in step: the same run gives the same bits, also one that was interrupted.
#include <gtest/gtest.h>

#include "tests/unit/trainer/sync/together.hpp"

namespace samovar::trainer {
namespace {

using nlohmann::json;

JobSpec in_step(const char* kind, unsigned passes = 3) {
  JobSpec spec = job("yes", {{"solver", "ftrl"}, {"passes", passes}, {"early_stop", false}});
  spec.strategy.kind = kind;
  spec.strategy.sync = true;
  return spec;
}

struct Outcome {
  Bytes model;
  json evaluation;
  std::map<std::uint64_t, Bytes> checkpoints;
};

Outcome run(SharedTable& shared, const Schema& schema, const JobSpec& spec, std::size_t members,
            std::uint64_t checkpoint_steps = 0, std::optional<Bytes> from = std::nullopt) {
  LocalGroup group(deal(shared.blocks(), members));
  Workers workers(shared, schema, spec, group);
  workers.options.checkpoint_steps = checkpoint_steps;
  for (std::uint32_t i = 0; i < members; ++i) workers.start(i, false, from);
  workers.join();
  for (std::uint32_t i = 0; i < members; ++i)
    EXPECT_TRUE(workers.of(i).has_value()) << (workers.of(i) ? "" : workers.of(i).error().message());
  Outcome out;
  if (!workers.of(0)) return out;
  out.model = workers.of(0)->model;
  out.evaluation = json::parse(workers.of(0)->evaluation_json);
  out.checkpoints = workers.observer(0).checkpoints;
  EXPECT_FALSE(out.model.empty());
  return out;
}

double auc(const json& evaluation) { return evaluation["metrics"]["test"]["auc"]["value"]; }

class InStep : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Strategies, InStep, testing::Values("easgd", "averaging", "bmuf"),
                         [](const auto& one) { return std::string(one.param); });

TEST_P(InStep, TheSameRunGivesTheSameBits) {
  auto table = logistic_table(6000, 21, 250);
  SharedTable shared(table);
  for (const std::size_t members : {2u, 3u}) {
    const JobSpec spec = in_step(GetParam());
    const Outcome first = run(shared, table.schema(), spec, members);
    for (int again = 0; again < 3; ++again)
      EXPECT_EQ(first.model, run(shared, table.schema(), spec, members).model) << members;
  }
}

// Every step is the end of a round, and every round is saved.
TEST_P(InStep, GoesOnFromAnyStepOfFiftyWithTheSameBits) {
  auto table = logistic_table(3200, 22, 100);
  SharedTable shared(table);
  JobSpec spec = in_step(GetParam());
  spec.strategy.tau = 1;
  const Outcome whole = run(shared, table.schema(), spec, 3, 1);
  ASSERT_GE(whole.checkpoints.size(), 48u);
  for (const auto& [step, bytes] : whole.checkpoints)
    ASSERT_EQ(whole.model, run(shared, table.schema(), spec, 3, 0, bytes).model) << "from step " << step;
}

// Between two rounds nothing is saved: a run goes on from the end of the last one.
TEST_P(InStep, SavesAtTheEndOfRounds) {
  auto table = logistic_table(3200, 23, 100);
  SharedTable shared(table);
  JobSpec spec = in_step(GetParam());
  spec.strategy.tau = 4;
  const Outcome whole = run(shared, table.schema(), spec, 2, 1);
  ASSERT_FALSE(whole.checkpoints.empty());
  for (const auto& [step, bytes] : whole.checkpoints) {
    EXPECT_EQ(step % 4, 0u);
    EXPECT_EQ(whole.model, run(shared, table.schema(), spec, 2, 0, bytes).model) << "from step " << step;
  }
}

// What a codec left out is part of the checkpoint.
TEST_P(InStep, GoesOnWithTheSameBitsWithEveryCodec) {
  auto table = logistic_table(3200, 28, 100);
  SharedTable shared(table);
  JobSpec spec = in_step(GetParam(), 2);
  spec.strategy.tau = 2;
  for (const char* codec : {"fp16", "int8", "one_bit", "top_k", "sparse"}) {
    spec.strategy.codec = codec;
    const Outcome whole = run(shared, table.schema(), spec, 3, 2);
    EXPECT_EQ(whole.model, run(shared, table.schema(), spec, 3).model) << codec << ": the same run";
    ASSERT_GE(whole.checkpoints.size(), 4u);
    const auto middle = std::next(whole.checkpoints.begin(), 3);
    EXPECT_EQ(whole.model, run(shared, table.schema(), spec, 3, 0, middle->second).model) << codec;
  }
}

TEST_P(InStep, OtherWorkersGoOnFromItToo) {
  auto table = logistic_table(8000, 24, 250);
  SharedTable shared(table);
  const JobSpec spec = in_step(GetParam(), 5);
  const Outcome whole = run(shared, table.schema(), spec, 3, 8);
  ASSERT_FALSE(whole.checkpoints.empty());
  auto middle = whole.checkpoints.begin();
  std::advance(middle, whole.checkpoints.size() / 2);
  for (const std::size_t members : {1u, 2u, 4u})
    EXPECT_NEAR(auc(run(shared, table.schema(), spec, members, 0, middle->second).evaluation),
                auc(whole.evaluation), 0.005)
        << members;
}

// The same rows in a step of all together, so much the same model.
TEST_P(InStep, OneToFourWorkersAgree) {
  auto table = logistic_table(20'000, 25, 250);
  SharedTable shared(table);
  const JobSpec spec = in_step(GetParam(), 5);
  const double one = auc(evaluation_of(table, spec));
  for (const std::size_t members : {1u, 2u, 3u, 4u})
    EXPECT_NEAR(auc(run(shared, table.schema(), spec, members).evaluation), one, 0.002) << members;
}

TEST_P(InStep, EndsEarlyTogetherWhenTheLossRises) {
  auto table = logistic_table(2000, 26, 100);
  SharedTable shared(table);
  JobSpec spec = in_step(GetParam(), 40);
  spec.parameters["early_stop"] = true;
  spec.parameters["solver"] = "adagrad";
  spec.parameters["learning_rate"] = 2.0;
  const Outcome first = run(shared, table.schema(), spec, 2);
  EXPECT_EQ(first.model, run(shared, table.schema(), spec, 2).model);
}

TEST_P(InStep, AWorkerWithoutRowsKeepsThePace) {
  auto table = logistic_table(2000, 27, 1000);
  SharedTable shared(table);
  const JobSpec spec = in_step(GetParam());
  const Outcome first = run(shared, table.schema(), spec, 3, 4);
  EXPECT_EQ(first.model, run(shared, table.schema(), spec, 3).model);
  ASSERT_FALSE(first.checkpoints.empty());
  EXPECT_EQ(first.model, run(shared, table.schema(), spec, 3, 0, first.checkpoints.begin()->second).model);
}

}  // namespace
}  // namespace samovar::trainer
