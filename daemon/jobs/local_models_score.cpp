// Batches of predictions: accepted as operations of kind "scoring", made in the worker, kept for seven days
// as sealed files below scorings/<scr>. A record without its folder was removed by its owner.
#include <fmt/format.h>

#include <algorithm>

#include "base/encoding.hpp"
#include "base/failpoint.hpp"
#include "base/ids.hpp"
#include "base/json.hpp"
#include "base/log.hpp"
#include "daemon/cluster/model_rights.hpp"
#include "daemon/jobs/local_models_work.hpp"
#include "security/aead.hpp"

namespace samovar::jobs {

using nlohmann::json;
using security::SecretBytes;

namespace {

constexpr std::size_t kSummaryBytesMax = 4u << 20;
constexpr std::size_t kPieceBytes = 256 * 1024;
constexpr std::chrono::hours kSweepEvery{1};
constexpr const char* kSummary = "summary";

Error no_scoring() { return {Errc::not_found, "there is no such scoring"}; }

security::SealedFileId summary_place(const std::string& id) {
  constexpr std::uint64_t kSummaryNumber = (std::uint64_t{1} << 63) | 101;  // beside output_place's
  return {id, kSummaryNumber, 1};
}

JobState state_of(std::string_view text) {
  for (const JobState state : {JobState::done, JobState::failed, JobState::cancelled})
    if (to_string(state) == text) return state;
  return JobState::queued;
}

bool may_see(const cluster::Actor& actor, const Scoring& scoring) {
  if (actor.auth == cluster::AuthKind::system) return true;
  return actor.role && !actor.user_id.empty() && actor.user_id == scoring.owner_id;
}

Bytes scored_summary(const Scoring& scoring) {
  json warnings = json::array();
  for (const auto& one : scoring.warnings) warnings.push_back({one.code, one.input, one.detail});
  const json summary = {
      {"rows", scoring.rows}, {"bytes", scoring.result_bytes}, {"warnings", std::move(warnings)}};
  return to_bytes(summary.dump(-1, ' ', false, json::error_handler_t::replace));
}

void read_summary(ByteView text, Scoring& scoring) {
  try {
    const json summary = json::parse(text.begin(), text.end());
    scoring.rows = scoring.rows_total = summary.at("rows").get<std::uint64_t>();
    scoring.result_bytes = summary.at("bytes").get<std::uint64_t>();
    for (const auto& one : summary.at("warnings"))
      scoring.warnings.push_back({one.at(0).get<std::string>(), one.at(1).get<std::string>(), std::nullopt,
                                  one.at(2).get<std::string>()});
  } catch (const json::exception& e) {
    SAMOVAR_LOG(warn, jobs, "the summary of a scoring cannot be read", kv("error", e.what()));
  }
}

class ResultStream final : public ByteStream {
 public:
  struct State {
    std::shared_ptr<const SecretBytes> key;  // outlives the reader, which borrows it
    std::unique_ptr<security::SealedReader> reader;
    std::uint64_t offset = 0;
    Result<Bytes> next() {
      Bytes piece(kPieceBytes);
      SAMOVAR_TRY(const std::size_t got, reader->read_at(offset, piece));
      offset += got;
      piece.resize(got);
      return piece;
    }
  };
  ResultStream(Loop& loop, Pool& io, std::shared_ptr<State> state)
      : loop_(loop), io_(io), state_(std::move(state)) {}
  Task<Result<Bytes>> next() override {
    auto work = [state = state_] { return state->next(); };
    co_return co_await run_on(io_, loop_, std::move(work));
  }

 private:
  Loop& loop_;
  Pool& io_;
  std::shared_ptr<State> state_;
};

}  // namespace

void LocalModels::tell(const Batch& batch) const {
  if (listener_.scoring && !batch.removed) listener_.scoring(batch.scoring);
}

// ---- accepting ----

Task<Result<Scoring>> LocalModels::start_scoring(cluster::Call call, ScoringRequest request) {
  SAMOVAR_CO_TRY(const Found found, find_version(call.actor, request.model, request.version));
  if (!cluster::may_use_model(call.actor, found.model))
    co_return Error{Errc::denied, "you may see this model but not use it: its owner can grant you that"};
  if (request.dataset_id.empty() == request.upload_id.empty())
    co_return Error{Errc::invalid, "say either which data set or which upload is to be scored"};
  auto batch = std::make_shared<Batch>();
  Scoring& scoring = batch->scoring;
  if (!request.dataset_id.empty()) {
    SAMOVAR_CO_TRY(const Rows rows, open_rows(call.actor, request.dataset_id, request.dataset_version));
    batch->dataset_version = rows.version.version;
    scoring.rows_total = rows.version.rows;
    SAMOVAR_CO_TRY(const trainer::Schema schema, trainer::decode_schema(rows.version.schema_json));
    for (const auto& name : request.keep)
      if (!schema.find(name))
        co_return Error{Errc::invalid, fmt::format("the data set has no column \"{}\" to keep", name)};
  } else {
    SAMOVAR_CO_TRY(const auto held, data_.hold_upload(call.actor, request.upload_id));
    batch->holds_upload = true;
  }
  scoring.id = new_id("scr", loop_.clock(), rng_);
  scoring.owner_id = call.actor.user_id;
  scoring.model = found.model.name;
  scoring.version = found.version.version;
  scoring.dataset_id = request.dataset_id;
  scoring.upload_id = request.upload_id;
  batch->keep = request.keep;
  batch->wrapped_key = wrap("scoring-key", scoring.id, SecretBytes::random(security::kAeadKeyBytes));
  const json spec = {{"model", scoring.model},           {"version", scoring.version},
                     {"dataset", scoring.dataset_id},    {"dataset_version", batch->dataset_version},
                     {"upload", scoring.upload_id},      {"keep", batch->keep},
                     {"rows_total", scoring.rows_total}, {"key", base64url_encode(batch->wrapped_key)}};
  cluster::OperationRecord record;
  record.id = scoring.id;
  record.kind = "scoring";
  record.owner_id = scoring.owner_id;
  record.node_id = self();
  record.title = fmt::format("{} v{}", scoring.model, scoring.version);
  record.spec_json = spec.dump(-1, ' ', false, json::error_handler_t::replace);
  auto make = [dir = dir_.get(), id = scoring.id]() -> Result<void> {
    SAMOVAR_CHECK(dir->check_room(kRoomPerFile));
    SAMOVAR_CHECK(dir->make_work(Work::scorings, id, true));
    return dir->sync_work(Work::scorings, id);
  };
  auto made = co_await run_on(io_, loop_, std::move(make));
  if (!made) {
    if (batch->holds_upload) data_.release_upload(scoring.upload_id);
    co_return std::move(made).error();
  }
  auto begun = co_await cluster_.begin_operation(std::move(call), std::move(record));
  if (!begun) {
    if (batch->holds_upload) data_.release_upload(scoring.upload_id);
    co_return std::move(begun).error();
  }
  if (begun->id != scoring.id) {  // asked for twice under one request id
    if (batch->holds_upload) data_.release_upload(scoring.upload_id);
    const auto first = batches_.find(begun->id);
    if (first == batches_.end()) co_return no_scoring();
    co_return first->second->scoring;
  }
  scoring.created_at = begun->created_at;
  batches_[scoring.id] = batch;
  batch_queue_.push_back(scoring.id);
  tell(*batch);
  run_next_scoring();
  co_return scoring;
}

void LocalModels::recover_scorings() {
  auto records = cluster_.operations();
  std::reverse(records.begin(), records.end());  // oldest first: they were accepted in this order
  for (const auto& record : records) {
    if (record.kind != "scoring" || (record.node_id != self() && !record.node_id.empty()) ||
        !disk_.exists(dir_->work(Work::scorings, record.id)))
      continue;
    const auto spec = json::parse(record.spec_json, nullptr, false);
    auto batch = std::make_shared<Batch>();
    Scoring& scoring = batch->scoring;
    try {
      scoring.model = spec.at("model").get<std::string>();
      scoring.version = spec.at("version").get<std::uint32_t>();
      scoring.dataset_id = spec.at("dataset").get<std::string>();
      scoring.upload_id = spec.at("upload").get<std::string>();
      scoring.rows_total = spec.at("rows_total").get<std::uint64_t>();
      batch->dataset_version = spec.at("dataset_version").get<std::uint32_t>();
      batch->keep = spec.at("keep").get<std::vector<std::string>>();
      auto key = base64url_decode(spec.at("key").get<std::string>());
      if (key) batch->wrapped_key = std::move(*key);
    } catch (const json::exception&) {
      continue;
    }
    scoring.id = record.id;
    scoring.owner_id = record.owner_id;
    scoring.state = state_of(record.state);
    scoring.error = record.error;
    scoring.created_at = record.created_at;
    scoring.ended_at = record.ended_at;
    if (scoring.state == JobState::queued) {
      if (!scoring.upload_id.empty()) {
        const cluster::Call call = call_for(scoring.owner_id, "");
        batch->holds_upload = data_.hold_upload(call.actor, scoring.upload_id).has_value();
      }
      batch_queue_.push_back(scoring.id);
    } else if (const auto key = unwrap("scoring-key", scoring.id, batch->wrapped_key)) {
      if (const auto text =
              security::read_sealed_file(disk_, dir_->work_file(Work::scorings, scoring.id, kSummary), **key,
                                         summary_place(scoring.id), kSummaryBytesMax))
        read_summary(*text, scoring);
    }
    batches_[scoring.id] = std::move(batch);
  }
}

// ---- one batch ----

void LocalModels::run_next_scoring() {
  if (batch_running_ || stopping_ || batch_queue_.empty()) return;
  const auto found = batches_.find(batch_queue_.front());
  batch_queue_.pop_front();
  if (found == batches_.end() || found->second->removed) return run_next_scoring();
  batch_running_ = true;
  spawn(run_scoring(found->second));
}

Task<void> LocalModels::run_scoring(std::shared_ptr<Batch> batch) {
  Scoring& scoring = batch->scoring;
  scoring.state = JobState::running;
  tell(*batch);
  auto done = co_await carry_out_scoring(batch);
  batch_running_ = false;
  if (stopping_) co_return;  // it stays accepted, and begins anew
  if (batch->holds_upload) data_.release_upload(scoring.upload_id);
  batch->holds_upload = false;
  cluster::OperationEnd end;
  end.id = scoring.id;
  end.state = batch->removed ? "cancelled" : done ? "done" : "failed";
  if (!batch->removed && !done) end.error = done.error().message();
  scoring.error = end.error;
  scoring.state = state_of(end.state);
  cluster::Call call = call_for(scoring.owner_id, "");
  auto ended = co_await cluster_.end_operation(std::move(call), std::move(end));
  if (!ended)
    SAMOVAR_LOG(warn, jobs, "the end of a scoring was not recorded: the next start begins it anew",
                kv("scoring", scoring.id), kv("error", ended.error().message()));
  scoring.ended_at = cluster_.now();
  batch->ended = true;
  tell(*batch);
  if (batch->removed) {
    auto clean = [dir = dir_.get(), id = scoring.id] { return dir->remove_work(Work::scorings, id); };
    ignore(co_await run_on(io_, loop_, std::move(clean)), "the sweep tries again");
    batches_.erase(scoring.id);
  }
  run_next_scoring();
}

Task<Result<void>> LocalModels::carry_out_scoring(std::shared_ptr<Batch> batch) {
  Scoring& scoring = batch->scoring;
  cluster::Call call = call_for(scoring.owner_id, "");
  // The rights are the owner's, now, not those of the node that works for them.
  call.actor.auth = cluster::AuthKind::session;
  SAMOVAR_CO_TRY(const Found found, find_version(call.actor, scoring.model, scoring.version));
  if (!cluster::may_use_model(call.actor, found.model))
    co_return Error{Errc::denied, "you may no longer use this model"};
  SAMOVAR_CO_TRY(const Key key, unwrap("scoring-key", scoring.id, batch->wrapped_key));
  SAMOVAR_CO_TRY(const Key model_key, key_of(found));
  std::vector<std::string> keys = {store::BlobKey::of_model(found.store_id, "model")};
  ScoreTask task;
  task.model_path = dir_->work_file(Work::models, found.store_id, "model");
  task.result_dir = dir_->work(Work::scorings, scoring.id);
  task.memory_mib = options_.memory_mib;
  task.check_room = [dir = dir_.get()] { return dir->check_room(kRoomPerFile); };
  ScoreJob& job = task.job;
  job.scoring_id = scoring.id;
  job.store_id = found.store_id;
  job.threads = options_.threads;
  job.keep_all = batch->keep.empty();
  job.keep = batch->keep;
  job.model_key = model_key->clone();
  job.result_key = key->clone();
  if (!scoring.dataset_id.empty()) {
    SAMOVAR_CO_TRY(const Rows rows, open_rows(call.actor, scoring.dataset_id, batch->dataset_version));
    task.shard_paths = rows.paths;
    keys.insert(keys.end(), rows.keys.begin(), rows.keys.end());
    job.dataset_id = scoring.dataset_id;
    job.dataset_version = rows.version.version;
    job.shards = static_cast<std::uint32_t>(rows.paths.size());
    job.schema_json = rows.version.schema_json;
    job.data_key = rows.key->clone();
  } else {
    // Held since it was accepted; taken once more for its path and key.
    data_.release_upload(scoring.upload_id);
    batch->holds_upload = false;
    SAMOVAR_CO_TRY(auto held, data_.hold_upload(call.actor, scoring.upload_id));
    batch->holds_upload = true;
    task.upload_path = held.path;
    job.file_name = held.file_name;
    job.raw_bytes = held.bytes;
    job.data_key = std::move(held.key);
  }
  auto brought = co_await data_.replicas().bring(std::move(keys));
  if (!brought) co_return std::move(brought).error().within("the files of the model and the data set");
  const Replicas::HoldPtr hold = std::move(*brought);
  auto shared = std::make_shared<ScoreTask>(std::move(task));
  auto step = [this, batch](const StepMessage& message) {
    loop_.post([this, batch, message] {
      batch->scoring.rows = message.rows;
      // How many there are is not known of a file; its bytes say how far it is.
      if (batch->scoring.dataset_id.empty() && message.share > 0)
        batch->scoring.rows_total =
            static_cast<std::uint64_t>(static_cast<double>(message.rows) / message.share);
      if (!batch->ended) tell(*batch);
    });
  };
  auto work = [this, shared, batch, step] {
    return run_score_worker(disk_, options_.worker, std::move(*shared), batch->signals, step);
  };
  auto scored = co_await run_on(workers_, loop_, std::move(work));
  if (!scored) co_return std::move(scored).error();
  scoring.rows = scoring.rows_total = scored->rows;
  scoring.result_bytes = scored->result.plain_bytes;
  for (auto& one : scored->warnings)
    scoring.warnings.push_back(
        {std::move(one.code), std::move(one.input), std::nullopt, std::move(one.detail)});
  auto keep = [this, key, id = scoring.id, text = scored_summary(scoring)]() -> Result<void> {
    SAMOVAR_CHECK(security::write_sealed_file(disk_, dir_->work_file(Work::scorings, id, kSummary), *key,
                                              summary_place(id), text));
    return dir_->sync_work(Work::scorings, id);
  };
  co_return co_await run_on(io_, loop_, std::move(keep));
}

// ---- reading and removing ----

std::shared_ptr<LocalModels::Batch> LocalModels::find_batch(const cluster::Actor& actor,
                                                            std::string_view id) const {
  const auto found = batches_.find(id);
  if (found == batches_.end() || found->second->removed || !may_see(actor, found->second->scoring))
    return nullptr;
  return found->second;
}

std::vector<Scoring> LocalModels::scorings(const cluster::Actor& actor) const {
  std::vector<Scoring> all;
  for (auto it = batches_.rbegin(); it != batches_.rend(); ++it)  // ids sort by age
    if (!it->second->removed && may_see(actor, it->second->scoring)) all.push_back(it->second->scoring);
  return all;
}

Result<Scoring> LocalModels::scoring(const cluster::Actor& actor, std::string_view id) const {
  const auto batch = find_batch(actor, id);
  if (!batch) return no_scoring();
  return batch->scoring;
}

Task<Result<void>> LocalModels::remove_scoring(cluster::Call call, std::string id) {
  const auto batch = find_batch(call.actor, id);
  if (!batch) co_return no_scoring();
  if (batch->scoring.state == JobState::running) {
    batch->removed = true;  // its files go where it ends
    batch->signals.kill.store(true);
    co_return Result<void>{};
  }
  if (batch->scoring.state == JobState::queued) {
    cluster::OperationEnd end{id, "cancelled", ""};
    auto ended = co_await cluster_.end_operation(std::move(call), std::move(end));
    if (!ended) co_return std::move(ended).error();
    std::erase(batch_queue_, id);
    if (batch->holds_upload) data_.release_upload(batch->scoring.upload_id);
  }
  batch->removed = true;
  batches_.erase(id);
  auto clean = [dir = dir_.get(), id] { return dir->remove_work(Work::scorings, id); };
  co_return co_await run_on(io_, loop_, std::move(clean));
}

Task<Result<std::unique_ptr<ByteStream>>> LocalModels::scoring_result(cluster::Call call, std::string id) {
  const auto batch = find_batch(call.actor, id);
  if (!batch) co_return no_scoring();
  const Scoring& scoring = batch->scoring;
  if (scoring.state != JobState::done)
    co_return Error{Errc::conflict, scoring.error.empty() ? "this scoring is not done yet" : scoring.error};
  SAMOVAR_CO_TRY(const Key key, unwrap("scoring-key", id, batch->wrapped_key));
  auto open = [disk = &disk_, key, id,
               path = dir_->work_file(Work::scorings, id, output_name(OutputKind::result, 0))]()
      -> Result<std::shared_ptr<ResultStream::State>> {
    auto state = std::make_shared<ResultStream::State>();
    state->key = key;
    SAMOVAR_TRY(state->reader,
                security::SealedReader::open(*disk, path, *key, output_place(id, OutputKind::result, 0)));
    return state;
  };
  auto state = co_await run_on(io_, loop_, std::move(open));
  if (!state) co_return std::move(state).error();
  const json details = {{"model", scoring.model}, {"version", scoring.version}, {"rows", scoring.rows}};
  auto recorded = co_await cluster_.record(std::move(call), "scoring.read", id, "ok", details.dump());
  if (!recorded) co_return std::move(recorded).error();
  std::unique_ptr<ByteStream> stream = std::make_unique<ResultStream>(loop_, io_, std::move(*state));
  co_return stream;
}

// ---- the sweep ----

void LocalModels::arm_sweep() {
  sweep_timer_ = loop_.after(kSweepEvery, [this] {
    spawn(sweep_scorings());
    arm_sweep();
  });
}

// Seven days after its end the state forgets an operation, and the result goes with it.
Task<void> LocalModels::sweep_scorings() {
  std::vector<std::string> old;
  for (const auto& [id, batch] : batches_) {
    const auto& ended = batch->scoring.ended_at;
    if (ended && *ended + cluster::kOperationKept <= cluster_.now()) old.push_back(id);
  }
  for (const auto& id : old) {
    batches_.erase(id);
    auto clean = [dir = dir_.get(), id] { return dir->remove_work(Work::scorings, id); };
    ignore(co_await run_on(io_, loop_, std::move(clean)), "the next start collects it");
  }
}

}  // namespace samovar::jobs
