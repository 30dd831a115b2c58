// The Open Inference Protocol, version 2: https://github.com/kserve/open-inference-protocol
//
// Errors are its own {"error": …}, of status 400 unless another one says more.

#include "base/json.hpp"
#include "daemon/api/handlers.hpp"
#include "daemon/api/json_body.hpp"
#include "daemon/api/model_support.hpp"
#include "daemon/api/oip_body.hpp"
#include "daemon/api/problem.hpp"
#include "daemon/api/views_models.hpp"
#include "daemon/cluster/model_rights.hpp"
#include "daemon/jobs/model_service.hpp"

namespace samovar::api {
namespace {

Response oip_error(int status, std::string_view message) {
  return json_response(status, View{{"error", message}});
}

Response oip_no_model(const Request& request) {
  return oip_error(404, "there is no model '" + std::string(request.param("name")) +
                            "' in this version, or you may not use it");
}

Response oip_problem(const Error& error, const Request& request) {
  switch (error.code()) {
    case Errc::not_found:
    case Errc::denied:
      return oip_no_model(request);
    case Errc::invalid:
      return oip_error(400, error.message());
    default:
      // The rest has a status of its own, and is logged there.
      return problem_from(error, request);
  }
}

struct Target {
  cluster::Model model;
  cluster::ModelVersion version;
};

// {name} and {version}, of those the caller may use; without one the version in production, else the latest.
std::optional<Target> target_of(Services& services, const Request& request) {
  const cluster::Actor actor = call_of(request).actor;
  auto model = services.models().model(actor, request.param("name"));
  if (!model || !cluster::may_use_model(actor, *model)) return std::nullopt;
  const std::string_view text = request.param("version");
  const auto number = parse_version(text);
  if (!text.empty() && !number) return std::nullopt;
  auto version = services.cluster().model_version(model->name, number.value_or(0));
  if (!version) return std::nullopt;
  return Target{*std::move(model), *std::move(version)};
}

View tensor_view(const std::string& name, std::string_view type, View shape) {
  return {{"name", name}, {"datatype", type}, {"shape", std::move(shape)}};
}

View inputs_view(const View& signature) {
  View inputs = View::array();
  if (!signature.contains("inputs") || !signature["inputs"].is_array()) return inputs;
  for (const View& input : signature["inputs"])
    inputs.push_back(
        tensor_view(input.value("name", ""), oip_datatype(input.value("type", "")), View::array({-1})));
  return inputs;
}

View outputs_view(const View& signature) {
  View outputs = View::array();
  outputs.push_back(tensor_view("prediction", "FP64", View::array({-1})));
  const bool classes = signature.contains("classes") && signature["classes"].is_array();
  if (classes && !signature["classes"].empty()) {
    outputs.push_back(tensor_view("label", "BYTES", View::array({-1})));
    const auto count = static_cast<std::int64_t>(signature["classes"].size());
    outputs.push_back(tensor_view("probabilities", "FP64", View::array({std::int64_t{-1}, count})));
  }
  return outputs;
}

}  // namespace

Task<Response> get_oip_server(Services&, Request&) {
  const View body = {{"name", "samovar"}, {"version", SAMOVAR_VERSION}, {"extensions", View::array()}};
  co_return json_response(200, body);
}

Task<Response> get_oip_live(Services&, Request&) { co_return json_response(200, View{{"live", true}}); }

Task<Response> get_oip_ready(Services& services, Request&) {
  const bool ready = services.node.phase() == Phase::ready && services.node.models() != nullptr;
  // Both words: the text of the protocol says "live" here, its readers look for "ready".
  co_return json_response(ready ? 200 : 503, View{{"live", true}, {"ready", ready}});
}

Task<Response> get_oip_model(Services& services, Request& request) {
  const auto target = target_of(services, request);
  if (!target) co_return oip_no_model(request);
  View versions = View::array();
  for (const auto& version : services.cluster().model_versions(target->model.name))
    versions.push_back(std::to_string(version.version));
  const View signature = document_view(target->version.signature_json);
  const View body = {{"name", target->model.name},
                     {"versions", std::move(versions)},
                     {"platform", "samovar_" + target->model.kind},
                     {"inputs", inputs_view(signature)},
                     {"outputs", outputs_view(signature)}};
  co_return json_response(200, body);
}

Task<Response> get_oip_model_ready(Services& services, Request& request) {
  const auto target = target_of(services, request);
  if (!target) co_return oip_no_model(request);
  const bool ready =
      services.models().ready_to_predict(call_of(request).actor, target->model.name, target->version.version);
  co_return json_response(ready ? 200 : 503, View{{"name", target->model.name}, {"ready", ready}});
}

Task<Response> post_oip_infer(Services& services, Request& request) {
  const std::string_view wanted = request.param("version");
  const auto version = parse_version(wanted);
  if (!wanted.empty() && !version) co_return oip_no_model(request);
  if (request.headers.has("Inference-Header-Content-Length"))
    co_return oip_error(400, "binary tensor data is not supported: send the data as JSON");
  auto parsed = parse_oip_request(request.body);
  if (!parsed) co_return oip_error(400, parsed.error().message());
  jobs::PredictRequest asked;
  asked.model = std::string(request.param("name"));
  asked.version = version.value_or(0);
  asked.rows = std::move(parsed->rows);
  asked.reasons = parsed->explain;
  cluster::Call call = call_of(request);
  auto answer = co_await services.models().predict(std::move(call), std::move(asked));
  if (!answer) co_return oip_problem(answer.error(), request);
  OipAnswer told;
  told.model = std::move(answer->model);
  told.version = answer->version;
  told.classes = std::move(answer->classes);
  told.predictions = std::move(answer->predictions);
  told.warnings = std::move(answer->warnings);
  auto body = oip_response(*parsed, told);
  if (!body) co_return oip_error(400, body.error().message());
  co_return json_response(200, *body);
}

}  // namespace samovar::api
