// What both sides of a join compute from the three first messages. Inside security/ only.
//
// Threading: values. Format: docs/formats/join.md
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "security/hash.hpp"
#include "security/join_wire.hpp"
#include "security/secret_bytes.hpp"

namespace samovar::security {

inline constexpr std::size_t kJoinSecretBytes = 32;

JoinKey join_public(const SecretBytes& ephemeral);
// BLAKE2b-256("samovar-c1" ‖ nonce).
JoinKey join_commitment(ByteView nonce);
// What the TLS key signs in J2: "samovar-j2" ‖ BLAKE2b-512(J1 ‖ the body).
Bytes j2_message(ByteView j1, ByteView body);

class JoinTranscript {
 public:
  // Errc::denied for an ephemeral key that gives no secret.
  static Result<JoinTranscript> make(ByteView j1, ByteView j2, ByteView j3, const SecretBytes& own_ephemeral,
                                     const JoinKey& other_ephemeral);
  std::uint32_t code() const;  // below 10^6
  Bytes seal_message(JoinKind kind, ByteView plain) const;
  Result<SecretBytes> open_message(JoinKind kind, ByteView message) const;
  Bytes ok_message() const;  // T ‖ "ok": what the Ed25519 key signs
  Hash256 receipt() const;   // J7's content
  Hash256 words_proof(const SecretBytes& words_key, std::string_view side) const;

 private:
  Bytes with_transcript(std::string_view label) const;
  Bytes hash_;       // T, 64 bytes
  SecretBytes key_;  // K
};

inline constexpr std::string_view kNodeSide = "samovar-words-node";
inline constexpr std::string_view kMemberSide = "samovar-words-member";

}  // namespace samovar::security
