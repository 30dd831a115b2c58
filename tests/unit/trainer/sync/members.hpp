// Members of a strategy as threads, each with a vector and a step of the test's own: no data, no solver.
#pragma once
#include <gtest/gtest.h>

#include <functional>
#include <thread>
#include <vector>

#include "trainer/sync/local_group.hpp"
#include "trainer/sync/strategies.hpp"

namespace samovar::trainer {

struct Members {
  struct Outcome {
    std::vector<float> x;
    std::vector<float> centre;  // the member's slice of it
    Together::Figures figures;
    std::uint64_t bytes = 0;  // sent while training
  };
  // What a member does with its vector in a step.
  using Step = std::function<void(std::uint32_t member, std::uint32_t step, std::vector<float>& x)>;

  StrategySpec strategy;
  CellKind cell{1, false};
  std::size_t floats = 8;
  std::size_t members = 3;
  std::uint32_t steps = 20;

  std::vector<Outcome> run(const Step& step) const {
    const std::vector<std::vector<std::uint32_t>> no_blocks(members);
    LocalGroup group(no_blocks);
    std::vector<Outcome> out(members);
    std::vector<std::thread> threads;
    for (std::uint32_t member = 0; member < members; ++member) {
      threads.emplace_back([&, member] { one(group, member, step, out[member]); });
    }
    for (std::thread& thread : threads) thread.join();
    return out;
  }

 private:
  void one(LocalGroup& group, std::uint32_t member, const Step& step, Outcome& out) const {
    Council council(group.member(member), false);
    out.x.assign(floats, 0);
    const auto together = make_strategy(council, strategy, cell);
    together->set_rows_to_do(std::uint64_t{steps} * members * 10);
    together->set_rows_of_step(10 * members);
    const auto began = together->begin({out.x, {}}, {});
    ASSERT_TRUE(began) << began.error().message();
    const std::uint64_t before = council.bytes_sent();
    for (std::uint32_t i = 0; i < steps; ++i) {
      step(member, i, out.x);
      const auto stepped = together->stepped(10, 0.001, 0.001);
      ASSERT_TRUE(stepped) << stepped.error().message();
    }
    out.bytes = council.bytes_sent() - before;
    out.figures = together->figures();
    ASSERT_TRUE(together->tell_done());
    while (!together->all_done()) ASSERT_TRUE(together->idle());
    out.centre.assign(together->slice().begin(), together->slice().end());
  }
};

}  // namespace samovar::trainer
