// Whole jobs with each codec of the table.
#include <gtest/gtest.h>

#include "tests/unit/trainer/sync/together.hpp"
#include "trainer/sync/codec.hpp"

namespace samovar::trainer {
namespace {

class TrainCodecs : public testing::TestWithParam<std::string_view> {};

TEST_P(TrainCodecs, EverySolverComesCloseToOneWorker) {
  auto table = logistic_table(20'000, 14, 500);
  SharedTable shared(table);
  for (const char* solver : {"ftrl", "adagrad", "sgd", "adam"}) {
    JobSpec spec = job("yes", {{"solver", solver}, {"passes", 4}});
    spec.strategy.codec = GetParam();
    spec.strategy.tau = 2;
    const nlohmann::json one = evaluation_of(table, spec);
    LocalGroup group(deal(shared.blocks(), 2));
    Workers workers(shared, table.schema(), spec, group);
    for (std::uint32_t i = 0; i < 2; ++i) workers.start(i);
    workers.join();
    ASSERT_TRUE(workers.of(0).has_value()) << solver << ": " << workers.of(0).error().message();
    const auto many = nlohmann::json::parse(workers.of(0)->evaluation_json);
    EXPECT_NEAR(one["metrics"]["test"]["auc"]["value"].get<double>(),
                many["metrics"]["test"]["auc"]["value"].get<double>(), 0.005)
        << solver;
  }
}

// What the ends know of each other, and what answers left out, is in the checkpoint; chance is of the step.
TEST_P(TrainCodecs, InStepARunGoesOnFromAnyStepWithTheSameBits) {
  auto table = logistic_table(1600, 15, 100);
  SharedTable shared(table);
  JobSpec spec = job("yes", {{"solver", "ftrl"}, {"passes", 2}});
  spec.strategy.codec = GetParam();
  spec.strategy.tau = 1;
  const auto run = [&](std::uint64_t checkpoint_steps, const std::optional<Bytes>& from) {
    LocalGroup group(deal(shared.blocks(), 2));
    Workers workers(shared, table.schema(), spec, group);
    workers.options.checkpoint_steps = checkpoint_steps;
    for (std::uint32_t i = 0; i < 2; ++i) workers.start(i, false, from);
    workers.join();
    for (std::uint32_t i = 0; i < 2; ++i)
      EXPECT_TRUE(workers.of(i).has_value()) << (workers.of(i) ? "" : workers.of(i).error().message());
    return std::pair(workers.of(0) ? workers.of(0)->model : Bytes(), workers.observer(0).checkpoints);
  };
  for (const char* kind : {"easgd", "allreduce"}) {
    spec.strategy.kind = kind;
    spec.strategy.sync = spec.strategy.kind == "easgd";
    const auto [model, checkpoints] = run(1, std::nullopt);
    ASSERT_FALSE(model.empty());
    EXPECT_EQ(model, run(0, std::nullopt).first) << kind;
    ASSERT_GE(checkpoints.size(), 8u);
    for (const auto& [step, bytes] : checkpoints)
      ASSERT_EQ(model, run(0, bytes).first) << kind << " from step " << step;
  }
}

INSTANTIATE_TEST_SUITE_P(All, TrainCodecs, testing::ValuesIn(codec_names()),
                         [](const auto& one) { return std::string(one.param); });

}  // namespace
}  // namespace samovar::trainer
