// The registry: what there is of models, who may use them, which one serves, and how they leave the box.
#include <fmt/format.h>

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

constexpr std::size_t kEvaluationBytesMax = 64u << 20;

Error no_model() { return {Errc::not_found, "there is no such model"}; }

std::string_view word_of(trainer::ExportKind kind) {
  switch (kind) {
    case trainer::ExportKind::onnx:
      return "onnx";
    case trainer::ExportKind::c:
      return "c";
    case trainer::ExportKind::json:
      return "json";
  }
  return "json";
}

}  // namespace

void LocalModels::tell_model(const std::string& name) const {
  if (listener_.model) listener_.model(name);
}

std::vector<cluster::Model> LocalModels::models(const cluster::Actor& actor) const {
  std::vector<cluster::Model> seen;
  for (auto& model : cluster_.models())
    if (cluster::may_see_model(actor, model)) seen.push_back(std::move(model));
  return seen;
}

Result<cluster::Model> LocalModels::model(const cluster::Actor& actor, std::string_view name) const {
  auto model = cluster_.model(name);
  if (!model || !cluster::may_see_model(actor, *model)) return no_model();
  return *std::move(model);
}

Result<std::vector<cluster::ModelVersion>> LocalModels::versions(const cluster::Actor& actor,
                                                                 std::string_view name) const {
  SAMOVAR_CHECK(model(actor, name));
  return cluster_.model_versions(name);
}

Result<LocalModels::Found> LocalModels::find_version(const cluster::Actor& actor, const std::string& name,
                                                     std::uint32_t version) const {
  Found found;
  SAMOVAR_TRY(found.model, model(actor, name));
  auto one = cluster_.model_version(name, version);
  if (!one) return Error{Errc::not_found, "the model has no such version"};
  found.version = *std::move(one);
  found.store_id = store_id_of(found.version);
  if (found.store_id.empty() || found.version.wrapped_key.empty())
    return Error{Errc::not_found, "this version's files are not on this box"};
  return found;
}

Result<LocalModels::Key> LocalModels::key_of(const Found& found) const {
  return unwrap("model-key", found.store_id, found.version.wrapped_key);
}

Result<cluster::Model> LocalModels::manageable(const cluster::Actor& actor, const std::string& name) const {
  SAMOVAR_TRY(auto found, model(actor, name));
  if (!cluster::may_manage_model(actor, found))
    return Error{Errc::denied, "only its owner or an administrator may change a model"};
  return found;
}

Task<Result<Replicas::HoldPtr>> LocalModels::bring(const Found& found, std::string file) const {
  std::vector<std::string> keys = {store::BlobKey::of_model(found.store_id, file)};
  return data_.replicas().bring(std::move(keys));
}

Task<void> LocalModels::spread(std::string store_id, cluster::ModelVersion& version) {
  std::vector<cluster::StoredFile> files;
  for (const auto& one : version.files) {
    cluster::StoredFile& file = files.emplace_back();
    file.key = store::BlobKey::of_model(store_id, one.name);
    file.bytes = one.stored_bytes;
    file.hash = one.hash;
    file.wanted = data_.replicas().wanted(0);
  }
  auto holders = co_await data_.replicas().spread(std::move(files));
  for (std::size_t i = 0; i < version.files.size(); ++i) version.files[i].node_ids = std::move(holders[i]);
}

Task<Result<json>> LocalModels::evaluation(cluster::Call call, std::string name, std::uint32_t version) {
  SAMOVAR_CO_TRY(const Found found, find_version(call.actor, name, version));
  SAMOVAR_CO_TRY(const Key key, key_of(found));
  auto hold = co_await bring(found, "evaluation");
  if (!hold) co_return std::move(hold).error();
  auto work = [disk = &disk_, key, id = found.store_id,
               path = dir_->work_file(Work::models, found.store_id, "evaluation")]() -> Result<json> {
    SAMOVAR_TRY(const Bytes text,
                security::read_sealed_file(*disk, path, *key, output_place(id, OutputKind::evaluation, 0),
                                           kEvaluationBytesMax));
    json value = json::parse(text.begin(), text.end(), nullptr, false);
    if (!value.is_object()) return Error{Errc::corrupt, "the evaluation of this model cannot be read"};
    return value;
  };
  co_return co_await run_on(io_, loop_, std::move(work));
}

Task<Result<cluster::Model>> LocalModels::change(cluster::Call call, std::string name,
                                                 cluster::ModelChange change,
                                                 std::optional<std::uint64_t> if_revision) {
  SAMOVAR_CO_CHECK(manageable(call.actor, name));
  co_return co_await cluster_.change_model(std::move(call), std::move(name), std::move(change), if_revision);
}

Task<Result<cluster::Model>> LocalModels::promote(cluster::Call call, std::string name,
                                                  std::uint32_t version) {
  SAMOVAR_CO_CHECK(manageable(call.actor, name));
  co_return co_await cluster_.promote_model(std::move(call), std::move(name), version);
}

Task<Result<cluster::Model>> LocalModels::rollback(cluster::Call call, std::string name) {
  SAMOVAR_CO_CHECK(manageable(call.actor, name));
  co_return co_await cluster_.rollback_model(std::move(call), std::move(name));
}

Task<Result<cluster::Model>> LocalModels::grant(cluster::Call call, std::string name, std::string user_id,
                                                bool on) {
  SAMOVAR_CO_CHECK(manageable(call.actor, name));
  if (on) co_return co_await cluster_.grant_model(std::move(call), std::move(name), std::move(user_id));
  co_return co_await cluster_.ungrant_model(std::move(call), std::move(name), std::move(user_id));
}

Task<Result<void>> LocalModels::protect_version(cluster::Call call, std::string name, std::uint32_t version,
                                                bool on) {
  SAMOVAR_CO_CHECK(manageable(call.actor, name));
  auto done = co_await cluster_.protect_model_version(std::move(call), std::move(name), version, on);
  if (!done) co_return std::move(done).error();
  co_return Result<void>{};
}

// The key first: what a cut leaves of the files is noise, and the next start removes it.
Task<Result<void>> LocalModels::remove_version(cluster::Call call, std::string name, std::uint32_t version) {
  SAMOVAR_CO_CHECK(manageable(call.actor, name));
  const auto one = version == 0 ? std::nullopt : cluster_.model_version(name, version);
  if (!one) co_return Error{Errc::not_found, "the model has no such version"};
  const std::string store_id = store_id_of(*one);
  auto removed = co_await cluster_.remove_model_version(std::move(call), name, version);
  if (!removed) co_return std::move(removed).error();
  SAMOVAR_FAILPOINT("jobs.model.removed");
  warm_.drop(store_id);
  if (!store_id.empty()) {
    auto clean = [dir = dir_.get(), store_id] { return dir->remove_work(Work::models, store_id); };
    auto cleaned = co_await run_on(io_, loop_, std::move(clean));
    if (!cleaned)
      SAMOVAR_LOG(warn, jobs, "the files of a removed model, useless without its key, are still there",
                  kv("model", name), kv("error", cleaned.error().message()));
  }
  co_return Result<void>{};
}

Task<Result<Bytes>> LocalModels::read_model(const Found& found) const {
  SAMOVAR_CO_TRY(const Key key, key_of(found));
  auto hold = co_await bring(found, "model");
  if (!hold) co_return std::move(hold).error();
  auto work = [disk = &disk_, key, id = found.store_id,
               path = dir_->work_file(Work::models, found.store_id, "model")] {
    return security::read_sealed_file(*disk, path, *key, output_place(id, OutputKind::model, 0),
                                      kModelBytesMax);
  };
  co_return co_await run_on(io_, loop_, std::move(work));
}

// Nothing leaves the box unrecorded: when it cannot be written down, it does not happen.
Task<Result<trainer::Export>> LocalModels::export_version(cluster::Call call, std::string name,
                                                          std::uint32_t version, trainer::ExportKind kind,
                                                          std::string reason) {
  SAMOVAR_CO_TRY(const Found found, find_version(call.actor, name, version));
  if (!cluster::may_export_model(call.actor, found.model))
    co_return Error{Errc::denied,
                    "you may see this model but not take it away: its owner can grant you that"};
  auto bytes = co_await read_model(found);
  if (!bytes) co_return std::move(bytes).error();
  auto work = [bytes = std::make_shared<const Bytes>(std::move(*bytes)), kind, name = found.model.name,
               number = found.version.version] { return trainer::export_model(*bytes, kind, name, number); };
  auto made = co_await run_on(cpu_, loop_, std::move(work));
  if (!made) co_return std::move(made).error();
  const json details = {{"version", found.version.version},
                        {"format", word_of(kind)},
                        {"reason", reason.substr(0, 500)},
                        {"bytes", made->bytes.size()}};
  auto recorded = co_await cluster_.record(std::move(call), "model.export", found.model.name, "ok",
                                           details.dump(-1, ' ', false, json::error_handler_t::replace));
  if (!recorded) co_return std::move(recorded).error();
  co_return std::move(*made);
}

namespace {

struct Imported {
  Bytes model;
  std::string signature_json;
  std::string kind;
};

Result<Imported> read_import(const std::string& text) {
  Imported imported;
  SAMOVAR_TRY(imported.model, trainer::import_model(text));
  SAMOVAR_TRY(const auto scorer, trainer::Scorer::open(imported.model));
  imported.signature_json =
      scorer->pipeline().signature().dump(-1, ' ', false, json::error_handler_t::replace);
  if (imported.signature_json.size() > cluster::kSignatureBytesMax)
    return Error{Errc::invalid, "the model has too many inputs and levels to keep"};
  imported.kind = "glm";
  return imported;
}

}  // namespace

Task<Result<cluster::ModelVersion>> LocalModels::import_json(cluster::Call call, std::string name,
                                                             std::string text) {
  SAMOVAR_CO_CHECK(cluster::check_model_name(name));
  auto held = std::make_shared<const std::string>(std::move(text));
  auto read = [held] { return read_import(*held); };
  auto imported = co_await run_on(cpu_, loop_, std::move(read));
  if (!imported) co_return std::move(imported).error();
  const std::string id = new_id("mdl", loop_.clock(), rng_);
  auto key = std::make_shared<const SecretBytes>(SecretBytes::random(security::kAeadKeyBytes));
  cluster::NewModelVersion model;
  model.name = name;
  model.kind = imported->kind;
  auto& version = model.version;
  version.created_by = call.actor.user_id;
  version.code_version = options_.version;
  version.spec_json = "{}";
  version.signature_json = imported->signature_json;
  version.headline_json = "{}";
  version.wrapped_key = wrap("model-key", id, *key);
  version.evaluation_name = evaluation_name_of(id);
  struct Stored {
    security::Hash256 model{};
    security::Hash256 evaluation{};
    std::uint64_t model_bytes = 0;  // of the sealed files
    std::uint64_t evaluation_bytes = 0;
  };
  auto write = [this, id, key, bytes = std::move(imported->model)]() -> Result<Stored> {
    SAMOVAR_CHECK(dir_->check_room(bytes.size() + kRoomPerFile));
    SAMOVAR_CHECK(dir_->make_work(Work::models, id, true));
    const auto put = [&](OutputKind kind, ByteView plain) {
      return security::write_sealed_file(disk_, dir_->work_file(Work::models, id, output_name(kind, 0)), *key,
                                         output_place(id, kind, 0), plain);
    };
    Stored stored;
    SAMOVAR_TRY(stored.model, put(OutputKind::model, bytes));
    const std::string notes = R"({"notes":["Imported: it was not evaluated on this box."]})";
    SAMOVAR_TRY(stored.evaluation, put(OutputKind::evaluation, as_bytes(notes)));
    SAMOVAR_CHECK(dir_->sync_work(Work::models, id));
    const auto size = [this, &id](const char* file_name) -> Result<std::uint64_t> {
      SAMOVAR_TRY(const auto file, disk_.open(dir_->work_file(Work::models, id, file_name), OpenMode::read));
      return file->size();
    };
    SAMOVAR_TRY(stored.model_bytes, size("model"));
    SAMOVAR_TRY(stored.evaluation_bytes, size("evaluation"));
    return stored;
  };
  auto stored = co_await run_on(io_, loop_, std::move(write));
  if (!stored) co_return std::move(stored).error();
  version.hash = to_bytes(ByteView(stored->model));
  version.evaluation_hash = to_bytes(ByteView(stored->evaluation));
  version.stored_bytes = stored->model_bytes;
  version.files = {{"model", stored->model_bytes, version.hash},
                   {"evaluation", stored->evaluation_bytes, version.evaluation_hash}};
  co_await spread(id, version);
  auto committed = co_await cluster_.commit_model(std::move(call), std::move(model));
  if (!committed) {
    // Whether it is in the log is not known then: the next start sees, and keeps or collects the files.
    if (committed.error().code() != Errc::unavailable) {
      auto clean = [dir = dir_.get(), id] { return dir->remove_work(Work::models, id); };
      ignore(co_await run_on(io_, loop_, std::move(clean)), "the next start collects it");
    }
    co_return std::move(committed).error();
  }
  co_return committed;
}

}  // namespace samovar::jobs
