// From accepted work to a data set. The order is what makes a cut harmless:
//
//   accept     the operation is in the replicated state: a restart begins it anew
//   read in    the worker fills incoming/<op>, which nothing names
//   place      incoming/<op> → versions/<dst>.<v>, uploads/<upl> → sources/<dst>; still nothing names them
//   spread     as many nodes as wanted, and to be had, have them durably; still nothing names them
//   commit     one command: data set, version, keys, operation done. Only now it exists
//
// After a cut before the commit, recover() takes the source back to the uploads and removes the rest.
#include <fmt/format.h>

#include "base/failpoint.hpp"
#include "base/ids.hpp"
#include "base/json.hpp"
#include "base/log.hpp"
#include "daemon/cluster/command.hpp"
#include "daemon/cluster/name_key.hpp"
#include "daemon/jobs/local_data.hpp"
#include "daemon/jobs/pause.hpp"
#include "daemon/store/staging.hpp"
#include "security/aead.hpp"
#include "security/sealed_format.hpp"

namespace samovar::jobs {

using security::SecretBytes;

struct LocalData::Work {
  std::string operation_id;
  OperationKind kind = OperationKind::ingest;
  std::string owner_id;
  IngestSpec spec;
  std::uint32_t version = 1;
  std::string source_path;
  SecretBytes source_key;
  SecretBytes data_key;
  Replicas::HoldPtr source;    // of a new version: stays here while it is read
  cluster::ObjectRecord kept;  // the source as it lies on the disk
  std::shared_ptr<std::atomic<bool>> cancelled;
};

namespace {

constexpr unsigned kCommitTriesMax = 40;
constexpr std::chrono::milliseconds kCommitPause{500};
constexpr std::uint64_t kRoomPerFile = std::uint64_t{64} << 20;

ingest::WorkerJob job_of(const IngestSpec& spec, std::uint32_t version, unsigned threads,
                         const SecretBytes& source_key, const SecretBytes& data_key) {
  ingest::WorkerJob job;
  job.file_name = spec.file_name;
  job.hints_json = ingest::to_json(spec.hints).dump();
  job.changes = spec.columns;
  job.schema_json = spec.schema_json;
  job.dataset_id = spec.dataset_id;
  job.version = version;
  job.seed = spec.seed;
  job.raw_bytes = spec.bytes;
  job.threads = threads;
  job.source_key = source_key.clone();
  job.data_key = data_key.clone();
  return job;
}

}  // namespace

// The state refuses a name that is taken, but only at the end of the work: better now.
Result<void> LocalData::check_name(const std::string& name) const {
  SAMOVAR_CHECK(cluster::check_dataset_name(name));
  if (cluster_.dataset_by_name(name)) return cluster::refuse(cluster::Refusal::dataset_name_taken);
  return {};
}

Task<Result<Operation>> LocalData::start_ingest(cluster::Call call, std::string upload_id,
                                                IngestRequest request) {
  SAMOVAR_CO_TRY(const Upload found, upload(call.actor, upload_id));
  if (!found.complete())
    co_return Error{Errc::conflict, "this upload is not complete yet: send the rest of it first"};
  SAMOVAR_CO_CHECK(check_name(request.name));
  IngestSpec spec;
  spec.upload_id = upload_id;
  spec.dataset_id = new_id("dst", loop_.clock(), rng_);
  spec.name = request.name;
  spec.description = std::move(request.description);
  spec.hints = std::move(request.hints);
  spec.columns = std::move(request.columns);
  spec.file_name = found.file_name;
  spec.sha256 = found.sha256;
  spec.bytes = found.length;
  SAMOVAR_CO_CHECK(take_upload(upload_id));
  auto accepted = co_await accept(std::move(call), OperationKind::ingest, request.name, std::move(spec));
  if (!accepted && taken_.erase(upload_id) > 0) uploads_->release(upload_id);
  co_return accepted;
}

Task<Result<Operation>> LocalData::start_version(cluster::Call call, std::string dataset_id,
                                                 IngestRequest request) {
  const auto dataset = cluster_.dataset(dataset_id);
  if (!dataset || !may_see(call.actor, *dataset))
    co_return Error{Errc::not_found, "there is no such data set"};
  const auto latest = cluster_.dataset_version(dataset_id);
  if (!dataset->has_source || !latest || !cluster_.wrapped_source_key(dataset_id))
    co_return Error{Errc::conflict,
                    "the file this data set was made from is not kept: upload it again as a new data set"};
  IngestSpec spec;
  spec.dataset_id = dataset_id;
  SAMOVAR_CO_TRY(spec.hints, hints_from(latest->options_json, request.hints));
  if (is_empty(request.hints)) {
    SAMOVAR_CO_TRY(trainer::Schema schema, trainer::decode_schema(latest->schema_json));
    SAMOVAR_CO_CHECK(ingest::apply(request.columns, schema));
    spec.schema_json = trainer::encode_schema(schema);
  } else {
    // Read differently, the file may have other columns: what it has now is found anew.
    spec.columns = std::move(request.columns);
  }
  spec.file_name = latest->source_name;
  spec.sha256 = latest->source_sha256;
  spec.bytes = latest->source_bytes;
  auto accepted = co_await accept(std::move(call), OperationKind::version, dataset->name, std::move(spec));
  co_return accepted;
}

Task<Result<Operation>> LocalData::accept(cluster::Call call, OperationKind kind, std::string title,
                                          IngestSpec spec) {
  if (stopping_) co_return Error{Errc::unavailable, "the node is stopping: try again in a moment"};
  spec.seed = rng_.next() >> 1;  // a signed number in the state
  cluster::OperationRecord record;
  record.kind = std::string(to_string(kind));
  record.owner_id = call.actor.user_id;
  record.node_id = options_.node_id;
  record.title = std::move(title);
  record.spec_json = encode_spec(spec);
  if (kind == OperationKind::version) record.dataset_id = spec.dataset_id;
  auto begun = co_await cluster_.begin_operation(std::move(call), std::move(record));
  if (!begun) co_return std::move(begun).error();
  SAMOVAR_FAILPOINT("jobs.accept.after");
  Operation operation = from_record(*begun);
  operation.total_bytes = spec.bytes;
  // The same request again finds what the first one began.
  if (book_.find(operation.id) == nullptr) book_.add(operation);
  run_next();
  if (const Operation* now = book_.find(operation.id)) operation = *now;
  co_return operation;
}

void LocalData::run_next() {
  if (stopping_ || !running_.empty()) return;
  const Operation* next = book_.next_queued();
  if (next == nullptr) return;
  running_ = next->id;
  // From the loop, so that whoever accepted it answers first.
  loop_.post([this, id = running_] { spawn(run(id)); });
}

Task<void> LocalData::run(std::string operation_id) {
  const auto record = cluster_.operation(operation_id);
  if (!record || record->state != "queued") {  // cancelled just now
    running_.clear();
    run_next();
    co_return;
  }
  auto cancelled = std::make_shared<std::atomic<bool>>(false);
  cancels_[operation_id] = cancelled;
  auto done = Result<void>{};
  auto spec = decode_spec(record->spec_json);
  if (!spec) {
    done = std::move(spec).error();
  } else {
    auto work = std::make_shared<Work>();
    work->operation_id = operation_id;
    work->kind = parse_operation_kind(record->kind).value_or(OperationKind::ingest);
    work->owner_id = record->owner_id;
    work->spec = std::move(*spec);
    work->cancelled = cancelled;
    done = co_await carry_out(std::move(work));
  }
  cancels_.erase(operation_id);
  if (stopping_) co_return;  // it stays accepted, and begins anew
  const bool was_cancelled = cancelled->load();
  co_await conclude(operation_id, std::move(done), was_cancelled);
  running_.clear();
  run_next();
}

Task<Result<void>> LocalData::carry_out(std::shared_ptr<Work> work) {
  SAMOVAR_CO_CHECK(find_source(*work));
  const auto begin = [](Operation& operation) {
    operation.state = OperationState::running;
    operation.step = "checking";
  };
  book_.change(work->operation_id, begin);
  if (work->kind == OperationKind::version) {
    std::vector<std::string> keys = {store::BlobKey::of_source(work->spec.dataset_id)};
    auto brought = co_await replicas_->bring(std::move(keys));
    if (!brought) co_return std::move(brought).error().within("the file this data set was made from");
    work->source = std::move(*brought);
  }
  auto report = co_await read_in(work);
  if (report && !work->cancelled->load() && !stopping_) co_return co_await place(work, std::move(*report));
  auto clean = [dir = dir_.get(), id = work->operation_id] { return dir->remove_incoming(id); };
  ignore(co_await run_on(io_, loop_, std::move(clean)), "the next start collects it");
  if (!report) co_return std::move(report).error();
  co_return Error{Errc::conflict, "cancelled"};
}

Result<void> LocalData::find_source(Work& work) {
  work.data_key = SecretBytes::random(security::kAeadKeyBytes);
  if (work.kind == OperationKind::version) {
    const auto dataset = cluster_.dataset(work.spec.dataset_id);
    const auto wrapped = cluster_.wrapped_source_key(work.spec.dataset_id);
    if (!dataset || !wrapped)
      return Error{Errc::not_found, "the data set was removed before its new version was made"};
    work.version = dataset->version + 1;
    work.source_path = dir_->source(work.spec.dataset_id);
    SAMOVAR_TRY(work.source_key, unwrap("source-key", work.spec.dataset_id, *wrapped));
    return {};
  }
  work.source_path = dir_->upload(work.spec.upload_id);
  SAMOVAR_TRY(work.source_key, uploads_->key(work.spec.upload_id));
  return {};
}

Task<Result<ingest::WorkerReport>> LocalData::read_in(std::shared_ptr<Work> work) {
  IngestTask task;
  task.upload_path = work->source_path;
  task.incoming_dir = dir_->incoming(work->operation_id);
  task.job = job_of(work->spec, work->version, options_.threads, work->source_key, work->data_key);
  task.check_room = [dir = dir_.get()] { return dir->check_room(kRoomPerFile); };
  auto progress = [this, id = work->operation_id](const ingest::WorkerProgress& step) {
    loop_.post([this, id, step] {
      book_.change(id, [&step](Operation& operation) {
        operation.step = "reading";
        operation.done_bytes = step.raw_bytes;
        operation.rows = step.rows;
        operation.bad_rows = step.bad_rows;
      });
    });
  };
  // Shared, because work on a pool is copied; the task holds keys.
  auto held = std::make_shared<IngestTask>(std::move(task));
  auto run_worker = [this, held, progress, cancelled = work->cancelled,
                     id = work->operation_id]() -> Result<ingest::WorkerReport> {
    SAMOVAR_CHECK(dir_->make_incoming(id));
    return run_ingest_worker(options_.worker, std::move(*held), *cancelled, progress);
  };
  co_return co_await run_on(jobs_, loop_, std::move(run_worker));
}

cluster::NewDataset LocalData::manifest_of(const Work& work, const ingest::WorkerReport& report) const {
  cluster::NewDataset manifest;
  manifest.operation_id = work.operation_id;
  manifest.dataset.id = work.spec.dataset_id;
  auto& version = manifest.version;
  if (work.kind == OperationKind::ingest) {
    manifest.dataset.name = work.spec.name;
    manifest.dataset.description = work.spec.description;
    manifest.dataset.owner_id = work.owner_id;
    manifest.wrapped_source_key = wrap("source-key", work.spec.dataset_id, work.source_key);
  }
  version.dataset_id = work.spec.dataset_id;
  version.version = work.version;
  version.created_by = work.owner_id;
  version.schema_json = report.schema_json;
  version.options_json = report.options_json;
  version.rows = report.rows;
  version.bad_rows = report.bad_rows;
  version.seed = work.spec.seed;
  version.source_name = work.spec.file_name;
  version.source_sha256 = work.spec.sha256;
  version.source_bytes = work.spec.bytes;
  version.notes = report.notes;
  version.wrapped_key =
      wrap("data-key", fmt::format("{}.{}", work.spec.dataset_id, work.version), work.data_key);
  version.key_commitment = to_bytes(security::key_commitment_of(work.data_key));
  for (const auto& file : report.files) {
    if (file.kind == ingest::FileKind::shard) {
      cluster::ShardRecord shard;
      shard.number = file.number;
      shard.rows = file.rows;
      shard.blocks = file.blocks;
      shard.plain_bytes = file.plain_bytes;
      shard.stored_bytes = file.stored_bytes;
      shard.hash = to_bytes(file.hash);
      version.shards.push_back(std::move(shard));
    } else {
      version.objects.push_back({ingest::file_name_of(file.kind, 0), file.stored_bytes, to_bytes(file.hash)});
    }
  }
  return manifest;
}

Task<Result<void>> LocalData::place(std::shared_ptr<Work> work, ingest::WorkerReport report) {
  const auto step = [&report, &work](Operation& operation) {
    operation.step = "placing";
    operation.done_bytes = work->spec.bytes;
    operation.rows = report.rows;
    operation.bad_rows = report.bad_rows;
  };
  book_.change(work->operation_id, step);
  auto move_in = [dir = dir_.get(), work, blobs = replicas_->blobs()]() -> Result<void> {
    SAMOVAR_FAILPOINT("jobs.publish.before");
    SAMOVAR_CHECK(dir->publish(work->operation_id, work->spec.dataset_id, work->version));
    SAMOVAR_FAILPOINT("jobs.publish.after");
    if (work->kind == OperationKind::ingest)
      SAMOVAR_CHECK(dir->keep_source(work->spec.upload_id, work->spec.dataset_id));
    SAMOVAR_FAILPOINT("jobs.source.after");
    if (work->kind == OperationKind::ingest) {
      SAMOVAR_TRY(const auto key, store::BlobKey::parse(store::BlobKey::of_source(work->spec.dataset_id)));
      SAMOVAR_TRY(work->kept.stored_bytes, blobs.size(key));
      SAMOVAR_TRY(const security::Hash256 hash, blobs.hash(key));
      work->kept.hash = to_bytes(ByteView(hash));
      work->kept.name = "source";
    }
    return {};
  };
  auto moved = co_await run_on(io_, loop_, std::move(move_in));
  if (!moved) {
    co_await undo_place(work);
    co_return std::move(moved).error();
  }
  auto manifest = manifest_of(*work, report);
  co_await spread(work, manifest);
  SAMOVAR_FAILPOINT("jobs.commit.before");
  auto committed = co_await commit(*work, std::move(manifest));
  if (!committed) {
    // Whether it is in the log is not known: the next start sees, and keeps or collects the files.
    if (committed.error().code() != Errc::unavailable) co_await undo_place(work);
    co_return std::move(committed).error();
  }
  SAMOVAR_FAILPOINT("jobs.commit.after");
  const auto exists = [&committed, &work](Operation& operation) {
    operation.dataset_id = committed->id;
    operation.version = work->version;
  };
  book_.change(work->operation_id, exists);
  if (work->kind == OperationKind::ingest) {
    uploads_->forget(work->spec.upload_id);
    taken_.erase(work->spec.upload_id);
    // From now on the source opens only with the key in the replicated state, which destruction removes.
    auto drop = [disk = &disk_, path = dir_->source(work->spec.dataset_id)] {
      return store::StagingFile::drop_wrapped_key(*disk, path);
    };
    auto dropped = co_await run_on(io_, loop_, std::move(drop));
    if (!dropped)
      SAMOVAR_LOG(warn, jobs, "the source's own key is still in its file; the next start removes it",
                  kv("dataset", work->spec.dataset_id), kv("error", dropped.error().message()));
  }
  co_return Result<void>{};
}

// Every file to those who shall hold it: the manifest says who does.
Task<void> LocalData::spread(std::shared_ptr<Work> work, cluster::NewDataset& manifest) {
  manifest.source = work->kept;
  const auto dataset = cluster_.dataset(work->spec.dataset_id);
  const unsigned wanted = replicas_->wanted(dataset ? dataset->copies : 0);
  auto& version = manifest.version;
  std::vector<cluster::StoredFile> files;
  const auto add = [&files, wanted](std::string key, std::uint64_t bytes, const Bytes& hash) {
    cluster::StoredFile& file = files.emplace_back();
    file.key = std::move(key);
    file.bytes = bytes;
    file.wanted = wanted;
    file.hash = hash;
  };
  const auto key_of = [&work](const std::string& name) {
    return store::BlobKey::of_version(work->spec.dataset_id, work->version, name);
  };
  for (const auto& shard : version.shards)
    add(key_of(std::to_string(shard.number)), shard.stored_bytes, shard.hash);
  for (const auto& object : version.objects) add(key_of(object.name), object.stored_bytes, object.hash);
  if (!manifest.source.name.empty())
    add(store::BlobKey::of_source(work->spec.dataset_id), manifest.source.stored_bytes, manifest.source.hash);
  auto holders = co_await replicas_->spread(std::move(files));
  std::size_t at = 0;
  for (auto& shard : version.shards) shard.node_ids = std::move(holders[at++]);
  for (auto& object : version.objects) object.node_ids = std::move(holders[at++]);
  if (!manifest.source.name.empty()) manifest.source.node_ids = std::move(holders[at++]);
}

// "Unavailable" leaves open whether it happened: the same request id makes it happen once.
Task<Result<cluster::Dataset>> LocalData::commit(const Work& work, cluster::NewDataset manifest) {
  for (unsigned tries = 1;; ++tries) {
    cluster::Call call = call_for(work.owner_id, work.operation_id + ".commit");
    cluster::NewDataset copy = manifest;
    auto committed = co_await cluster_.commit_dataset(std::move(call), std::move(copy));
    if (committed || tries >= kCommitTriesMax || stopping_) co_return committed;
    const Errc code = committed.error().code();
    if (code != Errc::unavailable && code != Errc::busy && code != Errc::timeout) co_return committed;
    co_await pause(loop_, kCommitPause);
  }
}

Task<void> LocalData::undo_place(std::shared_ptr<Work> work) {
  auto move_out = [dir = dir_.get(), work]() -> Result<void> {
    if (work->kind == OperationKind::ingest)
      SAMOVAR_CHECK(dir->return_source(work->spec.dataset_id, work->spec.upload_id));
    SAMOVAR_CHECK(dir->remove_version(work->spec.dataset_id, work->version));
    return dir->remove_incoming(work->operation_id);
  };
  auto undone = co_await run_on(io_, loop_, std::move(move_out));
  if (!undone)
    SAMOVAR_LOG(warn, jobs, "what a failed ingest left is removed at the next start",
                kv("operation", work->operation_id), kv("error", undone.error().message()));
}

Task<void> LocalData::conclude(std::string operation_id, Result<void> done, bool cancelled) {
  const WallTime now = cluster_.now();
  if (done) {
    book_.end(operation_id, OperationState::done, "", now);
    co_return;
  }
  const auto record = cluster_.operation(operation_id);
  if (record) give_back_upload(*record);
  const Errc code = done.error().code();
  if (code == Errc::no_space) {
    auto make_room = [dir = dir_.get()] { return dir->drop_ballast(); };
    ignore(co_await run_on(io_, loop_, std::move(make_room)), "there may be none");
  }
  cluster::OperationEnd end;
  end.id = operation_id;
  end.state = cancelled ? "cancelled" : "failed";
  if (!cancelled) end.error = done.error().message();
  std::string sentence = end.error;
  SAMOVAR_LOG(info, jobs, "an ingest did not end well", kv("operation", operation_id), kv("state", end.state),
              kv("code", to_string(code)));
  cluster::Call call = call_for(record ? record->owner_id : "", "");
  auto ended = co_await cluster_.end_operation(std::move(call), std::move(end));
  if (!ended) {
    const auto after = cluster_.operation(operation_id);
    if (after && after->state == "done") {  // the commit, of which nothing was known, had happened
      book_.end(operation_id, OperationState::done, "", now);
      co_return;
    }
    SAMOVAR_LOG(warn, jobs, "the end of an operation was not recorded: the next start begins it anew",
                kv("operation", operation_id), kv("error", ended.error().message()));
  }
  book_.end(operation_id, cancelled ? OperationState::cancelled : OperationState::failed, std::move(sentence),
            now);
}

}  // namespace samovar::jobs
