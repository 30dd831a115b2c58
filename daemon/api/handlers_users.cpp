#include <map>

#include "base/json.hpp"
#include "base/log.hpp"
#include "daemon/api/ca_wraps.hpp"
#include "daemon/api/handlers.hpp"
#include "daemon/api/idempotency.hpp"
#include "daemon/api/json_body.hpp"
#include "daemon/api/problem.hpp"
#include "daemon/api/views.hpp"
#include "security/password.hpp"

namespace samovar::api {
namespace {

// Whether an administrator can add nodes: "held", "ready" to be given it, or "none" before the first log-in.
using Holds = std::map<std::string, CaHold, std::less<>>;
View user_with_key(const cluster::User& user, const Holds& holds) {
  View view = user_view(user);
  view["node_key"] = nullptr;
  if (user.role != cluster::Role::admin) return view;
  const auto found = holds.find(user.id);
  const CaHold hold = found == holds.end() ? CaHold::none : found->second;
  view["node_key"] = hold == CaHold::held ? "held" : hold == CaHold::ready ? "ready" : "none";
  return view;
}

Response user_response(Services& services, int status, const cluster::User& user) {
  Response response = json_response(status, user_with_key(user, ca_holds(services.cluster())));
  response.headers.set("ETag", etag_of(user.revision));
  if (status == 201) response.headers.set("Location", "/api/v1/users/" + user.id);
  return response;
}

// Users other than admin and auditor see only themselves.
bool may_see(const Request& request, std::string_view user_id) {
  const auto& self = request.caller->user;
  return self.role == cluster::Role::admin || self.role == cluster::Role::auditor || self.id == user_id;
}

std::optional<cluster::Role> read_role(Fields& fields, Need need) {
  const auto text = fields.text("role", need);
  if (!text) return std::nullopt;
  const auto role = cluster::parse_role(*text);
  if (!role) fields.fail("role", "format", "role must be admin, analyst, viewer, auditor or service.");
  return role;
}

struct NewUserBody {
  cluster::NewUser user;
  security::SecretBytes password;
};

std::optional<NewUserBody> read_new_user(Request& request, std::optional<Response>& refused) {
  auto body = take_object(request, refused);
  if (refused) return std::nullopt;
  std::vector<FieldError> errors;
  Fields fields(*body, "", errors);
  NewUserBody out;
  const auto username = fields.text("username", Need::required, {1, 32, false});
  if (username && !is_username(*username))
    fields.fail("username", "format",
                "Use a-z, 0-9, dot, underscore and hyphen, beginning with a letter or digit.");
  out.user.username = username.value_or("");
  out.user.display_name = fields.text("display_name", Need::optional, {0, 128, false}).value_or("");
  out.user.role = read_role(fields, Need::required).value_or(cluster::Role::viewer);
  if (auto password = fields.secret("password", Need::required)) {
    auto good =
        security::check_password_policy(as_text(password->view()), out.user.username, out.user.display_name);
    if (!good) fields.fail("password", "weak", good.error().message());
    out.password = std::move(*password);
  }
  fields.finish();
  if (!errors.empty()) {
    refused = validation_problem(request, std::move(errors));
    return std::nullopt;
  }
  return out;
}

Task<Created> create_user(Services& services, Request& request, std::string request_id) {
  std::optional<Response> refused;
  auto body = read_new_user(request, refused);
  if (refused) co_return Created{std::move(*refused), {}};
  auto hash = co_await services.gate.hash_password(std::move(body->password), services.node.keys()->pepper);
  if (!hash) co_return Created{problem_from(hash.error(), request), {}};
  body->user.password_hash = std::move(*hash);
  auto user =
      co_await services.cluster().create_user(call_of(request, std::move(request_id)), std::move(body->user));
  if (!user) co_return Created{problem_from(user.error(), request), {}};
  co_return Created{user_response(services, 201, *user), {}};
}

// The last who can add nodes stays an administrator.
std::optional<Response> keeps_last_key(Services& services, const Request& request,
                                       const cluster::User& user) {
  if (request.caller->user.id == user.id || !last_ca_holder(services.cluster(), user.id)) return std::nullopt;
  return problem(request, 409, "last_key_holder",
                 user.username +
                     " is the only one who can add nodes. Let another administrator add nodes first, or "
                     "disable the account.");
}

// With the role goes the right to add nodes. What a cut leaves behind is taken before the role comes back.
Task<Result<bool>> lose_node_key(Services& services, Request& request, std::string user_id) {
  auto taken = co_await take_ca_key(services.cluster(), call_of(request), user_id, true);
  if (!taken)
    SAMOVAR_LOG(warn, api, "an administrator's key to add nodes is still stored", kv("user", user_id),
                kv("error", taken.error().message()));
  co_return taken;
}

Task<void> note_joins(Services& services, Request& request, cluster::User user, std::string action) {
  View details = View::object();
  details["username"] = user.username;
  std::string text = details.dump();
  auto noted =
      co_await services.cluster().record(call_of(request), std::move(action), user.id, "ok", std::move(text));
  ignore(noted, "the change itself is in the log as setting.put");
}

}  // namespace

Task<Response> get_users(Services& services, Request& request) {
  std::optional<Response> refused;
  const auto query = page_of(request, refused);
  if (refused) co_return std::move(*refused);
  const auto page = services.cluster().users(query);
  View items = View::array();
  const auto holds = ca_holds(services.cluster());
  for (const auto& user : page.items) items.push_back(user_with_key(user, holds));
  co_return json_response(200, page_view(std::move(items), page.next_cursor));
}

Task<Response> post_users(Services& services, Request& request) {
  return idempotent(services, request, [&services, &request](std::string request_id) {
    return create_user(services, request, std::move(request_id));
  });
}

Task<Response> get_user(Services& services, Request& request) {
  const auto user = services.cluster().user(request.param("id"));
  if (!user || !may_see(request, user->id)) co_return not_found(request);
  co_return user_response(services, 200, *user);
}

Task<Response> patch_user(Services& services, Request& request) {
  const std::string id(request.param("id"));
  const bool own = request.caller->user.id == id;
  const auto user = services.cluster().user(id);
  if (!user || !may_see(request, id)) co_return not_found(request);
  std::optional<Response> refused;
  const auto revision = if_match(request, refused);
  if (refused) co_return std::move(*refused);
  auto body = take_object(request, refused);
  if (refused) co_return std::move(*refused);
  std::vector<FieldError> errors;
  Fields fields(*body, "", errors);
  cluster::UserChange change;
  change.display_name = fields.text("display_name", Need::optional, {0, 128, false});
  change.role = read_role(fields, Need::optional);
  change.disabled = fields.flag("disabled", Need::optional);
  fields.finish();
  if (errors.empty() && !change.display_name && !change.role && !change.disabled)
    errors.push_back({"", "required", "Nothing to change was sent."});
  if (!errors.empty()) co_return validation_problem(request, std::move(errors));
  if (!is_admin(request) && (!own || change.role || change.disabled))
    co_return problem(request, 403, "forbidden", "Only an administrator may change that.");
  const bool was = user->role == cluster::Role::admin;
  const bool will = change.role.value_or(user->role) == cluster::Role::admin;
  if (was && !will)
    if (auto no = keeps_last_key(services, request, *user)) co_return std::move(*no);
  if (!was && will) {
    auto taken = co_await lose_node_key(services, request, id);
    if (!taken) co_return problem_from(taken.error(), request);
  }
  auto done = co_await services.cluster().update_user(call_of(request), id, std::move(change), revision);
  if (!done) co_return problem_from(done.error(), request);
  if (was && !will) {
    auto lost = co_await lose_node_key(services, request, id);
    ignore(lost, "it is of no use without the role");
  }
  co_return user_response(services, 200, *done);
}

Task<Response> delete_user(Services& services, Request& request) {
  const auto user = services.cluster().user(request.param("id"));
  if (user)
    if (auto no = keeps_last_key(services, request, *user)) co_return std::move(*no);
  auto done = co_await services.cluster().delete_user(call_of(request), std::string(request.param("id")),
                                                      std::nullopt);
  if (!done) co_return problem_from(done.error(), request);
  auto lost = co_await lose_node_key(services, request, std::string(request.param("id")));
  ignore(lost, "it opens nothing");
  co_return no_content();
}

Task<Response> post_user_password(Services& services, Request& request) {
  const std::string id(request.param("id"));
  const auto user = services.cluster().user(id);
  if (!user) co_return not_found(request);
  if (request.caller->user.id == id)
    co_return problem(request, 409, "own_account",
                      "Change your own password with POST /api/v1/session:password.");
  std::optional<Response> refused;
  auto body = take_object(request, refused);
  if (refused) co_return std::move(*refused);
  std::vector<FieldError> errors;
  Fields fields(*body, "", errors);
  auto password = fields.secret("password", Need::required);
  if (password) {
    auto good =
        security::check_password_policy(as_text(password->view()), user->username, user->display_name);
    if (!good) fields.fail("password", "weak", good.error().message());
  }
  fields.finish();
  if (!errors.empty()) co_return validation_problem(request, std::move(errors));
  auto hash = co_await services.gate.hash_password(std::move(*password), services.node.keys()->pepper);
  if (!hash) co_return problem_from(hash.error(), request);
  auto done = co_await services.cluster().set_password(call_of(request), id, std::move(*hash), std::string());
  if (!done) co_return problem_from(done.error(), request);
  co_return no_content();
}

Task<Response> post_user_unlock(Services& services, Request& request) {
  auto done = co_await services.cluster().unlock_user(call_of(request), std::string(request.param("id")));
  if (!done) co_return problem_from(done.error(), request);
  co_return no_content();
}

// To another administrator, with one's own password: the CA's key is sealed to theirs.
Task<Response> post_user_allow_joins(Services& services, Request& request) {
  const auto user = services.cluster().user(request.param("id"));
  if (!user) co_return not_found(request);
  if (user->role != cluster::Role::admin || user->disabled)
    co_return problem(request, 409, "not_an_admin", "Only administrators who may log in add nodes.");
  CaKey ca = co_await open_ca_key(services, request);
  if (ca.refused) co_return std::move(*ca.refused);
  auto given = co_await give_ca_key(services.cluster(), call_of(request), user->id, ca.key);
  if (!given && given.error().code() == Errc::not_found)
    co_return problem(request, 409, "no_own_key",
                      user->username +
                          " has not logged in since becoming an administrator. The key is made "
                          "for them at that moment: ask them to log in once, then try again.");
  if (!given) co_return problem_from(given.error(), request);
  co_await note_joins(services, request, *user, "user.allow_joins");
  co_return user_response(services, 200, *user);
}

Task<Response> post_user_forbid_joins(Services& services, Request& request) {
  const auto user = services.cluster().user(request.param("id"));
  if (!user) co_return not_found(request);
  if (last_ca_holder(services.cluster(), user->id))
    co_return problem(request, 409, "last_key_holder",
                      user->username + " is the only one who can add nodes.");
  auto taken = co_await take_ca_key(services.cluster(), call_of(request), user->id, false);
  if (!taken) co_return problem_from(taken.error(), request);
  if (*taken) co_await note_joins(services, request, *user, "user.forbid_joins");
  co_return user_response(services, 200, *user);
}

}  // namespace samovar::api
