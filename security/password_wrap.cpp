#include "security/password_wrap.hpp"

#include "base/assert.hpp"
#include "security/aead.hpp"
#include "security/hash.hpp"
#include "security/wire.hpp"

namespace samovar::security {
namespace {

constexpr std::string_view kMagic = "SMVW";
constexpr std::uint16_t kVersion = 1;
constexpr std::size_t kChecksumBytes = 16;

struct Record {
  Argon2Cost cost;
  Argon2Salt salt{};
  ByteView header;  // everything before the sealed part: authenticated with it
  ByteView sealed;
};

Error damaged() {
  return Error{Errc::corrupt,
               "a key wrapped by a password is damaged: restore the file it is in from a backup"};
}

Bytes encode_header(const Argon2Cost& cost, const Argon2Salt& salt) {
  Bytes out;
  WireWriter writer(out);
  writer.raw(as_bytes(kMagic));
  writer.number(kVersion);
  writer.number(cost.memory_kib);
  writer.number(cost.passes);
  writer.raw(salt);
  return out;
}

Bytes full_aad(ByteView header, ByteView aad) {
  Bytes out = to_bytes(header);
  WireWriter(out).sized(aad);
  return out;
}

Result<Record> decode(ByteView bytes) {
  if (bytes.size() < kChecksumBytes) return damaged();
  const ByteView body = bytes.first(bytes.size() - kChecksumBytes);
  if (!equal_constant_time(blake2b(kChecksumBytes, body), bytes.last(kChecksumBytes))) return damaged();
  WireReader reader(body);
  if (as_text(reader.raw(kMagic.size())) != kMagic) return damaged();
  const auto version = reader.number<std::uint16_t>();
  if (reader.ok() && version != kVersion)
    return Error{Errc::unsupported, "a key wrapped by a later version of Samovar: install that version"};
  Record record;
  record.cost.memory_kib = reader.number<std::uint32_t>();
  record.cost.passes = reader.number<std::uint32_t>();
  record.salt = reader.array<Argon2Salt>();
  record.header = body.first(body.size() - reader.rest().size());
  record.sealed = reader.sized(kWrappedSecretBytesMax + kSealOverheadBytes);
  if (!reader.at_end() || record.sealed.size() < kSealOverheadBytes || !cost_in_bounds(record.cost))
    return damaged();
  return record;
}

}  // namespace

Result<Bytes> wrap_secret_with_password(const SecretBytes& secret, ByteView password, ByteView aad,
                                        const Argon2Cost& cost) {
  SAMOVAR_ASSERT(secret.size() <= kWrappedSecretBytesMax);
  const Argon2Salt salt = random_salt();
  SAMOVAR_TRY(const SecretBytes key, argon2id(password, salt, cost));
  Bytes out = encode_header(cost, salt);
  const Bytes sealed = seal(key, secret.view(), full_aad(out, aad));
  WireWriter writer(out);
  writer.sized(sealed);
  writer.raw(blake2b(kChecksumBytes, out));
  return out;
}

Result<SecretBytes> unwrap_secret_with_password(ByteView wrapped, ByteView password, ByteView aad) {
  SAMOVAR_TRY(const Record record, decode(wrapped));
  SAMOVAR_TRY(const SecretBytes key, argon2id(password, record.salt, record.cost));
  auto secret = open_secret(key, record.sealed, full_aad(record.header, aad));
  // The checksum was right, so the bytes are as written: it is the password.
  if (!secret) return Error{Errc::denied, "wrong password"};
  return secret;
}

}  // namespace samovar::security
