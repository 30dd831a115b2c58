// The bytes of the join messages: what join.hpp says, as fields. Every decoder takes exactly what its encoder
// writes: no spare bytes, no overlong text, nothing that could steer a console.
//
// Threading: values. Format: docs/formats/join.md
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "security/join.hpp"

namespace samovar::security {

inline constexpr std::uint16_t kJoinVersion = 1;
inline constexpr std::size_t kJoinBytesMax = 64 * 1024;  // of a message, as the line has it
inline constexpr std::size_t kJoinMembersBytesMax = 32 * 1024;
inline constexpr std::size_t kJoinKeyringBytesMax = 16 * 1024;
using JoinKey = std::array<std::uint8_t, 32>;

enum class JoinKind : std::uint8_t {
  j1 = 1,
  j2 = 2,
  j3 = 3,
  j4 = 4,
  j5 = 5,
  j6 = 6,
  j7 = 7,
  words = 8,     // a proof, either way
  who = 16,      // anybody → unclaimed node: who is there?
  here = 17,     // the answer: its beacon, signed
  refusal = 18,  // either way; the line ends
};
// Of the first byte; nothing else is looked at.
std::optional<JoinKind> join_kind(ByteView message);

struct JoinOffer {  // J1
  JoinCluster cluster;
  JoinKey ephemeral{};
  JoinKey commitment{};
};
Result<Bytes> encode_j1(const JoinOffer& offer);
Result<JoinOffer> decode_j1(ByteView j1);

struct JoinRequest {  // J2
  Bytes csr;
  JoinKey sign_public{};
  JoinKey box_public{};
  JoinFacts facts;
  JoinKey ephemeral{};
  JoinKey nonce{};
  Bytes signature;
};
// What of a node's facts fits into J2: texts are cut or left out, addresses above the limit are left out. A
// node with a strange host name must still be able to join.
JoinFacts fitting(JoinFacts facts);
// Without the signature, which with_signature adds.
Result<Bytes> encode_j2_body(const JoinRequest& request);
Bytes with_signature(Bytes body, ByteView signature);
struct DecodedJ2 {
  JoinRequest request;
  ByteView body;  // of the message: what the signature is about
};
Result<DecodedJ2> decode_j2(ByteView j2);

// J3, J5, J7 and the proofs: a header and a fixed number of bytes. J4 and J6: a header and a sealed rest.
Bytes encode_fixed(JoinKind kind, ByteView content);
Result<ByteView> decode_fixed(JoinKind kind, ByteView message, std::size_t size);
Result<ByteView> decode_rest(JoinKind kind, ByteView message);

// The plain content of J4 and J6, before sealing.
Result<Bytes> encode_grant(const JoinGrant& grant);
Result<JoinGrant> decode_grant(ByteView plain);
struct JoinKeys {
  std::uint32_t generation = 1;
  bool key_file = false;
  Bytes keyring;
  Bytes sealed_cmk;  // to the node's X25519 key
};
Result<Bytes> encode_keys(const JoinKeys& keys);
Result<JoinKeys> decode_keys(ByteView plain);

// Why one side ends it. The words are ours on each side: a stranger's text is never shown.
enum class JoinRefusal : std::uint8_t {
  busy = 1,          // another handshake is under way
  code_shown = 2,    // a code of an earlier one is on the console
  too_many = 3,      // too many attempts in a short time
  claimed = 4,       // it is a member of a cluster, or was just set up as its own
  version = 5,       // a protocol the other side does not speak
  wrong_words = 6,   // or none are expected here
  failed = 7,        // a check failed
  cancelled = 8,     // an administrator ended it, or a limit did
  not_admitted = 9,  // the cluster did not take the node
  unknown = 10,      // a J6 for a handshake this node knows nothing of
};
struct RefusalMessage {
  JoinRefusal reason = JoinRefusal::failed;
  std::uint16_t retry_seconds = 0;  // 0: not by waiting
};
Bytes encode_refusal(const RefusalMessage& refusal);
Result<RefusalMessage> decode_refusal(ByteView message);
// As the member's administrator reads it about the node.
std::string describe(const RefusalMessage& refusal);

Bytes encode_who();
Result<void> decode_who(ByteView message);
Bytes encode_here(ByteView beacon);
Result<ByteView> decode_here(ByteView message);

// Valid UTF-8 of at most `bytes_max`, without control characters and without marks that turn the direction of
// writing: what a console may show.
bool is_plain_text(std::string_view text, std::size_t bytes_max) noexcept;

}  // namespace samovar::security
