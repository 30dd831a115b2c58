#include "security/openssl_handles.hpp"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

#include <string_view>

#include "base/assert.hpp"

namespace samovar::security {

void OpensslFree::operator()(evp_pkey_st* p) const noexcept { EVP_PKEY_free(p); }
void OpensslFree::operator()(x509_st* p) const noexcept { X509_free(p); }
void OpensslFree::operator()(bio_st* p) const noexcept { BIO_free_all(p); }

Error openssl_error(Errc code, std::string what) {
  const unsigned long last = ERR_peek_last_error();
  ERR_clear_error();
  if (const char* reason = last == 0 ? nullptr : ERR_reason_error_string(last))
    what.append(" (").append(reason).append(")");
  return Error{code, std::move(what)};
}

OpensslScope::~OpensslScope() { ERR_clear_error(); }

BioHandle bio_over(ByteView bytes) {
  BioHandle bio(BIO_new_mem_buf(bytes.data(), static_cast<int>(bytes.size())));
  SAMOVAR_ASSERT(bio != nullptr);
  return bio;
}

Result<X509Handle> parse_x509(ByteView der) {
  const unsigned char* at = der.data();
  if (der.size() > kCertificateBytesMax)
    return Error{Errc::corrupt, "this certificate is longer than 16 KiB"};
  X509Handle cert(d2i_X509(nullptr, &at, static_cast<long>(der.size())));
  if (!cert || at != der.data() + der.size())
    return openssl_error(Errc::corrupt, "these bytes are not a certificate");
  return cert;
}

Result<void> require_p256(const evp_pkey_st* key) {
  char group[32] = {};
  if (key != nullptr && EVP_PKEY_is_a(key, "EC") == 1 &&
      EVP_PKEY_get_group_name(key, group, sizeof group, nullptr) == 1 &&
      std::string_view(group) == "prime256v1")
    return {};
  return openssl_error(Errc::unsupported, "only ECDSA keys on the curve P-256 are supported");
}

Result<PkeyHandle> parse_public_key(ByteView der) {
  const unsigned char* at = der.data();
  if (der.size() > kCertificateBytesMax) return Error{Errc::corrupt, "this public key is longer than 16 KiB"};
  PkeyHandle key(d2i_PUBKEY(nullptr, &at, static_cast<long>(der.size())));
  if (!key || at != der.data() + der.size())
    return openssl_error(Errc::corrupt, "these bytes are not a public key");
  SAMOVAR_CHECK(require_p256(key.get()));
  return key;
}

Bytes public_key_of(const evp_pkey_st* key) {
  unsigned char* der = nullptr;
  const int size = i2d_PUBKEY(key, &der);
  SAMOVAR_ASSERT(size > 0);
  Bytes out(der, der + size);
  OPENSSL_free(der);
  return out;
}

}  // namespace samovar::security
