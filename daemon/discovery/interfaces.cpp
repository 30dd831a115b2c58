#include "daemon/discovery/interfaces.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string_view>

namespace samovar::discovery {
namespace {

// Made by container and virtual machine software: their other end is on this very computer.
constexpr std::string_view kContainerPrefixes[] = {"docker", "veth",   "br-", "virbr", "vnet",   "lxcbr",
                                                   "lxdbr",  "podman", "cni", "cali",  "flannel"};
constexpr std::string_view kTunnelPrefixes[] = {"tun", "tap", "wg", "tailscale", "zt", "ppp"};

template <std::size_t n>
bool begins_with_one(std::string_view name, const std::string_view (&prefixes)[n]) {
  return std::any_of(std::begin(prefixes), std::end(prefixes),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

unsigned mtu_of(int socket, const std::string& name) {
  ifreq request{};
  std::strncpy(request.ifr_name, name.c_str(), IFNAMSIZ - 1);
  return ::ioctl(socket, SIOCGIFMTU, &request) == 0 ? static_cast<unsigned>(request.ifr_mtu) : 0;
}

void add_address(Interface& interface, const sockaddr& address) {
  char text[INET6_ADDRSTRLEN] = {};
  if (address.sa_family == AF_INET) {
    const auto& ipv4 = reinterpret_cast<const sockaddr_in&>(address);
    ::inet_ntop(AF_INET, &ipv4.sin_addr, text, sizeof text);
    const auto first_ipv6 =
        std::find_if(interface.addresses.begin(), interface.addresses.end(),
                     [](const std::string& other) { return other.find(':') != std::string::npos; });
    interface.addresses.insert(first_ipv6, text);
    interface.has_ipv4 = true;
  } else if (address.sa_family == AF_INET6) {
    const auto& ipv6 = reinterpret_cast<const sockaddr_in6&>(address);
    ::inet_ntop(AF_INET6, &ipv6.sin6_addr, text, sizeof text);
    interface.addresses.emplace_back(text);
  }
}

}  // namespace

std::vector<Interface> list_interfaces() {
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return {};
  std::map<std::string, Interface> by_name;
  for (const ifaddrs* entry = all; entry != nullptr; entry = entry->ifa_next) {
    Interface& interface = by_name[entry->ifa_name];
    interface.name = entry->ifa_name;
    interface.up = (entry->ifa_flags & IFF_UP) != 0 && (entry->ifa_flags & IFF_RUNNING) != 0;
    interface.loopback = (entry->ifa_flags & IFF_LOOPBACK) != 0;
    interface.multicast = (entry->ifa_flags & IFF_MULTICAST) != 0;
    if (entry->ifa_addr != nullptr) add_address(interface, *entry->ifa_addr);
  }
  ::freeifaddrs(all);
  const int socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  std::vector<Interface> out;
  for (auto& [name, interface] : by_name) {
    interface.index = ::if_nametoindex(name.c_str());
    if (socket >= 0) interface.mtu = mtu_of(socket, name);
    if (interface.index != 0) out.push_back(std::move(interface));
  }
  if (socket >= 0) ::close(socket);
  std::sort(out.begin(), out.end(), [](const Interface& a, const Interface& b) { return a.index < b.index; });
  return out;
}

std::string why_not_used(const Interface& interface, const InterfaceRules& rules) {
  const bool named = std::find(rules.names.begin(), rules.names.end(), interface.name) != rules.names.end();
  const bool wanted_loopback = interface.loopback && rules.loopback;
  if (!rules.names.empty() && !named && !wanted_loopback) return "not named in the configuration";
  if (!interface.up) return "down, or no cable";
  if (!interface.has_ipv4) return "no IPv4 address";
  if (named || wanted_loopback) return "";
  if (interface.loopback) return "loopback: never leaves this computer";
  if (begins_with_one(interface.name, kContainerPrefixes)) return "a bridge for containers on this computer";
  if (begins_with_one(interface.name, kTunnelPrefixes)) return "a tunnel, not the local network";
  if (!interface.multicast) return "does not carry multicast";
  return "";
}

}  // namespace samovar::discovery
