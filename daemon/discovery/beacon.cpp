#include "daemon/discovery/beacon.hpp"

#include <algorithm>

#include "security/ecdsa.hpp"
#include "security/hash.hpp"
#include "security/join_wire.hpp"
#include "security/wire.hpp"

namespace samovar::discovery {
namespace {

using security::WireReader;
using security::WireWriter;

constexpr std::string_view kMagic = "SMVB";
constexpr std::uint8_t kVersion = 1;
constexpr std::string_view kSigned = "samovar-beacon-v1";
constexpr std::size_t kPublicKeyBytes = 91;  // P-256, SubjectPublicKeyInfo, DER
constexpr std::size_t kTextBytesMax = 64;
constexpr std::size_t kVersionTextBytesMax = 32;

enum Flag : std::uint8_t { kMember = 1, kWords = 2, kAsk = 4, kFlags = 7 };

Error no_beacon(const char* why) { return Error{Errc::invalid, std::string("no beacon: ") + why}; }

// Cut at a whole character: what is left must still be UTF-8.
std::string_view cut(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  while (bytes_max > 0 && (static_cast<std::uint8_t>(text[bytes_max]) & 0xc0U) == 0x80U) --bytes_max;
  return text.substr(0, bytes_max);
}

void write_text(WireWriter& writer, std::string_view text, std::size_t bytes_max) {
  text = cut(text, bytes_max);
  if (!security::is_plain_text(text, bytes_max)) text = {};
  writer.number(static_cast<std::uint8_t>(text.size()));
  writer.raw(as_bytes(text));
}

bool read_text(WireReader& reader, std::size_t bytes_max, std::string& text) {
  const std::size_t size = reader.number<std::uint8_t>();
  text = std::string(as_text(reader.raw(size)));
  return security::is_plain_text(text, bytes_max);
}

Bytes signed_message(ByteView body) {
  Bytes out;
  WireWriter writer(out);
  writer.raw(as_bytes(kSigned));
  writer.raw(body);
  return out;
}

// The signature is the last field: its length in one byte, then it.
struct Parts {
  ByteView body;
  ByteView public_key;
  ByteView signature;
};

Result<Parts> take_apart(ByteView datagram, Beacon& beacon) {
  if (datagram.size() > kBeaconBytesMax) return no_beacon("too long");
  WireReader reader(datagram);
  if (as_text(reader.raw(kMagic.size())) != kMagic) return no_beacon("of something else");
  const auto version = reader.number<std::uint8_t>();
  if (!reader.ok()) return no_beacon("too short");
  if (version != kVersion) return Error{Errc::unsupported, "a beacon of another version of Samovar"};
  const auto flags = reader.number<std::uint8_t>();
  beacon.member = (flags & kMember) != 0;
  beacon.words = (flags & kWords) != 0;
  beacon.ask = (flags & kAsk) != 0;
  beacon.join_port = reader.number<std::uint16_t>();
  beacon.web_port = reader.number<std::uint16_t>();
  beacon.cluster_tag = reader.number<std::uint64_t>();
  beacon.boot = reader.number<std::uint64_t>();
  beacon.sequence = reader.number<std::uint64_t>();
  Parts parts;
  parts.public_key = reader.raw(kPublicKeyBytes);
  beacon.sign_public = reader.array<std::array<std::uint8_t, 32>>();
  const bool texts = read_text(reader, kTextBytesMax, beacon.model) &&
                     read_text(reader, kTextBytesMax, beacon.hostname) &&
                     read_text(reader, kVersionTextBytesMax, beacon.version);
  parts.body = datagram.first(datagram.size() - reader.rest().size());
  const std::size_t signature_bytes = reader.number<std::uint8_t>();
  parts.signature = reader.raw(signature_bytes);
  if (!reader.at_end() || !texts || (flags & ~unsigned{kFlags}) != 0) return no_beacon("malformed");
  if (beacon.member ? (beacon.words || !beacon.model.empty() || !beacon.hostname.empty())
                    : beacon.cluster_tag != 0)
    return no_beacon("it contradicts itself");
  if (beacon.join_port == 0) return no_beacon("it listens nowhere");
  return parts;
}

}  // namespace

Result<Bytes> encode_beacon(const Beacon& beacon, const security::NodeIdentity& identity) {
  const Bytes public_key = identity.tls_key.public_key();
  if (public_key.size() != kPublicKeyBytes) return Error{Errc::internal, "the TLS key has an unknown form"};
  Bytes out;
  WireWriter writer(out);
  writer.raw(as_bytes(kMagic));
  writer.number(kVersion);
  writer.number(static_cast<std::uint8_t>((beacon.member ? kMember : 0) |
                                          (beacon.words && !beacon.member ? kWords : 0) |
                                          (beacon.ask ? kAsk : 0)));
  writer.number(beacon.join_port);
  writer.number(beacon.web_port);
  writer.number(beacon.member ? beacon.cluster_tag : std::uint64_t{0});
  writer.number(beacon.boot);
  writer.number(beacon.sequence);
  writer.raw(public_key);
  writer.raw(identity.sign_public);
  write_text(writer, beacon.member ? "" : beacon.model, kTextBytesMax);
  write_text(writer, beacon.member ? "" : beacon.hostname, kTextBytesMax);
  write_text(writer, beacon.version, kVersionTextBytesMax);
  SAMOVAR_TRY(const Bytes signature, security::sign_p256(identity.tls_key, signed_message(out)));
  writer.number(static_cast<std::uint8_t>(signature.size()));
  writer.raw(signature);
  return out;
}

Result<Beacon> read_beacon(ByteView datagram) {
  Beacon beacon;
  SAMOVAR_TRY(const Parts parts, take_apart(datagram, beacon));
  beacon.node_id = security::node_id_of(parts.public_key);
  return beacon;
}

bool beacon_signature_fits(ByteView datagram) {
  Beacon beacon;
  const auto parts = take_apart(datagram, beacon);
  return parts && security::verify_p256(parts->public_key, signed_message(parts->body), parts->signature);
}

Result<Beacon> decode_beacon(ByteView datagram) {
  SAMOVAR_TRY(Beacon beacon, read_beacon(datagram));
  if (!beacon_signature_fits(datagram)) return no_beacon("its signature does not fit");
  return beacon;
}

std::uint64_t cluster_tag(std::string_view cluster_id) {
  const auto hash = security::blake2b_256(as_bytes("samovar-cluster-tag:" + std::string(cluster_id)));
  return WireReader(hash).number<std::uint64_t>();
}

}  // namespace samovar::discovery
