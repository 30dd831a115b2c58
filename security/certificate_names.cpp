#include "security/certificate_names.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>

#include "security/certificates.hpp"

namespace samovar::security {
namespace {

// Names no public authority gives out: RFC 6762, RFC 6761, RFC 8375, and the two that routers use.
constexpr std::array<std::string_view, 5> kLocalNames = {"local", "localhost", "lan", "internal",
                                                         "home.arpa"};

struct Range {
  const char* network;
  const char* mask;
};
// Loopback, private, link-local, shared (RFC 6598); their IPv6 kin.
constexpr std::array<Range, 9> kRanges = {{{"127.0.0.0", "255.0.0.0"},
                                           {"10.0.0.0", "255.0.0.0"},
                                           {"172.16.0.0", "255.240.0.0"},
                                           {"192.168.0.0", "255.255.0.0"},
                                           {"169.254.0.0", "255.255.0.0"},
                                           {"100.64.0.0", "255.192.0.0"},
                                           {"::1", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"},
                                           {"fc00::", "fe00::"},
                                           {"fe80::", "ffc0::"}}};

bool label_char(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
}

bool valid_label(std::string_view label) noexcept {
  return !label.empty() && label.size() <= 63 && label.front() != '-' && label.back() != '-' &&
         std::all_of(label.begin(), label.end(), label_char);
}

bool equal_ignoring_case(std::string_view a, std::string_view b) noexcept {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [&](char x, char y) { return lower(x) == lower(y); });
}

// The name itself or anything below it, as RFC 5280 §4.2.1.10 reads a DNS constraint.
bool at_or_below(std::string_view name, std::string_view domain) noexcept {
  if (name.size() < domain.size()) return false;
  if (!equal_ignoring_case(name.substr(name.size() - domain.size()), domain)) return false;
  return name.size() == domain.size() || name[name.size() - domain.size() - 1] == '.';
}

}  // namespace

bool valid_dns_name(std::string_view name) noexcept {
  if (name.empty() || name.size() > 253) return false;
  while (true) {
    const std::size_t dot = name.find('.');
    if (!valid_label(name.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    name.remove_prefix(dot + 1);
  }
}

Bytes parse_address(const std::string& text) {
  Bytes out(16);
  if (inet_pton(AF_INET6, text.c_str(), out.data()) == 1 && text.find('\0') == std::string::npos) return out;
  out.resize(4);
  if (inet_pton(AF_INET, text.c_str(), out.data()) == 1 && text.find('\0') == std::string::npos) return out;
  return {};
}

std::string name_constraints(std::string_view host_name) {
  std::string out = "critical";
  for (const std::string_view name : kLocalNames) out.append(",permitted;DNS:").append(name);
  out.append(",permitted;DNS:").append(host_name);
  for (const Range& range : kRanges)
    out.append(",permitted;IP:").append(range.network).append("/").append(range.mask);
  return out;
}

bool within_private_ranges(ByteView address) noexcept {
  for (const Range& range : kRanges) {
    std::array<std::uint8_t, 16> network{};
    std::array<std::uint8_t, 16> mask{};
    const int family = address.size() == 4 ? AF_INET : AF_INET6;
    if (inet_pton(family, range.network, network.data()) != 1 ||
        inet_pton(family, range.mask, mask.data()) != 1)
      continue;
    bool inside = true;
    for (std::size_t i = 0; i < address.size(); ++i) inside = inside && (address[i] & mask[i]) == network[i];
    if (inside) return true;
  }
  return false;
}

std::string certifiable_host_name(std::string_view host_name) {
  std::string out;
  while (!host_name.empty()) {
    const std::size_t dot = host_name.find('.');
    std::string label(host_name.substr(0, std::min<std::size_t>(dot, 63)));
    for (char& c : label) c = label_char(c) ? c : '-';
    while (!label.empty() && label.back() == '-') label.pop_back();
    label.erase(0, label.find_first_not_of('-'));
    if (!label.empty()) out.append(out.empty() ? "" : ".").append(label);
    host_name.remove_prefix(dot == std::string_view::npos ? host_name.size() : dot + 1);
  }
  return valid_dns_name(out) ? out : "samovar";
}

bool web_root_covers_address(const std::string& address) {
  const Bytes bytes = parse_address(address);
  return !bytes.empty() && within_private_ranges(bytes);
}

bool web_root_covers_name(std::string_view name, std::string_view host_name) {
  return valid_dns_name(name) && (at_or_below(name, host_name) ||
                                  std::any_of(kLocalNames.begin(), kLocalNames.end(),
                                              [&](std::string_view d) { return at_or_below(name, d); }));
}

}  // namespace samovar::security
