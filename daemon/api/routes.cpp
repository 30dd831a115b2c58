#include "daemon/api/routes.hpp"

#include <fmt/format.h>

#include "daemon/api/auth.hpp"
#include "daemon/api/handlers.hpp"
#include "daemon/api/handlers_power.hpp"
#include "daemon/api/members.hpp"
#include "daemon/api/predict_body.hpp"
#include "daemon/api/problem.hpp"
#include "daemon/api/tus.hpp"

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

// Who brings data: it belongs to them, and others see it when they say so.
constexpr Access kDataMakers = Access::roles({Role::admin, Role::analyst});

// Who trains. What they may train on is settled by daemon/cluster/dataset_rights.hpp.
constexpr Access kJobMakers = Access::roles({Role::admin, Role::analyst, Role::service});
// Who asks models: with a scope of its own, so that a program's token opens nothing else.
constexpr Access kAskers =
    Access::roles({Role::admin, Role::analyst, Role::viewer, Role::service}).with_scope("predict");
constexpr Access kScorers = kJobMakers.with_scope("predict");
constexpr Access kSharing = kDataMakers.with_scope(kNoToken).with_reauth();

constexpr std::uint64_t kImportBytesMax = 48u << 20;

struct Row {
  Method method;
  std::string_view pattern;
  Access access;
  Body body;
  Function run;
  std::uint64_t body_bytes_max = 0;
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
    {Method::post, "/api/v1/setup:join", kAnyoneAlways, Body::json, post_setup_join},
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

    {Method::get, "/api/v1/power", kPeople, Body::none, get_power},
    {Method::get, "/api/v1/cluster/state", kOversight, Body::none, get_cluster_state},
    {Method::get, "/api/v1/nodes", kPeople, Body::none, get_nodes},
    {Method::get, "/api/v1/nodes/{id}", kPeople, Body::none, get_node},
    {Method::get, "/api/v1/nodes/{id}:removal", kPeople, Body::none, get_node_removal},
    {Method::post, "/api/v1/nodes/{id}:drain", kAdmin, Body::none, post_node_drain},
    {Method::post, "/api/v1/nodes/{id}:resume", kAdmin, Body::none, post_node_resume},
    {Method::del, "/api/v1/nodes/{id}", kAdmin.with_scope(kNoToken).with_reauth(), Body::none, delete_node},
    {Method::get, "/api/v1/links", kPeople, Body::none, get_links},
    {Method::post, "/api/v1/links:test", kAdmin, Body::json, post_links_test},
    {Method::get, "/api/v1/doctor", kAdmin.open_when_new(), Body::none, get_doctor},
    {Method::post, "/api/v1/doctor:probe", kAdmin, Body::json, post_doctor_probe},

    // Adding nodes. Who approves types the password in the same request: it opens the CA's key.
    {Method::get, "/api/v1/peers", kAdmin, Body::none, get_peers},
    {Method::post, "/api/v1/peers:add", kAdmin, Body::json, post_peers_add},
    {Method::post, "/api/v1/peers:invite", kAdmin.with_scope(kNoToken), Body::json, post_peers_invite},
    {Method::post, "/api/v1/peers/{id}:approve", kAdmin.with_scope(kNoToken), Body::json, post_peer_approve},
    {Method::post, "/api/v1/peers/{id}:confirm", kAdmin.with_scope(kNoToken), Body::json, post_peer_confirm},
    {Method::post, "/api/v1/peers/{id}:cancel", kAdmin, Body::none, post_peer_cancel},
    {Method::post, "/api/v1/peers/{id}:block", kAdmin, Body::none, post_peer_block},
    {Method::post, "/api/v1/peers/{id}:unblock", kAdmin, Body::none, post_peer_unblock},

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
    {Method::post, "/api/v1/users/{id}:allow-joins", kAdmin.with_scope(kNoToken), Body::json,
     post_user_allow_joins},
    {Method::post, "/api/v1/users/{id}:forbid-joins", kAdmin.with_scope(kNoToken).with_reauth(), Body::none,
     post_user_forbid_joins},

    {Method::get, "/api/v1/tokens", kUser, Body::none, get_tokens},
    {Method::post, "/api/v1/tokens", kUser.with_scope(kNoToken).with_reauth(), Body::json, post_tokens},
    {Method::del, "/api/v1/tokens/{id}", kUser.with_scope(kNoToken).with_reauth(), Body::none, delete_token},
    {Method::get, "/api/v1/sessions", kUser, Body::none, get_sessions},
    {Method::del, "/api/v1/sessions/{id}", kUser.with_scope(kNoToken), Body::none, delete_session_by_id},

    {Method::get, "/api/v1/audit", kAuditReaders, Body::none, get_audit},
    {Method::get, "/api/v1/audit/export", kAuditor.with_scope(kNoToken).with_reauth(), Body::none,
     get_audit_export},
    {Method::post, "/api/v1/audit:verify", kOversight.with_scope("read"), Body::none, post_audit_verify},

    // tus 1.0.0, and PUT with the file's name in the id's place for `curl -T`.
    {Method::options, "/api/v1/uploads", kAnyone, Body::none, options_uploads},
    {Method::get, "/api/v1/uploads", kDataMakers, Body::none, get_uploads},
    {Method::post, "/api/v1/uploads", kDataMakers, Body::none, post_uploads},
    {Method::head, "/api/v1/uploads/{id}", kDataMakers, Body::none, head_upload},
    {Method::get, "/api/v1/uploads/{id}", kDataMakers, Body::none, get_upload},
    {Method::patch, "/api/v1/uploads/{id}", kDataMakers, Body::stream, patch_upload, kUploadBytesMax},
    {Method::put, "/api/v1/uploads/{id}", kDataMakers, Body::stream, put_upload, kUploadBytesMax},
    {Method::del, "/api/v1/uploads/{id}", kDataMakers, Body::none, delete_upload},
    {Method::post, "/api/v1/uploads/{id}:inspect", kDataMakers.with_scope("read"), Body::json,
     post_upload_inspect},

    // Who may see which data set, and its rows, is settled by daemon/cluster/dataset_rights.hpp.
    {Method::get, "/api/v1/datasets", kUser, Body::none, get_datasets},
    {Method::post, "/api/v1/datasets", kDataMakers, Body::json, post_datasets},
    {Method::post, "/api/v1/datasets:sample", kDataMakers, Body::none, post_datasets_sample},
    {Method::post, "/api/v1/datasets:scrub", kAdmin, Body::none, post_datasets_scrub},
    {Method::get, "/api/v1/datasets/{id}", kUser, Body::none, get_dataset},
    {Method::patch, "/api/v1/datasets/{id}", kDataMakers, Body::json, patch_dataset},
    {Method::del, "/api/v1/datasets/{id}", kDataMakers, Body::none, delete_dataset},
    {Method::post, "/api/v1/datasets/{id}:restore", kDataMakers, Body::none, post_dataset_restore},
    {Method::post, "/api/v1/datasets/{id}:destroy", kAdmin.with_scope(kNoToken).with_reauth(), Body::none,
     post_dataset_destroy},
    {Method::get, "/api/v1/datasets/{id}/schema", kUser, Body::none, get_dataset_schema},
    {Method::put, "/api/v1/datasets/{id}/schema", kDataMakers, Body::json, put_dataset_schema},
    {Method::get, "/api/v1/datasets/{id}/preview", kUser, Body::none, get_dataset_preview},
    {Method::get, "/api/v1/datasets/{id}/profile", kUser, Body::none, get_dataset_profile},
    {Method::get, "/api/v1/datasets/{id}/shards", kUser, Body::none, get_dataset_shards},
    {Method::get, "/api/v1/datasets/{id}/download", kUser, Body::none, get_dataset_download},
    {Method::get, "/api/v1/datasets/{id}/bad-rows", kUser, Body::none, get_dataset_bad_rows},
    {Method::put, "/api/v1/datasets/{id}/grants/{user_id}", kDataMakers.with_scope(kNoToken).with_reauth(),
     Body::none, put_dataset_grant},
    {Method::del, "/api/v1/datasets/{id}/grants/{user_id}", kDataMakers.with_scope(kNoToken).with_reauth(),
     Body::none, delete_dataset_grant},
    {Method::get, "/api/v1/formats", kUser, Body::none, get_formats},

    {Method::get, "/api/v1/operations", kUser, Body::none, get_operations},
    {Method::get, "/api/v1/operations/{id}", kUser, Body::none, get_operation},
    {Method::post, "/api/v1/operations/{id}:cancel", kDataMakers, Body::none, post_operation_cancel},

    // Who may see, steer and use which job or model is settled by daemon/cluster/model_rights.hpp.
    {Method::get, "/api/v1/algorithms", kUser, Body::none, get_algorithms},
    {Method::post, "/api/v1/jobs:check", kJobMakers.with_scope("read"), Body::json, post_jobs_check},
    {Method::post, "/api/v1/jobs:estimate", kJobMakers.with_scope("read"), Body::json, post_jobs_estimate},
    {Method::get, "/api/v1/jobs", kUser, Body::none, get_jobs},
    {Method::post, "/api/v1/jobs", kJobMakers, Body::json, post_jobs},
    {Method::get, "/api/v1/jobs/{id}", kUser, Body::none, get_job},
    {Method::patch, "/api/v1/jobs/{id}", kJobMakers, Body::json, patch_job},
    {Method::del, "/api/v1/jobs/{id}", kJobMakers, Body::none, delete_job},
    {Method::post, "/api/v1/jobs/{id}:pause", kJobMakers, Body::none, post_job_pause},
    {Method::post, "/api/v1/jobs/{id}:resume", kJobMakers, Body::none, post_job_resume},
    {Method::post, "/api/v1/jobs/{id}:cancel", kJobMakers, Body::none, post_job_cancel},
    {Method::post, "/api/v1/jobs/{id}:retry", kJobMakers, Body::none, post_job_retry},
    {Method::get, "/api/v1/jobs/{id}/metrics", kUser, Body::none, get_job_metrics},
    {Method::get, "/api/v1/jobs/{id}/logs", kUser, Body::none, get_job_logs},

    {Method::get, "/api/v1/models", kPeople, Body::none, get_models},
    {Method::get, "/api/v1/models:compare", kPeople, Body::none, get_models_compare},
    {Method::post, "/api/v1/models:import", kDataMakers, Body::json, post_models_import, kImportBytesMax},
    {Method::get, "/api/v1/models/{name}", kPeople, Body::none, get_model},
    {Method::patch, "/api/v1/models/{name}", kDataMakers, Body::json, patch_model},
    {Method::post, "/api/v1/models/{name}:rollback", kDataMakers, Body::none, post_model_rollback},
    {Method::post, "/api/v1/models/{name}:retire", kDataMakers, Body::none, post_model_retire},
    {Method::put, "/api/v1/models/{name}/grants/{user_id}", kSharing, Body::none, put_model_grant},
    {Method::del, "/api/v1/models/{name}/grants/{user_id}", kSharing, Body::none, delete_model_grant},
    {Method::get, "/api/v1/models/{name}/versions/{version}", kPeople, Body::none, get_model_version},
    {Method::patch, "/api/v1/models/{name}/versions/{version}", kDataMakers, Body::json, patch_model_version},
    {Method::del, "/api/v1/models/{name}/versions/{version}", kDataMakers, Body::none, delete_model_version},
    {Method::get, "/api/v1/models/{name}/versions/{version}/evaluation", kPeople, Body::none,
     get_model_evaluation},
    {Method::post, "/api/v1/models/{name}/versions/{version}:promote", kDataMakers, Body::none,
     post_model_promote},
    {Method::post, "/api/v1/models/{name}/versions/{version}:export", kSharing, Body::json,
     post_model_export},
    {Method::post, "/api/v1/models/{name}:predict", kAskers, Body::json, post_model_predict,
     kPredictBytesMax},

    {Method::get, "/api/v1/scorings", kScorers, Body::none, get_scorings},
    {Method::post, "/api/v1/scorings", kScorers, Body::json, post_scorings},
    {Method::get, "/api/v1/scorings/{id}", kScorers, Body::none, get_scoring},
    {Method::get, "/api/v1/scorings/{id}/result", kScorers, Body::none, get_scoring_result},
    {Method::del, "/api/v1/scorings/{id}", kScorers, Body::none, delete_scoring},

    // The Open Inference Protocol, version 2.
    {Method::get, "/v2", kUser.with_scope(kAnyToken), Body::none, get_oip_server},
    {Method::get, "/v2/health/live", kAnyoneAlways, Body::none, get_oip_live},
    {Method::get, "/v2/health/ready", kAnyoneAlways, Body::none, get_oip_ready},
    {Method::get, "/v2/models/{name}", kAskers, Body::none, get_oip_model},
    {Method::get, "/v2/models/{name}/ready", kAskers, Body::none, get_oip_model_ready},
    {Method::post, "/v2/models/{name}/infer", kAskers, Body::json, post_oip_infer, kPredictBytesMax},
    {Method::get, "/v2/models/{name}/versions/{version}", kAskers, Body::none, get_oip_model},
    {Method::get, "/v2/models/{name}/versions/{version}/ready", kAskers, Body::none, get_oip_model_ready},
    {Method::post, "/v2/models/{name}/versions/{version}/infer", kAskers, Body::json, post_oip_infer,
     kPredictBytesMax},
};

Task<Response> unavailable(Request& request) {
  co_return problem(request, 503, "unavailable",
                    "The data of this node could not be opened: the alerts say why.");
}

bool needs_data(std::string_view pattern) {
  return pattern.starts_with("/api/v1/uploads") || pattern.starts_with("/api/v1/datasets") ||
         pattern.starts_with("/api/v1/operations");
}

bool needs_models(std::string_view pattern) {
  return pattern.starts_with("/api/v1/jobs") || pattern.starts_with("/api/v1/models") ||
         pattern.starts_with("/api/v1/scorings") || pattern.starts_with("/v2/models");
}

// A node whose store did not open serves everything else.
Task<Response> run_with_data(Services& services, const Row& row, Request& request) {
  const bool missing =
      needs_models(row.pattern) ? services.node.models() == nullptr : services.node.data() == nullptr;
  return missing ? unavailable(request) : row.run(services, request);
}

// How many of the members answer, for a person who wonders why nothing can be changed.
Response no_quorum(Services& services, const Request& request) {
  std::size_t voters = 0;
  std::size_t here = 0;
  for (const auto& member : services.cluster().log_members()) {
    if (member.voice != raft::Voice::voter) continue;
    ++voters;
    if (member.node_id == services.node.facts().id || services.members().contact(member.node_id).reachable)
      ++here;
  }
  if (here * 2 > voters)
    return problem(request, 503, "no_quorum",
                   "Nothing can be changed for the moment: the nodes are choosing which of them leads, which "
                   "takes a few seconds. Reading still works. Try again.");
  return problem(
      request, 503, "no_quorum",
      fmt::format("Nothing can be changed now: this side of the network has {} of {} voting nodes, and "
                  "more than half are needed. Reading still works. Bring the missing nodes back, or "
                  "go to the side that has more.",
                  here, voters));
}

bool says_no_quorum(const Response& response) {
  return response.status == 503 && response.body.find("\"code\":\"no_quorum\"") != std::string::npos;
}

// Whatever a handler was about: a change that found no leader says so in one way.
Task<Response> run_row(Services& services, const Row& row, Request& request) {
  const bool data = needs_data(row.pattern) || needs_models(row.pattern);
  // Named: g++ 12 destroys the operands of a conditional twice when they are awaited.
  Task<Response> work = data ? run_with_data(services, row, request) : row.run(services, request);
  Response response = co_await std::move(work);
  if (says_no_quorum(response) && services.node.cluster() != nullptr) co_return no_quorum(services, request);
  co_return response;
}

}  // namespace

std::vector<Route> make_routes(Services& services) {
  std::vector<Route> routes;
  for (const Row& row : kRows) {
    Handler handler = [&services, &row](Request& request) { return run_row(services, row, request); };
    routes.push_back({row.method, row.pattern, row.access, row.body, std::move(handler), row.body_bytes_max});
  }
  return routes;
}

}  // namespace samovar::api
