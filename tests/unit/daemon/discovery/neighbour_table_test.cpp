#include "daemon/discovery/neighbour_table.hpp"

#include <gtest/gtest.h>

#include "base/sim/sim_rng.hpp"

namespace samovar::discovery {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr MonoTime kStart = std::chrono::hours(1);

struct Sender {
  security::NodeIdentity identity = *security::make_identity();
  std::uint64_t boot = 1;
  std::uint64_t sequence = 1;
  std::uint16_t port = 7443;
  bool ask = false;
  Bytes datagram() const {
    Beacon beacon;
    beacon.join_port = port;
    beacon.boot = boot;
    beacon.sequence = sequence;
    beacon.ask = ask;
    return *encode_beacon(beacon, identity);
  }
};

NeighbourTable::Source from(std::string address, bool multicast = true) {
  return {std::move(address), "eth0", multicast};
}

TEST(NeighbourTable, ARowComesStaysAndGoes) {
  NeighbourTable table("me", 1);
  Sender sender;
  const Bytes datagram = sender.datagram();
  MonoTime now = kStart;
  EXPECT_EQ(table.hear(now, datagram, from("10.0.0.7")), Heard::fresh);
  ASSERT_EQ(table.list(now).size(), 1u);
  EXPECT_EQ(table.list(now)[0].address, "10.0.0.7");
  for (int i = 0; i < 100; ++i) {
    now += seconds(3);
    EXPECT_EQ(table.hear(now, datagram, from("10.0.0.7")), Heard::same);
  }
  EXPECT_EQ(table.checks(), 1u);  // verified once
  EXPECT_EQ(table.list(now)[0].first_seen, kStart);
  EXPECT_EQ(table.list(now)[0].last_seen, now);
  EXPECT_FALSE(table.list(now)[0].duplicate_id);
  EXPECT_FALSE(table.expire(now + seconds(90)));
  EXPECT_TRUE(table.expire(now + seconds(91)));
  EXPECT_EQ(table.size(), 0u);
}

TEST(NeighbourTable, AChangeIsVerifiedAndAnOldOneIsNotTakenBack) {
  NeighbourTable table("me", 1);
  Sender sender;
  const Bytes old = sender.datagram();
  sender.sequence = 2;
  EXPECT_EQ(table.hear(kStart, old, from("10.0.0.7")), Heard::fresh);
  EXPECT_EQ(table.hear(kStart, sender.datagram(), from("10.0.0.7")), Heard::fresh);
  EXPECT_EQ(table.checks(), 2u);
  EXPECT_EQ(table.hear(kStart, old, from("10.0.0.7")), Heard::stale);
  EXPECT_EQ(table.list(kStart)[0].beacon.sequence, 2u);
}

TEST(NeighbourTable, OurOwnBeaconIsNoNeighbour) {
  Sender me;
  NeighbourTable table(me.identity.node_id, me.boot);
  EXPECT_EQ(table.hear(kStart, me.datagram(), from("10.0.0.1")), Heard::own);
  EXPECT_EQ(table.size(), 0u);
}

TEST(NeighbourTable, OurOwnIdFromAnotherStartIsAClone) {
  Sender me;
  NeighbourTable table(me.identity.node_id, me.boot);
  me.boot = 2;
  EXPECT_EQ(table.hear(kStart, me.datagram(), from("10.0.0.9")), Heard::fresh);
  ASSERT_EQ(table.list(kStart).size(), 1u);
  EXPECT_TRUE(table.list(kStart)[0].duplicate_id);
  EXPECT_EQ(table.list(kStart)[0].address, "10.0.0.9");
}

TEST(NeighbourTable, ARestartIsNoClone) {
  NeighbourTable table("me", 1);
  Sender sender;
  MonoTime now = kStart;
  for (int start = 1; start <= 5; ++start, now += seconds(5)) {
    sender.boot = static_cast<std::uint64_t>(start);
    EXPECT_EQ(table.hear(now, sender.datagram(), from("10.0.0.7")), Heard::fresh);
  }
  sender.boot = 6;
  table.hear(now, sender.datagram(), from("10.0.0.8"));  // and one under a new address
  EXPECT_FALSE(table.list(now)[0].duplicate_id);
  EXPECT_EQ(table.size(), 1u);
}

TEST(NeighbourTable, TwoAlternatingStartsAreAClone) {
  NeighbourTable table("me", 1);
  Sender one;
  const Bytes first = one.datagram();
  one.boot = 2;
  const Bytes second = one.datagram();
  MonoTime now = kStart;
  table.hear(now, first, from("10.0.0.7"));
  table.hear(now += seconds(1), second, from("10.0.0.8"));
  EXPECT_FALSE(table.list(now)[0].duplicate_id);
  table.hear(now += seconds(2), first, from("10.0.0.7"));
  EXPECT_TRUE(table.list(now)[0].duplicate_id);
  EXPECT_EQ(table.list(now)[0].duplicate_address, "10.0.0.8:7443");
  // One of them is switched off: the mark goes after a while.
  for (int i = 0; i < 50; ++i) table.hear(now += seconds(3), first, from("10.0.0.7"));
  EXPECT_TRUE(table.expire(now));
  EXPECT_FALSE(table.list(now)[0].duplicate_id);
}

TEST(NeighbourTable, ClonesOnOneAddressAreToldByTheirPorts) {
  NeighbourTable table("me", 1);
  Sender one;
  const Bytes first = one.datagram();
  one.boot = 2;
  one.port = 7543;
  const Bytes second = one.datagram();
  table.hear(kStart, first, from("127.0.0.1"));
  table.hear(kStart, second, from("127.0.0.1"));
  table.hear(kStart, first, from("127.0.0.1"));
  EXPECT_TRUE(table.list(kStart)[0].duplicate_id);
}

TEST(NeighbourTable, ANodeOnTwoInterfacesIsOneRowThatStaysPut) {
  NeighbourTable table("me", 1);
  Sender sender;
  const Bytes datagram = sender.datagram();
  MonoTime now = kStart;
  table.hear(now, datagram, from("10.0.0.7"));
  for (int i = 0; i < 5; ++i) {
    now += seconds(3);
    EXPECT_EQ(table.hear(now, datagram, {"192.168.1.7", "eth1", true}), Heard::same);
    EXPECT_EQ(table.hear(now, datagram, from("10.0.0.7")), Heard::same);
    EXPECT_EQ(table.list(now)[0].address, "10.0.0.7");
  }
  now += seconds(25);  // that cable is pulled
  EXPECT_EQ(table.hear(now, datagram, {"192.168.1.7", "eth1", true}), Heard::fresh);
  EXPECT_EQ(table.list(now)[0].address, "192.168.1.7");
  EXPECT_FALSE(table.list(now)[0].duplicate_id);
}

TEST(NeighbourTable, WhoAsksIsAnsweredOnceASecond) {
  NeighbourTable table("me", 1);
  Sender sender;
  sender.ask = true;
  const Bytes asking = sender.datagram();
  const auto source = from("10.0.0.7", false);
  MonoTime now = kStart;
  EXPECT_EQ(table.hear(now, asking, source), Heard::fresh);
  EXPECT_TRUE(table.answer_wanted(now, source));
  EXPECT_FALSE(table.answer_wanted(now, source));
  now += milliseconds(500);
  table.hear(now, asking, source);
  EXPECT_FALSE(table.answer_wanted(now, source));
  now += milliseconds(600);
  table.hear(now, asking, source);
  EXPECT_TRUE(table.answer_wanted(now, source));
  EXPECT_EQ(table.checks(), 1u);
}

// SECURITY.md §4, 10: forged, random and oversized, from one address and from many.
TEST(NeighbourTable, AFloodFillsNothing) {
  NeighbourTable table("me", 1);
  Sender honest;
  const Bytes real = honest.datagram();
  SimRng rng(5);
  MonoTime now = kStart;
  ASSERT_EQ(table.hear(now, real, from("10.0.0.7")), Heard::fresh);
  const Bytes forged = Sender().datagram();
  std::uint64_t honest_heard = 0;
  for (int i = 0; i < 100'000; ++i) {
    now += std::chrono::microseconds(100);  // ten seconds of it
    Bytes datagram = forged;
    switch (i % 4) {
      case 0:
        datagram[40 + rng.below(90)] ^= static_cast<std::uint8_t>(1 + rng.below(255));
        break;  // the key
      case 1:
        datagram.assign(rng.below(600), static_cast<std::uint8_t>(rng.next()));
        break;
      case 2:
        datagram.resize(513 + rng.below(1000));
        break;
      default:
        datagram[datagram.size() - 1 - rng.below(40)] ^= 0x55;
        break;  // the signature
    }
    const std::uint64_t n = i % 2 == 0 ? 1 : rng.below(65'536);
    table.hear(now, datagram, from("10.9." + std::to_string(n / 256) + "." + std::to_string(n % 256)));
    if (i % 30'000 == 0 && table.hear(now, real, from("10.0.0.7")) == Heard::same) ++honest_heard;
  }
  EXPECT_LE(table.size(), 64u);
  EXPECT_EQ(table.list(now).size(), 1u);  // none of them verified
  EXPECT_LE(table.sources(), 256u);
  EXPECT_LE(table.checks(), 100u + 10u * 100u + 1u);  // the bucket and ten seconds of refills
  EXPECT_EQ(honest_heard, 4u);
}

// Whoever makes real keys can fill rows, but not all of them for long, and not those of others.
TEST(NeighbourTable, RealKeysOfOneAddressDoNotPushOutOthers) {
  TableLimits limits;
  limits.rows_max = 8;  // keys cost time to make
  limits.datagrams_per_second = 1000;
  limits.checks_per_second = 1000;
  NeighbourTable table("me", 1, limits);
  Sender honest;
  MonoTime now = kStart;
  ASSERT_EQ(table.hear(now, honest.datagram(), from("10.0.0.7")), Heard::fresh);
  for (int i = 0; i < 20; ++i) table.hear(now += milliseconds(10), Sender().datagram(), from("10.0.0.66"));
  EXPECT_EQ(table.size(), 8u);
  const auto has = [&](const Sender& sender) {
    for (const Neighbour& row : table.list(now))
      if (row.beacon.node_id == sender.identity.node_id) return true;
    return false;
  };
  EXPECT_TRUE(has(honest));
  Sender another;
  EXPECT_EQ(table.hear(now, another.datagram(), from("10.0.0.8")), Heard::fresh);
  EXPECT_TRUE(has(another));
  EXPECT_TRUE(has(honest));
  EXPECT_EQ(table.size(), 8u);
}

}  // namespace
}  // namespace samovar::discovery
