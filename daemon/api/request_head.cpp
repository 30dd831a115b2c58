#include "daemon/api/request_head.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/utf8.hpp"
#include "daemon/api/text.hpp"

namespace samovar::api {
namespace {

constexpr std::size_t kQueryParamsMax = 64;

Refusal bad(std::string_view code, std::string detail) {
  return Refusal{400, std::string(code), std::move(detail)};
}

Refusal line_too_long(const Limits& limits) {
  return {414, "uri_too_long",
          fmt::format("The request line is longer than {} bytes. Send data in the body, not in the address.",
                      limits.request_line_bytes_max)};
}
Refusal header_too_large(const Limits& limits) {
  return {431, "header_too_large",
          fmt::format("The header is larger than {} bytes or {} fields. Delete this site's cookies or send "
                      "fewer fields.",
                      limits.header_bytes_max, limits.header_fields_max)};
}

std::optional<Refusal> check_field(std::string_view line) {
  if (line.front() == ' ' || line.front() == '\t') {
    return bad("bad_header", "A header field is folded over two lines, which HTTP no longer allows.");
  }
  const std::size_t colon = line.find(':');
  if (colon == 0 || colon == std::string_view::npos ||
      !std::all_of(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(colon), is_token)) {
    return bad("bad_header", "A header field's name is empty or has a character that is not allowed.");
  }
  return std::nullopt;
}

// Percent-decoding that lets nothing through which could change a path's meaning.
enum class Part : std::uint8_t { path, query };
std::optional<std::string> decode(std::string_view text, Part part) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '%') {
      if (text.size() - i < 3) return std::nullopt;
      const int high = hex_digit(text[i + 1]);
      const int low = hex_digit(text[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      c = static_cast<char>(high * 16 + low);
      i += 2;
      if (c == 0 || (part == Part::path && (c == '/' || is_control(c)))) return std::nullopt;
    } else if (part == Part::query && c == '+') {
      c = ' ';
    }
    if (part == Part::path && c == '\\') return std::nullopt;
    out += c;
  }
  if (!is_utf8(out)) return std::nullopt;
  return out;
}

bool has_dot_segment(std::string_view path) {
  while (!path.empty()) {
    path.remove_prefix(1);  // the slash
    const std::string_view segment = path.substr(0, path.find('/'));
    if (segment == "." || segment == "..") return true;
    path.remove_prefix(segment.size());
  }
  return false;
}

std::optional<Refusal> decode_query(std::string_view text, RequestHead& head) {
  while (!text.empty()) {
    const std::string_view pair = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(pair.size() + 1, text.size()));
    if (pair.empty()) continue;
    const std::size_t equals = std::min(pair.find('='), pair.size());
    auto name = decode(pair.substr(0, equals), Part::query);
    auto value = decode(pair.substr(std::min(equals + 1, pair.size())), Part::query);
    if (!name || !value)
      return bad("bad_query", "The part of the address after '?' is not valid percent-encoded UTF-8.");
    if (head.query.size() == kQueryParamsMax)
      return bad("bad_query", "The address has more than 64 parameters.");
    head.query.emplace_back(std::move(*name), std::move(*value));
  }
  return std::nullopt;
}

bool is_name(std::string_view host) noexcept {
  if (host.empty() || host.size() > 253 || host.front() == '.' || host.front() == '-') return false;
  if (host.find("..") != std::string_view::npos) return false;
  return std::all_of(host.begin(), host.end(),
                     [](char c) { return is_alpha(c) || is_digit(c) || c == '-' || c == '.' || c == '_'; });
}

bool is_port(std::string_view text) noexcept {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return text.size() <= 5 && error == std::errc() && end == text.data() + text.size() && value > 0 &&
         value < 65536;
}

}  // namespace

std::optional<Refusal> check_partial_head(std::string_view bytes, const Limits& limits) {
  const std::size_t line = bytes.substr(0, limits.request_line_bytes_max + 2).find("\r\n");
  if (line == std::string_view::npos && bytes.size() > limits.request_line_bytes_max + 1)
    return line_too_long(limits);
  if (bytes.size() >= limits.header_bytes_max) return header_too_large(limits);
  for (std::size_t at = bytes.find('\n'); at != std::string_view::npos; at = bytes.find('\n', at + 1)) {
    // Such a header would never end with the blank line we look for.
    if (at == 0 || bytes[at - 1] != '\r') return bad("bad_header", "A header line does not end with CR LF.");
  }
  return std::nullopt;
}

std::optional<Refusal> check_raw_head(std::string_view head, const Limits& limits) {
  if (head.size() > limits.header_bytes_max) return header_too_large(limits);
  std::size_t fields = 0;
  for (bool first = true;; first = false) {
    const std::size_t end = head.find('\n');
    if (end == std::string_view::npos || end == 0 || head[end - 1] != '\r') {
      return bad("bad_header", "A header line does not end with CR LF.");
    }
    const std::string_view line = head.substr(0, end - 1);
    head.remove_prefix(end + 1);
    if (std::any_of(line.begin(), line.end(), [](char c) { return is_control(c) && c != '\t'; })) {
      return bad("bad_header", "The header has a control character such as NUL or a lone CR.");
    }
    if (first) {
      if (line.size() > limits.request_line_bytes_max) return line_too_long(limits);
      if (line.empty()) return bad("bad_request_line", "The request begins with an empty line.");
      continue;
    }
    if (line.empty()) break;
    if (auto refusal = check_field(line)) return refusal;
    if (++fields > limits.header_fields_max) return header_too_large(limits);
  }
  if (!head.empty()) return bad("bad_header", "The header ends before its last line.");
  return std::nullopt;
}

std::optional<Method> method_from(std::string_view name) noexcept {
  for (const Method method :
       {Method::get, Method::head, Method::post, Method::put, Method::patch, Method::del, Method::options}) {
    if (to_string(method) == name) return method;
  }
  return std::nullopt;
}

std::optional<Refusal> decode_target(RequestHead& head) {
  const std::string_view target = head.target;
  const auto plain = [](char c) {
    return c > 0x20 && c < 0x7f && c != '#' && c != '"' && c != '<' && c != '>';
  };
  if (target.empty() || target.front() != '/' || !std::all_of(target.begin(), target.end(), plain)) {
    return bad("bad_path", "The address must begin with '/' and be percent-encoded ASCII.");
  }
  const std::size_t question = std::min(target.find('?'), target.size());
  auto path = decode(target.substr(0, question), Part::path);
  if (!path || has_dot_segment(*path)) {
    return bad("bad_path",
               "The path has '..', an encoded slash, a control character or invalid percent-encoding.");
  }
  head.path = std::move(*path);
  return decode_query(target.substr(std::min(question + 1, target.size())), head);
}

std::optional<Refusal> decode_host(RequestHead& head) {
  std::string_view value;
  std::size_t count = 0;
  for (const auto& [name, text] : head.headers.all()) {
    if (!equal_no_case(name, "host")) continue;
    value = trim(text);
    ++count;
  }
  if (count != 1) return bad("bad_host", "The request needs exactly one Host field.");
  std::string_view host = value;
  std::string_view port;
  if (!value.empty() && value.front() == '[') {
    const std::size_t end = std::min(value.find(']'), value.size() - 1);
    host = value.substr(0, end + 1);
    port = value.substr(end + 1);
  } else {
    const std::size_t colon = std::min(value.find(':'), value.size());
    host = value.substr(0, colon);
    port = value.substr(colon);
  }
  const bool bracketed = !host.empty() && host.front() == '[';
  if ((!port.empty() && !is_port(port.substr(1))) || (!port.empty() && port.front() != ':') ||
      (bracketed ? !is_ip_literal(host) : !is_name(host))) {
    return bad("bad_host", "The Host field is not a name or an IP address with an optional port.");
  }
  head.host = to_lower(host);
  if (head.host.size() > 1 && head.host.back() == '.') head.host.pop_back();
  return std::nullopt;
}

std::optional<Refusal> decode_framing(RequestHead& head, int http_minor) {
  std::size_t lengths = 0;
  std::size_t encodings = 0;
  bool close = false;
  bool keep = http_minor >= 1;
  for (const auto& [name, text] : head.headers.all()) {
    const std::string_view value = trim(text);
    if (equal_no_case(name, "content-length")) {
      ++lengths;
      const bool digits =
          !value.empty() && value.size() <= 18 && std::all_of(value.begin(), value.end(), is_digit);
      if (!digits) return bad("bad_length", "Content-Length is not a plain number.");
      std::from_chars(value.data(), value.data() + value.size(), head.content_length);
    } else if (equal_no_case(name, "transfer-encoding")) {
      ++encodings;
      if (!equal_no_case(value, "chunked")) {
        return Refusal{501, "transfer_encoding", "Only 'Transfer-Encoding: chunked' is understood."};
      }
    } else if (equal_no_case(name, "connection")) {
      for_each_item(value, [&](std::string_view item) {
        close = close || equal_no_case(item, "close");
        keep = keep || equal_no_case(item, "keep-alive");
      });
    } else if (equal_no_case(name, "expect")) {
      if (!equal_no_case(value, "100-continue")) {
        return Refusal{417, "expectation_failed", "Only 'Expect: 100-continue' is understood."};
      }
      head.expects_continue = http_minor >= 1;
    }
  }
  if (lengths > 1 || encodings > 1 || (lengths > 0 && encodings > 0) || (encodings > 0 && http_minor == 0)) {
    return bad("ambiguous_length", "The body's length is given twice. Send one Content-Length, or chunked.");
  }
  if (encodings > 0) head.framing = Framing::chunked;
  if (lengths > 0) head.framing = Framing::length;
  head.keep_alive = keep && !close;
  head.takes_chunks = http_minor >= 1;
  return std::nullopt;
}

bool is_ip_literal(std::string_view host) noexcept {
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  char text[INET6_ADDRSTRLEN + 1] = {};
  if (host.empty() || host.size() >= sizeof text) return false;
  std::copy(host.begin(), host.end(), text);
  in6_addr address{};
  return inet_pton(AF_INET, text, &address) == 1 || inet_pton(AF_INET6, text, &address) == 1;
}

HostNames::HostNames(std::string_view own, const std::vector<std::string>& more) : names_{"localhost"} {
  if (!own.empty()) {
    names_.push_back(to_lower(own));
    names_.push_back(to_lower(own.substr(0, own.find('.'))));
    names_.push_back(names_.back() + ".local");
  }
  for (const std::string& name : more) names_.push_back(to_lower(name));
}

bool HostNames::allows(std::string_view host) const noexcept {
  return is_ip_literal(host) || std::any_of(names_.begin(), names_.end(), [&](const std::string& name) {
           return equal_no_case(name, host);
         });
}

}  // namespace samovar::api
