#include "daemon/config_text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace samovar::daemon {

namespace {

bool is_control(unsigned char c) { return (c < 0x20 && c != '\t' && c != '\r') || c == 0x7f; }

// What is wrong with one line, or nullptr.
const char* fault_of(std::string_view line) {
  if (std::any_of(line.begin(), line.end(), is_control))
    return "a control character, as if it were no text file";
  const std::size_t first = line.find_first_not_of(" \t");
  if (first != std::string_view::npos && line[first] == '[')
    return "this file has no [sections] or lists within lists: write each setting as name = value";
  char quote = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote != 0) {
      if (c == '\\' && quote == '"') ++i;
      if (c == quote) quote = 0;
    } else if (c == '#') {
      return nullptr;
    } else if (c == '"' || c == '\'') {
      if (line.substr(i, 3) == std::string(3, c)) return "a text over several lines: write it in one";
      quote = c;
    } else if (static_cast<unsigned char>(c) >= 0x80) {
      return "a letter beyond a to z outside quotes: put the value in \"quotes\"";
    }
  }
  return quote == 0 ? nullptr : "a quote that does not end on its line";
}

}  // namespace

Result<void> check_config_text(std::string_view text, std::string_view source) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (const char* fault = fault_of(line))
      return Error{Errc::invalid, fmt::format("{} line {}: {}", source, number, fault)};
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  return {};
}

}  // namespace samovar::daemon
