// Who votes in the consensus log: up to seven, an odd number where it helps, never one that is leaving.
//
//   active nodes   1  2  3  4  5  6  7  8 …
//   voters         1  2  3  3  5  5  7  7
//
// Two nodes both vote, though each loss then stops changes: with one voter the loss of that one would lose
// what was agreed on. The rest are standbys: they receive everything and vote as soon as they are needed.
// A voter that is silent beyond the grace period gives its vote to a standby that is there; without one it
// keeps it, unless the others could lose one node more without it. The next step is worked out anew each time
// from what is, one at a time, so a change of leader in between loses nothing.
//
// next_action is pure; Steward runs it where the log is led.
//
// Threading: loop only.
// Ownership: Steward borrows Loop and Cluster; stop() before they go.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/loop.hpp"
#include "base/result.hpp"
#include "daemon/raft/consensus_log.hpp"

namespace samovar::cluster {

class Cluster;

inline constexpr std::size_t kVotersMax = 7;

struct StewardView {
  std::string self;                      // the leader
  std::vector<std::string> active;       // members of the cluster that should take part
  std::vector<std::string> draining;     // members that should not vote
  std::vector<raft::LogMember> members;  // of the log; `heard` is false only beyond the grace period
  std::vector<std::string>
      not_promotable;  // standbys that are silent, or that could not be made voters lately
};

struct StewardAction {
  enum class Kind : std::uint8_t { none, add, promote, demote, remove, hand_over };
  Kind kind = Kind::none;
  std::string node_id;  // for hand_over: to whom
  std::string why;      // for the log
  friend bool operator==(const StewardAction& a, const StewardAction& b) {
    return a.kind == b.kind && a.node_id == b.node_id;
  }
};
std::string_view to_string(StewardAction::Kind kind) noexcept;

StewardAction next_action(const StewardView& view);
// How many of so many candidates should vote.
std::size_t voters_wanted(std::size_t candidates);

struct StewardOptions {
  Duration every = std::chrono::seconds(1);
  Duration grace = std::chrono::seconds(30);  // a reboot takes about that
};

class Steward {
 public:
  Steward(Loop& loop, Cluster& cluster, StewardOptions options = {});
  ~Steward();
  Steward(const Steward&) = delete;
  Steward& operator=(const Steward&) = delete;

  // Looks now instead of at the next turn: members changed.
  void poke();
  void stop();

 private:
  void turn();
  StewardView view();
  void start(const StewardAction& action);
  void finished(const StewardAction& action, const Result<void>& result);

  // Constant after construction.
  Loop& loop_;
  Cluster& cluster_;
  const StewardOptions options_;
  // Loop only.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // shared: the log may answer after us
  bool stopped_ = false;
  bool busy_ = false;
  Loop::Id timer_ = 0;
  std::map<std::string, MonoTime> silent_since_;
  std::map<std::string, MonoTime> failed_at_;
  std::string last_failure_;
};

}  // namespace samovar::cluster
