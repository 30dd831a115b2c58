#include "base/encoding.hpp"

#include <zlib.h>

#include <array>

namespace samovar {
namespace {

constexpr std::string_view kHex = "0123456789abcdef";
constexpr std::string_view kBase64Url = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr std::string_view kBase32 = "0123456789abcdefghjkmnpqrstvwxyz";

// The value of each byte in an alphabet, or -1.
constexpr std::array<std::int8_t, 256> reversed(std::string_view alphabet) {
  std::array<std::int8_t, 256> values{};
  for (auto& value : values) value = -1;
  for (std::size_t i = 0; i < alphabet.size(); ++i) {
    values[static_cast<unsigned char>(alphabet[i])] = static_cast<std::int8_t>(i);
  }
  return values;
}

// Big-endian groups of `bits` bits, as RFC 4648 does for every one of its bases.
std::string encode(ByteView bytes, std::string_view alphabet, unsigned bits) {
  std::string out;
  out.reserve((bytes.size() * 8 + bits - 1) / bits);
  std::uint32_t held = 0;
  unsigned held_bits = 0;
  for (const std::uint8_t byte : bytes) {
    held = held << 8 | byte;
    held_bits += 8;
    while (held_bits >= bits) {
      held_bits -= bits;
      out += alphabet[held >> held_bits & ((1U << bits) - 1)];
    }
    held &= (1U << held_bits) - 1;
  }
  if (held_bits > 0) out += alphabet[held << (bits - held_bits) & ((1U << bits) - 1)];
  return out;
}

Result<Bytes> decode(std::string_view text, const std::array<std::int8_t, 256>& values, unsigned bits,
                     const char* name) {
  Bytes out;
  out.reserve(text.size() * bits / 8);
  std::uint32_t held = 0;
  unsigned held_bits = 0;
  for (const char c : text) {
    const std::int8_t value = values[static_cast<unsigned char>(c)];
    if (value < 0)
      return Error{Errc::invalid, std::string("not ") + name + ": a character outside its alphabet"};
    held = held << bits | static_cast<std::uint32_t>(value);
    held_bits += bits;
    if (held_bits >= 8) {
      held_bits -= 8;
      out.push_back(static_cast<std::uint8_t>(held >> held_bits));
      held &= (1U << held_bits) - 1;
    }
  }
  // A whole character that adds no byte, or spare bits that are set, would be a second spelling.
  if (held_bits >= bits || held != 0)
    return Error{Errc::invalid, std::string("not ") + name + ": cut short or altered"};
  return out;
}

constexpr auto kBase64UrlValues = reversed(kBase64Url);
constexpr auto kBase32Values = reversed(kBase32);
constexpr auto kHexValues = [] {
  auto values = reversed(kHex);
  for (unsigned char i = 0; i < 6; ++i) values[std::size_t{'A'} + i] = static_cast<std::int8_t>(10 + i);
  return values;
}();

}  // namespace

std::string hex_encode(ByteView bytes) { return encode(bytes, kHex, 4); }
Result<Bytes> hex_decode(std::string_view text) { return decode(text, kHexValues, 4, "hex"); }
std::string base64url_encode(ByteView bytes) { return encode(bytes, kBase64Url, 6); }
Result<Bytes> base64url_decode(std::string_view text) {
  return decode(text, kBase64UrlValues, 6, "base64url");
}
std::string base32_encode(ByteView bytes) { return encode(bytes, kBase32, 5); }
Result<Bytes> base32_decode(std::string_view text) { return decode(text, kBase32Values, 5, "base32"); }

std::string base32_normalize(std::string_view typed) {
  std::string out;
  for (char c : typed) {
    if (c == ' ' || c == '-') continue;
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == 'o') c = '0';
    if (c == 'i' || c == 'l') c = '1';
    out += c;
  }
  return out;
}

std::uint32_t crc32(ByteView bytes, std::uint32_t previous) noexcept {
  return static_cast<std::uint32_t>(::crc32_z(previous, bytes.data(), bytes.size()));
}

}  // namespace samovar
