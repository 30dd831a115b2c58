// Predictions for a few rows, as JSON.

#include "base/json.hpp"
#include "daemon/api/handlers.hpp"
#include "daemon/api/json_body.hpp"
#include "daemon/api/model_support.hpp"
#include "daemon/api/predict_body.hpp"
#include "daemon/api/problem.hpp"
#include "daemon/api/views_models.hpp"
#include "daemon/jobs/model_service.hpp"

namespace samovar::api {

Task<Response> post_model_predict(Services& services, Request& request) {
  auto parsed = parse_predict(request.body);
  if (const auto* fault = std::get_if<FieldError>(&parsed)) {
    if (fault->code.empty()) co_return problem(request, 400, "malformed_json", fault->detail);
    co_return validation_problem(request, {*fault});
  }
  auto& body = std::get<PredictBody>(parsed);
  jobs::PredictRequest wanted;
  wanted.model = std::string(request.param("name"));
  wanted.version = body.version;
  wanted.rows = std::move(body.rows);
  wanted.reasons = body.reasons;
  cluster::Call call = call_of(request);
  auto answer = co_await services.models().predict(std::move(call), std::move(wanted));
  if (!answer) co_return model_problem(answer.error(), request);
  co_return json_response(200, prediction_view(*answer, body.reasons));
}

}  // namespace samovar::api
