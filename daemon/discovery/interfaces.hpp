// The network interfaces of this computer, and which of them discovery uses.
//
// Threading: any thread.
#pragma once
#include <string>
#include <vector>

namespace samovar::discovery {

struct Interface {
  std::string name;
  unsigned index = 0;
  std::vector<std::string> addresses;  // IPv4 first, then IPv6 without zones
  bool up = false;
  bool loopback = false;
  bool multicast = false;
  bool has_ipv4 = false;
  unsigned mtu = 0;
};

// In the order of their index.
std::vector<Interface> list_interfaces();

struct InterfaceRules {
  std::vector<std::string> names;  // only these, whatever they are; empty: all suitable ones
  bool loopback = false;
};
// Empty: it is used. Else why not, in words for the doctor.
std::string why_not_used(const Interface& interface, const InterfaceRules& rules);

}  // namespace samovar::discovery
