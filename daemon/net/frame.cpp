#include "daemon/net/frame.hpp"

#include <algorithm>

#include "base/assert.hpp"
#include "security/wire.hpp"

namespace samovar::net {
namespace {

constexpr std::size_t kNodeIdBytesMax = 64;
constexpr std::size_t kVersionBytesMax = 64;
constexpr std::size_t kByeTextBytesMax = 400;

std::uint32_t body_bytes_max(FrameKind kind, std::uint32_t message_max) {
  switch (kind) {
    case FrameKind::hello:
      return kHelloBytesMax;
    case FrameKind::message:
      return message_max;
    case FrameKind::ping:
    case FrameKind::pong:
      return kPingBytes;
    case FrameKind::bye:
      return kByeBytesMax;
  }
  return 0;
}

}  // namespace

FrameHeadBytes encode_head(const FrameHead& head) {
  SAMOVAR_ASSERT(head.bytes <= kFrameBytesMax);
  return {static_cast<std::uint8_t>(head.bytes),       static_cast<std::uint8_t>(head.bytes >> 8),
          static_cast<std::uint8_t>(head.bytes >> 16), static_cast<std::uint8_t>(head.kind),
          static_cast<std::uint8_t>(head.heard),       static_cast<std::uint8_t>(head.heard >> 8)};
}

Result<FrameHead> decode_head(const FrameHeadBytes& bytes, std::uint32_t message_max) {
  const std::uint32_t size = bytes[0] | std::uint32_t{bytes[1]} << 8 | std::uint32_t{bytes[2]} << 16;
  if (bytes[3] < static_cast<std::uint8_t>(FrameKind::hello) ||
      bytes[3] > static_cast<std::uint8_t>(FrameKind::bye))
    return Error{Errc::corrupt, "the other end sent a frame of an unknown kind"};
  const auto kind = static_cast<FrameKind>(bytes[3]);
  if (size > body_bytes_max(kind, message_max))
    return Error{Errc::corrupt, "the other end sent a frame longer than this lane takes"};
  if ((kind == FrameKind::ping || kind == FrameKind::pong) && size != kPingBytes)
    return Error{Errc::corrupt, "the other end sent a ping of the wrong length"};
  return FrameHead{kind, size, static_cast<std::uint16_t>(bytes[4] | bytes[5] << 8)};
}

Bytes encode_hello(const Hello& hello) {
  Bytes out;
  security::WireWriter to(out);
  to.number(hello.protocol);
  to.number(static_cast<std::uint8_t>(hello.lane));
  to.raw(hello.boot);
  to.number(static_cast<std::uint64_t>(hello.wall.time_since_epoch().count()));
  to.number(hello.port);
  to.sized(as_bytes(hello.node_id));
  to.sized(as_bytes(hello.version));
  return out;
}

Result<Hello> decode_hello(ByteView body) {
  security::WireReader from(body);
  Hello hello;
  hello.protocol = from.number<std::uint8_t>();
  const auto lane = from.number<std::uint8_t>();
  hello.boot = from.array<BootId>();
  hello.wall = WallTime(WallTime::duration(static_cast<std::int64_t>(from.number<std::uint64_t>())));
  hello.port = from.number<std::uint16_t>();
  hello.node_id = as_text(from.sized(kNodeIdBytesMax));
  hello.version = as_text(from.sized(kVersionBytesMax));
  if (!from.ok() || body.size() > kHelloBytesMax || hello.protocol == 0 ||
      lane > static_cast<std::uint8_t>(Lane::bulk))
    return Error{Errc::corrupt, "the other end's first words are not understood"};
  hello.lane = static_cast<Lane>(lane);
  return hello;
}

Bytes encode_bye(const Bye& bye) {
  Bytes out;
  security::WireWriter to(out);
  to.number(static_cast<std::uint8_t>(bye.reason));
  to.raw(as_bytes(std::string_view(bye.text).substr(0, kByeTextBytesMax)));
  return out;
}

Result<Bye> decode_bye(ByteView body) {
  if (body.empty() || body.size() > kByeBytesMax)
    return Error{Errc::corrupt, "the other end's last words are not understood"};
  Bye bye;
  if (body[0] >= static_cast<std::uint8_t>(ByeReason::closing) &&
      body[0] <= static_cast<std::uint8_t>(ByeReason::trouble))
    bye.reason = static_cast<ByeReason>(body[0]);
  bye.text = as_text(body.subspan(1, std::min(body.size() - 1, kByeTextBytesMax)));
  return bye;
}

}  // namespace samovar::net
