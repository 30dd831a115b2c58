#include "daemon/api/response_format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>

#include "daemon/api/refusal.hpp"
#include "daemon/api/text.hpp"

namespace samovar::api {
namespace {

// Set by the engine alone: a handler's word here could contradict what is sent.
bool is_framing(std::string_view name) {
  return equal_no_case(name, "content-length") || equal_no_case(name, "transfer-encoding") ||
         equal_no_case(name, "connection") || equal_no_case(name, "date");
}

void put(std::string& out, std::string_view name, std::string_view value) {
  const auto clean = [](char c) { return c == '\t' || !is_control(c); };
  out.append(name).append(": ");
  std::copy_if(value.begin(), value.end(), std::back_inserter(out), clean);
  out.append("\r\n");
}

}  // namespace

bool may_have_body(int status) noexcept { return status >= 200 && status != 204 && status != 304; }

std::string http_date(WallTime time) {
  using namespace std::chrono;
  static constexpr const char* kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                            "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto day = floor<days>(time);
  const year_month_day date{day};
  const hh_mm_ss clock{floor<seconds>(time - day)};
  return fmt::format("{}, {:02} {} {:04} {:02}:{:02}:{:02} GMT", kDays[weekday{day}.c_encoding()],
                     static_cast<unsigned>(date.day()), kMonths[static_cast<unsigned>(date.month()) - 1],
                     static_cast<int>(date.year()), clock.hours().count(), clock.minutes().count(),
                     clock.seconds().count());
}

std::string format_head(const Response& response, const HeadFormat& format) {
  std::string out = fmt::format("HTTP/1.1 {} {}\r\n", response.status, reason_phrase(response.status));
  out.reserve(1024);
  put(out, "Date", http_date(format.now));
  for (const auto& [name, value] : response.headers.all()) {
    if (!is_framing(name) && !name.empty() && std::all_of(name.begin(), name.end(), is_token))
      put(out, name, value);
  }
  const std::pair<std::string_view, std::string_view> fixed[] = {
      {"Content-Security-Policy", kContentSecurityPolicy},
      {"X-Content-Type-Options", "nosniff"},
      {"Referrer-Policy", "no-referrer"},
      {"Cross-Origin-Opener-Policy", "same-origin"},
      {"Cross-Origin-Resource-Policy", "same-origin"},
      {"Permissions-Policy",
       "camera=(), geolocation=(), microphone=(), payment=(), usb=(), display-capture=()"},
      {"X-Trace-Id", format.trace_id},
  };
  for (const auto& [name, value] : fixed) {
    if (!value.empty() && !response.headers.has(name)) put(out, name, value);
  }
  if (format.no_store && !response.headers.has("Cache-Control")) put(out, "Cache-Control", "no-store");
  if (format.hsts) put(out, "Strict-Transport-Security", "max-age=31536000");
  if (format.chunked) {
    put(out, "Transfer-Encoding", "chunked");
  } else if (!format.until_close && may_have_body(response.status)) {
    put(out, "Content-Length",
        std::to_string(response.stream ? response.stream_length.value_or(0) : response.body.size()));
  }
  put(out, "Connection", format.keep_alive ? "keep-alive" : "close");
  return out += "\r\n";
}

}  // namespace samovar::api
