#include "daemon/cluster/rows_models.hpp"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "daemon/cluster/copies.hpp"
#include "daemon/cluster/rows.hpp"

namespace samovar::cluster {
namespace {

constexpr const char* kModelColumns =
    "name, description, kind, owner_id, version, serving, served_before, created_us, revision, key";
constexpr const char* kVersionColumns =
    "m.name, v.version, v.stage, v.protect, v.created_us, v.created_by, v.job_id, v.dataset_id, "
    "v.dataset_version, v.dataset_hash, v.code_version, v.spec_json, v.signature_json, v.headline_json, "
    "v.stored_bytes, v.hash, v.wrapped_key, v.evaluation_name, v.evaluation_hash";

constexpr std::array kStages = {ModelStage::candidate, ModelStage::production, ModelStage::archived};

std::uint32_t small_of(const Query& row, int column) {
  return static_cast<std::uint32_t>(row.number(column));
}

std::vector<std::string> granted_of(Db& db, std::string_view key) {
  std::vector<std::string> ids;
  for (Query row(db, "SELECT user_id FROM model_grants WHERE model_key = ? ORDER BY user_id", key);
       row.next();)
    ids.push_back(row.text(0));
  return ids;
}

Model model_of(Db& db, const Query& row) {
  Model model;
  model.name = row.text(0);
  model.description = row.text(1);
  model.kind = row.text(2);
  model.owner_id = row.text(3);
  model.version = small_of(row, 4);
  model.serving = small_of(row, 5);
  model.served_before = small_of(row, 6);
  model.created_at = row.time(7);
  model.revision = static_cast<std::uint64_t>(row.number(8));
  model.granted_ids = granted_of(db, row.text(9));
  return model;
}

ModelVersion version_of(const Query& row) {
  ModelVersion version;
  version.model = row.text(0);
  version.version = small_of(row, 1);
  for (const ModelStage stage : kStages)
    if (row.text(2) == to_string(stage)) version.stage = stage;
  version.protect = row.number(3) != 0;
  version.created_at = row.time(4);
  version.created_by = row.text(5);
  version.job_id = row.text(6);
  version.dataset_id = row.text(7);
  version.dataset_version = small_of(row, 8);
  version.dataset_hash = row.text(9);
  version.code_version = row.text(10);
  version.spec_json = row.text(11);
  version.signature_json = row.text(12);
  version.headline_json = row.text(13);
  version.stored_bytes = static_cast<std::uint64_t>(row.number(14));
  version.hash = row.bytes(15);
  version.wrapped_key = row.bytes(16);
  version.evaluation_name = row.text(17);
  version.evaluation_hash = row.bytes(18);
  return version;
}

std::vector<ObjectRecord> files_of(Db& db, const ModelVersion& version) {
  std::vector<ObjectRecord> files;
  if (!is_model_folder(version.evaluation_name)) return files;
  const std::string model = model_file_key(version.evaluation_name);
  files.push_back({"model", version.stored_bytes, version.hash, holders_of(db, model)});
  Query size(db, "SELECT stored_bytes FROM files WHERE key = ?", version.evaluation_name);
  const auto bytes = size.next() ? static_cast<std::uint64_t>(size.number(0)) : 0;
  files.push_back({"evaluation", bytes, version.evaluation_hash, holders_of(db, version.evaluation_name)});
  return files;
}

}  // namespace

std::string model_key(std::string_view name) { return lower_ascii(name); }

std::optional<Model> find_model(Db& db, std::string_view name) {
  Query row(db, fmt::format("SELECT {} FROM models WHERE key = ?", kModelColumns), model_key(name));
  if (!row.next()) return std::nullopt;
  return model_of(db, row);
}

std::vector<Model> list_models(Db& db, const std::optional<std::string>& user_id) {
  std::vector<Model> models;
  for (Query row(
           db,
           fmt::format("SELECT {} FROM models WHERE ?1 IS NULL OR owner_id = ?1 OR EXISTS (SELECT 1 FROM "
                       "model_grants g WHERE g.model_key = models.key AND g.user_id = ?1) ORDER BY key",
                       kModelColumns),
           user_id);
       row.next();)
    models.push_back(model_of(db, row));
  return models;
}

std::optional<ModelVersion> find_model_version(Db& db, std::string_view name, std::uint32_t version) {
  // The one in production sorts before the rest when none is asked for.
  Query row(
      db,
      fmt::format("SELECT {} FROM models m JOIN model_versions v ON v.model_key = m.key WHERE m.key = ?1 "
                  "AND (?2 = 0 OR v.version = ?2) ORDER BY v.version = m.serving DESC, v.version DESC "
                  "LIMIT 1",
                  kVersionColumns),
      model_key(name), version);
  if (!row.next()) return std::nullopt;
  ModelVersion found = version_of(row);
  found.files = files_of(db, found);
  return found;
}

std::vector<ModelVersion> list_model_versions(Db& db, std::string_view name) {
  std::vector<ModelVersion> versions;
  for (Query row(
           db,
           fmt::format("SELECT {} FROM models m JOIN model_versions v ON v.model_key = m.key WHERE m.key "
                       "= ? ORDER BY v.version DESC",
                       kVersionColumns),
           model_key(name));
       row.next();)
    versions.push_back(version_of(row));
  for (ModelVersion& version : versions) version.files = files_of(db, version);
  return versions;
}

std::vector<ModelRef> list_model_refs(Db& db) {
  std::vector<ModelRef> refs;
  for (Query row(
           db,
           "SELECT m.name, v.version, v.job_id, v.hash, v.evaluation_name, v.evaluation_hash FROM models "
           "m JOIN model_versions v ON v.model_key = m.key ORDER BY m.key, v.version");
       row.next();)
    refs.push_back({row.text(0), small_of(row, 1), row.text(2), row.bytes(3), row.text(4), row.bytes(5)});
  return refs;
}

std::string_view to_string(ModelStage stage) noexcept {
  switch (stage) {
    case ModelStage::candidate:
      return "candidate";
    case ModelStage::production:
      return "production";
    case ModelStage::archived:
      return "archived";
  }
  return "candidate";
}

}  // namespace samovar::cluster
