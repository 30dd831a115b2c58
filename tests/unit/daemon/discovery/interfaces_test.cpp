#include "daemon/discovery/interfaces.hpp"

#include <gtest/gtest.h>

namespace samovar::discovery {
namespace {

Interface lan(std::string name) { return {std::move(name), 2, {"10.0.0.7"}, true, false, true, true, 1500}; }

TEST(Interfaces, TheLanIsUsedAndContainersAreNot) {
  const InterfaceRules rules;
  for (const char* name : {"eth0", "enp3s0", "wlan0", "eth0.10", "bond0", "br0", "end0"})
    EXPECT_EQ(why_not_used(lan(name), rules), "") << name;
  for (const char* name : {"docker0", "veth12ab", "br-5f3c", "virbr0", "tun0", "wg0", "vnet3"})
    EXPECT_NE(why_not_used(lan(name), rules), "") << name;
}

TEST(Interfaces, NamedOnesAreUsedWhateverTheyAre) {
  const InterfaceRules rules{{"docker0", "eth1"}, false};
  EXPECT_EQ(why_not_used(lan("docker0"), rules), "");
  EXPECT_EQ(why_not_used(lan("eth1"), rules), "");
  EXPECT_EQ(why_not_used(lan("eth0"), rules), "not named in the configuration");
  Interface down = lan("eth1");
  down.up = false;
  EXPECT_EQ(why_not_used(down, rules), "down, or no cable");
}

TEST(Interfaces, WhatIsMissingIsSaid) {
  Interface interface = lan("eth0");
  interface.has_ipv4 = false;
  EXPECT_EQ(why_not_used(interface, {}), "no IPv4 address");
  interface = lan("eth0");
  interface.multicast = false;
  EXPECT_EQ(why_not_used(interface, {}), "does not carry multicast");
  interface = lan("lo");
  interface.loopback = true;
  EXPECT_NE(why_not_used(interface, {}), "");
  EXPECT_EQ(why_not_used(interface, {{}, true}), "");
  EXPECT_EQ(why_not_used(interface, {{"eth0"}, true}), "");
}

TEST(Interfaces, ThisComputerHasALoopback) {
  bool found = false;
  for (const Interface& interface : list_interfaces()) {
    EXPECT_NE(interface.index, 0u);
    if (!interface.loopback) continue;
    found = true;
    EXPECT_TRUE(interface.up);
    EXPECT_TRUE(interface.has_ipv4);
    EXPECT_EQ(interface.addresses.front(), "127.0.0.1");
    EXPECT_GT(interface.mtu, 1000u);
  }
  EXPECT_TRUE(found);
}

}  // namespace
}  // namespace samovar::discovery
