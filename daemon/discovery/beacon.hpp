// The beacon: who is on this switch. A hint, never trust: a beacon proves that its sender has the key it
// names, nothing else.
//
// At most 512 bytes: magic, version, node id's TLS public key hash, Ed25519 key, port, state (unclaimed, or
// member with a 64-bit tag of the cluster, made so that strangers cannot learn its name), model, a sequence
// number that rises with each start, signature.
//
// Threading: values. Format: docs/formats/beacon.md
#pragma once
#include <array>
#include <cstdint>
#include <string>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "security/identity.hpp"

namespace samovar::discovery {

inline constexpr std::size_t kBeaconBytesMax = 512;
inline constexpr const char* kGroup = "239.192.77.46";
inline constexpr std::uint16_t kPort = 7446;

struct Beacon {
  std::string node_id;
  std::array<std::uint8_t, 32> sign_public{};
  bool member = false;
  std::uint64_t cluster_tag = 0;  // of a member
  std::uint16_t join_port = 0;    // where its mesh, or its door, listens
  std::uint16_t web_port = 0;
  std::string model;     // "Jetson TX1"; an unclaimed node's only
  std::string hostname;  // an unclaimed node's only: people look for it
  std::string version;
  std::uint64_t boot = 0;  // random, per start: two senders with one id are told apart by it
  std::uint64_t sequence = 0;
};

Bytes encode_beacon(const Beacon& beacon, const security::NodeIdentity& identity);
// Errc::invalid with the reason; checks the signature last, it is the costly part.
Result<Beacon> decode_beacon(ByteView datagram);
std::uint64_t cluster_tag(std::string_view cluster_id);

}  // namespace samovar::discovery
