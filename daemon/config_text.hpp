// What a configuration file may hold at all, before toml++ reads it: version 3.3 stops the program, or runs
// into undefined behaviour, at some headers of sections, control characters and letters outside strings.
#pragma once

#include <string_view>

#include "base/result.hpp"

namespace samovar::daemon {

// Errc::invalid with the file's name, the line and what to do.
Result<void> check_config_text(std::string_view text, std::string_view source);

}  // namespace samovar::daemon
