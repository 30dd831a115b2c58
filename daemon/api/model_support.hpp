// What the handlers on jobs and models share: which one, which version, and how its errors are told.
//
// Threading: loop only.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "daemon/api/auth.hpp"
#include "daemon/api/services.hpp"
#include "daemon/cluster/model_types.hpp"

namespace samovar::api {

// 404 no_model, whatever the reason it is out of sight.
Response no_model(const Request& request);
// As problem_from, with no_model for what is not there.
Response model_problem(const Error& error, const Request& request);
// As problem_from; a conflict without a name of its own is about the job's state.
Response job_problem(const Error& error, const Request& request);

// {name}; 404 when it is not there or not theirs to see.
std::optional<cluster::Model> seen_model(Services& services, const Request& request,
                                         std::optional<Response>& refused);
// And 403 when it is neither theirs nor they an administrator.
std::optional<cluster::Model> managed_model(Services& services, const Request& request,
                                            std::optional<Response>& refused);
// {version} of a model that they may see.
std::optional<cluster::ModelVersion> seen_version(Services& services, const Request& request,
                                                  std::string_view name, std::optional<Response>& refused);
// 1 or more; nothing else.
std::optional<std::uint32_t> parse_version(std::string_view text);

}  // namespace samovar::api
