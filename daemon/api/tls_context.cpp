#include "daemon/api/tls_context.hpp"

#include <fmt/format.h>
#include <openssl/ssl.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ssl/context.hpp>
#include <string>

namespace samovar::api {
namespace {

namespace ssl = boost::asio::ssl;

constexpr const char* kCiphers12 =
    "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-ECDSA-AES128-GCM-SHA256";
constexpr const char* kCiphers13 =
    "TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256";

// Only HTTP/1.1 is spoken. A client that insists on another protocol is told so in the handshake.
int select_protocol(SSL*, const unsigned char** out, unsigned char* out_size, const unsigned char* in,
                    unsigned in_size, void*) {
  static constexpr unsigned char kOurs[] = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
  unsigned char* chosen = nullptr;
  if (SSL_select_next_proto(&chosen, out_size, kOurs, sizeof kOurs, in, in_size) != OPENSSL_NPN_NEGOTIATED) {
    return SSL_TLSEXT_ERR_ALERT_FATAL;
  }
  *out = chosen;
  return SSL_TLSEXT_ERR_OK;
}

bool restrict_to_modern(SSL_CTX* native) {
  SSL_CTX_set_options(native, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_NO_TICKET |
                                  SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA);
  SSL_CTX_set_mode(native, SSL_MODE_RELEASE_BUFFERS);  // 34 KiB less per idle connection
  SSL_CTX_set_session_cache_mode(native, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_alpn_select_cb(native, &select_protocol, nullptr);
  return SSL_CTX_set_min_proto_version(native, TLS1_2_VERSION) == 1 &&
         SSL_CTX_set_max_proto_version(native, TLS1_3_VERSION) == 1 &&
         SSL_CTX_set_cipher_list(native, kCiphers12) == 1 &&
         SSL_CTX_set_ciphersuites(native, kCiphers13) == 1 &&
         SSL_CTX_set1_groups_list(native, "X25519:P-256") == 1 && SSL_CTX_set_num_tickets(native, 0) == 1 &&
         SSL_CTX_set_max_early_data(native, 0) == 1;
}

}  // namespace

Result<std::shared_ptr<ssl::context>> make_tls_context(std::string_view chain_pem, std::string_view key_pem) {
  std::shared_ptr<ssl::context> context;
  try {
    context = std::make_shared<ssl::context>(ssl::context::tls_server);
  } catch (const std::exception& error) {
    return Error{Errc::internal, fmt::format("cannot set up TLS: {}", error.what())};
  }
  if (!restrict_to_modern(context->native_handle())) {
    return Error{Errc::internal, "this OpenSSL does not offer TLS 1.3 with X25519 and P-256"};
  }
  boost::system::error_code error;
  context->use_certificate_chain(boost::asio::buffer(chain_pem.data(), chain_pem.size()), error);
  if (error)
    return Error{Errc::invalid, fmt::format("the certificate is not valid PEM: {}", error.message())};
  context->use_private_key(boost::asio::buffer(key_pem.data(), key_pem.size()), ssl::context::pem, error);
  if (error || SSL_CTX_check_private_key(context->native_handle()) != 1) {
    return Error{Errc::invalid, "the private key is not valid PEM or does not belong to the certificate"};
  }
  return context;
}

}  // namespace samovar::api
