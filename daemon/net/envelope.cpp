#include "daemon/net/envelope.hpp"

#include <algorithm>

namespace samovar::net {
namespace {

constexpr std::uint8_t kVersion = 1;
constexpr std::uint8_t kBulkBit = 0x80;
constexpr std::size_t kTellBytes = 3;

bool known_kind(std::uint8_t kind) {
  return kind >= static_cast<std::uint8_t>(EnvelopeKind::tell) &&
         kind <= static_cast<std::uint8_t>(EnvelopeKind::error);
}

}  // namespace

void append_envelope(Bytes& body, const Envelope& envelope) {
  if (body.capacity() < body.size() + kEnvelopeBytesMax) body.reserve(body.size() + kEnvelopeBytesMax);
  if (envelope.kind != EnvelopeKind::tell) {
    for (unsigned shift = 0; shift < 64; shift += 8)
      body.push_back(static_cast<std::uint8_t>(envelope.request >> shift));
  }
  body.push_back(envelope.topic);
  body.push_back(static_cast<std::uint8_t>(static_cast<std::uint8_t>(envelope.kind) |
                                           (envelope.lane == Lane::bulk ? kBulkBit : 0)));
  body.push_back(kVersion);
}

Result<Envelope> take_envelope(Bytes& message) {
  const Error bad{Errc::corrupt, "a message between nodes has no envelope of this version"};
  const std::size_t size = message.size();
  if (size < kTellBytes || message[size - 1] != kVersion) return bad;
  const auto kind = static_cast<std::uint8_t>(message[size - 2] & ~kBulkBit);
  if (!known_kind(kind)) return bad;
  Envelope envelope{static_cast<EnvelopeKind>(kind), message[size - 3],
                    (message[size - 2] & kBulkBit) != 0 ? Lane::bulk : Lane::control, 0};
  std::size_t rest = size - kTellBytes;
  if (envelope.kind != EnvelopeKind::tell) {
    if (rest < sizeof envelope.request) return bad;
    rest -= sizeof envelope.request;
    for (std::size_t i = 0; i < sizeof envelope.request; ++i)
      envelope.request |= std::uint64_t{message[rest + i]} << (8 * i);
    if (envelope.request == 0) return bad;
  }
  message.resize(rest);
  return envelope;
}

Bytes encode_error(const Error& error) {
  const std::string_view text = std::string_view(error.message()).substr(0, kErrorTextBytesMax);
  Bytes body;
  body.reserve(1 + text.size() + kEnvelopeBytesMax);
  body.push_back(static_cast<std::uint8_t>(error.code()));
  body.insert(body.end(), text.begin(), text.end());
  return body;
}

Error decode_error(ByteView body) {
  if (body.empty()) return {Errc::internal, "the other node gave an error without a reason"};
  const Errc code =
      body[0] <= static_cast<std::uint8_t>(Errc::internal) ? static_cast<Errc>(body[0]) : Errc::internal;
  return {code, std::string(as_text(body.subspan(1, std::min(body.size() - 1, kErrorTextBytesMax))))};
}

}  // namespace samovar::net
