#include "daemon/api/routes.hpp"

#include "daemon/api/auth.hpp"
#include "daemon/api/handlers.hpp"

namespace samovar::api {
namespace {

using Function = Task<Response> (*)(Services&, Request&);

constexpr Access kAnyone = Access::anyone();
constexpr Access kAnyoneAlways = Access::anyone().in_every_phase();
constexpr Access kUser = Access::any_user();
// The people of the box: everybody but service accounts, which see only what they were made for.
constexpr Access kPeople = Access::roles({Role::admin, Role::analyst, Role::viewer, Role::auditor});
constexpr Access kAdmin = Access::roles({Role::admin});
constexpr Access kOversight = Access::roles({Role::admin, Role::auditor});
constexpr Access kAuditReaders = Access::roles({Role::admin, Role::auditor, Role::analyst});
constexpr Access kAuditor = Access::roles({Role::auditor});
constexpr Access kMetrics = Access::roles({Role::admin, Role::viewer, Role::auditor}).with_scope("metrics");

struct Row {
  Method method;
  std::string_view pattern;
  Access access;
  Body body;
  Function run;
};

// Scopes: without one, tokens need "read" for GET and "write" for the rest.
const Row kRows[] = {
    {Method::get, "/healthz", kAnyoneAlways, Body::none, get_healthz},
    {Method::get, "/readyz", kAnyoneAlways, Body::none, get_readyz},
    {Method::get, "/metrics", kMetrics, Body::none, get_metrics},
    {Method::get, "/openapi.json", kAnyoneAlways, Body::none, get_openapi},
    {Method::get, "/ca.crt", kAnyoneAlways, Body::none, get_ca},

    {Method::get, "/api/v1/setup", kAnyoneAlways, Body::none, get_setup},
    {Method::post, "/api/v1/setup", kAnyoneAlways, Body::json, post_setup},
    {Method::post, "/api/v1/setup:check", kAnyoneAlways, Body::json, post_setup_check},
    {Method::post, "/api/v1/unlock", kAnyoneAlways, Body::json, post_unlock},

    {Method::post, "/api/v1/session", kAnyone, Body::json, post_session},
    {Method::get, "/api/v1/session", kUser.with_scope(kAnyToken).in_every_phase(), Body::none, get_session},
    {Method::del, "/api/v1/session", kUser.with_scope(kNoToken), Body::none, delete_session},
    {Method::post, "/api/v1/session:reauth", kUser.with_scope(kNoToken), Body::json, post_reauth},
    {Method::post, "/api/v1/session:password", kUser.with_scope(kNoToken), Body::json, post_password},

    {Method::get, "/api/v1/cluster", kPeople, Body::none, get_cluster},
    {Method::patch, "/api/v1/cluster", kAdmin, Body::json, patch_cluster},
    {Method::get, "/api/v1/alerts", kPeople, Body::none, get_alerts},
    {Method::get, "/api/v1/settings/{key}", kOversight, Body::none, get_setting},
    {Method::put, "/api/v1/settings/{key}", kAdmin, Body::json, put_setting},

    {Method::get, "/api/v1/nodes", kPeople, Body::none, get_nodes},
    {Method::get, "/api/v1/nodes/{id}", kPeople, Body::none, get_node},
    {Method::get, "/api/v1/metrics/history", kPeople, Body::none, get_history},
    {Method::get, "/api/v1/events", kPeople, Body::none, get_events},

    {Method::get, "/api/v1/users", kOversight, Body::none, get_users},
    {Method::post, "/api/v1/users", kAdmin.with_scope(kNoToken).with_reauth(), Body::json, post_users},
    {Method::get, "/api/v1/users/{id}", kPeople, Body::none, get_user},
    {Method::patch, "/api/v1/users/{id}", kPeople.with_scope(kNoToken).with_reauth(), Body::json, patch_user},
    {Method::del, "/api/v1/users/{id}", kAdmin.with_scope(kNoToken).with_reauth(), Body::none, delete_user},
    {Method::post, "/api/v1/users/{id}:set-password", kAdmin.with_scope(kNoToken).with_reauth(), Body::json,
     post_user_password},
    {Method::post, "/api/v1/users/{id}:unlock", kAdmin.with_scope(kNoToken).with_reauth(), Body::none,
     post_user_unlock},

    {Method::get, "/api/v1/tokens", kUser, Body::none, get_tokens},
    {Method::post, "/api/v1/tokens", kUser.with_scope(kNoToken).with_reauth(), Body::json, post_tokens},
    {Method::del, "/api/v1/tokens/{id}", kUser.with_scope(kNoToken).with_reauth(), Body::none, delete_token},
    {Method::get, "/api/v1/sessions", kUser, Body::none, get_sessions},
    {Method::del, "/api/v1/sessions/{id}", kUser.with_scope(kNoToken), Body::none, delete_session_by_id},

    {Method::get, "/api/v1/audit", kAuditReaders, Body::none, get_audit},
    {Method::get, "/api/v1/audit/export", kAuditor.with_scope(kNoToken).with_reauth(), Body::none,
     get_audit_export},
    {Method::post, "/api/v1/audit:verify", kOversight.with_scope("read"), Body::none, post_audit_verify},
};

}  // namespace

std::vector<Route> make_routes(Services& services) {
  std::vector<Route> routes;
  for (const Row& row : kRows)
    routes.push_back({row.method, row.pattern, row.access, row.body,
                      [&services, run = row.run](Request& request) { return run(services, request); }});
  return routes;
}

}  // namespace samovar::api
