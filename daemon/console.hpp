// What the acts at the console share: they are done by whoever stands before the machine and can name it.
//
// Threading: instead of a start.
#pragma once
#include <string>

#include "base/result.hpp"
#include "daemon/state_dir.hpp"
#include "security/secret_bytes.hpp"

namespace samovar::daemon {

// Without the keys: a damaged identity must not keep anybody from a reset.
Result<std::string> short_id_of(const StateDir& state);

// `typed` is what a script gave as the node's id; empty asks at the console, after `warning`. Errc::denied
// for another id, Errc::invalid without a console: then `flag` is what a script says.
Result<void> confirm_node(const std::string& short_id, std::string typed, const std::string& warning,
                          const std::string& flag);

// At a terminal without echo, else the first line of the input.
Result<security::SecretBytes> ask_passphrase();

}  // namespace samovar::daemon
