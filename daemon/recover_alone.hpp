// The last resort when the majority is gone for good: this node goes on alone with what it has.
// docs/howto/lost-majority.md says when, and what is lost.
//
// Threading: instead of a start.
#pragma once
#include <string>

#include "base/result.hpp"
#include "daemon/config.hpp"

namespace samovar::daemon {

// Asks at the console for the node's short id unless `typed_id` has it already, and for the passphrase where
// there is no key file; verifies the log, then makes this node its only member. Refused while a daemon runs.
// Returns what to print; the next start writes it into the audit log.
Result<std::string> recover_alone(const Config& config, const std::string& typed_id);

}  // namespace samovar::daemon
