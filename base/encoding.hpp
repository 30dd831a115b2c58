// Bytes as text and back: hex, base64url, base32; and crc32. Decoders take exactly one spelling of
// each value (no padding, no white space, spare bits zero), so that equal bytes mean equal text.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.hpp"
#include "base/result.hpp"

namespace samovar {

std::string hex_encode(ByteView bytes);           // lower case
Result<Bytes> hex_decode(std::string_view text);  // either case

std::string base64url_encode(ByteView bytes);  // RFC 4648 §5, without padding
Result<Bytes> base64url_decode(std::string_view text);

// Crockford's alphabet in lower case, 0-9 a-z without i l o u, without padding.
std::string base32_encode(ByteView bytes);
Result<Bytes> base32_decode(std::string_view text);
// For text that people type: lower case, without spaces and hyphens, o as 0, i and l as 1.
std::string base32_normalize(std::string_view typed);

// The CRC of zlib, gzip and PNG. Go on from an earlier part by passing its result.
std::uint32_t crc32(ByteView bytes, std::uint32_t previous = 0) noexcept;

}  // namespace samovar
