#include "security/audit_chain.hpp"

#include <array>

#include "security/wire.hpp"

namespace samovar::security {
namespace {

constexpr std::uint8_t kVersion = 1;

// The order is the format.
template <class Entry>
auto text_fields(Entry& entry) {
  return std::array{&entry.actor,  &entry.role,   &entry.auth,   &entry.address,
                    &entry.action, &entry.object, &entry.result, &entry.details};
}

}  // namespace

Bytes canonical(const AuditEntry& entry) {
  Bytes out;
  WireWriter writer(out);
  writer.number(kVersion);
  writer.number(entry.seq);
  writer.number(entry.raft_index);
  writer.number(static_cast<std::uint64_t>(entry.time_us));
  for (const std::string* field : text_fields(entry)) writer.sized(as_bytes(*field));
  return out;
}

Result<AuditEntry> decode_audit_entry(ByteView bytes) {
  WireReader reader(bytes);
  const auto version = reader.number<std::uint8_t>();
  AuditEntry entry;
  entry.seq = reader.number<std::uint64_t>();
  entry.raft_index = reader.number<std::uint64_t>();
  entry.time_us = static_cast<std::int64_t>(reader.number<std::uint64_t>());
  for (std::string* field : text_fields(entry)) *field = as_text(reader.sized(kAuditFieldBytesMax));
  if (!reader.at_end() || version != kVersion)
    return Error{Errc::corrupt, "an audit entry cannot be read: run \"samovar audit verify\""};
  return entry;
}

Hash256 chain_hash(const Hash256& prev, ByteView canonical_bytes) {
  return Hasher().update(prev).update(canonical_bytes).finish();
}

bool ChainVerifier::fail(std::uint64_t seq, std::string message) {
  first_bad_seq_ = seq;
  message_ = std::move(message);
  return false;
}

bool ChainVerifier::add(const AuditEntry& entry, const Hash256& stored_hash) {
  if (first_bad_seq_) return false;
  if (entry.seq != next_seq_)
    return fail(next_seq_, "entry " + std::to_string(next_seq_) + " is missing or out of order: entry " +
                               std::to_string(entry.seq) + " is in its place");
  const Hash256 expected = chain_hash(head_, canonical(entry));
  if (expected != stored_hash)
    return fail(entry.seq, "entry " + std::to_string(entry.seq) + " was changed after it was written");
  head_ = expected;
  ++next_seq_;
  ++entries_;
  return true;
}

ChainReport ChainVerifier::finish() {
  ChainReport report;
  report.ok = !first_bad_seq_;
  report.entries = entries_;
  report.head = head_;
  report.first_bad_seq = first_bad_seq_;
  report.message = report.ok ? std::to_string(entries_) + " entries verify" : message_;
  return report;
}

ChainReport ChainVerifier::finish(std::uint64_t expected_seq, const Hash256& expected_head) {
  const std::uint64_t last = next_seq_ - 1;
  if (!first_bad_seq_ && last < expected_seq)
    fail(next_seq_, "the log ends at entry " + std::to_string(last) + ", but entries up to " +
                        std::to_string(expected_seq) + " were written: the rest was cut off");
  if (!first_bad_seq_ && last > expected_seq)
    fail(expected_seq + 1,
         "entry " + std::to_string(expected_seq + 1) + " was added after the recorded head");
  if (!first_bad_seq_ && head_ != expected_head)
    fail(last, "the log was rewritten: its last entry " + std::to_string(last) + " is not the recorded head");
  return finish();
}

}  // namespace samovar::security
