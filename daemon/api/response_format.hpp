// A Response as bytes: status line, our security headers on every answer, and the handler's fields.
//
// Threading: pure functions, any thread.
#pragma once
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "daemon/api/http.hpp"

namespace samovar::api {

inline constexpr std::string_view kContentSecurityPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'";

struct HeadFormat {
  WallTime now;
  std::string_view trace_id;
  bool no_store = false;    // answers under /api, unless the handler chose otherwise
  bool keep_alive = false;  // else Connection: close
  bool hsts = false;
  bool until_close = false;  // an event stream: no Content-Length
  bool chunked = false;      // a stream of unknown length
};

// With the blank line. A field value with CR, LF or NUL (which could split the answer) loses them.
std::string format_head(const Response& response, const HeadFormat& format);

// RFC 9110 §5.6.7: "Sun, 06 Nov 1994 08:49:37 GMT".
std::string http_date(WallTime time);

// 204 and 304 have none, whatever the handler put there.
bool may_have_body(int status) noexcept;

}  // namespace samovar::api
