// The member that adds a node: dials it on an administrator's word, waits for the code from its console,
// issues its certificate and has the cluster commit it.
//
//   dialling ──J1 J2 J3──▶ code_needed ──right code──▶ finishing ──J4 J5, commit, J6 J7──▶ a member
//
// Where the row is committed: after J5 and before J6. Before J5 the node has shown nothing that cannot be
// shown by somebody else, and a cut leaves a row without a node behind it. After J6 would mean a node with
// the cluster's keys that the cluster knows nothing of. In between, the worst is a row whose node did not
// hear J6: J6 is then brought again over new lines, and should the node have forgotten (restarted), approving
// it once more finds the row and goes on from there (daemon/join_rules.hpp). A commit that fails is told to
// the node, which then forgets its grant; it never had a key.
//
// Limits: at most 8 at a time, one per address, ten minutes each; three wrong codes end it and bar the node's
// key for 15 minutes; ten wrong codes within an hour close the door for the rest of it.
//
// Threading: loop only. Ownership: borrows the loop.
// Format:    docs/formats/join.md
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/loop.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "daemon/cluster/types.hpp"
#include "daemon/net/join_line.hpp"
#include "security/certificates.hpp"
#include "security/join.hpp"
#include "security/secret_bytes.hpp"

namespace samovar::daemon {

struct JoinHostLimits {
  std::size_t pending_max = 8;
  Duration code_wait = std::chrono::minutes(10);
  unsigned tries = 3;
  Duration bar = std::chrono::minutes(15);
  unsigned wrong_codes_max = 10;
  Duration wrong_codes_window = std::chrono::hours(1);
  unsigned words_failures_max = 5;
  Duration dial = std::chrono::seconds(5);
  unsigned dials = 3;  // a door that is busy ends the call at once
  Duration dial_pause = std::chrono::milliseconds(700);
  Duration step = std::chrono::seconds(15);
  Duration keep = std::chrono::seconds(45);  // from J6 to J7: the node writes to its disk
  unsigned redelivery_max = 8;               // new lines for a J6 whose receipt did not come
  Duration redelivery_pause = std::chrono::seconds(5);
};

enum class PendingState : std::uint8_t { dialling, code_needed, finishing };

struct PendingJoin {
  std::string id;  // "joi_…"
  std::string node_id;
  std::string address;
  std::string cluster_name;
  security::JoinFacts facts;       // after dialling
  std::int64_t clock_skew_us = 0;  // of the node, against this one's clock
  PendingState state = PendingState::dialling;
  WallTime expires_at{};
  unsigned tries_left = 0;
};

struct JoinApproval {
  std::string node_id;  // the one the administrator picked; empty when only an address is known
  std::string address;  // "10.0.0.9:7443"
  cluster::Call call;   // the administrator, for the audit entry
  security::PrivateKey ca_key;
};

struct ConfirmResult {
  enum class Kind : std::uint8_t { joined, wrong_code, over };
  Kind kind = Kind::over;
  cluster::NodeRecord node;  // joined
  unsigned tries_left = 0;   // wrong_code
  std::string reason;        // over: a sentence
};

struct JoinInvitation {
  security::SecretBytes words_key;  // join_words.hpp
  cluster::Call call;
  security::PrivateKey ca_key;
  Duration window = std::chrono::minutes(10);
};

struct JoinHostHooks {
  // What J1 says; `form` is filled in here.
  std::function<security::JoinCluster()> cluster;
  // net::dial_join.
  std::function<Task<Result<std::unique_ptr<net::JoinLine>>>(std::string address, Duration deadline)> dial;
  // Known now, before a person is asked for a code: a cloned id, a removed node, no quorum, blocked.
  std::function<Result<void>(const security::JoinCandidate& candidate)> may_join;
  // cluster_id, members, keyring, cmk, key_generation and key_file; the certificates are filled in here.
  std::function<Result<security::JoinGrant>(const security::JoinCandidate& candidate)> grant;
  // Commits the row (join_rules.hpp has it for a Cluster).
  std::function<Task<Result<cluster::NodeRecord>>(cluster::Call call, cluster::NodeRecord record)> admit;
  // Is the node connected to the members? Ends the bringing of J6. May be empty.
  std::function<bool(const std::string& node_id)> seen;
  std::function<void()> changed;
};

class JoinHost {
 public:
  JoinHost(Loop& loop, JoinHostHooks hooks, JoinHostLimits limits = {});
  ~JoinHost();  // ends what is pending
  JoinHost(const JoinHost&) = delete;
  JoinHost& operator=(const JoinHost&) = delete;

  // Until the node shows its code. One that waits for its code already is answered with itself. Errors are
  // for the administrator: busy (a limit), denied (barred, may_join, a check), timeout and unavailable (not
  // reachable, with the step), conflict (just being dialled).
  Task<Result<PendingJoin>> approve(JoinApproval approval);
  Task<ConfirmResult> confirm(std::string node_id, std::string code);
  bool cancel(const std::string& node_id);
  std::vector<PendingJoin> pending() const;
  std::optional<PendingJoin> find(const std::string& node_id) const;

  // Opens the form by words; replaces an earlier invitation.
  void invite(JoinInvitation invitation);
  void revoke_invitation();
  std::optional<WallTime> invited_until() const;
  // A node that says it waits for words (its beacon's flag, or its address was typed in): one at a time, each
  // address until it refuses, at most five times. Errc::conflict: no invitation, or it was tried.
  Task<Result<cluster::NodeRecord>> offer(std::string node_id, std::string address);

 private:
  struct Impl;
  // Shared with its coroutines, which end a moment after the host.
  std::shared_ptr<Impl> impl_;
};

}  // namespace samovar::daemon
