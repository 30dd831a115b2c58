// Making a node new again: only at its console, and only by whoever names it.
//
// Threading: instead of a start.
#pragma once
#include <string>

#include "base/result.hpp"
#include "daemon/config.hpp"

namespace samovar::daemon {

// Asks at the console for the node's short id, unless `typed_id` has it already; then wipes. Refused while a
// daemon runs. Returns what to print.
Result<std::string> factory_reset(const Config& config, const std::string& typed_id);

}  // namespace samovar::daemon
