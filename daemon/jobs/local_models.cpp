#include "daemon/jobs/local_models.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/log.hpp"
#include "daemon/cluster/dataset_rights.hpp"
#include "daemon/jobs/local_models_work.hpp"
#include "security/aead.hpp"

namespace samovar::jobs {

using security::SecretBytes;

namespace {

constexpr std::string_view kEvaluation = "/evaluation";

}  // namespace

std::string store_id_of(std::string_view evaluation_name) {
  if (!evaluation_name.ends_with(kEvaluation)) return "";
  return std::string(evaluation_name.substr(0, evaluation_name.size() - kEvaluation.size()));
}
std::string store_id_of(const cluster::ModelVersion& version) { return store_id_of(version.evaluation_name); }
std::string evaluation_name_of(std::string_view store_id) {
  return std::string(store_id) + std::string(kEvaluation);
}

std::string_view to_string(JobState state) noexcept {
  switch (state) {
    case JobState::queued:
      return "queued";
    case JobState::running:
      return "running";
    case JobState::paused:
      return "paused";
    case JobState::done:
      return "done";
    case JobState::failed:
      return "failed";
    case JobState::cancelled:
      return "cancelled";
  }
  return "queued";
}

LocalModels::LocalModels(Loop& loop, Rng& rng, cluster::Cluster& cluster, Disk& disk, Pool& io, Pool& cpu,
                         LocalData& data, SecretBytes wrap_key, LocalModelsOptions options,
                         store::DataDir dir)
    : loop_(loop),
      rng_(rng),
      cluster_(cluster),
      disk_(disk),
      io_(io),
      cpu_(cpu),
      data_(data),
      wrap_key_(std::move(wrap_key)),
      options_(std::move(options)),
      dir_(std::make_unique<store::DataDir>(std::move(dir))),
      warm_(options_.warm_bytes),
      // Trainings of this and other nodes, and one batch of predictions beside them.
      workers_("models", 5, 8) {
  SAMOVAR_ASSERT(options_.exchange != nullptr);
  relay_ = std::make_unique<PeerRelay>(*options_.exchange);
}

LocalModels::~LocalModels() { stop(); }

Result<std::unique_ptr<LocalModels>> LocalModels::open(Loop& loop, Rng& rng, cluster::Cluster& cluster,
                                                       Disk& disk, Pool& io, Pool& cpu, LocalData& data,
                                                       SecretBytes wrap_key, LocalModelsOptions options) {
  SAMOVAR_TRY(auto dir, store::DataDir::open(disk, options.root, options.space));
  std::unique_ptr<LocalModels> models(new LocalModels(
      loop, rng, cluster, disk, io, cpu, data, std::move(wrap_key), std::move(options), std::move(dir)));
  SAMOVAR_CHECK(models->recover());
  return models;
}

Result<void> LocalModels::recover() {
  // In a cluster the state may be older than what lies here: cleaning up waits until it is not.
  return data_.settled() ? collect() : Result<void>{};
}

Result<void> LocalModels::collect() {
  std::set<std::string> jobs;
  std::set<std::string> models;
  std::set<std::string> scorings;
  for (const auto& ref : cluster_.job_refs()) jobs.insert(ref.id);
  for (const auto& ref : cluster_.model_refs()) models.insert(store_id_of(ref.evaluation_name));
  for (const auto& record : cluster_.operations())
    if (record.kind == "scoring") scorings.insert(record.id);
  store::DataDir::Collected all;
  const auto collect = [&](Work kind, const std::set<std::string>& known) -> Result<void> {
    SAMOVAR_TRY(const auto collected, dir_->collect_work(kind, known));
    all.files += collected.files;
    all.bytes += collected.bytes;
    return {};
  };
  SAMOVAR_CHECK(collect(Work::jobs, jobs));
  // In a cluster each file of a model is looked at by itself: Replicas::sweep().
  if (data_.replicas().alone()) SAMOVAR_CHECK(collect(Work::models, models));
  SAMOVAR_CHECK(collect(Work::scorings, scorings));
  if (all.files > 0)
    SAMOVAR_LOG(info, jobs, "removed what an interrupted training left", kv("files", all.files),
                kv("bytes", all.bytes));
  recover_scorings();
  return {};
}

bool LocalModels::is_mine(const cluster::JobRecord& record) const {
  return record.node_id == self() || record.node_id.empty();
}

void LocalModels::start() {
  const bool settled = data_.settled();
  data_.when_settled([this, settled] {
    if (stopping_) return;
    if (!settled) {
      if (auto collected = collect(); !collected)
        SAMOVAR_LOG(warn, jobs, "what an interrupted training left is not removed",
                    kv("error", collected.error().message()));
    }
    begin_accepted();
  });
  arm_sweep();
  options_.exchange->on_ask(net::Topic::job, [this](std::string from, Bytes body) {
    return on_ask(std::move(from), std::move(body));
  });
  options_.exchange->on_tell(net::Topic::job,
                             [this](const std::string& from, Bytes body) { on_tell(from, std::move(body)); });
  if (options_.nodes) arm_watch();
}

void LocalModels::begin_accepted() {
  cluster::JobFilter queued;
  queued.state = "queued";
  for (const auto& record : cluster_.jobs(queued))
    if (is_mine(record)) enqueue(record.id);
  spawn(load_histories());
  run_next_scoring();
}

void LocalModels::stop() {
  stopping_ = true;
  loop_.cancel(sweep_timer_);
  loop_.cancel(watch_timer_);
  options_.exchange->on_ask(net::Topic::job, nullptr);
  options_.exchange->on_tell(net::Topic::job, nullptr);
  for (const auto& [ref, member] : members_) {
    loop_.cancel(member->alive_timer);
    member->stopping.store(true);
    member->signals.kill.store(true);
  }
  for (const auto& [id, batch] : batches_) batch->signals.kill.store(true);
}

void LocalModels::listen(Listener listener) { listener_ = std::move(listener); }

Bytes LocalModels::wrap(std::string_view purpose, std::string_view id, const SecretBytes& key) const {
  return security::seal(wrap_key_, key.view(), security::wrap_aad(purpose, id, options_.key_generation));
}

Result<LocalModels::Key> LocalModels::unwrap(std::string_view purpose, std::string_view id,
                                             ByteView wrapped) const {
  SAMOVAR_TRY(auto key, security::open_secret(wrap_key_, wrapped,
                                              security::wrap_aad(purpose, id, options_.key_generation)));
  return std::make_shared<const SecretBytes>(std::move(key));
}

// What a user asked for is done in their name, also after a restart.
cluster::Call LocalModels::call_for(const std::string& owner_id, std::string request_id) const {
  cluster::Call call;
  call.actor = cluster::Actor::system();
  if (const auto user = cluster_.user(owner_id)) {
    call.actor.user_id = user->id;
    call.actor.username = user->username;
    call.actor.role = user->role;
  }
  call.request_id = std::move(request_id);
  return call;
}

Result<LocalModels::Rows> LocalModels::open_rows(const cluster::Actor& actor, const std::string& dataset_id,
                                                 std::uint32_t version) const {
  const auto dataset = cluster_.dataset(dataset_id);
  if (!dataset || !cluster::may_see(actor, *dataset))
    return Error{Errc::not_found, "there is no such data set"};
  if (!cluster::may_read_rows(actor, *dataset))
    return Error{Errc::denied, "you may see this data set but not its rows: its owner can grant you that"};
  if (dataset->binned_at) return Error{Errc::conflict, "this data set is in the bin: restore it first"};
  auto manifest = cluster_.dataset_version(dataset_id, version);
  if (!manifest) return Error{Errc::not_found, "there is no such version of this data set"};
  Rows rows;
  for (const auto& shard : manifest->shards) {
    if (shard.damaged)
      return Error{Errc::corrupt, "a part of this data set is damaged: make it anew from its file"};
    rows.paths.push_back(dir_->version_file(dataset_id, manifest->version, std::to_string(shard.number)));
    rows.keys.push_back(
        store::BlobKey::of_version(dataset_id, manifest->version, std::to_string(shard.number)));
  }
  SAMOVAR_TRY(rows.key,
              unwrap("data-key", fmt::format("{}.{}", dataset_id, manifest->version), manifest->wrapped_key));
  rows.version = *std::move(manifest);
  return rows;
}

}  // namespace samovar::jobs
