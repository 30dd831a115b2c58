#pragma once

#include <string_view>

namespace samovar {

// Well-formed UTF-8: no overlong forms, no surrogates, nothing past U+10FFFF.
bool is_utf8(std::string_view text) noexcept;

}  // namespace samovar
