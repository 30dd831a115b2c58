// One member's libraft: the C side of ConsensusLog.
//
// libraft 0.15 has faults that only many members meet. They are mended here, from outside, at its two edges:
// what it writes (raft_disk.cpp) and what it sends and gets (raft_mail.cpp); docs/explanation/raft.md lists
// them. Everything runs in turn(), after the host's own work: libraft is never called from elsewhere.
//
// Threading: loop only.
// Ownership: borrows the LogHost and the callbacks' target, which outlive it.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "daemon/raft/consensus_log.hpp"
#include "daemon/raft/members.hpp"

namespace samovar::raft {

class LogHost;

// What libraft calls. All inside turn() or the host's work, or inside start().
class RaftEvents {
 public:
  virtual ~RaftEvents() = default;
  // False stops the log: the entry cannot be applied.
  virtual bool on_apply(std::uint64_t index, ByteView entry) = 0;
  virtual Result<Bytes> on_snapshot() = 0;
  virtual bool on_restore(std::uint64_t index, ByteView snapshot) = 0;
  // Something could not be written, or libraft gave up: nothing goes any more.
  virtual void on_broken(std::string why) = 0;
  // Of another member: is it sealed with our key?
  virtual bool on_foreign_entry(ByteView entry) = 0;
  virtual bool on_foreign_snapshot(ByteView snapshot) = 0;
};

class RaftHandle {
 public:
  using Done = std::function<void(Result<void>)>;

  // Loads; a sole voter replays everything, others what the witness knows to be agreed on.
  static Result<std::unique_ptr<RaftHandle>> start(LogHost& host, RaftEvents& events,
                                                   const ConsensusOptions& options,
                                                   std::uint64_t known_committed);
  // Closed, or never started; waits for libraft's threads when it was not.
  ~RaftHandle();
  RaftHandle(const RaftHandle&) = delete;
  RaftHandle& operator=(const RaftHandle&) = delete;

  // Delivers what arrived, ticks when it is time, ends what is finished. True: the host has something new.
  bool turn();
  // The connection to a member broke, or is there again: a hint that its leader may be gone.
  void link_changed(const std::string& node_id, bool up);
  // A failed log neither speaks nor listens: the others go on without it.
  void mute();
  // Nothing is with the disk: the only time at which libraft closes cleanly.
  bool quiet() const;
  void close(std::function<void()> done);

  // One write for all of them. The next only after these were applied or leadership was lost.
  Result<void> submit(const std::vector<Bytes>& entries);
  // From the next entry on. `trailing` is at least 1: 0 means something else to libraft.
  void set_snapshots(unsigned threshold, unsigned trailing);
  // The others learn now, not with the next heartbeat, what is agreed on. True: something was sent.
  bool spread_commit();

  void add(const std::string& node_id, Done done);  // as a spare
  void assign(const std::string& node_id, Role role, Done done);
  void remove(const std::string& node_id, Done done);
  void hand_over(const std::string& node_id, Done done);  // empty: to the best one

  bool leader() const;  // perhaps not of everything yet
  bool ready() const;   // leader, and everything before its term is applied
  bool handing_over() const;
  bool sole_voter() const;
  std::string leader_id() const;
  std::uint64_t term() const;
  std::uint64_t last_index() const;
  std::uint64_t applied_index() const;
  LogServers servers() const;
  std::vector<LogMember> members() const;

  struct Native;

 private:
  RaftHandle(LogHost& host, RaftEvents& events);

  std::unique_ptr<Native> native_;
};

}  // namespace samovar::raft
