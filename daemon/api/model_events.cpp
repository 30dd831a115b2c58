#include "daemon/api/model_events.hpp"

#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include "base/json.hpp"
#include "daemon/api/event_hub.hpp"
#include "daemon/api/event_text.hpp"
#include "daemon/api/views_models.hpp"

namespace samovar::api {
namespace {

// What makes a change of a job, other than its progress.
using Mark = std::tuple<jobs::JobState, std::string, std::uint64_t, unsigned>;
using Marks = std::map<std::string, Mark>;

// An event goes to many: it shows what everyone among them may see, so not the names of data sets.
cluster::Actor nobody() { return {}; }

Audience audience_of(const std::optional<cluster::Model>& model, const std::string& owner_id) {
  std::vector<std::string> users;
  if (model) {
    users = model->granted_ids;
    users.push_back(model->owner_id);
  }
  if (!owner_id.empty()) users.push_back(owner_id);
  return Audience::of_dataset(std::move(users));
}

Audience audience_of_job(Services& services, const cluster::JobRecord& record) {
  std::optional<cluster::Model> model;
  if (record.model_version > 0) model = services.cluster().model(record.model_name);
  return audience_of(model, record.owner_id);
}

Audience audience_of_job(Services& services, const std::string& id) {
  const auto record = services.cluster().job(id);
  return record ? audience_of_job(services, *record) : Audience(std::string());
}

void publish_job(Services& services, Marks& marks, const jobs::Job& job) {
  const std::string text = event_text(job_view(services, nobody(), job));
  const Audience audience = audience_of_job(services, job.record);
  const bool over = job.state != jobs::JobState::queued && job.state != jobs::JobState::running;
  Mark mark{job.state, job.step, job.record.revision, job.queue_position};
  Mark& before = marks[job.record.id];
  // Progress may be dropped for a slow reader; where a job stands may not.
  if (before == mark) {
    services.events.publish_sample("job.changed", job.record.id, text, audience);
  } else {
    services.events.publish_change("job.changed", text, audience);
  }
  before = std::move(mark);
  if (over) marks.erase(job.record.id);
}

void publish_metric(Services& services, const std::string& id, const jobs::JobMetrics& point) {
  View values = View::array();
  const View columns = metrics_view(point)["cols"];
  for (const View& column : columns) values.push_back(column.empty() ? View(nullptr) : column.back());
  View body = {{"id", id}, {"names", point.names}, {"values", std::move(values)}};
  if (point.worker > 0) body["worker"] = point.worker;
  const std::string key = point.worker > 0 ? id + "." + std::to_string(point.worker) : id;
  services.events.publish_sample("job.metric", key, event_text(body), audience_of_job(services, id));
}

void publish_log(Services& services, const std::string& id, const jobs::JobLogLine& line) {
  View body = {{"id", id}};
  body.update(log_line_view(line));
  // What is dropped shows as a gap in seq, and can be read.
  services.events.publish_sample("job.log", id, event_text(body), audience_of_job(services, id));
}

void publish_scoring(Services& services, const jobs::Scoring& scoring) {
  const std::string text = event_text(scoring_view(scoring));
  const Audience audience(scoring.owner_id);
  if (scoring.state == jobs::JobState::running && scoring.rows > 0) {
    services.events.publish_sample("scoring.changed", scoring.id, text, audience);
  } else {
    services.events.publish_change("scoring.changed", text, audience);
  }
}

}  // namespace

void forward_model_events(Services& services, jobs::ModelService& models) {
  // Shared: the callbacks are copied.
  auto marks = std::make_shared<Marks>();
  const auto ready = [&services] { return services.node.phase() == Phase::ready; };
  jobs::ModelService::Listener listener;
  listener.job = [&services, marks, ready](const jobs::Job& job) {
    if (ready()) publish_job(services, *marks, job);
  };
  listener.metric = [&services, ready](const std::string& id, const jobs::JobMetrics& point) {
    if (ready()) publish_metric(services, id, point);
  };
  listener.log = [&services, ready](const std::string& id, const jobs::JobLogLine& line) {
    if (ready()) publish_log(services, id, line);
  };
  // Told by the state itself, whoever changed it.
  listener.model = [](const std::string&) {};
  listener.scoring = [&services, ready](const jobs::Scoring& scoring) {
    if (ready()) publish_scoring(services, scoring);
  };
  models.listen(std::move(listener));
}

void publish_model_change(Services& services, const std::string& name) {
  const auto model = services.cluster().model(name);
  const View body = {{"name", name}};
  // Of one that is gone its owner and grants are not known any more: those who see all hear its name, the
  // rest that something changed.
  if (!model && !name.empty()) services.events.publish_change("model.changed", View{{"name", ""}}.dump());
  services.events.publish_change("model.changed", event_text(body), audience_of(model, {}));
}

}  // namespace samovar::api
