// What an administrator may choose: one struct, a default and a comment per field.
//
// Defaults < file < command line. The whole is validated once, then constant. A key that nobody knows
// is an error that names its line: a misspelt setting must not be silently without effect.
// docs/reference/config.md is made from the table in config.cpp.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace samovar::daemon {

struct Config {
  // Everything the node keeps. Created with mode 0700.
  std::string state_dir = "/var/lib/samovar";
  // Where HTTPS listens: address:port, IPv6 in brackets, port 0 for any free one.
  std::vector<std::string> listen = {"0.0.0.0:8443", "[::]:8443"};
  // Where members of the cluster, and those who add this node to theirs, reach it.
  std::vector<std::string> mesh_listen = {"0.0.0.0:7443", "[::]:7443"};
  // Addresses to look for other nodes at, where multicast does not reach.
  std::vector<std::string> seeds;
  // Interfaces to look for other nodes on; empty: all but loopback, bridges and tunnels.
  std::vector<std::string> discovery_interfaces;
  // UDP port of the beacons; 0: no beacons.
  std::uint32_t discovery_port = 7446;
  // <mdns_name>.local leads to the box, by multicast DNS; empty: not answered.
  std::string mdns_name = "samovar";
  // Names under which browsers may reach the box, besides its host name and addresses.
  std::vector<std::string> host_names;
  // The key for unlocking without a passphrase; empty: "key" in the state directory.
  std::string key_file;
  // auto, text, journal or json.
  std::string log_format = "auto";
  // debug, info, warn or error.
  std::string log_level = "info";
  // Changes are refused while less than this is free on the state directory's disk.
  std::uint32_t disk_reserve_mib = 64;
  // The program that reads uploads in a sandbox; empty: beside samovard, else where the package puts it.
  std::string worker_path;

  // Command line only.
  std::string sysfs_root = "/";         // another tree with sys/ and proc/, for tests of the sensors
  std::string failpoints;               // base/failpoint.hpp
  std::uint64_t checkpoint_steps = 0;   // a training's checkpoint after so many updates; 0: by the clock
  std::uint64_t worker_memory_mib = 0;  // of a training or scoring; 0: half of the board
  std::uint32_t repair_grace_s = 0;     // a lost node counts as a holder so long; 0: as long as usual
  std::string device_plugin;            // libsamovar-cuda.so; empty: where the package puts it
  bool discovery_loopback = false;      // also on lo: several nodes on one machine
  bool plant_early_ack = false;         // the planted bug that the durability harness must catch

  std::string key_path() const { return key_file.empty() ? state_dir + "/key" : key_file; }
};

struct ListenAddress {
  std::string host;
  std::uint16_t port = 0;
};

// "127.0.0.1:8443", "[::1]:8443".
Result<ListenAddress> parse_listen(std::string_view text);
// "10.0.0.7", "10.0.0.7:7446", "[fd00::7]:7446": an address to look at, the port as given or this one.
Result<ListenAddress> parse_seed(std::string_view text, std::uint16_t default_port);

// TOML; `source` names the text in messages. Keys that are absent keep the value of `base`.
Result<Config> parse_config(std::string_view text, std::string_view source, Config base);
Result<void> validate(const Config& config);

// The markdown of docs/reference/config.md.
std::string config_reference();

}  // namespace samovar::daemon
