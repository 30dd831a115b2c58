#include "daemon/cluster/state_machine.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/failpoint.hpp"
#include "base/log.hpp"
#include "daemon/cluster/context.hpp"
#include "daemon/cluster/copies.hpp"
#include "daemon/cluster/dataset_types.hpp"
#include "daemon/cluster/rows.hpp"
#include "daemon/cluster/schema.hpp"

namespace samovar::cluster {
namespace {

// Tokens that ran out stay visible for a while, so that people see why a script stopped.
constexpr std::chrono::hours kExpiredTokenKept{24 * 30};
constexpr std::chrono::hours kDeviceKept{24 * 90};

constexpr std::array kAllKinds = {Change::Kind::cluster, Change::Kind::users,    Change::Kind::sessions,
                                  Change::Kind::tokens,  Change::Kind::settings, Change::Kind::nodes,
                                  Change::Kind::audit,   Change::Kind::datasets, Change::Kind::operations,
                                  Change::Kind::jobs,    Change::Kind::models};

}  // namespace

Result<std::unique_ptr<ClusterMachine>> ClusterMachine::create() {
  SAMOVAR_TRY(auto db, Db::open_memory());
  SAMOVAR_CHECK(create_schema(*db));
  return std::unique_ptr<ClusterMachine>(new ClusterMachine(std::move(db)));
}

Bytes ClusterMachine::apply(std::uint64_t index, ByteView bytes) {
  auto command = decode_command(bytes);
  if (!command) {
    if (command.error().code() == Errc::unsupported) fall_behind(command.error().message());
    return encode_reply(std::move(command).error());
  }
  std::vector<Change> changes;
  const Result<Fields> reply = execute(index, *command, changes);
  if (!reply && reply.error().code() == Errc::internal)
    SAMOVAR_LOG(error, cluster, "a command failed", kv("type", command->type),
                kv("why", reply.error().message()));
  SAMOVAR_FAILPOINT("cluster.command.applied");
  if (reply && listener_)
    for (const Change& change : changes) listener_(change);
  return encode_reply(reply);
}

Result<Fields> ClusterMachine::execute(std::uint64_t index, const Command& command,
                                       std::vector<Change>& changes) {
  const CommandEntry* entry = find_command(command.type);
  if (entry == nullptr) {
    Error unknown{Errc::unsupported,
                  fmt::format("there is no command \"{}\": this node may be too old", command.type)};
    fall_behind(unknown.message());
    return unknown;
  }
  if (!set_up_) set_up_ = read_cluster(*db_).has_value();
  if (entry->apply != apply_cluster_init && !set_up_)
    return Error{Errc::unavailable, "this box is not set up yet"};
  const WallTime now = std::max(command.time, last_time_);
  if (auto earlier = earlier_reply(command, now)) return *std::move(earlier);

  run(*db_, "BEGIN");
  SAMOVAR_CHECK(db_->take_error());
  Context context(*db_, command, index, now);
  Result<Fields> reply = entry->apply(context);
  if (reply) {
    purge(now, context.changes);
    remember_reply(command, *reply, now);
    run(*db_,
        "INSERT INTO meta VALUES ('last_time_us', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        now);
  }
  if (auto failed = db_->take_error(); !failed) reply = std::move(failed).error();
  run(*db_, reply ? "COMMIT" : "ROLLBACK");
  SAMOVAR_CHECK(db_->take_error());
  if (!reply) return reply;
  last_time_ = now;
  changes = std::move(context.changes);
  for (const Change& change : changes) {
    if (change.kind == Change::Kind::nodes) nodes_.reset();
    // Of jobs the checkpoints are stored files.
    if (change.kind == Change::Kind::nodes || change.kind == Change::Kind::datasets ||
        change.kind == Change::Kind::models || change.kind == Change::Kind::jobs)
      files_.reset();
  }
  if (entry->destroys_keys && keys_destroyed_) keys_destroyed_();
  return reply;
}

std::optional<Result<Fields>> ClusterMachine::earlier_reply(const Command& command, WallTime now) {
  if (command.request_id.empty()) return std::nullopt;
  Query row(*db_, "SELECT type, user_id, reply FROM requests WHERE id = ? AND expires_us > ?",
            command.request_id, now);
  if (!row.next()) return std::nullopt;
  if (row.text(0) != command.type || row.text(1) != command.actor.user_id)
    return refuse(Refusal::request_reused);
  return decode_reply(row.bytes(2));
}

void ClusterMachine::remember_reply(const Command& command, const Fields& reply, WallTime now) {
  if (command.request_id.empty()) return;
  run(*db_, "INSERT OR REPLACE INTO requests VALUES (?, ?, ?, ?, ?)", command.request_id, command.type,
      command.actor.user_id, encode_reply(reply), now + kReplyKept);
}

// By the command's time, so that every node forgets the same rows at the same place in the log.
void ClusterMachine::purge(WallTime now, std::vector<Change>& changes) {
  run(*db_, "DELETE FROM sessions WHERE expires_us <= ?", now);
  if (db_->changes() > 0) changes.push_back({Change::Kind::sessions, {}, 0});
  run(*db_, "DELETE FROM tokens WHERE expires_us <= ?", now - kExpiredTokenKept);
  if (db_->changes() > 0) changes.push_back({Change::Kind::tokens, {}, 0});
  run(*db_, "DELETE FROM requests WHERE expires_us <= ?", now);
  run(*db_, "DELETE FROM responses WHERE expires_us <= ?", now);
  run(*db_, "DELETE FROM operations WHERE ended_us <= ?", now - kOperationKept);
  if (db_->changes() > 0) {
    run(*db_,
        "DELETE FROM carriers WHERE NOT EXISTS (SELECT 1 FROM operations o WHERE o.id = carriers.id) AND NOT "
        "EXISTS (SELECT 1 FROM jobs j WHERE j.id = carriers.id)");
    changes.push_back({Change::Kind::operations, {}, 0});
  }
  run(*db_, "DELETE FROM devices WHERE seen_us <= ?", now - kDeviceKept);
}

// Others did what this program does not know: what it holds is not their state any more. Its last snapshot
// and the log behind it stay, so that a later version begins there and does it right.
void ClusterMachine::fall_behind(const std::string& why) {
  if (behind_.empty())
    SAMOVAR_LOG(error, cluster, "this node is too old for its cluster: install the others' version",
                kv("why", why));
  if (behind_.empty()) behind_ = why;
}

const std::vector<NodeRecord>& ClusterMachine::nodes() {
  if (!nodes_) nodes_ = read_nodes(*db_);
  return *nodes_;
}

const std::vector<StoredFile>& ClusterMachine::stored_files() {
  if (!files_) files_ = list_stored_files(*db_);
  return *files_;
}

Result<Bytes> ClusterMachine::snapshot() {
  if (!behind_.empty()) return Error{Errc::unsupported, "this node is too old for its cluster: " + behind_};
  const std::int64_t version = schema_version_of(level_of_cluster(*db_));
  if (version == kSchemaVersion) return db_->serialize();
  // A member of the version before must be able to load it.
  SAMOVAR_TRY(const Bytes image, db_->serialize());
  SAMOVAR_TRY(auto copy, Db::open_memory());
  SAMOVAR_CHECK(copy->load(image));
  SAMOVAR_CHECK(downgrade_schema(*copy, version));
  return copy->serialize();
}

Result<void> ClusterMachine::restore(ByteView snapshot) {
  // Into a new database: one that fails to load leaves the old state as it was.
  SAMOVAR_TRY(auto db, Db::open_memory());
  SAMOVAR_CHECK(db->load(snapshot));
  SAMOVAR_CHECK(upgrade_schema(*db));
  SAMOVAR_CHECK(check_schema(*db));
  {
    Query time(*db, "SELECT value FROM meta WHERE key = 'last_time_us'");
    last_time_ = time.next() ? time.time(0) : WallTime{};
  }
  SAMOVAR_CHECK(db->take_error());
  db_ = std::move(db);
  set_up_ = false;
  nodes_.reset();
  files_.reset();
  behind_.clear();
  if (listener_)
    for (const Change::Kind kind : kAllKinds) listener_({kind, {}, 0});
  return {};
}

Bytes ClusterMachine::state_hash() const {
  return hash_state(*db_, schema_version_of(level_of_cluster(*db_)));
}

}  // namespace samovar::cluster
