#include <cmath>

#include "base/ids.hpp"
#include "base/json.hpp"
#include "daemon/api/views_models.hpp"
#include "daemon/cluster/dataset_rights.hpp"

namespace samovar::api {
namespace {

View text_or_null(const std::string& text) { return text.empty() ? View(nullptr) : View(text); }

// JSON has no word for what is not finite.
View number_or_null(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? View(*value) : View(nullptr);
}

View dataset_name(Services& services, const cluster::Actor& actor, const std::string& id) {
  const auto dataset = services.cluster().dataset(id);
  return dataset && cluster::may_see(actor, *dataset) ? View(dataset->name) : View(nullptr);
}

View node_name(Services& services, const std::string& id) {
  const auto node = services.cluster().node(id);
  return node ? View(node->name) : View(nullptr);
}

View workers_view(Services& services, const std::vector<jobs::JobWorker>& workers) {
  View items = View::array();
  for (const auto& worker : workers)
    items.push_back({{"number", worker.number},
                     {"node_id", worker.node_id},
                     {"node", node_name(services, worker.node_id)},
                     {"state", worker.state},
                     {"lead", worker.lead},
                     {"blocks", worker.blocks},
                     {"rows", worker.rows},
                     {"step", worker.step},
                     {"share", worker.share},
                     {"rows_done", worker.rows_done},
                     {"pass", worker.pass},
                     {"samples_per_second", number_or_null(worker.samples_per_second)},
                     {"loss", number_or_null(worker.loss)},
                     {"bytes_sent", worker.bytes_sent},
                     {"bytes_received", worker.bytes_received},
                     {"wait_seconds", number_or_null(worker.wait_seconds)},
                     {"staleness", number_or_null(worker.staleness)},
                     {"watts", number_or_null(worker.watts)},
                     {"watts_estimated", worker.watts_estimated},
                     {"joules", worker.joules},
                     {"joules_error", worker.joules_error},
                     {"since", format_time(worker.since)},
                     {"error", text_or_null(worker.error)}});
  return items;
}

View events_view(const std::vector<jobs::JobEvent>& events) {
  View items = View::array();
  for (const auto& event : events)
    items.push_back({{"seq", event.seq},
                     {"at", format_time(event.at)},
                     {"kind", event.kind},
                     {"node_id", text_or_null(event.node_id)},
                     {"text", event.text}});
  return items;
}

View devices_view(Services& services, const std::vector<jobs::JobDevice>& devices) {
  View items = View::array();
  for (const auto& one : devices)
    items.push_back({{"node_id", one.node_id},
                     {"node", node_name(services, one.node_id)},
                     {"device", text_or_null(one.name)},
                     {"note", text_or_null(one.note)}});
  return items;
}

View power_view(const std::optional<jobs::JobPower>& power) {
  if (!power) return nullptr;
  const auto& asked = power->asked;
  return {{"mode", asked.mode == trainer::PowerSpec::Mode::gentle ? "gentle" : "full"},
          {"watts", number_or_null(asked.watts)},
          {"finish_by", text_or_null(asked.finish_by)},
          {"deadline", time_view(power->deadline)},
          {"granted_watts", number_or_null(power->watts)},
          {"late", power->late},
          {"needed_watts", number_or_null(power->needed_watts)}};
}

View columns_view(const jobs::JobMetrics& metrics) {
  View columns = View::array();
  for (const auto& column : metrics.columns) {
    View values = View::array();
    for (const double value : column) values.push_back(number_or_null(value));
    columns.push_back(std::move(values));
  }
  return columns;
}

}  // namespace

std::string_view state_name(jobs::JobState state) noexcept {
  switch (state) {
    case jobs::JobState::queued:
      return "queued";
    case jobs::JobState::running:
      return "running";
    case jobs::JobState::paused:
      return "paused";
    case jobs::JobState::done:
      return "done";
    case jobs::JobState::failed:
      return "failed";
    case jobs::JobState::cancelled:
      return "cancelled";
  }
  return "queued";
}

View job_view(Services& services, const cluster::Actor& actor, const jobs::Job& job) {
  const cluster::JobRecord& record = job.record;
  const auto owner = services.cluster().user(record.owner_id);
  const bool done = record.model_version > 0;
  return {{"id", record.id},
          {"kind", record.kind},
          {"name", record.name},
          {"owner_id", record.owner_id},
          {"owner", owner ? owner->username : std::string()},
          {"dataset_id", record.dataset_id},
          {"dataset", dataset_name(services, actor, record.dataset_id)},
          {"dataset_version", record.dataset_version},
          {"target", document_view(record.spec_json).value("target", "")},
          {"spec", document_view(record.spec_json)},
          {"state", state_name(job.state)},
          {"step", job.step},
          {"share", job.share},
          {"rows", job.rows},
          {"pass", job.pass},
          {"rows_per_second", job.rows_per_second},
          {"seconds", job.seconds},
          {"seconds_left", number_or_null(job.seconds_left)},
          {"watt_hours", job.joules / 3600},
          {"watt_hours_error", job.joules_error / 3600},
          {"energy_estimated", job.joules_estimated},
          {"box_watts", number_or_null(job.box_watts)},
          {"power", power_view(job.power)},
          {"metric", job.metric},
          {"best", number_or_null(job.best)},
          {"queue_position", job.queue_position},
          {"priority", record.priority},
          {"home_id", text_or_null(record.node_id)},
          {"home", node_name(services, record.node_id)},
          {"run", record.run},
          {"epoch", record.epoch},
          {"waiting_for", text_or_null(job.waiting_for)},
          {"workers", workers_view(services, job.workers)},
          {"devices", devices_view(services, job.devices)},
          {"events", events_view(job.events)},
          {"error", text_or_null(record.error)},
          {"attempt", record.attempt},
          {"model", done ? View(record.model_name) : View(nullptr)},
          {"model_version", done ? View(record.model_version) : View(nullptr)},
          {"summary", document_view(record.summary_json)},
          {"protected", record.protect},
          {"checkpoint_step", record.checkpoint_step},
          {"created_at", format_time(record.created_at)},
          {"started_at", time_view(job.started_at)},
          {"ended_at", time_view(record.ended_at)},
          {"revision", record.revision}};
}

View metrics_view(const jobs::JobMetrics& metrics) {
  View body = {{"names", metrics.names}, {"cols", columns_view(metrics)}};
  View workers = View::array();
  for (const auto& worker : metrics.workers)
    workers.push_back({{"number", worker.worker},
                       {"node_id", worker.node_id},
                       {"names", worker.names},
                       {"cols", columns_view(worker)}});
  body["workers"] = std::move(workers);
  return body;
}

View log_line_view(const jobs::JobLogLine& line) {
  return {{"seq", line.seq}, {"at", format_time(line.at)}, {"level", line.level}, {"text", line.text}};
}

View estimate_view(const jobs::Estimate& estimate) {
  return {{"seconds", estimate.seconds},
          {"watt_hours", estimate.watt_hours},
          {"memory_bytes", estimate.memory_bytes},
          {"basis", estimate.basis},
          {"watts", number_or_null(estimate.watts)},
          {"deadline", time_view(estimate.deadline)},
          {"ends_at", time_view(estimate.ends_at)},
          {"in_time", estimate.in_time ? View(*estimate.in_time) : View(nullptr)},
          {"needed_watts", number_or_null(estimate.needed_watts)}};
}

View scoring_view(const jobs::Scoring& scoring) {
  return {{"id", scoring.id},
          {"owner_id", scoring.owner_id},
          {"model", scoring.model},
          {"version", scoring.version},
          {"dataset_id", text_or_null(scoring.dataset_id)},
          {"upload_id", text_or_null(scoring.upload_id)},
          {"state", state_name(scoring.state)},
          {"rows", scoring.rows},
          {"rows_total", scoring.rows_total},
          {"result_bytes", scoring.result_bytes},
          {"error", text_or_null(scoring.error)},
          {"warnings", warnings_view(scoring.warnings)},
          {"created_at", format_time(scoring.created_at)},
          {"ended_at", time_view(scoring.ended_at)}};
}

}  // namespace samovar::api
