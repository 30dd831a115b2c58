// Jobs as people see them: checked, accepted, paused, gone on with, removed.
#include <fmt/format.h>

#include <algorithm>

#include "base/ids.hpp"
#include "base/json.hpp"
#include "base/log.hpp"
#include "daemon/cluster/command.hpp"
#include "daemon/cluster/dataset_rights.hpp"
#include "daemon/cluster/model_rights.hpp"
#include "daemon/jobs/job_advice.hpp"
#include "daemon/jobs/local_models_work.hpp"
#include "daemon/jobs/pause.hpp"
#include "security/aead.hpp"

namespace samovar::jobs {

using nlohmann::json;
using security::SecretBytes;

namespace {

constexpr std::chrono::milliseconds kEndStep{20};
// Of commands: nodes from here on know "power" in a spec, and more than one strategy and codec.
constexpr unsigned kPowerLevel = 5;
constexpr unsigned kRotateLevel = 6;
constexpr unsigned kDeviceLevel = 7;
constexpr unsigned kFrequentLevel = 7;
constexpr unsigned kPriorityLevel = 4;

Error no_job() { return {Errc::not_found, "there is no such job"}; }

JobState parse_state(std::string_view text) {
  for (const JobState state :
       {JobState::queued, JobState::paused, JobState::done, JobState::failed, JobState::cancelled})
    if (to_string(state) == text) return state;
  return JobState::queued;
}

double number(const json& object, const char* name) {
  const auto at = object.find(name);
  return at != object.end() && at->is_number() ? at->get<double>() : 0;
}

std::string text_of(const json& object, const char* name) {
  const auto at = object.find(name);
  return at != object.end() && at->is_string() ? at->get<std::string>() : std::string();
}

}  // namespace

Result<trainer::ParsedSpec> LocalModels::check(const cluster::Actor& actor, const json& spec) const {
  const std::string dataset_id = spec.is_object() ? text_of(spec, "dataset") : "";
  if (dataset_id.empty()) return trainer::parse_spec(spec, nullptr);
  const auto at = spec.find("dataset_version");
  const std::uint32_t wanted = at != spec.end() && at->is_number_unsigned() ? at->get<std::uint32_t>() : 0;
  const auto dataset = cluster_.dataset(dataset_id);
  const auto refuse = [&spec](const char* pointer, const char* code, std::string detail) {
    auto parsed = trainer::parse_spec(spec, nullptr);
    parsed.faults.push_back({pointer, code, std::move(detail)});
    return parsed;
  };
  if (!dataset || !cluster::may_see(actor, *dataset))
    return refuse("/dataset", "unknown", "There is no such data set.");
  if (!cluster::may_read_rows(actor, *dataset))
    return refuse("/dataset", "denied",
                  "You may see this data set but not its rows: its owner can grant you that.");
  if (dataset->binned_at)
    return refuse("/dataset", "conflict", "This data set is in the bin: restore it first.");
  const auto version = cluster_.dataset_version(dataset_id, wanted);
  if (!version) return refuse("/dataset_version", "unknown", "There is no such version of this data set.");
  SAMOVAR_TRY(const trainer::Schema schema, trainer::decode_schema(version->schema_json));
  auto parsed = trainer::parse_spec(spec, &schema);
  parsed.spec.dataset_version = version->version;
  check_power(parsed.spec.power, options_.power_facts ? options_.power_facts() : PowerFacts{}, cluster_.now(),
              options_.zone_offset, parsed.faults);
  if (parsed.spec.power != trainer::PowerSpec{} && cluster_.level() < kPowerLevel)
    parsed.faults.push_back({"/power", "conflict",
                             "A node of this cluster runs an earlier version, which knows no limits of jobs: "
                             "update all nodes first, or leave this out."});
  trainer::StrategySpec known_before;  // to nodes below that level
  known_before.beta = parsed.spec.strategy.beta;
  known_before.tau = parsed.spec.strategy.tau;
  if (parsed.spec.strategy != known_before && cluster_.level() < kPowerLevel)
    parsed.faults.push_back({"/strategy", "conflict",
                             "A node of this cluster runs an earlier version, which does not know this "
                             "strategy: update all nodes first, or leave this out."});
  if (parsed.spec.strategy.rotate != trainer::Rotate::no && cluster_.level() < kRotateLevel)
    parsed.faults.push_back(
        {"/strategy/rotate", "conflict",
         "A node of this cluster runs an earlier version, which cannot have other rows in "
         "each pass: update all nodes first, or leave this out."});
  if (parsed.spec.device != trainer::Device::automatic && cluster_.level() < kDeviceLevel)
    parsed.faults.push_back({"/device", "conflict",
                             "A node of this cluster runs an earlier version, which knows no choice of "
                             "devices: update all nodes first, or leave this out."});
  if (parsed.spec.features.frequent_levels && cluster_.level() < kFrequentLevel)
    parsed.faults.push_back({"/features/frequent_levels", "conflict",
                             "A node of this cluster runs an earlier version, which does not know this "
                             "setting: update all nodes first, or leave this out."});
  if (!parsed.spec.name.empty()) {
    const auto model = cluster_.model(parsed.spec.name);
    if (auto named = cluster::check_model_name(parsed.spec.name); !named)
      parsed.faults.push_back({"/name", "choice", named.error().message()});
    else if (model && model->owner_id != actor.user_id)
      parsed.faults.push_back(
          {"/name", "conflict", "A model of another user has this name: choose another."});
  }
  return parsed;
}

Task<Result<std::vector<std::string>>> LocalModels::advise(cluster::Call call, trainer::JobSpec spec) {
  SAMOVAR_CO_TRY(const Rows rows, open_rows(call.actor, spec.dataset_id, spec.dataset_version));
  auto profile = co_await data_.profile(call.actor, spec.dataset_id, rows.version.version, spec.target);
  if (!profile) co_return std::move(profile).error();
  co_return advise_job(spec, *profile);
}

std::vector<PastJob> LocalModels::past_jobs() const {
  cluster::JobFilter done;
  done.state = "done";
  std::vector<PastJob> past;
  for (const auto& record : cluster_.jobs(done)) {
    const auto summary = json::parse(record.summary_json, nullptr, false);
    if (!summary.is_object()) continue;
    PastJob& one = past.emplace_back();
    one.size.kind = record.kind;
    one.size.dataset_id = record.dataset_id;
    one.size.solver = text_of(summary, "asked_solver");
    one.size.rows = static_cast<std::uint64_t>(number(summary, "dataset_rows"));
    one.size.inputs = static_cast<std::uint64_t>(number(summary, "inputs"));
    one.size.passes = static_cast<std::uint64_t>(number(summary, "asked_passes"));
    // A solver that ends by itself will take about as many again.
    if (one.size.passes == 0) one.size.passes = static_cast<std::uint64_t>(number(summary, "passes"));
    one.seconds = number(summary, "seconds");
    one.joules = number(summary, "joules");
    if (const double share = number(summary, "speed_share"); share > 0) one.speed_share = share;
    if (past.size() == 100) break;  // the newest say most
  }
  return past;
}

Task<Result<Estimate>> LocalModels::estimate(cluster::Call call, trainer::JobSpec spec) {
  SAMOVAR_CO_TRY(const Rows rows, open_rows(call.actor, spec.dataset_id, spec.dataset_version));
  SAMOVAR_CO_TRY(const trainer::Schema schema, trainer::decode_schema(rows.version.schema_json));
  const JobSize size = size_of(spec, rows.version.rows, schema.columns.size());
  Estimate estimate = estimate_job(spec, size, past_jobs());
  const WallTime now = cluster_.now();
  plan_power(estimate, spec.power, options_.power_facts ? options_.power_facts() : PowerFacts{},
             deadline_of(spec.power, now, options_.zone_offset), now);
  co_return estimate;
}

Task<Result<Job>> LocalModels::start(cluster::Call call, trainer::JobSpec spec, int priority) {
  if (priority != 0 && cluster_.level() < kPriorityLevel)
    co_return Error{Errc::unsupported,
                    "a node of this cluster has an earlier version that knows no priorities: upgrade all "
                    "nodes, or leave the priority out"};
  SAMOVAR_CO_TRY(const Rows rows, open_rows(call.actor, spec.dataset_id, spec.dataset_version));
  spec.dataset_version = rows.version.version;
  auto room = [dir = dir_.get()] { return dir->check_room(kRoomPerFile); };
  auto fits = co_await run_on(io_, loop_, std::move(room));
  if (!fits) co_return std::move(fits).error();
  cluster::JobRecord record;
  record.id = new_id("job", loop_.clock(), rng_);
  record.kind = spec.kind;
  record.name = spec.name;
  record.owner_id = call.actor.user_id;
  record.node_id = self();
  record.dataset_id = spec.dataset_id;
  record.dataset_version = spec.dataset_version;
  record.priority = priority;
  record.spec_json = trainer::to_json(spec).dump(-1, ' ', false, json::error_handler_t::replace);
  record.wrapped_key = wrap("job-key", record.id, SecretBytes::random(security::kAeadKeyBytes));
  auto begun = co_await cluster_.begin_job(std::move(call), std::move(record));
  if (!begun) co_return std::move(begun).error();
  // Asked for twice under one request id, it is queued once.
  const std::string id = begun->id;
  if (begun->state == "queued" && !is_known(id)) {
    enqueue(id);
    tell(id);
    run_next();
  }
  co_return shown(*begun);
}

Result<cluster::JobRecord> LocalModels::find_job(const cluster::Actor& actor, std::string_view id) const {
  auto record = cluster_.job(id);
  if (!record) return no_job();
  std::optional<cluster::Model> made;
  if (!record->model_name.empty()) made = cluster_.model(record->model_name);
  if (!cluster::may_see_job(actor, *record, made)) return no_job();
  return *std::move(record);
}

Job LocalModels::shown(const cluster::JobRecord& record) const {
  Job job;
  job.record = record;
  job.state = parse_state(record.state);
  const auto summary = json::parse(record.summary_json.empty() ? "{}" : record.summary_json, nullptr, false);
  if (summary.is_object()) {
    job.seconds = number(summary, "seconds");
    job.joules = number(summary, "joules");
    job.joules_estimated = summary.value("joules_estimated", true);
    job.joules_error = number(summary, "joules_error");
    if (const double watts = number(summary, "box_watts"); watts > 0) job.box_watts = watts;
    job.rows = static_cast<std::uint64_t>(number(summary, "rows"));
    job.pass = static_cast<std::uint32_t>(number(summary, "passes"));
    job.rows_per_second = number(summary, "rows_per_second");
    job.metric = text_of(summary, "metric");
    if (const auto best = summary.find("best"); best != summary.end() && best->is_number())
      job.best = best->get<double>();
    if (const auto devices = summary.find("devices"); devices != summary.end()) {
      JobHistory kept;
      kept.read_devices(*devices);
      for (const auto& [id, one] : kept.devices) job.devices.push_back(one);
    }
  }
  if (job.state == JobState::done) job.share = 1;
  if (const auto history = histories_.find(record.id); history != histories_.end()) {
    const JobHistory& seen = history->second;
    job.seconds = seen.seconds;
    job.joules = seen.joules;
    job.joules_estimated = seen.joules_estimated;
    job.joules_error = seen.joules_error;
    job.rows = std::max(job.rows, seen.rows);
    job.pass = std::max(job.pass, seen.pass);
    job.started_at = seen.started_at;
    if (!seen.devices.empty()) job.devices.clear();
    for (const auto& [id, one] : seen.devices) job.devices.push_back(one);
    if (!seen.metric().empty()) {
      job.metric = seen.metric();
      job.best = seen.best();
    }
  }
  const auto waits = std::find(queue_.begin(), queue_.end(), record.id);
  if (waits != queue_.end()) job.queue_position = static_cast<unsigned>(waits - queue_.begin()) + 1;
  if (const auto history = histories_.find(record.id); history != histories_.end())
    job.events = {history->second.events().begin(), history->second.events().end()};
  // Done is what has ended here, too.
  if (const RunPtr run = run_of(record.id); run && (record.state == "queued" || record.state == "done"))
    show_run(*run, job);
  else
    show_live(record, job);
  show_power(job);
  return job;
}

void LocalModels::tell(const std::string& id) {
  if (!listener_.job) return;
  if (const auto record = cluster_.job(id)) listener_.job(shown(*record));
}

std::vector<Job> LocalModels::jobs(const cluster::Actor& actor, const cluster::JobFilter& filter) const {
  cluster::JobFilter wanted = filter;
  if (wanted.state == "running") wanted.state = "queued";
  std::vector<Job> all;
  for (const auto& record : cluster_.jobs(wanted)) {
    std::optional<cluster::Model> made;
    if (!record.model_name.empty()) made = cluster_.model(record.model_name);
    if (!cluster::may_see_job(actor, record, made)) continue;
    Job job = shown(record);
    if (filter.state.empty() || to_string(job.state) == filter.state) all.push_back(std::move(job));
  }
  return all;
}

Result<Job> LocalModels::job(const cluster::Actor& actor, std::string_view id) const {
  SAMOVAR_TRY(const cluster::JobRecord record, find_job(actor, id));
  return shown(record);
}

Result<JobMetrics> LocalModels::metrics(const cluster::Actor& actor, std::string_view id) const {
  SAMOVAR_CHECK(find_job(actor, id));
  const auto history = histories_.find(id);
  if (history == histories_.end()) return JobMetrics{};
  JobMetrics all = history->second.metrics();
  for (const auto& [number, worker] : history->second.worker_metrics()) all.workers.push_back(worker);
  return all;
}

Result<std::vector<JobLogLine>> LocalModels::logs(const cluster::Actor& actor, std::string_view id,
                                                  std::uint64_t after, std::size_t limit) const {
  SAMOVAR_CHECK(find_job(actor, id));
  const auto history = histories_.find(id);
  return history == histories_.end() ? std::vector<JobLogLine>{} : history->second.lines(after, limit);
}

// A worker is given a minute for its last checkpoint; then it is ended.
Task<void> LocalModels::until_ended(std::string id) {
  while (runs_.contains(id) && !stopping_) co_await jobs::pause(loop_, kEndStep);
}

Task<Result<Job>> LocalModels::pause(cluster::Call call, std::string id) {
  SAMOVAR_CO_TRY(const cluster::JobRecord record, find_job(call.actor, id));
  if (!cluster::may_stop_job(call.actor, record))
    co_return Error{Errc::denied, "only its owner or an administrator may pause a job"};
  if (record.state != "queued") co_return cluster::refuse(cluster::Refusal::job_state);
  if (const RunPtr run = run_of(id)) {
    if (run->committing) co_return cluster::refuse(cluster::Refusal::job_state);
    if (run->end_state.empty()) {
      run->end_state = "paused";
      run->end_call = std::move(call);
      wake(*run);
    }
    co_await until_ended(id);
  } else {
    cluster::JobEnd end{id, "paused", "", "{}"};
    auto ended = co_await cluster_.end_job(std::move(call), std::move(end));
    if (!ended) co_return std::move(ended).error();
    std::erase(queue_, id);
    tell(id);
  }
  const auto after = cluster_.job(id);
  if (!after) co_return no_job();
  co_return shown(*after);
}

Task<Result<Job>> LocalModels::cancel(cluster::Call call, std::string id) {
  SAMOVAR_CO_TRY(const cluster::JobRecord record, find_job(call.actor, id));
  if (!cluster::may_stop_job(call.actor, record))
    co_return Error{Errc::denied, "only its owner or an administrator may cancel a job"};
  if (const RunPtr run = run_of(id)) {
    if (run->committing) co_return cluster::refuse(cluster::Refusal::job_state);
    run->end_state = "cancelled";
    run->end_call = std::move(call);
    wake(*run);
    co_await until_ended(id);
  } else {
    cluster::JobEnd end{id, "cancelled", "", "{}"};
    auto ended = co_await cluster_.end_job(std::move(call), std::move(end));
    if (!ended) co_return std::move(ended).error();
    std::erase(queue_, id);
    tell(id);
  }
  const auto after = cluster_.job(id);
  if (!after) co_return no_job();
  co_return shown(*after);
}

Task<Result<Job>> LocalModels::requeue(cluster::Call call, std::string id,
                                       bool (*allowed)(std::string_view)) {
  SAMOVAR_CO_TRY(const cluster::JobRecord record, find_job(call.actor, id));
  if (!cluster::may_control_job(call.actor, record))
    co_return Error{Errc::denied, "only its owner may start a job again"};
  if (!allowed(record.state)) co_return cluster::refuse(cluster::Refusal::job_state);
  SAMOVAR_CO_CHECK(open_rows(call.actor, record.dataset_id, record.dataset_version));
  cluster::JobEnd end{id, "queued", "", "{}"};
  const auto asked = trainer::parse_spec(json::parse(record.spec_json, nullptr, false), nullptr).spec.power;
  if (auto again = summary_asked_again(asked, record.created_at, record.summary_json, cluster_.now(),
                                       options_.zone_offset))
    end.summary_json = *std::move(again);
  // It goes on where its checkpoint is; here, from the beginning, when that node is gone for good.
  const auto carrier = cluster_.node(record.node_id);
  if (!is_mine(record) && (!carrier || carrier->state == cluster::NodeState::removed)) end.node_id = self();
  auto queued = co_await cluster_.end_job(std::move(call), std::move(end));
  if (!queued) co_return std::move(queued).error();
  if (is_mine(*queued)) enqueue(id);
  tell(id);
  run_next();
  co_return shown(*queued);
}

Task<Result<Job>> LocalModels::resume(cluster::Call call, std::string id) {
  return requeue(std::move(call), std::move(id), [](std::string_view state) { return state == "paused"; });
}

Task<Result<Job>> LocalModels::retry(cluster::Call call, std::string id) {
  return requeue(std::move(call), std::move(id),
                 [](std::string_view state) { return state == "failed" || state == "cancelled"; });
}

Task<Result<Job>> LocalModels::prioritize(cluster::Call call, std::string id, int priority) {
  SAMOVAR_CO_TRY(const cluster::JobRecord record, find_job(call.actor, id));
  if (!cluster::may_stop_job(call.actor, record))
    co_return Error{Errc::denied, "only its owner or an administrator may say how urgent a job is"};
  auto done = co_await cluster_.prioritize_job(std::move(call), id, priority);
  if (!done) co_return std::move(done).error();
  tell(id);
  co_return shown(*done);
}

Task<Result<Job>> LocalModels::protect(cluster::Call call, std::string id, bool on) {
  SAMOVAR_CO_TRY(const cluster::JobRecord record, find_job(call.actor, id));
  if (!cluster::may_control_job(call.actor, record))
    co_return Error{Errc::denied, "only its owner may protect a job"};
  auto done = co_await cluster_.protect_job(std::move(call), id, on);
  if (!done) co_return std::move(done).error();
  tell(id);
  co_return shown(*done);
}

// The key goes with the record; what a cut leaves of the files is noise, and the next start removes it.
Task<Result<void>> LocalModels::remove(cluster::Call call, std::string id) {
  SAMOVAR_CO_TRY(const cluster::JobRecord record, find_job(call.actor, id));
  if (!cluster::may_stop_job(call.actor, record))
    co_return Error{Errc::denied, "only its owner or an administrator may delete a job"};
  auto removed = co_await cluster_.remove_job(std::move(call), id);
  if (!removed) co_return std::move(removed).error();
  if (!runs_.contains(id)) histories_.erase(id);  // else it still writes into it, and forgets it at its end
  auto clean = [dir = dir_.get(), id] { return dir->remove_work(Work::jobs, id); };
  auto cleaned = co_await run_on(io_, loop_, std::move(clean));
  if (!cleaned)
    SAMOVAR_LOG(warn, jobs, "the files of a removed job are still there", kv("job", id),
                kv("error", cleaned.error().message()));
  co_return Result<void>{};
}

}  // namespace samovar::jobs
