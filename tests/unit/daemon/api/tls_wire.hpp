// A TlsStream on one end of a pair of sockets, OpenSSL's own client on the other, and every byte between them
// in the test's hand.
#pragma once
#include <openssl/ssl.h>

#include <optional>
#include <string>
#include <string_view>

#include "daemon/api/tls_stream.hpp"

// After tls_stream.hpp, which includes <utility> for Asio's coroutines.
#include <boost/asio/io_context.hpp>
#include <boost/asio/ssl/context.hpp>
#include <memory>

namespace samovar::test {

class TlsWire {
 public:
  using error_code = boost::system::error_code;

  explicit TlsWire(int version = TLS1_3_VERSION);
  ~TlsWire();
  TlsWire(const TlsWire&) = delete;
  TlsWire& operator=(const TlsWire&) = delete;

  api::TlsStream& stream() { return *stream_; }
  SSL* client() { return client_.get(); }

  // Everything that can happen now happens.
  void run();
  // What the client has made for us and has not been delivered; bytes of ours for the client.
  std::string sealed();
  void deliver(std::string_view bytes);
  void take();
  void stop_sending();  // the client's side of the socket, without a word in TLS
  void hang_up();

  bool handshake(std::size_t fragment = 1 << 20);
  // As the client seals it, one record for each 16 KiB.
  std::string seal(std::string_view text);
  // What the client has received in TLS so far.
  std::string opened();

  // Operations under way: nothing while they wait.
  struct Reading {
    std::string text;
    std::optional<error_code> ended;
  };
  std::shared_ptr<std::optional<error_code>> handshake_alone();  // the server's part
  std::shared_ptr<Reading> read(std::size_t bytes_max = 16384);
  std::shared_ptr<std::optional<error_code>> write(std::string text);
  std::shared_ptr<std::optional<error_code>> shutdown();
  // Everything read_now() gives, and why it gave no more.
  Reading read_all_now();

 private:
  template <auto fn>
  struct Free {
    template <class T>
    void operator()(T* p) const noexcept {
      fn(p);
    }
  };
  std::shared_ptr<std::optional<error_code>> start(boost::asio::awaitable<error_code> operation);

  boost::asio::io_context context_{1};
  std::shared_ptr<boost::asio::ssl::context> tls_;
  int peer_ = -1;
  std::unique_ptr<api::TlsStream> stream_;
  std::unique_ptr<SSL_CTX, Free<&SSL_CTX_free>> client_context_;
  std::unique_ptr<SSL, Free<&SSL_free>> client_;
};

}  // namespace samovar::test
