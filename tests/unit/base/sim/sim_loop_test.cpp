#include "base/sim/sim_loop.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <set>
#include <string>

namespace samovar {
namespace {

using namespace std::chrono_literals;

TEST(SimLoop, TimeJumpsToTheNextEvent) {
  SimScheduler world(1);
  SimLoop loop(world);
  const MonoTime start = world.clock().mono();
  std::vector<std::pair<char, Duration>> ran;
  loop.after(1h, [&] { ran.emplace_back('b', world.clock().mono() - start); });
  loop.after(5ms, [&] { ran.emplace_back('a', world.clock().mono() - start); });
  loop.post([&] { ran.emplace_back('p', world.clock().mono() - start); });
  while (world.step()) {
  }
  EXPECT_EQ(ran, (std::vector<std::pair<char, Duration>>{{'p', 0s}, {'a', 5ms}, {'b', 1h}}));
}

TEST(SimLoop, PostsOfOneLoopKeepTheirOrder) {
  SimScheduler world(1);
  SimLoop loop(world);
  std::string ran;
  for (char c = 'a'; c < 'g'; ++c) loop.post([&ran, c] { ran += c; });
  world.run_for(0s);
  EXPECT_EQ(ran, "abcdef");
}

TEST(SimLoop, RunForStopsAtItsEnd) {
  SimScheduler world(1);
  SimLoop loop(world);
  int ran = 0;
  loop.after(1s, [&] { ++ran; });
  loop.after(3s, [&] { ++ran; });
  const MonoTime start = world.clock().mono();
  world.run_for(2s);
  EXPECT_EQ(ran, 1);
  EXPECT_EQ(world.clock().mono() - start, 2s);
  EXPECT_EQ(loop.pending(), 1U);
}

TEST(SimLoop, RunUntilSaysWhetherItCame) {
  SimScheduler world(1);
  SimLoop loop(world);
  bool flag = false;
  loop.after(2s, [&] { flag = true; });
  EXPECT_FALSE(world.run_until([&] { return flag; }, 1s));
  EXPECT_TRUE(world.run_until([&] { return flag; }, 10s));
  EXPECT_FALSE(world.run_until([] { return false; }, 10s)) << "nothing is pending";
}

TEST(SimLoop, CancelledTimersDoNotRun) {
  SimScheduler world(1);
  SimLoop loop(world);
  bool ran = false;
  const auto id = loop.after(1s, [&] { ran = true; });
  loop.cancel(id);
  loop.cancel(id);
  Loop::Id second = 0;
  loop.after(2s, [&] { loop.cancel(second); });
  second = loop.after(2s, [&] { ran = true; });
  world.run_for(10s);
  EXPECT_FALSE(ran);
}

TEST(SimLoop, WhoGoesFirstAmongLoopsIsDrawnFromTheSeed) {
  std::set<std::string> orders;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    std::string ran[2];
    std::uint64_t hash[2];
    for (int i = 0; i < 2; ++i) {
      SimScheduler world(seed);
      SimLoop a(world);
      SimLoop b(world);
      SimLoop c(world);
      a.post([&] { ran[i] += 'a'; });
      b.post([&] { ran[i] += 'b'; });
      c.post([&] { ran[i] += 'c'; });
      world.run_for(1s);
      hash[i] = world.trace_hash();
    }
    EXPECT_EQ(ran[0], ran[1]);
    EXPECT_EQ(hash[0], hash[1]);
    orders.insert(ran[0]);
  }
  EXPECT_EQ(orders.size(), 6U) << "all orders of three are met";
}

TEST(SimLoop, LateTimersAreLateBySeed) {
  SimScheduler world(3);
  SimLoop loop(world, {.timer_late_max = 10ms});
  std::set<Duration> seen;
  for (int i = 0; i < 20; ++i) {
    const MonoTime made = world.clock().mono();
    loop.after(5ms, [&, made] { seen.insert(world.clock().mono() - made); });
    world.run_for(1s);
  }
  EXPECT_GT(seen.size(), 10U);
  EXPECT_GE(*seen.begin(), 5ms);
  EXPECT_LE(*seen.rbegin(), 15ms);
}

TEST(SimLoop, DestroyingALoopIsACrash) {
  SimScheduler world(1);
  auto node = std::make_unique<SimLoop>(world);
  SimLoop other(world);
  bool ran = false;
  // What the work holds may call back into the loop as it goes.
  std::shared_ptr<int> held(new int(1), [&, loop = node.get()](int* p) {
    loop->cancel(1);
    delete p;
  });
  node->after(2s, [&ran, mine = std::move(held)] { ran = *mine > 0; });
  other.after(1s, [&] { node.reset(); });
  world.run_for(10s);
  EXPECT_FALSE(ran);
}

TEST(SimLoop, EachNodeHasItsOwnWallClock) {
  SimScheduler world(1);
  SimLoop a(world);
  SimLoop b(world);
  b.clock().step_wall(5min);
  EXPECT_EQ(b.clock().wall() - a.clock().wall(), 5min);
  world.run_for(1h);
  EXPECT_EQ(b.clock().wall() - a.clock().wall(), 5min);
  EXPECT_EQ(b.clock().mono(), a.clock().mono());
}

TEST(SimLoop, InLoopKnowsWhoIsRunning) {
  SimScheduler world(1);
  SimLoop a(world);
  SimLoop b(world);
  bool in_a = false;
  bool in_b = true;
  a.post([&] {
    in_a = a.in_loop();
    in_b = b.in_loop();
  });
  world.run_for(0s);
  EXPECT_TRUE(in_a);
  EXPECT_FALSE(in_b);
  EXPECT_TRUE(b.in_loop()) << "the test itself stands for every loop";
}

TEST(SimLoop, WatchesRealFds) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  SimScheduler world(1);
  SimLoop loop(world);
  int calls = 0;
  Loop::Id id = 0;
  id = loop.watch(ends[0], [&] {
    char c = 0;
    EXPECT_EQ(::read(ends[0], &c, 1), 1);
    if (++calls == 3) loop.unwatch(id);
  });
  world.run_for(1s);
  EXPECT_EQ(calls, 0);
  ASSERT_EQ(::write(ends[1], "xy", 2), 2);
  loop.after(1s, [&] { ASSERT_EQ(::write(ends[1], "zq", 2), 2); });
  world.run_for(10s);
  EXPECT_EQ(calls, 3) << "the fourth byte comes after unwatch";
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(SimScheduler, NotesChangeTheTrace) {
  SimScheduler a(1);
  SimScheduler b(1);
  EXPECT_EQ(a.trace_hash(), b.trace_hash());
  a.note("x");
  EXPECT_NE(a.trace_hash(), b.trace_hash());
  b.note("x");
  EXPECT_EQ(a.trace_hash(), b.trace_hash());
}

}  // namespace
}  // namespace samovar
