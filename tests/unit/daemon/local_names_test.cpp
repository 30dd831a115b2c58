#include "daemon/local_names.hpp"

#include <gtest/gtest.h>

namespace samovar::daemon {
namespace {

const std::string kId = "k7q2m4xp";

TEST(LocalNames, OneForAllNodesAndOneOfItsOwn) {
  Config config;
  config.mdns_name = "Kettle";
  EXPECT_EQ(local_names(config, kId),
            (std::vector<discovery::MdnsName>{{"kettle.local", true}, {"kettle-k7q2.local", false}}));
}

TEST(LocalNames, NoneWhenSwitchedOffOrOnALoopback) {
  Config off;
  off.mdns_name = "";
  EXPECT_TRUE(local_names(off, kId).empty());
  Config quiet;
  quiet.discovery_port = 0;
  EXPECT_TRUE(local_names(quiet, kId).empty());
  Config loopback;
  loopback.discovery_loopback = true;
  EXPECT_TRUE(local_names(loopback, kId).empty());
}

TEST(LocalNames, BrowsersMayComeByThemAndByTheConfiguredOnes) {
  Config config;
  config.host_names = {"box.lan", "samovar.local"};
  EXPECT_EQ(browser_names(config, kId),
            (std::vector<std::string>{"box.lan", "samovar.local", "samovar-k7q2.local"}));
}

}  // namespace
}  // namespace samovar::daemon
