// The inside of ConsensusLog: the way of a proposal.
//
//   queue_ ──submit──▶ batch_ ──applied──▶ applied_ ──witness written──▶ ready_ ──turn──▶ done
//
// One batch is with libraft at a time: whatever arrives meanwhile shares the next write, and a failed
// write has nothing behind it that libraft would have to roll back. A batch is acknowledged after the
// witness that covers it is durable; the next batch is written at the same time. Entries of other leaders go
// the same way from libraft to the machine; the witness follows them a second later at most.
//
// Everything that reaches libraft does so in turn(): calls from outside leave a note and kick the host.
//
// Threading: loop only.
#pragma once
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "daemon/raft/consensus_log.hpp"
#include "daemon/raft/log_host.hpp"
#include "daemon/raft/raft_handle.hpp"
#include "daemon/raft/sealer.hpp"

namespace samovar::raft {

class ConsensusLog::Impl final : private RaftEvents {
 public:
  using Done = std::function<void(Result<Bytes>)>;
  using Finished = std::function<void(Result<void>)>;

  Impl(std::unique_ptr<LogHost> host, ConsensusOptions options, security::SecretBytes key,
       StateMachine& machine);
  ~Impl() override;

  Result<void> open();
  void propose(Bytes command, Done done);
  void link_changed(const std::string& node_id, bool up);
  void when_applied(std::uint64_t index, Duration deadline, Finished done);
  void add_member(const std::string& node_id, Finished done);
  void set_voice(const std::string& node_id, Voice voice, Finished done);
  void remove_member(const std::string& node_id, Finished done);
  void hand_over(const std::string& node_id, Finished done);
  std::vector<LogMember> members() const;
  void on_leader(std::function<void(const ConsensusStatus&)> listener);
  void compact_soon();
  ConsensusStatus status() const;
  void close(std::function<void()> done);

 private:
  struct Proposal {
    Bytes command;
    Done done;
    Position position;
    Bytes reply;
    bool early = false;  // the planted bug: applied and acknowledged already
  };
  struct Waiter {
    std::uint64_t id = 0;
    std::uint64_t index = 0;
    Finished done;
    Loop::Id timer = 0;
    bool late = false;
  };

  // RaftEvents
  bool on_apply(std::uint64_t index, ByteView entry) override;
  Result<Bytes> on_snapshot() override;
  bool on_restore(std::uint64_t index, ByteView snapshot) override;
  void on_broken(std::string why) override;
  bool on_foreign_entry(ByteView entry) override;
  bool on_foreign_snapshot(ByteView snapshot) override;

  Result<void> admit(std::size_t command_bytes);
  void propose_early(Bytes command, Done done);
  bool turn();
  void watch_leadership();
  bool submit();
  bool witness();
  void witness_later();
  void on_witnessed(const Result<void>& written);
  void answer_waiters();
  void tell_leader();
  void end_compaction();
  void deliver();
  template <class List>
  void refuse(List& list, const Error& error);
  void fail(const std::string& why);
  void change(std::function<void(Finished)> step, Finished done);
  Result<void> may_change(bool changing) const;
  Result<void> may_lose(const std::string& node_id) const;
  void advance_close();
  bool idle() const;
  std::size_t in_flight() const {
    return queue_.size() + batch_.size() + applied_.size() + witnessing_.size();
  }

  // Constant after construction.
  ConsensusOptions options_;
  Sealer sealer_;
  StateMachine& machine_;
  // Loop only. Destroyed from the bottom: libraft before what it stands on.
  std::unique_ptr<LogHost> host_;
  Loop& loop_;
  std::unique_ptr<RaftHandle> raft_;
  std::deque<Proposal> queue_;
  std::deque<Proposal> batch_;
  std::uint64_t batch_term_ = 0;
  std::vector<Proposal> applied_;
  std::vector<Proposal> witnessing_;
  std::vector<std::pair<Done, Result<Bytes>>> ready_;
  std::vector<std::function<void()>> notes_;  // for the next turn, before libraft is left alone
  std::vector<std::function<void()>> calls_;  // for the end of this one
  std::vector<Waiter> waiters_;
  std::uint64_t waiter_ids_ = 0;
  bool changing_ = false;
  std::function<void(const ConsensusStatus&)> on_leader_;
  std::string told_leader_;
  bool told_ready_ = false;
  Position head_;  // last applied
  std::uint64_t head_index_ = 0;
  Witness witnessed_;  // last durable
  Loop::Id witness_timer_ = 0;
  bool witness_due_ = false;
  std::uint64_t snapshot_index_ = 0;
  unsigned compacting_ = 0;  // snapshots still to be made for compact_soon
  bool eager_ = false;       // libraft makes one after each entry
  bool replaying_ = true;
  bool hold_submits_ = false;
  Loop::Id hold_timer_ = 0;
  bool raft_closing_ = false;
  bool raft_closed_ = false;
  std::string failure_;  // not empty: nothing goes any more
  std::function<void()> on_closed_;
  bool closing_ = false;
  bool close_overdue_ = false;
  Loop::Id close_timer_ = 0;
};

}  // namespace samovar::raft
