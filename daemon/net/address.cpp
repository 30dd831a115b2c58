#include "daemon/net/address.hpp"

#include <algorithm>
#include <charconv>

namespace samovar::net {
namespace {

constexpr std::size_t kHostBytesMax = 253;

Error not_an_address(std::string_view text) {
  return {Errc::invalid, "'" + std::string(text.substr(0, 300)) +
                             "' is no address and port; write 10.0.0.7:7443 or [fe80::1%eth0]:7443"};
}

bool plain(std::string_view host) {
  return std::all_of(host.begin(), host.end(),
                     [](unsigned char c) { return c > 0x20 && c < 0x7f && c != '[' && c != ']'; });
}

}  // namespace

Result<HostPort> parse_host_port(std::string_view text, std::uint16_t port_default) {
  std::string_view host = text;
  std::string_view port;
  bool with_port = false;
  if (!text.empty() && text.front() == '[') {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) return not_an_address(text);
    host = text.substr(1, end - 1);
    const std::string_view rest = text.substr(end + 1);
    with_port = !rest.empty();
    if (with_port && rest.front() != ':') return not_an_address(text);
    port = with_port ? rest.substr(1) : rest;
  } else if (const std::size_t colon = text.find(':');
             colon != std::string_view::npos && colon == text.rfind(':')) {
    // More than one colon without brackets is an IPv6 address alone.
    host = text.substr(0, colon);
    port = text.substr(colon + 1);
    with_port = true;
  }
  HostPort out{std::string(host), port_default};
  if (host.empty() || host.size() > kHostBytesMax || !plain(host)) return not_an_address(text);
  if (with_port) {
    const auto [end, failed] = std::from_chars(port.data(), port.data() + port.size(), out.port);
    if (failed != std::errc() || end != port.data() + port.size()) return not_an_address(text);
  } else if (port_default == 0) {
    return not_an_address(text);
  }
  return out;
}

std::string format_host_port(const HostPort& address) {
  const bool v6 = address.host.find(':') != std::string::npos;
  return (v6 ? "[" + address.host + "]" : address.host) + ":" + std::to_string(address.port);
}

}  // namespace samovar::net
