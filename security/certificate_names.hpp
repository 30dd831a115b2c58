// Which host names and addresses the web root may speak for.
#pragma once
#include <string>
#include <string_view>

#include "base/bytes.hpp"

namespace samovar::security {

// Letters, digits, dashes and dots, labels of 1..63, at most 253 in all: also what keeps OpenSSL's
// configuration syntax free of injected commas.
bool valid_dns_name(std::string_view name) noexcept;
// 4 or 16 bytes, empty when it is no address.
Bytes parse_address(const std::string& text);
// The extension's value: permitted names and ranges.
std::string name_constraints(std::string_view host_name);
bool within_private_ranges(ByteView address) noexcept;

}  // namespace samovar::security
