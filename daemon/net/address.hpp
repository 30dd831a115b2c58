// "10.0.0.7:7443", "[fe80::1%eth0]:7443", "box.local:7443" in two halves.
//
// Threading: pure functions, any thread.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace samovar::net {

struct HostPort {
  std::string host;  // without brackets
  std::uint16_t port = 0;
};

// Without a port the default holds; Errc::invalid with the remedy when neither is there.
Result<HostPort> parse_host_port(std::string_view text, std::uint16_t port_default = 0);
std::string format_host_port(const HostPort& address);

}  // namespace samovar::net
