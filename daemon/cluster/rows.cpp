#include "daemon/cluster/rows.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "daemon/cluster/copies.hpp"

namespace samovar::cluster {
namespace {

constexpr std::string_view kUserColumns =
    "id, username, display_name, role, password_hash, disabled, failed, locked_until_us, created_us, "
    "last_login_us, "
    "last_login_address, revision";

User user_of(const Query& row) {
  User user;
  user.id = row.text(0);
  user.username = row.text(1);
  user.display_name = row.text(2);
  user.role = parse_role(row.text(3)).value_or(Role::viewer);
  user.password_hash = row.text(4);
  user.disabled = row.number(5) != 0;
  user.failed_logins = static_cast<unsigned>(row.number(6));
  user.locked_until = row.optional_time(7);
  user.created_at = row.time(8);
  user.last_login_at = row.optional_time(9);
  user.last_login_address = row.text(10);
  user.revision = static_cast<std::uint64_t>(row.number(11));
  return user;
}

constexpr std::string_view kSessionColumns =
    "id, secret_hash, user_id, kind, created_us, last_seen_us, expires_us, reauth_us, address, user_agent, "
    "previous_login_us, previous_login_address";

Session session_of(const Query& row) {
  Session session;
  session.id = row.text(0);
  session.secret_hash = row.bytes(1);
  session.user_id = row.text(2);
  session.kind = row.text(3) == "bearer" ? SessionKind::bearer : SessionKind::cookie;
  session.created_at = row.time(4);
  session.last_seen_at = row.time(5);
  session.expires_at = row.time(6);
  session.reauth_at = row.time(7);
  session.address = row.text(8);
  session.user_agent = row.text(9);
  session.previous_login_at = row.optional_time(10);
  session.previous_login_address = row.text(11);
  return session;
}

constexpr std::string_view kTokenColumns =
    "id, lookup, name, user_id, secret_hash, scopes, cidr, created_us, expires_us, last_used_us";

Token token_of(const Query& row) {
  Token token;
  token.id = row.text(0);
  token.lookup = row.text(1);
  token.name = row.text(2);
  token.user_id = row.text(3);
  token.secret_hash = row.bytes(4);
  token.scopes = words_of(row.text(5));
  if (!row.is_null(6)) token.cidr = row.text(6);
  token.created_at = row.time(7);
  token.expires_at = row.time(8);
  token.last_used_at = row.optional_time(9);
  return token;
}

constexpr std::string_view kNodeSelect =
    "SELECT n.id, n.name, n.hostname, n.model, n.version, n.arch, n.joined_us, n.revision, coalesce(m.state, "
    "'active'), coalesce(m.addresses, ''), coalesce(m.sign_public, x''), coalesce(m.box_public, x''), "
    "coalesce(m.disk_bytes, 0), coalesce(m.level, 1), m.removed_us FROM nodes n LEFT JOIN members m ON "
    "m.node_id = n.id";

NodeRecord node_of(const Query& row) {
  NodeRecord node;
  node.id = row.text(0);
  node.name = row.text(1);
  node.hostname = row.text(2);
  node.model = row.text(3);
  node.version = row.text(4);
  node.arch = row.text(5);
  node.joined_at = row.time(6);
  node.revision = static_cast<std::uint64_t>(row.number(7));
  const std::string state = row.text(8);
  for (const NodeState known : {NodeState::active, NodeState::draining, NodeState::removed})
    if (state == to_string(known)) node.state = known;
  node.addresses = words_of(row.text(9));
  node.sign_public = row.bytes(10);
  node.box_public = row.bytes(11);
  node.disk_bytes = static_cast<std::uint64_t>(row.number(12));
  node.level = static_cast<unsigned>(row.number(13));
  node.removed_at = row.optional_time(14);
  return node;
}

std::int64_t page_limit(const PageQuery& page) { return std::clamp(page.limit, 1u, kPageMax); }

// One row more than asked for tells whether there is a next page.
template <class T, class Of, class Cursor>
Page<T> read_page(Query& query, const PageQuery& page, Of of, Cursor cursor) {
  Page<T> out;
  const auto limit = static_cast<std::size_t>(page_limit(page));
  while (query.next()) {
    if (out.items.size() == limit) {
      out.next_cursor = cursor(out.items.back());
      break;
    }
    out.items.push_back(of(query));
  }
  return out;
}

template <class T, class Of>
std::optional<T> read_one(Query& query, Of of) {
  if (!query.next()) return std::nullopt;
  return of(query);
}

}  // namespace

std::string lower_ascii(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

std::optional<ClusterInfo> read_cluster(Db& db) {
  Query row(db, "SELECT id, name, time_zone, created_us, revision FROM cluster");
  if (!row.next()) return std::nullopt;
  return ClusterInfo{row.text(0), row.text(1), row.text(2), row.time(3),
                     static_cast<std::uint64_t>(row.number(4))};
}

std::vector<NodeRecord> read_nodes(Db& db) {
  std::vector<NodeRecord> nodes;
  for (Query row(db, fmt::format("{} ORDER BY m.state IS 'removed', n.name, n.id", kNodeSelect)); row.next();)
    nodes.push_back(node_of(row));
  return nodes;
}

std::optional<NodeRecord> find_node(Db& db, std::string_view id) {
  Query query(db, fmt::format("{} WHERE n.id = ?", kNodeSelect), id);
  return read_one<NodeRecord>(query, node_of);
}

std::optional<User> find_user(Db& db, std::string_view id) {
  Query query(db, fmt::format("SELECT {} FROM users WHERE id = ?", kUserColumns), id);
  return read_one<User>(query, user_of);
}

std::optional<User> find_user_by_name(Db& db, std::string_view lower_name) {
  Query query(db, fmt::format("SELECT {} FROM users WHERE username = ?", kUserColumns), lower_name);
  return read_one<User>(query, user_of);
}

Page<User> list_users(Db& db, const PageQuery& page) {
  Query query(db,
              fmt::format("SELECT {} FROM users WHERE username > ? ORDER BY username LIMIT ?", kUserColumns),
              page.cursor, page_limit(page) + 1);
  return read_page<User>(query, page, user_of, [](const User& user) { return user.username; });
}

std::optional<Session> find_session(Db& db, std::string_view id) {
  Query query(db, fmt::format("SELECT {} FROM sessions WHERE id = ?", kSessionColumns), id);
  return read_one<Session>(query, session_of);
}

std::optional<Session> find_session_by_hash(Db& db, ByteView hash) {
  Query query(db, fmt::format("SELECT {} FROM sessions WHERE secret_hash = ?", kSessionColumns), hash);
  return read_one<Session>(query, session_of);
}

// Ids are ULIDs: their order is that of their making.
Page<Session> list_sessions(Db& db, const std::optional<std::string>& user_id, WallTime now,
                            const PageQuery& page) {
  Query query(
      db,
      fmt::format("SELECT {} FROM sessions WHERE (?1 IS NULL OR user_id = ?1) AND expires_us > ?2 AND "
                  "(?3 = '' OR id < ?3) ORDER BY id DESC LIMIT ?4",
                  kSessionColumns),
      user_id, now, page.cursor, page_limit(page) + 1);
  return read_page<Session>(query, page, session_of, [](const Session& session) { return session.id; });
}

std::optional<Token> find_token(Db& db, std::string_view id) {
  Query query(db, fmt::format("SELECT {} FROM tokens WHERE id = ?", kTokenColumns), id);
  return read_one<Token>(query, token_of);
}

std::optional<Token> find_token_by_lookup(Db& db, std::string_view lookup) {
  Query query(db, fmt::format("SELECT {} FROM tokens WHERE lookup = ?", kTokenColumns), lookup);
  return read_one<Token>(query, token_of);
}

Page<Token> list_tokens(Db& db, const std::optional<std::string>& user_id, const PageQuery& page) {
  Query query(db,
              fmt::format("SELECT {} FROM tokens WHERE (?1 IS NULL OR user_id = ?1) AND (?2 = '' OR id < ?2) "
                          "ORDER BY id DESC LIMIT ?3",
                          kTokenColumns),
              user_id, page.cursor, page_limit(page) + 1);
  return read_page<Token>(query, page, token_of, [](const Token& token) { return token.id; });
}

std::optional<Setting> find_setting(Db& db, std::string_view key) {
  Query row(db, "SELECT key, json, revision, updated_us FROM settings WHERE key = ?", key);
  if (!row.next()) return std::nullopt;
  return Setting{row.text(0), row.text(1), static_cast<std::uint64_t>(row.number(2)), row.time(3)};
}

std::optional<SavedResponse> find_response(Db& db, std::string_view user_id, std::string_view key) {
  Query row(db, "SELECT fingerprint, status, body, expires_us FROM responses WHERE user_id = ? AND key = ?",
            user_id, key);
  if (!row.next()) return std::nullopt;
  return SavedResponse{std::string(user_id), std::string(key),
                       row.bytes(0),         static_cast<unsigned>(row.number(1)),
                       row.text(2),          row.time(3)};
}

LoginCounter find_login_counter(Db& db, const User& user, ByteView device_hash) {
  const auto read = [](const Query& row, bool device) {
    return LoginCounter{device, static_cast<unsigned>(row.number(0)), row.time(1), row.optional_time(2)};
  };
  if (!device_hash.empty()) {
    Query row(db, "SELECT failed, failed_us, locked_until_us FROM devices WHERE user_id = ? AND hash = ?",
              user.id, device_hash);
    if (row.next()) return read(row, true);
  }
  Query row(db, "SELECT failed, failed_us, locked_until_us FROM users WHERE id = ?", user.id);
  if (row.next()) return read(row, false);
  return {};
}

Duration login_delay(const LoginCounter& counter, WallTime now) {
  if (counter.locked_until) return std::max<Duration>(*counter.locked_until - now, Duration::zero());
  if (counter.failed <= kLoginFailuresFree) return Duration::zero();
  const unsigned doublings = std::min(counter.failed - kLoginFailuresFree, kLoginFailuresMax);
  const WallTime next = counter.failed_at + std::chrono::seconds(std::int64_t{1} << doublings);
  return std::max<Duration>(next - now, Duration::zero());
}

}  // namespace samovar::cluster
