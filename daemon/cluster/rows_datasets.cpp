#include "daemon/cluster/rows_datasets.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "daemon/cluster/copies.hpp"
#include "daemon/cluster/fields.hpp"
#include "daemon/cluster/name_key.hpp"

namespace samovar::cluster {
namespace {

constexpr std::string_view kDatasetColumns =
    "id, name, description, owner_id, created_us, version, source_bytes, binned_us, revision, "
    "EXISTS (SELECT 1 FROM dataset_keys k WHERE k.dataset_id = datasets.id AND k.version = 0), "
    "coalesce((SELECT copies FROM dataset_copies c WHERE c.dataset_id = datasets.id), 0)";

std::uint64_t count_of(const Query& row, int column) {
  return static_cast<std::uint64_t>(row.number(column));
}
std::uint32_t small_of(const Query& row, int column) {
  return static_cast<std::uint32_t>(row.number(column));
}

Dataset dataset_of(Db& db, const Query& row) {
  Dataset dataset;
  dataset.id = row.text(0);
  dataset.name = row.text(1);
  dataset.description = row.text(2);
  dataset.owner_id = row.text(3);
  dataset.created_at = row.time(4);
  dataset.version = small_of(row, 5);
  dataset.source_bytes = count_of(row, 6);
  dataset.binned_at = row.optional_time(7);
  dataset.revision = count_of(row, 8);
  dataset.has_source = row.number(9) != 0;
  dataset.copies = small_of(row, 10);
  for (Query grant(db, "SELECT user_id FROM dataset_grants WHERE dataset_id = ? ORDER BY user_id",
                   dataset.id);
       grant.next();)
    dataset.granted_ids.push_back(grant.text(0));
  return dataset;
}

using Holders = std::map<std::string, std::vector<std::string>>;

std::vector<std::string> holders_in(const Holders& holders, const std::string& key) {
  const auto found = holders.find(key);
  return found == holders.end() ? std::vector<std::string>() : found->second;
}

std::vector<ShardRecord> shards_of(Db& db, std::string_view id, std::uint32_t version,
                                   const Holders& holders) {
  std::vector<ShardRecord> shards;
  for (Query row(db,
                 "SELECT number, rows, blocks, plain_bytes, stored_bytes, hash, damaged FROM shards "
                 "WHERE dataset_id = ? AND version = ? ORDER BY number",
                 id, version);
       row.next();) {
    ShardRecord shard;
    shard.number = small_of(row, 0);
    shard.rows = count_of(row, 1);
    shard.blocks = small_of(row, 2);
    shard.plain_bytes = count_of(row, 3);
    shard.stored_bytes = count_of(row, 4);
    shard.hash = row.bytes(5);
    shard.node_ids = holders_in(holders, shard_key(id, version, shard.number));
    shard.damaged = row.number(6) != 0;
    shards.push_back(std::move(shard));
  }
  return shards;
}

std::vector<ObjectRecord> objects_of(Db& db, std::string_view id, std::uint32_t version,
                                     const Holders& holders) {
  std::vector<ObjectRecord> objects;
  for (Query row(db,
                 "SELECT name, stored_bytes, hash FROM dataset_objects WHERE dataset_id = ? AND version = ? "
                 "ORDER BY name",
                 id, version);
       row.next();)
    objects.push_back({row.text(0), count_of(row, 1), row.bytes(2),
                       holders_in(holders, object_key(id, version, row.text(0)))});
  return objects;
}

std::uint32_t or_latest(Db& db, std::string_view id, std::uint32_t version) {
  if (version != 0) return version;
  Query row(db, "SELECT version FROM datasets WHERE id = ?", id);
  return row.next() ? small_of(row, 0) : 0;
}

constexpr std::string_view kSummary =
    "SELECT v.version, v.created_us, v.created_by, v.rows, v.bad_rows, v.columns, count(s.number), "
    "coalesce(sum(s.damaged), 0), coalesce(sum(s.plain_bytes), 0), coalesce(sum(s.stored_bytes), 0) + "
    "coalesce((SELECT sum(o.stored_bytes) FROM dataset_objects o WHERE o.dataset_id = v.dataset_id AND "
    "o.version = v.version), 0) FROM dataset_versions v LEFT JOIN shards s ON s.dataset_id = v.dataset_id "
    "AND s.version = v.version WHERE v.dataset_id = ?1 AND (?2 = 0 OR v.version = ?2) "
    "GROUP BY v.version ORDER BY v.version DESC";

VersionSummary summary_of(const Query& row) {
  VersionSummary summary;
  summary.version = small_of(row, 0);
  summary.created_at = row.time(1);
  summary.created_by = row.text(2);
  summary.rows = count_of(row, 3);
  summary.bad_rows = count_of(row, 4);
  summary.columns = small_of(row, 5);
  summary.shards = small_of(row, 6);
  summary.shards_damaged = small_of(row, 7);
  summary.plain_bytes = count_of(row, 8);
  summary.stored_bytes = count_of(row, 9);
  return summary;
}

constexpr std::string_view kOperationColumns =
    "id, kind, owner_id, title, spec_json, state, dataset_id, version, error, created_us, ended_us, "
    "coalesce((SELECT node_id FROM carriers c WHERE c.id = operations.id), '')";

OperationRecord operation_of(const Query& row) {
  OperationRecord operation;
  operation.id = row.text(0);
  operation.kind = row.text(1);
  operation.owner_id = row.text(2);
  operation.title = row.text(3);
  operation.spec_json = row.text(4);
  operation.state = row.text(5);
  operation.dataset_id = row.text(6);
  operation.version = small_of(row, 7);
  operation.error = row.text(8);
  operation.created_at = row.time(9);
  operation.ended_at = row.optional_time(10);
  operation.node_id = row.text(11);
  return operation;
}

}  // namespace

std::optional<Dataset> find_dataset(Db& db, std::string_view id) {
  Query row(db, fmt::format("SELECT {} FROM datasets WHERE id = ?", kDatasetColumns), id);
  if (!row.next()) return std::nullopt;
  return dataset_of(db, row);
}

std::optional<Dataset> find_dataset_by_name(Db& db, std::string_view name) {
  Query row(db,
            fmt::format("SELECT {} FROM datasets WHERE name_key = ? AND binned_us IS NULL", kDatasetColumns),
            name_key(name));
  if (!row.next()) return std::nullopt;
  return dataset_of(db, row);
}

// Ids are ULIDs: their order is that of their making.
Page<Dataset> list_datasets(Db& db, const DatasetFilter& filter, const PageQuery& page) {
  const std::int64_t limit = std::clamp(page.limit, 1u, kPageMax);
  Query rows(db,
             fmt::format("SELECT {} FROM datasets WHERE (binned_us IS NOT NULL) = ?1 AND (?2 IS NULL OR "
                         "owner_id = ?2 OR EXISTS (SELECT 1 FROM dataset_grants g WHERE g.dataset_id = "
                         "datasets.id AND g.user_id = ?2)) AND (?3 = '' OR instr(name_key, ?3) > 0 OR "
                         "instr(lower(description), ?3) > 0) AND (?4 = '' OR id < ?4) "
                         "ORDER BY id DESC LIMIT ?5",
                         kDatasetColumns),
             filter.bin, filter.user_id, name_key(filter.text), page.cursor, limit + 1);
  Page<Dataset> out;
  while (rows.next()) {
    if (out.items.size() == static_cast<std::size_t>(limit)) {
      out.next_cursor = out.items.back().id;
      break;
    }
    out.items.push_back(dataset_of(db, rows));
  }
  return out;
}

std::optional<DatasetVersion> find_version(Db& db, std::string_view id, std::uint32_t version) {
  const std::uint32_t wanted = or_latest(db, id, version);
  Query row(db,
            "SELECT created_us, created_by, schema_json, options_json, rows, bad_rows, seed, source_name, "
            "source_sha256, source_bytes, notes_json, key_commitment FROM dataset_versions WHERE dataset_id "
            "= ? AND version = ?",
            id, wanted);
  if (!row.next()) return std::nullopt;
  DatasetVersion out;
  out.dataset_id = id;
  out.version = wanted;
  out.created_at = row.time(0);
  out.created_by = row.text(1);
  out.schema_json = row.text(2);
  out.options_json = row.text(3);
  out.rows = count_of(row, 4);
  out.bad_rows = count_of(row, 5);
  out.seed = count_of(row, 6);
  out.source_name = row.text(7);
  out.source_sha256 = row.text(8);
  out.source_bytes = count_of(row, 9);
  if (const auto notes = Fields::parse(row.text(10)))
    out.notes = notes->texts("notes", 64, 512).value_or(std::vector<std::string>());
  out.key_commitment = row.bytes(11);
  out.wrapped_key = find_wrapped_key(db, id, wanted).value_or(Bytes());
  const Holders holders = holders_below(db, object_key(id, wanted, {}));
  out.shards = shards_of(db, id, wanted, holders);
  out.objects = objects_of(db, id, wanted, holders);
  return out;
}

std::optional<VersionSummary> find_summary(Db& db, std::string_view id, std::uint32_t version) {
  const std::uint32_t wanted = or_latest(db, id, version);
  if (wanted == 0) return std::nullopt;
  Query row(db, kSummary, id, wanted);
  if (!row.next()) return std::nullopt;
  return summary_of(row);
}

std::vector<VersionSummary> list_versions(Db& db, std::string_view id) {
  std::vector<VersionSummary> versions;
  for (Query row(db, kSummary, id, 0u); row.next();) versions.push_back(summary_of(row));
  return versions;
}

std::vector<VersionRef> list_version_refs(Db& db) {
  std::vector<VersionRef> refs;
  for (Query row(db, "SELECT dataset_id, version FROM dataset_versions ORDER BY dataset_id, version");
       row.next();)
    refs.push_back({row.text(0), small_of(row, 1)});
  return refs;
}

std::optional<Bytes> find_wrapped_key(Db& db, std::string_view id, std::uint32_t version) {
  Query row(db, "SELECT wrapped FROM dataset_keys WHERE dataset_id = ? AND version = ?", id, version);
  if (!row.next()) return std::nullopt;
  return row.bytes(0);
}

std::optional<OperationRecord> find_operation(Db& db, std::string_view id) {
  Query row(db, fmt::format("SELECT {} FROM operations WHERE id = ?", kOperationColumns), id);
  if (!row.next()) return std::nullopt;
  return operation_of(row);
}

std::vector<OperationRecord> list_operations(Db& db, const std::optional<std::string>& owner_id) {
  std::vector<OperationRecord> operations;
  for (Query row(db,
                 fmt::format("SELECT {} FROM operations WHERE (?1 IS NULL OR owner_id = ?1) ORDER BY id DESC",
                             kOperationColumns),
                 owner_id);
       row.next();)
    operations.push_back(operation_of(row));
  return operations;
}

}  // namespace samovar::cluster
