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

#include "base/encoding.hpp"
#include "base/failpoint.hpp"
#include "base/ids.hpp"
#include "base/json.hpp"
#include "base/log.hpp"
#include "daemon/jobs/local_models_work.hpp"
#include "daemon/jobs/pause.hpp"
#include "daemon/jobs/time_to_target.hpp"
#include "security/aead.hpp"
#include "security/hash.hpp"

namespace samovar::jobs {

using nlohmann::json;
using security::SecretBytes;

namespace {

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

Result<void> check_trained(Disk& disk, const TrainedMessage& trained, const std::string& path,
                           const SecretBytes& key, const std::string& store_id) {
  SAMOVAR_CHECK(check_texts(trained));
  return check_model(disk, path, key, store_id);
}

Task<Result<void>> LocalModels::commit_checkpoint(MemberPtr member, SavedFile file, std::string name) {
  const std::string& job_id = member->ref.job_id;
  cluster::JobCheckpoint checkpoint{job_id, file.number, to_bytes(ByteView(file.hash))};
  checkpoint.name = name;
  checkpoint.bytes = file.stored_bytes;
  checkpoint.run = member->ref.run;
  std::vector<cluster::StoredFile> files(1);
  files[0].key = store::BlobKey::of_job(job_id, name);
  files[0].bytes = file.stored_bytes;
  files[0].hash = checkpoint.hash;
  files[0].wanted = data_.replicas().wanted(0);
  auto holders = co_await data_.replicas().spread(std::move(files));
  checkpoint.holders = std::move(holders[0]);
  SAMOVAR_FAILPOINT("jobs.train.checkpoint.spread");
  // Of the file, whose bytes never come twice: a step that is reached again is another checkpoint.
  const std::string request = fmt::format("{}.{}", job_id, hex_encode(ByteView(file.hash).first(8)));
  for (unsigned tries = 1;; ++tries) {
    cluster::Call call = call_for(member->owner_id, request);
    cluster::JobCheckpoint copy = checkpoint;
    auto kept = co_await cluster_.checkpoint_job(std::move(call), std::move(copy));
    if (kept) break;
    if (!worth_repeating(kept.error()) || tries >= kCommitTriesMax || stopping_)
      co_return std::move(kept).error();
    co_await jobs::pause(loop_, kCommitPause);
  }
  co_return Result<void>{};
}

std::string LocalModels::summary_of(const std::string& job_id, const JobSize& size,
                                    std::string_view trained_json) const {
  json summary = json::parse(trained_json, nullptr, false);
  if (!summary.is_object()) summary = json::object();
  const auto found = histories_.find(job_id);
  if (found != histories_.end()) {
    const JobHistory& history = found->second;
    summary["train_seconds"] = summary.value("seconds", 0.0);
    summary["seconds"] = history.seconds;
    summary["joules"] = history.joules;
    summary["joules_estimated"] = history.joules_estimated;
    summary["joules_error"] = history.joules_error;
    summary["speed_share"] = history.speed_share;
    if (!history.devices.empty()) summary["devices"] = history.devices_json();
    if (history.box_seconds > 0) summary["box_watts"] = history.box_joules / history.box_seconds;
    if (!summary.contains("rows")) summary["rows"] = history.rows;
    if (!summary.contains("passes")) summary["passes"] = history.pass;
    if (!history.metric().empty()) summary["metric"] = history.metric();
    if (history.best()) summary["best"] = *history.best();
    if (const auto target = time_to_target(history.metrics(), std::nullopt)) {
      summary["target_loss"] = target->loss;
      if (target->seconds) summary["seconds_to_target"] = *target->seconds;
      if (target->joules) summary["joules_to_target"] = *target->joules;
    }
  }
  // What was asked for of the power is in the spec; this is what came of it.
  if (const auto record = cluster_.job(job_id)) {
    const auto spec = json::parse(record->spec_json, nullptr, false);
    const auto power = trainer::parse_spec(spec, nullptr).spec.power;
    if (const auto deadline = deadline_of_job(power, *record)) {
      summary["deadline"] = format_time(*deadline);
      summary["finished_at"] = format_time(cluster_.now());
      summary["in_time"] = cluster_.now() <= *deadline;
    }
  }
  summary["dataset_rows"] = size.rows;
  summary["inputs"] = size.inputs;
  summary["asked_solver"] = size.solver;
  summary["asked_passes"] = size.passes;
  std::string text = summary.dump(-1, ' ', false, json::error_handler_t::replace);
  if (text.size() > cluster::kSummaryBytesMax) {
    summary.erase("notes");
    text = summary.dump(-1, ' ', false, json::error_handler_t::replace);
  }
  return text.size() > cluster::kSummaryBytesMax ? "{}" : text;
}

Task<Result<void>> LocalModels::commit_model(MemberPtr run, TrainedMessage trained) {
  const std::string& job_id = run->ref.job_id;
  cluster::NewModelVersion model;
  model.name = run->name;
  model.summary_json = summary_of(job_id, run->size, trained.summary_json);
  model.run = run->ref.run;
  model.home = run->home;
  auto& version = model.version;
  version.created_by = run->owner_id;
  version.job_id = job_id;
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
  const std::string request = fmt::format("{}.{}", job_id, hex_encode(ByteView(trained.model.hash).first(8)));
  for (unsigned tries = 1;; ++tries) {
    cluster::Call call = call_for(run->owner_id, request);
    cluster::NewModelVersion copy = model;
    auto committed = co_await cluster_.commit_model(std::move(call), std::move(copy));
    if (committed) {
      SAMOVAR_FAILPOINT("jobs.train.commit.after");
      JobNews done;
      done.what = JobNews::What::log;
      done.log = {"info",
                  fmt::format("Done: version {} of the model {}.", committed->version, committed->model)};
      tell_home(*run, std::move(done));
      tell_model(committed->model);
      co_return Result<void>{};
    }
    if (!worth_repeating(committed.error()) || tries >= kCommitTriesMax || stopping_)
      co_return std::move(committed).error();
    co_await jobs::pause(loop_, kCommitPause);
  }
}

}  // namespace samovar::jobs
