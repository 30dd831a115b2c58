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

#include "base/bytes.hpp"
#include "base/loop.hpp"
#include "base/result.hpp"

namespace samovar::security {
class SecretBytes;
}

namespace samovar::raft {

// What the log drives. Deterministic: the same commands give the same bytes on every node.
class StateMachine {
 public:
  virtual ~StateMachine() = default;
  // Never fails: a command that cannot be done yields a reply that says so.
  virtual Bytes apply(std::uint64_t index, ByteView command) = 0;
  virtual Result<Bytes> snapshot() = 0;
  virtual Result<void> restore(ByteView snapshot) = 0;
};

struct ConsensusOptions {
  std::string dir;
  std::string cluster_id;                        // bound into every seal: logs of two boxes cannot be mixed
  std::string node_id;                           // for messages
  std::uint32_t key_generation = 1;              // bound into every seal
  bool bootstrap = false;                        // begin a new log; refused when the folder holds one already
  unsigned snapshot_threshold = 1024;            // entries between snapshots
  unsigned snapshot_trailing = 256;              // entries kept behind a snapshot
  std::size_t segment_bytes = 4u * 1024 * 1024;  // of libraft's files; some are made ahead
  std::size_t command_bytes_max = 1024 * 1024;
  std::size_t in_flight_max = 1024;  // proposals waiting for the disk; more get Errc::busy
  // Proposals are refused with Errc::no_space below this, so that libraft, which cannot go on after
  // a failed write, never meets a full disk by itself.
  std::uint64_t free_bytes_min = 48ull * 1024 * 1024;
  // For tests: free bytes of the folder's file system; empty asks the system.
  std::function<Result<std::uint64_t>()> free_bytes;
  // The planted bug of the durability harness: acknowledges before the write is durable. Ignored in
  // builds without failpoints.
  bool ack_before_commit_for_tests = false;
};

struct ConsensusStatus {
  bool leader = false;
  bool failed = false;  // the disk failed: only a restart helps; `failure` says why
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
  // close() must have finished, unless the process is about to end.
  ~ConsensusLog();
  ConsensusLog(const ConsensusLog&) = delete;
  ConsensusLog& operator=(const ConsensusLog&) = delete;

  // `done` runs on the loop thread, after the command is durable and applied, with apply's reply.
  // Errc::busy and Errc::no_space: nothing happened. Errc::unavailable: the outcome is unknown (the
  // command may be there after a restart), which is why commands carry a request id.
  void propose(Bytes command, std::function<void(Result<Bytes>)> done);

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
