#include "daemon/cluster/schema.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "daemon/cluster/copies.hpp"
#include "security/hash.hpp"

namespace samovar::cluster {
namespace {

constexpr std::int64_t kApplicationId = 0x53414d56;  // "SAMV"

struct Table {
  const char* name;
  const char* key;  // order of rows when the state is hashed
  const char* sql;
  std::int64_t since = 1;  // the schema version that brought it
};

constexpr const char* kMeta = R"(
CREATE TABLE meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
)";

constexpr const char* kCluster = R"(
CREATE TABLE cluster (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  id TEXT NOT NULL, name TEXT NOT NULL, time_zone TEXT NOT NULL, created_us INTEGER NOT NULL, revision INTEGER NOT NULL);
)";

constexpr const char* kNodes = R"(
CREATE TABLE nodes (
  id TEXT PRIMARY KEY, name TEXT NOT NULL, hostname TEXT NOT NULL, model TEXT NOT NULL, version TEXT NOT NULL,
  arch TEXT NOT NULL, joined_us INTEGER NOT NULL, revision INTEGER NOT NULL) WITHOUT ROWID;
)";

constexpr const char* kUsers = R"(
CREATE TABLE users (
  id TEXT PRIMARY KEY, username TEXT NOT NULL UNIQUE, display_name TEXT NOT NULL, role TEXT NOT NULL,
  password_hash TEXT NOT NULL, disabled INTEGER NOT NULL,
  failed INTEGER NOT NULL, failed_us INTEGER NOT NULL, locked_until_us INTEGER,
  created_us INTEGER NOT NULL, last_login_us INTEGER, last_login_address TEXT NOT NULL,
  revision INTEGER NOT NULL) WITHOUT ROWID;
)";

// Browsers that logged in before: their failures are counted apart, so that a stranger who locks an
// account does not lock out its owner.
constexpr const char* kDevices = R"(
CREATE TABLE devices (
  user_id TEXT NOT NULL, hash BLOB NOT NULL,
  failed INTEGER NOT NULL, failed_us INTEGER NOT NULL, locked_until_us INTEGER, seen_us INTEGER NOT NULL,
  PRIMARY KEY (user_id, hash)) WITHOUT ROWID;
)";

constexpr const char* kSessions = R"(
CREATE TABLE sessions (
  id TEXT PRIMARY KEY, secret_hash BLOB NOT NULL UNIQUE, user_id TEXT NOT NULL, kind TEXT NOT NULL,
  created_us INTEGER NOT NULL, last_seen_us INTEGER NOT NULL, expires_us INTEGER NOT NULL, reauth_us INTEGER NOT NULL,
  address TEXT NOT NULL, user_agent TEXT NOT NULL,
  previous_login_us INTEGER, previous_login_address TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX sessions_by_user ON sessions (user_id);
CREATE INDEX sessions_by_expiry ON sessions (expires_us);
)";

constexpr const char* kTokens = R"(
CREATE TABLE tokens (
  id TEXT PRIMARY KEY, lookup TEXT NOT NULL UNIQUE, name TEXT NOT NULL, user_id TEXT NOT NULL,
  secret_hash BLOB NOT NULL, scopes TEXT NOT NULL, cidr TEXT, created_us INTEGER NOT NULL,
  expires_us INTEGER NOT NULL, last_used_us INTEGER) WITHOUT ROWID;
CREATE INDEX tokens_by_user ON tokens (user_id);
CREATE INDEX tokens_by_expiry ON tokens (expires_us);
)";

constexpr const char* kSettings = R"(
CREATE TABLE settings (
  key TEXT PRIMARY KEY, json TEXT NOT NULL, revision INTEGER NOT NULL, updated_us INTEGER NOT NULL) WITHOUT ROWID;
)";

// Answers already given, by request id; and whole HTTP answers, by the client's key.
constexpr const char* kReplies = R"(
CREATE TABLE requests (
  id TEXT PRIMARY KEY, type TEXT NOT NULL, user_id TEXT NOT NULL, reply BLOB NOT NULL,
  expires_us INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX requests_by_expiry ON requests (expires_us);
)";
constexpr const char* kResponses = R"(
CREATE TABLE responses (
  user_id TEXT NOT NULL, key TEXT NOT NULL, fingerprint BLOB NOT NULL, status INTEGER NOT NULL, body TEXT NOT NULL,
  expires_us INTEGER NOT NULL, PRIMARY KEY (user_id, key)) WITHOUT ROWID;
CREATE INDEX responses_by_expiry ON responses (expires_us);
)";

constexpr const char* kAudit = R"(
CREATE TABLE audit (
  seq INTEGER PRIMARY KEY, log_index INTEGER NOT NULL, time_us INTEGER NOT NULL, actor_id TEXT NOT NULL,
  actor TEXT NOT NULL, role TEXT NOT NULL, auth TEXT NOT NULL, address TEXT NOT NULL, action TEXT NOT NULL,
  object TEXT NOT NULL, result TEXT NOT NULL, details TEXT NOT NULL, prev BLOB NOT NULL, hash BLOB NOT NULL);
CREATE INDEX audit_by_time ON audit (time_us);
CREATE INDEX audit_by_actor ON audit (actor, seq);
CREATE INDEX audit_by_action ON audit (action, seq);
CREATE TRIGGER audit_is_never_changed BEFORE UPDATE ON audit
  BEGIN SELECT RAISE(ABORT, 'audit entries are never changed'); END;
CREATE TRIGGER audit_is_never_deleted BEFORE DELETE ON audit
  BEGIN SELECT RAISE(ABORT, 'audit entries are never deleted'); END;
CREATE TRIGGER audit_has_no_gaps BEFORE INSERT ON audit
  WHEN NEW.seq IS NOT (SELECT coalesce(max(seq), 0) + 1 FROM audit)
  BEGIN SELECT RAISE(ABORT, 'audit entries are written one after the other'); END;
)";

constexpr const char* kDatasets = R"(
CREATE TABLE datasets (
  id TEXT PRIMARY KEY, name TEXT NOT NULL, name_key TEXT NOT NULL, description TEXT NOT NULL, owner_id TEXT NOT NULL,
  created_us INTEGER NOT NULL, version INTEGER NOT NULL, source_bytes INTEGER NOT NULL, binned_us INTEGER,
  revision INTEGER NOT NULL) WITHOUT ROWID;
CREATE UNIQUE INDEX datasets_by_name ON datasets (name_key) WHERE binned_us IS NULL;
CREATE INDEX datasets_by_owner ON datasets (owner_id);
)";

constexpr const char* kDatasetVersions = R"(
CREATE TABLE dataset_versions (
  dataset_id TEXT NOT NULL, version INTEGER NOT NULL, created_us INTEGER NOT NULL, created_by TEXT NOT NULL,
  schema_json TEXT NOT NULL, options_json TEXT NOT NULL, columns INTEGER NOT NULL, rows INTEGER NOT NULL,
  bad_rows INTEGER NOT NULL, seed INTEGER NOT NULL, source_name TEXT NOT NULL, source_sha256 TEXT NOT NULL,
  source_bytes INTEGER NOT NULL, notes_json TEXT NOT NULL, key_commitment BLOB NOT NULL,
  PRIMARY KEY (dataset_id, version)) WITHOUT ROWID;
)";

// Wrapped keys apart from what they open, so that destroying is deleting here. Version 0 is the source's.
constexpr const char* kDatasetKeys = R"(
CREATE TABLE dataset_keys (
  dataset_id TEXT NOT NULL, version INTEGER NOT NULL, wrapped BLOB NOT NULL,
  PRIMARY KEY (dataset_id, version)) WITHOUT ROWID;
)";

constexpr const char* kShards = R"(
CREATE TABLE shards (
  dataset_id TEXT NOT NULL, version INTEGER NOT NULL, number INTEGER NOT NULL, rows INTEGER NOT NULL,
  blocks INTEGER NOT NULL, plain_bytes INTEGER NOT NULL, stored_bytes INTEGER NOT NULL, hash BLOB NOT NULL,
  nodes TEXT NOT NULL, damaged INTEGER NOT NULL, PRIMARY KEY (dataset_id, version, number)) WITHOUT ROWID;
)";

constexpr const char* kDatasetObjects = R"(
CREATE TABLE dataset_objects (
  dataset_id TEXT NOT NULL, version INTEGER NOT NULL, name TEXT NOT NULL, stored_bytes INTEGER NOT NULL,
  hash BLOB NOT NULL, PRIMARY KEY (dataset_id, version, name)) WITHOUT ROWID;
)";

constexpr const char* kDatasetGrants = R"(
CREATE TABLE dataset_grants (
  dataset_id TEXT NOT NULL, user_id TEXT NOT NULL, granted_us INTEGER NOT NULL, granted_by TEXT NOT NULL,
  PRIMARY KEY (dataset_id, user_id)) WITHOUT ROWID;
CREATE INDEX dataset_grants_by_user ON dataset_grants (user_id);
)";

constexpr const char* kOperations = R"(
CREATE TABLE operations (
  id TEXT PRIMARY KEY, kind TEXT NOT NULL, owner_id TEXT NOT NULL, title TEXT NOT NULL, spec_json TEXT NOT NULL,
  state TEXT NOT NULL, dataset_id TEXT NOT NULL, version INTEGER NOT NULL, error TEXT NOT NULL,
  created_us INTEGER NOT NULL, ended_us INTEGER) WITHOUT ROWID;
CREATE INDEX operations_by_state ON operations (state);
CREATE INDEX operations_by_end ON operations (ended_us);
)";

constexpr const char* kJobs = R"(
CREATE TABLE jobs (
  id TEXT PRIMARY KEY, kind TEXT NOT NULL, name TEXT NOT NULL, owner_id TEXT NOT NULL, dataset_id TEXT NOT NULL,
  dataset_version INTEGER NOT NULL, spec_json TEXT NOT NULL, state TEXT NOT NULL, error TEXT NOT NULL,
  attempt INTEGER NOT NULL, model_name TEXT NOT NULL, model_version INTEGER NOT NULL, summary_json TEXT NOT NULL,
  protect INTEGER NOT NULL, created_us INTEGER NOT NULL, ended_us INTEGER, checkpoint_step INTEGER NOT NULL,
  checkpoint_hash BLOB NOT NULL, wrapped_key BLOB NOT NULL, revision INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX jobs_by_state ON jobs (state);
CREATE INDEX jobs_by_owner ON jobs (owner_id);
CREATE INDEX jobs_by_dataset ON jobs (dataset_id);
)";

// The key is the name without its case.
constexpr const char* kModels = R"(
CREATE TABLE models (
  key TEXT PRIMARY KEY, name TEXT NOT NULL, description TEXT NOT NULL, kind TEXT NOT NULL, owner_id TEXT NOT NULL,
  version INTEGER NOT NULL, serving INTEGER NOT NULL, served_before INTEGER NOT NULL, created_us INTEGER NOT NULL,
  revision INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX models_by_owner ON models (owner_id);
)";

constexpr const char* kModelVersions = R"(
CREATE TABLE model_versions (
  model_key TEXT NOT NULL, version INTEGER NOT NULL, stage TEXT NOT NULL, protect INTEGER NOT NULL,
  created_us INTEGER NOT NULL, created_by TEXT NOT NULL, job_id TEXT NOT NULL, dataset_id TEXT NOT NULL,
  dataset_version INTEGER NOT NULL, dataset_hash TEXT NOT NULL, code_version TEXT NOT NULL, spec_json TEXT NOT NULL,
  signature_json TEXT NOT NULL, headline_json TEXT NOT NULL, stored_bytes INTEGER NOT NULL, hash BLOB NOT NULL,
  wrapped_key BLOB NOT NULL, evaluation_name TEXT NOT NULL, evaluation_hash BLOB NOT NULL,
  PRIMARY KEY (model_key, version)) WITHOUT ROWID;
CREATE INDEX model_versions_by_dataset ON model_versions (dataset_id);
)";

constexpr const char* kModelGrants = R"(
CREATE TABLE model_grants (
  model_key TEXT NOT NULL, user_id TEXT NOT NULL, granted_us INTEGER NOT NULL, granted_by TEXT NOT NULL,
  PRIMARY KEY (model_key, user_id)) WITHOUT ROWID;
CREATE INDEX model_grants_by_user ON model_grants (user_id);
)";

// What a node is to the cluster, beside its row in `nodes`; one without a row here is active and of level 1.
constexpr const char* kMembers = R"(
CREATE TABLE members (
  node_id TEXT PRIMARY KEY, state TEXT NOT NULL, addresses TEXT NOT NULL, sign_public BLOB NOT NULL,
  box_public BLOB NOT NULL, disk_bytes INTEGER NOT NULL, level INTEGER NOT NULL, removed_us INTEGER) WITHOUT ROWID;
)";

// Who holds which sealed file. `shards.nodes` was this once, and is empty since.
constexpr const char* kCopies = R"(
CREATE TABLE copies (key TEXT NOT NULL, node_id TEXT NOT NULL, PRIMARY KEY (key, node_id)) WITHOUT ROWID;
CREATE INDEX copies_by_node ON copies (node_id);
CREATE INDEX model_versions_by_folder ON model_versions (evaluation_name);
)";

// Sizes and hashes of files that no other table has: sources, evaluations.
constexpr const char* kFiles = R"(
CREATE TABLE files (key TEXT PRIMARY KEY, stored_bytes INTEGER NOT NULL, hash BLOB NOT NULL) WITHOUT ROWID;
)";

constexpr const char* kDatasetCopies = R"(
CREATE TABLE dataset_copies (dataset_id TEXT PRIMARY KEY, copies INTEGER NOT NULL) WITHOUT ROWID;
)";

// Who carries out an operation or a job.
constexpr const char* kCarriers = R"(
CREATE TABLE carriers (id TEXT PRIMARY KEY, node_id TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX carriers_by_node ON carriers (node_id);
)";

// How a job is carried out over the nodes: the plan of its latest epoch, the file of its last checkpoint.
constexpr const char* kJobRuns = R"(
CREATE TABLE job_runs (
  id TEXT PRIMARY KEY, run INTEGER NOT NULL, epoch INTEGER NOT NULL, plan_json TEXT NOT NULL,
  checkpoint_name TEXT NOT NULL) WITHOUT ROWID;
)";

// Which of the waiting jobs comes first; one without a row here is as urgent as most, 0.
constexpr const char* kJobPriorities = R"(
CREATE TABLE job_priorities (id TEXT PRIMARY KEY, priority INTEGER NOT NULL) WITHOUT ROWID;
)";

constexpr std::array kTables = {
    Table{"meta", "key", kMeta},
    Table{"cluster", "one", kCluster},
    Table{"nodes", "id", kNodes},
    Table{"users", "id", kUsers},
    Table{"devices", "user_id, hash", kDevices},
    Table{"sessions", "id", kSessions},
    Table{"tokens", "id", kTokens},
    Table{"settings", "key", kSettings},
    Table{"requests", "id", kReplies},
    Table{"responses", "user_id, key", kResponses},
    Table{"audit", "seq", kAudit},
    Table{"datasets", "id", kDatasets, 2},
    Table{"dataset_versions", "dataset_id, version", kDatasetVersions, 2},
    Table{"dataset_keys", "dataset_id, version", kDatasetKeys, 2},
    Table{"shards", "dataset_id, version, number", kShards, 2},
    Table{"dataset_objects", "dataset_id, version, name", kDatasetObjects, 2},
    Table{"dataset_grants", "dataset_id, user_id", kDatasetGrants, 2},
    Table{"operations", "id", kOperations, 2},
    Table{"jobs", "id", kJobs, 3},
    Table{"models", "key", kModels, 3},
    Table{"model_versions", "model_key, version", kModelVersions, 3},
    Table{"model_grants", "model_key, user_id", kModelGrants, 3},
    Table{"members", "node_id", kMembers, 4},
    Table{"copies", "key, node_id", kCopies, 4},
    Table{"files", "key", kFiles, 4},
    Table{"dataset_copies", "dataset_id", kDatasetCopies, 4},
    Table{"carriers", "id", kCarriers, 4},
    Table{"job_runs", "id", kJobRuns, 5},
    Table{"job_priorities", "id", kJobPriorities, 6},
};

std::int64_t pragma(Db& db, const char* sql) {
  Query query(db, sql);
  return query.next() ? query.number(0) : 0;
}

using Description = std::vector<std::array<std::string, 4>>;

// Everything that is in it, with the words that made it.
Description describe(Db& db) {
  Description all;
  for (Query row(db, "SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_schema ORDER BY type, name");
       row.next();)
    all.push_back({row.text(0), row.text(1), row.text(2), row.text(3)});
  return all;
}

struct Empty {
  Bytes image;
  Description description;
};

Result<Empty> make_empty() {
  SAMOVAR_TRY(auto db, Db::open_memory());
  for (const Table& table : kTables) SAMOVAR_CHECK(db->exec(table.sql));
  SAMOVAR_CHECK(db->exec(
      fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {};", kApplicationId, kSchemaVersion)
          .c_str()));
  Empty empty;
  empty.description = describe(*db);
  SAMOVAR_TRY(empty.image, db->serialize());
  SAMOVAR_CHECK(db->take_error());
  return empty;
}

// Made once: the pages are copied faster than a hundred statements are read.
const Result<Empty>& empty_state() {
  static const Result<Empty> empty = make_empty();
  return empty;
}

}  // namespace

Result<void> create_schema(Db& db) {
  const Result<Empty>& empty = empty_state();
  if (!empty) return empty.error();
  return db.load_own(empty->image);
}

Result<void> upgrade_schema(Db& db) {
  if (pragma(db, "PRAGMA application_id") != kApplicationId)
    return Error{Errc::corrupt, "the snapshot does not hold this product's state"};
  const std::int64_t version = pragma(db, "PRAGMA user_version");
  if (version < 1 || version > kSchemaVersion)
    return Error{Errc::unsupported,
                 fmt::format("the snapshot has schema version {}, this program knows {}: install a "
                             "later version",
                             version, kSchemaVersion)};
  if (version == kSchemaVersion) return db.take_error();
  for (const Table& table : kTables)
    if (table.since > version) SAMOVAR_CHECK(db.exec(table.sql));
  if (version < 4) adopt_single_copies(db);
  SAMOVAR_CHECK(db.take_error());
  return db.exec(fmt::format("PRAGMA user_version = {};", kSchemaVersion).c_str());
}

Result<void> downgrade_schema(Db& db, std::int64_t version) {
  for (const Table& table : kTables)
    if (table.since > version) SAMOVAR_CHECK(db.exec(fmt::format("DROP TABLE {};", table.name).c_str()));
  return db.exec(fmt::format("PRAGMA user_version = {};", version).c_str());
}

// Level 1 was a box alone: nobody of that level ever gets a snapshot from another one.
std::int64_t schema_version_of(unsigned level) {
  constexpr std::array<std::int64_t, 5> kVersions = {4, 4, 4, 5, 6};  // by level
  return kVersions[std::min<std::size_t>(level, kVersions.size() - 1)];
}

Result<void> check_schema(Db& db) {
  if (pragma(db, "PRAGMA application_id") != kApplicationId ||
      pragma(db, "PRAGMA user_version") != kSchemaVersion)
    return Error{Errc::corrupt, "the snapshot does not hold this product's state"};
  // What it is made of must be, word for word, what we make: no other trigger, view or table.
  const Result<Empty>& empty = empty_state();
  if (!empty) return empty.error();
  if (describe(db) != empty->description) return Error{Errc::corrupt, "the snapshot's tables are not ours"};
  return db.take_error();
}

Bytes hash_state(Db& db, std::int64_t version) {
  security::Hasher hasher;
  for (const Table& table : kTables) {
    if (table.since > version) continue;
    hasher.update(as_bytes(table.name));
    for (Query row(db, fmt::format("SELECT * FROM {} ORDER BY {}", table.name, table.key)); row.next();) {
      Bytes canonical;
      for (int column = 0; column < row.columns(); ++column) row.append_canonical(column, canonical);
      hasher.update(canonical);
    }
  }
  const auto hash = hasher.finish();
  return {hash.begin(), hash.end()};
}

}  // namespace samovar::cluster
