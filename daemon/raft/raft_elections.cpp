// When an election begins, and whether the last leader still counts.
//
// A leader that falls silent is given up after the election timeout. One whose process died is known sooner:
// its connections break at once. Then the others ask for votes one after the other, in the order of their
// numbers, so that they do not take each other's. It stays a hint: who still hears the leader refuses
// (pre-vote), and a connection that only broke is there again before the first one asks.
#include <algorithm>

#include "base/rng.hpp"
#include "daemon/raft/log_host.hpp"
#include "daemon/raft/native.hpp"
#include "daemon/raft/wire.hpp"

namespace samovar::raft {
namespace {

constexpr std::uint64_t kLostFirstMs = 150;  // a connection that only broke is there again
constexpr std::uint64_t kLostStepMs = 200;   // for two votes and their writes
constexpr std::uint64_t kLostSpreadMs = 100;
constexpr unsigned kTriesMax = 3;
constexpr int kRetryLeastMs = 250;  // a vote is written on two disks

}  // namespace

// libraft spreads elections over as much time again as their timeout, and who did not win waits as long once
// more. Less is enough here: two fifths, and an eighth of the timeout after the first split vote, a quarter
// after the second, so that slow disks get their time, too.
int RaftHandle::Native::random(raft_io* io, int least, int most) {
  Native& n = of(io);
  auto spread = static_cast<std::uint64_t>(most > least ? (most - least) * 2 / 5 : 0);
  if (raft_state(&n.raft) == RAFT_CANDIDATE) {
    const int soon = std::max(least >> (kTriesMax - std::min(n.tries, kTriesMax)), kRetryLeastMs);
    least = std::min(least, soon);
    spread = std::min(spread, static_cast<std::uint64_t>(least) * 3 / 2);
    ++n.tries;
  } else {
    n.tries = 0;
  }
  return least + static_cast<int>(n.host.rng().below(spread + 1));
}

void RaftHandle::Native::set_timers() {
  const bool alone = raft.configuration.n == 0 || (raft.configuration.n == 1 && place_of(raft.id) == 0);
  const unsigned election = alone ? kElectionAloneMs : election_ms;
  if (raft.election_timeout == election) return;
  raft_set_election_timeout(&raft, election);
  // libraft goes on with the patience it has drawn before.
  const auto patience =
      static_cast<unsigned>(io->random(io, static_cast<int>(election), 2 * static_cast<int>(election)));
  if (raft_state(&raft) == RAFT_FOLLOWER) raft.follower_state.randomized_election_timeout = patience;
  if (raft_state(&raft) == RAFT_CANDIDATE) raft.candidate_state.randomized_election_timeout = patience;
}

void RaftHandle::Native::lost_link(std::uint64_t id) {
  if (raft_state(&raft) != RAFT_FOLLOWER || raft.follower_state.current_leader.id != id || !is_voter())
    return;
  lost_leader = id;
  std::uint64_t before = 0;  // voters who ask earlier
  for (unsigned i = 0; i < raft.configuration.n; ++i) {
    const raft_server& server = raft.configuration.servers[i];
    if (server.role == RAFT_VOTER && server.id != id && server.id < raft.id) ++before;
  }
  const std::uint64_t wait = kLostFirstMs + before * kLostStepMs + host.rng().below(kLostSpreadMs + 1);
  const std::uint64_t patience = now() - raft.election_timer_start + wait;
  unsigned& drawn = raft.follower_state.randomized_election_timeout;
  drawn = static_cast<unsigned>(std::min<std::uint64_t>(drawn, patience));
}

void RaftHandle::Native::found_link(std::uint64_t id) {
  if (lost_leader == 0 || lost_leader != id) return;
  lost_leader = 0;
  if (raft_state(&raft) != RAFT_FOLLOWER) return;
  const int election = static_cast<int>(raft.election_timeout);
  raft.follower_state.randomized_election_timeout =
      static_cast<unsigned>(io->random(io, election, 2 * election));
}

// Raft §4.2.3: who has not heard from its leader for the shortest election timeout has none. libraft thinks
// that it has until its own, longer, timeout is over, which delays every election.
bool RaftHandle::Native::admit(const VoteMessage& m, std::uint64_t from) {
  if (m.candidate != from) return false;
  const std::uint64_t leader = raft_state(&raft) == RAFT_FOLLOWER ? raft.follower_state.current_leader.id : 0;
  if (leader != 0 && (leader == lost_leader || now() - raft.election_timer_start >= raft.election_timeout))
    forget_leader();
  return true;
}

void RaftHandle::Native::forget_leader() {
  auto& leader = raft.follower_state.current_leader;
  leader.id = 0;
  raft_free(leader.address);
  leader.address = nullptr;
}

}  // namespace samovar::raft
