// Commands to whoever leads: proposed here, or asked of the leader, until the outcome is known.
//
//   submit ─▶ we lead? ── yes ─▶ propose ─────────────────────────────┐
//              │ no                                                   ├─▶ reply
//              ▼                                                      │
//        a leader known? ── yes ─▶ ask it ─▶ wait until applied here ─┘
//              │ no                  │ not the leader, no answer
//              ▼                     ▼
//            wait a little, and again from the top, with the same request id, for up to 10 s
//
// A command whose outcome is not known is repeated only when it has a request id: the state machine then
// answers the second one with the first one's reply.
//
// The leader's clock is cluster time: each answer carries it, and now and then a node asks for nothing else.
//
// Threading: loop only.
// Ownership: borrows everything; stop() before it goes.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/loop.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "daemon/cluster/command.hpp"
#include "daemon/cluster/propose_message.hpp"
#include "daemon/net/exchange.hpp"
#include "daemon/raft/consensus_log.hpp"

namespace samovar::cluster {

// The log as seen from here; a seam for tests.
class LogPort {
 public:
  virtual ~LogPort() = default;
  virtual raft::ConsensusStatus status() const = 0;
  virtual void propose(Bytes command, std::function<void(Result<Bytes>)> done) = 0;
  virtual void when_applied(std::uint64_t index, Duration deadline,
                            std::function<void(Result<void>)> done) = 0;
};

// What the forwarder asks of the state.
struct ForwarderView {
  std::function<WallTime()> now;                                    // cluster time, to stamp commands with
  std::function<Result<void>(const std::string& node_id)> may_ask;  // is it a member that was not removed?
  std::function<Result<void>(const Command& command)> may_propose;  // does every member understand it?
  std::function<bool()> in_minority;  // too few nodes are within reach to agree on anything; may be empty
  std::function<Error()> no_leader;   // a sentence for people
};

class Forwarder {
 public:
  Forwarder(Loop& loop, LogPort& log, net::Exchange& exchange, ForwarderView view);
  ~Forwarder();
  Forwarder(const Forwarder&) = delete;
  Forwarder& operator=(const Forwarder&) = delete;

  // The reply of the state machine. Errors: those of ConsensusLog::propose and of the leader;
  // Errc::unavailable: no leader (nothing happened), or the outcome is unknown after all tries.
  Task<Result<Bytes>> submit(Command command);

  // This node's clock minus the cluster's, as of the leader's last answer. None when that is long ago or we
  // lead ourselves, unless the clock was far off: such a one does not become the cluster's by an election.
  std::optional<Duration> clock_skew() const;
  // A leader was known here just now.
  bool sees_leader() const;
  // Until all that the leader had applied when it was asked is applied here. Errc::unavailable: nobody leads,
  // or it was not heard in time.
  Task<Result<void>> catch_up(Duration deadline);
  // From the start on, and again after a while without a leader, until it caught up once.
  bool was_away() const { return was_away_; }
  // For so long that this is no election: what is here is all there is to show.
  bool is_cut_off() const;

  // Another one leads, or nobody: who waits for the answer of the last one asks again now, if it may.
  void leader_changed();

  // Ends what waits with Errc::unavailable; takes nothing new.
  void stop();

  // For whoever waits for something that the state does not tell of. Errc::unavailable: stop() came first.
  Task<Result<void>> pause(Duration time);

 private:
  using Done = std::function<void(Result<Bytes>)>;

  Task<Result<Bytes>> answer(std::string from, Bytes question);
  Task<Result<Bytes>> answer_command(std::string from, Bytes body);
  Task<Result<Bytes>> propose(Bytes command);
  Task<Result<ProposeAnswer>> ask(std::string leader, ProposeQuestion question, Duration deadline,
                                  bool may_repeat = false);
  Task<Result<void>> wait_applied(std::uint64_t index, Duration deadline);
  // Ended by `start`'s callback or by stop(), whichever comes first; with `asked`, also when that node no
  // longer leads.
  Task<Result<Bytes>> interruptible(std::function<void(Done)> start, std::string asked = {});
  void finish(std::uint64_t id, Result<Bytes> result);
  bool is_hopeless() const;
  void tick();
  void sync_clock(std::string leader);

  // Constant after construction.
  Loop& loop_;
  LogPort& log_;
  net::Exchange& exchange_;
  const ForwarderView view_;
  // Loop only.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // shared: callbacks may come after us
  bool stopped_ = false;
  std::uint64_t next_wait_ = 0;
  struct Waiting {
    Done done;
    std::string asked;  // a node that need not be waited for once another one leads
  };
  std::map<std::uint64_t, Waiting> waiting_;
  Loop::Id timer_ = 0;
  std::optional<MonoTime> leader_seen_;
  std::optional<MonoTime> minority_since_;
  bool was_away_ = true;
  std::string clock_leader_;
  std::optional<MonoTime> clock_asked_;
  std::optional<MonoTime> clock_heard_;
  Duration skew_{};
};

}  // namespace samovar::cluster
