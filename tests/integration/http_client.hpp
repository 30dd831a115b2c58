// A deliberately low-level HTTPS client for tests: it sends exactly the bytes it is given.
//
// Blocking, with a limit of 30 s per read so that a broken server fails a test instead of hanging it.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace samovar::test {

struct Reply {
  int status = 0;                              // 0: the connection ended without an answer
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
};

struct ClientOptions {
  std::string source = "127.0.0.1";  // any 127.x.x.x
  int tls_min = 0;                   // as OpenSSL's TLS1_2_VERSION; 0: its default
  int tls_max = 0;
  std::string ciphers = {};  // TLS 1.2 list
  std::string alpn = {};     // one protocol
  bool weak = false;         // allow what OpenSSL itself would not offer
  int receive_buffer = 0;    // SO_RCVBUF, for slow readers
};

class Client {
 public:
  explicit Client(std::uint16_t port, ClientOptions options = {});
  ~Client();
  Client(Client&&) noexcept;
  Client& operator=(Client&&) noexcept;

  bool connected() const;  // TCP
  bool handshake();        // TLS; needed before send()
  std::string tls_version() const;
  std::string cipher() const;
  std::string alpn() const;
  std::string certificate_name() const;

  bool send(std::string_view bytes);        // inside TLS
  bool send_plain(std::string_view bytes);  // on the bare socket
  std::string receive_plain();              // until the end
  Reply read_reply(bool head_only = false);
  std::string read_some();  // empty at the end
  bool closed();            // reads until the end or 30 s
  void close();

  // One request with a Host field, and its answer.
  Reply request(std::string_view method, std::string_view target, std::string_view body = {},
                std::string_view more_headers = {});

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace samovar::test
