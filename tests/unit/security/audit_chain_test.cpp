#include "security/audit_chain.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "base/encoding.hpp"

namespace samovar::security {
namespace {

struct Stored {
  AuditEntry entry;
  Hash256 hash;
};

AuditEntry first_entry() {
  return {1,    42,  1700000000000000, "alice", "admin", "session", "192.168.1.5", "user.create", "usr_01J",
          "ok", "{}"};
}

std::vector<Stored> make_log(std::size_t count) {
  std::vector<Stored> log;
  Hash256 head = kAuditGenesis;
  for (std::size_t i = 1; i <= count; ++i) {
    AuditEntry entry = first_entry();
    entry.seq = i;
    entry.details = std::to_string(i);
    head = chain_hash(head, canonical(entry));
    log.push_back({entry, head});
  }
  return log;
}

ChainReport verify(const std::vector<Stored>& log) {
  ChainVerifier verifier;
  for (const Stored& s : log) verifier.add(s.entry, s.hash);
  return verifier.finish();
}

ChainReport verify_against(const std::vector<Stored>& log, const Stored& head) {
  ChainVerifier verifier;
  for (const Stored& s : log) verifier.add(s.entry, s.hash);
  return verifier.finish(head.entry.seq, head.hash);
}

TEST(AuditChain, KnownAnswer) {
  EXPECT_EQ(hex_encode(chain_hash(kAuditGenesis, canonical(first_entry()))),
            "67d18c257cfa6aa6c4289375b58d99b7175b3d03511297484ffc8a7b9291d13a");
}

TEST(AuditChain, CanonicalBytesDecodeBack) {
  EXPECT_EQ(*decode_audit_entry(canonical(first_entry())), first_entry());
  const Bytes bytes = canonical(first_entry());
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_EQ(decode_audit_entry(ByteView(bytes).first(size)).error().code(), Errc::corrupt);
  AuditEntry huge = first_entry();
  huge.details.assign(kAuditFieldBytesMax + 1, 'x');
  EXPECT_FALSE(decode_audit_entry(canonical(huge)));
}

TEST(AuditChain, FieldsDoNotRunIntoEachOther) {
  AuditEntry a = first_entry();
  AuditEntry b = first_entry();
  a.actor = "ab";
  a.role = "c";
  b.actor = "a";
  b.role = "bc";
  EXPECT_NE(canonical(a), canonical(b));
}

TEST(AuditChain, GoodLogVerifies) {
  const auto log = make_log(50);
  const ChainReport report = verify_against(log, log.back());
  EXPECT_TRUE(report.ok) << report.message;
  EXPECT_EQ(report.entries, 50U);
  EXPECT_EQ(report.head, log.back().hash);
  EXPECT_TRUE(verify({}).ok);
}

TEST(AuditChain, EveryEditedFieldIsNamed) {
  const std::vector<std::function<void(AuditEntry&)>> edits = {
      [](AuditEntry& e) { e.raft_index++; },   [](AuditEntry& e) { e.time_us--; },
      [](AuditEntry& e) { e.actor = "bob"; },  [](AuditEntry& e) { e.role = "viewer"; },
      [](AuditEntry& e) { e.auth = "token"; }, [](AuditEntry& e) { e.address.clear(); },
      [](AuditEntry& e) { e.action += "d"; },  [](AuditEntry& e) { e.object = "usr_02"; },
      [](AuditEntry& e) { e.result = "no"; },  [](AuditEntry& e) { e.details = "7 "; }};
  for (std::size_t i = 0; i < edits.size(); ++i) {
    auto log = make_log(10);
    edits[i](log[6].entry);
    const ChainReport report = verify(log);
    EXPECT_FALSE(report.ok) << i;
    EXPECT_EQ(report.first_bad_seq, 7U) << i;
    EXPECT_EQ(report.entries, 6U) << i;
  }
}

TEST(AuditChain, EditedHashIsNamed) {
  auto log = make_log(10);
  log[3].hash[31] ^= 1;
  EXPECT_EQ(verify(log).first_bad_seq, 4U);
}

TEST(AuditChain, EditWithItsHashMadeAnewIsFoundAtTheNextEntry) {
  auto log = make_log(10);
  log[3].entry.actor = "mallory";
  log[3].hash = chain_hash(log[2].hash, canonical(log[3].entry));
  EXPECT_EQ(verify(log).first_bad_seq, 5U);
}

TEST(AuditChain, GapAndReorderAreNamed) {
  auto gap = make_log(10);
  gap.erase(gap.begin() + 4);
  EXPECT_EQ(verify(gap).first_bad_seq, 5U);
  auto swapped = make_log(10);
  std::swap(swapped[2], swapped[3]);
  EXPECT_EQ(verify(swapped).first_bad_seq, 3U);
  auto headless = make_log(10);
  headless.erase(headless.begin());
  EXPECT_EQ(verify(headless).first_bad_seq, 1U);
}

TEST(AuditChain, TruncatedTailIsSeenAgainstTheHead) {
  const auto log = make_log(10);
  auto cut = log;
  cut.resize(8);
  EXPECT_TRUE(verify(cut).ok);
  const ChainReport report = verify_against(cut, log.back());
  EXPECT_FALSE(report.ok);
  EXPECT_EQ(report.first_bad_seq, 9U);
  EXPECT_EQ(verify_against({}, log.back()).first_bad_seq, 1U);
}

TEST(AuditChain, RewrittenLogIsSeenAgainstTheHead) {
  const auto log = make_log(10);
  auto other = make_log(9);
  AuditEntry forged = first_entry();
  forged.seq = 10;
  other.push_back({forged, chain_hash(other.back().hash, canonical(forged))});
  EXPECT_TRUE(verify(other).ok);
  EXPECT_FALSE(verify_against(other, log.back()).ok);
  EXPECT_EQ(verify_against(make_log(12), log.back()).first_bad_seq, 11U);
}

TEST(AuditChain, GoesOnFromAPrunedStart) {
  const auto log = make_log(10);
  ChainVerifier verifier(log[4].entry.seq, log[4].hash);
  for (std::size_t i = 5; i < log.size(); ++i) EXPECT_TRUE(verifier.add(log[i].entry, log[i].hash));
  EXPECT_TRUE(verifier.finish(10, log.back().hash).ok);
}

}  // namespace
}  // namespace samovar::security
