#include "daemon/cluster/audit.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "daemon/cluster/context.hpp"

namespace samovar::cluster {
namespace {

constexpr std::size_t kObjectBytesMax = 256;
constexpr std::string_view kColumns =
    "seq, log_index, time_us, actor_id, actor, role, auth, address, action, object, result, details, prev, "
    "hash";

security::Hash256 to_hash(const Bytes& bytes) {
  security::Hash256 hash{};
  std::copy_n(bytes.begin(), std::min(bytes.size(), hash.size()), hash.begin());
  return hash;
}

struct Head {
  std::uint64_t seq = 0;
  security::Hash256 hash = security::kAuditGenesis;
};

Head read_head(Db& db) {
  Query last(db, "SELECT seq, hash FROM audit ORDER BY seq DESC LIMIT 1");
  if (!last.next()) return {};
  return {static_cast<std::uint64_t>(last.number(0)), to_hash(last.bytes(1))};
}

AuditEntry entry_of(const Query& row) {
  AuditEntry entry;
  entry.seq = static_cast<std::uint64_t>(row.number(0));
  entry.index = static_cast<std::uint64_t>(row.number(1));
  entry.time = row.time(2);
  entry.actor_id = row.text(3);
  entry.actor = row.text(4);
  entry.role = row.text(5);
  entry.auth = row.text(6);
  entry.address = row.text(7);
  entry.action = row.text(8);
  entry.object = row.text(9);
  entry.result = row.text(10);
  entry.details = row.text(11);
  entry.prev = row.bytes(12);
  entry.hash = row.bytes(13);
  return entry;
}

security::AuditEntry chained(const AuditEntry& entry) {
  security::AuditEntry out;
  out.seq = entry.seq;
  out.raft_index = entry.index;
  out.time_us = entry.time.time_since_epoch().count();
  out.actor = entry.actor;
  out.role = entry.role;
  out.auth = entry.auth;
  out.address = entry.address;
  out.action = entry.action;
  out.object = entry.object;
  out.result = entry.result;
  out.details = entry.details;
  return out;
}

// % and _ mean themselves.
std::string like_pattern(std::string_view text, bool anywhere) {
  std::string pattern = anywhere ? "%" : "";
  for (const char c : text) {
    if (c == '%' || c == '_' || c == '\\') pattern += '\\';
    pattern += c;
  }
  return pattern + "%";
}

}  // namespace

std::uint64_t Context::audit(std::string_view action, std::string_view object, const Fields& details,
                             std::string_view result) {
  const Head head = read_head(db);
  AuditEntry entry;
  entry.seq = head.seq + 1;
  entry.index = index;
  entry.time = now;
  entry.actor_id = actor.user_id;
  entry.actor = actor.username;
  entry.role = actor.role ? to_string(*actor.role) : "";
  entry.auth = to_string(actor.auth);
  entry.address = actor.address;
  entry.action = action;
  entry.object = object.substr(0, kObjectBytesMax);
  entry.result = result;
  // The id belongs to what the chain covers, and the chain covers the details.
  Fields all = details;
  if (!actor.user_id.empty()) all.set("actor_id", actor.user_id);
  entry.details = all.to_json();
  const auto hash = security::chain_hash(head.hash, security::canonical(chained(entry)));
  run(db, "INSERT INTO audit VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", entry.seq, entry.index,
      entry.time, entry.actor_id, entry.actor, entry.role, entry.auth, entry.address, entry.action,
      entry.object, entry.result, entry.details, ByteView(head.hash), ByteView(hash));
  changes.push_back({Change::Kind::audit, {}, entry.seq});
  return entry.seq;
}

void Context::changed(Change::Kind kind, std::string_view id) {
  changes.push_back({kind, std::string(id), 0});
}

AuditPage query_audit(Db& db, const AuditQuery& query) {
  const std::int64_t limit = std::clamp(query.limit, 1u, kPageMax);
  const bool prefix = !query.action.empty() && (query.action.back() == '.' || query.action.back() == '*');
  std::string action = query.action;
  if (!action.empty() && action.back() == '*') action.pop_back();
  Query rows(
      db,
      fmt::format(
          "SELECT {} FROM audit WHERE (?1 IS NULL OR seq < ?1) AND (?2 = '' OR actor = ?2 OR "
          "actor_id = ?2) AND (?3 = '' OR action = ?3) AND (?4 = '' OR action LIKE ?4 ESCAPE '\\') AND "
          "(?5 = '' OR object LIKE ?5 ESCAPE '\\' OR details LIKE ?5 ESCAPE '\\' OR actor LIKE ?5 "
          "ESCAPE '\\' OR address LIKE ?5 ESCAPE '\\') AND (?6 IS NULL OR time_us >= ?6) AND "
          "(?7 IS NULL OR time_us < ?7) ORDER BY seq DESC LIMIT ?8",
          kColumns),
      query.before_seq, query.actor, prefix ? "" : action, prefix ? like_pattern(action, false) : "",
      query.text.empty() ? "" : like_pattern(query.text, true), query.from, query.to, limit + 1);
  AuditPage page;
  while (rows.next()) {
    if (page.items.size() == static_cast<std::size_t>(limit)) {
      page.next_before_seq = page.items.back().seq;
      break;
    }
    page.items.push_back(entry_of(rows));
  }
  return page;
}

bool verify_some(Db& db, security::ChainVerifier& verifier, std::uint64_t& next_seq, unsigned count) {
  Query rows(db, fmt::format("SELECT {} FROM audit WHERE seq >= ? ORDER BY seq LIMIT ?", kColumns), next_seq,
             static_cast<std::int64_t>(count));
  unsigned seen = 0;
  for (; rows.next(); ++seen) {
    AuditEntry entry = entry_of(rows);
    // The column beside the chain must say what the chained details say.
    const bool actor_agrees =
        entry.actor_id.empty() ||
        entry.details.find("\"actor_id\":\"" + entry.actor_id + "\"") != std::string::npos;
    if (!actor_agrees) entry.details.clear();  // then it does not verify
    if (!verifier.add(chained(entry), to_hash(entry.hash))) return false;
    next_seq = entry.seq + 1;
  }
  return seen == count;
}

AuditVerdict finish_verify(Db& db, security::ChainVerifier& verifier) {
  const Head head = read_head(db);
  const auto report = verifier.finish(head.seq, head.hash);
  return {report.ok, report.entries, Bytes(report.head.begin(), report.head.end()), report.first_bad_seq,
          report.message};
}

}  // namespace samovar::cluster
