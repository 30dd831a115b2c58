// Commands and queries on jobs: typed arguments into a command, the reply into a value.
#include <utility>

#include "daemon/cluster/cluster_impl.hpp"
#include "daemon/cluster/rows_models.hpp"

namespace samovar::cluster {
namespace {

Bytes document(const std::string& json) { return to_bytes(json.empty() ? "{}" : json); }

}  // namespace

Task<Result<JobRecord>> Cluster::Impl::change_job(Call call, std::string type, Fields body) {
  SAMOVAR_CO_TRY(const Fields done, co_await execute(std::move(call), std::move(type), std::move(body)));
  // The first one's id, when this request was made before.
  SAMOVAR_CO_TRY(const std::string id, done.text("id", 64));
  auto job = find_job(db(), id);
  if (!job) co_return Error{Errc::not_found, "the job was removed meanwhile"};
  co_return *std::move(job);
}

Task<Result<JobRecord>> Cluster::begin_job(Call call, JobRecord job) {
  if (job.id.empty()) job.id = impl_->new_id("job");
  Fields body;
  body.set("id", job.id).set("kind", job.kind).set("name", job.name).set("owner_id", job.owner_id);
  body.set("dataset_id", job.dataset_id).set("dataset_version", std::int64_t{job.dataset_version});
  body.set("spec", document(job.spec_json)).set("wrapped_key", job.wrapped_key);
  impl_->set_carrier(body, job.node_id);
  if (job.priority != 0 && impl_->level() >= 4) body.set("priority", std::int64_t{job.priority});
  co_return co_await impl_->change_job(std::move(call), "job.begin", std::move(body));
}

Task<Result<JobRecord>> Cluster::end_job(Call call, JobEnd end) {
  Fields body;
  body.set("id", end.id).set("state", end.state).set("error", clean_text(end.error, 2048));
  body.set("summary", document(end.summary_json));
  if (end.state == "queued" && !end.node_id.empty() && impl_->level() >= 2) body.set("node_id", end.node_id);
  co_return co_await impl_->change_job(std::move(call), "job.end", std::move(body));
}

Task<Result<JobRecord>> Cluster::checkpoint_job(Call call, JobCheckpoint checkpoint) {
  Fields body;
  body.set("id", checkpoint.id).set("step", checkpoint.step).set("hash", checkpoint.hash);
  if (!checkpoint.name.empty() && impl_->level() >= 3) {
    body.set("name", checkpoint.name).set("bytes", checkpoint.bytes).set("run", checkpoint.run);
    body.set("holders", checkpoint.holders);
    if (impl_->level() >= kHeldLevel && !checkpoint.holders.empty()) body.set("must_be_held", true);
  }
  co_return co_await impl_->change_job(std::move(call), "job.checkpoint", std::move(body));
}

Task<Result<JobRecord>> Cluster::plan_job(Call call, JobPlan plan) {
  Fields body;
  body.set("id", plan.id).set("node_id", plan.node_id).set("run", plan.run).set("epoch", plan.epoch);
  body.set("plan", document(plan.plan_json));
  co_return co_await impl_->change_job(std::move(call), "job.plan", std::move(body));
}

Task<Result<JobRecord>> Cluster::take_job(Call call, JobTake take) {
  Fields body;
  body.set("id", take.id).set("from", take.from).set("node_id", take.node_id);
  co_return co_await impl_->change_job(std::move(call), "job.take", std::move(body));
}

Task<Result<JobRecord>> Cluster::prioritize_job(Call call, std::string job_id, int priority) {
  Fields body;
  body.set("id", job_id).set("priority", std::int64_t{priority});
  co_return co_await impl_->change_job(std::move(call), "job.priority", std::move(body));
}

Task<Result<JobRecord>> Cluster::protect_job(Call call, std::string job_id, bool on) {
  Fields body;
  body.set("id", job_id).set("protect", on);
  co_return co_await impl_->change_job(std::move(call), "job.protect", std::move(body));
}

Task<Result<void>> Cluster::remove_job(Call call, std::string job_id) {
  Fields body;
  body.set("id", job_id);
  SAMOVAR_CO_TRY(const Fields done, co_await impl_->execute(std::move(call), "job.remove", std::move(body)));
  co_return Result<void>();
}

std::optional<JobRecord> Cluster::job(std::string_view id) const { return find_job(impl_->db(), id); }

std::vector<JobRecord> Cluster::jobs(const JobFilter& filter) const { return list_jobs(impl_->db(), filter); }

std::vector<JobRef> Cluster::job_refs() const { return list_job_refs(impl_->db()); }

}  // namespace samovar::cluster
