// Models after their making: described, handed over, granted, put into production, taken out, removed.
#include <algorithm>

#include "base/encoding.hpp"
#include "daemon/cluster/copies.hpp"
#include "daemon/cluster/dataset_commands.hpp"
#include "daemon/cluster/model_commands.hpp"
#include "daemon/cluster/rows.hpp"
#include "daemon/cluster/rows_models.hpp"
#include "security/hash.hpp"

namespace samovar::cluster {
namespace {

constexpr std::size_t kGrantsMax = 1000;

Fields reply_of(const Model& model) { return Fields().set("name", model.name); }

void bump(Context& context, const Model& model) {
  run(context.db, "UPDATE models SET revision = revision + 1 WHERE key = ?", model_key(model.name));
  context.changed(Change::Kind::models, model.name);
}

bool is_granted(const Model& model, const std::string& user_id) {
  return std::binary_search(model.granted_ids.begin(), model.granted_ids.end(), user_id);
}

Result<ModelVersion> need_version(Context& context, const Model& model) {
  SAMOVAR_TRY(const std::int64_t number, context.body.number("version", 1, kModelVersionsMax));
  auto version = find_model_version(context.db, model.name, static_cast<std::uint32_t>(number));
  if (!version) return Error{Errc::not_found, "the model has no such version"};
  return *std::move(version);
}

void set_stage(Context& context, const Model& model, std::uint32_t version, ModelStage stage) {
  run(context.db, "UPDATE model_versions SET stage = ? WHERE model_key = ? AND version = ?", to_string(stage),
      model_key(model.name), version);
}

// What serves from now on (0: nothing), and where a rollback would go then.
void serve(Context& context, const Model& model, std::uint32_t version, std::uint32_t before) {
  if (model.serving != 0) set_stage(context, model, model.serving, ModelStage::archived);
  if (version != 0) set_stage(context, model, version, ModelStage::production);
  run(context.db, "UPDATE models SET serving = ?, served_before = ? WHERE key = ?", version, before,
      model_key(model.name));
}

Fields served(std::uint32_t version, std::uint32_t before) {
  return Fields().set("version", std::int64_t{version}).set("version_before", std::int64_t{before});
}

}  // namespace

Result<Model> need_model(Context& context) {
  SAMOVAR_TRY(const std::string name, context.body.text("name", kModelNameBytesMax, 1));
  auto model = find_model(context.db, name);
  if (!model) return Error{Errc::not_found, "there is no such model"};
  return *std::move(model);
}

Result<Fields> apply_model_update(Context& context) {
  SAMOVAR_TRY(const Model before, need_model(context));
  SAMOVAR_CHECK(check_revision(context, before.revision));
  Model after = before;
  if (context.body.has("description")) {
    SAMOVAR_TRY(after.description, read_description(context.body));
  }
  if (context.body.has("owner_id")) {
    SAMOVAR_TRY(const User owner, need_user(context, "owner_id"));
    if (owner.disabled) return Error{Errc::invalid, "owner_id: this account is disabled"};
    after.owner_id = owner.id;
    run(context.db, "DELETE FROM model_grants WHERE model_key = ? AND user_id = ?", model_key(before.name),
        owner.id);
  }
  run(context.db, "UPDATE models SET description = ?, owner_id = ? WHERE key = ?", after.description,
      after.owner_id, model_key(before.name));
  Fields details;
  if (after.description != before.description) details.set("description_changed", true);
  if (after.owner_id != before.owner_id)
    details.set("owner", after.owner_id).set("owner_before", before.owner_id);
  context.audit("model.update", before.name, details);
  bump(context, before);
  return reply_of(before);
}

Result<Fields> apply_model_promote(Context& context) {
  SAMOVAR_TRY(const Model model, need_model(context));
  SAMOVAR_TRY(const std::int64_t wanted, context.body.number("version", 0, kModelVersionsMax));
  const auto version = static_cast<std::uint32_t>(wanted);
  if (version != 0) SAMOVAR_CHECK(need_version(context, model));
  // What is so already needs no entry.
  if (version == model.serving) return reply_of(model);
  serve(context, model, version, version == 0 ? 0 : model.serving);
  context.audit(version == 0 ? "model.retire" : "model.promote", model.name, served(version, model.serving));
  bump(context, model);
  return reply_of(model);
}

Result<Fields> apply_model_rollback(Context& context) {
  SAMOVAR_TRY(const Model model, need_model(context));
  if (model.served_before == 0) return refuse(Refusal::no_rollback);
  serve(context, model, model.served_before, 0);
  context.audit("model.rollback", model.name, served(model.served_before, model.serving));
  bump(context, model);
  return reply_of(model);
}

Result<Fields> apply_model_grant(Context& context) {
  SAMOVAR_TRY(const Model model, need_model(context));
  SAMOVAR_TRY(const User user, need_user(context, "user_id"));
  if (user.id == model.owner_id) return Error{Errc::invalid, "user_id: the owner needs no grant"};
  // Granting twice is granted: nothing to record.
  if (is_granted(model, user.id)) return reply_of(model);
  if (model.granted_ids.size() >= kGrantsMax)
    return Error{Errc::busy, "this model is granted to as many users as can be: withdraw some first"};
  run(context.db, "INSERT INTO model_grants VALUES (?, ?, ?, ?)", model_key(model.name), user.id, context.now,
      context.actor.user_id);
  context.audit("model.grant", model.name, Fields().set("user", user.id).set("username", user.username));
  bump(context, model);
  return reply_of(model);
}

Result<Fields> apply_model_ungrant(Context& context) {
  SAMOVAR_TRY(const Model model, need_model(context));
  SAMOVAR_TRY(const std::string user_id, context.body.text("user_id", 64, 1));
  if (!is_granted(model, user_id)) return Error{Errc::not_found, "this user has no grant on this model"};
  run(context.db, "DELETE FROM model_grants WHERE model_key = ? AND user_id = ?", model_key(model.name),
      user_id);
  const auto user = find_user(context.db, user_id);
  context.audit("model.ungrant", model.name,
                Fields().set("user", user_id).set("username", user ? user->username : std::string()));
  bump(context, model);
  return reply_of(model);
}

Result<Fields> apply_model_protect(Context& context) {
  SAMOVAR_TRY(const Model model, need_model(context));
  SAMOVAR_TRY(const ModelVersion version, need_version(context, model));
  SAMOVAR_TRY(const bool on, context.body.flag("protect"));
  if (on == version.protect) return reply_of(model);
  run(context.db, "UPDATE model_versions SET protect = ? WHERE model_key = ? AND version = ?", on,
      model_key(model.name), version.version);
  context.audit("model.protect", model.name,
                Fields().set("version", std::int64_t{version.version}).set("protect", on));
  bump(context, model);
  return reply_of(model);
}

Result<Fields> apply_model_remove(Context& context) {
  SAMOVAR_TRY(const Model model, need_model(context));
  SAMOVAR_TRY(const ModelVersion version, need_version(context, model));
  if (version.version == model.serving) return refuse(Refusal::model_serving);
  if (version.protect) return refuse(Refusal::model_protected);
  const std::string key = model_key(model.name);
  run(context.db, "DELETE FROM model_versions WHERE model_key = ? AND version = ?", key, version.version);
  if (is_model_folder(version.evaluation_name))
    for (const std::string& file : {model_file_key(version.evaluation_name), version.evaluation_name})
      forget_file(context.db, file);
  // The job sealed the model with its own key.
  run(context.db, "UPDATE jobs SET wrapped_key = x'', revision = revision + 1 WHERE id = ?", version.job_id);
  if (context.db.changes() > 0) context.changed(Change::Kind::jobs, version.job_id);
  if (model.served_before == version.version)
    run(context.db, "UPDATE models SET served_before = 0 WHERE key = ?", key);
  const bool last = !find_model_version(context.db, model.name, 0);
  if (last) {
    run(context.db, "DELETE FROM model_grants WHERE model_key = ?", key);
    run(context.db, "DELETE FROM models WHERE key = ?", key);
  }
  Fields certificate;
  certificate.set("version", std::int64_t{version.version}).set("hash", hex_encode(version.hash));
  certificate.set("wrapped_key_hash", hex_encode(security::blake2b_256(version.wrapped_key)));
  certificate.set("last", last);
  context.audit("model.remove", model.name, certificate);
  bump(context, model);
  return reply_of(model);
}

}  // namespace samovar::cluster
