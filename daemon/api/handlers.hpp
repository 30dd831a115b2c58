// What the routes do, one function per operation of openapi.json, by topic in handlers_<topic>.cpp.
// The guard has run: role, scope, CSRF, phase and fresh password are settled by the route's Access.
//
// Threading: loop only; each is a coroutine that may wait for the pools and the log.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/task.hpp"
#include "daemon/api/auth.hpp"
#include "daemon/api/http.hpp"
#include "daemon/api/services.hpp"

namespace samovar::api {

// handlers_health.cpp
Task<Response> get_healthz(Services& services, Request& request);
Task<Response> get_readyz(Services& services, Request& request);
Task<Response> get_metrics(Services& services, Request& request);
Task<Response> get_openapi(Services& services, Request& request);
Task<Response> get_ca(Services& services, Request& request);
std::string_view openapi_document();  // embedded at build time

// handlers_setup.cpp
Task<Response> get_setup(Services& services, Request& request);
Task<Response> post_setup(Services& services, Request& request);
Task<Response> post_setup_join(Services& services, Request& request);
Task<Response> post_setup_check(Services& services, Request& request);
Task<Response> post_unlock(Services& services, Request& request);

// handlers_session.cpp
Task<Response> post_session(Services& services, Request& request);
Task<Response> get_session(Services& services, Request& request);
Task<Response> delete_session(Services& services, Request& request);
Task<Response> post_reauth(Services& services, Request& request);
Task<Response> post_password(Services& services, Request& request);

// handlers_cluster.cpp
Task<Response> get_cluster(Services& services, Request& request);
Task<Response> get_cluster_state(Services& services, Request& request);
Task<Response> patch_cluster(Services& services, Request& request);
Task<Response> get_alerts(Services& services, Request& request);
Task<Response> get_setting(Services& services, Request& request);
Task<Response> put_setting(Services& services, Request& request);

// handlers_nodes.cpp
Task<Response> get_nodes(Services& services, Request& request);
Task<Response> get_node(Services& services, Request& request);
Task<Response> get_history(Services& services, Request& request);
Task<Response> get_node_removal(Services& services, Request& request);
Task<Response> post_node_drain(Services& services, Request& request);
Task<Response> post_node_resume(Services& services, Request& request);
Task<Response> delete_node(Services& services, Request& request);

// handlers_events.cpp
Task<Response> get_events(Services& services, Request& request);

// handlers_peers.cpp
Task<Response> get_peers(Services& services, Request& request);
Task<Response> post_peers_add(Services& services, Request& request);
Task<Response> post_peers_invite(Services& services, Request& request);
Task<Response> post_peer_approve(Services& services, Request& request);
Task<Response> post_peer_confirm(Services& services, Request& request);
Task<Response> post_peer_cancel(Services& services, Request& request);
Task<Response> post_peer_block(Services& services, Request& request);
Task<Response> post_peer_unblock(Services& services, Request& request);

// handlers_links.cpp
Task<Response> get_links(Services& services, Request& request);
Task<Response> post_links_test(Services& services, Request& request);
Task<Response> get_doctor(Services& services, Request& request);
Task<Response> post_doctor_probe(Services& services, Request& request);

// handlers_users.cpp
Task<Response> get_users(Services& services, Request& request);
Task<Response> post_users(Services& services, Request& request);
Task<Response> get_user(Services& services, Request& request);
Task<Response> patch_user(Services& services, Request& request);
Task<Response> delete_user(Services& services, Request& request);
Task<Response> post_user_password(Services& services, Request& request);
Task<Response> post_user_unlock(Services& services, Request& request);
Task<Response> post_user_allow_joins(Services& services, Request& request);
Task<Response> post_user_forbid_joins(Services& services, Request& request);

// handlers_tokens.cpp: tokens and the list of sessions
Task<Response> get_tokens(Services& services, Request& request);
Task<Response> post_tokens(Services& services, Request& request);
Task<Response> delete_token(Services& services, Request& request);
Task<Response> get_sessions(Services& services, Request& request);
Task<Response> delete_session_by_id(Services& services, Request& request);

// handlers_audit.cpp
Task<Response> get_audit(Services& services, Request& request);
Task<Response> get_audit_export(Services& services, Request& request);
Task<Response> post_audit_verify(Services& services, Request& request);

// handlers_uploads.cpp
Task<Response> options_uploads(Services& services, Request& request);
Task<Response> get_uploads(Services& services, Request& request);
Task<Response> post_uploads(Services& services, Request& request);
Task<Response> head_upload(Services& services, Request& request);
Task<Response> get_upload(Services& services, Request& request);
Task<Response> patch_upload(Services& services, Request& request);
Task<Response> put_upload(Services& services, Request& request);
Task<Response> delete_upload(Services& services, Request& request);
Task<Response> post_upload_inspect(Services& services, Request& request);

// handlers_datasets.cpp
Task<Response> get_datasets(Services& services, Request& request);
Task<Response> post_datasets(Services& services, Request& request);
Task<Response> post_datasets_sample(Services& services, Request& request);
Task<Response> post_datasets_scrub(Services& services, Request& request);
Task<Response> get_dataset(Services& services, Request& request);
Task<Response> patch_dataset(Services& services, Request& request);
Task<Response> delete_dataset(Services& services, Request& request);
Task<Response> post_dataset_restore(Services& services, Request& request);
Task<Response> post_dataset_destroy(Services& services, Request& request);
Task<Response> put_dataset_schema(Services& services, Request& request);
Task<Response> put_dataset_grant(Services& services, Request& request);
Task<Response> delete_dataset_grant(Services& services, Request& request);

// handlers_dataset_content.cpp
Task<Response> get_dataset_schema(Services& services, Request& request);
Task<Response> get_dataset_preview(Services& services, Request& request);
Task<Response> get_dataset_profile(Services& services, Request& request);
Task<Response> get_dataset_shards(Services& services, Request& request);
Task<Response> get_dataset_download(Services& services, Request& request);
Task<Response> get_dataset_bad_rows(Services& services, Request& request);
Task<Response> get_formats(Services& services, Request& request);

// handlers_operations.cpp
Task<Response> get_operations(Services& services, Request& request);
Task<Response> get_operation(Services& services, Request& request);
Task<Response> post_operation_cancel(Services& services, Request& request);

// handlers_jobs.cpp
Task<Response> get_algorithms(Services& services, Request& request);
Task<Response> post_jobs_check(Services& services, Request& request);
Task<Response> post_jobs_estimate(Services& services, Request& request);
Task<Response> post_jobs(Services& services, Request& request);
Task<Response> get_jobs(Services& services, Request& request);
Task<Response> get_job(Services& services, Request& request);
Task<Response> patch_job(Services& services, Request& request);
Task<Response> delete_job(Services& services, Request& request);
Task<Response> post_job_pause(Services& services, Request& request);
Task<Response> post_job_resume(Services& services, Request& request);
Task<Response> post_job_cancel(Services& services, Request& request);
Task<Response> post_job_retry(Services& services, Request& request);
Task<Response> get_job_metrics(Services& services, Request& request);
Task<Response> get_job_logs(Services& services, Request& request);

// handlers_models.cpp
Task<Response> get_models(Services& services, Request& request);
Task<Response> get_model(Services& services, Request& request);
Task<Response> patch_model(Services& services, Request& request);
Task<Response> post_model_rollback(Services& services, Request& request);
Task<Response> post_model_retire(Services& services, Request& request);
Task<Response> put_model_grant(Services& services, Request& request);
Task<Response> delete_model_grant(Services& services, Request& request);

// handlers_model_versions.cpp
Task<Response> get_model_version(Services& services, Request& request);
Task<Response> patch_model_version(Services& services, Request& request);
Task<Response> delete_model_version(Services& services, Request& request);
Task<Response> get_model_evaluation(Services& services, Request& request);
Task<Response> post_model_promote(Services& services, Request& request);
Task<Response> post_model_export(Services& services, Request& request);
Task<Response> post_models_import(Services& services, Request& request);
Task<Response> get_models_compare(Services& services, Request& request);

// handlers_predict.cpp
Task<Response> post_model_predict(Services& services, Request& request);

// handlers_scorings.cpp
Task<Response> get_scorings(Services& services, Request& request);
Task<Response> post_scorings(Services& services, Request& request);
Task<Response> get_scoring(Services& services, Request& request);
Task<Response> get_scoring_result(Services& services, Request& request);
Task<Response> delete_scoring(Services& services, Request& request);

// handlers_oip.cpp: the Open Inference Protocol, version 2
Task<Response> get_oip_server(Services& services, Request& request);
Task<Response> get_oip_live(Services& services, Request& request);
Task<Response> get_oip_ready(Services& services, Request& request);
Task<Response> get_oip_model(Services& services, Request& request);
Task<Response> get_oip_model_ready(Services& services, Request& request);
Task<Response> post_oip_infer(Services& services, Request& request);

// ---- shared by the topics (handlers_support.cpp) ----

// ?limit and ?cursor; a 400 in `refused` when they make no sense.
cluster::PageQuery page_of(const Request& request, std::optional<Response>& refused);
// If-Match as a revision: 428 when missing, 412 when it can match nothing; "*" is no revision.
std::optional<std::uint64_t> if_match(const Request& request, std::optional<Response>& refused);
bool is_username(std::string_view text);
// The caller's own password, with all the brakes of a log-in; the answer to give when it is wrong.
Task<std::optional<Response>> check_own_password(Services& services, Request& request,
                                                 const security::SecretBytes& password);
// The cluster CA's key, opened with the password in the body: nobody adds a node, or lets somebody else add
// nodes, without typing it.
struct CaKey {
  std::optional<Response> refused;
  security::SecretBytes key;
};
Task<CaKey> open_ca_key(Services& services, Request& request);
Response not_found(const Request& request);
inline bool is_admin(const Request& request) { return request.caller->user.role == cluster::Role::admin; }

}  // namespace samovar::api
