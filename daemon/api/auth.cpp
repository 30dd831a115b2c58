#include "daemon/api/auth.hpp"

#include <algorithm>

#include "base/json.hpp"
#include "daemon/api/cidr.hpp"
#include "daemon/api/problem.hpp"
#include "daemon/api/text.hpp"
#include "daemon/api/tus.hpp"
#include "security/token.hpp"

namespace samovar::api {
namespace {

constexpr std::string_view kLogInHint = "Log in and send the request again.";

Response not_logged_in(const Request& request, std::string_view detail = kLogInHint) {
  return problem(request, 401, "not_logged_in", detail);
}

// Addresses end up in histories and logs: a credential there counts as lost, so it is refused at once.
bool has_credential_in_url(const Request& request) {
  return std::any_of(request.query.begin(), request.query.end(), [](const auto& item) {
    return item.first == "token" || item.first == "access_token" || item.first == "session_token" ||
           security::looks_like_token(item.second);
  });
}

std::optional<Response> check_phase(Services& services, const Route& route, const Request& request) {
  const Phase phase = services.node.phase();
  if (phase == Phase::ready || route.access.every_phase()) return std::nullopt;
  if (phase == Phase::fresh && route.access.is_open_when_new()) return std::nullopt;
  if (phase == Phase::fresh)
    return problem(
        request, 409, "not_set_up",
        "This box is not set up yet: open its page, or run samovar init, with the code on its console.");
  if (phase == Phase::locked)
    return problem(request, 423, "locked",
                   "This box is locked: enter its passphrase on its page or with samovar unlock.");
  if (phase == Phase::joining)
    return problem(
        request, 503, "joining",
        "This node has just become a member and waits for the cluster's state: try again in a moment. "
        "If it stays so, samovar doctor says which way is closed.");
  if (phase == Phase::removed)
    return problem(
        request, 409, "removed",
        "This node was removed from its cluster. To use it again, make it a new one at its console: "
        "systemctl stop samovard, then samovard --factory-reset.");
  return problem(request, 503, "starting", "The node is starting: try again in a moment.");
}

Identified by_token(Services& services, const Request& request, std::string_view text) {
  auto& state = services.cluster();
  const auto refuse = [&] {
    return Identified{nullptr, not_logged_in(request, "The API token is not valid.")};
  };
  const auto parsed = security::parse_token(text);
  if (!parsed) return refuse();
  auto token = state.token_by_lookup(parsed->id);
  const auto hash = security::token_hash(services.node.keys()->pepper, *parsed);
  if (!token || !security::equal_constant_time(token->secret_hash, hash)) return refuse();
  auto user = state.user(token->user_id);
  if (!user || user->disabled) return refuse();
  if (token->cidr && !cidr_contains(*token->cidr, request.remote_address))
    return {nullptr,
            problem(request, 403, "wrong_address", "This API token may not be used from this address.")};
  spawn<Result<void>>(state.touch_token(token->id),
                      [](const Result<void>& r) { ignore(r, "last use is a comfort"); });
  auto caller = std::make_shared<Caller>();
  caller->user = std::move(*user);
  caller->token = std::move(*token);
  return {std::move(caller), std::nullopt};
}

Identified by_session(Services& services, const Request& request, std::string_view secret,
                      cluster::SessionKind kind) {
  auto& state = services.cluster();
  const auto refuse = [&](std::string_view why) { return Identified{nullptr, not_logged_in(request, why)}; };
  const auto hash = security::session_hash(services.node.keys()->pepper, secret);
  if (!hash) return refuse(kLogInHint);
  auto session = state.session_by_hash(*hash);
  if (!session || session->kind != kind) return refuse("The session has ended: log in again.");
  auto user = state.user(session->user_id);
  if (!user || user->disabled) return refuse("The session has ended: log in again.");
  if (!is_live(services, *session))
    return refuse("The session ended after a time without activity: log in again.");
  spawn<Result<void>>(state.touch_session(session->id),
                      [](const Result<void>& r) { ignore(r, "a full disk must not end sessions at once"); });
  auto caller = std::make_shared<Caller>();
  caller->user = std::move(*user);
  caller->session_hash = *hash;
  caller->session = std::move(*session);
  return {std::move(caller), std::nullopt};
}

Response csrf_refused(const Request& request, std::string_view detail) {
  return problem(request, 403, "csrf", detail);
}

// A browser tells where a request comes from; the value in X-CSRF is known only to our own page.
std::optional<Response> check_csrf(Services& services, const Request& request, const Caller* caller) {
  if (!is_unsafe(request.method)) return std::nullopt;
  const std::string_view site = request.headers.get("Sec-Fetch-Site");
  if (!site.empty() && site != "same-origin" && site != "none")
    return csrf_refused(request, "The request came from another site.");
  if (caller == nullptr || !caller->session || caller->session->kind != cluster::SessionKind::cookie)
    return std::nullopt;
  const std::string_view origin = request.headers.get("Origin");
  const bool same_site = site == "same-origin";
  const bool same_origin = !origin.empty() && origin == "https://" + std::string(request.headers.get("Host"));
  if (!origin.empty() && !same_origin) return csrf_refused(request, "The request came from another origin.");
  if (!same_site && !same_origin)
    return csrf_refused(request, "The request does not say where it came from (Sec-Fetch-Site or Origin).");
  if (!security::csrf_matches(services.node.keys()->csrf, caller->session_hash,
                              request.headers.get("X-CSRF")))
    return csrf_refused(request, "X-CSRF is missing or not this session's: reload the page.");
  const std::string_view type = request.headers.get("Content-Type");
  // Neither type is one that a form or a plain fetch of another site could send.
  if (request.stream && !is_tus_content(type))
    return csrf_refused(request, "The body must be application/offset+octet-stream.");
  if (!request.body.empty()) {
    if (!equal_no_case(trim(type.substr(0, type.find(';'))), "application/json"))
      return csrf_refused(request, "The body must be application/json.");
  }
  return std::nullopt;
}

std::optional<Response> check_token_scope(const Route& route, const Request& request, const Caller& caller) {
  std::string_view needed = route.access.scope();
  if (needed.empty()) needed = is_unsafe(route.method) ? "write" : "read";
  if (needed == kAnyToken) return std::nullopt;
  if (needed == kNoToken)
    return problem(request, 403, "token_not_allowed", "API tokens cannot do this: log in with a password.");
  const auto& scopes = caller.token->scopes;
  if (std::find(scopes.begin(), scopes.end(), needed) != scopes.end()) return std::nullopt;
  return problem(request, 403, "missing_scope",
                 "The API token lacks the scope \"" + std::string(needed) + "\".");
}

// A refusal is worth recording: it shows who tries doors. Bounded, so that trying fills no disk.
void record_denied(Services& services, const Request& request, const Caller& caller) {
  if (services.denied_records.take(caller.user.id, services.loop.clock().mono()) > Duration::zero()) return;
  spawn<Result<std::uint64_t>>(
      services.cluster().record(call_of(request), "access.denied",
                                std::string(to_string(request.method)) + " " + request.path.substr(0, 200),
                                "denied", "{}"),
      [](const Result<std::uint64_t>& r) { ignore(r, "the refusal itself stands without its record"); });
}

std::optional<Response> check_rights(Services& services, const Route& route, const Request& request,
                                     const Caller& caller) {
  if (caller.token) {
    if (auto refused = check_token_scope(route, request, caller)) return refused;
    // The scope metrics is a right of its own: a scraper needs no role that could see more.
    if (route.access.scope() == "metrics") return std::nullopt;
  }
  if (!route.access.allows(to_api(caller.user.role))) {
    record_denied(services, request, caller);
    return problem(
        request, 403, "forbidden",
        "The role " + std::string(to_string(caller.user.role)) + " may not do this; ask an administrator.");
  }
  if (route.access.needs_reauth() && !freshly_authenticated(services, caller))
    return reauth_required(request);
  return std::nullopt;
}

Task<std::optional<Response>> guard(Services& services, const Route& route, Request& request) {
  if (has_credential_in_url(request))
    co_return problem(request, 400, "token_in_url",
                      "Credentials do not belong in an address: send them in the Authorization header, and "
                      "revoke this one.");
  if (auto refused = check_phase(services, route, request)) co_return refused;
  const bool anyone = !route.access.needs_user() ||
                      (route.access.is_open_when_new() && services.node.phase() == Phase::fresh);
  if (anyone) co_return check_csrf(services, request, nullptr);
  if (services.node.phase() != Phase::ready)
    co_return not_logged_in(request, "Nobody can be logged in before the box is ready.");
  auto identified = identify(services, request);
  if (identified.refused) co_return std::move(identified.refused);
  request.caller = identified.caller;
  if (auto refused = check_csrf(services, request, request.caller.get())) co_return refused;
  co_return check_rights(services, route, request, *request.caller);
}

}  // namespace

Guard make_guard(Services& services) {
  return [&services](const Route& route, Request& request) { return guard(services, route, request); };
}

Identified identify(Services& services, const Request& request) {
  const std::string_view authorization = request.headers.get("Authorization");
  if (!authorization.empty()) {
    constexpr std::string_view kBearer = "bearer ";
    if (!equal_no_case(authorization.substr(0, kBearer.size()), kBearer))
      return {nullptr, not_logged_in(request, "Authorization must be \"Bearer\" with a token.")};
    const std::string_view credential = trim(authorization.substr(kBearer.size()));
    if (security::looks_like_token(credential)) return by_token(services, request, credential);
    return by_session(services, request, credential, cluster::SessionKind::bearer);
  }
  const std::string_view cookie = request.cookie(kSessionCookie);
  if (cookie.empty()) return {nullptr, not_logged_in(request)};
  return by_session(services, request, cookie, cluster::SessionKind::cookie);
}

WallTime idle_end(Services& services, const cluster::Session& session) {
  if (session.kind == cluster::SessionKind::bearer) return session.last_seen_at + kBearerIdleMax;
  const auto general = nlohmann::json::parse(services.cluster().setting("general").json, nullptr, false);
  const std::int64_t minutes =
      general.is_object() ? general.value("idle_minutes", kIdleMinutesDefault) : kIdleMinutesDefault;
  return session.last_seen_at + std::chrono::minutes(minutes);
}

bool is_live(Services& services, const cluster::Session& session) {
  const WallTime now = services.now();
  return now < session.expires_at && now < idle_end(services, session);
}

bool freshly_authenticated(Services& services, const Caller& caller) {
  return caller.session && services.now() < caller.session->reauth_at + kReauthValid;
}

Response reauth_required(const Request& request) {
  return problem(request, 403, "reauth_required",
                 "Enter your password again (POST /api/v1/session:reauth): it must have been given within "
                 "the last 5 minutes.");
}

cluster::Call call_of(const Request& request, std::string request_id) {
  cluster::Call call;
  call.request_id = std::move(request_id);
  call.actor.address = request.remote_address;
  if (request.caller) {
    const Caller& caller = *request.caller;
    call.actor.user_id = caller.user.id;
    call.actor.username = caller.user.username;
    call.actor.role = caller.user.role;
    call.actor.auth = caller.token ? cluster::AuthKind::token : cluster::AuthKind::session;
  }
  return call;
}

Role to_api(cluster::Role role) noexcept {
  switch (role) {
    case cluster::Role::admin:
      return Role::admin;
    case cluster::Role::analyst:
      return Role::analyst;
    case cluster::Role::viewer:
      return Role::viewer;
    case cluster::Role::auditor:
      return Role::auditor;
    case cluster::Role::service:
      return Role::service;
  }
  return Role::service;
}

}  // namespace samovar::api
