// Which jobs this node looks after, in which order; and, on the leader, jobs whose home is gone.
#include <fmt/format.h>

#include <algorithm>

#include "base/json.hpp"
#include "base/log.hpp"
#include "daemon/jobs/local_models_work.hpp"
#include "daemon/jobs/pause.hpp"

namespace samovar::jobs {

using nlohmann::json;

namespace {

constexpr std::chrono::seconds kWatchEvery{1};
constexpr unsigned kUnits = 2;  // of memory on a node: two jobs that need less than half of it

std::uint64_t step_of(std::string_view name) {
  constexpr std::string_view kBegin = "checkpoint-";
  if (!name.starts_with(kBegin)) return 0;
  return std::strtoull(std::string(name.substr(kBegin.size())).c_str(), nullptr, 10);
}

}  // namespace

LocalModels::RunPtr LocalModels::run_of(std::string_view id) const {
  const auto found = runs_.find(id);
  return found == runs_.end() ? nullptr : found->second;
}

bool LocalModels::is_known(const std::string& id) const {
  return runs_.contains(id) || std::find(queue_.begin(), queue_.end(), id) != queue_.end();
}

// Its home gave up on it, and perhaps cannot tell it: what it goes on with is nobody's.
bool is_left_out(const cluster::JobRecord& record, const WorkerRef& worker, std::uint64_t epoch) {
  if (record.run != worker.run) return record.run > worker.run;
  if (epoch == 0 || record.epoch <= epoch) return false;
  const auto plan = decode_plan(record.plan_json);
  return plan && std::none_of(plan->workers.begin(), plan->workers.end(),
                              [&worker](const auto& one) { return one.number == worker.number; });
}

// Behind those of the same priority that were accepted before.
void LocalModels::enqueue(const std::string& id) {
  if (is_known(id)) return;
  const auto record = cluster_.job(id);
  const int priority = record ? record->priority : 0;
  const auto after = std::find_if(queue_.begin(), queue_.end(), [&](const std::string& other) {
    const auto waiting = cluster_.job(other);
    const int theirs = waiting ? waiting->priority : 0;
    return theirs != priority ? theirs < priority : other > id;
  });
  queue_.insert(after, id);
}

// Half of the memory is enough for most; two of those go beside each other.
unsigned LocalModels::units_of(const cluster::JobRecord& record) const {
  const auto asked = json::parse(record.spec_json, nullptr, false);
  const auto version = cluster_.dataset_version(record.dataset_id, record.dataset_version);
  if (!asked.is_object() || !version) return 1;
  const auto schema = trainer::decode_schema(version->schema_json);
  if (!schema) return 1;
  const auto parsed = trainer::parse_spec(asked, &*schema);
  const auto size = size_of(parsed.spec, version->rows, schema->columns.size());
  const std::uint64_t bytes = estimate_job(parsed.spec, size, {}).memory_bytes;
  return bytes > (options_.memory_mib << 20) / 2 ? kUnits : 1;
}

unsigned LocalModels::units_used() const {
  unsigned used = 0;
  for (const auto& [ref, member] : members_)
    if (!member->ended) used += member->units;
  return used;
}

void LocalModels::run_next() {
  if (stopping_ || !data_.settled()) return;
  const std::size_t most = data_.replicas().alone() ? 1 : options_.jobs_at_once;
  while (!queue_.empty() && runs_.size() < most) {
    const auto record = cluster_.job(queue_.front());
    unsigned units = record ? units_of(*record) : 1;
    for (const auto& [id, run] : runs_) units += run->units;
    if (!runs_.empty() && units > kUnits) return;
    auto run = std::make_shared<Run>();
    run->job_id = queue_.front();
    run->units = record ? units_of(*record) : 1;
    queue_.pop_front();
    runs_[run->job_id] = run;
    for (const auto& waiting : queue_) tell(waiting);  // the queue has moved
    spawn(this->run(std::move(run)));
  }
}

Task<void> LocalModels::run(RunPtr run) {
  const auto record = cluster_.job(run->job_id);
  if (record && record->state == "queued" && is_mine(*record)) {
    auto done = co_await carry_out(run);
    if (stopping_) co_return;  // it stays accepted, and goes on from its checkpoint
    co_await conclude(run, std::move(done));
  }
  const auto after = cluster_.job(run->job_id);
  if (after) tell_live(*run, true);
  runs_.erase(run->job_id);
  tell(run->job_id);
  // Gone on with while it ended.
  if (after && after->state == "queued" && is_mine(*after) && !stopping_) enqueue(run->job_id);
  run_next();
}

void LocalModels::on_job_changed(const std::string& id) {
  if (id.empty()) {
    // The whole state was replaced, by a snapshot from the leader: any of them may have changed or be gone.
    std::set<std::string> ids;
    for (const auto& ref : cluster_.job_refs()) ids.insert(ref.id);
    for (const auto& [ref, member] : members_) ids.insert(ref.job_id);
    for (const auto& [job_id, run] : runs_) ids.insert(job_id);
    ids.insert(queue_.begin(), queue_.end());
    for (const std::string& each : ids) on_job_changed(each);
    return;
  }
  const auto record = cluster_.job(id);
  const bool goes_on = record && record->state == "queued";
  for (const auto& [ref, member] : members_) {
    if (ref.job_id != id || member->ended || member->committing) continue;
    if (goes_on && (record->node_id == member->home || record->node_id.empty()) &&
        !is_left_out(*record, ref, member->epoch))
      continue;
    // Paused from elsewhere: with a last checkpoint. Anything else ends it.
    if (record && record->state == "paused")
      member->signals.stop.store(true);
    else if (!record || record->state != "done")
      member->signals.kill.store(true);
  }
  if (const RunPtr run = run_of(id)) {
    wake(*run);
    return;
  }
  tidy_checkpoints(id);
  // After whoever changed it here went on with it.
  loop_.post([this, id] { adopt(id); });
}

// Begun, ended or gone on with at another node.
void LocalModels::adopt(const std::string& id) {
  if (stopping_ || !data_.settled()) return;
  const auto record = cluster_.job(id);
  const bool queued = record && record->state == "queued" && is_mine(*record);
  const auto waits = std::find(queue_.begin(), queue_.end(), id);
  const bool waited = waits != queue_.end();
  if (waited) queue_.erase(waits);
  if (waited && queued) {
    // More or less urgent than before, perhaps: so all that wait are told.
    enqueue(id);
    for (const auto& each : queue_) tell(each);
    return;
  }
  if (record && !is_mine(*record)) tell(id);
  if (!queued || is_known(id)) return;
  if (const auto before = live_.find(id); before != live_.end()) {
    const std::string text = fmt::format("Node {}, which looked after the job, is away: node {} does now.",
                                         node_name(home_of(*before->second)), node_name(self()));
    history_of(id).event(cluster_.now(), "moved", self(), text);
    log_line(id, "warn", text);
    live_.erase(id);
  }
  enqueue(id);
  tell(id);
  run_next();
}

Task<void> LocalModels::conclude(RunPtr run, Result<void> done) {
  JobHistory& history = history_of(run->job_id);
  if (run->began != MonoTime{})
    history.seconds =
        run->seconds_before + std::chrono::duration<double>(loop_.clock().mono() - run->began).count();
  const auto record = cluster_.job(run->job_id);
  if (!record) {
    histories_.erase(run->job_id);
    co_return;
  }
  if (record->state == "queued" && is_mine(*record)) {
    cluster::JobEnd end;
    end.id = run->job_id;
    const bool asked = !run->end_state.empty() && (done || done.error().code() == Errc::conflict);
    end.state = asked ? run->end_state : "failed";
    if (!asked) end.error = done ? "it ended without a model" : done.error().message();
    end.summary_json = summary_of(run->job_id, run->size, "{}");
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
    cluster::Call call = asked && run->end_call ? *run->end_call : call_for(record->owner_id, "");
    auto ended = co_await cluster_.end_job(std::move(call), std::move(end));
    if (!ended)
      SAMOVAR_LOG(warn, jobs, "the end of a job was not recorded: the next start begins it anew",
                  kv("job", run->job_id), kv("error", ended.error().message()));
  }
  if (record->state == "done") tell_power_end(*run);
  save_history(run->job_id);
}

// ---- the leader looks after jobs whose home is gone ----

void LocalModels::arm_watch() {
  watch_timer_ = loop_.after(kWatchEvery, [this] {
    if (stopping_) return;
    watch();
    forget_live();
    arm_watch();
  });
}

void LocalModels::watch() {
  const MonoTime now = loop_.clock().mono();
  std::vector<std::string> up;
  std::set<std::string> members;
  for (const auto& node : options_.nodes()) {
    members.insert(node.id);
    if (node.reachable || node.id == self()) {
      away_since_.erase(node.id);
      if (!node.draining) up.push_back(node.id);
    } else {
      away_since_.try_emplace(node.id, now);
    }
  }
  std::erase_if(away_since_, [&](const auto& one) { return !members.contains(one.first); });
  if (!cluster_.status().leader || cluster_.level() < 3 || up.empty()) return;
  cluster::JobFilter queued;
  queued.state = "queued";
  for (const auto& record : cluster_.jobs(queued)) {
    if (record.node_id.empty() || moving_.contains(record.id)) continue;
    const auto away = away_since_.find(record.node_id);
    const bool gone = !members.contains(record.node_id);
    if (!gone && (away == away_since_.end() || now - away->second < options_.home_lost)) continue;
    // Where its checkpoint lies, if anywhere.
    std::string to = up[std::hash<std::string>{}(record.id) % up.size()];
    if (!record.checkpoint_name.empty()) {
      const auto file = cluster_.stored_file(store::BlobKey::of_job(record.id, record.checkpoint_name));
      for (const auto& id : file ? file->holders : std::vector<std::string>{})
        if (std::find(up.begin(), up.end(), id) != up.end()) to = id;
    }
    moving_.insert(record.id);
    spawn(move_job(record, std::move(to)));
  }
}

Task<void> LocalModels::move_job(cluster::JobRecord record, std::string to) {
  cluster::JobTake take{record.id, record.node_id, to};
  cluster::Call call;
  call.actor = cluster::Actor::system();
  auto taken = co_await cluster_.take_job(std::move(call), std::move(take));
  if (taken) {
    SAMOVAR_LOG(info, jobs, "a job goes on at another node", kv("job", record.id), kv("from", record.node_id),
                kv("to", to));
  }
  moving_.erase(record.id);
}

// Copies of checkpoints that came before the one that counts, on a node without a worker of the job.
void LocalModels::tidy_checkpoints(const std::string& id) {
  for (const auto& [ref, member] : members_)
    if (ref.job_id == id) return;
  if (data_.replicas().alone() || !tidying_.insert(id).second) return;
  const auto record = cluster_.job(id);
  const bool over = !record || record->state == "done";
  const std::uint64_t step = record ? record->checkpoint_step : 0;
  auto clean = [this, id, over, step]() -> Result<void> {
    const std::string folder = dir_->work(Work::jobs, id);
    const auto names = disk_.list(folder);
    if (!names) return {};
    for (const auto& name : *names) {
      const std::uint64_t made = step_of(name);
      if (made > 0 && (over || made < step)) ignore(disk_.remove(folder + "/" + name), "tried again later");
    }
    return {};
  };
  auto forget = [](LocalModels* models, std::string job_id,
                   std::function<Result<void>()> work) -> Task<void> {
    ignore(co_await run_on(models->io_, models->loop_, std::move(work)), "the sweep removes it");
    models->tidying_.erase(job_id);
  };
  spawn(forget(this, id, clean));
}

}  // namespace samovar::jobs
