// The inside of ConsensusLog: the way of a proposal.
//
//   queue_ ──submit──▶ batch_ ──applied──▶ applied_ ──witness written──▶ ready_ ──turn──▶ done
//
// One batch is with libraft at a time: whatever arrives meanwhile shares the next write, and a failed
// write has nothing behind it that libraft would have to roll back. A batch is acknowledged after the
// witness that covers it is durable; the next batch is written at the same time.
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
#include "daemon/raft/raft_handle.hpp"
#include "daemon/raft/sealer.hpp"
#include "daemon/raft/uv_driver.hpp"
#include "daemon/raft/witness_writer.hpp"

namespace samovar::raft {

class ConsensusLog::Impl final : private RaftEvents {
 public:
  using Done = std::function<void(Result<Bytes>)>;

  Impl(Loop& loop, ConsensusOptions options, security::SecretBytes key, StateMachine& machine);
  ~Impl() override;

  Result<void> open();
  void propose(Bytes command, Done done);
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

  // RaftEvents
  bool on_apply(std::uint64_t index, ByteView entry) override;
  Result<Bytes> on_snapshot() override;
  bool on_restore(ByteView snapshot) override;
  void on_submit_failed(std::string why) override;

  Result<void> prepare_new();
  Result<void> verify_existing();
  Result<void> admit(std::size_t command_bytes);
  void propose_early(Bytes command, Done done);
  bool turn();
  bool submit();
  bool witness();
  void end_compaction();
  void on_witnessed(const Result<void>& written);
  void deliver();
  void fail(const std::string& why);
  void advance_close();
  bool idle() const { return queue_.empty() && batch_.empty() && applied_.empty() && witnessing_.empty(); }

  // Constant after construction.
  Loop& loop_;
  ConsensusOptions options_;
  Sealer sealer_;
  StateMachine& machine_;
  // Loop only. Destroyed from the bottom: libraft before the loop it runs on.
  std::unique_ptr<UvDriver> driver_;
  std::unique_ptr<WitnessWriter> witness_writer_;
  std::unique_ptr<RaftHandle> raft_;
  std::deque<Proposal> queue_;
  std::deque<Proposal> batch_;
  std::vector<Proposal> applied_;
  std::vector<Proposal> witnessing_;
  std::vector<std::pair<Done, Result<Bytes>>> ready_;
  Position head_;  // last applied
  std::uint64_t head_index_ = 0;
  Witness witnessed_;  // last durable
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
};

}  // namespace samovar::raft
