// The header fields of an upload: numbers, metadata, content type, names.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/assert.hpp"
#include "base/utf8.hpp"
#include "daemon/api/text.hpp"
#include "daemon/api/tus.hpp"

using namespace samovar;
using namespace samovar::api;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  if (const auto number = parse_tus_number(input)) {
    SAMOVAR_ASSERT(*number <= 1ULL << 53);
    SAMOVAR_ASSERT(parse_tus_number(std::to_string(*number)) == number);
  }
  (void)is_tus_content(input);
  SAMOVAR_ASSERT(!is_file_name(input) || (size <= kFileNameBytesMax && is_utf8(input)));
  const auto metadata = parse_tus_metadata(input);
  if (!metadata) return 0;
  // What was understood is written so that it is understood the same.
  const std::string written = format_tus_metadata(*metadata);
  const auto again = parse_tus_metadata(written);
  SAMOVAR_ASSERT(again && *again == *metadata);
  for (const auto& [key, value] : *metadata) SAMOVAR_ASSERT(!key.empty());
  return 0;
}
