// How jobs stand, told by the node that looks after each to all others, so that every node shows the same:
// a short message twice a second with what is new, and the whole history for whoever missed something.
#include <cmath>

#include "base/json.hpp"
#include "base/log.hpp"
#include "daemon/jobs/local_models_work.hpp"

namespace samovar::jobs {

using nlohmann::json;

// A job of another node.
struct LocalModels::Live {
  std::string home;
  MonoTime at{};
  bool over = false;
  bool fetching = false;
  Job shown;  // without its record
};

namespace {

constexpr std::size_t kHistoryAnswerMax = 3u << 20;
constexpr std::chrono::seconds kStale{20};

json number_or_null(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? json(*value) : json(nullptr);
}
std::optional<double> number_of(const json& from, const char* name) {
  const auto found = from.find(name);
  return found != from.end() && found->is_number() ? std::optional(found->get<double>()) : std::nullopt;
}

json encode_worker(const JobWorker& worker) {
  return {{"number", worker.number},
          {"node", worker.node_id},
          {"state", worker.state},
          {"lead", worker.lead},
          {"blocks", worker.blocks},
          {"rows", worker.rows},
          {"step", worker.step},
          {"share", worker.share},
          {"rows_done", worker.rows_done},
          {"pass", worker.pass},
          {"rate", number_or_null(worker.samples_per_second)},
          {"loss", number_or_null(worker.loss)},
          {"sent", worker.bytes_sent},
          {"received", worker.bytes_received},
          {"wait", number_or_null(worker.wait_seconds)},
          {"staleness", number_or_null(worker.staleness)},
          {"watts", number_or_null(worker.watts)},
          {"watts_estimated", worker.watts_estimated},
          {"joules", worker.joules},
          {"joules_error", worker.joules_error},
          {"since", worker.since.time_since_epoch().count()},
          {"error", worker.error}};
}

JobWorker decode_worker(const json& from) {
  JobWorker worker;
  worker.number = from.at("number").get<std::uint32_t>();
  worker.node_id = from.at("node").get<std::string>();
  worker.state = from.at("state").get<std::string>();
  worker.lead = from.at("lead").get<bool>();
  worker.blocks = from.at("blocks").get<std::uint32_t>();
  worker.rows = from.at("rows").get<std::uint64_t>();
  worker.step = from.at("step").get<std::string>();
  worker.share = from.at("share").get<double>();
  worker.rows_done = from.at("rows_done").get<std::uint64_t>();
  worker.pass = from.at("pass").get<std::uint32_t>();
  worker.samples_per_second = number_of(from, "rate");
  worker.loss = number_of(from, "loss");
  worker.bytes_sent = from.at("sent").get<std::uint64_t>();
  worker.bytes_received = from.at("received").get<std::uint64_t>();
  worker.wait_seconds = number_of(from, "wait");
  worker.staleness = number_of(from, "staleness");
  worker.watts = number_of(from, "watts");
  worker.watts_estimated = from.at("watts_estimated").get<bool>();
  worker.joules = from.at("joules").get<double>();
  worker.joules_error = number_of(from, "joules_error").value_or(0);
  worker.since = WallTime(std::chrono::microseconds(from.at("since").get<std::int64_t>()));
  worker.error = from.at("error").get<std::string>();
  return worker;
}

}  // namespace

const std::string& LocalModels::home_of(const Live& live) { return live.home; }

void LocalModels::tell_live(Run& run, bool over) {
  run.live_at = loop_.clock().mono();
  run.live_due = false;
  if (stopping_ || !options_.nodes || data_.replicas().alone()) return;
  JobHistory& history = history_of(run.job_id);
  Job job;
  job.rows = history.rows;
  show_run(run, job);
  json workers = json::array();
  for (const auto& worker : job.workers) workers.push_back(encode_worker(worker));
  const std::uint64_t from = run.live_revision;
  json news = history.take_news();
  run.live_revision = history.revision();
  const json all = {{"over", over},
                    {"step", job.step},
                    {"share", job.share},
                    {"rows", job.rows},
                    {"pass", history.pass},
                    {"rate", job.rows_per_second},
                    {"seconds", job.seconds},
                    {"left", number_or_null(job.seconds_left)},
                    {"joules", history.joules},
                    {"joules_estimated", history.joules_estimated},
                    {"joules_error", history.joules_error},
                    {"box_joules", history.box_joules},
                    {"box_seconds", history.box_seconds},
                    {"speed_share", history.speed_share},
                    {"devices", history.devices_json()},
                    {"waiting_for", job.waiting_for},
                    {"started", history.started_at ? history.started_at->time_since_epoch().count() : 0},
                    {"workers", std::move(workers)},
                    {"from", from},
                    {"revision", run.live_revision},
                    {"news", std::move(news)}};
  JobLive message{run.job_id, all.dump(-1, ' ', false, json::error_handler_t::replace)};
  if (message.json.size() > kLiveBytesMax) return;
  const Bytes bytes = encode(message);
  for (const auto& node : options_.nodes())
    if (node.id != self() && node.reachable)
      ignore(options_.exchange->tell(node.id, net::Topic::job, bytes), "the next one says it all");
}

void LocalModels::on_live(const std::string& from, const JobLive& message) {
  const auto record = cluster_.job(message.job_id);
  // Somebody who lost it and does not know yet is not listened to.
  if (!record || record->node_id != from || runs_.contains(message.job_id)) return;
  const json all = json::parse(message.json, nullptr, false);
  if (!all.is_object()) return;
  auto& live = live_[message.job_id];
  if (!live) live = std::make_shared<Live>();
  JobHistory& history = history_of(message.job_id);
  try {
    Job job;
    job.step = all.at("step").get<std::string>();
    job.share = all.at("share").get<double>();
    job.rows = all.at("rows").get<std::uint64_t>();
    job.rows_per_second = all.at("rate").get<double>();
    job.seconds = all.at("seconds").get<double>();
    job.seconds_left = number_of(all, "left");
    job.waiting_for = all.at("waiting_for").get<std::string>();
    for (const auto& worker : all.at("workers")) job.workers.push_back(decode_worker(worker));
    history.rows = job.rows;
    history.pass = all.at("pass").get<std::uint32_t>();
    history.seconds = job.seconds;
    history.joules = all.at("joules").get<double>();
    history.joules_estimated = all.at("joules_estimated").get<bool>();
    history.joules_error = number_of(all, "joules_error").value_or(0);
    history.box_joules = number_of(all, "box_joules").value_or(0);
    history.box_seconds = number_of(all, "box_seconds").value_or(0);
    history.speed_share = number_of(all, "speed_share").value_or(1);
    if (const auto devices = all.find("devices"); devices != all.end()) history.read_devices(*devices);
    if (const auto started = all.at("started").get<std::int64_t>(); started > 0)
      history.started_at = WallTime(std::chrono::microseconds(started));
    live->shown = std::move(job);
    live->home = from;
    live->at = loop_.clock().mono();
    live->over = all.at("over").get<bool>();
    const auto begin = all.at("from").get<std::uint64_t>();
    const auto end = all.at("revision").get<std::uint64_t>();
    const auto point = [&](const JobMetrics& one) {
      if (listener_.metric) listener_.metric(message.job_id, one);
    };
    const auto line = [&](const JobLogLine& one) {
      if (listener_.log) listener_.log(message.job_id, one);
    };
    ignore(history.follow(begin, end, all.at("news"), point, line), "the whole is asked for next");
    if (history.revision() != end && !live->fetching) {
      live->fetching = true;
      spawn(fetch_history(from, message.job_id));
    }
  } catch (const json::exception&) {
    return;
  }
  tell(message.job_id);
  if (!live->over) return;
  save_history(message.job_id);
  live_.erase(message.job_id);
}

// Of jobs that ended without a last word to us.
void LocalModels::forget_live() {
  const MonoTime now = loop_.clock().mono();
  std::erase_if(live_, [this, now](const auto& one) {
    if (now - one.second->at < kStale) return false;
    const auto record = cluster_.job(one.first);
    return !record || record->state != "queued";
  });
}

Task<void> LocalModels::fetch_history(std::string from, std::string job_id) {
  net::AskOptions how;
  how.deadline = std::chrono::seconds(10);
  JobHistoryAsk asked{job_id};
  auto answer = co_await options_.exchange->ask(std::move(from), net::Topic::job, encode(asked), how);
  const auto live = live_.find(job_id);
  if (live != live_.end()) live->second->fetching = false;
  if (!answer || stopping_ || runs_.contains(job_id)) co_return;
  auto history = JobHistory::decode(*answer);
  if (!history) co_return;
  static_cast<void>(history_of(job_id));
  histories_[job_id] = std::move(*history);
  save_history(job_id);
  tell(job_id);
}

Result<Bytes> LocalModels::on_history(const JobHistoryAsk& asked) const {
  const auto found = histories_.find(asked.job_id);
  if (found == histories_.end()) return Error{Errc::not_found, "this job's history is not here"};
  Bytes bytes = found->second.encode();
  if (bytes.size() > kHistoryAnswerMax) return Error{Errc::busy, "this job's history is too long to send"};
  return bytes;
}

// Never "queued" while it runs elsewhere.
void LocalModels::show_live(const cluster::JobRecord& record, Job& job) const {
  const auto found = live_.find(record.id);
  if (record.state != "queued" || is_mine(record)) return;
  const bool fresh = found != live_.end() && found->second->home == record.node_id && !found->second->over &&
                     loop_.clock().mono() - found->second->at < kStale;
  if (!fresh) {
    if (record.epoch > 0 || record.checkpoint_step > 0) {
      job.state = JobState::running;
      job.step = "moving";
      job.waiting_for = "waits for the node that looks after it";
    }
    return;
  }
  const Job& seen = found->second->shown;
  job.state = JobState::running;
  job.step = seen.step;
  job.share = seen.share;
  job.rows = std::max(job.rows, seen.rows);
  job.rows_per_second = seen.rows_per_second;
  job.seconds = seen.seconds;
  job.seconds_left = seen.seconds_left;
  job.waiting_for = seen.waiting_for;
  job.workers = seen.workers;
}

}  // namespace samovar::jobs
