// How a node becomes a member: both sides of the handshake, without any I/O.
//
//   J1 member → node   cluster id and name, CA certificate, ephemeral key, commitment to a nonce
//   J2 node → member   certificate request, its three public keys, ephemeral key, nonce, facts, signature
//   J3 member → node   the nonce that was committed to; now both have the transcript T
//      the node shows six digits made of T on its console; a person types them at the member
//   J4 member → node   sealed under a key of T: the node's certificate, the members
//   J5 node → member   signature over T: the node has it all and will start as a member
//      the member commits the row: from here on the cluster knows the node
//   J6 member → node   sealed likewise: it is committed; the keyring and the master key
//   J7 node → member   all of it is on the node's disk
//
// The commitment makes the first one to fix its nonce do so blind: a man in the middle has one guess in a
// million per attempt. What limits the attempts is in daemon/join_guest and daemon/join_host. No secret of
// the cluster leaves it before the row with its audit entry is committed.
//
// With words (join_words.hpp) both sides prove after J3 that they know them, the node first, and nobody types
// a code.
//
// Threading: values. Ownership: a JoinNode borrows the identity, which outlives it.
// Format:    docs/formats/join.md
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "security/certificates.hpp"
#include "security/identity.hpp"
#include "security/secret_bytes.hpp"

namespace samovar::security {

// How the two sides learn that nobody sits between them.
enum class JoinForm : std::uint8_t { code = 0, words = 1 };

struct JoinCluster {  // what the member offers
  std::string cluster_id;
  std::string cluster_name;
  std::string member_id;  // who dials
  Certificate ca;
  std::string version;
  JoinForm form = JoinForm::code;
};

struct JoinFacts {  // what the node says of itself
  std::string hostname;
  std::string model;
  std::string arch;
  std::string version;
  std::uint64_t memory_bytes = 0;
  std::uint64_t disk_bytes = 0;
  std::vector<std::string> addresses;  // where its mesh will listen
  std::int64_t clock_us = 0;           // its wall clock, for the doctor
};

struct JoinCandidate {  // what the member learns in J2, checked
  std::string node_id;
  Bytes tls_public_key;
  std::array<std::uint8_t, 32> sign_public{};
  std::array<std::uint8_t, 32> box_public{};
  JoinFacts facts;
};

struct JoinGrant {          // J4 and J6
  Certificate certificate;  // the node's
  Certificate ca;
  std::string cluster_id;
  Bytes members;  // the caller's own encoding: who they are and where
  std::uint32_t key_generation = 1;
  Bytes keyring;          // encoded; how it unlocks is the same on every node
  SecretBytes cmk;        // the master key
  bool key_file = false;  // the node makes itself a key file of its own
};

// What one side draws at the beginning. Given from outside only where answers must be known.
struct JoinSecrets {
  SecretBytes ephemeral;  // X25519, 32 bytes
  SecretBytes nonce;      // 32 bytes
  static JoinSecrets random();
};

// The dialling member.
class JoinMember {
 public:
  // Errc::invalid when the cluster's own fields do not fit a message.
  static Result<JoinMember> begin(JoinCluster cluster, JoinSecrets secrets = JoinSecrets::random());
  const Bytes& j1() const;
  // Errc::denied: a signature or a key does not match; Errc::unsupported: another version, in words;
  // Errc::invalid: no J2. Once.
  Result<JoinCandidate> take_j2(ByteView j2);
  // All that follow are after J2.
  Bytes j3() const;
  // Constant time. What was typed may have spaces.
  bool code_matches(std::string_view typed) const;
  bool words_proof_matches(const SecretBytes& words_key, ByteView proof) const;  // the node's
  Bytes words_proof(const SecretBytes& words_key) const;
  // Errc::invalid when certificate or members are too long for a message.
  Result<Bytes> j4(const JoinGrant& grant) const;
  Result<void> take_j5(ByteView j5) const;
  Result<Bytes> j6(const JoinGrant& grant) const;
  Result<void> take_j7(ByteView j7) const;

  JoinMember(JoinMember&&) noexcept;
  JoinMember& operator=(JoinMember&&) noexcept;
  ~JoinMember();

 private:
  struct Impl;
  explicit JoinMember(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// The node that is being added. In order: a message that comes before its turn is our caller's mistake.
class JoinNode {
 public:
  static Result<JoinNode> begin(const NodeIdentity& identity, JoinFacts facts,
                                JoinSecrets secrets = JoinSecrets::random());
  Result<JoinCluster> take_j1(ByteView j1);
  const Bytes& j2() const;
  Result<void> take_j3(ByteView j3);
  std::string code() const;  // "418 902", after J3
  Bytes words_proof(const SecretBytes& words_key) const;
  bool words_proof_matches(const SecretBytes& words_key, ByteView proof) const;  // the member's
  // Checks that the certificate is for our key and from the CA of J1.
  Result<void> take_j4(ByteView j4);
  Bytes j5() const;
  // The whole grant. After an error another J6 may be taken: the member tries again over a new line.
  Result<JoinGrant> take_j6(ByteView j6) const;
  Bytes j7() const;

  JoinNode(JoinNode&&) noexcept;
  JoinNode& operator=(JoinNode&&) noexcept;
  ~JoinNode();

 private:
  struct Impl;
  explicit JoinNode(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace samovar::security
