// What the handlers on data sets share: which data set, and may they.
//
// Threading: loop only.
#pragma once
#include <cstdint>
#include <optional>

#include "daemon/api/auth.hpp"
#include "daemon/api/services.hpp"
#include "daemon/cluster/dataset_types.hpp"

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

}  // namespace samovar::api
