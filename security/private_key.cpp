// PrivateKey of certificates.hpp.
#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include "base/assert.hpp"
#include "security/certificates.hpp"
#include "security/openssl_handles.hpp"

namespace samovar::security {
namespace {

struct FreePkcs8 {
  void operator()(PKCS8_PRIV_KEY_INFO* p) const noexcept { PKCS8_PRIV_KEY_INFO_free(p); }
};
struct FreePkeyCtx {
  void operator()(EVP_PKEY_CTX* p) const noexcept { EVP_PKEY_CTX_free(p); }
};
using Pkcs8 = std::unique_ptr<PKCS8_PRIV_KEY_INFO, FreePkcs8>;

constexpr std::size_t kKeyBytesMax = 16 * 1024;

Error no_key() { return openssl_error(Errc::corrupt, "these bytes are not a private key"); }

// A key whose public half is not its own would sign what nobody can verify.
Result<PkeyHandle> checked_key(const PKCS8_PRIV_KEY_INFO* pkcs8) {
  PkeyHandle key(EVP_PKCS82PKEY(pkcs8));
  if (!key) return no_key();
  SAMOVAR_CHECK(require_p256(key.get()));
  const std::unique_ptr<EVP_PKEY_CTX, FreePkeyCtx> ctx(EVP_PKEY_CTX_new(key.get(), nullptr));
  if (!ctx || EVP_PKEY_check(ctx.get()) != 1) return no_key();
  return key;
}

}  // namespace

PrivateKey::PrivateKey(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
PrivateKey::PrivateKey(PrivateKey&&) noexcept = default;
PrivateKey& PrivateKey::operator=(PrivateKey&&) noexcept = default;
PrivateKey::~PrivateKey() = default;

Result<PrivateKey> PrivateKey::generate() {
  const OpensslScope scope;
  PkeyHandle key(EVP_EC_gen("P-256"));
  if (!key) return openssl_error(Errc::internal, "OpenSSL made no P-256 key");
  return PrivateKey(std::make_unique<Impl>(Impl{std::move(key)}));
}

Result<PrivateKey> PrivateKey::from_der(ByteView pkcs8) {
  const OpensslScope scope;
  if (pkcs8.size() > kKeyBytesMax) return no_key();
  const unsigned char* at = pkcs8.data();
  const Pkcs8 parsed(d2i_PKCS8_PRIV_KEY_INFO(nullptr, &at, static_cast<long>(pkcs8.size())));
  if (!parsed || at != pkcs8.data() + pkcs8.size()) return no_key();
  SAMOVAR_TRY(PkeyHandle key, checked_key(parsed.get()));
  return PrivateKey(std::make_unique<Impl>(Impl{std::move(key)}));
}

Result<PrivateKey> PrivateKey::from_pem(ByteView pem) {
  const OpensslScope scope;
  if (pem.size() > kKeyBytesMax) return no_key();
  const BioHandle bio = bio_over(pem);
  const Pkcs8 parsed(PEM_read_bio_PKCS8_PRIV_KEY_INFO(bio.get(), nullptr, nullptr, nullptr));
  if (!parsed) return no_key();
  SAMOVAR_TRY(PkeyHandle key, checked_key(parsed.get()));
  return PrivateKey(std::make_unique<Impl>(Impl{std::move(key)}));
}

SecretBytes PrivateKey::to_der() const {
  const Pkcs8 pkcs8(EVP_PKEY2PKCS8(impl_->key.get()));
  SAMOVAR_ASSERT(pkcs8 != nullptr);
  const int size = i2d_PKCS8_PRIV_KEY_INFO(pkcs8.get(), nullptr);
  SAMOVAR_ASSERT(size > 0);
  SecretBytes out(static_cast<std::size_t>(size));
  unsigned char* at = out.mutable_view().data();
  SAMOVAR_ASSERT(i2d_PKCS8_PRIV_KEY_INFO(pkcs8.get(), &at) == size);
  return out;
}

SecretBytes PrivateKey::to_pem() const {
  // A memory BIO wipes its buffer when it grows and when it is freed.
  const BioHandle bio(BIO_new(BIO_s_mem()));
  const Pkcs8 pkcs8(EVP_PKEY2PKCS8(impl_->key.get()));
  SAMOVAR_ASSERT(bio && pkcs8 && PEM_write_bio_PKCS8_PRIV_KEY_INFO(bio.get(), pkcs8.get()) == 1);
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  SAMOVAR_ASSERT(size > 0);
  return SecretBytes::copy_of(as_bytes({data, static_cast<std::size_t>(size)}));
}

Bytes PrivateKey::public_key() const { return public_key_of(impl_->key.get()); }

}  // namespace samovar::security
