#include "tests/unit/daemon/api/fake_models.hpp"

#include <algorithm>
#include <utility>

#include "daemon/cluster/dataset_rights.hpp"
#include "daemon/cluster/model_rights.hpp"

namespace samovar::api::test {
namespace {

Error none() { return {Errc::not_found, "there is no such thing"}; }
Error denied() { return {Errc::denied, "this is not yours"}; }

class OnePiece : public jobs::ByteStream {
 public:
  explicit OnePiece(std::string text) : text_(std::move(text)) {}
  Task<Result<Bytes>> next() override { co_return to_bytes(std::exchange(text_, "")); }

 private:
  std::string text_;
};

jobs::JobState state_of(const std::string& text) {
  using jobs::JobState;
  for (const auto& [name, value] : {std::pair{"paused", JobState::paused},
                                    {"done", JobState::done},
                                    {"failed", JobState::failed},
                                    {"cancelled", JobState::cancelled}})
    if (text == name) return value;
  return JobState::queued;
}

}  // namespace

jobs::Job FakeModels::shown(const cluster::JobRecord& record) const {
  jobs::Job job;
  job.record = record;
  job.state = state_of(record.state);
  job.metric = "valid_loss";
  return job;
}

Result<trainer::ParsedSpec> FakeModels::check(const cluster::Actor& actor, const nlohmann::json& spec) const {
  trainer::ParsedSpec parsed;
  parsed.spec.name = spec.value("name", "");
  parsed.spec.dataset_id = spec.value("dataset", "");
  parsed.spec.target = spec.value("target", "");
  if (parsed.spec.name.empty()) parsed.faults.push_back({"/name", "required", "Give the model a name."});
  if (parsed.spec.target.empty()) parsed.faults.push_back({"/target", "required", "Choose a target."});
  if (parsed.spec.dataset_id.empty()) parsed.faults.push_back({"/dataset", "required", "Choose a data set."});
  const auto dataset = state->dataset(parsed.spec.dataset_id);
  if (!parsed.spec.dataset_id.empty() && (!dataset || !cluster::may_see(actor, *dataset))) return none();
  return parsed;
}

Task<Result<std::vector<std::string>>> FakeModels::advise(cluster::Call, trainer::JobSpec) {
  co_return std::vector<std::string>{"patient_id may be a group"};
}

Task<Result<jobs::Estimate>> FakeModels::estimate(cluster::Call, trainer::JobSpec) {
  jobs::Estimate estimate;
  estimate.seconds = 12.5;
  estimate.watt_hours = 0.05;
  estimate.memory_bytes = 1 << 20;
  estimate.basis = "guessed";
  co_return estimate;
}

Task<Result<jobs::Job>> FakeModels::start(cluster::Call call, trainer::JobSpec spec, int priority) {
  cluster::JobRecord record;
  record.kind = spec.kind;
  record.name = spec.name;
  record.owner_id = call.actor.user_id;
  record.dataset_id = spec.dataset_id;
  record.spec_json = nlohmann::json{{"kind", spec.kind}, {"target", spec.target}}.dump();
  record.wrapped_key = Bytes(72, 1);
  record.priority = priority;
  auto made = co_await state->begin_job(std::move(call), std::move(record));
  if (!made) co_return made.error();
  co_return shown(*made);
}

std::vector<jobs::Job> FakeModels::jobs(const cluster::Actor& actor, const cluster::JobFilter&) const {
  std::vector<jobs::Job> out;
  for (const auto& record : state->jobs({}))
    if (cluster::may_see_job(actor, record, state->model(record.model_name))) out.push_back(shown(record));
  return out;
}

Result<jobs::Job> FakeModels::job(const cluster::Actor& actor, std::string_view id) const {
  const auto record = state->job(id);
  if (!record || !cluster::may_see_job(actor, *record, state->model(record->model_name))) return none();
  return shown(*record);
}

Result<jobs::JobMetrics> FakeModels::metrics(const cluster::Actor& actor, std::string_view id) const {
  SAMOVAR_TRY(const jobs::Job found, job(actor, id));
  return jobs::JobMetrics{{"step", "valid_loss"}, {{1, 2}, {0.7, std::numeric_limits<double>::quiet_NaN()}}};
}

Result<std::vector<jobs::JobLogLine>> FakeModels::logs(const cluster::Actor& actor, std::string_view id,
                                                       std::uint64_t after, std::size_t limit) const {
  SAMOVAR_TRY(const jobs::Job found, job(actor, id));
  std::vector<jobs::JobLogLine> lines;
  for (std::uint64_t seq = after + 1; seq <= 5 && lines.size() < limit; ++seq)
    lines.push_back({seq, clock_.wall(), "info", "line " + std::to_string(seq)});
  return lines;
}

Task<Result<jobs::Job>> FakeModels::end(cluster::Call call, std::string id, std::string state_wanted) {
  const auto found = job(call.actor, id);
  if (!found) co_return found.error();
  const bool stops = state_wanted != "queued";
  const bool may = stops ? cluster::may_stop_job(call.actor, found->record)
                         : cluster::may_control_job(call.actor, found->record);
  if (!may) co_return denied();
  cluster::JobEnd wanted;
  wanted.id = id;
  wanted.state = state_wanted;
  auto done = co_await state->end_job(std::move(call), std::move(wanted));
  if (!done) co_return done.error();
  co_return shown(*done);
}

Task<Result<jobs::Job>> FakeModels::pause(cluster::Call call, std::string id) {
  return end(std::move(call), std::move(id), "paused");
}
Task<Result<jobs::Job>> FakeModels::resume(cluster::Call call, std::string id) {
  return end(std::move(call), std::move(id), "queued");
}
Task<Result<jobs::Job>> FakeModels::cancel(cluster::Call call, std::string id) {
  return end(std::move(call), std::move(id), "cancelled");
}
Task<Result<jobs::Job>> FakeModels::retry(cluster::Call call, std::string id) {
  return end(std::move(call), std::move(id), "queued");
}

Task<Result<jobs::Job>> FakeModels::protect(cluster::Call call, std::string id, bool on) {
  const auto found = job(call.actor, id);
  if (!found) co_return found.error();
  if (!cluster::may_control_job(call.actor, found->record)) co_return denied();
  auto done = co_await state->protect_job(std::move(call), id, on);
  if (!done) co_return done.error();
  co_return shown(*done);
}

Task<Result<jobs::Job>> FakeModels::prioritize(cluster::Call call, std::string id, int priority) {
  const auto found = job(call.actor, id);
  if (!found) co_return found.error();
  if (!cluster::may_stop_job(call.actor, found->record)) co_return denied();
  auto done = co_await state->prioritize_job(std::move(call), id, priority);
  if (!done) co_return done.error();
  co_return shown(*done);
}

Task<Result<void>> FakeModels::remove(cluster::Call call, std::string id) {
  const auto found = job(call.actor, id);
  if (!found) co_return found.error();
  co_return co_await state->remove_job(std::move(call), id);
}

std::vector<cluster::Model> FakeModels::models(const cluster::Actor& actor) const {
  std::vector<cluster::Model> out;
  for (const auto& one : state->models())
    if (cluster::may_see_model(actor, one)) out.push_back(one);
  return out;
}

Result<cluster::Model> FakeModels::model(const cluster::Actor& actor, std::string_view name) const {
  auto found = state->model(name);
  if (!found || !cluster::may_see_model(actor, *found)) return none();
  return *std::move(found);
}

Result<std::vector<cluster::ModelVersion>> FakeModels::versions(const cluster::Actor& actor,
                                                                std::string_view name) const {
  SAMOVAR_TRY(const cluster::Model found, model(actor, name));
  return state->model_versions(found.name);
}

Task<Result<nlohmann::json>> FakeModels::evaluation(cluster::Call, std::string, std::uint32_t version) {
  co_return nlohmann::json{{"task", "binary"},
                           {"metrics", {{"test", {{"auc", {{"value", 0.7 + version * 0.01}}}}}}}};
}

Task<Result<cluster::Model>> FakeModels::change(cluster::Call call, std::string name,
                                                cluster::ModelChange wanted,
                                                std::optional<std::uint64_t> if_revision) {
  return state->change_model(std::move(call), std::move(name), std::move(wanted), if_revision);
}
Task<Result<cluster::Model>> FakeModels::promote(cluster::Call call, std::string name,
                                                 std::uint32_t version) {
  return state->promote_model(std::move(call), std::move(name), version);
}
Task<Result<cluster::Model>> FakeModels::rollback(cluster::Call call, std::string name) {
  return state->rollback_model(std::move(call), std::move(name));
}
Task<Result<cluster::Model>> FakeModels::grant(cluster::Call call, std::string name, std::string user_id,
                                               bool on) {
  return on ? state->grant_model(std::move(call), std::move(name), std::move(user_id))
            : state->ungrant_model(std::move(call), std::move(name), std::move(user_id));
}

Task<Result<void>> FakeModels::protect_version(cluster::Call call, std::string name, std::uint32_t version,
                                               bool on) {
  auto done = co_await state->protect_model_version(std::move(call), std::move(name), version, on);
  if (!done) co_return done.error();
  co_return Result<void>();
}
Task<Result<void>> FakeModels::remove_version(cluster::Call call, std::string name, std::uint32_t version) {
  return state->remove_model_version(std::move(call), std::move(name), version);
}

Task<Result<trainer::Export>> FakeModels::export_version(cluster::Call, std::string name, std::uint32_t,
                                                         trainer::ExportKind, std::string reason) {
  seen_reason = std::move(reason);
  if (export_error) co_return *std::exchange(export_error, std::nullopt);
  co_return trainer::Export{name + ".json", "application/json", to_bytes("{}")};
}

Task<Result<cluster::ModelVersion>> FakeModels::import_json(cluster::Call call, std::string name,
                                                            std::string json) {
  if (json.find("weights") == std::string::npos) co_return Error{Errc::invalid, "this is no model"};
  cluster::NewModelVersion made;
  made.name = std::move(name);
  made.kind = "glm";
  made.version.created_by = call.actor.user_id;
  made.version.hash = Bytes(32, 1);
  made.version.wrapped_key = Bytes(72, 1);
  co_return co_await state->commit_model(std::move(call), std::move(made));
}

Task<Result<jobs::PredictAnswer>> FakeModels::predict(cluster::Call call, jobs::PredictRequest request) {
  seen = std::move(request);
  if (predict_error) co_return *std::exchange(predict_error, std::nullopt);
  const auto found = state->model(seen.model);
  if (!found || !cluster::may_use_model(call.actor, *found)) co_return none();
  const auto version = state->model_version(found->name, seen.version);
  if (!version) co_return none();
  jobs::PredictAnswer answer;
  answer.model = found->name;
  answer.version = version->version;
  answer.classes = {"no", "yes"};
  const auto age = seen.rows.columns.find("age");
  for (std::uint32_t row = 0; row < seen.rows.rows; ++row) {
    trainer::Prediction one;
    const auto* value =
        age == seen.rows.columns.end() ? nullptr : std::get_if<std::int64_t>(&age->second[row]);
    if (value == nullptr) answer.warnings.push_back({"missing_column", "age", row, "age is missing"});
    one.value = value != nullptr ? static_cast<double>(*value) / 100 : 0.5;
    one.label = one.value > 0.5 ? "yes" : "no";
    one.probabilities = {1 - one.value, one.value};
    if (seen.reasons) one.reasons = {{"age", "71", 0.25}};
    answer.predictions.push_back(std::move(one));
  }
  co_return answer;
}

bool FakeModels::ready_to_predict(const cluster::Actor&, std::string_view, std::uint32_t) { return true; }

Task<Result<jobs::Scoring>> FakeModels::start_scoring(cluster::Call call, jobs::ScoringRequest request) {
  if (!state->model(request.model)) co_return none();
  jobs::Scoring made;
  made.id = "scr_" + std::to_string(batches.size() + 1);
  made.owner_id = call.actor.user_id;
  made.model = request.model;
  made.version = 1;
  made.dataset_id = request.dataset_id;
  made.upload_id = request.upload_id;
  made.created_at = clock_.wall();
  seen_scoring = std::move(request);
  batches[made.id] = made;
  co_return made;
}

std::vector<jobs::Scoring> FakeModels::scorings(const cluster::Actor& actor) const {
  std::vector<jobs::Scoring> out;
  for (const auto& [id, one] : batches)
    if (one.owner_id == actor.user_id) out.push_back(one);
  return out;
}

Result<jobs::Scoring> FakeModels::scoring(const cluster::Actor& actor, std::string_view id) const {
  const auto found = batches.find(id);
  if (found == batches.end() || found->second.owner_id != actor.user_id) return none();
  return found->second;
}

Task<Result<void>> FakeModels::remove_scoring(cluster::Call call, std::string id) {
  const auto found = scoring(call.actor, id);
  if (!found) co_return found.error();
  batches.erase(id);
  co_return Result<void>();
}

Task<Result<std::unique_ptr<jobs::ByteStream>>> FakeModels::scoring_result(cluster::Call call,
                                                                           std::string id) {
  const auto found = scoring(call.actor, id);
  if (!found) co_return found.error();
  if (found->state != jobs::JobState::done) co_return Error{Errc::conflict, "it is not done yet"};
  co_return std::unique_ptr<jobs::ByteStream>(std::make_unique<OnePiece>("prediction\n0.5\n"));
}

Task<Result<cluster::ModelVersion>> FakeModels::finish(std::string job_id) {
  const auto record = state->job(job_id);
  if (!record) co_return none();
  cluster::NewModelVersion made;
  made.name = record->name;
  made.version.job_id = job_id;
  made.version.created_by = record->owner_id;
  made.version.dataset_id = record->dataset_id;
  made.version.dataset_version = record->dataset_version;
  made.version.dataset_hash = "d0";
  made.version.code_version = "0.4.0";
  made.version.spec_json = record->spec_json;
  made.version.signature_json =
      R"({"inputs":[{"name":"age","type":"integer"},{"name":"ward","type":"category"},{"name":"bmi","type":"real"},{"name":"smoker","type":"boolean"}],"classes":["no","yes"]})";
  made.version.headline_json = R"({"auc":0.74})";
  made.version.stored_bytes = 100;
  made.version.hash = Bytes(32, 2);
  made.version.wrapped_key = record->wrapped_key;
  made.version.evaluation_name = "evaluation";
  made.version.evaluation_hash = Bytes(32, 3);
  cluster::Call call;
  call.actor = cluster::Actor::system();
  co_return co_await state->commit_model(std::move(call), std::move(made));
}

}  // namespace samovar::api::test
