// The beacon: who is on this switch. A hint, never trust: a beacon proves that its sender has the TLS key its
// node id is made of, nothing else, and not even that it was sent now.
//
// At most 512 bytes. The same bytes are sent until something changes, so that a receiver verifies once and
// compares afterwards. A member's beacon names its cluster by a 64-bit tag from which strangers learn
// nothing.
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
  bool words = false;  // unclaimed, and words were typed there: a member with an invitation may try
  bool ask = false;    // sent to one address: the receiver answers with its own
  std::uint64_t cluster_tag = 0;  // of a member
  std::uint16_t join_port = 0;    // where its mesh, or its door, listens
  std::uint16_t web_port = 0;
  std::string model;     // "Jetson TX1"; an unclaimed node's only
  std::string hostname;  // an unclaimed node's only: people look for it
  std::string version;
  std::uint64_t boot = 0;      // random, per start: two senders with one id are told apart by it
  std::uint64_t sequence = 0;  // rises with each change within a boot
};

// node_id and sign_public are the identity's; texts that are too long are cut.
Result<Bytes> encode_beacon(const Beacon& beacon, const security::NodeIdentity& identity);
// Errc::invalid with the reason, Errc::unsupported for a later format; checks the signature last, it is the
// costly part.
Result<Beacon> decode_beacon(ByteView datagram);
// The same in two steps, for those who have seen these bytes before.
Result<Beacon> read_beacon(ByteView datagram);
bool beacon_signature_fits(ByteView datagram);  // after read_beacon

std::uint64_t cluster_tag(std::string_view cluster_id);

}  // namespace samovar::discovery
