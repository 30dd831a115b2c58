#include "daemon/api/model_support.hpp"

#include <charconv>

#include "daemon/api/handlers.hpp"
#include "daemon/api/problem.hpp"
#include "daemon/cluster/model_rights.hpp"
#include "daemon/jobs/model_service.hpp"

namespace samovar::api {

Response no_model(const Request& request) {
  return problem(request, 404, "no_model", "There is no such model or version, or you may not see it.");
}

Response model_problem(const Error& error, const Request& request) {
  return error.code() == Errc::not_found ? no_model(request) : problem_from(error, request);
}

Response job_problem(const Error& error, const Request& request) {
  if (error.code() == Errc::conflict && cluster::refusal_of(error) == cluster::Refusal::none)
    return problem(request, 409, "job_state", error.message());
  return problem_from(error, request);
}

std::optional<cluster::Model> seen_model(Services& services, const Request& request,
                                         std::optional<Response>& refused) {
  auto model = services.models().model(call_of(request).actor, request.param("name"));
  if (model) return *std::move(model);
  refused = model_problem(model.error(), request);
  return std::nullopt;
}

std::optional<cluster::Model> managed_model(Services& services, const Request& request,
                                            std::optional<Response>& refused) {
  auto model = seen_model(services, request, refused);
  if (refused || cluster::may_manage_model(call_of(request).actor, *model)) return model;
  refused = problem(request, 403, "denied", "Only the owner of a model or an administrator may do this.");
  return std::nullopt;
}

std::optional<std::uint32_t> parse_version(std::string_view text) {
  std::uint32_t version = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), version);
  if (error != std::errc{} || end != text.data() + text.size() || version == 0) return std::nullopt;
  return version;
}

std::optional<cluster::ModelVersion> seen_version(Services& services, const Request& request,
                                                  std::string_view name, std::optional<Response>& refused) {
  const auto number = parse_version(request.param("version"));
  auto version = number ? services.cluster().model_version(name, *number) : std::nullopt;
  if (!version) refused = no_model(request);
  return version;
}

}  // namespace samovar::api
