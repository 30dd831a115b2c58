#include "security/aead.hpp"

#include <sodium.h>

#include <cstring>

#include "base/assert.hpp"
#include "security/aead_bulk.hpp"
#include "security/memory_lock.hpp"
#include "security/wire.hpp"

namespace samovar::security {
namespace {

static_assert(kAeadKeyBytes == crypto_aead_xchacha20poly1305_ietf_KEYBYTES);
static_assert(kAeadNonceBytes == crypto_aead_xchacha20poly1305_ietf_NPUBBYTES);
static_assert(kAeadTagBytes == crypto_aead_xchacha20poly1305_ietf_ABYTES);

Error does_not_verify() {
  return Error{Errc::corrupt, "sealed bytes do not verify: they were altered, or belong elsewhere"};
}

AeadNonce nonce_of(ByteView sealed) {
  AeadNonce nonce;
  std::memcpy(nonce.data(), sealed.data(), nonce.size());
  return nonce;
}

}  // namespace

void seal_with_nonce(const SecretBytes& key, const AeadNonce& nonce, ByteView plain, ByteView aad,
                     MutableBytes out) {
  SAMOVAR_ASSERT(key.size() == kAeadKeyBytes);
  SAMOVAR_ASSERT(out.size() == plain.size() + kAeadTagBytes);
  if (plain.size() >= kBulkBytesMin && plain.size() <= kBulkBytesMax)
    return seal_bulk(key, nonce, plain, aad, out);
  crypto_aead_xchacha20poly1305_ietf_encrypt(out.data(), nullptr, plain.data(), plain.size(), aad.data(),
                                             aad.size(), nullptr, nonce.data(), key.view().data());
}

bool open_with_nonce(const SecretBytes& key, const AeadNonce& nonce, ByteView sealed, ByteView aad,
                     MutableBytes out) {
  SAMOVAR_ASSERT(key.size() == kAeadKeyBytes);
  if (sealed.size() < kAeadTagBytes) return false;
  SAMOVAR_ASSERT(out.size() == sealed.size() - kAeadTagBytes);
  const bool good = out.size() >= kBulkBytesMin && out.size() <= kBulkBytesMax
                        ? open_bulk(key, nonce, sealed, aad, out)
                        : crypto_aead_xchacha20poly1305_ietf_decrypt(
                              out.data(), nullptr, nullptr, sealed.data(), sealed.size(), aad.data(),
                              aad.size(), nonce.data(), key.view().data()) == 0;
  if (!good) wipe(out);
  return good;
}

Bytes seal(const SecretBytes& key, ByteView plain, ByteView aad) {
  ensure_sodium();
  AeadNonce nonce;
  randombytes_buf(nonce.data(), nonce.size());
  Bytes out(plain.size() + kSealOverheadBytes);
  std::memcpy(out.data(), nonce.data(), nonce.size());
  seal_with_nonce(key, nonce, plain, aad, MutableBytes(out).subspan(kAeadNonceBytes));
  return out;
}

Result<Bytes> open(const SecretBytes& key, ByteView sealed, ByteView aad) {
  if (sealed.size() < kSealOverheadBytes) return does_not_verify();
  Bytes plain(sealed.size() - kSealOverheadBytes);
  if (!open_with_nonce(key, nonce_of(sealed), sealed.subspan(kAeadNonceBytes), aad, plain))
    return does_not_verify();
  return plain;
}

Result<SecretBytes> open_secret(const SecretBytes& key, ByteView sealed, ByteView aad) {
  if (sealed.size() < kSealOverheadBytes) return does_not_verify();
  SecretBytes plain(sealed.size() - kSealOverheadBytes);
  if (!open_with_nonce(key, nonce_of(sealed), sealed.subspan(kAeadNonceBytes), aad, plain.mutable_view()))
    return does_not_verify();
  return plain;
}

Bytes wrap_aad(std::string_view purpose, std::string_view object_id, std::uint64_t generation) {
  Bytes out;
  WireWriter writer(out);
  writer.sized(as_bytes(purpose));
  writer.sized(as_bytes(object_id));
  writer.number(generation);
  return out;
}

}  // namespace samovar::security
