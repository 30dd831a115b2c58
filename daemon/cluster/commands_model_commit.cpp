// model.commit: a version of a model, and the end of the job that made it. Before it there is neither.
#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>

#include "base/encoding.hpp"
#include "daemon/cluster/copies.hpp"
#include "daemon/cluster/dataset_commands.hpp"
#include "daemon/cluster/model_commands.hpp"
#include "daemon/cluster/rows_models.hpp"

namespace samovar::cluster {
namespace {

constexpr std::int64_t kModelsMax = 2000;
constexpr std::size_t kFileNodesMax = 16;
// Addresses under /models that are not a model's.
constexpr std::array<std::string_view, 1> kReserved = {"compare"};

Result<ModelVersion> read_version(const Fields& body) {
  ModelVersion version;
  SAMOVAR_TRY(version.created_by, body.text("created_by", 64, 1));
  SAMOVAR_TRY(version.job_id, body.text("job_id", 64));
  SAMOVAR_TRY(version.dataset_id, body.text("dataset_id", 64));
  SAMOVAR_TRY(const std::int64_t dataset_version, body.number("dataset_version", 0, UINT32_MAX));
  version.dataset_version = static_cast<std::uint32_t>(dataset_version);
  SAMOVAR_TRY(version.dataset_hash, body.text("dataset_hash", 128));
  SAMOVAR_TRY(version.code_version, body.text("code_version", 64));
  SAMOVAR_TRY(version.spec_json, read_document(body, "spec", kSpecBytesMax));
  SAMOVAR_TRY(version.signature_json, read_document(body, "signature", kSignatureBytesMax));
  SAMOVAR_TRY(version.headline_json, read_document(body, "headline", kHeadlineBytesMax));
  SAMOVAR_TRY(const std::int64_t stored,
              body.number("stored_bytes", 0, std::numeric_limits<std::int64_t>::max()));
  version.stored_bytes = static_cast<std::uint64_t>(stored);
  SAMOVAR_TRY(version.hash, body.bytes("hash", kJobHashBytes, kJobHashBytes));
  SAMOVAR_TRY(version.wrapped_key, body.bytes("wrapped_key", kModelKeyBytesMin, kModelKeyBytesMax));
  SAMOVAR_TRY(version.evaluation_name, body.text("evaluation_name", 64));
  SAMOVAR_TRY(version.evaluation_hash, body.bytes("evaluation_hash", 0, kJobHashBytes));
  if (version.evaluation_hash.size() != (version.evaluation_name.empty() ? 0 : kJobHashBytes))
    return Error{Errc::invalid, "evaluation_hash: has a wrong length"};
  return version;
}

Result<void> insert_model(Context& context, const std::string& name, const std::string& kind,
                          const std::string& owner_id) {
  SAMOVAR_TRY(const std::string description, read_description(context.body));
  Query count(context.db, "SELECT count(*) FROM models");
  if (count.next() && count.number(0) >= kModelsMax)
    return Error{Errc::busy, "there are as many models as a box can have: delete some first"};
  run(context.db, "INSERT INTO models VALUES (?, ?, ?, ?, ?, 1, 0, 0, ?, 1)", model_key(name), name,
      description, kind, owner_id, context.now);
  return {};
}

Result<std::uint32_t> next_version(Context& context, const Model& model, const std::string& kind) {
  if (model.version >= kModelVersionsMax)
    return Error{Errc::busy,
                 fmt::format("a model has at most {} versions: train under another name", kModelVersionsMax)};
  run(context.db, "UPDATE models SET version = ?, kind = ?, revision = revision + 1 WHERE key = ?",
      model.version + 1, kind, model_key(model.name));
  return model.version + 1;
}

// "model" and "evaluation": who has them, and the evaluation's size, which no other table has.
Result<void> insert_files(Context& context, const ModelVersion& version) {
  const std::string model = model_file_key(version.evaluation_name);
  if (model.empty()) return {};
  if (!context.body.has("files")) {
    // A box that was alone did not say where they lie.
    if (const std::string only = only_node(context.db); !only.empty())
      for (const std::string& key : {model, version.evaluation_name}) add_holder(context.db, key, only);
    return {};
  }
  SAMOVAR_TRY(const auto files, context.body.objects("files", 2));
  for (const Fields& file : files) {
    SAMOVAR_TRY(const std::string kind, file.text("name", 16));
    SAMOVAR_TRY(const auto nodes, file.texts("nodes", kFileNodesMax, 64));
    SAMOVAR_TRY(const std::int64_t stored, file.number("stored", 0, INT64_MAX));
    if (kind != "model" && kind != "evaluation")
      return Error{Errc::invalid, "files: must be the model and its evaluation"};
    const std::string& key = kind == "model" ? model : version.evaluation_name;
    add_holders(context.db, key, nodes);
    if (kind == "evaluation" && stored > 0)
      record_file(context.db, key, static_cast<std::uint64_t>(stored), version.evaluation_hash);
  }
  return {};
}

void insert_version(Context& context, const std::string& name, std::uint32_t number,
                    const ModelVersion& version) {
  run(context.db,
      "INSERT INTO model_versions VALUES (?, ?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      model_key(name), number, to_string(ModelStage::candidate), context.now, version.created_by,
      version.job_id, version.dataset_id, version.dataset_version, version.dataset_hash, version.code_version,
      version.spec_json, version.signature_json, version.headline_json, version.stored_bytes, version.hash,
      version.wrapped_key, version.evaluation_name, version.evaluation_hash);
}

}  // namespace

Result<void> check_model_name(std::string_view name) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  const bool fits = !name.empty() && name.size() <= kModelNameBytesMax && is_plain(name.front()) &&
                    std::all_of(name.begin(), name.end(),
                                [&](char c) { return is_plain(c) || c == '.' || c == '_' || c == '-'; });
  if (!fits)
    return Error{
        Errc::invalid,
        "name: 1 to 64 of the letters a-z and A-Z, digits, '.', '_' and '-', beginning with a letter "
        "or a digit"};
  if (std::find(kReserved.begin(), kReserved.end(), model_key(name)) != kReserved.end())
    return Error{Errc::invalid, "name: this one has a meaning of its own: choose another"};
  return {};
}

Result<void> check_model_owner(Context& context, std::string_view name, std::string_view user_id) {
  const auto model = find_model(context.db, name);
  if (model && model->owner_id != user_id) return refuse(Refusal::model_name_taken);
  return {};
}

namespace {

// Its home lost it while the model was on its way: whoever has the job now goes on from its checkpoint, and
// one job makes one model.
Result<void> check_run(const Fields& body, const JobRecord& job) {
  if (!body.has("run")) return {};
  SAMOVAR_TRY(const std::int64_t run, body.number("run", 1, std::numeric_limits<std::int64_t>::max()));
  SAMOVAR_TRY(const std::string home, body.text("home", 64));
  const bool moved = !job.node_id.empty() && !home.empty() && job.node_id != home;
  if (moved || static_cast<std::uint64_t>(run) < job.run) return refuse(Refusal::job_state);
  return {};
}

}  // namespace

Result<Fields> apply_model_commit(Context& context) {
  SAMOVAR_TRY(std::string name, context.body.text("name", kModelNameBytesMax));
  SAMOVAR_CHECK(check_model_name(name));
  SAMOVAR_TRY(const User maker, need_user(context, "created_by"));
  SAMOVAR_TRY(const ModelVersion version, read_version(context.body));
  SAMOVAR_TRY(std::string kind, context.body.text("kind", 32));
  SAMOVAR_TRY(const std::string summary, read_document(context.body, "summary", kSummaryBytesMax));
  std::optional<JobRecord> job;
  if (!version.job_id.empty()) {
    job = find_job(context.db, version.job_id);
    if (!job) return Error{Errc::not_found, "there is no such job"};
    SAMOVAR_CHECK(check_run(context.body, *job));
    kind = job->kind;
  }
  if (kind.empty()) return Error{Errc::invalid, "kind: is missing"};
  SAMOVAR_CHECK(check_model_owner(context, name, maker.id));
  std::uint32_t number = 1;
  if (const auto model = find_model(context.db, name)) {
    name = model->name;
    SAMOVAR_TRY(number, next_version(context, *model, kind));
  } else {
    SAMOVAR_CHECK(insert_model(context, name, kind, maker.id));
  }
  insert_version(context, name, number, version);
  SAMOVAR_CHECK(insert_files(context, version));
  forget_holders_removed(context.db);
  if (const std::string file = model_file_key(version.evaluation_name); !file.empty())
    SAMOVAR_CHECK(check_held(context.body, context.db, {file, version.evaluation_name}));
  if (job) SAMOVAR_CHECK(finish_job(context, *job, name, number, summary));
  Fields details;
  details.set("version", std::int64_t{number}).set("kind", kind).set("hash", hex_encode(version.hash));
  if (job) details.set("job", job->id).set("dataset", version.dataset_id);
  if (job) details.set("dataset_version", std::int64_t{version.dataset_version});
  context.audit(job ? "model.create" : "model.import", name, details);
  context.changed(Change::Kind::models, name);
  return Fields().set("name", name).set("version", std::int64_t{number});
}

}  // namespace samovar::cluster
