#include "security/token.hpp"

#include "base/assert.hpp"
#include "base/encoding.hpp"
#include "security/wire.hpp"

namespace samovar::security {
namespace {

constexpr std::size_t kIdBytes = 5;  // 8 base32 characters
constexpr std::size_t kIdChars = 8;
constexpr std::size_t kSecretBytes = 32;  // 43 base64url characters
constexpr std::size_t kSecretChars = 43;
constexpr std::size_t kCheckChars = 6;
constexpr std::size_t kCheckedChars = kTokenPrefix.size() + kIdChars + 1 + kSecretChars;
static_assert(kTokenChars == kCheckedChars + 1 + kCheckChars);

// Six characters hold 30 bit: the CRC's upper ones.
std::string check_characters(std::string_view checked) {
  const std::uint32_t crc = crc32(as_bytes(checked)) & ~std::uint32_t{3};
  const Bytes big_endian{static_cast<std::uint8_t>(crc >> 24), static_cast<std::uint8_t>(crc >> 16),
                         static_cast<std::uint8_t>(crc >> 8), static_cast<std::uint8_t>(crc)};
  return base32_encode(big_endian).substr(0, kCheckChars);
}

Error not_a_token() {
  return Error{Errc::invalid,
               "this is not a complete API token: copy all of it, from smv_ to the last character"};
}

// One key serves several kinds of secrets; the kind in front keeps their hashes apart.
Hash256 hash_as(std::string_view kind, const SecretBytes& key, std::string_view id, ByteView secret) {
  Hasher hasher(key);
  Bytes prefix;
  WireWriter writer(prefix);
  writer.sized(as_bytes(kind));
  writer.sized(as_bytes(id));
  return hasher.update(prefix).update(secret).finish();
}

}  // namespace

NewToken make_token(Rng& rng) {
  Bytes id(kIdBytes);
  rng.fill(id);
  SecretBytes secret(kSecretBytes);
  rng.fill(secret.mutable_view());
  NewToken token;
  token.id = base32_encode(id);
  std::string encoded = base64url_encode(secret.view());
  token.text.reserve(kTokenChars);
  token.text.append(kTokenPrefix).append(token.id).append("_").append(encoded);
  wipe(encoded);
  const std::string check = check_characters(token.text);
  token.text.append("_").append(check);
  return token;
}

bool looks_like_token(std::string_view text) noexcept {
  return text.substr(0, kTokenPrefix.size()) == kTokenPrefix;
}

Result<ParsedToken> parse_token(std::string_view text) {
  // By position, not by separator: base64url itself has underscores.
  if (text.size() != kTokenChars || !looks_like_token(text)) return not_a_token();
  const std::string_view checked = text.substr(0, kCheckedChars);
  if (text[kCheckedChars] != '_' || text.substr(kCheckedChars + 1) != check_characters(checked))
    return not_a_token();
  const std::string_view id = text.substr(kTokenPrefix.size(), kIdChars);
  if (text[kTokenPrefix.size() + kIdChars] != '_' || !base32_decode(id)) return not_a_token();
  auto secret = base64url_decode(checked.substr(checked.size() - kSecretChars));
  if (!secret || secret->size() != kSecretBytes) return not_a_token();
  return ParsedToken{std::string(id), SecretBytes::take(*secret)};
}

Hash256 token_hash(const SecretBytes& pepper, const ParsedToken& token) {
  return hash_as("token", pepper, token.id, token.secret.view());
}

bool hashes_equal(const Hash256& a, const Hash256& b) noexcept { return equal_constant_time(a, b); }

std::string make_session_secret(Rng& rng) {
  SecretBytes secret(kSecretBytes);
  rng.fill(secret.mutable_view());
  return base64url_encode(secret.view());
}

Result<Hash256> session_hash(const SecretBytes& pepper, std::string_view session_secret) {
  const Error not_one{Errc::invalid, "this is not a session: log in again"};
  if (session_secret.size() != kSecretChars) return not_one;
  auto bytes = base64url_decode(session_secret);
  if (!bytes || bytes->size() != kSecretBytes) return not_one;
  const SecretBytes secret = SecretBytes::take(*bytes);
  return hash_as("session", pepper, {}, secret.view());
}

std::string csrf_value(const SecretBytes& csrf_key, const Hash256& session) {
  return base64url_encode(hash_as("csrf", csrf_key, {}, session));
}

bool csrf_matches(const SecretBytes& csrf_key, const Hash256& session, std::string_view presented) {
  return equal_constant_time(as_bytes(csrf_value(csrf_key, session)), as_bytes(presented));
}

}  // namespace samovar::security
