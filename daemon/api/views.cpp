#include "daemon/api/views.hpp"

#include "base/encoding.hpp"
#include "base/ids.hpp"
#include "base/json.hpp"
#include "security/token.hpp"

namespace samovar::api {

View time_view(const std::optional<WallTime>& time) {
  return time ? View(format_time(*time)) : View(nullptr);
}

std::string etag_of(std::uint64_t revision) { return "\"" + std::to_string(revision) + "\""; }

View user_view(const cluster::User& user) {
  return {{"id", user.id},
          {"username", user.username},
          {"display_name", user.display_name},
          {"role", to_string(user.role)},
          {"disabled", user.disabled},
          {"locked_until", time_view(user.locked_until)},
          {"created_at", format_time(user.created_at)},
          {"last_login_at", time_view(user.last_login_at)},
          {"etag", etag_of(user.revision)}};
}

namespace {
View caller_user_view(const cluster::User& user) {
  return {{"id", user.id},
          {"username", user.username},
          {"display_name", user.display_name},
          {"role", to_string(user.role)}};
}

std::string username_of(Services& services, const std::string& user_id) {
  const auto user = services.cluster().user(user_id);
  return user ? user->username : std::string();
}
}  // namespace

View session_view(Services& services, const Caller& caller) {
  if (caller.token) {
    return {{"id", caller.token->id},
            {"user", caller_user_view(caller.user)},
            {"csrf", nullptr},
            {"kind", "token"},
            {"created_at", format_time(caller.token->created_at)},
            {"expires_at", format_time(caller.token->expires_at)},
            {"idle_expires_at", nullptr},
            {"reauth_until", nullptr},
            {"last_login", nullptr}};
  }
  const cluster::Session& session = *caller.session;
  const bool cookie = session.kind == cluster::SessionKind::cookie;
  const WallTime reauth_until = session.reauth_at + kReauthValid;
  View last_login = nullptr;
  if (session.previous_login_at)
    last_login = {{"at", format_time(*session.previous_login_at)},
                  {"address", session.previous_login_address}};
  View csrf = nullptr;
  if (cookie) csrf = security::csrf_value(services.node.keys()->csrf, caller.session_hash);
  return {{"id", session.id},
          {"user", caller_user_view(caller.user)},
          {"csrf", csrf},
          {"kind", to_string(session.kind)},
          {"created_at", format_time(session.created_at)},
          {"expires_at", format_time(session.expires_at)},
          {"idle_expires_at", format_time(idle_end(services, session))},
          {"reauth_until", services.now() < reauth_until ? View(format_time(reauth_until)) : View(nullptr)},
          {"last_login", last_login}};
}

View session_info_view(Services& services, const cluster::Session& session, const Caller& viewer) {
  return {{"id", session.id},
          {"user_id", session.user_id},
          {"username", username_of(services, session.user_id)},
          {"kind", to_string(session.kind)},
          {"created_at", format_time(session.created_at)},
          {"last_seen_at", format_time(session.last_seen_at)},
          {"expires_at", format_time(session.expires_at)},
          {"address", session.address},
          {"user_agent", session.user_agent},
          {"current", viewer.session && viewer.session->id == session.id}};
}

View token_view(Services& services, const cluster::Token& token) {
  return {{"id", token.id},
          {"name", token.name},
          {"user_id", token.user_id},
          {"username", username_of(services, token.user_id)},
          {"scopes", token.scopes},
          {"cidr", token.cidr ? View(*token.cidr) : View(nullptr)},
          {"created_at", format_time(token.created_at)},
          {"expires_at", format_time(token.expires_at)},
          {"last_used_at", time_view(token.last_used_at)}};
}

View audit_view(const cluster::AuditEntry& entry) {
  View details = View::parse(entry.details, nullptr, false);
  if (details.is_discarded()) details = View::object();
  return {{"seq", entry.seq},
          {"time", format_time(entry.time)},
          {"actor", entry.actor},
          {"role", entry.role},
          {"auth", entry.auth},
          {"address", entry.address},
          {"action", entry.action},
          {"object", entry.object},
          {"result", entry.result},
          {"details", details},
          {"hash", hex_encode(entry.hash)}};
}

View page_view(View items, const std::string& next_cursor) {
  return {{"items", std::move(items)},
          {"next_cursor", next_cursor.empty() ? View(nullptr) : View(next_cursor)}};
}

}  // namespace samovar::api
