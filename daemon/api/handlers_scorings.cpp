// Batches of predictions: over a data set or an uploaded file, with the result as CSV.

#include "base/json.hpp"
#include "daemon/api/data_support.hpp"
#include "daemon/api/handlers.hpp"
#include "daemon/api/idempotency.hpp"
#include "daemon/api/json_body.hpp"
#include "daemon/api/model_support.hpp"
#include "daemon/api/problem.hpp"
#include "daemon/api/views_models.hpp"
#include "daemon/jobs/model_service.hpp"

namespace samovar::api {
namespace {

Task<Created> create_scoring(Services& services, Request& request, std::string request_id) {
  std::optional<Response> refused;
  auto body = take_object(request, refused);
  if (refused) co_return Created{std::move(*refused), {}};
  std::vector<FieldError> errors;
  Fields fields(*body, "", errors);
  jobs::ScoringRequest wanted;
  wanted.model = fields.text("model", Need::required, {1, cluster::kModelNameBytesMax, false}).value_or("");
  wanted.version =
      static_cast<std::uint32_t>(fields.integer("version", Need::optional, 1, INT32_MAX).value_or(0));
  wanted.dataset_id = fields.text("dataset_id", Need::optional, {1, 64, false}).value_or("");
  wanted.dataset_version =
      static_cast<std::uint32_t>(fields.integer("dataset_version", Need::optional, 1, INT32_MAX).value_or(0));
  wanted.upload_id = fields.text("upload_id", Need::optional, {1, 64, false}).value_or("");
  wanted.keep = fields.texts("keep", Need::optional, 4096).value_or(std::vector<std::string>{});
  fields.finish();
  if (errors.empty() && wanted.dataset_id.empty() == wanted.upload_id.empty())
    errors.push_back({"", "conflict", "Send either dataset_id or upload_id."});
  if (!errors.empty()) co_return Created{validation_problem(request, std::move(errors)), {}};
  cluster::Call call = call_of(request, std::move(request_id));
  auto scoring = co_await services.models().start_scoring(std::move(call), std::move(wanted));
  if (!scoring) co_return Created{problem_from(scoring.error(), request), {}};
  Response response = json_response(202, scoring_view(*scoring));
  response.headers.set("Location", "/api/v1/scorings/" + scoring->id);
  co_return Created{std::move(response), {}};
}

}  // namespace

Task<Response> post_scorings(Services& services, Request& request) {
  return idempotent(services, request, [&services, &request](std::string request_id) {
    return create_scoring(services, request, std::move(request_id));
  });
}

Task<Response> get_scorings(Services& services, Request& request) {
  View items = View::array();
  for (const auto& scoring : services.models().scorings(call_of(request).actor))
    items.push_back(scoring_view(scoring));
  co_return json_response(200, page_view(std::move(items), ""));
}

Task<Response> get_scoring(Services& services, Request& request) {
  const auto scoring = services.models().scoring(call_of(request).actor, request.param("id"));
  if (!scoring) co_return problem_from(scoring.error(), request);
  co_return json_response(200, scoring_view(*scoring));
}

Task<Response> get_scoring_result(Services& services, Request& request) {
  const auto scoring = services.models().scoring(call_of(request).actor, request.param("id"));
  if (!scoring) co_return problem_from(scoring.error(), request);
  cluster::Call call = call_of(request);
  auto stream = co_await services.models().scoring_result(std::move(call), scoring->id);
  if (!stream) co_return job_problem(stream.error(), request);
  Response response;
  response.headers.set("Content-Type", "text/csv; charset=utf-8");
  response.headers.set("Content-Disposition", attachment(scoring->model + "-" + scoring->id, ".csv"));
  response.stream = streamed_body(*std::move(stream));
  co_return response;
}

Task<Response> delete_scoring(Services& services, Request& request) {
  cluster::Call call = call_of(request);
  auto done = co_await services.models().remove_scoring(std::move(call), std::string(request.param("id")));
  if (!done) co_return job_problem(done.error(), request);
  co_return no_content();
}

}  // namespace samovar::api
