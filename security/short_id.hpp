// Ids and codes as people read them aloud: "K7Q2-M4XP".
#pragma once
#include <string>
#include <string_view>

namespace samovar::security {
// The first eight characters in capitals, in two groups.
inline std::string short_form(std::string_view base32) {
  std::string out;
  for (const char c : base32.substr(0, 8)) {
    if (out.size() == 4) out.push_back('-');
    out.push_back(c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c);
  }
  return out;
}
}  // namespace samovar::security
