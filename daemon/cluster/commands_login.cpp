// Logging in: success and failure are commands, so that the count survives restarts and changes of node.
#include "daemon/cluster/context.hpp"
#include "daemon/cluster/rows.hpp"

namespace samovar::cluster {
namespace {

constexpr std::size_t kHashBytes = 32;
constexpr std::size_t kAddressBytesMax = 64;
constexpr std::size_t kUserAgentBytesMax = 512;
constexpr std::int64_t kSessionsPerUserMax = 64;
constexpr std::int64_t kDevicesPerUserMax = 20;
constexpr std::chrono::hours kSessionMax{24 * 31};

Result<Bytes> read_device(const Fields& body) {
  if (!body.has("device_hash")) return Bytes();
  return body.bytes("device_hash", kHashBytes, kHashBytes);
}

void remember_device(Context& context, const std::string& user_id, const Bytes& device) {
  if (device.empty()) return;
  run(context.db,
      "INSERT INTO devices VALUES (?, ?, 0, 0, NULL, ?) ON CONFLICT (user_id, hash) DO UPDATE SET failed = "
      "0, "
      "locked_until_us = NULL, seen_us = excluded.seen_us",
      user_id, device, context.now);
  run(context.db,
      "DELETE FROM devices WHERE user_id = ?1 AND hash NOT IN (SELECT hash FROM devices WHERE user_id = ?1 "
      "ORDER BY seen_us DESC, hash LIMIT ?2)",
      user_id, kDevicesPerUserMax);
}

// The oldest make room.
void trim_sessions(Context& context, const std::string& user_id) {
  run(context.db,
      "DELETE FROM sessions WHERE user_id = ?1 AND id NOT IN (SELECT id FROM sessions WHERE user_id = ?1 "
      "ORDER BY created_us DESC, id DESC LIMIT ?2)",
      user_id, kSessionsPerUserMax);
}

Result<Session> read_session(const Context& context, const User& user) {
  const Fields& body = context.body;
  Session session;
  SAMOVAR_TRY(session.id, body.text("session_id", 64, 1));
  SAMOVAR_TRY(session.secret_hash, body.bytes("secret_hash", kHashBytes, kHashBytes));
  SAMOVAR_TRY(const std::string kind, body.text("kind", 16));
  if (kind != "cookie" && kind != "bearer") return Error{Errc::invalid, "kind: must be cookie or bearer"};
  session.kind = kind == "cookie" ? SessionKind::cookie : SessionKind::bearer;
  SAMOVAR_TRY(session.address, body.text("address", kAddressBytesMax));
  SAMOVAR_TRY(session.user_agent, body.text("user_agent", kUserAgentBytesMax));
  SAMOVAR_TRY(const std::int64_t lifetime_us,
              body.number("lifetime_us", 1, std::chrono::microseconds(kSessionMax).count()));
  session.user_id = user.id;
  session.expires_at = context.now + std::chrono::microseconds(lifetime_us);
  return session;
}

}  // namespace

Result<Fields> apply_login(Context& context) {
  SAMOVAR_TRY(const User user, need_user(context, "user_id"));
  SAMOVAR_TRY(const Bytes device, read_device(context.body));
  SAMOVAR_TRY(const Session session, read_session(context, user));
  if (user.disabled) return Error{Errc::denied, "this account is disabled: ask an administrator"};
  const LoginCounter counter = find_login_counter(context.db, user, device);
  if (counter.locked_until && *counter.locked_until > context.now)
    return Error{Errc::denied,
                 "this account is locked after too many failed log-ins: wait, or ask an administrator"};
  if (find_session(context.db, session.id) || find_session_by_hash(context.db, session.secret_hash))
    return Error{Errc::conflict, "session_id: is in use"};

  run(context.db, "INSERT INTO sessions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", session.id,
      session.secret_hash, user.id, to_string(session.kind), context.now, context.now, session.expires_at,
      context.now, session.address, session.user_agent, user.last_login_at, user.last_login_address);
  run(context.db, "UPDATE users SET last_login_us = ?, last_login_address = ? WHERE id = ?", context.now,
      session.address, user.id);
  // A known device clears its own count only: it says nothing about who tried elsewhere.
  if (!counter.device)
    run(context.db, "UPDATE users SET failed = 0, locked_until_us = NULL WHERE id = ?", user.id);
  remember_device(context, user.id, device);
  trim_sessions(context, user.id);
  context.audit("session.login", user.id, Fields().set("username", user.username).set("session", session.id));
  context.changed(Change::Kind::sessions, session.id);
  return Fields().set("session_id", session.id);
}

Result<Fields> apply_login_failed(Context& context) {
  SAMOVAR_TRY(const std::string typed, context.body.text("username", 1024));
  SAMOVAR_TRY(const Bytes device, read_device(context.body));
  const auto user = find_user_by_name(context.db, lower_ascii(typed));
  if (!user) {
    // The name is not recorded: people type passwords into that field.
    context.audit("session.login", "", Fields().set("reason", "unknown user"), "denied");
    return Fields();
  }
  LoginCounter counter = find_login_counter(context.db, *user, device);
  // A lock that has run out begins a new count.
  if (counter.locked_until && *counter.locked_until <= context.now) counter = {counter.device, 0, {}, {}};
  const unsigned failed = counter.failed + 1;
  std::optional<WallTime> locked_until = counter.locked_until;
  if (failed >= kLoginFailuresMax && !locked_until) locked_until = context.now + kLoginLock;
  if (counter.device) {
    run(context.db,
        "UPDATE devices SET failed = ?, failed_us = ?, locked_until_us = ? WHERE user_id = ? AND hash = ?",
        failed, context.now, locked_until, user->id, device);
  } else {
    run(context.db, "UPDATE users SET failed = ?, failed_us = ?, locked_until_us = ? WHERE id = ?", failed,
        context.now, locked_until, user->id);
  }
  Fields details;
  details.set("username", user->username).set("failures", static_cast<std::int64_t>(failed));
  if (locked_until && !counter.locked_until) details.set("locked", true);
  context.audit("session.login", user->id, details, "denied");
  context.changed(Change::Kind::users, user->id);
  return Fields();
}

}  // namespace samovar::cluster
