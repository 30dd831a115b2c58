// Checking chains and signing requests: the verifying half of certificates.hpp.
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include "security/certificate_names.hpp"
#include "security/certificates.hpp"
#include "security/openssl_handles.hpp"

namespace samovar::security {
namespace {

struct FreeVerify {
  void operator()(X509_STORE* p) const noexcept { X509_STORE_free(p); }
  void operator()(X509_STORE_CTX* p) const noexcept { X509_STORE_CTX_free(p); }
  void operator()(X509_REQ* p) const noexcept { X509_REQ_free(p); }
};
using Store = std::unique_ptr<X509_STORE, FreeVerify>;
using StoreCtx = std::unique_ptr<X509_STORE_CTX, FreeVerify>;
using Request = std::unique_ptr<X509_REQ, FreeVerify>;

constexpr std::size_t kRequestBytesMax = 8 * 1024;

bool set_expectations(X509_VERIFY_PARAM* param, const ChainCheck& check) {
  X509_VERIFY_PARAM_set_flags(param, X509_V_FLAG_X509_STRICT);
  X509_VERIFY_PARAM_set_depth(param, 0);  // nothing between leaf and issuer
  X509_VERIFY_PARAM_set_auth_level(param, 2);
  X509_VERIFY_PARAM_set_hostflags(param, X509_CHECK_FLAG_NO_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
  X509_VERIFY_PARAM_set_time(
      param, std::chrono::duration_cast<std::chrono::seconds>(check.now.time_since_epoch()).count());
  const int purpose = check.kind == PeerKind::server ? X509_PURPOSE_SSL_SERVER : X509_PURPOSE_SSL_CLIENT;
  if (X509_VERIFY_PARAM_set_purpose(param, purpose) != 1) return false;
  if (check.name.empty()) return true;
  const Bytes address = parse_address(std::string(check.name));
  return address.empty() ? X509_VERIFY_PARAM_set1_host(param, check.name.data(), check.name.size()) == 1
                         : X509_VERIFY_PARAM_set1_ip(param, address.data(), address.size()) == 1;
}

}  // namespace

Result<void> verify_chain(const Certificate& leaf, const Certificate& issuer, const ChainCheck& check) {
  const OpensslScope scope;
  SAMOVAR_TRY(const X509Handle subject, parse_x509(leaf.der));
  SAMOVAR_TRY(X509Handle anchor, parse_x509(issuer.der));
  if ((X509_get_extension_flags(subject.get()) & EXFLAG_CA) != 0)
    return Error{Errc::denied, "an authority's certificate cannot stand for a peer"};
  const Store store(X509_STORE_new());
  const StoreCtx ctx(X509_STORE_CTX_new());
  if (!store || !ctx || X509_STORE_add_cert(store.get(), anchor.get()) != 1 ||
      X509_STORE_CTX_init(ctx.get(), store.get(), subject.get(), nullptr) != 1 ||
      !set_expectations(X509_STORE_CTX_get0_param(ctx.get()), check))
    return openssl_error(Errc::internal, "OpenSSL could not set up the check of a certificate");
  const bool good = X509_verify_cert(ctx.get()) == 1;
  if (good) return {};
  return Error{Errc::denied, std::string("certificate refused: ") +
                                 X509_verify_cert_error_string(X509_STORE_CTX_get_error(ctx.get()))};
}

Result<Bytes> make_csr(const PrivateKey& key, std::string_view common_name) {
  const OpensslScope scope;
  const Request request(X509_REQ_new());
  const Error failed{Errc::internal, "OpenSSL did not make the certificate request"};
  if (!request || X509_REQ_set_version(request.get(), X509_REQ_VERSION_1) != 1)
    return openssl_error(failed.code(), failed.message());
  X509_NAME* name = X509_REQ_get_subject_name(request.get());
  EVP_PKEY* pkey = PrivateKeyAccess::get(key);
  const bool good = X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, as_bytes(common_name).data(),
                                               static_cast<int>(common_name.size()), -1, 0) == 1 &&
                    X509_REQ_set_pubkey(request.get(), pkey) == 1 &&
                    X509_REQ_sign(request.get(), pkey, EVP_sha256()) > 0;
  unsigned char* der = nullptr;
  const int size = good ? i2d_X509_REQ(request.get(), &der) : 0;
  if (size <= 0) return openssl_error(failed.code(), failed.message());
  Bytes out(der, der + size);
  OPENSSL_free(der);
  return out;
}

Result<Bytes> verify_csr(ByteView csr) {
  const OpensslScope scope;
  const unsigned char* at = csr.data();
  if (csr.size() > kRequestBytesMax)
    return Error{Errc::corrupt, "this certificate request is longer than 8 KiB"};
  const Request request(d2i_X509_REQ(nullptr, &at, static_cast<long>(csr.size())));
  if (!request || at != csr.data() + csr.size())
    return openssl_error(Errc::corrupt, "these bytes are not a certificate request");
  EVP_PKEY* key = X509_REQ_get0_pubkey(request.get());
  SAMOVAR_CHECK(require_p256(key));
  if (X509_REQ_verify(request.get(), key) != 1)
    return openssl_error(Errc::denied, "the request is not signed by the key it asks a certificate for");
  return public_key_of(key);
}

}  // namespace samovar::security
