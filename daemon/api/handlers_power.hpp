// The power budget. Apart from handlers.hpp: the settings documents lead here.
//
// Threading: loop only.
#pragma once
#include "daemon/api/power_settings.hpp"
#include "daemon/api/router.hpp"
#include "daemon/api/services.hpp"
#include "daemon/power/power_message.hpp"

namespace samovar::api {

Task<Response> get_power(Services& services, Request& request);
Response get_power_setting(Services& services);
Task<Response> put_power_setting(Services& services, Request& request);

// What get_power tells; `rows` have the nodes' names.
View power_view(const power::ClusterPower& all, const std::vector<cluster::NodeRecord>& rows);

}  // namespace samovar::api
