#include "base/asio_loop.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <stdexcept>
#include <thread>
#include <vector>

namespace samovar {
namespace {

using namespace std::chrono_literals;

struct Pipe {
  Pipe() { EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK), 0); }
  ~Pipe() {
    ::close(ends[0]);
    ::close(ends[1]);
  }
  void put() const { EXPECT_EQ(::write(ends[1], "x", 1), 1); }
  bool take() const {
    char c = 0;
    return ::read(ends[0], &c, 1) == 1;
  }
  std::array<int, 2> ends{};
};

TEST(AsioLoop, RunsPostedWorkInOrder) {
  AsioLoop loop;
  std::vector<int> ran;
  for (int i = 0; i < 5; ++i) loop.post([&ran, i] { ran.push_back(i); });
  loop.post([&] { loop.stop(); });
  loop.run();
  EXPECT_EQ(ran, (std::vector<int>{0, 1, 2, 3, 4}));
}

TEST(AsioLoop, TakesWorkFromOtherThreads) {
  AsioLoop loop;
  int count = 0;  // the loop's alone, so no atomic: TSan would tell
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) {
        loop.post([&] {
          EXPECT_TRUE(loop.in_loop());
          if (++count == 300) loop.stop();
        });
      }
      EXPECT_FALSE(loop.in_loop());
    });
  }
  loop.run();
  for (auto& t : threads) t.join();
  EXPECT_EQ(count, 300);
}

TEST(AsioLoop, TheRunningThreadBecomesTheLoopThread) {
  AsioLoop loop;
  EXPECT_TRUE(loop.in_loop());
  std::thread runner([&] { loop.run(); });
  bool inside = false;
  loop.post([&] {
    inside = loop.in_loop();
    loop.stop();
  });
  runner.join();
  EXPECT_TRUE(inside);
  EXPECT_FALSE(loop.in_loop());
}

TEST(AsioLoop, TimersRunInOrderOfTheirDeadlines) {
  AsioLoop loop;
  std::vector<int> ran;
  const MonoTime start = loop.clock().mono();
  loop.after(30ms, [&] {
    ran.push_back(3);
    loop.stop();
  });
  loop.after(10ms, [&] { ran.push_back(2); });
  loop.after(-1s, [&] { ran.push_back(1); });
  loop.after(Duration::max(), [&] { ran.push_back(9); });
  loop.run();
  EXPECT_EQ(ran, (std::vector<int>{1, 2, 3}));
  EXPECT_GE(loop.clock().mono() - start, 30ms);
}

TEST(AsioLoop, CancelledTimersDoNotRun) {
  AsioLoop loop;
  bool ran = false;
  const auto first = loop.after(1ms, [&] { ran = true; });
  const auto second = loop.after(2ms, [&] { ran = true; });
  EXPECT_NE(first, 0U);
  EXPECT_NE(first, second);
  loop.cancel(first);
  loop.cancel(first);
  loop.after(0ms, [&] { loop.cancel(second); });
  loop.after(20ms, [&] { loop.stop(); });
  loop.run();
  EXPECT_FALSE(ran);
  loop.cancel(12345);
}

// Both are due in the same round: the first must still be able to stop the second.
TEST(AsioLoop, ATimerMayCancelItsNeighbour) {
  AsioLoop loop;
  bool ran = false;
  Loop::Id second = 0;
  loop.after(0ms, [&] { loop.cancel(second); });
  second = loop.after(0ms, [&] { ran = true; });
  loop.after(5ms, [&] { loop.stop(); });
  loop.run();
  EXPECT_FALSE(ran);
}

TEST(AsioLoop, ATimerMayArmTheNext) {
  AsioLoop loop;
  int ticks = 0;
  std::function<void()> tick = [&] {
    if (++ticks == 5) return loop.stop();
    loop.after(1ms, tick);
  };
  loop.after(0ms, tick);
  loop.run();
  EXPECT_EQ(ticks, 5);
}

TEST(AsioLoop, AZeroTimerThatRearmsDoesNotStarveOthers) {
  AsioLoop loop;
  std::function<void()> again = [&] { loop.after(0ms, again); };
  loop.after(0ms, again);
  bool posted = false;
  loop.after(2ms, [&] {
    loop.post([&] {
      posted = true;
      loop.stop();
    });
  });
  loop.run();
  EXPECT_TRUE(posted);
}

TEST(AsioLoop, WatchCallsWhileThereIsInput) {
  AsioLoop loop;
  Pipe pipe;
  int calls = 0;
  const auto id = loop.watch(pipe.ends[0], [&] {
    // One byte at a time: the rest must be reported again.
    EXPECT_TRUE(pipe.take());
    if (++calls == 3) loop.stop();
  });
  pipe.put();
  pipe.put();
  loop.post([&] { pipe.put(); });
  loop.run();
  EXPECT_EQ(calls, 3);
  loop.unwatch(id);
  EXPECT_NE(::fcntl(pipe.ends[0], F_GETFD), -1) << "the fd stays the caller's";
}

TEST(AsioLoop, UnwatchEndsIt) {
  AsioLoop loop;
  Pipe pipe;
  int calls = 0;
  Loop::Id id = 0;
  id = loop.watch(pipe.ends[0], [&] {
    ++calls;
    loop.unwatch(id);
    loop.unwatch(id);
  });
  pipe.put();
  loop.after(20ms, [&] { loop.stop(); });
  loop.run();
  EXPECT_EQ(calls, 1);
  // The same fd can be watched again.
  loop.watch(pipe.ends[0], [] {});
}

TEST(AsioLoop, DestructionLeavesWatchedFdsOpen) {
  Pipe pipe;
  {
    AsioLoop loop;
    loop.watch(pipe.ends[0], [] {});
  }
  EXPECT_NE(::fcntl(pipe.ends[0], F_GETFD), -1);
}

TEST(AsioLoop, WorkThatThrowsDoesNotEndTheLoop) {
  AsioLoop loop;
  bool after_post = false;
  bool after_timer = false;
  loop.post([] { throw std::runtime_error("posted"); });
  loop.post([&] { after_post = true; });
  loop.after(1ms, [] { throw std::runtime_error("timer"); });
  loop.after(2ms, [&] {
    after_timer = true;
    loop.stop();
  });
  loop.run();
  EXPECT_TRUE(after_post);
  EXPECT_TRUE(after_timer);
}

TEST(AsioLoopDeathTest, TimersFromAnotherThreadAssert) {
  EXPECT_DEATH(
      {
        AsioLoop loop;
        std::thread([&] { loop.after(1ms, [] {}); }).join();
      },
      "in_loop");
}

}  // namespace
}  // namespace samovar
