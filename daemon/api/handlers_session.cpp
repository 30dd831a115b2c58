
#include "base/ids.hpp"
#include "base/json.hpp"
#include "base/log.hpp"
#include "daemon/api/ca_wraps.hpp"
#include "daemon/api/handlers.hpp"
#include "daemon/api/json_body.hpp"
#include "daemon/api/problem.hpp"
#include "daemon/api/views.hpp"
#include "security/password.hpp"
#include "security/token.hpp"

namespace samovar::api {
namespace {

constexpr std::string_view kCookieRules = "; HttpOnly; Secure; SameSite=Strict; Path=/";

Response locked_out(const Request& request, Duration wait) {
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(wait);
  return to_response(
      {429,
       "locked_out",
       {},
       "Too many failed log-ins: wait " + std::to_string(seconds.count()) + " s, or ask an administrator.",
       {},
       seconds},
      request);
}

Response wrong_credentials(const Request& request) {
  return problem(request, 401, "wrong_credentials", "The user name or the password is wrong.");
}

struct Login {
  std::string username;
  security::SecretBytes password;
  cluster::SessionKind kind = cluster::SessionKind::cookie;
};

std::optional<Login> read_login(Request& request, std::optional<Response>& refused) {
  auto body = take_object(request, refused);
  if (refused) return std::nullopt;
  std::vector<FieldError> errors;
  Fields fields(*body, "", errors);
  Login login;
  login.username = fields.text("username", Need::required, {1, 128, false}).value_or("");
  if (auto password = fields.secret("password", Need::required)) login.password = std::move(*password);
  const auto transport = fields.text("transport", Need::optional).value_or("cookie");
  if (transport != "cookie" && transport != "bearer")
    fields.fail("transport", "format", "transport must be cookie or bearer.");
  if (transport == "bearer") login.kind = cluster::SessionKind::bearer;
  fields.finish();
  if (!errors.empty()) {
    refused = validation_problem(request, std::move(errors));
    return std::nullopt;
  }
  return login;
}

// The hash of the browser's device cookie, or of a new one that `fresh` then holds.
Bytes device_hash(Services& services, const Request& request, std::string& fresh) {
  const auto& pepper = services.node.keys()->pepper;
  auto hash = security::session_hash(pepper, request.cookie(kDeviceCookie));
  if (!hash) {
    fresh = security::make_session_secret(services.rng);
    hash = security::session_hash(pepper, fresh);
  }
  return to_bytes(ByteView(*hash));
}

// Verifies a password with all the brakes; the answer to give when it is not right.
Task<std::optional<Response>> check_password(Services& services, Request& request, std::string username,
                                             const security::SecretBytes& password, Bytes device,
                                             bool logging_in) {
  auto& state = services.cluster();
  const MonoTime now = services.loop.clock().mono();
  if (const Duration wait = services.login_attempts.take(request.remote_address, now);
      wait > Duration::zero())
    co_return locked_out(request, wait);
  const auto before = state.login_gate(username, device);
  if (before.retry_after > Duration::zero()) co_return locked_out(request, before.retry_after);
  std::optional<std::string> stored;
  if (before.user) stored = before.user->password_hash;
  auto right = co_await services.gate.verify_password(stored, password.clone(), services.node.keys()->pepper);
  if (!right) co_return problem_from(right.error(), request);
  // Guesses sent at the same moment all passed the first look: those that came after the limit count as none.
  const auto after = state.login_gate(username, device);
  if (after.retry_after > Duration::zero()) co_return locked_out(request, after.retry_after);
  if (*right && after.user && !after.user->disabled) co_return std::nullopt;
  cluster::LoginFailure failure{username, request.remote_address, device};
  auto recorded = co_await state.login_failed(call_of(request), std::move(failure));
  if (!recorded) co_return problem_from(recorded.error(), request);
  if (logging_in) co_return wrong_credentials(request);
  co_return problem(request, 403, "wrong_password", "The password is wrong.");
}

void set_cookies(Response& response, const std::string& secret, const std::string& fresh_device) {
  response.headers.add("Set-Cookie", std::string(kSessionCookie) + "=" + secret + std::string(kCookieRules));
  if (!fresh_device.empty())
    response.headers.add("Set-Cookie", std::string(kDeviceCookie) + "=" + fresh_device +
                                           std::string(kCookieRules) + "; Max-Age=31536000");
}

// An administrator's own key, to which the right to add nodes can be given; made while the password is at
// hand.
Task<void> prepare_holder(Services& services, cluster::Call call, std::string user_id,
                          const security::SecretBytes& password) {
  auto done =
      co_await prepare_ca_holder(services.cluster(), services.gate, std::move(call), user_id, password);
  if (!done)
    SAMOVAR_LOG(info, api, "an administrator's key was not made; the next log-in tries again",
                kv("error", done.error().message()));
}

// A cost that was raised since reaches stored passwords at the next good log-in, when the text is at hand.
Task<void> rehash_if_needed(Services& services, cluster::User user, security::SecretBytes password,
                            std::string session_id) {
  if (!security::needs_rehash(user.password_hash, services.gate.options().password_cost)) co_return;
  auto hash = co_await services.gate.hash_password(std::move(password), services.node.keys()->pepper);
  if (!hash) co_return;
  cluster::Call call;
  call.actor = cluster::Actor::system();
  auto done = co_await services.cluster().set_password(std::move(call), user.id, *hash, session_id);
  ignore(done, "the old hash still works");
}

}  // namespace

Task<Response> post_session(Services& services, Request& request) {
  std::optional<Response> refused;
  auto login = read_login(request, refused);
  if (refused) co_return std::move(*refused);
  std::string fresh_device;
  const Bytes device = device_hash(services, request, fresh_device);
  // A made-up device cookie must not count apart: only one that a good log-in left behind does.
  if (auto wrong = co_await check_password(services, request, login->username, login->password, device, true))
    co_return std::move(*wrong);

  auto& state = services.cluster();
  const auto user = state.user_by_name(login->username);
  if (!user) co_return wrong_credentials(request);
  std::string secret = security::make_session_secret(services.rng);
  const auto hash = security::session_hash(services.node.keys()->pepper, secret);
  cluster::NewSession fresh;
  fresh.user_id = user->id;
  fresh.kind = login->kind;
  fresh.secret_hash = to_bytes(ByteView(*hash));
  fresh.address = request.remote_address;
  fresh.user_agent = std::string(request.headers.get("User-Agent").substr(0, 200));
  if (login->kind == cluster::SessionKind::cookie) fresh.device_hash = device;
  cluster::Call call = call_of(request);
  call.actor.user_id = user->id;
  call.actor.username = user->username;
  call.actor.role = user->role;
  call.actor.auth = cluster::AuthKind::password;
  auto session = co_await state.login(call, std::move(fresh));
  if (!session) co_return problem_from(session.error(), request);
  co_await rehash_if_needed(services, *user, login->password.clone(), session->id);
  co_await prepare_holder(services, std::move(call), user->id, login->password);

  Caller caller{*user, std::move(*session), std::nullopt, *hash};
  View body = session_view(services, caller);
  if (login->kind == cluster::SessionKind::bearer) {
    body["session_token"] = secret;
    co_return json_response(200, body);
  }
  Response response = json_response(200, body);
  set_cookies(response, secret, fresh_device);
  co_return response;
}

Task<Response> get_session(Services& services, Request& request) {
  co_return json_response(200, session_view(services, *request.caller));
}

Task<Response> delete_session(Services& services, Request& request) {
  auto done = co_await services.cluster().end_session(call_of(request), request.caller->session->id);
  if (!done && done.error().code() != Errc::not_found) co_return problem_from(done.error(), request);
  Response response = no_content();
  if (request.caller->session->kind == cluster::SessionKind::cookie)
    response.headers.add("Set-Cookie",
                         std::string(kSessionCookie) + "=" + std::string(kCookieRules) + "; Max-Age=0");
  co_return response;
}

Task<std::optional<Response>> check_own_password(Services& services, Request& request,
                                                 const security::SecretBytes& password) {
  std::string fresh_device;
  const Bytes device = device_hash(services, request, fresh_device);
  co_return co_await check_password(services, request, request.caller->user.username, password, device,
                                    false);
}

Task<Response> post_reauth(Services& services, Request& request) {
  std::optional<Response> refused;
  auto body = take_object(request, refused);
  if (refused) co_return std::move(*refused);
  std::vector<FieldError> errors;
  Fields fields(*body, "", errors);
  const auto password = fields.secret("password", Need::required);
  fields.finish();
  if (!errors.empty()) co_return validation_problem(request, std::move(errors));
  const Caller& caller = *request.caller;
  if (auto wrong = co_await check_own_password(services, request, *password)) co_return std::move(*wrong);
  auto session = co_await services.cluster().reauthenticate(call_of(request), caller.session->id);
  if (!session) co_return problem_from(session.error(), request);
  co_await prepare_holder(services, call_of(request), caller.user.id, *password);
  Caller fresh = caller;
  fresh.session = std::move(*session);
  co_return json_response(200, session_view(services, fresh));
}

Task<Response> post_password(Services& services, Request& request) {
  std::optional<Response> refused;
  auto body = take_object(request, refused);
  if (refused) co_return std::move(*refused);
  std::vector<FieldError> errors;
  Fields fields(*body, "", errors);
  const Caller& caller = *request.caller;
  const auto current = fields.secret("current_password", Need::required);
  const auto fresh = fields.secret("new_password", Need::required);
  if (fresh) {
    auto good = security::check_password_policy(as_text(fresh->view()), caller.user.username,
                                                caller.user.display_name);
    if (!good) fields.fail("new_password", "weak", good.error().message());
    if (current && current->equal(*fresh))
      fields.fail("new_password", "same", "The new password is the old one.");
  }
  fields.finish();
  if (!errors.empty()) co_return validation_problem(request, std::move(errors));
  if (auto wrong = co_await check_own_password(services, request, *current)) co_return std::move(*wrong);
  auto hash = co_await services.gate.hash_password(fresh->clone(), services.node.keys()->pepper);
  if (!hash) co_return problem_from(hash.error(), request);
  auto& state = services.cluster();
  auto wrapped =
      co_await rewrap_ca_key(state, services.gate, call_of(request), caller.user.id, *current, *fresh, *hash);
  if (!wrapped) co_return problem_from(wrapped.error(), request);
  auto done = co_await state.set_password(call_of(request), caller.user.id, *hash, caller.session->id);
  if (!done) co_return problem_from(done.error(), request);
  co_return no_content();
}

}  // namespace samovar::api
