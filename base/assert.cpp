#include "base/assert.hpp"

#include <cstdio>
#include <cstdlib>

namespace samovar {

void assert_failed(const char* expression, const char* file, int line) noexcept {
  // stdio only: the logger may be what failed.
  std::fprintf(stderr, "samovar: assertion failed: %s at %s:%d\n", expression, file, line);
  std::abort();
}

}  // namespace samovar
