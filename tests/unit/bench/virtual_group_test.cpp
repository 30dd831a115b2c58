#include "bench/virtual_group.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "bench/bench.hpp"

namespace samovar::bench {
namespace {

using std::chrono::milliseconds;

void run(VirtualGroup& group, const std::vector<std::function<void(trainer::PeerGroup&)>>& members) {
  std::vector<std::thread> threads;
  for (std::uint32_t i = 0; i < members.size(); ++i) {
    threads.emplace_back([&, i] {
      group.begin(i);
      members[i](group.member(i));
      group.end(i, false);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// What the threads themselves take is milliseconds; the modelled times are seconds.
constexpr double kNear = 0.2;

TEST(VirtualGroup, AMessageTakesWhatTheLinkTakes) {
  VirtualGroup group({{0}, {1}}, {1e6, 2});
  double arrived = 0;
  run(group, {[&](trainer::PeerGroup& own) { ASSERT_TRUE(own.send(1, Bytes(3'000'000))); },
              [&](trainer::PeerGroup& own) {
                const auto message = own.receive(milliseconds(60'000));
                ASSERT_TRUE(message && *message);
                EXPECT_EQ((*message)->from, 0u);
                EXPECT_EQ((*message)->body.size(), 3'000'000u);
                arrived = group.seconds(1);
              }});
  EXPECT_NEAR(arrived, 5, kNear) << "three for the bytes, two on the way";
  EXPECT_NEAR(group.waited(1), 5, kNear);
}

TEST(VirtualGroup, WhoeverReceivesFromTwoHearsOneAfterTheOther) {
  VirtualGroup group({{0}, {1}, {2}}, {1e6, 0});
  const auto sends = [](trainer::PeerGroup& own) { ASSERT_TRUE(own.send(2, Bytes(2'000'000))); };
  double arrived = 0;
  run(group, {sends, sends, [&](trainer::PeerGroup& own) {
                for (int i = 0; i < 2; ++i) ASSERT_TRUE(own.receive(milliseconds(60'000)).value());
                arrived = group.seconds(2);
              }});
  EXPECT_NEAR(arrived, 4, kNear);
}

TEST(VirtualGroup, WaitingForNothingEndsInTime) {
  VirtualGroup group({{0}, {1}}, {});
  double at = 0;
  run(group, {[&](trainer::PeerGroup& own) {
                const auto nothing = own.receive(milliseconds(30'000));
                ASSERT_TRUE(nothing.has_value());
                EXPECT_FALSE(nothing->has_value());
                at = group.seconds(0);
              },
              [](trainer::PeerGroup&) {}});
  EXPECT_NEAR(at, 30, kNear);
}

// A step has its price; what is heard, and what is said, costs what it takes.
TEST(VirtualGroup, AStepCostsWhatItIsSaidTo) {
  VirtualGroup group({{0}, {1}}, {1e9, 0}, false, 5);
  const auto works = [] {
    const double until = cpu_seconds() + 0.02;
    while (cpu_seconds() < until) continue;
  };
  double after_steps = 0, after_message = 0;
  run(group, {[&](trainer::PeerGroup& own) {
                for (int step = 0; step < 3; ++step) {
                  works();
                  ASSERT_TRUE(own.receive(milliseconds(0)).has_value());
                }
                after_steps = group.seconds(0);
                works();  // makes what it sends
                ASSERT_TRUE(own.send(1, Bytes(8)));
                after_message = group.seconds(0);
              },
              [&](trainer::PeerGroup& own) {
                ASSERT_TRUE(own.receive(milliseconds(60'000)).value());
                works();  // on what came
                // Nothing more has come; what lay in between was no step.
                ASSERT_TRUE(own.receive(milliseconds(0)).has_value());
                EXPECT_LT(group.stepped(1), 0.01);
              }});
  EXPECT_NEAR(after_steps, 15, 0.01);
  EXPECT_GE(group.stepped(0), 0.06);
  EXPECT_GE(after_message, 15.02);
  EXPECT_LT(after_message, 15.2);
}

}  // namespace
}  // namespace samovar::bench
