#include "base/task.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace samovar {
namespace {

using Done = std::function<void(int)>;

Task<int> value(int n) { co_return n; }

Task<int> sum_to(int n) {
  int total = 0;
  for (int i = 1; i <= n; ++i) total += co_await value(i);
  co_return total;
}

template <class T>
T finished(Task<T> task) {
  std::optional<T> result;
  spawn<T>(std::move(task), [&](T got) { result.emplace(std::move(got)); });
  EXPECT_TRUE(result.has_value()) << "the task suspended";
  return std::move(*result);
}

TEST(Task, RunsOnlyWhenAwaited) {
  bool ran = false;
  auto make = [&]() -> Task<void> {
    ran = true;
    co_return;
  };
  { Task<void> dropped = make(); }
  EXPECT_FALSE(ran);
  spawn(make());
  EXPECT_TRUE(ran);
}

TEST(Task, ReturnsThroughAChain) { EXPECT_EQ(finished(sum_to(10)), 55); }

// Symmetric transfer needs optimisation to keep the stack flat; without it each await nests, so the
// chain here stays within any build's stack.
TEST(Task, LongChainsOfReadyTasksComplete) { EXPECT_EQ(finished(sum_to(5000)), 5000 * 5001 / 2); }

TEST(Task, CarriesMoveOnlyValues) {
  auto make = []() -> Task<std::unique_ptr<int>> { co_return std::make_unique<int>(3); };
  EXPECT_EQ(*finished(make()), 3);
}

TEST(Task, MovedTaskStillRuns) {
  Task<int> first = value(4);
  Task<int> second = std::move(first);
  first = value(5);
  EXPECT_EQ(finished(std::move(second)), 4);
  EXPECT_EQ(finished(std::move(first)), 5);
}

TEST(Task, FromCallbackGoesOnWhenCalledLater) {
  std::vector<Done> waiting;
  std::vector<int> got;
  auto body = [&]() -> Task<void> {
    got.push_back(co_await from_callback<int>([&](Done done) { waiting.push_back(std::move(done)); }));
    got.push_back(co_await from_callback<int>([&](Done done) { waiting.push_back(std::move(done)); }));
  };
  spawn(body());
  ASSERT_EQ(waiting.size(), 1U);
  waiting[0](1);
  EXPECT_EQ(got, (std::vector<int>{1}));
  ASSERT_EQ(waiting.size(), 2U);
  waiting[1](2);
  EXPECT_EQ(got, (std::vector<int>{1, 2}));
}

TEST(Task, FromCallbackMayAnswerAtOnce) {
  auto body = []() -> Task<int> { co_return co_await from_callback<int>([](Done done) { done(9); }); };
  EXPECT_EQ(finished(body()), 9);
}

TEST(Task, CoTryLeavesWithTheError) {
  auto fail = []() -> Task<Result<int>> { co_return Error{Errc::timeout, "late"}; };
  auto outer = [&]() -> Task<Result<std::string>> {
    SAMOVAR_CO_TRY(const int n, co_await fail());
    co_return std::to_string(n);
  };
  const auto result = finished(outer());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), Errc::timeout);
}

TEST(Task, CoCheckLeavesWithTheError) {
  auto step = [](bool ok) -> Task<Result<void>> {
    if (!ok) co_return Error{Errc::io, "no"};
    co_return Result<void>{};
  };
  auto outer = [&](bool ok) -> Task<Result<void>> {
    SAMOVAR_CO_CHECK(co_await step(true));
    SAMOVAR_CO_CHECK(co_await step(ok));
    co_return Result<void>{};
  };
  EXPECT_TRUE(finished(outer(true)));
  EXPECT_FALSE(finished(outer(false)));
}

// Parameters and locals live as long as the body, and no longer.
TEST(Task, FreesItsFrameAtTheEnd) {
  auto token = std::make_shared<int>(1);
  const std::weak_ptr<int> watch = token;
  Done go;
  auto body = [](std::shared_ptr<int> held, Done* start) -> Task<void> {
    auto begin = [start](Done done) { *start = std::move(done); };
    co_await from_callback<int>(begin);
    EXPECT_EQ(*held, 1);
  };
  spawn(body(std::move(token), &go));
  EXPECT_FALSE(watch.expired());
  go(0);
  EXPECT_TRUE(watch.expired());
}

TEST(TaskDeathTest, AnExceptionThatEscapesIsOurBug) {
  auto body = []() -> Task<void> {
    throw 1;
    co_return;
  };
  EXPECT_DEATH(spawn(body()), "no exception leaves a Task");
}

}  // namespace
}  // namespace samovar
