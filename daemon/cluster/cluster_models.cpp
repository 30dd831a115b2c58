// Commands and queries on models: typed arguments into a command, the reply into a value.
#include <utility>

#include "daemon/cluster/cluster_impl.hpp"
#include "daemon/cluster/rows_models.hpp"

namespace samovar::cluster {
namespace {

Bytes document(const std::string& json) { return to_bytes(json.empty() ? "{}" : json); }

Fields about(const std::string& name, std::uint32_t version) {
  Fields body;
  body.set("name", name).set("version", std::int64_t{version});
  return body;
}

Fields encode_version(const NewModelVersion& model) {
  const ModelVersion& version = model.version;
  Fields body;
  body.set("name", model.name).set("description", to_bytes(model.description)).set("kind", model.kind);
  body.set("summary", document(model.summary_json)).set("created_by", version.created_by);
  body.set("job_id", version.job_id).set("dataset_id", version.dataset_id);
  body.set("dataset_version", std::int64_t{version.dataset_version});
  body.set("dataset_hash", version.dataset_hash).set("code_version", version.code_version);
  body.set("spec", document(version.spec_json)).set("signature", document(version.signature_json));
  body.set("headline", document(version.headline_json)).set("stored_bytes", version.stored_bytes);
  body.set("hash", version.hash).set("wrapped_key", version.wrapped_key);
  body.set("evaluation_name", version.evaluation_name).set("evaluation_hash", version.evaluation_hash);
  return body;
}

}  // namespace

namespace {

std::vector<Fields> encode_files(const ModelVersion& version, const std::string& self) {
  std::vector<ObjectRecord> files = version.files;
  if (files.empty()) files = {{"model", version.stored_bytes, {}, {}}, {"evaluation", 0, {}, {}}};
  std::vector<Fields> out;
  for (const ObjectRecord& file : files) {
    Fields one;
    one.set("name", file.name).set("stored", file.stored_bytes);
    one.set("nodes", file.node_ids.empty() ? std::vector<std::string>{self} : file.node_ids);
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace

Task<Result<Model>> Cluster::Impl::change_model(Call call, std::string type, Fields body) {
  SAMOVAR_CO_TRY(const Fields done, co_await execute(std::move(call), std::move(type), std::move(body)));
  SAMOVAR_CO_TRY(const std::string name, done.text("name", kModelNameBytesMax));
  auto model = find_model(db(), name);
  if (!model) co_return Error{Errc::not_found, "the model was removed meanwhile"};
  co_return *std::move(model);
}

Task<Result<ModelVersion>> Cluster::commit_model(Call call, NewModelVersion model) {
  Fields body = encode_version(model);
  if (impl_->level() >= 2) body.set("files", encode_files(model.version, impl_->node_id));
  if (impl_->level() >= kHeldLevel) body.set("must_be_held", true);
  if (impl_->level() >= 4 && model.run > 0) body.set("run", model.run).set("home", model.home);
  SAMOVAR_CO_TRY(const Fields done,
                 co_await impl_->execute(std::move(call), "model.commit", std::move(body)));
  SAMOVAR_CO_TRY(const std::string name, done.text("name", kModelNameBytesMax));
  SAMOVAR_CO_TRY(const std::int64_t number, done.number("version", 1, kModelVersionsMax));
  auto version = model_version(name, static_cast<std::uint32_t>(number));
  if (!version) co_return Error{Errc::not_found, "the version was removed meanwhile"};
  co_return *std::move(version);
}

Task<Result<Model>> Cluster::change_model(Call call, std::string name, ModelChange change,
                                          std::optional<std::uint64_t> if_revision) {
  Fields body;
  body.set("name", name).set("owner_id", change.owner_id).set("if_revision", if_revision);
  if (change.description) body.set("description", to_bytes(*change.description));
  co_return co_await impl_->change_model(std::move(call), "model.update", std::move(body));
}

Task<Result<Model>> Cluster::promote_model(Call call, std::string name, std::uint32_t version) {
  Fields body = about(name, version);
  co_return co_await impl_->change_model(std::move(call), "model.promote", std::move(body));
}

Task<Result<Model>> Cluster::rollback_model(Call call, std::string name) {
  Fields body;
  body.set("name", name);
  co_return co_await impl_->change_model(std::move(call), "model.rollback", std::move(body));
}

Task<Result<Model>> Cluster::grant_model(Call call, std::string name, std::string user_id) {
  Fields body;
  body.set("name", name).set("user_id", user_id);
  co_return co_await impl_->change_model(std::move(call), "model.grant", std::move(body));
}

Task<Result<Model>> Cluster::ungrant_model(Call call, std::string name, std::string user_id) {
  Fields body;
  body.set("name", name).set("user_id", user_id);
  co_return co_await impl_->change_model(std::move(call), "model.ungrant", std::move(body));
}

Task<Result<ModelVersion>> Cluster::protect_model_version(Call call, std::string name, std::uint32_t version,
                                                          bool on) {
  Fields body = about(name, version);
  body.set("protect", on);
  SAMOVAR_CO_TRY(const Fields done,
                 co_await impl_->execute(std::move(call), "model.protect", std::move(body)));
  auto after = model_version(name, version);
  if (!after) co_return Error{Errc::not_found, "the version was removed meanwhile"};
  co_return *std::move(after);
}

Task<Result<void>> Cluster::remove_model_version(Call call, std::string name, std::uint32_t version) {
  Fields body = about(name, version);
  SAMOVAR_CO_TRY(const Fields done,
                 co_await impl_->execute(std::move(call), "model.remove", std::move(body)));
  co_return Result<void>();
}

std::optional<Model> Cluster::model(std::string_view name) const { return find_model(impl_->db(), name); }

std::vector<Model> Cluster::models(const std::optional<std::string>& user_id) const {
  return list_models(impl_->db(), user_id);
}

std::optional<ModelVersion> Cluster::model_version(std::string_view name, std::uint32_t version) const {
  return find_model_version(impl_->db(), name, version);
}

std::vector<ModelVersion> Cluster::model_versions(std::string_view name) const {
  return list_model_versions(impl_->db(), name);
}

std::vector<ModelRef> Cluster::model_refs() const { return list_model_refs(impl_->db()); }

}  // namespace samovar::cluster
