// Data sets after their manifest: renamed, granted, binned, restored, destroyed.
#include <string>
#include <vector>

#include "base/encoding.hpp"
#include "daemon/cluster/copies.hpp"
#include "daemon/cluster/dataset_commands.hpp"
#include "daemon/cluster/name_key.hpp"
#include "daemon/cluster/rows.hpp"
#include "daemon/cluster/rows_datasets.hpp"
#include "daemon/cluster/rows_models.hpp"
#include "security/hash.hpp"

namespace samovar::cluster {
namespace {

constexpr std::int64_t kGrantsMax = 1000;

void bump(Context& context, const std::string& id) {
  run(context.db, "UPDATE datasets SET revision = revision + 1 WHERE id = ?", id);
  context.changed(Change::Kind::datasets, id);
}

bool is_granted(Db& db, const std::string& dataset_id, const std::string& user_id) {
  Query row(db, "SELECT 1 FROM dataset_grants WHERE dataset_id = ? AND user_id = ?", dataset_id, user_id);
  return row.next();
}

// One entry per version keeps each of them short however many there are; the last one names them all.
Fields certify_version(Context& context, const std::string& id, std::uint32_t number) {
  const auto version = find_version(context.db, id, number);
  security::Hasher all;
  std::vector<std::string> shards;
  for (const ShardRecord& shard : version->shards) {
    all.update(shard.hash);
    shards.push_back(hex_encode(shard.hash));
  }
  std::vector<std::string> objects;
  for (const ObjectRecord& object : version->objects) {
    all.update(object.hash);
    objects.push_back(object.name + ":" + hex_encode(object.hash));
  }
  const auto digest = all.finish();
  const auto wrapped_hash = security::blake2b_256(version->wrapped_key);
  Fields common;
  common.set("version", static_cast<std::int64_t>(number)).set("rows", version->rows);
  common.set("key_commitment", hex_encode(version->key_commitment));
  common.set("wrapped_key_hash", hex_encode(wrapped_hash)).set("files_hash", hex_encode(digest));
  Fields entry = common;
  entry.set("shard_hashes", shards).set("object_hashes", objects);
  context.audit("dataset.version_destroyed", id, entry);
  common.set("shards", version->shards.size());
  return common;
}

}  // namespace

Result<Dataset> need_dataset(Context& context) {
  SAMOVAR_TRY(const std::string id, context.body.text("id", 64, 1));
  auto dataset = find_dataset(context.db, id);
  if (!dataset) return Error{Errc::not_found, "there is no such data set"};
  return *std::move(dataset);
}

Result<std::string> read_description(const Fields& body) {
  SAMOVAR_TRY(const Bytes bytes, body.bytes("description", 0, kDescriptionBytesMax));
  std::string text(as_text(bytes));
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (!is_utf8_text(std::string_view(text).substr(at, end - at)))
      return Error{Errc::invalid, "description: must be plain text"};
    at = end + 1;
  }
  return text;
}

bool is_dataset_busy(Db& db, std::string_view dataset_id) {
  Query row(db, "SELECT 1 FROM operations WHERE state = 'queued' AND kind = 'version' AND dataset_id = ?",
            dataset_id);
  return row.next();
}

Result<Fields> apply_dataset_update(Context& context) {
  SAMOVAR_TRY(const Dataset before, need_dataset(context));
  SAMOVAR_CHECK(check_revision(context, before.revision));
  if (before.binned_at) return refuse(Refusal::dataset_binned);
  SAMOVAR_TRY(const auto name, context.body.optional_text("name", kDatasetNameBytesMax));
  Dataset after = before;
  if (name) {
    SAMOVAR_CHECK(check_dataset_name(*name));
    const auto other = find_dataset_by_name(context.db, *name);
    if (other && other->id != before.id) return refuse(Refusal::dataset_name_taken);
    after.name = *name;
  }
  if (context.body.has("description")) {
    SAMOVAR_TRY(after.description, read_description(context.body));
  }
  if (context.body.has("owner_id")) {
    SAMOVAR_TRY(const User owner, need_user(context, "owner_id"));
    if (owner.disabled) return Error{Errc::invalid, "owner_id: this account is disabled"};
    after.owner_id = owner.id;
    run(context.db, "DELETE FROM dataset_grants WHERE dataset_id = ? AND user_id = ?", before.id, owner.id);
  }
  if (context.body.has("copies")) {
    SAMOVAR_TRY(const std::int64_t copies, context.body.number("copies", 0, kCopiesMax));
    after.copies = static_cast<unsigned>(copies);
    run(context.db, "DELETE FROM dataset_copies WHERE dataset_id = ?", before.id);
    if (copies > 0) run(context.db, "INSERT INTO dataset_copies VALUES (?, ?)", before.id, copies);
  }
  run(context.db, "UPDATE datasets SET name = ?, name_key = ?, description = ?, owner_id = ? WHERE id = ?",
      after.name, name_key(after.name), after.description, after.owner_id, before.id);
  Fields details;
  details.set("name", after.name);
  if (after.name != before.name) details.set("name_before", before.name);
  if (after.description != before.description) details.set("description_changed", true);
  if (after.owner_id != before.owner_id)
    details.set("owner", after.owner_id).set("owner_before", before.owner_id);
  if (after.copies != before.copies)
    details.set("copies", std::int64_t{after.copies}).set("copies_before", std::int64_t{before.copies});
  context.audit("dataset.update", before.id, details);
  bump(context, before.id);
  return Fields().set("id", before.id);
}

Result<Fields> apply_dataset_bin(Context& context) {
  SAMOVAR_TRY(const Dataset dataset, need_dataset(context));
  SAMOVAR_CHECK(check_revision(context, dataset.revision));
  if (dataset.binned_at) return refuse(Refusal::dataset_binned);
  if (is_dataset_busy(context.db, dataset.id)) return refuse(Refusal::dataset_busy);
  run(context.db, "UPDATE datasets SET binned_us = ? WHERE id = ?", context.now, dataset.id);
  context.audit("dataset.bin", dataset.id, Fields().set("name", dataset.name));
  bump(context, dataset.id);
  return Fields().set("id", dataset.id);
}

Result<Fields> apply_dataset_restore(Context& context) {
  SAMOVAR_TRY(const Dataset dataset, need_dataset(context));
  if (!dataset.binned_at) return refuse(Refusal::dataset_not_binned);
  if (find_dataset_by_name(context.db, dataset.name)) return refuse(Refusal::dataset_name_taken);
  run(context.db, "UPDATE datasets SET binned_us = NULL WHERE id = ?", dataset.id);
  context.audit("dataset.restore", dataset.id, Fields().set("name", dataset.name));
  bump(context, dataset.id);
  return Fields().set("id", dataset.id);
}

Result<Fields> apply_dataset_destroy(Context& context) {
  SAMOVAR_TRY(const Dataset dataset, need_dataset(context));
  if (!dataset.binned_at) return refuse(Refusal::dataset_not_binned);
  if (is_dataset_needed(context.db, dataset.id)) return refuse(Refusal::dataset_needed);
  std::vector<Fields> versions;
  for (const VersionSummary& summary : list_versions(context.db, dataset.id))
    versions.push_back(certify_version(context, dataset.id, summary.version));
  Fields certificate;
  certificate.set("name", dataset.name).set("owner", dataset.owner_id).set("versions", versions);
  certificate.set("created_us", dataset.created_at).set("binned_us", *dataset.binned_at);
  if (const auto source = find_wrapped_key(context.db, dataset.id, 0))
    certificate.set("source_key_hash", hex_encode(security::blake2b_256(*source)));
  for (const char* sql :
       {"DELETE FROM dataset_keys WHERE dataset_id = ?", "DELETE FROM shards WHERE dataset_id = ?",
        "DELETE FROM dataset_objects WHERE dataset_id = ?", "DELETE FROM dataset_grants WHERE dataset_id = ?",
        "DELETE FROM dataset_versions WHERE dataset_id = ?",
        "DELETE FROM dataset_copies WHERE dataset_id = ?", "DELETE FROM datasets WHERE id = ?"})
    run(context.db, sql, dataset.id);
  forget_files(context.db, dataset.id + ".");
  forget_files(context.db, dataset.id + "/");
  context.audit("dataset.destroyed", dataset.id, certificate);
  context.changed(Change::Kind::datasets, dataset.id);
  return Fields().set("id", dataset.id);
}

Result<Fields> apply_dataset_grant(Context& context) {
  SAMOVAR_TRY(const Dataset dataset, need_dataset(context));
  SAMOVAR_TRY(const User user, need_user(context, "user_id"));
  if (dataset.binned_at) return refuse(Refusal::dataset_binned);
  if (user.id == dataset.owner_id) return Error{Errc::invalid, "user_id: the owner needs no grant"};
  // Granting twice is granted: nothing to record.
  if (is_granted(context.db, dataset.id, user.id)) return Fields().set("id", dataset.id);
  if (static_cast<std::int64_t>(dataset.granted_ids.size()) >= kGrantsMax)
    return Error{Errc::busy, "this data set is granted to as many users as can be: withdraw some first"};
  run(context.db, "INSERT INTO dataset_grants VALUES (?, ?, ?, ?)", dataset.id, user.id, context.now,
      context.actor.user_id);
  context.audit("dataset.grant", dataset.id,
                Fields().set("name", dataset.name).set("user", user.id).set("username", user.username));
  bump(context, dataset.id);
  return Fields().set("id", dataset.id);
}

Result<Fields> apply_dataset_ungrant(Context& context) {
  SAMOVAR_TRY(const Dataset dataset, need_dataset(context));
  SAMOVAR_TRY(const std::string user_id, context.body.text("user_id", 64, 1));
  if (!is_granted(context.db, dataset.id, user_id))
    return Error{Errc::not_found, "this user has no grant on this data set"};
  run(context.db, "DELETE FROM dataset_grants WHERE dataset_id = ? AND user_id = ?", dataset.id, user_id);
  const auto user = find_user(context.db, user_id);
  context.audit("dataset.ungrant", dataset.id,
                Fields()
                    .set("name", dataset.name)
                    .set("user", user_id)
                    .set("username", user ? user->username : std::string()));
  bump(context, dataset.id);
  return Fields().set("id", dataset.id);
}

Result<Fields> apply_dataset_mark(Context& context) {
  SAMOVAR_TRY(const Dataset dataset, need_dataset(context));
  SAMOVAR_TRY(const std::int64_t version, context.body.number("version", 1, kVersionsMax));
  SAMOVAR_TRY(const std::int64_t shard, context.body.number("shard", 0, kShardsMax - 1));
  SAMOVAR_TRY(const bool damaged, context.body.flag("damaged"));
  Query row(context.db,
            "SELECT damaged, hash FROM shards WHERE dataset_id = ? AND version = ? AND number = ?",
            dataset.id, version, shard);
  if (!row.next()) return Error{Errc::not_found, "there is no such shard"};
  if ((row.number(0) != 0) == damaged) return Fields().set("id", dataset.id);
  const std::string hash = hex_encode(row.bytes(1));
  run(context.db, "UPDATE shards SET damaged = ? WHERE dataset_id = ? AND version = ? AND number = ?",
      damaged, dataset.id, version, shard);
  context.audit(
      damaged ? "dataset.shard_damaged" : "dataset.shard_healed", dataset.id,
      Fields().set("name", dataset.name).set("version", version).set("shard", shard).set("hash", hash));
  bump(context, dataset.id);
  return Fields().set("id", dataset.id);
}

}  // namespace samovar::cluster
