// How a node becomes a member: both sides of the handshake, without any I/O.
//
//   J1 member → node   cluster id and name, CA certificate, ephemeral key, commitment to a nonce
//   J2 node → member   certificate request, its three public keys, ephemeral key, nonce, facts, signature
//   J3 member → node   the nonce that was committed to; now both have the transcript T
//      the node shows six digits made of T on its console; a person types them at the member
//   J4 member → node   sealed under a key of T: the node's certificate, the members, the keyring
//   J5 node → member   signature over T: the node has it all and will start as a member
//
// The commitment makes the first one to fix its nonce do so blind: a man in the middle has one guess in a
// million per attempt. What limits the attempts is in daemon/join*.
//
// Threading: values. Format: docs/formats/join.md
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

struct JoinCluster {  // what the member offers
  std::string cluster_id;
  std::string cluster_name;
  std::string member_id;  // who dials
  Certificate ca;
  std::string version;
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

struct JoinGrant {          // J4's content
  Certificate certificate;  // the node's
  Certificate ca;
  std::string cluster_id;
  std::uint32_t key_generation = 1;
  Bytes keyring;          // encoded; how it unlocks is the same on every node
  SecretBytes cmk;        // the master key
  bool key_file = false;  // the node makes itself a key file of its own
  Bytes members;          // the caller's own encoding: who they are and where
};

// The dialling member.
class JoinMember {
 public:
  static Result<JoinMember> begin(JoinCluster cluster);
  Bytes j1() const;
  // Errc::denied: a signature or a key does not match; Errc::unsupported: another version, in words.
  Result<JoinCandidate> take_j2(ByteView j2);
  Bytes j3() const;
  // Constant time. What was typed may have spaces.
  bool code_matches(std::string_view typed) const;
  // Five words instead of a code (see join_words.hpp): proves both ways that both know them.
  Bytes words_proof(ByteView words_key) const;
  bool words_proof_matches(ByteView words_key, ByteView proof) const;
  Bytes j4(const JoinGrant& grant) const;
  Result<void> take_j5(ByteView j5) const;

  JoinMember(JoinMember&&) noexcept;
  JoinMember& operator=(JoinMember&&) noexcept;
  ~JoinMember();

 private:
  struct Impl;
  explicit JoinMember(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// The node that is being added.
class JoinNode {
 public:
  static Result<JoinNode> begin(const NodeIdentity& identity, JoinFacts facts);
  Result<JoinCluster> take_j1(ByteView j1);
  Result<Bytes> j2();
  Result<void> take_j3(ByteView j3);
  std::string code() const;  // "418 902", after J3
  Bytes words_proof(ByteView words_key) const;
  bool words_proof_matches(ByteView words_key, ByteView proof) const;
  // Checks that the certificate is for our key and from the CA of J1.
  Result<JoinGrant> take_j4(ByteView j4);
  Bytes j5() const;

  JoinNode(JoinNode&&) noexcept;
  JoinNode& operator=(JoinNode&&) noexcept;
  ~JoinNode();

 private:
  struct Impl;
  explicit JoinNode(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace samovar::security
