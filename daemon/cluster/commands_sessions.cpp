// Sessions after login.
#include "daemon/cluster/context.hpp"
#include "daemon/cluster/rows.hpp"

namespace samovar::cluster {
namespace {

Result<Session> need_session(Context& context) {
  SAMOVAR_TRY(const std::string id, context.body.text("session_id", 64, 1));
  auto session = find_session(context.db, id);
  if (!session || session->expires_at <= context.now)
    return Error{Errc::not_found, "there is no such session"};
  return *std::move(session);
}

}  // namespace

void end_sessions_of(Context& context, const std::string& user_id, const std::string& keep_session_id) {
  run(context.db, "DELETE FROM sessions WHERE user_id = ? AND id <> ?", user_id, keep_session_id);
  context.changed(Change::Kind::sessions);
}

Result<Fields> apply_session_reauth(Context& context) {
  SAMOVAR_TRY(const Session session, need_session(context));
  run(context.db, "UPDATE sessions SET reauth_us = ?, last_seen_us = ? WHERE id = ?", context.now,
      context.now, session.id);
  context.audit("session.reauth", session.user_id, Fields().set("session", session.id));
  context.changed(Change::Kind::sessions, session.id);
  return Fields().set("session_id", session.id);
}

Result<Fields> apply_session_end(Context& context) {
  SAMOVAR_TRY(const Session session, need_session(context));
  run(context.db, "DELETE FROM sessions WHERE id = ?", session.id);
  context.audit("session.end", session.user_id, Fields().set("session", session.id));
  context.changed(Change::Kind::sessions, session.id);
  return Fields();
}

Result<Fields> apply_session_touch(Context& context) {
  SAMOVAR_TRY(const Session session, need_session(context));
  // Two nodes may both think that it is time: the later one changes nothing.
  if (context.now - session.last_seen_at >= kTouchInterval)
    run(context.db, "UPDATE sessions SET last_seen_us = ? WHERE id = ?", context.now, session.id);
  return Fields();
}

}  // namespace samovar::cluster
