#include "security/aead_bulk.hpp"

#include <openssl/evp.h>
#include <sodium.h>

#include <algorithm>
#include <array>
#include <memory>

#include "base/assert.hpp"
#include "security/openssl_handles.hpp"

namespace samovar::security {
namespace {

constexpr std::size_t kHChaChaNonceBytes = 16;
using InnerNonce = std::array<std::uint8_t, 12>;

struct FreeContext {
  void operator()(EVP_CIPHER_CTX* context) const noexcept { EVP_CIPHER_CTX_free(context); }
};
using Context = std::unique_ptr<EVP_CIPHER_CTX, FreeContext>;

// Looked up once; OpenSSL keeps it for the life of the program.
const EVP_CIPHER* cipher() {
  static const EVP_CIPHER* const kCipher = EVP_CIPHER_fetch(nullptr, "ChaCha20-Poly1305", nullptr);
  SAMOVAR_ASSERT(kCipher != nullptr);
  return kCipher;
}

// draft-irtf-cfrg-xchacha: HChaCha20 makes a key of this key and the first 16 bytes of the nonce; the rest is
// RFC 8439 with the other 8.
struct OneTimeKey {
  std::array<std::uint8_t, kAeadKeyBytes> key{};
  OneTimeKey(const SecretBytes& from, const AeadNonce& nonce) {
    crypto_core_hchacha20(key.data(), nonce.data(), from.view().data(), nullptr);
  }
  ~OneTimeKey() { sodium_memzero(key.data(), key.size()); }
  OneTimeKey(const OneTimeKey&) = delete;
  OneTimeKey& operator=(const OneTimeKey&) = delete;
};

InnerNonce inner_nonce(const AeadNonce& nonce) {
  InnerNonce out{};
  std::copy(nonce.begin() + kHChaChaNonceBytes, nonce.end(), out.begin() + 4);
  return out;
}

int length(ByteView bytes) { return static_cast<int>(bytes.size()); }

}  // namespace

void seal_bulk(const SecretBytes& key, const AeadNonce& nonce, ByteView plain, ByteView aad,
               MutableBytes out) {
  SAMOVAR_ASSERT(plain.size() <= kBulkBytesMax && aad.size() <= kBulkBytesMax);
  const OneTimeKey once(key, nonce);
  const InnerNonce inner = inner_nonce(nonce);
  const Context context(EVP_CIPHER_CTX_new());
  int done = 0;
  // These fail for want of memory or by misuse only; a message half sealed must not be taken for one.
  SAMOVAR_ASSERT(context &&
                 EVP_EncryptInit_ex2(context.get(), cipher(), once.key.data(), inner.data(), nullptr) == 1);
  SAMOVAR_ASSERT(EVP_EncryptUpdate(context.get(), nullptr, &done, aad.data(), length(aad)) == 1);
  SAMOVAR_ASSERT(EVP_EncryptUpdate(context.get(), out.data(), &done, plain.data(), length(plain)) == 1 &&
                 done == length(plain));
  SAMOVAR_ASSERT(EVP_EncryptFinal_ex(context.get(), out.data() + done, &done) == 1);
  SAMOVAR_ASSERT(EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_GET_TAG, kAeadTagBytes,
                                     out.data() + plain.size()) == 1);
}

bool open_bulk(const SecretBytes& key, const AeadNonce& nonce, ByteView sealed, ByteView aad,
               MutableBytes out) {
  SAMOVAR_ASSERT(sealed.size() <= kBulkBytesMax && aad.size() <= kBulkBytesMax);
  const OpensslScope no_errors_left;
  const OneTimeKey once(key, nonce);
  const InnerNonce inner = inner_nonce(nonce);
  const Context context(EVP_CIPHER_CTX_new());
  const ByteView body = sealed.first(sealed.size() - kAeadTagBytes);
  std::array<std::uint8_t, kAeadTagBytes> tag{};
  std::copy(sealed.end() - kAeadTagBytes, sealed.end(), tag.begin());
  int done = 0;
  return context &&
         EVP_DecryptInit_ex2(context.get(), cipher(), once.key.data(), inner.data(), nullptr) == 1 &&
         EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_SET_TAG, kAeadTagBytes, tag.data()) == 1 &&
         EVP_DecryptUpdate(context.get(), nullptr, &done, aad.data(), length(aad)) == 1 &&
         EVP_DecryptUpdate(context.get(), out.data(), &done, body.data(), length(body)) == 1 &&
         EVP_DecryptFinal_ex(context.get(), out.data() + done, &done) == 1;
}

}  // namespace samovar::security
