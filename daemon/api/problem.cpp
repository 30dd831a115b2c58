#include "daemon/api/problem.hpp"

#include <algorithm>

#include "base/json.hpp"
#include "base/log.hpp"
#include "daemon/cluster/types.hpp"

namespace samovar::api {
namespace {

using Json = nlohmann::ordered_json;

struct Mapped {
  int status;
  std::string_view code;
};

// Refusals that callers treat differently have codes of their own.
std::optional<Mapped> mapped_refusal(const Error& error) {
  switch (cluster::refusal_of(error)) {
    case cluster::Refusal::none:
      return std::nullopt;
    case cluster::Refusal::stale_revision:
      return Mapped{412, "stale"};
    case cluster::Refusal::name_taken:
      return Mapped{409, "name_taken"};
    case cluster::Refusal::last_admin:
      return Mapped{409, "last_admin"};
    case cluster::Refusal::own_account:
      return Mapped{409, "own_account"};
    case cluster::Refusal::already_done:
      return Mapped{409, "already_set_up"};
    case cluster::Refusal::request_reused:
      return Mapped{422, "idempotency_key_reused"};
    case cluster::Refusal::dataset_name_taken:
      return Mapped{409, "name_taken"};
    case cluster::Refusal::dataset_busy:
      return Mapped{409, "dataset_busy"};
    case cluster::Refusal::dataset_binned:
      return Mapped{409, "dataset_binned"};
    case cluster::Refusal::dataset_not_binned:
      return Mapped{409, "dataset_not_binned"};
    case cluster::Refusal::owns_datasets:
      return Mapped{409, "owns_datasets"};
    case cluster::Refusal::owns_models:
      return Mapped{409, "owns_models"};
    case cluster::Refusal::dataset_needed:
      return Mapped{409, "dataset_needed"};
    case cluster::Refusal::job_state:
      return Mapped{409, "job_state"};
    case cluster::Refusal::job_protected:
      return Mapped{409, "job_protected"};
    case cluster::Refusal::model_name_taken:
      return Mapped{409, "name_taken"};
    case cluster::Refusal::model_serving:
      return Mapped{409, "model_serving"};
    case cluster::Refusal::model_protected:
      return Mapped{409, "model_protected"};
    case cluster::Refusal::no_rollback:
      return Mapped{409, "no_rollback"};
    case cluster::Refusal::node_known:
      return Mapped{409, "node_known"};
    case cluster::Refusal::last_node:
      return Mapped{409, "last_node"};
    case cluster::Refusal::last_active:
      return Mapped{409, "last_node"};
    case cluster::Refusal::last_copies:
      return Mapped{409, "unsafe_removal"};
    case cluster::Refusal::no_quorum:
      return Mapped{503, "no_quorum"};
  }
  return std::nullopt;
}

Mapped mapped(const Error& error) {
  if (const auto refusal = mapped_refusal(error)) return *refusal;
  switch (error.code()) {
    case Errc::invalid:
      return {422, "validation"};
    case Errc::not_found:
      return {404, "not_found"};
    case Errc::denied:
      return {403, "denied"};
    case Errc::conflict:
      return {409, "conflict"};
    case Errc::busy:
      return {503, "busy"};
    case Errc::timeout:
      return {503, "timeout"};
    case Errc::no_space:
      return {507, "disk_full"};
    case Errc::unavailable:
      return {503, "unavailable"};
    case Errc::unsupported:
      return {501, "unsupported"};
    case Errc::corrupt:
    case Errc::io:
    case Errc::internal:
      break;
  }
  return {500, "internal"};
}

}  // namespace

std::string_view status_phrase(int status) noexcept {
  switch (status) {
    case 400:
      return "The request is malformed";
    case 401:
      return "Not logged in";
    case 403:
      return "Refused";
    case 404:
      return "Not found";
    case 405:
      return "Method not allowed";
    case 409:
      return "The state does not permit it";
    case 412:
      return "Changed meanwhile";
    case 413:
      return "Too large";
    case 415:
      return "Wrong content type";
    case 422:
      return "Not valid";
    case 423:
      return "Locked";
    case 428:
      return "If-Match is needed";
    case 429:
      return "Too many attempts";
    case 501:
      return "Not supported";
    case 503:
      return "Not available now";
    case 507:
      return "The disk is full";
    default:
      return "Something failed";
  }
}

Response to_response(const Problem& problem, const Request& request) {
  Json body = {
      {"type", "urn:samovar:problem:" + problem.code},
      {"title", problem.title.empty() ? std::string(status_phrase(problem.status)) : problem.title},
      {"status", problem.status},
      {"detail", problem.detail},
      {"instance", request.path},
      {"code", problem.code},
      {"trace_id", request.trace_id},
  };
  if (!problem.errors.empty()) {
    body["errors"] = Json::array();
    for (const auto& e : problem.errors)
      body["errors"].push_back({{"pointer", e.pointer}, {"code", e.code}, {"detail", e.detail}});
  }
  if (!problem.extra_name.empty()) body[problem.extra_name] = Json::parse(problem.extra, nullptr, false);
  // The Open Inference Protocol has one member for errors; the rest tells more to those who know us.
  if (request.path.starts_with("/v2")) body["error"] = problem.detail;
  if (problem.retry_after) body["retry_after_s"] = problem.retry_after->count();
  Response response;
  response.status = problem.status;
  response.headers.set("Content-Type", "application/problem+json");
  if (problem.retry_after) {
    response.headers.set("Retry-After",
                         std::to_string(std::max<std::int64_t>(1, problem.retry_after->count())));
  } else if (problem.status == 503) {
    response.headers.set("Retry-After", "2");
  }
  // `replace`: the path may hold bytes that are not UTF-8, and an error must never fail to be told.
  response.body = body.dump(-1, ' ', false, Json::error_handler_t::replace);
  return response;
}

Response validation_problem(const Request& request, std::vector<FieldError> errors) {
  std::string detail = "Correct the fields in errors[] and send the request again.";
  if (errors.size() == 1) detail = errors[0].detail;
  return to_response({422, "validation", {}, std::move(detail), std::move(errors), {}}, request);
}

Response problem_from(const Error& error, const Request& request) {
  const Mapped to = mapped(error);
  if (to.status == 500) {
    SAMOVAR_LOG(error, api, "request failed", kv("trace", request.trace_id), kv("path", request.path),
                kv("error", error.message()), kv("file", error.file()), kv("line", error.line()));
    return problem(
        request, 500, to.code,
        "The node could not do this; its journal has the reason under trace " + request.trace_id + ".");
  }
  return problem(request, to.status, to.code, error.message());
}

}  // namespace samovar::api
