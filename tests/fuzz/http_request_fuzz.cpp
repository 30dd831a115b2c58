// A connection's bytes as the server reads them: head, our checks around Beast's parser, cookies, then
// the body in pieces of a length the input chooses.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/assert.hpp"
#include "base/utf8.hpp"
#include "daemon/api/body_decoder.hpp"
#include "daemon/api/parse_head.hpp"
#include "daemon/api/response_format.hpp"
#include "daemon/api/text.hpp"

using namespace samovar;
using namespace samovar::api;

namespace {

constexpr std::uint64_t kBodyMax = 4096;

// What every accepted head must be, whatever the bytes.
void check_accepted(const RequestHead& head) {
  SAMOVAR_ASSERT(!head.path.empty() && head.path.front() == '/');
  SAMOVAR_ASSERT(head.path.find('\0') == std::string::npos && head.path.find('\\') == std::string::npos);
  SAMOVAR_ASSERT((head.path + "/").find("/../") == std::string::npos && is_utf8(head.path));
  SAMOVAR_ASSERT(!head.host.empty());
  std::size_t lengths = 0;
  for (const auto& [name, value] : head.headers.all()) {
    SAMOVAR_ASSERT(
        std::none_of(value.begin(), value.end(), [](char c) { return c == '\r' || c == '\n' || c == 0; }));
    lengths += equal_no_case(name, "content-length") || equal_no_case(name, "transfer-encoding") ? 1 : 0;
  }
  SAMOVAR_ASSERT(lengths == (head.framing == Framing::none ? 0U : 1U));
}

void decode_body(const RequestHead& head, std::string_view rest, std::size_t step) {
  BodyDecoder body(head, kBodyMax);
  if (body.check_length()) return;
  std::string buffer;
  std::size_t total = 0;
  while (!body.done() && !rest.empty()) {
    buffer += rest.substr(0, step);
    rest.remove_prefix(std::min(step, rest.size()));
    for (std::size_t used = 1; used > 0;) {
      Bytes out;
      const auto stepped = body.decode(buffer, out, 64);
      if (stepped.refusal) return;
      SAMOVAR_ASSERT(stepped.used <= buffer.size() && out.size() <= 64);
      used = stepped.used;
      total += out.size();
      buffer.erase(0, used);
    }
    SAMOVAR_ASSERT(buffer.size() <= step + BodyDecoder::kLineBytesMax || body.done());
  }
  SAMOVAR_ASSERT(total <= kBodyMax);
  if (body.done() && head.framing == Framing::length) SAMOVAR_ASSERT(total == head.content_length);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t step = 1 + data[0] % 97U;
  const std::string_view input(reinterpret_cast<const char*>(data) + 1, size - 1);
  const Limits limits;
  const std::size_t end = input.find("\r\n\r\n");
  if (end == std::string_view::npos) {
    (void)check_partial_head(input, limits);
    return 0;
  }
  RequestHead head;
  const auto refusal = parse_head(input.substr(0, end + 4), limits, head);
  if (refusal) {
    Response response = to_response(*refusal, head.path, "0");
    (void)format_head(response, {});
    return 0;
  }
  check_accepted(head);
  Request request;
  request.headers = head.headers;
  (void)request.cookie("__Host-samovar");
  (void)HostNames("box", {"name.example"}).allows(head.host);
  decode_body(head, input.substr(end + 4), step);
  return 0;
}
