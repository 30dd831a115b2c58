
#include "base/encoding.hpp"
#include "base/ids.hpp"
#include "base/json.hpp"
#include "daemon/api/handlers.hpp"
#include "daemon/api/handlers_power.hpp"
#include "daemon/api/json_body.hpp"
#include "daemon/api/problem.hpp"
#include "daemon/api/time_zone.hpp"
#include "daemon/api/views.hpp"

namespace samovar::api {
namespace {

Response cluster_response(Services& services) {
  Response response = json_response(200, cluster_view(services));
  const auto info = services.cluster().info();
  response.headers.set("ETag", etag_of(info ? info->revision : 0));
  return response;
}

// Stored documents may be older than a field: defaults fill what is absent.
View general_view(const cluster::Setting& setting) {
  const auto stored = nlohmann::json::parse(setting.json, nullptr, false);
  View view = {{"login_banner", ""}, {"idle_minutes", kIdleMinutesDefault}};
  if (!stored.is_object()) return view;
  if (stored.contains("login_banner") && stored["login_banner"].is_string())
    view["login_banner"] = stored["login_banner"];
  if (stored.contains("idle_minutes") && stored["idle_minutes"].is_number_integer())
    view["idle_minutes"] = stored["idle_minutes"];
  return view;
}

Response general_response(const cluster::Setting& setting) {
  Response response = json_response(200, general_view(setting));
  response.headers.set("ETag", etag_of(setting.revision));
  return response;
}

Response tls_response(Services& services) {
  const WebCertificate& web = services.node.web_certificate();
  const View body = {{"fingerprint_sha256", web.fingerprint},
                     {"not_after", format_time(web.not_after)},
                     {"names", web.names},
                     {"web_ca_fingerprint", web.ca_fingerprint}};
  Response response = json_response(200, body);
  response.headers.set("ETag", "\"" + web.fingerprint + "\"");
  return response;
}

}  // namespace

Task<Response> get_cluster(Services& services, Request&) { co_return cluster_response(services); }

// Two nodes at one index have one hash, or one of them is wrong. A walk over the whole state: for whoever
// watches over it, not for pages.
Task<Response> get_cluster_state(Services& services, Request&) {
  const auto& state = services.cluster();
  View view = View::object();
  view["node"] = services.node.facts().id;
  view["index"] = state.status().applied_index;
  view["term"] = state.status().term;
  view["hash"] = hex_encode(state.state_hash());
  co_return json_response(200, view);
}

Task<Response> patch_cluster(Services& services, Request& request) {
  std::optional<Response> refused;
  const auto revision = if_match(request, refused);
  if (refused) co_return std::move(*refused);
  auto body = take_object(request, refused);
  if (refused) co_return std::move(*refused);
  std::vector<FieldError> errors;
  Fields fields(*body, "", errors);
  cluster::ClusterChange change;
  change.name = fields.text("name", Need::optional, {1, 64, false});
  change.time_zone = fields.text("time_zone", Need::optional, {1, 64, false});
  if (change.time_zone && !zone_known(*change.time_zone))
    fields.fail("time_zone", "format", "Not a known time zone; write e.g. Europe/Berlin or UTC.");
  fields.finish();
  if (errors.empty() && !change.name && !change.time_zone)
    errors.push_back({"", "required", "Nothing to change was sent."});
  if (!errors.empty()) co_return validation_problem(request, std::move(errors));
  auto done = co_await services.cluster().update_cluster(call_of(request), std::move(change), revision);
  if (!done) co_return problem_from(done.error(), request);
  co_return cluster_response(services);
}

Task<Response> get_alerts(Services& services, Request&) {
  co_return json_response(200, page_view(alerts_view(services), ""));
}

Task<Response> get_setting(Services& services, Request& request) {
  const std::string_view key = request.param("key");
  if (key == "general") co_return general_response(services.cluster().setting("general"));
  if (key == "tls") co_return tls_response(services);
  if (key == "power") co_return get_power_setting(services);
  co_return not_found(request);
}

Task<Response> put_setting(Services& services, Request& request) {
  const std::string_view key = request.param("key");
  if (key == "tls")
    co_return problem(request, 409, "read_only", "The settings document tls cannot be changed here.");
  if (key == "power") co_return co_await put_power_setting(services, request);
  if (key != "general") co_return not_found(request);
  std::optional<Response> refused;
  const auto revision = if_match(request, refused);
  if (refused) co_return std::move(*refused);
  auto body = take_object(request, refused);
  if (refused) co_return std::move(*refused);
  std::vector<FieldError> errors;
  Fields fields(*body, "", errors);
  const auto banner = fields.text("login_banner", Need::required, {0, 1000, true});
  const auto minutes = fields.integer("idle_minutes", Need::required, 5, 15);
  fields.finish();
  if (!errors.empty()) co_return validation_problem(request, std::move(errors));
  const nlohmann::json document = {{"login_banner", *banner}, {"idle_minutes", *minutes}};
  auto done = co_await services.cluster().put_setting(call_of(request), "general", document.dump(), revision);
  if (!done) co_return problem_from(done.error(), request);
  co_return general_response(*done);
}

}  // namespace samovar::api
