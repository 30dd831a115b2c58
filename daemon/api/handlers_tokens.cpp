#include <algorithm>
#include <set>

#include "base/json.hpp"
#include "daemon/api/cidr.hpp"
#include "daemon/api/handlers.hpp"
#include "daemon/api/idempotency.hpp"
#include "daemon/api/json_body.hpp"
#include "daemon/api/problem.hpp"
#include "daemon/api/views.hpp"
#include "security/token.hpp"

namespace samovar::api {
namespace {

constexpr std::int64_t kTokenDaysDefault = 90;
constexpr std::int64_t kTokenDaysMax = 365;

// ?all=true is for administrators; nothing means everybody's.
std::optional<std::string> owner_filter(const Request& request, std::optional<Response>& refused) {
  const std::string_view all = request.query_value("all");
  if (all == "true") {
    if (is_admin(request)) return std::nullopt;
    refused = problem(request, 403, "forbidden", "Only an administrator may list those of others.");
  } else if (!all.empty() && all != "false") {
    refused = problem(request, 400, "bad_query", "all must be true or false.");
  }
  return request.caller->user.id;
}

std::optional<cluster::NewToken> read_token(Services& services, Request& request,
                                            std::optional<Response>& refused) {
  auto body = take_object(request, refused);
  if (refused) return std::nullopt;
  std::vector<FieldError> errors;
  Fields fields(*body, "", errors);
  cluster::NewToken token;
  token.user_id = request.caller->user.id;
  token.name = fields.text("name", Need::required, {1, 64, false}).value_or("");
  token.scopes = fields.texts("scopes", Need::required, 8).value_or(std::vector<std::string>{});
  if (fields.has("scopes") && token.scopes.empty() && errors.empty())
    fields.fail("scopes", "too_short", "Name at least one of read, write, predict and metrics.");
  const std::set<std::string> distinct(token.scopes.begin(), token.scopes.end());
  if (distinct.size() != token.scopes.size()) fields.fail("scopes", "format", "A scope is named twice.");
  for (const auto& scope : distinct)
    if (scope != "read" && scope != "write" && scope != "predict" && scope != "metrics")
      fields.fail("scopes", "format", "Scopes are read, write, predict and metrics.");
  const auto days =
      fields.integer("expires_days", Need::optional, 1, kTokenDaysMax).value_or(kTokenDaysDefault);
  token.expires_at = services.now() + std::chrono::hours(24 * days);
  if (!fields.is_null("cidr")) {
    if (const auto text = fields.text("cidr", Need::optional)) {
      auto cidr = parse_cidr(*text);
      if (cidr) token.cidr = *cidr;
      if (!cidr) fields.fail("cidr", "format", cidr.error().message());
    }
  }
  fields.finish();
  if (!errors.empty()) {
    refused = validation_problem(request, std::move(errors));
    return std::nullopt;
  }
  return token;
}

Task<Created> create_token(Services& services, Request& request, std::string request_id) {
  std::optional<Response> refused;
  auto token = read_token(services, request, refused);
  if (refused) co_return Created{std::move(*refused), {}};
  auto secret = security::make_token(services.rng);
  const auto parsed = security::parse_token(secret.text);
  if (!parsed) co_return Created{problem_from(parsed.error(), request), {}};
  token->lookup = secret.id;
  token->secret_hash = to_bytes(ByteView(security::token_hash(services.node.keys()->pepper, *parsed)));
  auto made =
      co_await services.cluster().create_token(call_of(request, std::move(request_id)), std::move(*token));
  if (!made) co_return Created{problem_from(made.error(), request), {}};
  View body = token_view(services, *made);
  const std::string saved = body.dump();
  // After a crash the repeat finds the first token, whose secret nobody knows any more.
  if (made->lookup == secret.id) body["token"] = secret.text;
  security::wipe(secret.text);
  Response response = json_response(201, body);
  response.headers.set("Location", "/api/v1/tokens/" + made->id);
  co_return Created{std::move(response), saved};
}

}  // namespace

Task<Response> get_tokens(Services& services, Request& request) {
  std::optional<Response> refused;
  const auto query = page_of(request, refused);
  const auto owner = owner_filter(request, refused);
  if (refused) co_return std::move(*refused);
  const auto page = services.cluster().tokens(owner, query);
  View items = View::array();
  for (const auto& token : page.items) items.push_back(token_view(services, token));
  co_return json_response(200, page_view(std::move(items), page.next_cursor));
}

Task<Response> post_tokens(Services& services, Request& request) {
  return idempotent(services, request, [&services, &request](std::string request_id) {
    return create_token(services, request, std::move(request_id));
  });
}

Task<Response> delete_token(Services& services, Request& request) {
  auto token = services.cluster().token(request.param("id"));
  if (!token) {
    // It may have been made while this node was away: whoever ends it must not believe that it is gone.
    if (auto known = co_await services.cluster().catch_up(); !known)
      co_return problem_from(known.error(), request);
    token = services.cluster().token(request.param("id"));
  }
  if (!token || (token->user_id != request.caller->user.id && !is_admin(request)))
    co_return not_found(request);
  auto done = co_await services.cluster().delete_token(call_of(request), token->id);
  if (!done) co_return problem_from(done.error(), request);
  co_return no_content();
}

Task<Response> get_sessions(Services& services, Request& request) {
  std::optional<Response> refused;
  const auto query = page_of(request, refused);
  const auto owner = owner_filter(request, refused);
  if (refused) co_return std::move(*refused);
  const auto page = services.cluster().sessions(owner, query);
  View items = View::array();
  for (const auto& session : page.items)
    if (is_live(services, session)) items.push_back(session_info_view(services, session, *request.caller));
  co_return json_response(200, page_view(std::move(items), page.next_cursor));
}

Task<Response> delete_session_by_id(Services& services, Request& request) {
  auto session = services.cluster().session(request.param("id"));
  if (!session) {
    if (auto known = co_await services.cluster().catch_up(); !known)
      co_return problem_from(known.error(), request);
    session = services.cluster().session(request.param("id"));
  }
  if (!session) co_return not_found(request);
  const bool own = session->user_id == request.caller->user.id;
  if (!own && !is_admin(request)) co_return not_found(request);
  if (!own && !freshly_authenticated(services, *request.caller)) co_return reauth_required(request);
  auto done = co_await services.cluster().end_session(call_of(request), session->id);
  if (!done) co_return problem_from(done.error(), request);
  co_return no_content();
}

}  // namespace samovar::api
