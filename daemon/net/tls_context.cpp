// The two kinds of TLS of tls_socket.hpp: between members, and between a member and a node that is none yet.
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include "daemon/net/tls_socket.hpp"
#include "security/openssl_handles.hpp"

namespace samovar::net {
namespace {

constexpr const char* kCiphers = "TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256";

bool restrict_to_1_3(SSL_CTX* context) {
  SSL_CTX_set_options(context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET |
                                   SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA |
                                   SSL_OP_IGNORE_UNEXPECTED_EOF);
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  // Several records with one system call.
  SSL_CTX_set_read_ahead(context, 1);
  return SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) == 1 &&
         SSL_CTX_set_max_proto_version(context, TLS1_3_VERSION) == 1 &&
         SSL_CTX_set_ciphersuites(context, kCiphers) == 1 &&
         SSL_CTX_set1_groups_list(context, "X25519:P-256") == 1 && SSL_CTX_set_num_tickets(context, 0) == 1 &&
         SSL_CTX_set_max_early_data(context, 0) == 1;
}

Result<TlsContext> make_context(const security::PrivateKey& key, const security::Certificate& own) {
  const security::OpensslScope scope;
  TlsContext context(SSL_CTX_new(TLS_method()));
  if (!context || !restrict_to_1_3(context.get()))
    return security::openssl_error(Errc::internal,
                                   "this OpenSSL does not offer TLS 1.3 with X25519 and P-256");
  SAMOVAR_TRY(const security::X509Handle certificate, security::parse_x509(own.der));
  if (SSL_CTX_use_certificate(context.get(), certificate.get()) != 1 ||
      SSL_CTX_use_PrivateKey(context.get(), security::PrivateKeyAccess::get(key)) != 1 ||
      SSL_CTX_check_private_key(context.get()) != 1)
    return security::openssl_error(Errc::invalid, "the node's certificate does not belong to its key");
  return context;
}

}  // namespace

Result<TlsContext> make_mesh_context(const security::PrivateKey& key, const security::Certificate& own) {
  SAMOVAR_TRY(TlsContext context, make_context(key, own));
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  SSL_CTX_set_cert_verify_callback(context.get(), &verify_by_owner, nullptr);
  return context;
}

Result<TlsContext> make_join_context() {
  SAMOVAR_TRY(const security::PrivateKey key, security::PrivateKey::generate());
  // Any certificate does; a CA's is the one we can make without asking anybody.
  SAMOVAR_TRY(const security::Certificate own, security::make_cluster_ca(key, "join"));
  SAMOVAR_TRY(TlsContext context, make_context(key, own));
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_NONE, nullptr);
  return context;
}

}  // namespace samovar::net
