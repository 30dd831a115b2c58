// The audit log's hash chain: h(n) = BLAKE2b-256(h(n-1) ‖ canonical bytes of entry n), h(0) = zeros.
//
// Threading: any thread.
// Format:    docs/formats/audit.md
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "security/hash.hpp"

namespace samovar::security {

inline constexpr std::size_t kAuditFieldBytesMax = 16 * 1024;
inline constexpr Hash256 kAuditGenesis{};

struct AuditEntry {
  std::uint64_t seq = 0;  // 1, 2, 3 …
  std::uint64_t raft_index = 0;
  std::int64_t time_us = 0;  // cluster time, Unix epoch
  std::string actor;         // user name, or "node:<id>", "system"
  std::string role;
  std::string auth;     // session, token, setup, none …
  std::string address;  // source address
  std::string action;   // "user.create"
  std::string object;   // "usr_01J…"
  std::string result;   // "ok" or the error's code
  std::string details;  // JSON text, never secrets or row values
  friend bool operator==(const AuditEntry&, const AuditEntry&) = default;
};

// Each field with its length: no two entries share their bytes. Writers keep every field within
// kAuditFieldBytesMax; the decoder refuses longer ones.
Bytes canonical(const AuditEntry& entry);
Result<AuditEntry> decode_audit_entry(ByteView bytes);

Hash256 chain_hash(const Hash256& prev, ByteView canonical_bytes);

struct ChainReport {
  bool ok = true;
  std::uint64_t entries = 0;  // good ones
  Hash256 head = kAuditGenesis;
  std::optional<std::uint64_t> first_bad_seq;
  std::string message;
};

// Feed the entries in the order they are stored, then finish. After the first bad one the rest is ignored.
class ChainVerifier {
 public:
  // From the start of the log, or from a known good (seq, hash) when older entries were pruned.
  ChainVerifier() = default;
  ChainVerifier(std::uint64_t last_good_seq, const Hash256& last_good_hash)
      : next_seq_(last_good_seq + 1), head_(last_good_hash) {}

  bool add(const AuditEntry& entry, const Hash256& stored_hash);
  // A tail cut off is seen only against a head kept elsewhere.
  ChainReport finish();
  ChainReport finish(std::uint64_t expected_seq, const Hash256& expected_head);

 private:
  bool fail(std::uint64_t seq, std::string message);
  std::uint64_t next_seq_ = 1;
  std::uint64_t entries_ = 0;
  Hash256 head_ = kAuditGenesis;
  std::optional<std::uint64_t> first_bad_seq_;
  std::string message_;
};

}  // namespace samovar::security
