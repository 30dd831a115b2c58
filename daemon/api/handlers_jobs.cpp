// Jobs: checked, estimated, started, watched, steered. Who may see and steer which one is settled by the
// service from daemon/cluster/model_rights.hpp.
#include <charconv>
#include <cmath>

#include "base/json.hpp"
#include "daemon/api/handlers.hpp"
#include "daemon/api/idempotency.hpp"
#include "daemon/api/json_body.hpp"
#include "daemon/api/model_support.hpp"
#include "daemon/api/problem.hpp"
#include "daemon/api/views_models.hpp"
#include "daemon/jobs/model_service.hpp"
#include "daemon/jobs/priority.hpp"
#include "daemon/jobs/time_to_target.hpp"

namespace samovar::api {
namespace {

constexpr std::size_t kLogLinesMax = 1000;

Response job_response(Services& services, const Request& request, const Result<jobs::Job>& job,
                      int status = 200) {
  if (!job) return job_problem(job.error(), request);
  Response response = json_response(status, job_view(services, call_of(request).actor, *job));
  response.headers.set("ETag", etag_of(job->record.revision));
  return response;
}

Response invalid_spec(const Request& request, const std::vector<trainer::SpecFault>& faults) {
  Problem told{422, "invalid_spec", {}, "Correct what errors[] names and send the job again.", {}, {}};
  if (faults.size() == 1) told.detail = faults[0].detail;
  for (const auto& fault : faults) told.errors.push_back({fault.pointer, fault.code, fault.detail});
  return to_response(told, request);
}

struct Asked : trainer::ParsedSpec {
  // Beside the spec: which job comes first is no part of what makes a model, and may change.
  int priority = 0;
};

// The body as a spec that is checked against its data set; an answer when it is not even readable.
std::optional<Asked> take_spec(Services& services, Request& request, std::optional<Response>& refused) {
  auto body = take_object(request, refused);
  if (refused) return std::nullopt;
  std::optional<int> priority = 0;
  if (const auto given = body->find("priority"); given != body->end()) {
    if (!given->is_null()) priority = jobs::parse_priority(*given);
    body->erase(given);
  }
  auto parsed = services.models().check(call_of(request).actor, *body);
  if (parsed && !priority) parsed->faults.push_back({"/priority", "choice", jobs::kPriorityFault});
  if (parsed) return Asked{*std::move(parsed), priority.value_or(0)};
  refused = problem_from(parsed.error(), request);
  return std::nullopt;
}

// And without a fault.
std::optional<Asked> take_valid_spec(Services& services, Request& request, std::optional<Response>& refused) {
  auto parsed = take_spec(services, request, refused);
  if (refused) return std::nullopt;
  if (parsed->faults.empty()) return parsed;
  refused = invalid_spec(request, parsed->faults);
  return std::nullopt;
}

Task<Created> create_job(Services& services, Request& request, std::string request_id) {
  std::optional<Response> refused;
  auto asked = take_valid_spec(services, request, refused);
  if (refused) co_return Created{std::move(*refused), {}};
  cluster::Call call = call_of(request, std::move(request_id));
  auto job = co_await services.models().start(std::move(call), std::move(asked->spec), asked->priority);
  Response response = job_response(services, request, job, 201);
  if (job) response.headers.set("Location", "/api/v1/jobs/" + job->record.id);
  co_return Created{std::move(response), {}};
}

std::optional<std::uint64_t> number_of(const Request& request, std::string_view name, std::uint64_t otherwise,
                                       std::optional<Response>& refused) {
  const std::string_view text = request.query_value(name);
  if (text.empty()) return otherwise;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc{} && end == text.data() + text.size()) return value;
  refused = problem(request, 400, "bad_query", std::string(name) + " must be a number, 0 or more.");
  return std::nullopt;
}

View to_target_view(const std::optional<jobs::TimeToTarget>& found) {
  if (!found) return nullptr;
  const auto or_null = [](const std::optional<double>& value) {
    return value ? View(*value) : View(nullptr);
  };
  return {{"loss", found->loss}, {"seconds", or_null(found->seconds)}, {"joules", or_null(found->joules)}};
}

// Marked as read; "high" as well as 10.
std::optional<int> take_priority(const nlohmann::json& body, Fields& fields) {
  const auto found = body.find("priority");
  if (found == body.end()) return std::nullopt;
  static_cast<void>(fields.is_null("priority"));
  const auto priority = jobs::parse_priority(*found);
  if (!priority) fields.fail("priority", "choice", jobs::kPriorityFault);
  return priority;
}

using Steer = Task<Result<jobs::Job>> (jobs::ModelService::*)(cluster::Call, std::string);

Task<Response> steer(Services& services, Request& request, Steer what) {
  cluster::Call call = call_of(request);
  auto job = co_await (services.models().*what)(std::move(call), std::string(request.param("id")));
  co_return job_response(services, request, job);
}

}  // namespace

Task<Response> get_algorithms(Services&, Request&) {
  co_return json_response(200, page_view(View(trainer::algorithms()), ""));
}

Task<Response> post_jobs_check(Services& services, Request& request) {
  std::optional<Response> refused;
  auto parsed = take_spec(services, request, refused);
  if (refused) co_return std::move(*refused);
  View faults = View::array();
  for (const auto& fault : parsed->faults)
    faults.push_back({{"pointer", fault.pointer}, {"code", fault.code}, {"detail", fault.detail}});
  View spec = View(trainer::to_json(parsed->spec));
  spec["priority"] = parsed->priority;
  View advice = View::array();
  // Advice is about the data: only for what could be started.
  if (parsed->faults.empty()) {
    cluster::Call call = call_of(request);
    auto said = co_await services.models().advise(std::move(call), std::move(parsed->spec));
    if (!said) co_return problem_from(said.error(), request);
    advice = *said;
  }
  const View body = {{"spec", std::move(spec)}, {"faults", std::move(faults)}, {"advice", std::move(advice)}};
  co_return json_response(200, body);
}

Task<Response> post_jobs_estimate(Services& services, Request& request) {
  std::optional<Response> refused;
  auto asked = take_valid_spec(services, request, refused);
  if (refused) co_return std::move(*refused);
  cluster::Call call = call_of(request);
  auto estimate = co_await services.models().estimate(std::move(call), std::move(asked->spec));
  if (!estimate) co_return problem_from(estimate.error(), request);
  co_return json_response(200, estimate_view(*estimate));
}

Task<Response> post_jobs(Services& services, Request& request) {
  return idempotent(services, request, [&services, &request](std::string request_id) {
    return create_job(services, request, std::move(request_id));
  });
}

Task<Response> get_jobs(Services& services, Request& request) {
  std::optional<Response> refused;
  const auto page = page_of(request, refused);
  if (refused) co_return std::move(*refused);
  const cluster::Actor actor = call_of(request).actor;
  const std::string_view state = request.query_value("state");
  View items = View::array();
  std::string next_cursor;
  // Ids are ULIDs: their order is that of their making, and the list is newest first.
  for (const jobs::Job& job : services.models().jobs(actor, {})) {
    if (!state.empty() && state_name(job.state) != state) continue;
    if (!page.cursor.empty() && job.record.id >= page.cursor) continue;
    if (items.size() == page.limit) {
      next_cursor = items.back()["id"].get<std::string>();
      break;
    }
    items.push_back(job_view(services, actor, job));
  }
  co_return json_response(200, page_view(std::move(items), next_cursor));
}

Task<Response> get_job(Services& services, Request& request) {
  co_return job_response(services, request,
                         services.models().job(call_of(request).actor, request.param("id")));
}

Task<Response> patch_job(Services& services, Request& request) {
  std::optional<Response> refused;
  auto body = take_object(request, refused);
  if (refused) co_return std::move(*refused);
  std::vector<FieldError> errors;
  Fields fields(*body, "", errors);
  const bool urges = fields.has("priority");
  const auto protect = fields.flag("protected", urges ? Need::optional : Need::required);
  const auto priority = take_priority(*body, fields);
  fields.finish();
  if (!errors.empty()) co_return validation_problem(request, std::move(errors));
  const std::string id(request.param("id"));
  Result<jobs::Job> job = Error{Errc::internal, "nothing was asked for"};
  if (priority) {
    cluster::Call call = call_of(request);
    job = co_await services.models().prioritize(std::move(call), id, *priority);
  }
  if (protect && (job || !priority)) {
    cluster::Call call = call_of(request);
    job = co_await services.models().protect(std::move(call), id, *protect);
  }
  co_return job_response(services, request, job);
}

Task<Response> delete_job(Services& services, Request& request) {
  cluster::Call call = call_of(request);
  auto done = co_await services.models().remove(std::move(call), std::string(request.param("id")));
  if (!done) co_return job_problem(done.error(), request);
  co_return no_content();
}

Task<Response> post_job_pause(Services& services, Request& request) {
  return steer(services, request, &jobs::ModelService::pause);
}
Task<Response> post_job_resume(Services& services, Request& request) {
  return steer(services, request, &jobs::ModelService::resume);
}
Task<Response> post_job_cancel(Services& services, Request& request) {
  return steer(services, request, &jobs::ModelService::cancel);
}
Task<Response> post_job_retry(Services& services, Request& request) {
  return steer(services, request, &jobs::ModelService::retry);
}

Task<Response> get_job_metrics(Services& services, Request& request) {
  const auto metrics = services.models().metrics(call_of(request).actor, request.param("id"));
  if (!metrics) co_return job_problem(metrics.error(), request);
  std::optional<double> target;
  if (const std::string_view text = request.query_value("target"); !text.empty()) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value))
      co_return problem(request, 400, "bad_query", "target must be a number: a loss to be reached.");
    target = value;
  }
  View body = metrics_view(*metrics);
  body["to_target"] = to_target_view(jobs::time_to_target(*metrics, target));
  co_return json_response(200, body);
}

Task<Response> get_job_logs(Services& services, Request& request) {
  std::optional<Response> refused;
  const auto after = number_of(request, "after", 0, refused);
  const auto limit = number_of(request, "limit", 200, refused);
  if (refused) co_return std::move(*refused);
  if (*limit < 1 || *limit > kLogLinesMax)
    co_return problem(request, 400, "bad_query", "limit must be 1 to 1000.");
  const auto lines = services.models().logs(call_of(request).actor, request.param("id"), *after,
                                            static_cast<std::size_t>(*limit));
  if (!lines) co_return job_problem(lines.error(), request);
  View items = View::array();
  for (const auto& line : *lines) items.push_back(log_line_view(line));
  co_return json_response(200, page_view(std::move(items), ""));
}

}  // namespace samovar::api
