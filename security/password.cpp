#include "security/password.hpp"

#include <charconv>

#include "base/encoding.hpp"
#include "security/hash.hpp"
#include "security/wire.hpp"

namespace samovar::security {
namespace {

constexpr std::string_view kPrefix = "smvpw1$m=";

// The hash that is stored: without the pepper, i.e. without the CMK, no guess can be checked.
Result<Hash256> peppered(ByteView password, const SecretBytes& pepper, const Argon2Cost& cost,
                         const Argon2Salt& salt) {
  SAMOVAR_TRY(const SecretBytes stretched, argon2id(password, salt, cost));
  Bytes place;
  WireWriter writer(place);
  writer.raw(as_bytes("samovar-v1:password"));
  writer.number(cost.memory_kib);
  writer.number(cost.passes);
  writer.raw(salt);
  return Hasher(pepper).update(place).update(stretched.view()).finish();
}

std::uint32_t take_number(std::string_view& text) {
  std::uint32_t value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return failed == std::errc{} ? value : 0;
}

bool take(std::string_view& text, std::string_view expected) {
  if (text.substr(0, expected.size()) != expected) return false;
  text.remove_prefix(expected.size());
  return true;
}

template <class Array>
bool take_base64(std::string_view& text, std::size_t chars, Array& out) {
  auto bytes = base64url_decode(text.substr(0, chars));
  if (!bytes || bytes->size() != out.size()) return false;
  std::copy(bytes->begin(), bytes->end(), out.begin());
  text.remove_prefix(chars);
  return true;
}

}  // namespace

std::string encode_password_hash(const StoredPassword& stored) {
  return std::string(kPrefix) + std::to_string(stored.cost.memory_kib) +
         ",t=" + std::to_string(stored.cost.passes) + "$" + base64url_encode(stored.salt) + "$" +
         base64url_encode(stored.hash);
}

Result<StoredPassword> decode_password_hash(std::string_view stored) {
  StoredPassword out;
  std::string_view rest = stored;
  bool good = stored.size() <= 128 && take(rest, kPrefix);
  if (good) out.cost.memory_kib = take_number(rest);
  good = good && take(rest, ",t=");
  if (good) out.cost.passes = take_number(rest);
  good = good && take(rest, "$") && take_base64(rest, 22, out.salt) && take(rest, "$") &&
         take_base64(rest, 43, out.hash) && rest.empty();
  // One spelling only: "t=03" is not ours.
  if (!good || !cost_in_bounds(out.cost) || encode_password_hash(out) != stored)
    return Error{Errc::corrupt, "a stored password hash is damaged: an admin can set a new password"};
  return out;
}

Result<std::string> hash_password(ByteView password, const SecretBytes& pepper, const Argon2Cost& cost) {
  if (password.size() > kPasswordBytesMax) return Error{Errc::invalid, "a password has at most 1024 bytes"};
  StoredPassword stored{cost, random_salt(), {}};
  SAMOVAR_TRY(stored.hash, peppered(password, pepper, stored.cost, stored.salt));
  return encode_password_hash(stored);
}

Result<bool> verify_password(std::string_view stored, ByteView password, const SecretBytes& pepper) {
  SAMOVAR_TRY(const StoredPassword parsed, decode_password_hash(stored));
  if (password.size() > kPasswordBytesMax) return verify_nobody({}, pepper, parsed.cost);
  SAMOVAR_TRY(const Hash256 hash, peppered(password, pepper, parsed.cost, parsed.salt));
  return equal_constant_time(hash, parsed.hash);
}

Result<bool> verify_nobody(ByteView password, const SecretBytes& pepper, const Argon2Cost& cost) {
  const ByteView bounded = password.first(std::min(password.size(), kPasswordBytesMax));
  SAMOVAR_TRY(const Hash256 hash, peppered(bounded, pepper, cost, Argon2Salt{}));
  // The comparison, too; its outcome is not used.
  static_cast<void>(equal_constant_time(hash, Hash256{}));
  return false;
}

bool needs_rehash(std::string_view stored, const Argon2Cost& cost) {
  auto parsed = decode_password_hash(stored);
  return !parsed || !(parsed->cost == cost);
}

}  // namespace samovar::security
