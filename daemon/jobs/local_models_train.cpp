// From an accepted job to a model version. The order is what makes a cut harmless:
//
//   accept       the job is in the replicated state: a restart queues it again
//   train        the worker seals checkpoints into jobs/<job>; each counts once its hash is committed
//   write        model and evaluation lie in models/<mdl>, synced; still nothing names them
//   commit       one command: version, key, job done. Only now the model exists
//
// After a cut before the commit, the job goes on from its last committed checkpoint.
#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <nlohmann/json.hpp>

#include "base/encoding.hpp"
#include "base/failpoint.hpp"
#include "base/log.hpp"
#include "daemon/jobs/local_models_work.hpp"
#include "daemon/jobs/pause.hpp"
#include "security/aead.hpp"
#include "security/hash.hpp"

namespace samovar::jobs {

using nlohmann::json;
using security::SecretBytes;

namespace {

constexpr std::chrono::milliseconds kAnswerStep{50};

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

Result<void> check_texts(const TrainedMessage& trained) {
  for (const auto* text : {&trained.headline_json, &trained.signature_json, &trained.summary_json}) {
    const auto value = json::parse(*text, nullptr, false);
    if (!value.is_object()) return Error{Errc::internal, "the worker's report is not in order"};
  }
  if (trained.signature_json.size() > cluster::kSignatureBytesMax)
    return Error{
        Errc::invalid,
        "the model has too many inputs and levels to keep: choose fewer, or let categories be hashed"};
  if (trained.headline_json.size() > cluster::kHeadlineBytesMax)
    return Error{Errc::internal, "the worker's report is not in order"};
  return {};
}

// A version that cannot be opened must not come to be.
Result<void> check_model(Disk& disk, const std::string& path, const SecretBytes& key,
                         const std::string& store_id) {
  SAMOVAR_TRY(const Bytes bytes,
              security::read_sealed_file(disk, path, key, output_place(store_id, OutputKind::model, 0),
                                         kModelBytesMax));
  auto scorer = trainer::Scorer::open(bytes);
  if (!scorer) return std::move(scorer).error().within("the model that was trained does not open");
  return {};
}

}  // namespace

// ---- the queue ----

void LocalModels::run_next() {
  if (running_ || stopping_ || queue_.empty()) return;
  std::string id = queue_.front();
  queue_.pop_front();
  running_ = std::make_shared<Run>();
  running_->job_id = id;
  for (const auto& waiting : queue_) tell(waiting);  // the queue has moved
  spawn(run(std::move(id)));
}

Task<void> LocalModels::run(std::string job_id) {
  auto run = running_;
  const auto record = cluster_.job(job_id);
  if (record && record->state == "queued") {
    auto done = co_await carry_out(run, *record);
    if (stopping_) co_return;  // it stays accepted, and goes on from its checkpoint
    co_await conclude(run, std::move(done));
  }
  running_.reset();
  tell(job_id);
  run_next();
}

void LocalModels::on_job_changed(const std::string& id) {
  if (!running_ || running_->job_id != id) {
    // After whoever changed it here went on with it.
    loop_.post([this, id] { adopt(id); });
    return;
  }
  const auto record = cluster_.job(id);
  if (record && (record->state == "queued" || record->state == "done")) return;
  running_->signals.kill.store(true);
}

// Begun, ended or gone on with at another node.
void LocalModels::adopt(const std::string& id) {
  if (stopping_ || !data_.settled()) return;
  const auto record = cluster_.job(id);
  const bool queued = record && record->state == "queued" && is_mine(*record);
  const auto waits = std::find(queue_.begin(), queue_.end(), id);
  if (waits != queue_.end() && !queued) queue_.erase(waits);
  if (record && !is_mine(*record)) tell(id);
  if (!queued || waits != queue_.end() || (running_ && running_->job_id == id)) return;
  queue_.push_back(id);
  tell(id);
  run_next();
}

void LocalModels::on_sample(const power::Sample& sample) {
  if (!sample.watts) return;
  const double joules = meter_.add(*sample.watts, sample.covers_s, running_ != nullptr);
  if (!running_) return;
  JobHistory& history = history_of(running_->job_id);
  history.joules += joules;
  history.joules_estimated = sample.watts_estimated;
}

// ---- one job ----

Result<TrainTask> LocalModels::prepare(Run& run, const cluster::JobRecord& record) const {
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
  SAMOVAR_TRY(run.job_key, unwrap("job-key", record.id, record.wrapped_key));
  run.model_key = std::make_shared<const SecretBytes>(SecretBytes::random(security::kAeadKeyBytes));
  run.owner_id = record.owner_id;
  run.name = record.name;
  run.store_id = "mdl_" + record.id.substr(record.id.find('_') + 1);
  run.dataset_id = record.dataset_id;
  run.dataset_version = rows.version.version;
  run.dataset_hash = hash_of(rows.version);
  run.spec_json = record.spec_json;
  run.size = size_of(parsed.spec, rows.version.rows, schema.columns.size());
  TrainTask task;
  task.shard_paths = rows.paths;
  run.keys = rows.keys;
  task.job_dir = dir_->work(Work::jobs, record.id);
  task.model_dir = dir_->work(Work::models, run.store_id);
  task.memory_mib = options_.memory_mib;
  task.check_room = [dir = dir_.get()] { return dir->check_room(kRoomPerFile); };
  TrainJob& job = task.job;
  job.job_id = record.id;
  job.store_id = run.store_id;
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
  job.job_key = run.job_key->clone();
  job.model_key = run.model_key->clone();
  return task;
}

TrainHooks LocalModels::hooks_for(const std::shared_ptr<Run>& run) {
  TrainHooks hooks;
  hooks.step = [this, run](const StepMessage& message) {
    loop_.post([this, run, message] {
      run->step = message.step;
      run->share = message.share;
      JobHistory& history = history_of(run->job_id);
      history.rows = std::max(history.rows, message.rows);
      history.pass = std::max(history.pass, message.pass);
      if (running_ == run) tell(run->job_id);
    });
  };
  hooks.metric = [this, run](const MetricMessage& message) {
    loop_.post([this, run, message] {
      const JobMetrics point = history_of(run->job_id).add(message);
      if (listener_.metric) listener_.metric(run->job_id, point);
    });
  };
  hooks.log = [this, run](const LogMessage& message) {
    loop_.post([this, run, message] { log_line(run->job_id, message.level, message.text); });
  };
  // The worker waits for this: what it hears is kept is kept.
  hooks.checkpoint = [this, run](const SavedFile& file) -> Result<void> {
    auto promise = std::make_shared<std::promise<Result<void>>>();
    auto answer = promise->get_future();
    loop_.post([this, run, file, promise] {
      const std::function<void(Result<void>)> done = [promise](Result<void> kept) {
        promise->set_value(std::move(kept));
      };
      spawn<Result<void>>(commit_checkpoint(run, file), done);
    });
    while (answer.wait_for(kAnswerStep) != std::future_status::ready)
      if (run->stopping.load()) return Error{Errc::unavailable, "samovard stops"};
    return answer.get();
  };
  return hooks;
}

Task<Result<void>> LocalModels::commit_checkpoint(std::shared_ptr<Run> run, SavedFile file) {
  // Of the file, whose bytes never come twice: a step that is reached again is another checkpoint.
  const std::string request = fmt::format("{}.{}", run->job_id, hex_encode(ByteView(file.hash).first(8)));
  for (unsigned tries = 1;; ++tries) {
    cluster::Call call = call_for(run->owner_id, request);
    cluster::JobCheckpoint checkpoint{run->job_id, file.number, to_bytes(ByteView(file.hash))};
    auto kept = co_await cluster_.checkpoint_job(std::move(call), std::move(checkpoint));
    if (kept) break;
    if (!worth_repeating(kept.error()) || tries >= kCommitTriesMax || stopping_)
      co_return std::move(kept).error();
    co_await jobs::pause(loop_, kCommitPause);
  }
  JobHistory& history = history_of(run->job_id);
  history.seconds =
      run->seconds_before + std::chrono::duration<double>(loop_.clock().mono() - run->began).count();
  save_history(run->job_id);
  if (running_ == run) tell(run->job_id);
  co_return Result<void>{};
}

Task<Result<void>> LocalModels::carry_out(std::shared_ptr<Run> run, const cluster::JobRecord& record) {
  SAMOVAR_CO_TRY(TrainTask task, prepare(*run, record));
  auto held = std::make_shared<TrainTask>(std::move(task));
  run->step = "fetching";
  auto keys = run->keys;
  auto brought = co_await data_.replicas().bring(std::move(keys));
  if (!brought) co_return std::move(brought).error().within("the data set's files");
  run->hold = std::move(*brought);
  if (stopping_ || !run->end_state.empty()) co_return Error{Errc::conflict, "stopped"};
  auto find = [this, held, run, hash = record.checkpoint_hash]() -> Result<void> {
    SAMOVAR_CHECK(dir_->make_work(Work::jobs, run->job_id, false));
    SAMOVAR_CHECK(dir_->make_work(Work::models, run->store_id, true));
    SAMOVAR_CHECK(dir_->sync_work(Work::jobs, run->job_id));
    SAMOVAR_TRY(held->checkpoint_path,
                find_checkpoint(disk_, held->job_dir, held->job.checkpoint_step, hash));
    return {};
  };
  auto found = co_await run_on(io_, loop_, std::move(find));
  if (!found) co_return std::move(found).error();
  const std::uint64_t committed = held->job.checkpoint_step;
  if (held->checkpoint_path.empty()) held->job.checkpoint_step = 0;
  run->from_step = held->job.checkpoint_step;
  JobHistory& history = history_of(run->job_id);
  history.cut_after(run->from_step);
  run->began = loop_.clock().mono();
  run->seconds_before = history.seconds;
  run->rows_begin = history.rows;
  run->step = "preparing";
  if (!history.started_at || run->from_step == 0) history.started_at = cluster_.now();
  if (committed > 0 && run->from_step == 0)
    log_line(run->job_id, "warn",
             fmt::format("The checkpoint at step {} is gone or damaged: training begins anew.", committed));
  else if (run->from_step > 0)
    log_line(run->job_id, "info", fmt::format("Goes on from the checkpoint at step {}.", run->from_step));
  else
    log_line(run->job_id, "info",
             fmt::format("Begins: {} rows, {} inputs.", run->size.rows, run->size.inputs));
  tell(run->job_id);
  auto work = [this, held, run, hooks = hooks_for(run)]() -> Result<TrainedMessage> {
    const std::string model = held->model_dir + "/" + output_name(OutputKind::model, 0);
    SAMOVAR_TRY(auto trained,
                run_train_worker(disk_, options_.worker, std::move(*held), run->signals, hooks));
    SAMOVAR_CHECK(check_texts(trained));
    SAMOVAR_CHECK(check_model(disk_, model, *run->model_key, run->store_id));
    SAMOVAR_CHECK(dir_->sync_work(Work::models, run->store_id));
    return trained;
  };
  auto trained = co_await run_on(workers_, loop_, std::move(work));
  if (!trained) co_return std::move(trained).error();
  // Asked to pause too late: it is done.
  if (stopping_ || run->end_state == "cancelled") co_return Error{Errc::conflict, "stopped"};
  run->committing = true;
  co_return co_await commit_model(run, std::move(*trained));
}

std::string LocalModels::summary_of(const Run& run, std::string_view trained_json) const {
  json summary = json::parse(trained_json, nullptr, false);
  if (!summary.is_object()) summary = json::object();
  const auto found = histories_.find(run.job_id);
  if (found != histories_.end()) {
    const JobHistory& history = found->second;
    summary["train_seconds"] = summary.value("seconds", 0.0);
    summary["seconds"] = history.seconds;
    summary["joules"] = history.joules;
    summary["joules_estimated"] = history.joules_estimated;
    if (!summary.contains("rows")) summary["rows"] = history.rows;
    if (!summary.contains("passes")) summary["passes"] = history.pass;
    if (!history.metric().empty()) summary["metric"] = history.metric();
    if (history.best()) summary["best"] = *history.best();
  }
  summary["dataset_rows"] = run.size.rows;
  summary["inputs"] = run.size.inputs;
  summary["asked_solver"] = run.size.solver;
  summary["asked_passes"] = run.size.passes;
  std::string text = summary.dump(-1, ' ', false, json::error_handler_t::replace);
  if (text.size() > cluster::kSummaryBytesMax) {
    summary.erase("notes");
    text = summary.dump(-1, ' ', false, json::error_handler_t::replace);
  }
  return text.size() > cluster::kSummaryBytesMax ? "{}" : text;
}

Task<Result<void>> LocalModels::commit_model(std::shared_ptr<Run> run, TrainedMessage trained) {
  run->step = "saving";
  run->share = 1;
  tell(run->job_id);
  JobHistory& history = history_of(run->job_id);
  history.seconds =
      run->seconds_before + std::chrono::duration<double>(loop_.clock().mono() - run->began).count();
  cluster::NewModelVersion model;
  model.name = run->name;
  model.summary_json = summary_of(*run, trained.summary_json);
  auto& version = model.version;
  version.created_by = run->owner_id;
  version.job_id = run->job_id;
  version.dataset_id = run->dataset_id;
  version.dataset_version = run->dataset_version;
  version.dataset_hash = run->dataset_hash;
  version.code_version = options_.version;
  version.spec_json = run->spec_json;
  version.signature_json = trained.signature_json;
  version.headline_json = trained.headline_json;
  version.stored_bytes = trained.model.stored_bytes;  // the length that copies of the file must have
  version.hash = to_bytes(ByteView(trained.model.hash));
  version.wrapped_key = wrap("model-key", run->store_id, *run->model_key);
  version.evaluation_name = evaluation_name_of(run->store_id);
  version.evaluation_hash = to_bytes(ByteView(trained.evaluation.hash));
  version.files = {{"model", trained.model.stored_bytes, version.hash},
                   {"evaluation", trained.evaluation.stored_bytes, version.evaluation_hash}};
  co_await spread(run->store_id, version);
  SAMOVAR_FAILPOINT("jobs.train.commit.before");
  const std::string request =
      fmt::format("{}.{}", run->job_id, hex_encode(ByteView(trained.model.hash).first(8)));
  for (unsigned tries = 1;; ++tries) {
    cluster::Call call = call_for(run->owner_id, request);
    cluster::NewModelVersion copy = model;
    auto committed = co_await cluster_.commit_model(std::move(call), std::move(copy));
    if (committed) {
      SAMOVAR_FAILPOINT("jobs.train.commit.after");
      log_line(run->job_id, "info",
               fmt::format("Done: version {} of the model {}.", committed->version, committed->model));
      tell_model(committed->model);
      co_return Result<void>{};
    }
    if (!worth_repeating(committed.error()) || tries >= kCommitTriesMax || stopping_)
      co_return std::move(committed).error();
    co_await jobs::pause(loop_, kCommitPause);
  }
}

Task<void> LocalModels::conclude(std::shared_ptr<Run> run, Result<void> done) {
  JobHistory& history = history_of(run->job_id);
  if (run->began != MonoTime{})
    history.seconds =
        run->seconds_before + std::chrono::duration<double>(loop_.clock().mono() - run->began).count();
  const auto record = cluster_.job(run->job_id);
  if (!record) {
    histories_.erase(run->job_id);
    co_return;
  }
  auto clean = [this, id = run->job_id, store_id = run->store_id, made = done.has_value()]() -> Result<void> {
    // Of a model nothing is left but what was committed, of checkpoints nothing once there is a model.
    if (!made && !store_id.empty()) return dir_->remove_work(Work::models, store_id);
    if (made)
      ignore(find_checkpoint(disk_, dir_->work(Work::jobs, id), 0, {}), "the removal of the job tries again");
    return {};
  };
  if (record->state == "queued") {
    cluster::JobEnd end;
    end.id = run->job_id;
    const bool asked = !run->end_state.empty() && (done || done.error().code() == Errc::conflict);
    end.state = asked ? run->end_state : "failed";
    if (!asked && !done) end.error = done.error().message();
    end.summary_json = summary_of(*run, "{}");
    if (end.state == "failed") {
      log_line(run->job_id, "error", end.error);
      SAMOVAR_LOG(info, jobs, "a training did not end well", kv("job", run->job_id),
                  kv("code", to_string(done ? Errc::internal : done.error().code())));
    } else {
      log_line(run->job_id, "info", end.state == "paused" ? "Paused." : "Cancelled.");
    }
    if (!done && done.error().code() == Errc::no_space) {
      auto make_room = [dir = dir_.get()] { return dir->drop_ballast(); };
      ignore(co_await run_on(io_, loop_, std::move(make_room)), "there may be none");
    }
    cluster::Call call = asked && run->end_call
                             ? *run->end_call
                             : call_for(run->owner_id.empty() ? record->owner_id : run->owner_id, "");
    auto ended = co_await cluster_.end_job(std::move(call), std::move(end));
    if (!ended)
      SAMOVAR_LOG(warn, jobs, "the end of a job was not recorded: the next start begins it anew",
                  kv("job", run->job_id), kv("error", ended.error().message()));
  }
  // Outcome unknown: the next start sees whether the model is there, and keeps or collects its files.
  const bool unknown = !done && run->committing && worth_repeating(done.error());
  if (!unknown) ignore(co_await run_on(io_, loop_, std::move(clean)), "the next start collects it");
  save_history(run->job_id);
}

}  // namespace samovar::jobs
