// One request head from bytes: Beast's parser between our own checks. Beast stays in the .cpp.
//
// Threading: a pure function, any thread; the fuzzer drives exactly this code.
#pragma once
#include <optional>
#include <string_view>

#include "daemon/api/limits.hpp"
#include "daemon/api/refusal.hpp"
#include "daemon/api/request_head.hpp"

namespace samovar::api {

// `bytes` end with the blank line. Fills `out` as far as it got, also when it refuses.
std::optional<Refusal> parse_head(std::string_view bytes, const Limits& limits, RequestHead& out);

}  // namespace samovar::api
