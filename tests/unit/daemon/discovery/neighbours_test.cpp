// Real sockets on the loopback; our own time is simulated. What the kernel delivers late is waited for.
#include "daemon/discovery/neighbours.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>

#include "base/sim/sim_loop.hpp"
#include "daemon/discovery/beacon_socket.hpp"

namespace samovar::discovery {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

// A free port of this machine for one test: two runs at the same time do not hear each other.
std::uint16_t free_port() {
  auto probe = BeaconSocket::open(kGroup, 0);
  EXPECT_TRUE(probe) << (probe ? "" : probe.error().message());
  return probe ? probe->port() : 0;
}

class NeighboursTest : public testing::Test {
 protected:
  std::unique_ptr<Neighbours> open(const security::NodeIdentity& identity, NeighbourOptions options = {}) {
    if (options.port == kPort) options.port = port;
    options.interfaces = {"lo"};
    options.loopback = true;
    auto made = Neighbours::open(loop, identity, options);
    EXPECT_TRUE(made) << (made ? "" : made.error().message());
    return *std::move(made);
  }
  static Beacon says(const std::string& hostname) {
    Beacon beacon;
    beacon.join_port = 7443;
    beacon.hostname = hostname;
    return beacon;
  }

  // A busy machine delivers a datagram some milliseconds after it was sent, in which simulated hours can
  // pass.
  template <class Condition>
  bool within(std::chrono::seconds step, Condition condition) {
    for (int i = 0; i < 500; ++i) {
      scheduler.run_for(step);
      if (condition()) return true;
      ::poll(nullptr, 0, 2);
    }
    return false;
  }

  SimScheduler scheduler{1};
  SimLoop loop{scheduler};
  const std::uint16_t port = free_port();
  security::NodeIdentity a = *security::make_identity();
  security::NodeIdentity b = *security::make_identity();
};

TEST_F(NeighboursTest, TwoNodesOnOneMachineHearEachOther) {
  auto one = open(a);
  auto two = open(b);
  int changes = 0;
  one->on_change([&] { ++changes; });
  one->announce(says("one"));
  two->announce(says("two"));
  ASSERT_TRUE(within(seconds(4), [&] { return one->list().size() == 1 && two->list().size() == 1; }));
  EXPECT_EQ(one->list()[0].beacon.hostname, "two");
  EXPECT_EQ(one->list()[0].address, "127.0.0.1");
  EXPECT_EQ(one->list()[0].interface, "lo");
  EXPECT_TRUE(one->list()[0].multicast);
  EXPECT_EQ(two->list()[0].beacon.node_id, a.node_id);
  EXPECT_EQ(changes, 1);
  const auto reports = one->interfaces();
  ASSERT_FALSE(reports.empty());
  EXPECT_EQ(reports[0].name, "lo");
  EXPECT_TRUE(reports[0].used);
  EXPECT_GE(reports[0].sent, 2u);
  EXPECT_GE(reports[0].heard, 1u);
  EXPECT_GE(reports[0].heard_own, 1u);
  EXPECT_EQ(reports[0].bad, 0u);
}

TEST_F(NeighboursTest, ASilentNeighbourIsForgotten) {
  auto one = open(a);
  auto two = open(b);
  one->announce(says("one"));
  two->announce(says("two"));
  ASSERT_TRUE(within(seconds(4), [&] { return !one->list().empty(); }));
  two.reset();
  scheduler.run_for(seconds(120));
  EXPECT_TRUE(one->list().empty());
}

TEST_F(NeighboursTest, ASettledMemberIsQuiet) {
  auto one = open(a);
  Beacon member = says("");
  member.member = true;
  member.cluster_tag = 7;
  one->announce(member);
  scheduler.run_for(minutes(2));
  const auto sent_before = one->interfaces()[0].sent;
  scheduler.run_for(minutes(10));
  const auto sent = one->interfaces()[0].sent - sent_before;
  EXPECT_GE(sent, 19u);
  EXPECT_LE(sent, 21u);
}

TEST_F(NeighboursTest, ASeedIsAskedAndAnswers) {
  auto one = open(a);
  NeighbourOptions elsewhere;  // on a port where nothing for the group arrives
  elsewhere.port = free_port();
  auto two = open(b, elsewhere);
  one->announce(says("one"));
  two->announce(says("two"));
  scheduler.run_for(seconds(4));
  EXPECT_TRUE(one->list().empty());
  EXPECT_TRUE(two->list().empty());
  one->set_seeds({"nonsense", "1.2.3.4:99999", fmt::format("127.0.0.1:{}", elsewhere.port)});
  EXPECT_TRUE(within(seconds(10), [&] { return !one->list().empty() && !two->list().empty(); }));
}

TEST_F(NeighboursTest, WhatAnAddressAnsweredIsNoted) {
  auto one = open(a);
  one->announce(says("one"));
  Beacon other = says("typed");
  other.boot = 9;
  other.sequence = 1;
  const Bytes datagram = *encode_beacon(other, b);
  const auto noted = one->note(datagram, "192.0.2.7");
  ASSERT_TRUE(noted) << noted.error().message();
  EXPECT_EQ(noted->beacon.node_id, b.node_id);
  EXPECT_EQ(noted->address, "192.0.2.7");
  EXPECT_FALSE(noted->multicast);
  EXPECT_EQ(one->list().size(), 1u);
  EXPECT_FALSE(one->note(to_bytes("no beacon"), "192.0.2.8"));
  const auto self = one->note(one->datagram(), "127.0.0.1");
  ASSERT_FALSE(self);
  EXPECT_EQ(self.error().code(), Errc::conflict);
}

TEST_F(NeighboursTest, GarbageIsCountedAndForgotten) {
  auto one = open(a);
  one->announce(says("one"));
  auto noise = BeaconSocket::open(kGroup, port);
  ASSERT_TRUE(noise);
  const unsigned lo = 1;
  for (int i = 0; i < 100; ++i)
    ASSERT_TRUE(noise->send_to_group(lo, "127.0.0.1", Bytes(static_cast<std::size_t>(i * 10), 'x')));
  EXPECT_TRUE(within(seconds(4), [&] { return one->interfaces()[0].bad > 0; }));
  EXPECT_TRUE(one->list().empty());
}

TEST_F(NeighboursTest, OnlyAGroupAddressWillDo) {
  NeighbourOptions options;
  options.group = "10.0.0.1";
  EXPECT_FALSE(Neighbours::open(loop, a, options));
  options.group = "nonsense";
  EXPECT_FALSE(Neighbours::open(loop, a, options));
}

}  // namespace
}  // namespace samovar::discovery
