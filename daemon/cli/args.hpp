// Turns the words of a command line into an Invocation, guided only by the command table.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "daemon/cli/command.hpp"

namespace samovar::cli {

struct Invocation {
  const Command* command = nullptr;  // null: only help or nothing was asked for
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> flags;  // in order; a switch has the value ""
  bool help = false;
  std::string help_topic;  // noun or "noun verb" the help is wanted for

  bool has(std::string_view flag) const noexcept;
  std::string_view flag(std::string_view name,
                        std::string_view otherwise = {}) const noexcept;  // the last one
  std::vector<std::string> all(std::string_view name) const;
  std::string_view argument(std::size_t index) const noexcept;  // empty when absent
};

// An Error is a usage error: exit code 2. Its message ends with a suggestion where one is near.
Result<Invocation> parse(const Table& table, const std::vector<std::string>& words);

// The whole number behind a flag, or `otherwise` when it was not given.
Result<long> number_flag(const Invocation& invocation, std::string_view name, long otherwise, long low,
                         long high);

}  // namespace samovar::cli
