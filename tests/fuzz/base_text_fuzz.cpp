// Text from outside into base's decoders, and any bytes into the log: what is accepted has exactly one
// spelling, times survive the round trip, and no log line breaks in two.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/assert.hpp"
#include "base/encoding.hpp"
#include "base/failpoint.hpp"
#include "base/ids.hpp"
#include "base/log_format.hpp"

namespace {

using namespace samovar;

void check_encodings(std::string_view text) {
  if (const auto bytes = hex_decode(text)) SAMOVAR_ASSERT(hex_encode(*bytes).size() == text.size());
  if (const auto bytes = base64url_decode(text)) SAMOVAR_ASSERT(base64url_encode(*bytes) == text);
  if (const auto bytes = base32_decode(text)) SAMOVAR_ASSERT(base32_encode(*bytes) == text);
  if (is_id("usr", text)) SAMOVAR_ASSERT(text.size() == 4 + kUlidChars);
}

void check_time(std::string_view text) {
  const auto time = parse_time(text);
  if (!time) return;
  const auto again = parse_time(format_time(*time));
  SAMOVAR_ASSERT(again && *again == *time);
}

void check_log(std::string_view text) {
  const log::Field fields[] = {log::kv("value", text), log::kv(text, 1)};
  const log::Record record{WallTime{}, log::Level::error, log::Category::base, text, fields, "base/x.cpp", 1};
  for (const std::string& line : {log::format_text(record), log::format_json(record)}) {
    for (const char c : line) SAMOVAR_ASSERT(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
  }
  for (const std::string& field : log::format_journal(record)) {
    SAMOVAR_ASSERT(field.find('=') != std::string::npos);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_encodings(text);
  check_time(text);
  check_log(text);
  ignore(failpoint::arm(text.substr(0, text.find('='))), "a name without an action never arms");
  return 0;
}
