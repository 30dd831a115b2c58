#include "daemon/api/cidr.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <optional>

namespace samovar::api {
namespace {

struct Address {
  std::array<std::uint8_t, 16> bytes{};
  int family = AF_INET;
  unsigned bits() const { return family == AF_INET ? 32 : 128; }
};

std::optional<Address> parse_address(std::string_view text) {
  if (text.size() > 63) return std::nullopt;
  const std::string copy(text.substr(0, text.find('%')));  // fe80::1%eth0: the zone is no part of the range
  Address address;
  if (inet_pton(AF_INET, copy.c_str(), address.bytes.data()) == 1) return address;
  if (inet_pton(AF_INET6, copy.c_str(), address.bytes.data()) != 1) return std::nullopt;
  address.family = AF_INET6;
  constexpr std::array<std::uint8_t, 12> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  if (std::equal(kMapped.begin(), kMapped.end(), address.bytes.begin())) {
    std::copy(address.bytes.begin() + 12, address.bytes.end(), address.bytes.begin());
    std::fill(address.bytes.begin() + 4, address.bytes.end(), std::uint8_t{0});
    address.family = AF_INET;
  }
  return address;
}

struct Range {
  Address base;
  unsigned length = 0;
};

std::optional<Range> parse_range(std::string_view text) {
  const auto slash = text.find('/');
  auto base = parse_address(text.substr(0, slash));
  if (!base) return std::nullopt;
  Range range{*base, base->bits()};
  if (slash != std::string_view::npos) {
    const std::string_view digits = text.substr(slash + 1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), range.length);
    if (error != std::errc{} || end != digits.data() + digits.size() || range.length > base->bits())
      return std::nullopt;
  }
  return range;
}

bool bit(const Address& address, unsigned i) { return ((address.bytes[i / 8] >> (7 - i % 8)) & 1) != 0; }

}  // namespace

Result<std::string> parse_cidr(std::string_view text) {
  const auto range = parse_range(text);
  if (!range) return Error{Errc::invalid, "not an address range; write e.g. 192.168.7.0/24"};
  for (unsigned i = range->length; i < range->base.bits(); ++i)
    if (bit(range->base, i))
      return Error{Errc::invalid,
                   fmt::format("the address has bits set past /{}; write the first address of the range",
                               range->length)};
  std::array<char, INET6_ADDRSTRLEN> buffer{};
  inet_ntop(range->base.family, range->base.bytes.data(), buffer.data(), buffer.size());
  return fmt::format("{}/{}", buffer.data(), range->length);
}

bool cidr_contains(std::string_view cidr, std::string_view address) {
  const auto range = parse_range(cidr);
  const auto candidate = parse_address(address);
  if (!range || !candidate || range->base.family != candidate->family) return false;
  for (unsigned i = 0; i < range->length; ++i)
    if (bit(range->base, i) != bit(*candidate, i)) return false;
  return true;
}

}  // namespace samovar::api
