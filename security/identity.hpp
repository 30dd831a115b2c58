// Who this node is: a P-256 key for TLS, an Ed25519 key to sign, an X25519 key to receive secrets.
//
// All three are in one file, <dir>/node.key (0600), written whole or not at all. <dir>/node.id holds
// the public id; when it is there and node.key is not, a used identity was lost, and that is an error:
// an identity is never made anew in silence.
//
// Threading: load at start-up (blocks on the disk); a NodeIdentity is constant afterwards.
// Format:    docs/formats/identity.md
#pragma once
#include <array>
#include <string>
#include <string_view>

#include "base/bytes.hpp"
#include "base/disk.hpp"
#include "base/result.hpp"
#include "security/certificates.hpp"
#include "security/secret_bytes.hpp"

namespace samovar::security {

struct NodeIdentity {
  std::string node_id;
  PrivateKey tls_key;
  SecretBytes sign_key;  // Ed25519 secret key, 64 bytes
  std::array<std::uint8_t, 32> sign_public{};
  SecretBytes box_key;  // X25519 secret key, 32 bytes
  std::array<std::uint8_t, 32> box_public{};
};

// Errc::corrupt for a damaged or lost identity, with the remedy; Errc::not_found when there never was one.
Result<NodeIdentity> load_identity(Disk& disk, const std::string& dir);
Result<NodeIdentity> load_or_create_identity(Disk& disk, const std::string& dir);

Result<NodeIdentity> make_identity();
SecretBytes encode_identity(const NodeIdentity& identity);
Result<NodeIdentity> decode_identity(ByteView bytes);

// 34 characters: base32 of BLAKE2b-160 of the TLS public key, then two check characters.
std::string node_id_of(ByteView tls_public_key);
// Forgives case and dashes; Errc::invalid when the check characters differ, i.e. for a slip of the pen.
Result<std::string> parse_node_id(std::string_view typed);
// "K7Q2-M4XP": the first eight characters, for people.
std::string short_node_id(std::string_view node_id);

// Ed25519.
std::array<std::uint8_t, 64> sign(const NodeIdentity& identity, ByteView message);
bool verify_signature(ByteView sign_public, ByteView message, ByteView signature);

}  // namespace samovar::security
