#include "daemon/api/refusal.hpp"

#include <fmt/format.h>

#include "base/utf8.hpp"
#include "daemon/api/text.hpp"

namespace samovar::api {
namespace {

std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (is_control(c)) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out += '"';
}

}  // namespace

std::string_view reason_phrase(int status) noexcept {
  switch (status) {
    case 100:
      return "Continue";
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 202:
      return "Accepted";
    case 204:
      return "No Content";
    case 206:
      return "Partial Content";
    case 303:
      return "See Other";
    case 304:
      return "Not Modified";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 406:
      return "Not Acceptable";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 410:
      return "Gone";
    case 411:
      return "Length Required";
    case 412:
      return "Precondition Failed";
    case 413:
      return "Content Too Large";
    case 414:
      return "URI Too Long";
    case 415:
      return "Unsupported Media Type";
    case 416:
      return "Range Not Satisfiable";
    case 417:
      return "Expectation Failed";
    case 421:
      return "Misdirected Request";
    case 422:
      return "Unprocessable Content";
    case 423:
      return "Locked";
    case 428:
      return "Precondition Required";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    case 505:
      return "HTTP Version Not Supported";
    case 507:
      return "Insufficient Storage";
    default:
      return "Status";
  }
}

Response to_response(const Refusal& refusal, std::string_view instance, std::string_view trace_id) {
  Response response;
  response.status = refusal.status;
  response.headers.set("Content-Type", "application/problem+json");
  if (refusal.status == 429 || refusal.status == 503) response.headers.set("Retry-After", "1");
  response.body = fmt::format(
      R"({{"type":"urn:samovar:problem:{}","title":{},"status":{},"detail":{},"instance":{},"code":{},"trace_id":{}}})",
      refusal.code, json_string(reason_phrase(refusal.status)), refusal.status, json_string(refusal.detail),
      json_string(is_utf8(instance) ? instance : ""), json_string(refusal.code), json_string(trace_id));
  return response;
}

}  // namespace samovar::api
