// What goes through a connection of the mesh: frames, and what both ends say first.
//
// Threading: pure functions, any thread.
// Format:    docs/formats/mesh.md
#pragma once
#include <array>
#include <cstdint>
#include <string>

#include "base/bytes.hpp"
#include "base/clock.hpp"
#include "base/result.hpp"
#include "base/transport.hpp"

namespace samovar::net {

enum class FrameKind : std::uint8_t { hello = 1, message = 2, ping = 3, pong = 4, bye = 5 };

struct FrameHead {
  FrameKind kind = FrameKind::message;
  std::uint32_t bytes = 0;  // of the body
  // Messages its sender has received on this connection, modulo 2^16: so the other end knows whether anything
  // still waits, and pings only then.
  std::uint16_t heard = 0;
  friend bool operator==(const FrameHead&, const FrameHead&) = default;
};
using FrameHeadBytes = std::array<std::uint8_t, 6>;

inline constexpr std::uint32_t kFrameBytesMax = (1u << 24) - 1;
inline constexpr std::uint32_t kPingBytes = 8;
inline constexpr std::uint32_t kHelloBytesMax = 1024;
inline constexpr std::uint32_t kByeBytesMax = 512;

FrameHeadBytes encode_head(const FrameHead& head);
// Errc::corrupt for an unknown kind, or a body longer than its kind allows; messages up to `message_max`.
Result<FrameHead> decode_head(const FrameHeadBytes& bytes, std::uint32_t message_max);

using BootId = std::array<std::uint8_t, 16>;

struct Hello {
  std::uint8_t protocol = 1;
  Lane lane = Lane::control;
  std::string node_id;     // must be the certificate's
  BootId boot{};           // drawn at each start
  WallTime wall{};         // for the warning about clocks, never for a decision
  std::uint16_t port = 0;  // where the speaker listens
  std::string version;     // of the program
  friend bool operator==(const Hello&, const Hello&) = default;
};
Bytes encode_hello(const Hello& hello);
// Fields that a later version appends are passed over.
Result<Hello> decode_hello(ByteView body);

enum class ByeReason : std::uint8_t {
  closing = 1,     // not needed any more
  clone = 2,       // this node id is there twice
  not_member = 3,  // removed
  replaced = 4,    // by a newer connection
  trouble = 5,     // the other end broke the protocol
};
struct Bye {
  ByeReason reason = ByeReason::closing;
  std::string text;
  friend bool operator==(const Bye&, const Bye&) = default;
};
Bytes encode_bye(const Bye& bye);
// An unknown reason becomes `closing`.
Result<Bye> decode_bye(ByteView body);

}  // namespace samovar::net
