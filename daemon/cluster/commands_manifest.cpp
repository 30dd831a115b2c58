// dataset.commit: the manifest. Before it a data set does not exist, after it it is whole.
#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "daemon/cluster/context.hpp"
#include "daemon/cluster/copies.hpp"
#include "daemon/cluster/dataset_commands.hpp"
#include "daemon/cluster/name_key.hpp"
#include "daemon/cluster/rows.hpp"
#include "daemon/cluster/rows_datasets.hpp"

namespace samovar::cluster {
namespace {

constexpr std::size_t kOptionsBytesMax = 64 * 1024;
constexpr std::size_t kNotesMax = 64;
constexpr std::size_t kNoteBytesMax = 512;
constexpr std::size_t kFileNameBytesMax = 255;
constexpr std::size_t kObjectsMax = 16;
constexpr std::size_t kNodesMax = 16;
constexpr std::size_t kHashBytes = 32;
constexpr std::size_t kWrappedKeyBytesMin = 40;
constexpr std::size_t kWrappedKeyBytesMax = 512;
constexpr std::int64_t kDatasetsMax = 10'000;
constexpr std::int64_t kCountMax = std::numeric_limits<std::int64_t>::max();

Result<std::vector<std::string>> read_nodes_of(const Fields& from, std::string_view field) {
  SAMOVAR_TRY(auto ids, from.texts(field, kNodesMax, 64));
  std::sort(ids.begin(), ids.end());
  for (const auto& id : ids)
    if (id.find(' ') != std::string::npos)
      return Error{Errc::invalid, fmt::format("{}: an id has no spaces", field)};
  return ids;
}

Result<ShardRecord> read_shard(const Fields& from) {
  ShardRecord shard;
  const auto count = [&from](const char* name) { return from.number(name, 0, kCountMax); };
  SAMOVAR_TRY(const std::int64_t number, from.number("number", 0, kShardsMax - 1));
  SAMOVAR_TRY(const std::int64_t rows, count("rows"));
  SAMOVAR_TRY(const std::int64_t blocks, from.number("blocks", 0, INT32_MAX));
  SAMOVAR_TRY(const std::int64_t plain, count("plain"));
  SAMOVAR_TRY(const std::int64_t stored, count("stored"));
  SAMOVAR_TRY(shard.hash, from.bytes("hash", kHashBytes, kHashBytes));
  SAMOVAR_TRY(shard.node_ids, read_nodes_of(from, "nodes"));
  shard.number = static_cast<std::uint32_t>(number);
  shard.rows = static_cast<std::uint64_t>(rows);
  shard.blocks = static_cast<std::uint32_t>(blocks);
  shard.plain_bytes = static_cast<std::uint64_t>(plain);
  shard.stored_bytes = static_cast<std::uint64_t>(stored);
  return shard;
}

struct Manifest {
  DatasetVersion version;
  std::string notes_json;
  std::int64_t columns = 0;
};

Result<void> read_pieces(const Fields& body, DatasetVersion& version) {
  SAMOVAR_TRY(const auto shards, body.objects("shards", kShardsMax));
  std::uint64_t rows = 0;
  for (const Fields& one : shards) {
    SAMOVAR_TRY(ShardRecord shard, read_shard(one));
    if (shard.number != version.shards.size())
      return Error{Errc::invalid, "shards: must be numbered 0, 1, 2 … in order"};
    if (shard.rows > version.rows - rows) return Error{Errc::invalid, "shards: hold other rows than counted"};
    rows += shard.rows;
    version.shards.push_back(std::move(shard));
  }
  if (rows != version.rows) return Error{Errc::invalid, "shards: hold other rows than counted"};
  SAMOVAR_TRY(const auto objects, body.objects("objects", kObjectsMax));
  SAMOVAR_TRY(const Fields holders, body.has("holders") ? body.object("holders") : Fields());
  for (const Fields& one : objects) {
    ObjectRecord object;
    SAMOVAR_TRY(object.name, one.text("name", 64, 1));
    SAMOVAR_TRY(const std::int64_t stored, one.number("stored", 0, kCountMax));
    SAMOVAR_TRY(object.hash, one.bytes("hash", kHashBytes, kHashBytes));
    object.stored_bytes = static_cast<std::uint64_t>(stored);
    if (!version.objects.empty() && version.objects.back().name >= object.name)
      return Error{Errc::invalid, "objects: must be sorted by name, each once"};
    if (holders.has(object.name)) {
      SAMOVAR_TRY(object.node_ids, read_nodes_of(holders, object.name));
    }
    version.objects.push_back(std::move(object));
  }
  return {};
}

// The kept upload's file: who has it, its size and hash.
Result<ObjectRecord> read_source(const Fields& body) {
  SAMOVAR_TRY(const Fields from, body.object("source"));
  ObjectRecord source;
  SAMOVAR_TRY(source.node_ids, read_nodes_of(from, "nodes"));
  SAMOVAR_TRY(const std::int64_t stored, from.number("stored", 0, kCountMax));
  source.stored_bytes = static_cast<std::uint64_t>(stored);
  SAMOVAR_TRY(source.hash, from.bytes("hash", 0, kHashBytes));
  if (!source.hash.empty() && source.hash.size() != kHashBytes)
    return Error{Errc::invalid, "source: its hash has a wrong length"};
  return source;
}

Result<Manifest> read_manifest(const Fields& body) {
  Manifest out;
  DatasetVersion& version = out.version;
  SAMOVAR_TRY(const std::int64_t rows, body.number("rows", 0, kCountMax));
  SAMOVAR_TRY(const std::int64_t bad_rows, body.number("bad_rows", 0, kCountMax));
  SAMOVAR_TRY(const std::int64_t seed, body.number("seed", INT64_MIN, INT64_MAX));
  SAMOVAR_TRY(const std::int64_t source_bytes, body.number("source_bytes", 0, kCountMax));
  version.rows = static_cast<std::uint64_t>(rows);
  version.bad_rows = static_cast<std::uint64_t>(bad_rows);
  version.seed = static_cast<std::uint64_t>(seed);
  version.source_bytes = static_cast<std::uint64_t>(source_bytes);
  SAMOVAR_TRY(version.created_by, body.text("created_by", 64));
  SAMOVAR_TRY(version.source_name, body.text("source_name", kFileNameBytesMax));
  SAMOVAR_TRY(version.source_sha256, body.text("source_sha256", 64));
  SAMOVAR_TRY(const Bytes schema, body.bytes("schema", 2, kSchemaBytesMax));
  SAMOVAR_TRY(const Fields schema_fields, Fields::parse(as_text(schema)));
  version.schema_json = schema_fields.to_json();
  out.columns = static_cast<std::int64_t>(schema_fields.items("columns"));
  if (out.columns == 0) return Error{Errc::invalid, "schema: has no columns"};
  SAMOVAR_TRY(const Bytes options, body.bytes("options", 2, kOptionsBytesMax));
  SAMOVAR_TRY(version.options_json, canonical_json_object(as_text(options), kOptionsBytesMax));
  SAMOVAR_TRY(const auto notes, body.texts("notes", kNotesMax, kNoteBytesMax));
  out.notes_json = Fields().set("notes", notes).to_json();
  SAMOVAR_TRY(version.wrapped_key, body.bytes("wrapped_key", kWrappedKeyBytesMin, kWrappedKeyBytesMax));
  SAMOVAR_TRY(version.key_commitment, body.bytes("key_commitment", 0, 64));
  SAMOVAR_CHECK(read_pieces(body, version));
  return out;
}

void insert_version(Context& context, const std::string& id, std::uint32_t number, const Manifest& manifest) {
  const DatasetVersion& version = manifest.version;
  run(context.db, "INSERT INTO dataset_versions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", id,
      number, context.now, version.created_by, version.schema_json, version.options_json, manifest.columns,
      version.rows, version.bad_rows, version.seed, version.source_name, version.source_sha256,
      version.source_bytes, manifest.notes_json, version.key_commitment);
  run(context.db, "INSERT INTO dataset_keys VALUES (?, ?, ?)", id, number, version.wrapped_key);
  for (const ShardRecord& shard : version.shards) {
    run(context.db, "INSERT INTO shards VALUES (?, ?, ?, ?, ?, ?, ?, ?, '', 0)", id, number, shard.number,
        shard.rows, shard.blocks, shard.plain_bytes, shard.stored_bytes, shard.hash);
    add_holders(context.db, shard_key(id, number, shard.number), shard.node_ids);
  }
  // A manifest from when a box was alone does not say where its objects lie.
  const std::string only = context.body.has("holders") ? std::string() : only_node(context.db);
  for (const ObjectRecord& object : version.objects) {
    run(context.db, "INSERT INTO dataset_objects VALUES (?, ?, ?, ?, ?)", id, number, object.name,
        object.stored_bytes, object.hash);
    const std::string key = object_key(id, number, object.name);
    add_holders(context.db, key, object.node_ids);
    if (!only.empty()) add_holder(context.db, key, only);
  }
}

Result<void> insert_source(Context& context, const std::string& id, const Bytes& wrapped) {
  if (wrapped.empty()) return {};
  run(context.db, "INSERT INTO dataset_keys VALUES (?, 0, ?)", id, wrapped);
  if (!context.body.has("source")) {
    if (const std::string only = only_node(context.db); !only.empty())
      add_holder(context.db, source_key(id), only);
    return {};
  }
  SAMOVAR_TRY(const ObjectRecord source, read_source(context.body));
  add_holders(context.db, source_key(id), source.node_ids);
  if (!source.hash.empty()) record_file(context.db, source_key(id), source.stored_bytes, source.hash);
  return {};
}

Result<void> insert_dataset(Context& context, const std::string& id, const std::string& name,
                            const Manifest& manifest) {
  SAMOVAR_CHECK(check_dataset_name(name));
  SAMOVAR_TRY(const std::string description, read_description(context.body));
  SAMOVAR_TRY(const User owner, need_user(context, "owner_id"));
  SAMOVAR_TRY(const Bytes wrapped, context.body.bytes("wrapped_source_key", 0, kWrappedKeyBytesMax));
  if (find_dataset(context.db, id)) return Error{Errc::conflict, "id: is in use"};
  if (find_dataset_by_name(context.db, name)) return refuse(Refusal::dataset_name_taken);
  Query count(context.db, "SELECT count(*) FROM datasets");
  if (count.next() && count.number(0) >= kDatasetsMax)
    return Error{Errc::busy, "there are as many data sets as a box can have: destroy some first"};
  run(context.db, "INSERT INTO datasets VALUES (?, ?, ?, ?, ?, ?, 1, ?, NULL, 1)", id, name, name_key(name),
      description, owner.id, context.now, manifest.version.source_bytes);
  return insert_source(context, id, wrapped);
}

// What has a holder in the manifest, to be looked for once those that were removed are forgotten.
std::vector<std::string> keys_of(const Context& context, const std::string& id, std::uint32_t number,
                                 const Manifest& manifest) {
  std::vector<std::string> keys;
  for (const ShardRecord& shard : manifest.version.shards)
    if (!shard.node_ids.empty()) keys.push_back(shard_key(id, number, shard.number));
  for (const ObjectRecord& object : manifest.version.objects)
    if (!object.node_ids.empty()) keys.push_back(object_key(id, number, object.name));
  if (context.body.has("source")) keys.push_back(source_key(id));
  return keys;
}

// The next number; the data set must be there and nobody else may have made this one meanwhile.
Result<std::uint32_t> next_version(Context& context) {
  SAMOVAR_TRY(const Dataset dataset, need_dataset(context));
  if (dataset.binned_at) return refuse(Refusal::dataset_binned);
  SAMOVAR_TRY(const std::int64_t wanted, context.body.number("version", 0, kVersionsMax));
  const std::uint32_t next = dataset.version + 1;
  if (wanted > 1 && wanted != next) return refuse(Refusal::stale_revision);
  if (next > kVersionsMax)
    return Error{Errc::busy,
                 fmt::format("a data set has at most {} versions: make a new data set", kVersionsMax)};
  run(context.db, "UPDATE datasets SET version = ?, revision = revision + 1 WHERE id = ?", next, dataset.id);
  return next;
}

}  // namespace

Result<Fields> apply_dataset_commit(Context& context) {
  SAMOVAR_TRY(const std::string id, context.body.text("id", 64, 1));
  SAMOVAR_TRY(const std::string name, context.body.text("name", kDatasetNameBytesMax));
  SAMOVAR_TRY(const std::string operation_id, context.body.text("operation_id", 64));
  SAMOVAR_TRY(const Manifest manifest, read_manifest(context.body));
  std::uint32_t number = 1;
  if (name.empty()) {
    SAMOVAR_TRY(number, next_version(context));
  } else {
    SAMOVAR_CHECK(insert_dataset(context, id, name, manifest));
  }
  insert_version(context, id, number, manifest);
  forget_holders_removed(context.db);
  // A node may be removed between the last copy that it was given and this command.
  SAMOVAR_CHECK(check_held(context.body, context.db, keys_of(context, id, number, manifest)));
  if (!operation_id.empty()) SAMOVAR_CHECK(finish_operation(context, operation_id, id, number));
  const DatasetVersion& version = manifest.version;
  Fields details;
  if (!name.empty()) details.set("name", name);
  details.set("version", static_cast<std::int64_t>(number)).set("rows", version.rows);
  details.set("bad_rows", version.bad_rows).set("columns", manifest.columns);
  details.set("shards", version.shards.size()).set("source_sha256", version.source_sha256);
  context.audit(name.empty() ? "dataset.version" : "dataset.create", id, details);
  context.changed(Change::Kind::datasets, id);
  return Fields().set("id", id).set("version", static_cast<std::int64_t>(number));
}

}  // namespace samovar::cluster
