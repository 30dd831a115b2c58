// SAMOVAR_ASSERT(x): our own contract, checked in release builds too. Never on input from outside.
#pragma once

namespace samovar {
[[noreturn]] void assert_failed(const char* expression, const char* file, int line) noexcept;
}

#define SAMOVAR_ASSERT(x) (static_cast<bool>(x) ? void(0) : ::samovar::assert_failed(#x, __FILE__, __LINE__))
