// openapi.json as it was when the program was built, straight from the assembler: the file is the
// source, and nothing between it and the binary can alter it.
#include "daemon/api/handlers.hpp"

asm(".section .rodata\n"
    ".global samovar_openapi_begin\n"
    "samovar_openapi_begin:\n"
    ".incbin \"" SAMOVAR_OPENAPI_PATH
    "\"\n"
    ".global samovar_openapi_end\n"
    "samovar_openapi_end:\n"
    ".byte 0\n"
    ".previous\n");

extern "C" {
extern const char samovar_openapi_begin[];  // NOLINT(readability-identifier-naming): the assembler's labels
extern const char samovar_openapi_end[];    // NOLINT(readability-identifier-naming)
}

namespace samovar::api {

std::string_view openapi_document() {
  return {samovar_openapi_begin, static_cast<std::size_t>(samovar_openapi_end - samovar_openapi_begin)};
}

}  // namespace samovar::api
