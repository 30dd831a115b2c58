// Versions of models: shown, promoted, protected, removed, exported, imported, compared.

#include "base/encoding.hpp"
#include "base/json.hpp"
#include "daemon/api/data_support.hpp"
#include "daemon/api/handlers.hpp"
#include "daemon/api/json_body.hpp"
#include "daemon/api/model_support.hpp"
#include "daemon/api/problem.hpp"
#include "daemon/api/views_models.hpp"
#include "daemon/cluster/model_rights.hpp"
#include "daemon/jobs/model_service.hpp"
#include "security/hash.hpp"

namespace samovar::api {
namespace {

struct Wanted {
  cluster::Model model;
  cluster::ModelVersion version;
};

std::optional<Wanted> wanted_version(Services& services, const Request& request, bool manage,
                                     std::optional<Response>& refused) {
  auto model = manage ? managed_model(services, request, refused) : seen_model(services, request, refused);
  if (refused) return std::nullopt;
  auto version = seen_version(services, request, model->name, refused);
  if (refused) return std::nullopt;
  return Wanted{*std::move(model), *std::move(version)};
}

Response version_response(Services& services, const Request& request, const std::string& model,
                          std::uint32_t number, int status = 200) {
  const auto version = services.cluster().model_version(model, number);
  if (!version) return no_model(request);
  View view = model_version_view(services, call_of(request).actor, *version);
  view["model"] = model;
  return json_response(status, view);
}

std::optional<trainer::ExportKind> export_kind(std::string_view text) {
  if (text == "onnx") return trainer::ExportKind::onnx;
  if (text == "c") return trainer::ExportKind::c;
  if (text == "json") return trainer::ExportKind::json;
  return std::nullopt;
}

Response export_response(const Request& request, Result<trainer::Export> made) {
  if (!made && made.error().code() == Errc::internal)
    return problem(request, 500, "export_mismatch",
                   "The exported file did not give the box's own scores on its test rows, so it is not given "
                   "out. Use another format, and tell the makers.");
  if (!made) return model_problem(made.error(), request);
  Response response;
  response.headers.set("Content-Type", made->media_type);
  response.headers.set("Content-Disposition", attachment(made->file_name, ""));
  response.headers.set("Samovar-SHA256", hex_encode(security::sha256(made->bytes)));
  response.body = as_text(made->bytes);
  return response;
}

// "name@3"; without a number the one in production, else the latest.
struct Side {
  cluster::Model model;
  cluster::ModelVersion version;
};
std::optional<Side> side_of(Services& services, const Request& request, std::string_view which,
                            std::optional<Response>& refused) {
  const std::string_view text = request.query_value(which);
  const std::size_t at = text.rfind('@');
  std::uint32_t number = 0;
  if (at != std::string_view::npos) {
    const auto parsed = parse_version(text.substr(at + 1));
    if (!parsed) refused = problem(request, 400, "bad_query", "Send a and b as name@version.");
    number = parsed.value_or(0);
  }
  if (text.empty()) refused = problem(request, 400, "bad_query", "Send a and b as name@version.");
  if (refused) return std::nullopt;
  auto model = services.models().model(call_of(request).actor, text.substr(0, at));
  auto version = model ? services.cluster().model_version(model->name, number) : std::nullopt;
  if (!version) {
    refused = no_model(request);
    return std::nullopt;
  }
  return Side{*std::move(model), *std::move(version)};
}

Task<View> side_view(Services& services, const Request& request, const Side& side) {
  View view = model_version_view(services, call_of(request).actor, side.version);
  view["model"] = side.model.name;
  cluster::Call call = call_of(request);
  // A comparison without it is still one: an imported model has no evaluation.
  auto evaluation =
      co_await services.models().evaluation(std::move(call), side.model.name, side.version.version);
  view["metrics"] = nullptr;
  if (evaluation && evaluation->is_object() && evaluation->contains("metrics"))
    view["metrics"] = View((*evaluation)["metrics"]);
  co_return view;
}

}  // namespace

Task<Response> get_model_version(Services& services, Request& request) {
  std::optional<Response> refused;
  const auto wanted = wanted_version(services, request, false, refused);
  if (refused) co_return std::move(*refused);
  co_return version_response(services, request, wanted->model.name, wanted->version.version);
}

Task<Response> patch_model_version(Services& services, Request& request) {
  std::optional<Response> refused;
  const auto wanted = wanted_version(services, request, true, refused);
  if (refused) co_return std::move(*refused);
  auto body = take_object(request, refused);
  if (refused) co_return std::move(*refused);
  std::vector<FieldError> errors;
  Fields fields(*body, "", errors);
  const auto protect = fields.flag("protected", Need::required);
  fields.finish();
  if (!errors.empty()) co_return validation_problem(request, std::move(errors));
  cluster::Call call = call_of(request);
  auto done = co_await services.models().protect_version(std::move(call), wanted->model.name,
                                                         wanted->version.version, *protect);
  if (!done) co_return model_problem(done.error(), request);
  co_return version_response(services, request, wanted->model.name, wanted->version.version);
}

Task<Response> delete_model_version(Services& services, Request& request) {
  std::optional<Response> refused;
  const auto wanted = wanted_version(services, request, true, refused);
  if (refused) co_return std::move(*refused);
  cluster::Call call = call_of(request);
  auto done =
      co_await services.models().remove_version(std::move(call), wanted->model.name, wanted->version.version);
  if (!done) co_return model_problem(done.error(), request);
  co_return no_content();
}

Task<Response> get_model_evaluation(Services& services, Request& request) {
  std::optional<Response> refused;
  const auto wanted = wanted_version(services, request, false, refused);
  if (refused) co_return std::move(*refused);
  cluster::Call call = call_of(request);
  auto evaluation =
      co_await services.models().evaluation(std::move(call), wanted->model.name, wanted->version.version);
  if (!evaluation) co_return problem_from(evaluation.error(), request);
  co_return json_response(200, View(*evaluation));
}

Task<Response> post_model_promote(Services& services, Request& request) {
  std::optional<Response> refused;
  const auto wanted = wanted_version(services, request, true, refused);
  if (refused) co_return std::move(*refused);
  cluster::Call call = call_of(request);
  auto done =
      co_await services.models().promote(std::move(call), wanted->model.name, wanted->version.version);
  if (!done) co_return model_problem(done.error(), request);
  Response response = json_response(200, model_detail_view(services, call_of(request).actor, *done));
  response.headers.set("ETag", etag_of(done->revision));
  co_return response;
}

Task<Response> post_model_export(Services& services, Request& request) {
  std::optional<Response> refused;
  const auto wanted = wanted_version(services, request, false, refused);
  if (refused) co_return std::move(*refused);
  if (!cluster::may_export_model(call_of(request).actor, wanted->model))
    co_return problem(
        request, 403, "denied",
        "Only analysts and administrators who own the model, or were granted it, may export it.");
  auto body = take_object(request, refused);
  if (refused) co_return std::move(*refused);
  std::vector<FieldError> errors;
  Fields fields(*body, "", errors);
  const std::string format = fields.text("format", Need::required, {1, 8, false}).value_or("");
  std::string reason = fields.text("reason", Need::required, {3, 500, false}).value_or("");
  const auto kind = export_kind(format);
  if (!kind && errors.empty()) fields.fail("format", "choice", "format must be onnx, c or json.");
  fields.finish();
  if (!errors.empty()) co_return validation_problem(request, std::move(errors));
  cluster::Call call = call_of(request);
  auto made = co_await services.models().export_version(std::move(call), wanted->model.name,
                                                        wanted->version.version, *kind, std::move(reason));
  co_return export_response(request, std::move(made));
}

Task<Response> post_models_import(Services& services, Request& request) {
  const std::string name(request.query_value("name"));
  if (auto fits = cluster::check_model_name(name); !fits)
    co_return problem(request, 400, "bad_query", fits.error().message() + ".");
  if (request.body.empty())
    co_return validation_problem(request, {{"", "required", "Send the JSON export as the body."}});
  cluster::Call call = call_of(request);
  auto made = co_await services.models().import_json(std::move(call), name, std::move(request.body));
  if (!made) co_return problem_from(made.error(), request);
  Response response = version_response(services, request, made->model, made->version, 201);
  response.headers.set("Location",
                       "/api/v1/models/" + made->model + "/versions/" + std::to_string(made->version));
  co_return response;
}

Task<Response> get_models_compare(Services& services, Request& request) {
  std::optional<Response> refused;
  const auto a = side_of(services, request, "a", refused);
  if (refused) co_return std::move(*refused);
  const auto b = side_of(services, request, "b", refused);
  if (refused) co_return std::move(*refused);
  View left = co_await side_view(services, request, *a);
  View right = co_await side_view(services, request, *b);
  const auto spec = [](const Side& side) {
    return nlohmann::json::parse(side.version.spec_json, nullptr, false);
  };
  const View body = {
      {"a", std::move(left)}, {"b", std::move(right)}, {"differences", differences(spec(*a), spec(*b))}};
  co_return json_response(200, body);
}

}  // namespace samovar::api
