// The first steps of one worker alone (strategy.warm_steps).
#include <gtest/gtest.h>

#include "tests/unit/trainer/features/fitted.hpp"
#include "trainer/solvers/stream.hpp"
#include "trainer/sync/council.hpp"
#include "trainer/sync/local_group.hpp"

namespace samovar::trainer {
namespace {

struct StopAfter final : StepHooks {
  int left = 3;
  Result<void> stepped(const StepReport&, const std::function<void(StateWriter&)>&) override { return {}; }
  Result<void> waiting() override {
    if (left-- > 0) return {};
    return Error{Errc::conflict, "stopped as asked"};
  }
};

TEST(StreamWarmUp, IsStoppedWhenAsked) {
  tests::MemoryTable table({{{"y", ColumnType::boolean}, {"age", ColumnType::integer}}});
  for (std::int64_t i = 0; i < 3000; ++i) table.add({i % 3 == 0, i % 90});
  const Fitted fitted = fit(table, spec_for("y"));
  // The other never comes, and who asks for it gets an error.
  LocalGroup group({{0}, {1}});
  Council council(group.member(0), false);
  group.cut(0);
  RowSourceOptions read;
  read.batch_rows = 100;
  read.council = &council;
  RowSource rows(table, table.schema(), *fitted.pipeline, *fitted.splitter, read);
  Problem problem;
  problem.width = fitted.pipeline->weights();
  StreamOptions options;
  options.solver = SolverKind::ftrl;
  options.strategy.warm_steps = 20;
  options.all_rows = 3000;
  StopAfter hooks;
  const auto fitting = solve_by_stream(rows, problem, options, hooks, nullptr);
  ASSERT_FALSE(fitting);
  EXPECT_EQ(fitting.error().code(), Errc::conflict) << fitting.error().message();
  EXPECT_EQ(hooks.left, -1);
}

}  // namespace
}  // namespace samovar::trainer
