// What the handlers on data sets share: which data set, and may they.
//
// Threading: loop only.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "daemon/api/auth.hpp"
#include "daemon/api/services.hpp"
#include "daemon/cluster/dataset_types.hpp"
#include "daemon/jobs/data_service.hpp"

namespace samovar::api {

// {id}; 404 when it is not there or not theirs to see.
std::optional<cluster::Dataset> seen_dataset(Services& services, const Request& request,
                                             std::optional<Response>& refused);
// And 403 when it is neither theirs nor they an administrator.
std::optional<cluster::Dataset> managed_dataset(Services& services, const Request& request,
                                                std::optional<Response>& refused);
// ?version, the latest without; 400 when it is no number, 404 when there is no such version.
std::uint32_t version_of(Services& services, const Request& request, const cluster::Dataset& dataset,
                         std::optional<Response>& refused);

// The service's stream as the engine reads it.
std::shared_ptr<BodySource> streamed_body(std::unique_ptr<jobs::ByteStream> stream);
// Content-Disposition, RFC 6266: a plain name for old readers, the real one for the rest.
std::string attachment(std::string_view name, std::string_view ending);

// By id, or by name: who shares something need not be one who may list the users.
std::optional<cluster::User> find_user(Services& services, std::string_view who);

}  // namespace samovar::api
