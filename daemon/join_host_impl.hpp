// Inside of JoinHost: what is pending, and the limits. Shared by join_host.cpp and join_host_steps.cpp.
#pragma once
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/join_host.hpp"
#include "security/join_wire.hpp"

namespace samovar::daemon {

struct JoinHost::Impl : std::enable_shared_from_this<JoinHost::Impl> {
  // One node on its way. Shared by the list and the coroutine that works on it.
  struct Pending {
    PendingJoin view;
    cluster::Call call;
    std::optional<security::PrivateKey> ca_key;
    std::optional<security::JoinMember> member;
    security::JoinCluster cluster;
    security::JoinCandidate candidate;
    std::unique_ptr<net::JoinLine> line;
    Loop::Id timer = 0;
    std::string ended;  // why, once it is
    // While a person looks for the code, somebody must notice that the node is gone: one receive is always
    // under way then, and what it brings goes to whoever waits by that time.
    bool watched = false;
    std::function<void(Result<Bytes>)> waiter;
  };
  using PendingPtr = std::shared_ptr<Pending>;

  struct Invited {
    security::SecretBytes words_key;
    cluster::Call call;
    security::PrivateKey ca_key;
    MonoTime until{};
    WallTime until_wall{};
    unsigned failures = 0;
    bool offering = false;
    std::map<std::string, unsigned> tried;  // address → how often; kNeverAgain after a refusal
    std::uint64_t number = 0;
  };

  Impl(Loop& the_loop, JoinHostHooks the_hooks, JoinHostLimits the_limits)
      : loop(the_loop), hooks(std::move(the_hooks)), limits(the_limits) {}

  // Constant after construction.
  Loop& loop;
  const JoinHostHooks hooks;
  const JoinHostLimits limits;

  // Loop only.
  bool gone = false;
  std::vector<PendingPtr> pending;
  std::vector<PendingPtr> bringing;               // members by now; J6 is on its way again
  std::map<std::string, MonoTime> barred;         // node id → until
  std::deque<MonoTime> wrong_codes;               // within the window
  std::map<std::string, std::string> last_words;  // node id → how its last join ended
  std::optional<Invited> invited;
  std::uint64_t invitations = 0;

  // join_host.cpp
  MonoTime mono() { return loop.clock().mono(); }
  void tell() {
    if (!gone && hooks.changed) hooks.changed();
  }
  void forget_old();
  PendingPtr find(const std::string& node_id) const;
  Result<void> check_limits(const std::string& node_id, const std::string& address);
  Result<void> check_barred(const std::string& node_id);
  PendingPtr open(std::string node_id, std::string address, cluster::Call call);
  void end(const PendingPtr& entry, std::string reason, security::JoinRefusal told);
  ConfirmResult wrong_code(const PendingPtr& entry);
  Task<Result<PendingJoin>> approve(JoinApproval approval);
  Task<ConfirmResult> confirm(std::string node_id, std::string code);
  Task<Result<cluster::NodeRecord>> offer(std::string node_id, std::string address);
  Task<Result<void>> prove_words(PendingPtr entry, std::uint64_t invitation);

  // join_host_steps.cpp
  Task<Result<void>> reach(PendingPtr entry, security::JoinForm form);
  Task<Result<cluster::NodeRecord>> finish(PendingPtr entry);
  Task<Result<std::unique_ptr<net::JoinLine>>> dial_patiently(std::string address);
  Task<void> watch(PendingPtr entry);
  Task<Result<Bytes>> next_message(PendingPtr entry, Duration deadline);
  Task<Result<Bytes>> expect(PendingPtr entry, security::JoinKind kind, Duration deadline);
  Task<Result<void>> bring(PendingPtr entry, Bytes j6);
  Task<void> bring_again(PendingPtr entry, Bytes j6);
  Task<bool> bring_until_heard(PendingPtr entry, Bytes j6);
  Task<void> pause(Duration span);
  Result<security::JoinGrant> make_grant(Pending& entry) const;
};

}  // namespace samovar::daemon
