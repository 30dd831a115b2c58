#include <algorithm>

#include "base/ids.hpp"
#include "base/json.hpp"
#include "daemon/api/ca_wraps.hpp"
#include "daemon/api/handlers.hpp"
#include "daemon/api/json_body.hpp"
#include "daemon/api/problem.hpp"
#include "daemon/api/views.hpp"

namespace samovar::api {
namespace {

// The one member of a body that has one.
std::optional<std::string> read_text(Request& request, std::string_view name, TextRule rule,
                                     std::optional<Response>& refused) {
  auto body = take_object(request, refused);
  if (refused) return std::nullopt;
  std::vector<FieldError> errors;
  Fields fields(*body, "", errors);
  auto text = fields.text(name, Need::required, rule);
  fields.finish();
  if (!errors.empty()) refused = validation_problem(request, std::move(errors));
  return text;
}

Response peer_problem(const Error& error, const Request& request) {
  if (error.code() == Errc::unavailable || error.code() == Errc::timeout || error.code() == Errc::io)
    return problem(request, 422, "peer_unreachable", error.message() + ".");
  if (error.code() == Errc::conflict && cluster::refusal_of(error) == cluster::Refusal::none)
    return problem(request, 409, "join_over", error.message() + ".");
  return problem_from(error, request);
}

Task<Response> block_peer(Services& services, Request& request, bool on) {
  auto done = co_await services.members().block(call_of(request), std::string(request.param("id")), on);
  if (!done) co_return problem_from(done.error(), request);
  co_return no_content();
}

}  // namespace

Task<CaKey> open_ca_key(Services& services, Request& request) {
  CaKey out;
  auto body = take_object(request, out.refused);
  if (out.refused) co_return out;
  std::vector<FieldError> errors;
  Fields fields(*body, "", errors);
  const auto password = fields.secret("password", Need::required);
  fields.finish();
  if (!errors.empty()) {
    out.refused = validation_problem(request, std::move(errors));
    co_return out;
  }
  out.refused = co_await check_own_password(services, request, *password);
  if (out.refused) co_return out;
  auto key = co_await unwrap_ca_key(services.cluster(), services.gate, request.caller->user.id, *password);
  if (key) {
    out.key = std::move(*key);
  } else if (key.error().code() == Errc::not_found || key.error().code() == Errc::denied) {
    out.refused = problem(request, 409, "no_ca_key", key.error().message() + ".");
  } else {
    out.refused = problem_from(key.error(), request);
  }
  co_return out;
}

Task<Response> get_peers(Services& services, Request&) {
  View items = View::array();
  for (const auto& peer : services.members().peers()) items.push_back(peer_view(peer));
  const View body = {{"items", std::move(items)}, {"blocked", services.members().blocked()}};
  co_return json_response(200, body);
}

Task<Response> post_peers_add(Services& services, Request& request) {
  std::optional<Response> refused;
  const auto address = read_text(request, "address", {1, 64, false}, refused);
  if (refused) co_return std::move(*refused);
  auto peer = co_await services.members().add_peer(*address);
  if (!peer) co_return peer_problem(peer.error(), request);
  co_return json_response(200, peer_view(*peer));
}

Task<Response> post_peers_invite(Services& services, Request& request) {
  CaKey ca = co_await open_ca_key(services, request);
  if (ca.refused) co_return std::move(*ca.refused);
  auto made = co_await services.members().invite(call_of(request), std::move(ca.key));
  if (!made) co_return problem_from(made.error(), request);
  const View body = {
      {"words", made->words}, {"ca_digest", made->ca_digest}, {"expires_at", format_time(made->expires_at)}};
  co_return json_response(200, body);
}

Task<Response> post_peer_approve(Services& services, Request& request) {
  CaKey ca = co_await open_ca_key(services, request);
  if (ca.refused) co_return std::move(*ca.refused);
  auto join = co_await services.members().approve(call_of(request), std::string(request.param("id")),
                                                  std::move(ca.key));
  if (!join) co_return peer_problem(join.error(), request);
  co_return json_response(202, join_view(*join));
}

Task<Response> post_peer_confirm(Services& services, Request& request) {
  std::optional<Response> refused;
  const auto code = read_text(request, "code", {1, 32, false}, refused);
  if (refused) co_return std::move(*refused);
  auto done = co_await services.members().confirm(call_of(request), std::string(request.param("id")), *code);
  if (!done) co_return peer_problem(done.error(), request);
  if (done->node) co_return json_response(200, node_view(services, *done->node));
  Problem wrong{422, "wrong_code", {}, {}, {}, {}};
  wrong.detail = "That is not the code on the new node's screen. " +
                 (done->tries_left == 1 ? std::string("One try is left.")
                                        : std::to_string(done->tries_left) + " tries are left.");
  wrong.extra_name = "tries_left";
  wrong.extra = std::to_string(done->tries_left);
  co_return to_response(wrong, request);
}

Task<Response> post_peer_cancel(Services& services, Request& request) {
  auto done = co_await services.members().cancel_join(call_of(request), std::string(request.param("id")));
  if (!done) co_return problem_from(done.error(), request);
  co_return no_content();
}

Task<Response> post_peer_block(Services& services, Request& request) {
  return block_peer(services, request, true);
}

Task<Response> post_peer_unblock(Services& services, Request& request) {
  return block_peer(services, request, false);
}

}  // namespace samovar::api
