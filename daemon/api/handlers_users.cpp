#include <nlohmann/json.hpp>

#include "daemon/api/handlers.hpp"
#include "daemon/api/idempotency.hpp"
#include "daemon/api/json_body.hpp"
#include "daemon/api/problem.hpp"
#include "daemon/api/views.hpp"
#include "security/password.hpp"

namespace samovar::api {
namespace {

Response user_response(int status, const cluster::User& user) {
  Response response = json_response(status, user_view(user));
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
  co_return Created{user_response(201, *user), {}};
}

}  // namespace

Task<Response> get_users(Services& services, Request& request) {
  std::optional<Response> refused;
  const auto query = page_of(request, refused);
  if (refused) co_return std::move(*refused);
  const auto page = services.cluster().users(query);
  View items = View::array();
  for (const auto& user : page.items) items.push_back(user_view(user));
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
  co_return user_response(200, *user);
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
  auto done = co_await services.cluster().update_user(call_of(request), id, std::move(change), revision);
  if (!done) co_return problem_from(done.error(), request);
  co_return user_response(200, *done);
}

Task<Response> delete_user(Services& services, Request& request) {
  auto done = co_await services.cluster().delete_user(call_of(request), std::string(request.param("id")),
                                                      std::nullopt);
  if (!done) co_return problem_from(done.error(), request);
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

}  // namespace samovar::api
