// Unlocking, and the step to ready.
#include <fmt/format.h>

#include <algorithm>

#include "base/ids.hpp"
#include "base/json.hpp"
#include "base/log.hpp"
#include "daemon/api/event_text.hpp"
#include "daemon/api/model_events.hpp"
#include "daemon/api/views.hpp"
#include "daemon/api/views_data.hpp"
#include "daemon/cluster/patience.hpp"
#include "daemon/host.hpp"
#include "daemon/node.hpp"
#include "security/kdf.hpp"

namespace samovar::daemon {

using security::SecretBytes;

namespace {
constexpr std::chrono::seconds kRecordAgain{5};
}  // namespace

Result<std::unique_ptr<cluster::Cluster>> Node::open_cluster(const SecretBytes& cmk,
                                                             const std::string& cluster_id,
                                                             std::uint32_t generation, bool bootstrap) {
  cluster::ClusterOptions options;
  options.dir = state_->raft();
  options.cluster_id = cluster_id;
  options.node_id = facts_.id;
  options.key_generation = generation;
  options.bootstrap = bootstrap;
  options.links.exchange = &net_->exchange();
  options.links.up = [this](const std::string& node_id) { return net_->linked(node_id); };
  options.links.clock_ahead = [this] { return net_->clock_ahead(); };
  options.join = real_disk().exists(state_->joining_mark());
  options.log.heartbeat_ms = static_cast<unsigned>(cluster::kHeartbeat.count());
  options.log.free_bytes_min = std::uint64_t{options_.config.disk_reserve_mib} << 20;
  options.log.ack_before_commit_for_tests = options_.config.plant_early_ack;
  return cluster::Cluster::open(loop_, system_rng(), std::move(options),
                                security::derive(cmk, security::purpose::kRaft));
}

Result<void> Node::unlock_with_key_file() {
  const std::string path = options_.config.key_path();
  auto bytes = real_disk().read_file(path, security::kKeyFileBytesMax);
  if (!bytes) {
    if (bytes.error().code() != Errc::not_found && real_disk().exists(path))
      return std::move(bytes).error().within("the key file " + path);
    if (keyring_->has_passphrase()) {
      phase_ = api::Phase::locked;
      return {};
    }
    return Error{
        Errc::not_found,
        fmt::format(
            "the key file {} is missing: this box unlocks with it. Put it back from a copy, or name its "
            "place with key_file in the configuration. Nothing was changed",
            path)};
  }
  auto cmk = keyring_->unlock_with_key_file(*bytes);
  security::wipe(*bytes);
  if (!cmk) return std::move(cmk).error().within("the key file " + path);
  SAMOVAR_CHECK(open_with(*cmk));
  if (phase_ == api::Phase::ready) spawn(record_start("key_file", ""));
  return {};
}

Result<void> Node::open_with(const SecretBytes& cmk) {
  SAMOVAR_TRY(cluster_, open_cluster(cmk, keyring_->cluster_id(), keyring_->generation(), false));
  cmk_ = cmk.clone();
  if (real_disk().exists(state_->joining_mark())) {
    open_net();
    wait_for_state();
    return {};
  }
  become_ready(cmk);
  return {};
}

void Node::set_phase(api::Phase phase) {
  phase_ = phase;
  refresh_alerts();
  if (on_phase_) on_phase_(phase_);
}

void Node::become_ready(const SecretBytes& cmk) {
  keys_ = api::SessionKeys{security::derive(cmk, security::purpose::kPepper),
                           security::derive(cmk, security::purpose::kCsrf)};
  cluster_->on_change(
      [this](const cluster::Change& change) { loop_.post([this, change] { on_change(change); }); });
  power::HistoryFileOptions history;
  history.dir = state_->history();
  history.offload = [this](std::function<void()> work) { return io_.submit(std::move(work)); };
  history_file_ = std::make_unique<power::HistoryFile>(
      loop_, real_disk(), history_, security::derive(cmk, security::purpose::kHistory), std::move(history));
  history_file_->start();
  if (auto sealed = web_.seal_root_key(cmk); !sealed)
    SAMOVAR_LOG(warn, main, "the web root's key is not sealed yet; the next start tries again",
                kv("error", sealed.error().message()));
  auto renewed = web_.renew_if_due(cmk, web_names(), clock_.wall());
  if (!renewed)
    SAMOVAR_LOG(warn, main, "the web certificate could not be renewed",
                kv("error", renewed.error().message()));
  if (renewed && *renewed && server_) {
    const auto key = as_text(web_.key_pem().view());
    if (auto set = server_->set_certificate({web_.chain_pem(), key}); !set)
      SAMOVAR_LOG(warn, main, "the renewed web certificate is used from the next start on",
                  kv("error", set.error().message()));
  }
  if (!net_->is_member()) open_net();
  open_data(cmk);
  open_models(cmk);
  security::wipe(setup_code_);
  power_->start();
  set_phase(api::Phase::ready);
}

// A store that does not open must not keep a person from the rest of the box: it is an alert.
void Node::open_data(const SecretBytes& cmk) {
  jobs::DataKeys keys{security::derive(cmk, security::purpose::kWrap),
                      security::derive(cmk, security::purpose::kUpload)};
  jobs::LocalDataOptions options;
  options.root = state_->data();
  options.node_id = facts_.id;
  options.key_generation = keyring_->generation();
  options.threads = std::max(1u, facts_.cores);
  options.space.reserve_bytes = std::uint64_t{options_.config.disk_reserve_mib} << 20;
  options.worker.failpoints = options_.config.failpoints;
  options.worker.program = worker_path();
  options.worker.dial = power_->dial();
  options.exchange = &net_->exchange();
  options.nodes = [this] { return net_->storage_nodes(); };
  if (options_.config.repair_grace_s > 0)
    options.repair_grace = std::chrono::seconds(options_.config.repair_grace_s);
  auto opened = jobs::LocalData::open(loop_, system_rng(), *cluster_, real_disk(), io_, std::move(keys),
                                      std::move(options));
  if (!opened) {
    data_failure_ = opened.error().message();
    SAMOVAR_LOG(error, main, "the data sets cannot be opened", kv("error", data_failure_));
    return;
  }
  data_ = std::move(*opened);
  damaged_shards_ = data_->damaged_shards();
  data_->on_operation([this](const jobs::Operation& operation) {
    if (phase_ != api::Phase::ready) return;
    const std::string view = api::event_text(api::operation_view(operation));
    // Progress may be dropped for a slow reader; the beginning and the end may not.
    const bool progress =
        operation.state == jobs::OperationState::running && operation.step == "reading" && operation.rows > 0;
    if (progress) {
      events_.publish_sample("operation.changed", operation.id, view, operation.owner_id);
    } else {
      events_.publish_change("operation.changed", view, operation.owner_id);
    }
  });
  data_->start();
}

// Models are made of data sets: without those there are none.
void Node::open_models(const SecretBytes& cmk) {
  if (!data_) return;
  jobs::LocalModelsOptions options;
  options.root = state_->data();
  options.key_generation = keyring_->generation();
  options.threads = std::max(1u, facts_.cores);
  // Half of the board is for one worker; the rest is the node's, and the next worker's.
  options.memory_mib = options_.config.worker_memory_mib > 0
                           ? options_.config.worker_memory_mib
                           : std::max<std::uint64_t>(1024, facts_.memory_bytes / 2 >> 20);
  options.warm_bytes = std::max<std::uint64_t>(64u << 20, facts_.memory_bytes / 16);
  options.checkpoint_steps = options_.config.checkpoint_steps;
  options.version = SAMOVAR_VERSION;
  options.space.reserve_bytes = std::uint64_t{options_.config.disk_reserve_mib} << 20;
  options.worker.failpoints = options_.config.failpoints;
  options.worker.program = worker_path();
  options.worker.dial = power_->dial();
  options.exchange = &net_->exchange();
  options.nodes = [this] { return net_->storage_nodes(); };
  options.device = [this] { return device_; };
  options.zone_offset = [this](WallTime time) { return zone_offset_at(time); };
  options.power_facts = [this] { return power_facts(); };
  options.power_told = [this] { return power_->told(); };
  auto opened = jobs::LocalModels::open(loop_, system_rng(), *cluster_, real_disk(), io_, cpu_, *data_,
                                        security::derive(cmk, security::purpose::kWrap), std::move(options));
  if (!opened) {
    data_failure_ = opened.error().message();
    SAMOVAR_LOG(error, main, "the models cannot be opened", kv("error", data_failure_));
    return;
  }
  models_ = std::move(*opened);
  api::forward_model_events(*services_, *models_);
  models_->start();
}

Task<Result<void>> Node::unlock(SecretBytes passphrase, std::string address) {
  if (phase_ != api::Phase::locked) co_return Error{Errc::conflict, "this box is not locked"};
  if (unlocking_) co_return Error{Errc::busy, "an unlock is already running: try again in a moment"};
  unlocking_ = true;
  // Shared: std::function copies its captures, and secrets only move.
  auto secret = std::make_shared<SecretBytes>(std::move(passphrase));
  const std::function<Result<SecretBytes>()> work = [keyring = *keyring_, secret] {
    return keyring.unlock(secret->view());
  };
  auto cmk = co_await gate_.run<SecretBytes>(work);
  unlocking_ = false;
  if (!cmk) {
    if (cmk.error().code() == Errc::denied) {
      ++wrong_passphrases_;
      SAMOVAR_LOG(warn, main, "a wrong passphrase was entered", kv("address", address));
    }
    co_return std::move(cmk).error();
  }
  if (auto opened = open_with(*cmk); !opened) {
    SAMOVAR_LOG(error, main, "the passphrase is right, but the state does not open",
                kv("error", opened.error().message()));
    // For the person at the page: what is wrong and what to do, not "internal".
    co_return Error{Errc::unavailable, opened.error().message()};
  }
  if (phase_ != api::Phase::ready) co_return Result<void>{};  // it becomes ready once the state has arrived
  // With other members it takes as long as they need to agree: whoever unlocked need not wait for that.
  if (cluster_->log_members().size() > 1) {
    spawn(record_start("passphrase", std::move(address)));
  } else {
    co_await record_start("passphrase", std::move(address));
  }
  co_return Result<void>{};
}

// Who unlocked it, and this node's row. A full disk must not keep a node from serving reads.
Task<void> Node::record_start(std::string how, std::string address) {
  cluster::Call call;
  call.actor = cluster::Actor::system();
  call.actor.address = std::move(address);
  co_await put_own_row();
  if (real_disk().exists(state_->recovered())) co_await record_recovery();
  nlohmann::json details = {{"how", how}, {"version", SAMOVAR_VERSION}};
  if (wrong_passphrases_ > 0) details["wrong_passphrases"] = wrong_passphrases_;
  wrong_passphrases_ = 0;
  // One request id: an attempt whose outcome is not known is not recorded twice.
  call.request_id = new_id("req", clock_, system_rng());
  for (bool first = true; !stopping_ && phase_ == api::Phase::ready; first = false) {
    auto recorded = co_await cluster_->record(call, "node.unlock", facts_.id, "ok", details.dump());
    if (recorded) co_return;
    if (first)
      SAMOVAR_LOG(warn, main, "the unlock is not recorded yet", kv("error", recorded.error().message()));
    // Others are away: it is recorded when they are back. Anything else does not get better by itself.
    if (recorded.error().code() != Errc::unavailable) co_return;
    co_await pause(kRecordAgain);
  }
}

// What was done at the console while nothing ran. Recorded twice rather than never.
Task<void> Node::record_recovery() {
  cluster::Call call;
  call.actor = cluster::Actor::system();
  auto recorded = co_await cluster_->record(std::move(call), "cluster.recover", facts_.id, "ok", "{}");
  if (recorded) {
    static_cast<void>(real_disk().remove(state_->recovered()));
  } else {
    SAMOVAR_LOG(warn, main, "the recovery at the console is not recorded yet; the next start tries again",
                kv("error", recorded.error().message()));
  }
}

namespace {

// Those who may see it. Of one that is gone nothing but an id is said.
api::Audience audience_of(const std::optional<cluster::Dataset>& dataset) {
  if (!dataset) return {};
  std::vector<std::string> users = dataset->granted_ids;
  users.push_back(dataset->owner_id);
  return api::Audience::of_dataset(std::move(users));
}

}  // namespace

void Node::on_change(const cluster::Change& change) {
  using Kind = cluster::Change::Kind;
  if (cluster_) net_->cluster_changed(change);
  if (data_) data_->on_change(change);
  if (phase_ != api::Phase::ready) return;
  switch (change.kind) {
    case Kind::audit:
      events_.publish_change("audit.appended", fmt::format("{{\"seq\":{}}}", change.audit_seq));
      break;
    case Kind::cluster:
      events_.publish_change("cluster.changed",
                             api::event_text({{"cluster", api::cluster_view(*services_)}}));
      break;
    case Kind::nodes:
      node_turned(change.id);
      break;
    case Kind::users:
    case Kind::sessions:
    case Kind::tokens:
      events_.recheck();
      break;
    case Kind::datasets:
      events_.publish_change("dataset.changed", api::View{{"id", change.id}}.dump(),
                             audience_of(cluster_->dataset(change.id)));
      if (data_) damaged_shards_ = data_->damaged_shards();
      break;
    case Kind::jobs:
      if (models_) models_->on_job_changed(change.id);
      break;
    case Kind::models:
      api::publish_model_change(*services_, change.id);
      break;
    case Kind::operations:  // told by the one who runs them, with their progress
    case Kind::settings:
      break;
  }
}

}  // namespace samovar::daemon
