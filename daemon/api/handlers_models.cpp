// Models: listed, described, handed over, shared, rolled back, taken out of production.

#include "base/json.hpp"
#include "daemon/api/data_support.hpp"
#include "daemon/api/handlers.hpp"
#include "daemon/api/json_body.hpp"
#include "daemon/api/model_support.hpp"
#include "daemon/api/problem.hpp"
#include "daemon/api/views_models.hpp"
#include "daemon/cluster/model_rights.hpp"
#include "daemon/jobs/model_service.hpp"

namespace samovar::api {
namespace {

constexpr TextRule kDescriptionRule{0, cluster::kDescriptionBytesMax, true};

Response model_response(Services& services, const Request& request, const Result<cluster::Model>& model) {
  if (!model) return model_problem(model.error(), request);
  const cluster::Actor actor = call_of(request).actor;
  // Handed over, it may be out of sight for the one who did.
  if (!cluster::may_see_model(actor, *model)) return no_content();
  Response response = json_response(200, model_detail_view(services, actor, *model));
  response.headers.set("ETag", etag_of(model->revision));
  return response;
}

Task<Response> set_grant(Services& services, Request& request, bool on) {
  std::optional<Response> refused;
  const auto model = managed_model(services, request, refused);
  if (refused) co_return std::move(*refused);
  const auto user = find_user(services, request.param("user_id"));
  if (!user) co_return not_found(request);
  cluster::Call call = call_of(request);
  auto done = co_await services.models().grant(std::move(call), model->name, user->id, on);
  if (done && !on) co_return no_content();
  co_return model_response(services, request, done);
}

}  // namespace

Task<Response> get_models(Services& services, Request& request) {
  const cluster::Actor actor = call_of(request).actor;
  View items = View::array();
  for (const cluster::Model& model : services.models().models(actor))
    items.push_back(model_view(services, actor, model));
  co_return json_response(200, page_view(std::move(items), ""));
}

Task<Response> get_model(Services& services, Request& request) {
  co_return model_response(services, request,
                           services.models().model(call_of(request).actor, request.param("name")));
}

Task<Response> patch_model(Services& services, Request& request) {
  std::optional<Response> refused;
  const auto model = managed_model(services, request, refused);
  if (refused) co_return std::move(*refused);
  const auto revision = if_match(request, refused);
  if (refused) co_return std::move(*refused);
  auto body = take_object(request, refused);
  if (refused) co_return std::move(*refused);
  std::vector<FieldError> errors;
  Fields fields(*body, "", errors);
  cluster::ModelChange change;
  change.description = fields.text("description", Need::optional, kDescriptionRule);
  change.owner_id = fields.text("owner_id", Need::optional, {1, 64, false});
  fields.finish();
  if (errors.empty() && !change.description && !change.owner_id)
    errors.push_back({"", "required", "Nothing to change was sent."});
  if (change.owner_id) {
    const auto owner = find_user(services, *change.owner_id);
    if (!owner) fields.fail("owner_id", "unknown", "There is no such user.");
    if (owner) change.owner_id = owner->id;
  }
  if (!errors.empty()) co_return validation_problem(request, std::move(errors));
  // It changes who may use and export it.
  if (change.owner_id && !freshly_authenticated(services, *request.caller))
    co_return reauth_required(request);
  cluster::Call call = call_of(request);
  auto done = co_await services.models().change(std::move(call), model->name, std::move(change), revision);
  co_return model_response(services, request, done);
}

Task<Response> post_model_rollback(Services& services, Request& request) {
  std::optional<Response> refused;
  const auto model = managed_model(services, request, refused);
  if (refused) co_return std::move(*refused);
  cluster::Call call = call_of(request);
  auto done = co_await services.models().rollback(std::move(call), model->name);
  co_return model_response(services, request, done);
}

Task<Response> post_model_retire(Services& services, Request& request) {
  std::optional<Response> refused;
  const auto model = managed_model(services, request, refused);
  if (refused) co_return std::move(*refused);
  cluster::Call call = call_of(request);
  auto done = co_await services.models().promote(std::move(call), model->name, 0);
  co_return model_response(services, request, done);
}

Task<Response> put_model_grant(Services& services, Request& request) {
  return set_grant(services, request, true);
}
Task<Response> delete_model_grant(Services& services, Request& request) {
  return set_grant(services, request, false);
}

}  // namespace samovar::api
