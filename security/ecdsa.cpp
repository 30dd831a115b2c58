#include "security/ecdsa.hpp"

#include <openssl/evp.h>

#include "security/openssl_handles.hpp"

namespace samovar::security {
namespace {

struct FreeDigest {
  void operator()(EVP_MD_CTX* p) const noexcept { EVP_MD_CTX_free(p); }
};
using DigestCtx = std::unique_ptr<EVP_MD_CTX, FreeDigest>;

}  // namespace

Result<Bytes> sign_p256(const PrivateKey& key, ByteView message) {
  const OpensslScope scope;
  const DigestCtx ctx(EVP_MD_CTX_new());
  Bytes out(kEcdsaBytesMax);
  std::size_t size = out.size();
  if (!ctx ||
      EVP_DigestSignInit(ctx.get(), nullptr, EVP_sha256(), nullptr, PrivateKeyAccess::get(key)) != 1 ||
      EVP_DigestSign(ctx.get(), out.data(), &size, message.data(), message.size()) != 1)
    return openssl_error(Errc::internal, "OpenSSL did not sign with the node's key");
  out.resize(size);
  return out;
}

bool verify_p256(ByteView public_key, ByteView message, ByteView signature) {
  const OpensslScope scope;
  if (signature.empty() || signature.size() > kEcdsaBytesMax) return false;
  const auto key = parse_public_key(public_key);
  if (!key) return false;
  const DigestCtx ctx(EVP_MD_CTX_new());
  return ctx && EVP_DigestVerifyInit(ctx.get(), nullptr, EVP_sha256(), nullptr, key->get()) == 1 &&
         EVP_DigestVerify(ctx.get(), signature.data(), signature.size(), message.data(), message.size()) == 1;
}

}  // namespace samovar::security
