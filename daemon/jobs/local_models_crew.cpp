// A job that this node looks after: its workers on all nodes are prepared, told who works on what, listened
// to, replaced when they are lost, and stopped. What to do is crew.hpp's; this carries it out.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/failpoint.hpp"
#include "base/json.hpp"
#include "base/log.hpp"
#include "daemon/cluster/command.hpp"
#include "daemon/jobs/energy_error.hpp"
#include "daemon/jobs/local_models_work.hpp"
#include "daemon/jobs/pause.hpp"
#include "security/identity.hpp"

namespace samovar::jobs {

using nlohmann::json;

namespace {

constexpr std::chrono::milliseconds kTurn{50};
constexpr std::chrono::milliseconds kNodesEvery{500};
constexpr std::chrono::milliseconds kLiveEvery{500};
constexpr std::chrono::seconds kOrderMax{10};
constexpr std::chrono::seconds kQuietMax{75};   // a last checkpoint may be large
constexpr std::chrono::seconds kCommitMax{60};  // the lead is done, its model is on its way into the state
constexpr unsigned kRestartsMax = 8;            // without a new checkpoint
constexpr std::chrono::seconds kRestartPause{1};
constexpr std::chrono::seconds kFullFirst{60};  // until a node without room is asked again; doubles
constexpr std::chrono::seconds kFullMax{960};

// One place to switch training over several nodes off.
constexpr bool kTogether = true;

CrewRules rules_of(const json& spec) {
  CrewRules rules;
  if (const auto nodes = spec.find("nodes"); nodes != spec.end() && nodes->is_object()) {
    rules.nodes_min = std::max(1u, nodes->value("min", 1u));
    rules.nodes_max = nodes->value("max", 0u);
  }
  const std::string lost = spec.value("on_lost_node", std::string("go_on"));
  if (lost == "replace") rules.on_lost = CrewRules::Lost::replace;
  if (lost == "pause") rules.on_lost = CrewRules::Lost::pause;
  if (const auto strategy = spec.find("strategy"); strategy != spec.end() && strategy->is_object()) {
    const std::string rotate = strategy->value("rotate", std::string("no"));
    if (rotate == "copies") rules.rotate = Rounds::copies;
    if (rotate == "all") rules.rotate = Rounds::all;
  }
  return rules;
}

// Another worker, or the same one later, would fail in the same way.
bool is_fatal(Errc code) {
  return code == Errc::invalid || code == Errc::denied || code == Errc::not_found ||
         code == Errc::unsupported;
}

std::string_view name_of(Crew::State state) {
  switch (state) {
    case Crew::State::preparing:
    case Crew::State::ready:
      return "preparing";
    case Crew::State::working:
      return "working";
    case Crew::State::done:
      return "done";
    case Crew::State::lost:
      return "lost";
  }
  return "lost";
}

}  // namespace

std::string LocalModels::node_name(const std::string& id) const {
  const auto node = cluster_.node(id);
  return node && !node->name.empty() ? node->name : security::short_node_id(id);
}

// What workers of a job tell each other has no form that two versions agree on
// (docs/formats/parameter-exchange.md): while a cluster is being upgraded, a job trains on the nodes that run
// the program of its home.
bool LocalModels::is_of_our_version(const std::string& node_id) const {
  if (node_id == self()) return true;
  const auto node = cluster_.node(node_id);
  return node && node->version == SAMOVAR_VERSION && node->level == cluster::kCommandVersion;
}

std::vector<std::string> LocalModels::nodes_up(const Run& run) const {
  if (run.alone || !options_.nodes) return {self()};
  std::vector<std::string> up;
  for (const auto& node : options_.nodes()) {
    if ((!node.reachable && node.id != self()) || node.draining || !is_of_our_version(node.id)) continue;
    const auto full = run.full.find(node.id);
    if (full == run.full.end() || full->second.until <= loop_.clock().mono()) up.push_back(node.id);
  }
  return up;
}

void LocalModels::wake(Run& run) { run.woken = true; }

// What must be right before anybody begins; faults are the job's end.
Result<void> LocalModels::settle(Run& run, const cluster::JobRecord& record) {
  const auto asked = json::parse(record.spec_json, nullptr, false);
  cluster::Call call = call_for(record.owner_id, "");
  call.actor.auth = cluster::AuthKind::session;
  SAMOVAR_TRY(const Rows rows, open_rows(call.actor, record.dataset_id, record.dataset_version));
  SAMOVAR_TRY(const trainer::Schema schema, trainer::decode_schema(rows.version.schema_json));
  const auto parsed = trainer::parse_spec(asked, &schema);
  if (!parsed.faults.empty()) return Error{Errc::invalid, parsed.faults.front().detail};
  if (record.wrapped_key.empty())
    return Error{Errc::conflict, "this job's key is destroyed: start a new job"};
  run.owner_id = record.owner_id;
  run.dataset_id = record.dataset_id;
  run.dataset_version = rows.version.version;
  run.size = size_of(parsed.spec, rows.version.rows, schema.columns.size());
  run.rules = rules_of(asked);
  run.power = parsed.spec.power;
  run.deadline = deadline_of_job(run.power, record);
  BlockMap map;
  for (const auto& shard : rows.version.shards)
    map.shards.push_back({shard.rows, shard.blocks, shard.node_ids});
  Plan before;
  if (!record.plan_json.empty()) {
    auto plan = decode_plan(record.plan_json);
    if (plan) before = *std::move(plan);
  }
  // Rows keep their place among training and test rows for as long as the job lives.
  const bool planned = !record.plan_json.empty() || record.checkpoint_step > 0;
  const bool several = kTogether && !data_.replicas().alone() && cluster_.level() >= 3;
  map.parts = planned ? before.parts : several ? parts_for(map.shards) : 1;
  run.alone = !several && map.parts == 1;
  if (!several) run.rules.together = false;
  run.block_rows.assign(map.shards.size(), {});
  // Never one twice, also of runs that never came into the state: their workers may still be ending.
  run.number = last_run_ = std::max({record.run, record.epoch, last_run_}) + 1;
  run.crew.emplace(std::move(map), run.rules, self(), before, record.epoch);
  std::map<std::string, std::string> names;
  for (const auto& node : cluster_.nodes()) names[node.id] = node_name(node.id);
  run.crew->set_names(std::move(names));
  run.told.clear();
  run.workers.clear();
  run.stop_told = false;
  run.fatal.reset();
  return {};
}

Task<Result<void>> LocalModels::carry_out(RunPtr run) {
  unsigned restarts = 0;
  std::uint64_t step_before = 0;
  if (const auto record = cluster_.job(run->job_id)) log_deadline(*record);
  for (;;) {
    const auto record = cluster_.job(run->job_id);
    if (!record || record->state != "queued" || !is_mine(*record)) co_return Error{Errc::conflict, "stopped"};
    auto once = co_await carry_out_once(run, *record);
    if (stopping_ || once || !run->end_state.empty() || run->fatal) co_return once;
    const auto after = cluster_.job(run->job_id);
    if (!after || after->state == "done") co_return Result<void>{};
    if (after->state != "queued" || !is_mine(*after)) co_return Error{Errc::conflict, "stopped"};
    if (run->alone) co_return once;
    if (after->checkpoint_step > step_before) restarts = 0;
    step_before = after->checkpoint_step;
    if (++restarts > kRestartsMax) co_return once;
    log_line(run->job_id, "warn", fmt::format("Begins again: {}.", once.error().message()));
    run->step = "waiting";
    co_await jobs::pause(loop_, kRestartPause);
  }
}

Task<void> LocalModels::order(RunPtr run, std::uint32_t number, std::string node, Bytes message) {
  const std::uint64_t of = run->number;
  net::AskOptions how;
  how.deadline = kOrderMax;
  auto answer = co_await options_.exchange->ask(std::move(node), net::Topic::job, std::move(message), how);
  if (answer || stopping_ || run->number != of || !run->crew) co_return;
  // Silence is looked at elsewhere: it may have heard us.
  if (answer.error().code() == Errc::timeout) co_return;
  run->crew->ended(number, false, answer.error().message(), loop_.clock().mono());
  wake(*run);
}

Task<Result<void>> LocalModels::announce(RunPtr run) {
  Crew& crew = *run->crew;
  if (!run->alone && cluster_.level() >= 3) {
    for (unsigned tries = 1;; ++tries) {
      cluster::JobPlan plan{run->job_id, self(), run->number, crew.epoch(), encode_plan(crew.plan())};
      cluster::Call call =
          call_for(run->owner_id, fmt::format("{}.{}.{}", run->job_id, run->number, crew.epoch()));
      auto planned = co_await cluster_.plan_job(std::move(call), std::move(plan));
      if (planned) break;
      if (!worth_repeating(planned.error()) || tries >= kCommitTriesMax || stopping_)
        co_return std::move(planned).error().within("the plan of the job");
      co_await jobs::pause(loop_, kCommitPause);
    }
  }
  const auto turns = crew.turns();
  JobEpoch epoch;
  epoch.epoch = crew.epoch();
  epoch.parts = crew.map().parts;
  for (const std::uint32_t number : crew.working())
    epoch.members.emplace_back(number, crew.find(number)->node);
  for (const auto& [number, node] : std::vector(epoch.members)) {
    const Crew::Worker& worker = *crew.find(number);
    JobEpoch message = epoch;
    message.worker = {run->job_id, run->number, number};
    message.joining = worker.joined;
    message.blocks = worker.blocks;
    for (const Assignment& turn : turns) message.turns.push_back(turn.at(node));
    if (run->told.insert(number).second && !run->alone) message.block_rows = run->block_rows;
    spawn(order(run, number, node, encode(message)));
  }
  run->live_due = true;
  co_return Result<void>{};
}

void LocalModels::stop_workers(const RunPtr& run, bool save) {
  run->stop_told = true;
  for (const auto& [number, worker] : run->crew->workers()) {
    if (worker.state == Crew::State::lost || worker.state == Crew::State::done) continue;
    JobStop stop{{run->job_id, run->number, number}, save};
    spawn(order(run, number, worker.node, encode(stop)));
  }
}

// All have ended, or are given up on.
Task<void> LocalModels::until_quiet(RunPtr run) {
  const MonoTime end = loop_.clock().mono() + kQuietMax;
  const auto busy = [&run] {
    return std::any_of(run->crew->workers().begin(), run->crew->workers().end(), [](const auto& one) {
      return one.second.state != Crew::State::lost && one.second.state != Crew::State::done;
    });
  };
  run->crew->stop();
  while (!stopping_ && busy() && loop_.clock().mono() < end) {
    run->crew->set_up(nodes_up(*run));
    static_cast<void>(run->crew->next(loop_.clock().mono(), false));
    co_await jobs::pause(loop_, kTurn);
  }
}

// The workers of this node, whose files are then in order.
Task<void> LocalModels::until_worked(RunPtr run) {
  const MonoTime end = loop_.clock().mono() + kQuietMax;
  const auto busy = [this, &run] {
    return std::any_of(members_.begin(), members_.end(),
                       [&run](const auto& one) { return one.first.job_id == run->job_id; });
  };
  while (!stopping_ && busy() && loop_.clock().mono() < end) co_await jobs::pause(loop_, kTurn / 5);
}

Task<Result<void>> LocalModels::carry_out_once(RunPtr run, cluster::JobRecord record) {
  if (auto settled = settle(*run, record); !settled) {
    run->fatal = settled.error();
    co_return std::move(settled).error();
  }
  Crew& crew = *run->crew;
  JobHistory& history = history_of(run->job_id);
  history.skip_revisions(1000);  // whoever follows asks for the whole
  history.cut_after(record.checkpoint_step);
  if (run->began == MonoTime{}) run->began = loop_.clock().mono();
  run->seconds_before =
      history.seconds - std::chrono::duration<double>(loop_.clock().mono() - run->began).count();
  if (run->seconds_before < 0) run->seconds_before = history.seconds;
  run->joules_before = history.joules;
  run->error_before = history.joules_error;
  run->rows_begin = history.rows;
  run->step = "fetching";
  run->share = 0;
  if (!history.started_at || record.checkpoint_step == 0) history.started_at = cluster_.now();
  if (record.checkpoint_step > 0)
    log_line(run->job_id, "info",
             fmt::format("Goes on from the checkpoint at step {}.", record.checkpoint_step));
  else
    log_line(run->job_id, "info",
             fmt::format("Begins: {} rows, {} inputs.", run->size.rows, run->size.inputs));
  tell(run->job_id);
  MonoTime looked{};
  std::optional<MonoTime> done_since;
  for (;;) {
    if (stopping_) co_return Error{Errc::conflict, "stopped"};
    const MonoTime now = loop_.clock().mono();
    if (now - looked >= kNodesEvery) {
      looked = now;
      const auto up = nodes_up(*run);
      crew.set_up(up);
      if (up.empty() && !run->full.empty() && !crew.begun()) run->fatal = run->full.begin()->second.why;
    }
    const auto known = cluster_.job(run->job_id);
    if (known && known->state == "done") {
      co_await until_worked(run);
      co_return Result<void>{};
    }
    const bool ours = known && known->state == "queued" && is_mine(*known);
    if (!ours || !run->end_state.empty() || run->fatal) {
      const bool save = run->end_state == "paused" || (known && known->state == "paused");
      if (!run->committing || !ours) {
        stop_workers(run, save && !run->fatal);
        co_await until_quiet(run);
      }
      const auto last = cluster_.job(run->job_id);
      if (last && last->state == "done") co_return Result<void>{};
      if (run->fatal) co_return *run->fatal;
      co_return Error{Errc::conflict, "stopped"};
    }
    const std::uint32_t lead = crew.lead();
    const auto said = run->workers.find(lead);
    const bool trains = said != run->workers.end() && said->second.step == "training";
    Crew::Orders orders = crew.next(now, trains);
    run->waiting_for = crew.waiting_for();
    if (!run->waiting_for.empty()) run->step = "waiting";
    for (const auto& note : orders.notes) {
      history.event(cluster_.now(), note.kind, note.node, note.text);
      log_line(run->job_id, note.kind == "lost" ? "warn" : "info", note.text);
    }
    for (auto& one : orders.prepare) {
      JobPrepare message;
      message.worker = {run->job_id, run->number, one.number};
      message.turn = one.turn;
      message.shards = one.shards;
      message.checkpoint = !crew.begun() && record.checkpoint_step > 0;
      spawn(order(run, one.number, crew.find(one.number)->node, encode(message)));
    }
    for (const std::uint32_t number : orders.kill) {
      JobStop message{{run->job_id, run->number, number}, false};
      spawn(order(run, number, crew.find(number)->node, encode(message)));
    }
    if (orders.announce) {
      if (run->step == "fetching" || run->step == "waiting") run->step = "preparing";
      if (!run->alone && run->told.empty()) {
        const std::string text = fmt::format("Trains on {} {}.", crew.working().size(),
                                             crew.working().size() == 1 ? "node" : "nodes");
        history.event(cluster_.now(), "began", "", text);
        log_line(run->job_id, "info", text);
        for (const auto& node : options_.nodes())
          if (!is_of_our_version(node.id))
            log_line(run->job_id, "info",
                     fmt::format("{} does not take part: it runs another version than {}. It takes part "
                                 "once both run the same one.",
                                 node_name(node.id), node_name(self())));
      }
      auto announced = co_await announce(run);
      if (!announced) {
        stop_workers(run, false);
        co_await until_quiet(run);
        co_return announced;
      }
    }
    if (orders.over && !crew.finished()) {
      stop_workers(run, true);
      co_await until_quiet(run);
      co_return Error{Errc::unavailable, crew.last_error().empty() ? "no worker is left" : crew.last_error()};
    }
    if (crew.finished()) {
      // The model is in the state, or soon will be; else whoever had it is lost.
      if (!done_since) done_since = now;
      if (now - *done_since > kCommitMax) co_return Error{Errc::unavailable, "the model did not arrive"};
    }
    if (now - run->live_at >= kLiveEvery || (run->live_due && now - run->live_at >= kLiveEvery / 5)) {
      history.seconds = run->seconds_before + std::chrono::duration<double>(now - run->began).count();
      tell_live(*run, false);
      tell(run->job_id);
    }
    watch_power(*run);
    run->woken = false;
    co_await jobs::pause(loop_, kTurn);
  }
}

// ---- what workers say ----

void LocalModels::take_metric(Run& run, JobWorker& worker, const MetricMessage& metric) {
  for (const auto& [name, value] : metric.values) {
    if (!std::isfinite(value)) continue;
    if (name == "samples_per_second") worker.samples_per_second = value;
    if (name == "train_loss") worker.loss = value;
    if (name == "wait_seconds") worker.wait_seconds = value;
    if (name == "staleness") worker.staleness = value;
  }
  JobHistory& history = history_of(run.job_id);
  const auto with_energy = [&metric](std::optional<double> watts, double joules) {
    MetricMessage told = metric;
    if (watts) told.values.emplace_back("watts", *watts);
    if (watts || joules > 0) told.values.emplace_back("joules", joules);
    return told;
  };
  if (!run.alone) {
    const JobMetrics point =
        history.add(worker.number, worker.node_id, with_energy(worker.watts, worker.joules));
    if (listener_.metric) listener_.metric(run.job_id, point);
  }
  if (run.alone || worker.number == run.crew->lead()) {
    const JobMetrics point = history.add(with_energy(worker.watts, history.joules));
    if (listener_.metric) listener_.metric(run.job_id, point);
  }
}

// Its disk or its memory is full: the others go on, and it is asked again later.
void LocalModels::leave_out(Run& run, std::uint32_t number, const std::string& node, Error why) {
  const MonoTime now = loop_.clock().mono();
  Run::Full& full = run.full.try_emplace(node, Run::Full{{}, 0, why}).first->second;
  full.until = now + std::min<Duration>(kFullMax, kFullFirst * (1u << std::min(full.times, 6u)));
  ++full.times;
  full.why = why;
  run.crew->no_room(number, why.message(), now);
}

void LocalModels::on_news(const std::string& from, const JobNews& news) {
  const RunPtr run = run_of(news.worker.job_id);
  if (!run || !run->crew || run->number != news.worker.run) return;
  const Crew::Worker* known = run->crew->find(news.worker.number);
  if (known == nullptr || known->node != from) return;
  const MonoTime now = loop_.clock().mono();
  run->crew->heard(news.worker.number, now);
  JobWorker& worker = run->workers[news.worker.number];
  worker.number = news.worker.number;
  worker.node_id = from;
  const bool leads = run->alone || run->crew->lead() == worker.number;
  switch (news.what) {
    case JobNews::What::ready:
      for (const auto& [shard, rows] : news.shards)
        if (shard < run->block_rows.size()) run->block_rows[shard] = rows;
      run->crew->ready(news.worker.number, news.turn, now);
      break;
    case JobNews::What::alive:
      if (news.watts >= 0) worker.watts = news.watts;
      worker.watts_estimated = news.watts_estimated;
      worker.joules = news.joules;
      worker.bytes_sent = news.bytes_sent;
      worker.bytes_received = news.bytes_received;
      break;
    case JobNews::What::energy:
      worker.joules_error = news.joules_error;
      worker.busy_seconds = news.busy_seconds;
      worker.duty_seconds = news.duty_seconds;
      break;
    case JobNews::What::step: {
      worker.step = news.step.step;
      worker.share = news.step.share;
      worker.rows_done = std::max(worker.rows_done, news.step.rows);
      worker.pass = std::max(worker.pass, news.step.pass);
      JobHistory& history = history_of(run->job_id);
      std::uint64_t rows = 0;
      for (const auto& [number, one] : run->workers) rows += one.rows_done;
      history.rows = std::max(history.rows, rows);
      history.pass = std::max(history.pass, news.step.pass);
      if (leads) {
        if (run->step != news.step.step) run->live_due = true;
        run->step = news.step.step;
        run->share = std::max(run->step == "saving" ? 1.0 : 0.0, news.step.share);
        run->committing = run->step == "saving";
      }
      break;
    }
    case JobNews::What::metric:
      take_metric(*run, worker, news.metric);
      break;
    case JobNews::What::log:
      // All of them say much the same.
      if (leads || news.log.level != "info" || !run->crew->begun())
        log_line(run->job_id, news.log.level, news.log.text);
      break;
    case JobNews::What::device: {
      JobHistory& history = history_of(run->job_id);
      // Without its device it goes on from the last checkpoint, in another worker under the same number.
      const auto record = cluster_.job(run->job_id);
      if (run->alone && run->crew->begun() && news.device.name.empty() && record)
        history.cut_after(record->checkpoint_step);
      history.computes_on(from, news.device);
      run->live_due = true;
      break;
    }
    case JobNews::What::ended:
      if (!news.good && leads) run->committing = false;
      if (!news.good && !run->stop_told && run->end_state.empty() && (run->alone || is_fatal(news.code)))
        run->fatal = Error{news.code, news.error};
      if (!news.good && news.code == Errc::no_space && !run->alone && !run->stop_told)
        leave_out(*run, news.worker.number, from, Error{news.code, news.error});
      else
        run->crew->ended(news.worker.number, news.good, news.error, now);
      run->live_due = true;
      break;
  }
  sum_energy(*run);
  wake(*run);
}

void LocalModels::sum_energy(const Run& run) {
  JobHistory& history = history_of(run.job_id);
  double joules = run.joules_before;
  double busy = 0;
  double duty = 0;
  bool estimated = false;
  std::vector<WorkerEnergy> energies;
  for (const auto& [number, one] : run.workers) {
    joules += one.joules;
    busy += one.busy_seconds;
    duty += one.duty_seconds;
    estimated = estimated || one.watts_estimated;
    energies.push_back({one.node_id, one.joules_error, one.watts_estimated});
  }
  history.joules = joules;
  history.joules_error = run.error_before + combined_error(energies);
  history.joules_estimated = estimated;
  if (busy > 0) history.speed_share = std::clamp(duty / busy, 0.0, 1.0);
}

void LocalModels::show_run(const Run& run, Job& job) const {
  const double ran =
      run.began == MonoTime{} ? 0 : std::chrono::duration<double>(loop_.clock().mono() - run.began).count();
  job.state = JobState::running;
  job.step = run.step;
  job.share = run.share;
  job.seconds = run.seconds_before + ran;
  job.waiting_for = run.waiting_for;
  if (ran > 0 && job.rows > run.rows_begin)
    job.rows_per_second = static_cast<double>(job.rows - run.rows_begin) / ran;
  if (run.share > 0.02) job.seconds_left = ran * (1 - run.share) / run.share;
  if (!run.crew || run.alone) return;
  for (const auto& [number, member] : run.crew->workers()) {
    JobWorker worker;
    if (const auto found = run.workers.find(number); found != run.workers.end()) worker = found->second;
    worker.number = number;
    worker.node_id = member.node;
    worker.state = name_of(member.state);
    worker.lead = run.crew->lead() == number;
    worker.blocks = static_cast<std::uint32_t>(member.blocks.size());
    for (const std::uint32_t block : member.blocks) worker.rows += run.crew->map().rows_of(block);
    worker.error = member.error;
    worker.since = cluster_.now() -
                   std::chrono::duration_cast<std::chrono::microseconds>(loop_.clock().mono() - member.since);
    job.workers.push_back(std::move(worker));
  }
}

}  // namespace samovar::jobs
