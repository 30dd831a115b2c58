// What stands around every message of the Exchange: what it is about, and which question it belongs to.
//
// It stands behind the body, not before it: taking it off a received megabyte moves nothing.
//
// Threading: pure functions, any thread.
// Format:    docs/formats/exchange.md
#pragma once
#include <cstdint>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "base/transport.hpp"

namespace samovar::net {

enum class EnvelopeKind : std::uint8_t { tell = 1, ask = 2, answer = 3, error = 4 };

struct Envelope {
  EnvelopeKind kind = EnvelopeKind::tell;
  std::uint8_t topic = 0;  // one this version may not know
  Lane lane = Lane::control;
  std::uint64_t request = 0;  // 0 for a tell, never 0 otherwise

  friend bool operator==(const Envelope&, const Envelope&) = default;
};

inline constexpr std::size_t kEnvelopeBytesMax = 11;
inline constexpr std::size_t kErrorTextBytesMax = 1024;

void append_envelope(Bytes& body, const Envelope& envelope);
// Leaves the body. Errc::corrupt for what no version of ours sends.
Result<Envelope> take_envelope(Bytes& message);

// The body of an error: its code and its sentence, cut to a kilobyte.
Bytes encode_error(const Error& error);
// A code of a later version becomes Errc::internal.
Error decode_error(ByteView body);

}  // namespace samovar::net
