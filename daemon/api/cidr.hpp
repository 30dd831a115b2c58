// Address ranges such as 192.168.7.0/24 or fd00::/8. An IPv4 address seen through an IPv6 socket
// (::ffff:192.168.7.9) counts as IPv4.
//
// Threading: any thread.
#pragma once
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace samovar::api {

// The normal form; Errc::invalid when it is none, or has bits set past its length.
Result<std::string> parse_cidr(std::string_view text);
bool cidr_contains(std::string_view cidr, std::string_view address);

}  // namespace samovar::api
