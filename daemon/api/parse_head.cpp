#include "daemon/api/parse_head.hpp"

#include <fmt/format.h>

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <limits>

namespace samovar::api {

namespace http = boost::beast::http;

std::optional<Refusal> parse_head(std::string_view bytes, const Limits& limits, RequestHead& out) {
  // First, because Beast unfolds obs-fold and takes equal Content-Length fields for one.
  if (auto refusal = check_raw_head(bytes, limits)) return refusal;

  http::request_parser<http::empty_body> parser;
  parser.header_limit(static_cast<std::uint32_t>(limits.header_bytes_max + 1));
  parser.body_limit(std::numeric_limits<std::uint64_t>::max());  // BodyDecoder's matter
  boost::system::error_code error;
  const std::size_t used = parser.put(boost::asio::buffer(bytes.data(), bytes.size()), error);
  if (error == http::error::bad_version) {
    return Refusal{505, "http_version", "Only HTTP/1.1 and HTTP/1.0 are spoken here."};
  }
  if (error || !parser.is_header_done() || used != bytes.size()) {
    return Refusal{400, "bad_request", fmt::format("The request is not valid HTTP ({}).", error.message())};
  }
  const auto& message = parser.get();
  out.target.assign(message.target().data(), message.target().size());
  for (const auto& field : message) {
    out.headers.add(std::string(field.name_string()), std::string(field.value()));
  }
  const auto method = method_from({message.method_string().data(), message.method_string().size()});
  if (!method) {
    return Refusal{501, "method_unknown", "Use GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS."};
  }
  out.method = *method;
  if (auto refusal = decode_framing(out, static_cast<int>(message.version() % 10))) return refusal;
  if (auto refusal = decode_host(out)) return refusal;
  return decode_target(out);
}

}  // namespace samovar::api
