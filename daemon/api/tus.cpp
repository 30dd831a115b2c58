#include "daemon/api/tus.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/encoding.hpp"
#include "base/utf8.hpp"
#include "daemon/api/text.hpp"

namespace samovar::api {
namespace {

constexpr std::size_t kMetadataKeysMax = 32;

// The alphabet of RFC 4648 §4 with its padding, over the decoder of §5 without.
Result<std::string> base64_decode(std::string_view text) {
  const Error bad{Errc::invalid, "a value is not base64"};
  if (text.size() % 4 != 0) return bad;
  for (int i = 0; i < 2 && !text.empty() && text.back() == '='; ++i) text.remove_suffix(1);
  std::string url(text);
  for (char& c : url) {
    if (c == '-' || c == '_' || c == '=') return bad;
    if (c == '+') c = '-';
    if (c == '/') c = '_';
  }
  const auto bytes = base64url_decode(url);
  if (!bytes) return bad;
  return std::string(as_text(*bytes));
}

std::string base64_encode(std::string_view text) {
  std::string out = base64url_encode(as_bytes(text));
  for (char& c : out) {
    if (c == '-') c = '+';
    if (c == '_') c = '/';
  }
  while (out.size() % 4 != 0) out += '=';
  return out;
}

}  // namespace

std::optional<std::uint64_t> parse_tus_number(std::string_view text) noexcept {
  constexpr std::uint64_t kMax = 1ULL << 53;
  std::uint64_t value = 0;
  if (text.empty() || text.size() > 16 || !std::all_of(text.begin(), text.end(), is_digit))
    return std::nullopt;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value <= kMax ? std::optional(value) : std::nullopt;
}

Result<TusMetadata> parse_tus_metadata(std::string_view text) {
  TusMetadata out;
  const auto bad = [](std::string_view why) {
    return Error{Errc::invalid,
                 fmt::format("Upload-Metadata is not key and base64 pairs with commas: {}.", why)};
  };
  if (trim(text).empty()) return out;
  for (;;) {
    const std::size_t comma = text.find(',');
    const std::string_view pair = trim(text.substr(0, comma));
    const std::size_t space = std::min(pair.find(' '), pair.size());
    const std::string_view key = pair.substr(0, space);
    if (key.empty()) return bad("a key is empty");
    if (!std::all_of(key.begin(), key.end(), [](char c) { return c > ' ' && c < 0x7f; }))
      return bad("a key has a character that is not ASCII");
    if (std::any_of(out.begin(), out.end(), [&](const auto& known) { return known.first == key; }))
      return bad("a key comes twice");
    if (out.size() == kMetadataKeysMax) return bad("there are more than 32 keys");
    auto value = base64_decode(trim(pair.substr(space)));
    if (!value) return bad(value.error().message());
    out.emplace_back(std::string(key), *std::move(value));
    if (comma == std::string_view::npos) return out;
    text.remove_prefix(comma + 1);
  }
}

std::string format_tus_metadata(const TusMetadata& metadata) {
  std::string out;
  for (const auto& [key, value] : metadata) {
    out += (out.empty() ? "" : ",") + key;
    if (!value.empty()) out += " " + base64_encode(value);
  }
  return out;
}

bool is_file_name(std::string_view name) noexcept {
  return !name.empty() && name.size() <= kFileNameBytesMax && name.find('\0') == std::string_view::npos &&
         is_utf8(name);
}

bool is_tus_content(std::string_view content_type) noexcept {
  return equal_no_case(trim(content_type.substr(0, content_type.find(';'))), kTusContentType);
}

}  // namespace samovar::api
