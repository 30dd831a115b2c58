#include "daemon/jobs/local_data.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.hpp"
#include "base/log.hpp"
#include "daemon/cluster/dataset_rights.hpp"
#include "daemon/jobs/pause.hpp"
#include "daemon/store/staging.hpp"
#include "security/aead.hpp"

namespace samovar::jobs {

using security::SecretBytes;

namespace {

constexpr std::chrono::seconds kSettlePause{1};

}  // namespace

LocalData::LocalData(Loop& loop, Rng& rng, cluster::Cluster& cluster, Disk& disk, Pool& io, DataKeys keys,
                     LocalDataOptions options, store::DataDir dir)
    : loop_(loop),
      rng_(rng),
      cluster_(cluster),
      disk_(disk),
      io_(io),
      keys_(std::move(keys)),
      options_(std::move(options)),
      dir_(std::make_unique<store::DataDir>(std::move(dir))),
      // One ingest and one look into an upload beside it.
      jobs_("jobs", 2, 16) {}

LocalData::~LocalData() { stop(); }

Result<std::unique_ptr<LocalData>> LocalData::open(Loop& loop, Rng& rng, cluster::Cluster& cluster,
                                                   Disk& disk, Pool& io, DataKeys keys,
                                                   LocalDataOptions options) {
  SAMOVAR_TRY(auto dir, store::DataDir::open(disk, options.root, options.space));
  if (!options.nodes) {
    cluster::StorageNode self;
    self.id = options.node_id;
    options.nodes = [self] { return std::vector<cluster::StorageNode>{self}; };
  }
  ReplicasOptions copies;
  copies.root = options.root;
  copies.node_id = options.node_id;
  copies.space = options.space;
  copies.grace = options.repair_grace;
  SAMOVAR_TRY(auto replicas, Replicas::open(loop, rng, options.exchange, disk, io,
                                            world_of(cluster, options.nodes), std::move(copies)));
  std::unique_ptr<LocalData> data(
      new LocalData(loop, rng, cluster, disk, io, std::move(keys), std::move(options), std::move(dir)));
  data->replicas_ = std::move(replicas);
  SAMOVAR_CHECK(data->recover());
  return data;
}

Result<void> LocalData::recover() {
  // Nothing is on its way yet.
  SAMOVAR_CHECK(dir_->collect_incoming());
  ignore(dir_->tend_ballast(), "the next sweep tries again");
  if (!replicas_->alone()) return open_uploads();  // the rest once the state is as new as the leader's
  SAMOVAR_CHECK(return_sources());
  SAMOVAR_CHECK(open_uploads());
  SAMOVAR_CHECK(hold_accepted());
  SAMOVAR_TRY(const auto collected, dir_->collect(known()));
  if (collected.files > 0)
    SAMOVAR_LOG(info, jobs, "removed what an interruption left", kv("files", collected.files),
                kv("bytes", collected.bytes));
  settled_ = true;
  return {};
}

Result<void> LocalData::open_uploads() {
  UploadOptions uploads;
  uploads.quota_bytes_per_user = [this]() -> std::uint64_t {
    const auto data = nlohmann::json::parse(cluster_.setting("data").json, nullptr, false);
    const auto quota = data.is_object() ? data.find("quota_bytes_per_user") : data.end();
    return data.is_object() && quota != data.end() && quota->is_number_unsigned()
               ? quota->get<std::uint64_t>()
               : 0;
  };
  SAMOVAR_TRY(uploads_, Uploads::open(loop_, rng_, disk_, io_, *dir_, keys_.upload, std::move(uploads)));
  return {};
}

bool LocalData::is_mine(const cluster::OperationRecord& record) const {
  return record.node_id == options_.node_id || record.node_id.empty();
}

// Uploads of which something is being made.
Result<void> LocalData::hold_accepted() {
  for (const auto& record : cluster_.operations()) {
    if (record.state != "queued" || !is_mine(record)) continue;
    const auto spec = decode_spec(record.spec_json);
    if (spec && !spec->upload_id.empty() && taken_.count(spec->upload_id) == 0)
      ignore(take_upload(spec->upload_id), "the ingest itself says what is wrong with its upload");
  }
  return {};
}

// An ingest that was cut between moving its source and its manifest gets its upload back; one whose manifest
// stands loses the key in the source's head, if a cut kept it.
Result<void> LocalData::return_sources() {
  for (const auto& record : cluster_.operations()) {
    const auto spec = decode_spec(record.spec_json);
    if (!spec || spec->upload_id.empty() || !is_mine(record) || running_ == record.id) continue;
    const std::string source = dir_->source(spec->dataset_id);
    if (!disk_.exists(source)) continue;
    if (record.state == "done") {
      if (auto dropped = store::StagingFile::drop_wrapped_key(disk_, source); !dropped)
        SAMOVAR_LOG(warn, jobs, "the source's own key is still in its file", kv("dataset", spec->dataset_id),
                    kv("error", dropped.error().message()));
    } else if (!cluster_.dataset(spec->dataset_id)) {
      SAMOVAR_CHECK(dir_->return_source(spec->dataset_id, spec->upload_id));
      if (uploads_) uploads_->adopt(spec->upload_id);
    }
  }
  return {};
}

store::DataDir::Known LocalData::known() const {
  store::DataDir::Known known;
  for (const auto& upload : uploads_->all()) known.uploads.insert(upload.id);
  for (const auto& ref : cluster_.version_refs()) {
    known.versions.insert(fmt::format("{}.{}", ref.dataset_id, ref.version));
    known.sources.insert(ref.dataset_id);
  }
  return known;
}

void LocalData::start() {
  replicas_->start();
  arm_sweep(std::chrono::minutes(1));
  if (settled_) return begin_accepted();
  spawn(settle());
}

// After a restart the state here is as old as the restart: what was committed meanwhile, perhaps of our own
// making, comes from the leader.
Task<void> LocalData::settle() {
  while (!stopping_) {
    auto caught_up = co_await replicas_->catch_up();
    if (stopping_) co_return;
    if (caught_up) break;
    co_await pause(loop_, kSettlePause);
  }
  if (stopping_) co_return;
  auto returned = return_sources();
  if (returned) returned = hold_accepted();
  if (!returned)
    SAMOVAR_LOG(warn, jobs, "what an interruption left is not put right",
                kv("error", returned.error().message()));
  settled_ = true;
  begin_accepted();
  for (auto& then : std::exchange(on_settled_, {})) then();
}

void LocalData::when_settled(std::function<void()> then) {
  if (settled_) return then();
  on_settled_.push_back(std::move(then));
}

void LocalData::begin_accepted() {
  auto records = cluster_.operations();
  std::reverse(records.begin(), records.end());  // oldest first: they were accepted in this order
  for (const auto& record : records) {
    if (record.state != "queued" || !parse_operation_kind(record.kind) || !is_mine(record)) continue;
    if (book_.find(record.id) != nullptr) continue;
    if (record.kind == to_string(OperationKind::scrub)) {
      book_.add(from_record(record));
      spawn(run_scrub(record.id));
      continue;
    }
    Operation operation = from_record(record);
    if (auto spec = decode_spec(record.spec_json)) operation.total_bytes = spec->bytes;
    book_.add(std::move(operation));
  }
  run_next();
}

void LocalData::on_change(const cluster::Change& change) {
  using Kind = cluster::Change::Kind;
  if (change.kind == Kind::nodes || change.kind == Kind::datasets || change.kind == Kind::models ||
      change.kind == Kind::jobs)
    replicas_->changed();
  if (change.kind != Kind::operations || !settled_ || stopping_) return;
  if (!change.id.empty()) {
    if (const auto record = cluster_.operation(change.id)) on_operation_changed(*record);
    return;
  }
  for (const auto& record : cluster_.operations()) on_operation_changed(record);
}

void LocalData::on_operation_changed(const cluster::OperationRecord& record) {
  if (!is_mine(record)) return;
  // Cancelled at another node.
  const auto running = cancels_.find(record.id);
  if (record.state == "cancelled" && running != cancels_.end()) running->second->store(true);
  // Given to us by another node.
  if (record.state == "queued" && record.kind == to_string(OperationKind::scrub) &&
      book_.find(record.id) == nullptr && !scrubbing_) {
    book_.add(from_record(record));
    spawn(run_scrub(record.id));
  }
}

void LocalData::stop() {
  stopping_ = true;
  if (replicas_) replicas_->stop();
  loop_.cancel(sweep_timer_);
  for (auto& [id, flag] : cancels_) flag->store(true);
}

std::uint64_t LocalData::damaged_shards() const {
  std::uint64_t count = 0;
  for (const auto& ref : cluster_.version_refs())
    if (const auto summary = cluster_.version_summary(ref.dataset_id, ref.version))
      count += summary->shards_damaged;
  return count;
}

// ---- keys ----

Bytes LocalData::wrap(std::string_view purpose, std::string_view id, const SecretBytes& key) const {
  return security::seal(keys_.wrap, key.view(), security::wrap_aad(purpose, id, options_.key_generation));
}

Result<SecretBytes> LocalData::unwrap(std::string_view purpose, std::string_view id, ByteView wrapped) const {
  return security::open_secret(keys_.wrap, wrapped, security::wrap_aad(purpose, id, options_.key_generation));
}

// ---- uploads ----

Task<Result<Upload>> LocalData::create_upload(cluster::Call call, NewUpload upload) {
  return uploads_->create(std::move(call), std::move(upload));
}

// An upload stays with the node that took it, and so does what is made of it.
Result<Upload> LocalData::upload(const cluster::Actor& actor, std::string_view id) const {
  auto found = uploads_->get(actor, id);
  if (found || found.error().code() != Errc::not_found || replicas_->alone()) return found;
  for (const auto& record : cluster_.operations()) {
    const auto spec = decode_spec(record.spec_json);
    if (!spec || spec->upload_id != id || record.owner_id != actor.user_id || is_mine(record)) continue;
    const auto node = cluster_.node(record.node_id);
    return Error{Errc::not_found, fmt::format("This upload is on the node {}: ask there.",
                                              node ? node->name : record.node_id)};
  }
  return Error{
      Errc::not_found,
      "There is no such upload of yours on this node. Until a file is read in, it is only on the node "
      "that took it: go on there, or, when that node is lost, upload the file again."};
}

std::vector<Upload> LocalData::uploads(const cluster::Actor& actor) const { return uploads_->list(actor); }

Task<Result<Upload>> LocalData::append(cluster::Call call, std::string id, std::uint64_t offset,
                                       NextPiece next) {
  return uploads_->append(std::move(call), std::move(id), offset, std::move(next));
}

Result<LocalData::HeldUpload> LocalData::hold_upload(const cluster::Actor& actor,
                                                     const std::string& upload_id) {
  SAMOVAR_TRY(const Upload found, upload(actor, upload_id));
  if (!found.complete())
    return Error{Errc::conflict, "this upload is not complete yet: send the rest of it first"};
  HeldUpload held;
  held.path = dir_->upload(upload_id);
  held.file_name = found.file_name;
  held.bytes = found.length;
  SAMOVAR_TRY(held.key, uploads_->key(upload_id));
  SAMOVAR_CHECK(take_upload(upload_id));
  return held;
}

void LocalData::release_upload(const std::string& upload_id) {
  if (taken_.erase(upload_id) > 0) uploads_->release(upload_id);
}

// For one data set only: at its end the file is moved away.
Result<void> LocalData::take_upload(const std::string& upload_id) {
  if (taken_.count(upload_id) != 0)
    return Error{Errc::conflict, "this upload is being read already: wait until that is done"};
  SAMOVAR_CHECK(uploads_->hold(upload_id));
  taken_.insert(upload_id);
  return {};
}

void LocalData::give_back_upload(const cluster::OperationRecord& record) {
  const auto spec = decode_spec(record.spec_json);
  if (spec && taken_.erase(spec->upload_id) > 0) uploads_->release(spec->upload_id);
}

Task<Result<void>> LocalData::delete_upload(cluster::Call call, std::string id) {
  return uploads_->remove(std::move(call), std::move(id));
}

Task<Result<ingest::Detection>> LocalData::inspect(cluster::Call call, std::string upload_id,
                                                   ingest::ParseHints hints) {
  SAMOVAR_CO_TRY(const Upload found, upload(call.actor, upload_id));
  if (!found.complete())
    co_return Error{Errc::conflict, "this upload is not complete yet: send the rest of it first"};
  InspectTask task;
  task.upload_path = dir_->upload(upload_id);
  task.job.file_name = found.file_name;
  task.job.hints_json = ingest::to_json(hints).dump();
  task.job.raw_bytes = found.length;
  SAMOVAR_CO_TRY(task.job.source_key, uploads_->key(upload_id));
  auto held = std::make_shared<InspectTask>(std::move(task));
  auto look = [this, held] { return run_inspect(options_.worker, std::move(*held)); };
  co_return co_await run_on(jobs_, loop_, std::move(look));
}

// ---- rights ----

bool LocalData::may_see(const cluster::Actor& actor, const cluster::Dataset& dataset) const {
  return cluster::may_see(actor, dataset);
}

bool LocalData::may_read_rows(const cluster::Actor& actor, const cluster::Dataset& dataset) const {
  return cluster::may_read_rows(actor, dataset);
}

bool LocalData::may_see_operation(const cluster::Actor& actor, std::string_view owner_id) {
  if (actor.auth == cluster::AuthKind::system || actor.role == cluster::Role::admin) return true;
  return !actor.user_id.empty() && actor.user_id == owner_id;
}

// What a user asked for is done in their name, also after a restart.
cluster::Call LocalData::call_for(const std::string& owner_id, std::string request_id) const {
  cluster::Call call;
  call.actor = cluster::Actor::system();
  if (const auto user = cluster_.user(owner_id)) {
    call.actor.user_id = user->id;
    call.actor.username = user->username;
    call.actor.role = user->role;
  }
  call.request_id = std::move(request_id);
  return call;
}

// ---- operations ----

Operation LocalData::shown(const cluster::OperationRecord& record) const {
  if (const Operation* live = book_.find(record.id)) return *live;
  Operation operation = from_record(record);
  if (auto spec = decode_spec(record.spec_json)) operation.total_bytes = spec->bytes;
  if (operation.state != OperationState::done || operation.dataset_id.empty()) return operation;
  operation.done_bytes = operation.total_bytes;
  if (const auto summary = cluster_.version_summary(operation.dataset_id, operation.version)) {
    operation.rows = summary->rows;
    operation.bad_rows = summary->bad_rows;
  }
  return operation;
}

std::vector<Operation> LocalData::operations(const cluster::Actor& actor) const {
  std::vector<Operation> all;
  for (const auto& record : cluster_.operations())
    if (parse_operation_kind(record.kind) && may_see_operation(actor, record.owner_id))
      all.push_back(shown(record));
  return all;
}

std::optional<Operation> LocalData::operation(const cluster::Actor& actor, std::string_view id) const {
  const auto record = cluster_.operation(id);
  if (!record || !parse_operation_kind(record->kind) || !may_see_operation(actor, record->owner_id))
    return std::nullopt;
  return shown(*record);
}

void LocalData::on_operation(std::function<void(const Operation&)> listener) {
  book_.listen(std::move(listener));
}

Task<Result<void>> LocalData::cancel(cluster::Call call, std::string operation_id) {
  const auto found = operation(call.actor, operation_id);
  if (!found) co_return Error{Errc::not_found, "there is no such operation"};
  if (found->ended_at) co_return Error{Errc::conflict, "this operation has ended already"};
  if (found->step == "placing")
    co_return Error{Errc::conflict, "the data set is being put in place: delete it when it is there"};
  if (const auto running = cancels_.find(operation_id); running != cancels_.end()) {
    running->second->store(true);  // its end is recorded where it ends
    co_return Result<void>{};
  }
  const auto record = cluster_.operation(operation_id);
  cluster::OperationEnd end;
  end.id = operation_id;
  end.state = "cancelled";
  auto ended = co_await cluster_.end_operation(std::move(call), std::move(end));
  if (!ended) co_return std::move(ended).error();
  if (record) give_back_upload(*record);
  book_.end(operation_id, OperationState::cancelled, "", cluster_.now());
  co_return Result<void>{};
}

}  // namespace samovar::jobs
