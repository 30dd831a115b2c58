// How objects look to clients: the JSON of openapi.json's schemas. Nothing secret has a way in here.
//
// Threading: loop only.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "daemon/api/auth.hpp"
#include "daemon/api/members.hpp"
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
View node_view(Services& services, const cluster::NodeRecord& row);
View self_view(Services& services);   // this node
View nodes_view(Services& services);  // the members, a list of items
View sample_view(const power::Sample& sample);
View sensors_view(const power::Sensors& sensors);

// views_members.cpp
View link_view(const LinkReport& link);
View peer_view(const PeerEntry& peer);
View join_view(const PendingJoin& join);
View checks_view(const std::vector<DoctorCheck>& checks);
View doctor_view(const DoctorReport& report);

// {items, next_cursor}
View page_view(View items, const std::string& next_cursor);

}  // namespace samovar::api
