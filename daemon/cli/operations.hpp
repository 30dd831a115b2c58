// Work that the box does by itself: waiting for it.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "base/result.hpp"

namespace samovar::cli {

class App;

// Until it ended; the operation's last state. Ctrl-C leaves it running and says so. Exit code 8 when it
// failed or was cancelled.
Result<nlohmann::json> wait_operation(App& app, const std::string& id);
// "Reading cells.csv …": how far it was when last asked.
std::string operation_sentence(const nlohmann::json& operation);

}  // namespace samovar::cli
