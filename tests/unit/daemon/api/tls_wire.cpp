#include "tests/unit/daemon/api/tls_wire.hpp"

#include <gtest/gtest.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <utility>

#include "base/assert.hpp"
#include "daemon/api/tls_context.hpp"

namespace samovar::test {

namespace asio = boost::asio;

namespace {

template <class Write>
std::string to_pem(Write write) {
  BIO* bio = BIO_new(BIO_s_mem());
  write(bio);
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  std::string out(data, static_cast<std::size_t>(size));
  BIO_free(bio);
  return out;
}

std::shared_ptr<asio::ssl::context> server_context() {
  EVP_PKEY* key = EVP_EC_gen("P-256");
  X509* leaf = X509_new();
  ASN1_INTEGER_set(X509_get_serialNumber(leaf), 1);
  X509_gmtime_adj(X509_getm_notBefore(leaf), -3600);
  X509_gmtime_adj(X509_getm_notAfter(leaf), 86400);
  X509_set_pubkey(leaf, key);
  X509_sign(leaf, key, EVP_sha256());
  const std::string chain = to_pem([&](BIO* bio) { PEM_write_bio_X509(bio, leaf); });
  const std::string secret =
      to_pem([&](BIO* bio) { PEM_write_bio_PrivateKey(bio, key, nullptr, nullptr, 0, nullptr, nullptr); });
  X509_free(leaf);
  EVP_PKEY_free(key);
  auto context = api::make_tls_context(chain, secret);
  SAMOVAR_ASSERT(context.has_value());
  return *std::move(context);
}

asio::awaitable<void> read_one(api::TlsStream& stream, std::size_t bytes_max,
                               std::shared_ptr<TlsWire::Reading> into) {
  Bytes buffer(bytes_max);
  boost::system::error_code error;
  const std::size_t got = co_await stream.read_some(buffer, error);
  into->text.assign(as_text(ByteView(buffer).first(got)));
  into->ended = error;
}

asio::awaitable<boost::system::error_code> write_all(api::TlsStream& stream, std::string text) {
  co_return co_await stream.write(as_bytes(text));
}

void never(const std::exception_ptr& thrown) { SAMOVAR_ASSERT(thrown == nullptr); }

}  // namespace

TlsWire::TlsWire(int version) : tls_(server_context()) {
  int ends[2] = {-1, -1};
  SAMOVAR_ASSERT(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0);
  peer_ = ends[1];
  api::TlsStream::Socket socket(context_);
  socket.assign(asio::ip::tcp::v4(), ends[0]);
  socket.non_blocking(true);
  stream_ = std::make_unique<api::TlsStream>(std::move(socket), tls_->native_handle());
  client_context_.reset(SSL_CTX_new(TLS_client_method()));
  SSL_CTX_set_min_proto_version(client_context_.get(), version);
  SSL_CTX_set_max_proto_version(client_context_.get(), version);
  client_.reset(SSL_new(client_context_.get()));
  SSL_set_bio(client_.get(), BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
  SSL_set_connect_state(client_.get());
}

// What still waits is ended before the stream goes.
TlsWire::~TlsWire() {
  error_code ignored;
  stream_->next_layer().close(ignored);
  run();
  hang_up();
}

void TlsWire::run() {
  context_.restart();
  context_.poll();
}

std::string TlsWire::sealed() {
  std::string out;
  char part[4096];
  int got = 0;
  while ((got = BIO_read(SSL_get_wbio(client_.get()), part, sizeof part)) > 0)
    out.append(part, static_cast<std::size_t>(got));
  return out;
}

void TlsWire::deliver(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(peer_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) {
      ADD_FAILURE() << "the socket's buffer is full";
      return;
    }
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

void TlsWire::take() {
  char part[65536];
  ssize_t got = 0;
  while ((got = ::recv(peer_, part, sizeof part, 0)) > 0)
    BIO_write(SSL_get_rbio(client_.get()), part, static_cast<int>(got));
}

void TlsWire::stop_sending() { ::shutdown(peer_, SHUT_WR); }

void TlsWire::hang_up() {
  if (peer_ >= 0) ::close(std::exchange(peer_, -1));
}

bool TlsWire::handshake(std::size_t fragment) {
  const auto shaken = handshake_alone();
  for (int turn = 0; turn < 10 && !(*shaken && SSL_is_init_finished(client_.get()) == 1); ++turn) {
    SSL_do_handshake(client_.get());
    std::string out = sealed();
    for (std::string_view rest = out; !rest.empty(); rest.remove_prefix(std::min(fragment, rest.size()))) {
      deliver(rest.substr(0, fragment));
      run();
    }
    take();
  }
  return *shaken && !**shaken && SSL_is_init_finished(client_.get()) == 1;
}

std::string TlsWire::seal(std::string_view text) {
  EXPECT_EQ(SSL_write(client_.get(), text.data(), static_cast<int>(text.size())),
            static_cast<int>(text.size()));
  return sealed();
}

std::string TlsWire::opened() {
  take();
  std::string out;
  char part[16384];
  int got = 0;
  while ((got = SSL_read(client_.get(), part, sizeof part)) > 0)
    out.append(part, static_cast<std::size_t>(got));
  return out;
}

std::shared_ptr<std::optional<TlsWire::error_code>> TlsWire::start(asio::awaitable<error_code> operation) {
  auto ended = std::make_shared<std::optional<error_code>>();
  asio::co_spawn(context_, std::move(operation), [ended](const std::exception_ptr& thrown, error_code error) {
    never(thrown);
    *ended = error;
  });
  return ended;
}

std::shared_ptr<std::optional<TlsWire::error_code>> TlsWire::handshake_alone() {
  auto ended = start(stream_->handshake());
  run();
  return ended;
}

std::shared_ptr<TlsWire::Reading> TlsWire::read(std::size_t bytes_max) {
  auto reading = std::make_shared<Reading>();
  asio::co_spawn(context_, read_one(*stream_, bytes_max, reading), never);
  run();
  return reading;
}

std::shared_ptr<std::optional<TlsWire::error_code>> TlsWire::write(std::string text) {
  auto ended = start(write_all(*stream_, std::move(text)));
  run();
  return ended;
}

std::shared_ptr<std::optional<TlsWire::error_code>> TlsWire::shutdown() {
  auto ended = start(stream_->shutdown());
  run();
  return ended;
}

TlsWire::Reading TlsWire::read_all_now() {
  Reading out;
  Bytes buffer(16384);
  error_code error;
  while (!error) {
    const std::size_t got = stream_->read_now(buffer, error);
    out.text.append(as_text(ByteView(buffer).first(got)));
  }
  out.ended = error;
  return out;
}

}  // namespace samovar::test
