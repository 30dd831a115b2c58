#include "daemon/net/tls_socket.hpp"

#include <netinet/tcp.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/assert.hpp"

namespace samovar::net {
namespace {

// Half of what AES-GCM permits under one key (RFC 8446 §5.5: 2^24.5 full records).
constexpr std::size_t kBulkReadBytes = 128 * 1024;
constexpr std::uint64_t kBytesPerKey = std::uint64_t{1} << 37;

// Our own BIO and not BIO_s_socket: that one's write(2) raises SIGPIPE in a process that did not ask for it.
int fd_of(BIO* bio) { return static_cast<TlsSocket::Socket*>(BIO_get_data(bio))->native_handle(); }
int bio_write(BIO* bio, const char* data, std::size_t size, std::size_t* done) {
  BIO_clear_retry_flags(bio);
  const ssize_t sent = ::send(fd_of(bio), data, size, MSG_NOSIGNAL);
  *done = sent > 0 ? static_cast<std::size_t>(sent) : 0;
  if (sent < 0 && (errno == EAGAIN || errno == EINTR)) BIO_set_retry_write(bio);
  return sent > 0 ? 1 : 0;
}
int bio_read(BIO* bio, char* data, std::size_t size, std::size_t* done) {
  BIO_clear_retry_flags(bio);
  const ssize_t got = ::recv(fd_of(bio), data, size, 0);
  *done = got > 0 ? static_cast<std::size_t>(got) : 0;
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) BIO_set_retry_read(bio);
  if (got == 0) BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
  return got > 0 ? 1 : 0;
}
long bio_ctrl(BIO* bio, int command, long, void*) {
  if (command == BIO_CTRL_EOF) return BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0 ? 1 : 0;
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

BIO_METHOD* bio_method() {
  static BIO_METHOD* const kMethod = [] {
    BIO_METHOD* method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "samovar socket");
    SAMOVAR_ASSERT(method != nullptr && BIO_meth_set_write_ex(method, &bio_write) == 1 &&
                   BIO_meth_set_read_ex(method, &bio_read) == 1 && BIO_meth_set_ctrl(method, &bio_ctrl) == 1);
    return method;
  }();
  return kMethod;
}

bool refused_by_alert(int reason) {
  switch (reason) {
    case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
    case SSL_R_TLSV1_ALERT_ACCESS_DENIED:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
    case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED:
    case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
    case SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE:
      return true;
    default:
      return false;
  }
}

}  // namespace

void FreeTls::operator()(ssl_st* p) const noexcept { SSL_free(p); }
void FreeTls::operator()(ssl_ctx_st* p) const noexcept { SSL_CTX_free(p); }

TlsSocket::TlsSocket(Socket socket, ssl_ctx_st* context, TlsRole role, PeerCheck check)
    : socket_(std::move(socket)), ssl_(SSL_new(context)), check_(std::move(check)) {
  BIO* bio = BIO_new(bio_method());
  SAMOVAR_ASSERT(ssl_ != nullptr && bio != nullptr);
  BIO_set_data(bio, &socket_);
  BIO_set_init(bio, 1);
  SSL_set_bio(ssl_.get(), bio, bio);
  SSL_set_app_data(ssl_.get(), this);
  if (role == TlsRole::client)
    SSL_set_connect_state(ssl_.get());
  else
    SSL_set_accept_state(ssl_.get());
}

TlsSocket::~TlsSocket() = default;

IoStep TlsSocket::handshake() {
  ERR_clear_error();
  return after(SSL_do_handshake(ssl_.get()));
}

IoStep TlsSocket::read(MutableBytes into) {
  ERR_clear_error();
  std::size_t got = 0;
  IoStep step = after(SSL_read_ex(ssl_.get(), into.data(), into.size(), &got));
  step.bytes = got;
  return step;
}

IoStep TlsSocket::write(ByteView from) {
  ERR_clear_error();
  if (written_ >= kBytesPerKey) {
    written_ = 0;
    SSL_key_update(ssl_.get(), SSL_KEY_UPDATE_NOT_REQUESTED);
  }
  std::size_t sent = 0;
  IoStep step = after(SSL_write_ex(ssl_.get(), from.data(), from.size(), &sent));
  step.bytes = sent;
  written_ += sent;
  return step;
}

IoStep TlsSocket::after(int result) {
  if (result == 1) return {};
  const int saved = errno;
  switch (SSL_get_error(ssl_.get(), result)) {
    case SSL_ERROR_WANT_READ:
      return {IoState::want_read, 0};
    case SSL_ERROR_WANT_WRITE:
      return {IoState::want_write, 0};
    case SSL_ERROR_ZERO_RETURN:
      failure_ = Error{Errc::unavailable, "the other end closed the connection"};
      return {IoState::closed, 0};
    case SSL_ERROR_SYSCALL:
      failure_ = saved == 0 || saved == EAGAIN
                     ? Error{Errc::unavailable, "the other end closed the connection"}
                     : Error{Errc::unavailable, std::string("the connection broke: ") + std::strerror(saved)};
      return {IoState::failed, 0};
    default:
      classify();
      return {IoState::failed, 0};
  }
}

// TLS's own reasons as sentences somebody can act on.
void TlsSocket::classify() {
  const unsigned long last = ERR_peek_last_error();
  const int reason = ERR_GET_REASON(last);
  const char* text = ERR_reason_error_string(last);
  ERR_clear_error();
  if (!refused_.empty()) {
    failure_ = Error{Errc::denied, refused_};
  } else if (refused_by_alert(reason)) {
    failure_ = Error{Errc::denied,
                     "the other end does not accept this node's certificate: it belongs to another cluster, "
                     "or does not count this node as a member"};
  } else if (reason == SSL_R_WRONG_VERSION_NUMBER || reason == SSL_R_UNSUPPORTED_PROTOCOL ||
             reason == SSL_R_TLSV1_ALERT_PROTOCOL_VERSION || reason == SSL_R_HTTP_REQUEST ||
             reason == SSL_R_PACKET_LENGTH_TOO_LONG || reason == SSL_R_BAD_RECORD_TYPE) {
    failure_ =
        Error{Errc::unsupported, "the other end does not speak TLS 1.3: another program listens there"};
  } else if (reason == SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE) {
    failure_ = Error{Errc::denied, "the other end showed no certificate"};
  } else {
    failure_ = Error{Errc::io, std::string("TLS failed: ") + (text != nullptr ? text : "unknown reason")};
  }
}

void TlsSocket::expect_bulk() {
  SSL_set_default_read_buffer_len(ssl_.get(), kBulkReadBytes);
  SSL_clear_mode(ssl_.get(), SSL_MODE_RELEASE_BUFFERS);
}

void TlsSocket::close() {
  boost::system::error_code ignored;
  socket_.close(ignored);
}

// The check runs in the handshake, so that who is refused gets an alert and never a connection.
int verify_by_owner(x509_store_ctx_st* store, void*) {
  const auto* ssl =
      static_cast<SSL*>(X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()));
  auto* socket = ssl == nullptr ? nullptr : static_cast<TlsSocket*>(SSL_get_app_data(ssl));
  X509* leaf = X509_STORE_CTX_get0_cert(store);
  unsigned char* der = nullptr;
  const int size = leaf == nullptr ? 0 : i2d_X509(leaf, &der);
  bool good = false;
  if (socket != nullptr && socket->check_ && size > 0) {
    const auto checked = socket->check_(security::Certificate{Bytes(der, der + size)});
    good = checked.has_value();
    if (!good) socket->refused_ = checked.error().message();
  }
  OPENSSL_free(der);
  X509_STORE_CTX_set_error(store, good ? X509_V_OK : X509_V_ERR_APPLICATION_VERIFICATION);
  return good ? 1 : 0;
}

void tune_socket(boost::asio::ip::tcp::socket& socket) {
  boost::system::error_code ignored;
  socket.set_option(boost::asio::ip::tcp::no_delay(true), ignored);
  socket.non_blocking(true, ignored);
  // What the kernel has taken can no longer be overtaken by a ping.
  const int backlog = 256 * 1024;
  ::setsockopt(socket.native_handle(), IPPROTO_TCP, TCP_NOTSENT_LOWAT, &backlog, sizeof backlog);
}

}  // namespace samovar::net
