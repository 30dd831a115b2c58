// The replicated state machine: commands into SQLite in memory.
//
// Every command runs in one transaction with its audit entry: all of it happened, or nothing. Applying
// is deterministic and never fails; a command that cannot be done yields a reply that says why.
//
// Threading: loop only.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/cluster/command.hpp"
#include "daemon/cluster/placement.hpp"
#include "daemon/cluster/sqlite.hpp"
#include "daemon/cluster/types.hpp"
#include "daemon/raft/consensus_log.hpp"

namespace samovar::cluster {

class ClusterMachine final : public raft::StateMachine {
 public:
  static Result<std::unique_ptr<ClusterMachine>> create();

  Bytes apply(std::uint64_t index, ByteView bytes) override;
  Result<Bytes> snapshot() override;
  Result<void> restore(ByteView snapshot) override;

  // For queries; changes go through apply.
  Db& db() { return *db_; }
  WallTime last_time() const { return last_time_; }
  // Members, and the list of all files: asked for often, changed seldom.
  const std::vector<NodeRecord>& nodes();
  const std::vector<StoredFile>& stored_files();
  Bytes state_hash() const;
  // Why this program cannot follow its cluster any more; empty while it can.
  const std::string& behind() const { return behind_; }
  void on_change(std::function<void(const Change&)> listener) { listener_ = std::move(listener); }
  // A command took keys out of the state that are still in the log's entries.
  void on_keys_destroyed(std::function<void()> listener) { keys_destroyed_ = std::move(listener); }

 private:
  explicit ClusterMachine(std::unique_ptr<Db> db) : db_(std::move(db)) {}
  Result<Fields> execute(std::uint64_t index, const Command& command, std::vector<Change>& changes);
  std::optional<Result<Fields>> earlier_reply(const Command& command, WallTime now);
  void remember_reply(const Command& command, const Fields& reply, WallTime now);
  void purge(WallTime now, std::vector<Change>& changes);
  void fall_behind(const std::string& why);

  std::unique_ptr<Db> db_;
  WallTime last_time_{};  // also in the table meta
  bool set_up_ = false;   // known to be; never undone but by another state
  std::string behind_;
  std::optional<std::vector<NodeRecord>> nodes_;  // until a command changes them
  std::optional<std::vector<StoredFile>> files_;
  std::function<void(const Change&)> listener_;
  std::function<void()> keys_destroyed_;
};

}  // namespace samovar::cluster
