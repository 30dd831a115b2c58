#include "security/keyring.hpp"

#include <algorithm>

#include "base/assert.hpp"
#include "base/encoding.hpp"
#include "security/aead.hpp"
#include "security/hash.hpp"
#include "security/kdf.hpp"
#include "security/key_file.hpp"
#include "security/password_wrap.hpp"
#include "security/wire.hpp"

namespace samovar::security {
namespace {

constexpr std::string_view kMagic = "SMVKRING";
constexpr std::uint16_t kVersion = 1;
constexpr std::size_t kChecksumBytes = 32;
constexpr std::size_t kWrapBytesMax = 1024;

using Commitment = std::array<std::uint8_t, 16>;

// XChaCha20-Poly1305 alone lets one ciphertext open under two keys; this ties the keyring to one CMK.
Commitment commitment_of(const SecretBytes& cmk) {
  const SecretBytes derived = derive(cmk, "keyring-commit");
  Commitment out;
  std::copy_n(derived.view().begin(), out.size(), out.begin());
  return out;
}

SecretBytes key_file_key(const KeyFile& file) { return derive(file.key, "key-file"); }

bool valid_cluster_id(std::string_view id) {
  return !id.empty() && id.size() <= kClusterIdBytesMax &&
         std::all_of(id.begin(), id.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

Error damaged() {
  return Error{Errc::corrupt,
               "the keyring is damaged: restore the file \"keyring\" of the state directory from a backup"};
}

Error other_box(const KeyFile& file, const Keyring& keyring) {
  return Error{Errc::invalid, "this key file is for another box: it belongs to keyring " +
                                  short_keyring_id(file.keyring_id) + " (" + file.cluster_id +
                                  "), but this box has keyring " + keyring.short_id() + " (" +
                                  keyring.cluster_id() + "); use the key file labelled " +
                                  keyring.short_id()};
}

Result<void> check_passphrase_size(ByteView passphrase) {
  if (passphrase.empty()) return Error{Errc::invalid, "the passphrase is empty"};
  if (passphrase.size() > kPassphraseBytesMax)
    return Error{Errc::invalid, "the passphrase is longer than 1024 bytes: choose a shorter one"};
  return {};
}

}  // namespace

Bytes Keyring::aad(std::string_view kind) const {
  return wrap_aad("cmk-" + std::string(kind), cluster_id_ + "/" + hex_encode(id_), generation_);
}

std::string Keyring::short_id() const { return short_keyring_id(id_); }

Result<Keyring> Keyring::make(std::string_view cluster_id, const SecretBytes& cmk) {
  if (!valid_cluster_id(cluster_id))
    return Error{Errc::invalid, "a cluster id has 1 to 64 printable characters"};
  Keyring keyring;
  const SecretBytes id = SecretBytes::random(keyring.id_.size());
  std::copy(id.view().begin(), id.view().end(), keyring.id_.begin());
  keyring.cluster_id_ = cluster_id;
  keyring.cmk_commitment_ = commitment_of(cmk);
  return keyring;
}

Result<NewKeyring> Keyring::create_with_passphrase(std::string_view cluster_id, ByteView passphrase,
                                                   const Argon2Cost& cost) {
  SecretBytes cmk = SecretBytes::random(kCmkBytes);
  SAMOVAR_TRY(Keyring keyring, make(cluster_id, cmk));
  SAMOVAR_CHECK(keyring.set_passphrase(cmk, passphrase, cost));
  return NewKeyring{std::move(keyring), std::move(cmk), SecretBytes{}};
}

Result<NewKeyring> Keyring::create_with_key_file(std::string_view cluster_id) {
  SecretBytes cmk = SecretBytes::random(kCmkBytes);
  SAMOVAR_TRY(Keyring keyring, make(cluster_id, cmk));
  SAMOVAR_TRY(SecretBytes key_file, keyring.set_key_file(cmk));
  return NewKeyring{std::move(keyring), std::move(cmk), std::move(key_file)};
}

Bytes Keyring::encode() const {
  Bytes out;
  WireWriter writer(out);
  writer.raw(as_bytes(kMagic));
  writer.number(kVersion);
  writer.raw(id_);
  writer.number(generation_);
  writer.sized(as_bytes(cluster_id_));
  writer.raw(cmk_commitment_);
  writer.sized(passphrase_wrap_);
  writer.sized(key_file_wrap_);
  writer.raw(blake2b_256(out));
  return out;
}

Result<Keyring> Keyring::decode(ByteView bytes) {
  if (bytes.size() > kKeyringBytesMax || bytes.size() < kMagic.size() + kChecksumBytes) return damaged();
  const ByteView body = bytes.first(bytes.size() - kChecksumBytes);
  if (!equal_constant_time(blake2b_256(body), bytes.last(kChecksumBytes))) return damaged();
  WireReader reader(body);
  if (as_text(reader.raw(kMagic.size())) != kMagic) return damaged();
  if (reader.number<std::uint16_t>() != kVersion)
    return Error{Errc::unsupported,
                 "the keyring was written by a later version of Samovar: install that version"};
  Keyring keyring;
  keyring.id_ = reader.array<KeyringId>();
  keyring.generation_ = reader.number<std::uint32_t>();
  keyring.cluster_id_ = as_text(reader.sized(kClusterIdBytesMax));
  keyring.cmk_commitment_ = reader.array<Commitment>();
  keyring.passphrase_wrap_ = to_bytes(reader.sized(kWrapBytesMax));
  keyring.key_file_wrap_ = to_bytes(reader.sized(kWrapBytesMax));
  const bool has_wrap = keyring.has_passphrase() || keyring.has_key_file();
  if (!reader.at_end() || !has_wrap || !valid_cluster_id(keyring.cluster_id_)) return damaged();
  return keyring;
}

Result<void> Keyring::require_cmk(const SecretBytes& cmk) const {
  if (cmk.size() == kCmkBytes && equal_constant_time(commitment_of(cmk), cmk_commitment_)) return {};
  return Error{Errc::denied, "this master key is not the keyring's"};
}

Result<SecretBytes> Keyring::unlock(ByteView passphrase) const {
  if (!has_passphrase())
    return Error{
        Errc::conflict,
        "this box is unlocked by its key file, not by a passphrase: put back key file " + short_id()};
  const Error wrong{Errc::denied,
                    "wrong passphrase: check caps lock and the keyboard layout, then try again"};
  if (!check_passphrase_size(passphrase)) return wrong;
  auto cmk = unwrap_secret_with_password(passphrase_wrap_, passphrase, aad("passphrase"));
  if (!cmk && cmk.error().code() == Errc::denied) return wrong;
  if (!cmk) return cmk;
  if (!require_cmk(*cmk)) return damaged();
  return cmk;
}

Result<SecretBytes> Keyring::unlock_with_key_file(ByteView key_file) const {
  if (!has_key_file())
    return Error{Errc::conflict, "this box is unlocked by its passphrase, not by a key file"};
  SAMOVAR_TRY(const KeyFile file, decode_key_file(key_file));
  if (file.keyring_id != id_ || file.cluster_id != cluster_id_) return other_box(file, *this);
  auto cmk = open_secret(key_file_key(file), key_file_wrap_, aad("key-file"));
  if (!cmk)
    return Error{Errc::denied, "this key file is an earlier one of this box (" + short_id() +
                                   ") and was replaced: use the newest"};
  if (!require_cmk(*cmk)) return damaged();
  return cmk;
}

Result<void> Keyring::set_passphrase(const SecretBytes& cmk, ByteView passphrase, const Argon2Cost& cost) {
  SAMOVAR_CHECK(require_cmk(cmk));
  SAMOVAR_CHECK(check_passphrase_size(passphrase));
  SAMOVAR_TRY(Bytes wrap, wrap_secret_with_password(cmk, passphrase, aad("passphrase"), cost));
  passphrase_wrap_ = std::move(wrap);
  return {};
}

Result<SecretBytes> Keyring::set_key_file(const SecretBytes& cmk) {
  SAMOVAR_CHECK(require_cmk(cmk));
  const KeyFile file{id_, cluster_id_, SecretBytes::random(32)};
  key_file_wrap_ = seal(key_file_key(file), cmk.view(), aad("key-file"));
  return encode_key_file(file);
}

Result<void> Keyring::remove_passphrase() {
  if (!has_key_file())
    return Error{Errc::conflict, "the passphrase is the only way in: add a key file first"};
  passphrase_wrap_.clear();
  return {};
}

Result<void> Keyring::remove_key_file() {
  if (!has_passphrase())
    return Error{Errc::conflict, "the key file is the only way in: set a passphrase first"};
  key_file_wrap_.clear();
  return {};
}

}  // namespace samovar::security
