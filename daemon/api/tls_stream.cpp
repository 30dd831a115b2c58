#include "daemon/api/tls_stream.hpp"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <cstring>

#include "base/assert.hpp"

namespace samovar::api {

namespace asio = boost::asio;

namespace {

// Our own BIO and not BIO_s_socket: that one's write(2) raises SIGPIPE in a process that did not ask for it.
// It asks the socket for its descriptor each time, so that a closed one's number is never used again.
TlsSource& source_of(BIO* bio) { return *static_cast<TlsSource*>(BIO_get_data(bio)); }

int bio_write(BIO* bio, const char* data, std::size_t size, std::size_t* done) {
  BIO_clear_retry_flags(bio);
  const ssize_t sent = ::send(source_of(bio).socket.native_handle(), data, size, MSG_NOSIGNAL);
  *done = sent > 0 ? static_cast<std::size_t>(sent) : 0;
  if (sent < 0 && (errno == EAGAIN || errno == EINTR)) BIO_set_retry_write(bio);
  return sent > 0 ? 1 : 0;
}

// More than a record or a handshake needs. OpenSSL takes messages that carry nothing (changes of keys, of
// which TLS 1.3 sets no limit) one after the other inside one call, for as long as they come: nobody else
// would have a turn.
constexpr std::size_t kFruitlessBytesMax = 64 * 1024;

// OpenSSL asks for a record's head, then for the rest of it. Reading ahead of need is ours and not OpenSSL's:
// with SSL_set_read_ahead it moves all that it holds for each record it takes.
int bio_read(BIO* bio, char* data, std::size_t size, std::size_t* done) {
  BIO_clear_retry_flags(bio);
  TlsSource& source = source_of(bio);
  ssize_t got = 0;
  if (source.fruitless > kFruitlessBytesMax) {
    errno = EPROTO;
    *done = 0;
    return 0;
  }
  if (source.begin == source.end && size >= source.ahead_max) {
    got = ::recv(source.socket.native_handle(), data, size, 0);
  } else {
    if (source.begin == source.end) {
      source.ahead.resize(source.ahead_max);
      got = ::recv(source.socket.native_handle(), source.ahead.data(), source.ahead.size(), 0);
      source.begin = 0;
      source.end = got > 0 ? static_cast<std::size_t>(got) : 0;
    }
    if (source.begin < source.end) {
      const std::size_t part = std::min(size, source.end - source.begin);
      std::memcpy(data, source.ahead.data() + source.begin, part);
      source.begin += part;
      got = static_cast<ssize_t>(part);
    }
    if (source.begin == source.end && source.ahead_max == 0) source.ahead = Bytes();
  }
  *done = got > 0 ? static_cast<std::size_t>(got) : 0;
  source.fruitless += *done;
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) BIO_set_retry_read(bio);
  return got > 0 ? 1 : 0;
}

// BIO_CTRL_EOF is not answered: OpenSSL takes the end of the line for the end of all, and a client that has
// only stopped sending could not be answered any more.
long bio_ctrl(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }

BIO_METHOD* bio_method() {
  static BIO_METHOD* const kMethod = [] {
    BIO_METHOD* method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "samovar web socket");
    SAMOVAR_ASSERT(method != nullptr && BIO_meth_set_write_ex(method, &bio_write) == 1 &&
                   BIO_meth_set_read_ex(method, &bio_read) == 1 && BIO_meth_set_ctrl(method, &bio_ctrl) == 1);
    return method;
  }();
  return kMethod;
}

// `saved` is the errno the call left.
boost::system::error_code error_of(int reason, int saved) {
  if (reason == SSL_ERROR_ZERO_RETURN) return asio::error::eof;
  const unsigned long code = ERR_get_error();
  if (code != 0) return {static_cast<int>(code), asio::error::get_ssl_category()};
  if (saved != 0) return {saved, boost::system::system_category()};
  return asio::ssl::error::stream_truncated;
}

}  // namespace

void TlsStream::Free::operator()(ssl_st* p) const noexcept { SSL_free(p); }

TlsStream::TlsStream(Socket socket, ssl_ctx_st* context)
    : source_{std::move(socket)}, ssl_(SSL_new(context)) {
  BIO* bio = BIO_new(bio_method());
  SAMOVAR_ASSERT(ssl_ != nullptr && bio != nullptr);
  BIO_set_data(bio, &source_);
  BIO_set_init(bio, 1);
  SSL_set_bio(ssl_.get(), bio, bio);
  SSL_set_mode(ssl_.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_set_accept_state(ssl_.get());
}

TlsStream::~TlsStream() = default;

template <class Call>
TlsStream::Want TlsStream::perform(const Call& call, error_code& error) {
  error.clear();
  ERR_clear_error();
  errno = 0;
  const int result = call(ssl_.get());
  const int saved = errno;
  if (result == 1) {
    source_.fruitless = 0;
    return Want::nothing;
  }
  const int reason = SSL_get_error(ssl_.get(), result);
  if (reason == SSL_ERROR_WANT_READ) return Want::read;
  if (reason == SSL_ERROR_WANT_WRITE) return Want::write;
  error = error_of(reason, saved);
  return Want::nothing;
}

TlsStream::Awaitable<TlsStream::error_code> TlsStream::wait(Want want) {
  error_code error;
  co_await source_.socket.async_wait(want == Want::write ? Socket::wait_write : Socket::wait_read,
                                     asio::redirect_error(asio::use_awaitable, error));
  co_return error;
}

template <class Call>
TlsStream::Awaitable<TlsStream::error_code> TlsStream::complete(Call call) {
  const std::uint64_t cancels = cancels_;
  for (;;) {
    error_code error;
    const Want want = perform(call, error);
    if (error || want == Want::nothing) co_return error;
    // The socket may have become ready at the moment it was cancelled; there was no wait to end then.
    if (cancels != cancels_) co_return asio::error::operation_aborted;
    if (want == Want::read) set_low_water(1);
    error = co_await wait(want);
    if (error) co_return error;
  }
}

TlsStream::Awaitable<TlsStream::error_code> TlsStream::handshake() {
  return complete([](SSL* ssl) { return SSL_do_handshake(ssl); });
}

TlsStream::Awaitable<std::size_t> TlsStream::read_some(MutableBytes into, error_code& error) {
  std::size_t got = 0;
  const auto read = [&](SSL* ssl) { return SSL_read_ex(ssl, into.data(), into.size(), &got); };
  error = co_await complete(read);
  co_return error ? 0 : got;
}

TlsStream::Awaitable<TlsStream::error_code> TlsStream::write(ByteView from) {
  while (!from.empty()) {
    std::size_t sent = 0;
    const auto write = [&](SSL* ssl) { return SSL_write_ex(ssl, from.data(), from.size(), &sent); };
    const error_code error = co_await complete(write);
    if (error) co_return error;
    from = from.subspan(sent);
  }
  co_return error_code{};
}

TlsStream::Awaitable<TlsStream::error_code> TlsStream::shutdown() {
  return complete([](SSL* ssl) {
    const int result = SSL_shutdown(ssl);
    return result == 0 ? SSL_shutdown(ssl) : result;  // ours is out: now theirs
  });
}

std::size_t TlsStream::read_now(MutableBytes into, error_code& error) {
  std::size_t got = 0;
  const auto read = [&](SSL* ssl) { return SSL_read_ex(ssl, into.data(), into.size(), &got); };
  if (perform(read, error) != Want::nothing) error = asio::error::would_block;
  return error ? 0 : got;
}

TlsStream::Awaitable<TlsStream::error_code> TlsStream::wait_readable(std::size_t bytes) {
  set_low_water(bytes);
  return wait(Want::read);
}

void TlsStream::cancel() {
  ++cancels_;
  error_code ignored;
  source_.socket.cancel(ignored);
}

// The kernel then wakes us when that much is there and not for every segment.
void TlsStream::set_low_water(std::size_t bytes) {
  if (low_water_ == bytes) return;
  low_water_ = bytes;
  const int value = static_cast<int>(bytes);
  ::setsockopt(source_.socket.native_handle(), SOL_SOCKET, SO_RCVLOWAT, &value, sizeof value);
}

void TlsStream::expect_bulk(std::size_t read_bytes) { source_.ahead_max = read_bytes; }

void TlsStream::end_bulk() {
  set_low_water(1);
  source_.ahead_max = 0;
  if (source_.begin == source_.end) source_.ahead = Bytes();
}

}  // namespace samovar::api
