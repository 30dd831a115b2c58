// THE route table: every path of the product, who may use it, and what runs.
#pragma once
#include <vector>

#include "daemon/api/router.hpp"
#include "daemon/api/services.hpp"

namespace samovar::api {

// `services` outlives the routes. tests/unit/daemon/api compares this with openapi.json.
std::vector<Route> make_routes(Services& services);

}  // namespace samovar::api
