// The consensus log: commands go in, come out in one order on every node, and survive power cuts.
// libraft and libuv are seen only in this folder.
//
// Threading: loop only. libuv runs inside the loop thread: its backend fd and its next timer are
//            watched through Loop, so there is no second event thread.
// Ownership: borrows the Loop and the StateMachine, which outlive it; owns the key.
// Format:    docs/formats/raft-directory.md, docs/formats/raft-entry.md, docs/formats/snapshot.md
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "base/disk.hpp"
#include "base/loop.hpp"
#include "base/result.hpp"

namespace samovar::security {
class SecretBytes;
}

namespace samovar::raft {

class LogHost;

// What the log drives. Deterministic: the same commands give the same bytes on every node.
class StateMachine {
 public:
  virtual ~StateMachine() = default;
  // Never fails: a command that cannot be done yields a reply that says so.
  virtual Bytes apply(std::uint64_t index, ByteView command) = 0;
  virtual Result<Bytes> snapshot() = 0;
  virtual Result<void> restore(ByteView snapshot) = 0;
};

// How messages of the log reach the other members, by node id. May lose them; never alters them.
class Wire {
 public:
  virtual ~Wire() = default;
  virtual void send(const std::string& node_id, Bytes message) = 0;
  virtual void on_message(std::function<void(const std::string& node_id, Bytes message)> handler) = 0;
};

enum class Voice : std::uint8_t {
  voter,
  standby,  // receives the log, votes when it is made a voter
};

struct LogMember {
  std::string node_id;
  Voice voice = Voice::voter;
  std::uint64_t match_index = 0;  // known to the leader only: how far its log goes
  bool heard = true;              // known to the leader only: answered within the election timeout
};

struct ConsensusOptions {
  std::string dir;
  std::string cluster_id;                        // bound into every seal: logs of two boxes cannot be mixed
  std::string node_id;                           // who we are in the log's configuration
  Wire* wire = nullptr;                          // none: a box alone
  std::uint32_t key_generation = 1;              // bound into every seal
  bool bootstrap = false;                        // begin a new log; refused when the folder holds one already
  bool join = false;                             // an empty folder waits for a leader's log instead
  unsigned snapshot_threshold = 1024;            // entries between snapshots
  unsigned snapshot_trailing = 256;              // entries kept behind a snapshot
  std::size_t segment_bytes = 4u * 1024 * 1024;  // of libraft's files; some are made ahead
  std::size_t command_bytes_max = 1024 * 1024;
  std::size_t in_flight_max = 1024;  // proposals waiting for the disk; more get Errc::busy
  // Proposals are refused with Errc::no_space below this, so that libraft, which cannot go on after
  // a failed write, never meets a full disk by itself.
  std::uint64_t free_bytes_min = 48ull * 1024 * 1024;
  // With other members: a leader speaks this often at least, and is given up after this much silence.
  unsigned heartbeat_ms = 1000;
  unsigned election_ms = 3000;  // and up to two fifths more
  // For tests: free bytes of the folder's file system; empty asks the system.
  std::function<Result<std::uint64_t>()> free_bytes;
  // The planted bug of the durability harness: acknowledges before the write is durable. Ignored in
  // builds without failpoints.
  bool ack_before_commit_for_tests = false;
};

struct ConsensusStatus {
  bool leader = false;    // and everything before its term is applied: it may propose
  std::string leader_id;  // node id; empty while none is known
  bool member = false;    // the configuration names us
  bool failed = false;    // the disk failed: only a restart helps; `failure` says why
  std::string failure;
  std::uint64_t term = 0;
  std::uint64_t last_index = 0;
  std::uint64_t applied_index = 0;
  std::uint64_t sequence = 0;        // of the last applied entry, counted by us
  std::uint64_t snapshot_index = 0;  // last one taken since the start, 0 when none
  std::size_t in_flight = 0;
};

class ConsensusLog {
 public:
  // Verifies every file, read only, before libraft touches one; then replays the log into `machine`.
  // Errc::corrupt names the damaged file and the remedy, Errc::denied means that the key is not this
  // log's, Errc::not_found that there is no log (and bootstrap is false), Errc::conflict that there is
  // one (and bootstrap is true). No error leaves a file changed or removed.
  static Result<std::unique_ptr<ConsensusLog>> open(Loop& loop, ConsensusOptions options,
                                                    security::SecretBytes metadata_key,
                                                    StateMachine& machine);
  // On other ground than files: for simulations.
  static Result<std::unique_ptr<ConsensusLog>> open_on(std::unique_ptr<LogHost> host,
                                                       ConsensusOptions options,
                                                       security::SecretBytes metadata_key,
                                                       StateMachine& machine);
  // close() must have finished, unless the process is about to end.
  ~ConsensusLog();
  ConsensusLog(const ConsensusLog&) = delete;
  ConsensusLog& operator=(const ConsensusLog&) = delete;

  // `done` runs on the loop thread, after the command is durable and applied, with apply's reply.
  // Errc::busy, Errc::no_space and Errc::conflict (this node does not lead: ask status().leader_id): nothing
  // happened. Errc::unavailable: the outcome is unknown (the command may be there after a restart, or come
  // through under the next leader), which is why commands carry a request id.
  void propose(Bytes command, std::function<void(Result<Bytes>)> done);

  // `done` runs once the entry with this index is applied here; Errc::timeout after `deadline`.
  void when_applied(std::uint64_t index, Duration deadline, std::function<void(Result<void>)> done);

  // The connection to a member broke, or is there again. Only a hint: a leader whose connections all broke at
  // once is replaced within a second or two, and not after the whole election timeout.
  void link_changed(const std::string& node_id, bool up);

  // ---- who is in (on the leader; one change at a time, else Errc::busy; not the leader: Errc::conflict)
  // ---- A new member begins as a standby. Adding one who is there, or giving the voice one has, is done
  // already.
  void add_member(std::string node_id, std::function<void(Result<void>)> done);
  void set_voice(std::string node_id, Voice voice, std::function<void(Result<void>)> done);
  void remove_member(std::string node_id, std::function<void(Result<void>)> done);
  // To this one, or to the best one; before a restart or a removal.
  void hand_over(std::string node_id, std::function<void(Result<void>)> done);
  std::vector<LogMember> members() const;
  // Called on the loop when the leader known here changes (also to none).
  void on_leader(std::function<void(const ConsensusStatus&)> listener);

  // The last resort after the majority is gone for good: while the log is closed, makes this node the only
  // voter of what it holds. Everything that only the others had is lost.
  static Result<void> recover_alone(Disk& disk, const ConsensusOptions& options,
                                    security::SecretBytes metadata_key);

  // What was deleted from the state should leave the disk: the next entries make two snapshots (libraft keeps
  // the last two), and closed segments behind them are removed. The segment being filled stays until it is
  // full, or closed by the next start.
  void compact_soon();

  ConsensusStatus status() const;

  // Takes nothing new, finishes what is in flight, closes the files. Once.
  void close(std::function<void()> done);

  class Impl;  // libraft is behind it

 private:
  explicit ConsensusLog(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace samovar::raft
