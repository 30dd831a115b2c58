#include "daemon/power/pacer.hpp"

#include <gtest/gtest.h>

#include <random>

namespace samovar::power {
namespace {

using std::chrono::milliseconds;

// A worker that uses `cores` while it runs, on a machine whose timers are late by up to `late`.
struct World {
  double duty = 0.5;
  double cores = 1;
  milliseconds late{3};
  std::mt19937 random{3};
  Pacer pacer;
  MonoTime now{};
  Duration cpu{};
  Duration ran{};
  Duration longest_rest{};

  void run(Duration time) {
    const MonoTime end = now + time;
    while (now < end) {
      const Pacer::Turn turn = pacer.turn(now, cpu, duty);
      Duration passed = turn.wait + Duration(random() % static_cast<unsigned>(Duration(late).count() + 1));
      now += passed;
      if (!turn.run) {
        longest_rest = std::max(longest_rest, passed);
        continue;
      }
      ran += passed;
      cpu += std::chrono::duration_cast<Duration>(passed * cores);
    }
  }
};

TEST(Pacer, WorksTheShareItWasTold) {
  for (const double duty : {0.05, 0.2, 0.5, 0.8, 0.95})
    for (const double cores : {1.0, 1.3, 4.0}) {
      World world;
      world.duty = duty;
      world.cores = cores;
      world.run(std::chrono::seconds(20));
      EXPECT_NEAR(std::chrono::duration<double>(world.ran) / std::chrono::duration<double>(world.now), duty,
                  0.03 * duty + 0.005)
          << duty << " of " << cores;
    }
}

TEST(Pacer, AtFullDutyNothingStops) {
  World world;
  world.duty = 1;
  world.run(std::chrono::seconds(5));
  EXPECT_EQ(world.ran, world.now);
}

TEST(Pacer, RestsAreShort) {
  World world;
  world.duty = 0.3;
  world.run(std::chrono::seconds(10));
  EXPECT_LT(world.longest_rest, milliseconds(150));
}

// One that waits for others half of its time is within a duty of 0.5 without a rest of its own.
TEST(Pacer, WaitingIsRest) {
  World world;
  world.duty = 0.6;
  world.cores = 0.5;
  world.run(std::chrono::seconds(10));
  EXPECT_GT(std::chrono::duration<double>(world.ran) / std::chrono::duration<double>(world.now), 0.97);
}

TEST(Pacer, IdleTimeIsNotSavedUp) {
  World world;
  world.cores = 0;
  world.run(std::chrono::seconds(60));
  world.cores = 1;
  world.ran = {};
  const MonoTime begin = world.now;
  world.run(milliseconds(500));
  EXPECT_LT(std::chrono::duration<double>(world.ran) / std::chrono::duration<double>(world.now - begin),
            0.65);
}

TEST(Pacer, AChangeOfDutyHoldsAtOnce) {
  World world;
  world.duty = 0.9;
  world.run(std::chrono::seconds(5));
  world.duty = 0.2;
  world.ran = {};
  const MonoTime begin = world.now;
  world.run(std::chrono::seconds(2));
  EXPECT_NEAR(std::chrono::duration<double>(world.ran) / std::chrono::duration<double>(world.now - begin),
              0.2, 0.05);
}

}  // namespace
}  // namespace samovar::power
