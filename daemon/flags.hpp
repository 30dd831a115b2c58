// The command line of samovard, laid over the configuration file.
#pragma once
#include <string>

#include "base/result.hpp"
#include "daemon/config.hpp"

namespace samovar::daemon {

enum class Act : std::uint8_t { serve, print_and_exit, factory_reset, recover_alone };

struct CommandLine {
  Act act = Act::serve;
  std::string text;      // print_and_exit: what to print
  std::string named_id;  // factory_reset, recover_alone: what a person would type; empty: ask
  Config config;
};

// Reads the file, applies the flags and validates the whole. Errors are of usage or configuration.
Result<CommandLine> parse_command_line(int argc, const char* const* argv);

}  // namespace samovar::daemon
