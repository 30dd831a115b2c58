#include "base/pool.hpp"

#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <future>
#include <stdexcept>

#include "base/asio_loop.hpp"
#include "base/sim/sim_loop.hpp"

namespace samovar {
namespace {

// Spawned on a loop of its own; gives what `body` gave.
template <class T>
T on_loop(AsioLoop& loop, Task<T> body) {
  std::optional<T> result;
  loop.post([&, task = std::make_shared<Task<T>>(std::move(body))] {
    spawn<T>(std::move(*task), [&](T got) {
      result.emplace(std::move(got));
      loop.stop();
    });
  });
  loop.run();
  return std::move(*result);
}

TEST(Pool, RunsEverythingSubmittedBeforeItDies) {
  std::atomic<int> ran{0};
  {
    Pool pool("test", 3, 1000);
    for (int i = 0; i < 1000; ++i) ASSERT_TRUE(pool.submit([&] { ++ran; }));
  }
  EXPECT_EQ(ran, 1000);
}

TEST(Pool, RefusesWhenTheQueueIsFull) {
  std::promise<void> started;
  std::promise<void> go;
  std::atomic<int> ran{0};
  {
    Pool pool("test", 1, 2);
    ASSERT_TRUE(pool.submit([&] {
      started.set_value();
      go.get_future().wait();
      ++ran;
    }));
    started.get_future().wait();
    ASSERT_TRUE(pool.submit([&] { ++ran; }));
    ASSERT_TRUE(pool.submit([&] { ++ran; }));
    EXPECT_FALSE(pool.submit([&] { ran += 100; }));
    go.set_value();
  }
  EXPECT_EQ(ran, 3);
}

TEST(Pool, NamesItsThreads) {
  std::promise<std::string> name;
  {
    Pool pool("a-long-pool-name", 1, 1);
    ASSERT_TRUE(pool.submit([&] {
      char text[16] = {};
      pthread_getname_np(pthread_self(), text, sizeof text);
      name.set_value(text);
    }));
  }
  EXPECT_EQ(name.get_future().get(), "a-long-pool-nam");
}

TEST(Pool, WorkThatThrowsDoesNotEndTheThread) {
  std::atomic<bool> ran{false};
  {
    Pool pool("test", 1, 4);
    ASSERT_TRUE(pool.submit([] { throw std::runtime_error("library"); }));
    ASSERT_TRUE(pool.submit([&] { ran = true; }));
  }
  EXPECT_TRUE(ran);
}

TEST(RunOn, WorksOnThePoolAndGoesOnOnTheLoop) {
  AsioLoop loop;
  Pool pool("test", 2, 8);
  auto body = [&]() -> Task<Result<int>> {
    const auto loop_thread = std::this_thread::get_id();
    auto work = [&loop] { return loop.in_loop() ? -1 : 42; };
    SAMOVAR_CO_TRY(const int n, co_await run_on(pool, loop, work));
    EXPECT_TRUE(loop.in_loop());
    EXPECT_EQ(std::this_thread::get_id(), loop_thread);
    co_return n;
  };
  EXPECT_EQ(*on_loop(loop, body()), 42);
}

TEST(RunOn, FlattensResultsAndTakesVoidAndMoveOnly) {
  AsioLoop loop;
  Pool pool("test", 1, 8);
  auto body = [&]() -> Task<Result<std::unique_ptr<int>>> {
    auto fail = [] { return Result<int>(Error{Errc::denied, "no"}); };
    const Result<int> failed = co_await run_on(pool, loop, fail);
    EXPECT_EQ(failed.error().code(), Errc::denied);
    bool ran = false;
    auto nothing = [&ran] { ran = true; };
    const Result<void> done = co_await run_on(pool, loop, nothing);
    EXPECT_TRUE(done);
    EXPECT_TRUE(ran);
    auto owned = [held = std::make_unique<int>(6)]() mutable { return std::move(held); };
    co_return co_await run_on(pool, loop, std::move(owned));
  };
  EXPECT_EQ(**on_loop(loop, body()), 6);
}

TEST(RunOn, AnExceptionBecomesAnError) {
  AsioLoop loop;
  Pool pool("test", 1, 8);
  auto body = [&]() -> Task<Result<int>> {
    auto work = []() -> int { throw std::runtime_error("library says no"); };
    co_return co_await run_on(pool, loop, work);
  };
  const auto result = on_loop(loop, body());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), Errc::internal);
  EXPECT_NE(result.error().message().find("library says no"), std::string::npos);
}

TEST(RunOn, AFullPoolIsBusy) {
  AsioLoop loop;
  std::promise<void> started;
  std::promise<void> go;
  Pool pool("tiny", 1, 1);
  ASSERT_TRUE(pool.submit([&] {
    started.set_value();
    go.get_future().wait();
  }));
  started.get_future().wait();
  ASSERT_TRUE(pool.submit([] {}));
  auto body = [&]() -> Task<Result<int>> {
    auto work = [] { return 1; };
    co_return co_await run_on(pool, loop, work);
  };
  const auto result = on_loop(loop, body());
  go.set_value();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), Errc::busy);
}

TEST(RunOn, RunsInASimulationWithoutThreads) {
  SimScheduler world(1);
  SimLoop loop(world);
  Pool pool("sim", 0, 1);
  std::optional<Result<int>> got;
  auto body = [&]() -> Task<Result<int>> {
    auto work = [] { return 5; };
    co_return co_await run_on(pool, loop, work);
  };
  spawn<Result<int>>(body(), [&](Result<int> r) { got.emplace(std::move(r)); });
  EXPECT_FALSE(got.has_value()) << "it must come back through the loop, as in the daemon";
  world.run_for(std::chrono::seconds(1));
  ASSERT_TRUE(got.has_value());
  EXPECT_EQ(**got, 5);
}

}  // namespace
}  // namespace samovar
