// Our own checks on a request's head, stricter than the parser's: where two programs could read the
// same bytes differently (request smuggling) or a path could mean another file, we refuse.
//
// Threading: pure functions, any thread. Nothing here knows of sockets or Boost.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/api/http.hpp"
#include "daemon/api/limits.hpp"
#include "daemon/api/refusal.hpp"

namespace samovar::api {

enum class Framing : std::uint8_t { none, length, chunked };

struct RequestHead {
  Method method = Method::get;
  std::string target;  // as sent
  std::string path;    // decoded
  std::vector<std::pair<std::string, std::string>> query;
  Headers headers;
  std::string host;  // lower case, without port
  Framing framing = Framing::none;
  std::uint64_t content_length = 0;
  bool keep_alive = true;
  bool takes_chunks = true;  // not HTTP/1.0
  bool expects_continue = false;
};

// The raw head up to and with its blank line: line ends, field names, obs-fold, NUL, sizes.
std::optional<Refusal> check_raw_head(std::string_view head, const Limits& limits);
// What to say when the buffer holds `bytes` and still no blank line; nothing means read on.
std::optional<Refusal> check_partial_head(std::string_view bytes, const Limits& limits);

// Fills path and query from target.
std::optional<Refusal> decode_target(RequestHead& head);
// Fills host; exactly one well-formed Host field is needed.
std::optional<Refusal> decode_host(RequestHead& head);
// Fills framing, content_length, keep_alive and expects_continue. `http_minor` is 0 or 1.
std::optional<Refusal> decode_framing(RequestHead& head, int http_minor);

std::optional<Method> method_from(std::string_view name) noexcept;

// "192.168.1.2", "[fe80::1]" or "fe80::1".
bool is_ip_literal(std::string_view host) noexcept;

// The Host allow-list against DNS rebinding: a hostile page can point its own name at this box, but
// cannot make the browser send another name.
class HostNames {
 public:
  // `own` is the box's host name; it, <own>.local, localhost and IP literals are always allowed.
  HostNames(std::string_view own, const std::vector<std::string>& more);
  bool allows(std::string_view host) const noexcept;

 private:
  std::vector<std::string> names_;  // lower case
};

}  // namespace samovar::api
