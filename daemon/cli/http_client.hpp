// HTTPS to one box. libcurl and OpenSSL are seen only in the .cpp.
//
// Trust is a pin, not the system's certificate store: the box has its own root, and a public
// authority must not be able to speak for it. With a matching pin the host name is not compared,
// as with ssh: the key says who the box is, and people reach it by address, tunnel or new name.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace samovar::cli {

struct Pin {
  std::string leaf_sha256;  // "AB:CD:…", upper case; empty: no leaf is pinned
  std::string root_pem;     // the box's web root; a new leaf under it is accepted
};

struct HttpRequest {
  std::string method = "GET";
  std::string url;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  Pin pin;
  long timeout_s = 30;
  // When set, a body answered with 2xx goes here chunk by chunk; false stops the transfer.
  std::function<bool(std::string_view)> on_data = {};
  // When set, the body is read from here instead of `body`: fills `room` or less, 0 at the end.
  std::function<std::size_t(char* out, std::size_t room)> read_body = {};
  std::uint64_t read_bytes = 0;  // its length
  // Asked now and then during the transfer; false ends it with Errc::io.
  std::function<bool()> go_on = {};
};

// What read_body returns to end the transfer with Errc::io.
inline constexpr std::size_t kReadStop = static_cast<std::size_t>(-1);

struct HttpReply {
  int status = 0;
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case
  std::string body;
  std::string leaf_sha256;  // of the certificate the server showed
  bool untrusted = false;   // the pin did not match: nothing was sent, status is 0

  std::string_view header(std::string_view lower_name) const noexcept;
};

class HttpClient {
 public:
  virtual ~HttpClient() = default;
  // Errc::timeout, or Errc::io with the host and a remedy in the message.
  virtual Result<HttpReply> send(const HttpRequest& request) = 0;
};

std::unique_ptr<HttpClient> make_http_client();

// "HTTPS://Box:8443/" → "https://box:8443"; a missing scheme or port is filled in. Errc::invalid for http:.
Result<std::string> normalize_server(std::string_view text);

// Percent-encodes all but unreserved characters, for a path segment or a query value.
std::string url_encode(std::string_view text);

}  // namespace samovar::cli
