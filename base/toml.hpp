// Settings in a part of TOML 1.0: `name = value` and [sections], one setting a line; texts in "…" or '…' on
// one line, whole numbers, true and false, and lists of texts that may go over several lines. Dates,
// fractions, tables in braces and texts over several lines are not settings of ours and are errors.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.hpp"

namespace samovar {

struct TomlEntry {
  using Value = std::variant<std::string, std::int64_t, bool, std::vector<std::string>>;

  std::vector<std::string> section;  // [a.b] → {"a", "b"}
  std::string name;
  Value value;
  std::size_t line = 0;
};

struct TomlFault {
  std::size_t line = 0;
  std::string text;  // without the line
};

// In the order of the file. Sections without entries are left out.
std::variant<std::vector<TomlEntry>, TomlFault> parse_toml(std::string_view text);

}  // namespace samovar
