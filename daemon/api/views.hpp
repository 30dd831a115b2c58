// How objects look to clients: the JSON of openapi.json's schemas. Nothing secret has a way in here.
//
// Threading: loop only.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "daemon/api/auth.hpp"
#include "daemon/api/services.hpp"

namespace samovar::api {

using View = nlohmann::ordered_json;

View time_view(const std::optional<WallTime>& time);
std::string etag_of(std::uint64_t revision);  // with its quotes

View user_view(const cluster::User& user);
View session_view(Services& services, const Caller& caller);
View session_info_view(Services& services, const cluster::Session& session, const Caller& viewer);
View token_view(Services& services, const cluster::Token& token);
View audit_view(const cluster::AuditEntry& entry);

View cluster_view(Services& services);
View alert_view(const Alert& alert);
View alerts_view(Services& services);  // a list of items
View node_view(Services& services);    // this node
View nodes_view(Services& services);   // a list of items
View sample_view(const power::Sample& sample);

// {items, next_cursor}
View page_view(View items, const std::string& next_cursor);

}  // namespace samovar::api
