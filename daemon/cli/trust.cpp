#include "daemon/cli/trust.hpp"

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <cctype>
#include <memory>

namespace samovar::cli {
namespace {

template <auto fn>
struct Free {
  template <class T>
  void operator()(T* p) const noexcept {
    fn(p);
  }
};
using Certificate = std::unique_ptr<X509, Free<&X509_free>>;

constexpr std::size_t kSha256Bytes = 32;

std::string fingerprint(const X509* certificate) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  if (certificate == nullptr || X509_digest(certificate, EVP_sha256(), digest, &size) != 1) return {};
  std::string text;
  for (unsigned int i = 0; i < size; ++i) text += fmt::format("{}{:02X}", i == 0 ? "" : ":", digest[i]);
  return text;
}

Certificate read_pem(const std::string& pem) {
  std::unique_ptr<BIO, Free<&BIO_free>> bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  return Certificate(bio ? PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr) : nullptr);
}

bool chains_to_root(X509_STORE_CTX* handshake, const std::string& root_pem) {
  const Certificate root = read_pem(root_pem);
  std::unique_ptr<X509_STORE, Free<&X509_STORE_free>> store(X509_STORE_new());
  std::unique_ptr<X509_STORE_CTX, Free<&X509_STORE_CTX_free>> verify(X509_STORE_CTX_new());
  if (!root || !store || !verify || X509_STORE_add_cert(store.get(), root.get()) != 1) return false;
  if (X509_STORE_CTX_init(verify.get(), store.get(), X509_STORE_CTX_get0_cert(handshake),
                          X509_STORE_CTX_get0_untrusted(handshake)) != 1) {
    return false;
  }
  X509_STORE_CTX_set_purpose(verify.get(), X509_PURPOSE_SSL_SERVER);
  return X509_verify_cert(verify.get()) == 1;
}

int check_chain(X509_STORE_CTX* handshake, void* arg) {
  auto& check = *static_cast<PinCheck*>(arg);
  check.leaf_sha256 = fingerprint(X509_STORE_CTX_get0_cert(handshake));
  const bool same = !check.leaf_sha256.empty() && check.leaf_sha256 == check.pin.leaf_sha256;
  const bool renewed = !same && !check.pin.root_pem.empty() && chains_to_root(handshake, check.pin.root_pem);
  check.refused = !same && !renewed;
  X509_STORE_CTX_set_error(handshake, check.refused ? X509_V_ERR_CERT_UNTRUSTED : X509_V_OK);
  return check.refused ? 0 : 1;
}

}  // namespace

void install_pin_check(SSL_CTX* context, PinCheck& check) {
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_cert_verify_callback(context, &check_chain, &check);
}

Result<std::string> pem_fingerprint(const std::string& pem) {
  const Certificate certificate = read_pem(pem);
  if (!certificate) return Error{Errc::corrupt, "no certificate in the PEM text"};
  return fingerprint(certificate.get());
}

Result<std::string> normalize_fingerprint(std::string_view text) {
  std::string_view rest = text;
  for (const std::string_view prefix : {"sha256:", "SHA256:"}) {
    if (rest.starts_with(prefix)) rest.remove_prefix(prefix.size());
  }
  std::string out;
  std::size_t digits = 0;
  for (const char c : rest) {
    if (c == ':' || c == ' ' || c == '-') continue;
    if (std::isxdigit(static_cast<unsigned char>(c)) == 0) {
      digits = 0;
      break;
    }
    if (digits != 0 && digits % 2 == 0) out.push_back(':');
    out.push_back(static_cast<char>(std::toupper(static_cast<unsigned char>(c))));
    ++digits;
  }
  if (digits != 2 * kSha256Bytes) {
    return Error{
        Errc::invalid,
        fmt::format("\"{}\" is no SHA-256 fingerprint: 64 hexadecimal digits, as the box prints it", text)};
  }
  return out;
}

}  // namespace samovar::cli
