#include "base/sim/sim_transport.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace samovar {
namespace {

using namespace std::chrono_literals;

struct Net {
  explicit Net(SimNetworkOptions options, std::uint64_t seed = 1) : world(seed), network(world, options) {
    b->on_message([this](const std::string& from, Bytes message) {
      got.push_back(from + ":" + std::string(as_text(message)));
      at.push_back(world.clock().mono());
    });
  }
  void send(int n) {
    for (int i = 0; i < n; ++i) EXPECT_TRUE(a->send("b", to_bytes(std::to_string(i))));
  }

  SimScheduler world;
  SimNetwork network;
  std::unique_ptr<SimLoop> loop_a = std::make_unique<SimLoop>(world);
  std::unique_ptr<SimLoop> loop_b = std::make_unique<SimLoop>(world);
  std::unique_ptr<SimTransport> a = network.attach("a", *loop_a);
  std::unique_ptr<SimTransport> b = network.attach("b", *loop_b);
  std::vector<std::string> got;
  std::vector<MonoTime> at;
};

TEST(SimTransport, DeliversAfterTheLatency) {
  Net net({.latency_min = 1ms, .latency_max = 3ms});
  const MonoTime start = net.world.clock().mono();
  EXPECT_EQ(net.a->self(), "a");
  net.send(50);
  EXPECT_TRUE(net.got.empty());
  net.world.run_for(1s);
  ASSERT_EQ(net.got.size(), 50U);
  for (const MonoTime t : net.at) {
    EXPECT_GE(t - start, 1ms);
    EXPECT_LE(t - start, 3ms);
  }
  EXPECT_NE(net.got.front(), "a:0") << "messages overtake each other, with this seed the first one too";
}

TEST(SimTransport, LosesAndDoublesAboutAsOftenAsAsked) {
  Net net({.loss_per_million = 200'000, .duplicate_per_million = 100'000});
  net.send(10'000);
  net.world.run_for(1s);
  EXPECT_GT(net.got.size(), 8'500U);
  EXPECT_LT(net.got.size(), 9'100U);  // 0.8 × 1.1 = 0.88
  EXPECT_EQ(net.network.sent(), 10'000U);
  EXPECT_EQ(net.network.delivered(), net.got.size());
}

TEST(SimTransport, PartitionsStopMessagesInFlightToo) {
  Net net({});
  net.send(5);
  net.network.partition({"a"});
  net.world.run_for(1s);
  EXPECT_TRUE(net.got.empty());
  net.network.heal();
  net.send(1);
  net.world.run_for(1s);
  EXPECT_EQ(net.got.size(), 1U);
  net.network.partition({"a", "b"});
  net.send(1);
  net.world.run_for(1s);
  EXPECT_EQ(net.got.size(), 2U) << "both are on one side";
}

TEST(SimTransport, BulkIsSlowAndBoundedAndControlPassesIt) {
  Net net(
      {.latency_min = 1ms, .latency_max = 1ms, .bulk_bytes_per_second = 1000, .bulk_queue_bytes_max = 2500});
  const MonoTime start = net.world.clock().mono();
  EXPECT_TRUE(net.a->send("b", Bytes(1000, 'x'), Lane::bulk));
  EXPECT_TRUE(net.a->send("b", Bytes(1000, 'y'), Lane::bulk));
  EXPECT_EQ(net.a->send("b", Bytes(1000, 'z'), Lane::bulk).error().code(), Errc::busy);
  net.send(1);
  net.world.run_for(1min);
  ASSERT_EQ(net.got.size(), 3U);
  EXPECT_EQ(net.got[0], "a:0");
  EXPECT_EQ(net.at[1] - start, 1001ms);
  EXPECT_EQ(net.at[2] - start, 2001ms);
  EXPECT_TRUE(net.a->send("b", Bytes(1000, 'z'), Lane::bulk)) << "what was sent makes room";
}

TEST(SimTransport, ACrashedNodeHearsNothing) {
  Net net({});
  net.send(3);
  net.b.reset();
  net.loop_b.reset();
  net.world.run_for(1s);
  EXPECT_TRUE(net.got.empty());
  EXPECT_TRUE(net.a->send("nobody", {})) << "ok means handed over";
  // It comes back under the same name.
  net.loop_b = std::make_unique<SimLoop>(net.world);
  net.b = net.network.attach("b", *net.loop_b);
  net.b->on_message([&](const std::string&, Bytes) { net.got.emplace_back("again"); });
  net.send(1);
  net.world.run_for(1s);
  EXPECT_EQ(net.got, (std::vector<std::string>{"again"}));
}

TEST(SimTransport, AHandlerMayEndItsOwnTransport) {
  Net net({});
  int calls = 0;
  net.b->on_message([&](const std::string&, Bytes) {
    ++calls;
    net.b.reset();
  });
  net.send(3);
  net.world.run_for(1s);
  EXPECT_EQ(calls, 1);
}

TEST(SimTransport, OneSeedOneHistory) {
  const auto run = [](std::uint64_t seed) {
    Net net({.loss_per_million = 100'000, .duplicate_per_million = 100'000}, seed);
    net.send(100);
    net.world.run_for(1s);
    return std::pair(net.got, net.world.trace_hash());
  };
  EXPECT_EQ(run(5), run(5));
  EXPECT_NE(run(5), run(6));
}

}  // namespace
}  // namespace samovar
