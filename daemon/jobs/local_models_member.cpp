// A worker of this node, for a job that this or another node looks after: from the order to prepare to its
// end.
//
//   prepare   shards and checkpoint are brought, the worker is started and closes its sandbox; home is told
//   epoch     the first one begins the training, later ones change who takes part and on what
//   end       the lead's checkpoints and model are committed here, where they lie
#include <fmt/format.h>

#include <algorithm>

#include "base/encoding.hpp"
#include "base/failpoint.hpp"
#include "base/json.hpp"
#include "base/log.hpp"
#include "daemon/jobs/local_models_work.hpp"
#include "daemon/jobs/pause.hpp"
#include "daemon/store/shard_file.hpp"
#include "security/aead.hpp"
#include "security/hash.hpp"
#include "trainer/spec_device.hpp"

namespace samovar::jobs {

using nlohmann::json;
using security::SecretBytes;

namespace {

constexpr std::chrono::milliseconds kAnswerStep{50};
constexpr std::chrono::seconds kAliveEvery{1};
constexpr unsigned kAheadTries = 10;  // to bring what is for later, with a pause between
constexpr std::chrono::seconds kAheadPause{3};
constexpr unsigned kEndSteps = 80;    // of kAnswerStep: for the worker before to end
constexpr unsigned kUnitsOthers = 2;  // for jobs of other nodes; our own may have one more
constexpr unsigned kUnitsOwn = 3;
constexpr std::uint64_t kShareFromMib = 1024;  // less is not worth sharing

Error not_here() { return {Errc::not_found, "this worker is not here"}; }

// Over the hashes of all shards: equal only for the same bytes in the same order.
std::string hash_of(const cluster::DatasetVersion& version) {
  security::Hasher hasher;
  for (const auto& shard : version.shards) hasher.update(shard.hash);
  return hex_encode(hasher.finish());
}

// What lies in the job's folder and is neither its history nor its checkpoint was left by a cut.
Result<std::string> find_checkpoint(Disk& disk, const std::string& folder, std::uint64_t step,
                                    const Bytes& hash) {
  SAMOVAR_TRY(const auto names, disk.list(folder));
  std::string found;
  for (const auto& name : names) {
    if (name == kHistoryName) continue;
    const std::string path = folder + "/" + name;
    const auto wanted = checkpoint_names(step);
    if (step > 0 && found.empty() && std::find(wanted.begin(), wanted.end(), name) != wanted.end()) {
      const auto stored = security::hash_stored_file(disk, path);
      if (stored && to_bytes(ByteView(*stored)) == hash) {
        found = path;
        continue;
      }
    }
    ignore(disk.remove(path), "the next run tries again");
  }
  return found;
}

}  // namespace

Task<Result<Bytes>> LocalModels::on_ask(std::string from, Bytes body) {
  if (stopping_) co_return Error{Errc::unavailable, "this node is stopping"};
  const auto node = cluster_.node(from);
  if (!node || node->state == cluster::NodeState::removed)
    co_return Error{Errc::denied, "only members of this cluster train together"};
  SAMOVAR_CO_TRY(const JobMessageKind kind, kind_of(body));
  switch (kind) {
    case JobMessageKind::prepare: {
      SAMOVAR_CO_TRY(JobPrepare order, decode_job_prepare(body));
      co_return co_await on_prepare(std::move(from), std::move(order));
    }
    case JobMessageKind::epoch: {
      SAMOVAR_CO_TRY(const JobEpoch order, decode_job_epoch(body));
      co_return on_epoch(from, order);
    }
    case JobMessageKind::stop: {
      SAMOVAR_CO_TRY(const JobStop order, decode_job_stop(body));
      co_return on_stop(from, order);
    }
    case JobMessageKind::piece: {
      SAMOVAR_CO_TRY(JobPiece piece, decode_job_piece(body));
      co_return co_await relay_->on_piece(std::move(from), std::move(piece));
    }
    case JobMessageKind::history: {
      SAMOVAR_CO_TRY(const JobHistoryAsk asked, decode_job_history_ask(body));
      co_return on_history(asked);
    }
    default:
      co_return Error{Errc::unsupported, "this is nothing to ask"};
  }
}

void LocalModels::on_tell(const std::string& from, Bytes body) {
  if (stopping_) return;
  const auto kind = kind_of(body);
  if (kind && *kind == JobMessageKind::news) {
    if (const auto news = decode_job_news(body)) on_news(from, *news);
  } else if (kind && *kind == JobMessageKind::live) {
    if (const auto live = decode_job_live(body)) on_live(from, *live);
  }
}

// ---- orders ----

Task<Result<Bytes>> LocalModels::on_prepare(std::string from, JobPrepare order) {
  const WorkerRef ref = order.worker;
  if (const auto found = members_.find(ref); found != members_.end())
    co_return add_shards(found->second, from, std::move(order));
  // A box that was alone did not say who carries it out.
  const auto carries = [this, &ref, &from](const std::optional<cluster::JobRecord>& job) {
    return job && job->state == "queued" && ref.run >= job->run &&
           (job->node_id == from || (job->node_id.empty() && from == self()));
  };
  if (!carries(cluster_.job(ref.job_id))) {
    // Home knows more than we do, perhaps.
    auto caught_up = co_await data_.replicas().catch_up();
    if (!caught_up) co_return std::move(caught_up).error();
    if (!carries(cluster_.job(ref.job_id))) co_return Error{Errc::conflict, "this job is another node's"};
  }
  // One worker of a job at a time: its folder is its own.
  for (unsigned step = 0; end_members(ref) && !stopping_; ++step) {
    if (step == kEndSteps) co_return Error{Errc::busy, "this job's worker before is still ending here"};
    co_await jobs::pause(loop_, kAnswerStep);
  }
  if (stopping_) co_return Error{Errc::unavailable, "this node is stopping"};
  const auto record = cluster_.job(ref.job_id);
  if (!carries(record)) co_return Error{Errc::conflict, "this job is another node's"};
  // Ordered twice while we waited.
  if (const auto found = members_.find(ref); found != members_.end())
    co_return add_shards(found->second, from, std::move(order));
  const unsigned units = units_of(*record);
  if (units_used() + units > (from == self() ? kUnitsOwn : kUnitsOthers) && units_used() > 0)
    co_return Error{Errc::busy, "this node has no room for another worker now"};
  auto member = std::make_shared<Member>();
  member->ref = ref;
  member->home = std::move(from);
  member->units = units;
  member->turn = order.turn;
  members_[ref] = member;
  relay_->attach(ref, member->line);
  spawn(work(member, std::move(order)));
  co_return Bytes{};
}

Result<Bytes> LocalModels::add_shards(const MemberPtr& member, const std::string& from, JobPrepare order) {
  if (member->home != from || member->ended) return not_here();
  spawn(bring_more(member, std::move(order.shards), order.turn));
  return Bytes{};
}

// Those that came before this one: of an earlier run, or given up on in this one. True while there are any.
bool LocalModels::end_members(const WorkerRef& before) {
  bool any = false;
  for (const auto& [ref, member] : members_) {
    if (ref.job_id != before.job_id || !(ref < before)) continue;
    any = true;
    if (!member->committing) member->signals.kill.store(true);
  }
  return any;
}

Result<Bytes> LocalModels::on_epoch(const std::string& from, const JobEpoch& order) {
  const auto found = members_.find(order.worker);
  if (found == members_.end() || found->second->home != from || found->second->ended) return not_here();
  Member& member = *found->second;
  member.epoch = std::max(member.epoch, order.epoch);
  relay_->set_members(order.worker, order.members);
  member.map.parts = order.parts;
  if (!order.turns.empty()) spawn(bring_ahead(found->second, order.turns));
  if (!member.begun) {
    member.begun = true;
    member.first.set_value(order);
    return Bytes{};
  }
  MembershipMessage message;
  message.epoch = order.epoch;
  for (const auto& [number, node] : order.members) message.members.push_back(number);
  message.blocks = order.blocks;
  message.turns = order.turns;
  member.line->post(ingest::MessageType::membership, encode(message));
  return Bytes{};
}

Result<Bytes> LocalModels::on_stop(const std::string& from, const JobStop& order) {
  const auto found = members_.find(order.worker);
  if (found == members_.end() || found->second->home != from) return not_here();
  Member& member = *found->second;
  if (order.save && member.begun)
    member.signals.stop.store(true);
  else if (!member.committing)
    member.signals.kill.store(true);
  return Bytes{};
}

// ---- the worker ----

Task<Result<void>> LocalModels::bring_shards(MemberPtr member, std::vector<std::uint32_t> shards) {
  ++member->bringing;
  auto brought = co_await bring_fresh(member, std::move(shards));
  --member->bringing;
  co_return brought;
}

Task<Result<void>> LocalModels::bring_fresh(MemberPtr member, std::vector<std::uint32_t> shards) {
  std::vector<std::string> keys;
  std::vector<std::uint32_t> fresh;
  for (const std::uint32_t shard : shards) {
    if (shard >= member->keys.size()) co_return Error{Errc::invalid, "the data set has no such part"};
    if (!member->shards.insert(shard).second) continue;
    keys.push_back(member->keys[shard]);
    fresh.push_back(shard);
  }
  if (fresh.empty()) co_return Result<void>{};
  auto brought = co_await data_.replicas().bring(std::move(keys));
  if (!brought) co_return std::move(brought).error().within("the data set's files");
  member->holds.push_back(std::move(*brought));
  // What every worker must know of the blocks is in the shards themselves.
  using BlockRows = std::vector<std::pair<std::uint32_t, std::vector<std::uint32_t>>>;
  auto look = [this, member, fresh]() -> Result<BlockRows> {
    BlockRows found;
    for (const std::uint32_t shard : fresh) {
      SAMOVAR_TRY(auto file, disk_.open(member->paths[shard], OpenMode::read));
      SAMOVAR_TRY(
          const auto reader,
          store::ShardReader::open(std::move(file), *member->data_key,
                                   store::shard_place(member->dataset_id, member->dataset_version, shard)));
      auto& rows = found.emplace_back(shard, std::vector<std::uint32_t>{}).second;
      for (const auto& block : reader->blocks()) rows.push_back(block.rows);
    }
    return found;
  };
  auto found = co_await run_on(io_, loop_, std::move(look));
  if (!found) co_return std::move(found).error();
  member->found.insert(member->found.end(), found->begin(), found->end());
  co_return Result<void>{};
}

Task<void> LocalModels::bring_more(MemberPtr member, std::vector<std::uint32_t> shards, std::uint64_t turn) {
  auto brought = co_await bring_shards(member, std::move(shards));
  if (member->ended) co_return;
  if (!brought) {
    member->failure = brought.error();
    member->signals.kill.store(true);
    co_return;
  }
  member->turn = std::max(member->turn, turn);
  tell_ready(*member);
}

// What the worker lacks for the passes to come, turn by turn, while it trains; those of the first it asks for
// itself. An order of the same files meanwhile is none the slower: they are fetched once.
Task<void> LocalModels::bring_ahead(MemberPtr member, Turns turns) {
  for (const std::uint32_t shard : shards_of(member->map, turns.front())) member->ahead.insert(shard);
  for (const auto& blocks : turns) {
    ShardsMessage come;
    for (const std::uint32_t shard : shards_of(member->map, blocks))
      if (shard < member->keys.size() && member->ahead.insert(shard).second) come.shards.push_back(shard);
    if (come.shards.empty()) continue;
    std::vector<std::string> keys;
    for (const std::uint32_t shard : come.shards) keys.push_back(member->keys[shard]);
    for (unsigned tries = 1;; ++tries) {
      auto brought = co_await data_.replicas().bring(keys);
      if (member->ended || stopping_) co_return;
      if (brought) {
        member->holds.push_back(std::move(*brought));
        break;
      }
      // The worker would wait for ever: the others go on without it.
      if (tries == kAheadTries) {
        member->failure = std::move(brought).error().within("the files for the next pass");
        member->signals.kill.store(true);
        co_return;
      }
      co_await jobs::pause(loop_, kAheadPause);
      if (member->ended || stopping_) co_return;
    }
    member->line->post(ingest::MessageType::shards, encode(come));
  }
}

// Once it is up and all that was ordered is here: orders may overtake each other.
void LocalModels::tell_ready(Member& member) {
  if (!member.up || member.bringing > 0) return;
  JobNews news;
  news.what = JobNews::What::ready;
  news.turn = member.turn;
  news.shards = std::exchange(member.found, {});
  tell_home(member, std::move(news));
}

void LocalModels::tell_home(const Member& member, JobNews news) {
  if (stopping_) return;
  news.worker = member.ref;
  ignore(options_.exchange->tell(member.home, net::Topic::job, encode(news)),
         "home is away, or comes to know by our silence");
}

void LocalModels::tell_alive(const MemberPtr& member) {
  if (member->ended || stopping_) return;
  JobNews news;
  news.what = JobNews::What::alive;
  news.watts = sample_.watts ? *sample_.watts : -1;
  news.watts_estimated = sample_.watts_estimated;
  news.joules = member->joules;
  const auto traffic = relay_->traffic(member->ref);
  news.bytes_sent = traffic.sent;
  news.bytes_received = traffic.received;
  tell_home(*member, std::move(news));
  JobNews energy;
  energy.what = JobNews::What::energy;
  energy.joules_error = member->joules_error;
  energy.busy_seconds = member->busy_seconds;
  energy.duty_seconds = member->duty_seconds;
  tell_home(*member, std::move(energy));
  member->alive_timer = loop_.after(kAliveEvery, [this, member] { tell_alive(member); });
}

Task<void> LocalModels::work(MemberPtr member, JobPrepare order) {
  tell_alive(member);
  auto done = co_await work_until_end(member, std::move(order));
  if (!done && done.error().code() == Errc::conflict && member->failure) done = *member->failure;
  member->ended = true;
  loop_.cancel(member->alive_timer);
  relay_->detach(member->ref);
  member->holds.clear();
  JobNews news;
  news.what = JobNews::What::ended;
  news.good = done.has_value();
  if (!done) {
    news.code = done.error().code();
    news.error = done.error().message();
  }
  const WorkerRef ref = member->ref;
  members_.erase(ref);
  if (stopping_) co_return;
  tell_home(*member, std::move(news));
  // Of a model nothing is left but what was committed, of checkpoints nothing once there is a model. With
  // other nodes the sweep does it: what lies there may be a copy of another worker's.
  if (!data_.replicas().alone()) co_return;
  const auto record = cluster_.job(ref.job_id);
  const bool made = record && record->state == "done";
  const bool unknown = !done && member->committing && worth_repeating(done.error());
  if (unknown) co_return;
  auto clean = [this, id = ref.job_id, store_id = member->store_id, made]() -> Result<void> {
    if (!made && !store_id.empty()) return dir_->remove_work(Work::models, store_id);
    if (made)
      ignore(find_checkpoint(disk_, dir_->work(Work::jobs, id), 0, {}), "the removal of the job tries again");
    return {};
  };
  ignore(co_await run_on(io_, loop_, std::move(clean)), "the next start collects it");
}

Result<TrainTask> LocalModels::prepare(Member& member, const cluster::JobRecord& record) const {
  const auto asked = json::parse(record.spec_json, nullptr, false);
  cluster::Call call = call_for(record.owner_id, "");
  // The rights are the owner's, now, not those of the node that works for them.
  call.actor.auth = cluster::AuthKind::session;
  SAMOVAR_TRY(const Rows rows, open_rows(call.actor, record.dataset_id, record.dataset_version));
  SAMOVAR_TRY(const trainer::Schema schema, trainer::decode_schema(rows.version.schema_json));
  const auto parsed = trainer::parse_spec(asked, &schema);
  if (!parsed.faults.empty()) return Error{Errc::invalid, parsed.faults.front().detail};
  if (record.wrapped_key.empty())
    return Error{Errc::conflict, "this job's key is destroyed: start a new job"};
  SAMOVAR_TRY(member.job_key, unwrap("job-key", record.id, record.wrapped_key));
  member.model_key = std::make_shared<const SecretBytes>(SecretBytes::random(security::kAeadKeyBytes));
  member.data_key = rows.key;
  member.owner_id = record.owner_id;
  member.name = record.name;
  member.store_id = "mdl_" + record.id.substr(record.id.find('_') + 1);
  member.dataset_id = record.dataset_id;
  member.dataset_version = rows.version.version;
  member.dataset_hash = hash_of(rows.version);
  member.spec_json = record.spec_json;
  member.power = parsed.spec.power;
  member.size = size_of(parsed.spec, rows.version.rows, schema.columns.size());
  member.keys = rows.keys;
  member.paths = rows.paths;
  for (const auto& shard : rows.version.shards)
    member.map.shards.push_back({shard.rows, shard.blocks, shard.node_ids});
  TrainTask task;
  task.shard_paths = rows.paths;
  task.job_dir = dir_->work(Work::jobs, record.id);
  task.model_dir = dir_->work(Work::models, member.store_id);
  task.make_model_dir = [dir = dir_.get(), id = member.store_id] {
    return dir->make_work(Work::models, id, true);
  };
  const bool shares = member.units < kUnitsOthers && options_.memory_mib >= 2 * kShareFromMib;
  task.memory_mib = shares ? options_.memory_mib / 2 : options_.memory_mib;
  task.check_room = [dir = dir_.get()] { return dir->check_room(kRoomPerFile); };
  task.line = member.line;
  TrainJob& job = task.job;
  job.job_id = record.id;
  job.store_id = member.store_id;
  job.spec_json = record.spec_json;
  job.schema_json = rows.version.schema_json;
  job.dataset_id = record.dataset_id;
  job.dataset_version = rows.version.version;
  job.shards = static_cast<std::uint32_t>(rows.paths.size());
  job.checkpoint_step = record.checkpoint_step;
  job.threads = options_.threads;
  job.checkpoint_ms = options_.checkpoint_ms;
  job.checkpoint_steps = options_.checkpoint_steps;
  job.data_key = rows.key->clone();
  job.job_key = member.job_key->clone();
  job.model_key = member.model_key->clone();
  return task;
}

// What the job asks for, and what this node has.
void LocalModels::choose_device(Member& member, unsigned attempt, TrainTask& task) {
  const auto asked = trainer::parse_spec(json::parse(member.spec_json, nullptr, false), nullptr).spec;
  const DeviceFound device = options_.device ? options_.device() : DeviceFound{};
  if (asked.device == trainer::Device::gpu && device.name.empty()) {
    task.no_device = device.trouble.empty() ? "no GPU answers" : device.trouble;
    return;
  }
  const auto plan = trainer::plan_device(asked, member.size.rows, device.generation);
  task.no_device = plan.why;
  if (!plan.gpu) return;
  const auto failed = without_device_.find(member.ref.job_id);
  if (failed != without_device_.end() && failed->second.first == attempt) {
    task.no_device = failed->second.second;
    return;
  }
  member.on_device = true;
  task.plugin = device.plugin;
}

// True when this worker delivered the model.
Task<Result<bool>> LocalModels::work_until_end(MemberPtr member, JobPrepare order) {
  const auto record = cluster_.job(member->ref.job_id);
  if (!record) co_return Error{Errc::conflict, "stopped"};
  SAMOVAR_CO_TRY(TrainTask task, prepare(*member, *record));
  auto held = std::make_shared<TrainTask>(std::move(task));
  auto brought = co_await bring_shards(member, order.shards);
  if (!brought) co_return std::move(brought).error();
  if (order.checkpoint && !record->checkpoint_name.empty() && !data_.replicas().alone()) {
    std::vector<std::string> key = {store::BlobKey::of_job(record->id, record->checkpoint_name)};
    // Without it this one begins with what the lead tells it; the lead anew.
    if (auto there = co_await data_.replicas().bring(std::move(key)))
      member->holds.push_back(std::move(*there));
  }
  if (stopping_ || member->signals.kill.load()) co_return Error{Errc::conflict, "stopped"};
  auto find = [this, held, member, hash = record->checkpoint_hash,
               wanted = order.checkpoint]() -> Result<void> {
    SAMOVAR_CHECK(dir_->make_work(Work::jobs, member->ref.job_id, false));
    SAMOVAR_CHECK(dir_->sync_work(Work::jobs, member->ref.job_id));
    if (!wanted) return {};
    SAMOVAR_TRY(held->checkpoint_path,
                find_checkpoint(disk_, held->job_dir, held->job.checkpoint_step, hash));
    return {};
  };
  auto found = co_await run_on(io_, loop_, std::move(find));
  if (!found) co_return std::move(found).error();
  if (held->job.checkpoint_step > 0 && order.checkpoint && held->checkpoint_path.empty()) {
    JobNews news;
    news.what = JobNews::What::log;
    news.log = {"warn", fmt::format("The checkpoint at step {} is gone or damaged: training begins anew.",
                                    held->job.checkpoint_step)};
    tell_home(*member, std::move(news));
  }
  if (held->checkpoint_path.empty()) held->job.checkpoint_step = 0;
  // For a moment after a start of the node.
  while (options_.device && options_.device().pending && !stopping_ && !member->signals.kill.load())
    co_await jobs::pause(loop_, kAnswerStep);
  choose_device(*member, record->attempt, *held);
  auto work = [this, held, member, hooks = hooks_for(member)]() -> Result<TrainedMessage> {
    const std::string model = held->model_dir + "/" + output_name(OutputKind::model, 0);
    SAMOVAR_TRY(auto trained,
                run_train_worker(disk_, options_.worker, std::move(*held), member->signals, hooks));
    if (trained.elsewhere) return trained;
    SAMOVAR_CHECK(check_trained(disk_, trained, model, *member->model_key, member->store_id));
    SAMOVAR_CHECK(dir_->sync_work(Work::models, member->store_id));
    return trained;
  };
  auto trained = co_await run_on(workers_, loop_, std::move(work));
  if (!trained) co_return std::move(trained).error();
  if (trained->elsewhere) co_return false;
  // Asked to pause too late: it is done.
  const auto now = cluster_.job(member->ref.job_id);
  if (stopping_ || !now || now->state == "cancelled" || member->signals.kill.load())
    co_return Error{Errc::conflict, "stopped"};
  member->committing = true;
  JobNews saving;
  saving.what = JobNews::What::step;
  saving.step = {"saving", 1, 0, 0};
  tell_home(*member, std::move(saving));
  auto committed = co_await commit_model(member, std::move(*trained));
  if (!committed) co_return std::move(committed).error();
  co_return true;
}

TrainHooks LocalModels::hooks_for(const MemberPtr& member) {
  TrainHooks hooks;
  const auto told = [this, member](JobNews news) {
    loop_.post([this, member, news = std::move(news)] { tell_home(*member, news); });
  };
  hooks.begin = [this, member](TrainJob& job) -> Result<void> {
    auto first = member->first.get_future();
    loop_.post([this, member] {
      member->up = true;
      tell_ready(*member);
    });
    while (first.wait_for(kAnswerStep) != std::future_status::ready)
      if (member->signals.kill.load() || member->signals.stop.load() || member->stopping.load())
        return Error{Errc::conflict, "stopped"};
    const JobEpoch epoch = first.get();
    job.parts = epoch.parts;
    if (epoch.block_rows.empty()) return {};  // alone: as a box without others
    job.member = epoch.worker.number;
    job.joining = epoch.joining;
    job.epoch = epoch.epoch;
    for (const auto& [number, node] : epoch.members) job.members.push_back(number);
    job.blocks = epoch.blocks;
    job.turns = epoch.turns;
    job.block_rows = epoch.block_rows;
    if (job.joining) job.checkpoint_step = 0;
    return {};
  };
  hooks.begun = [this, member] { loop_.post([this, member] { relay_->begun(member->ref); }); };
  hooks.peer = [this, member](PeerFrame frame, ingest::Descriptor body) {
    auto file = std::make_shared<ingest::Descriptor>(std::move(body));
    loop_.post([this, member, frame = std::move(frame), file]() mutable {
      relay_->send(member->ref, std::move(frame), std::move(*file));
    });
  };
  hooks.taken = [this, member](std::uint32_t count) {
    loop_.post([this, member, count] { relay_->taken(member->ref, count); });
  };
  hooks.step = [told](const StepMessage& message) {
    JobNews news;
    news.what = JobNews::What::step;
    news.step = message;
    told(std::move(news));
  };
  hooks.metric = [told](const MetricMessage& message) {
    JobNews news;
    news.what = JobNews::What::metric;
    news.metric = message;
    told(std::move(news));
  };
  hooks.log = [told](const LogMessage& message) {
    JobNews news;
    news.what = JobNews::What::log;
    news.log = message;
    told(std::move(news));
  };
  hooks.device = [this, told, member](const DeviceMessage& message) {
    // The job's next worker here does without, unless somebody starts it anew.
    if (message.name.empty())
      loop_.post([this, member, why = message.trouble] {
        const auto record = cluster_.job(member->ref.job_id);
        if (member->on_device && record) without_device_[record->id] = {record->attempt, why};
      });
    JobNews news;
    news.what = JobNews::What::device;
    news.device = message;
    told(std::move(news));
  };
  // The worker waits for this: what it hears is kept is kept.
  hooks.checkpoint = [this, member](const SavedFile& file, const std::string& name) -> Result<void> {
    auto promise = std::make_shared<std::promise<Result<void>>>();
    auto answer = promise->get_future();
    loop_.post([this, member, file, name, promise] {
      const std::function<void(Result<void>)> done = [promise](Result<void> kept) {
        promise->set_value(std::move(kept));
      };
      spawn<Result<void>>(commit_checkpoint(member, file, name), done);
    });
    while (answer.wait_for(kAnswerStep) != std::future_status::ready)
      if (member->stopping.load()) return Error{Errc::unavailable, "samovard stops"};
    return answer.get();
  };
  return hooks;
}

}  // namespace samovar::jobs
