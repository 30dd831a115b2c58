// A member and an unclaimed node on one simulated loop, with lines in memory between them.
//
// Threading: one thread.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/sim/sim_loop.hpp"
#include "daemon/join_guest.hpp"
#include "daemon/join_host.hpp"
#include "tests/support/join_pipe.hpp"
#include "tests/unit/security/join_pair.hpp"

namespace samovar::daemon {

class JoinWorld {
 public:
  static constexpr const char* kAddress = "10.0.0.7:7443";

  explicit JoinWorld(std::uint64_t seed = 1) : scheduler(seed), loop(scheduler) {
    make_guest();
    make_host();
  }

  // Both sides end, and what they had under way ends with them.
  ~JoinWorld() {
    host.reset();
    guest.reset();
    scheduler.run_for(std::chrono::minutes(30));
  }
  JoinWorld(const JoinWorld&) = delete;
  JoinWorld& operator=(const JoinWorld&) = delete;

  void make_guest() {
    JoinGuestHooks hooks;
    hooks.facts = [] { return security::test_facts(); };
    hooks.who = [] { return to_bytes("a beacon"); };
    hooks.may_begin = [this] { return guest_may_begin; };
    hooks.keep = [this](security::JoinGrant grant) -> Task<Result<void>> {
      ++keep_calls;
      if (keep_fails > 0) {
        --keep_fails;
        co_return Error{Errc::io, "the disk failed"};
      }
      kept.emplace(std::move(grant));
      co_return Result<void>{};
    };
    hooks.changed = [this] {
      if (guest && guest->status().state == GuestState::code) codes_shown.push_back(guest->status().code);
    };
    hooks.joined = [this] { ++joined; };
    guest.reset();
    guest = std::make_unique<JoinGuest>(loop, identity, std::move(hooks));
  }

  void make_host() {
    JoinHostHooks hooks;
    hooks.cluster = [this] { return cluster.offer(); };
    hooks.dial = [this](std::string address, Duration) { return dial(std::move(address)); };
    hooks.may_join = [this](const security::JoinCandidate&) { return may_join; };
    hooks.grant = [this](const security::JoinCandidate& candidate) -> Result<security::JoinGrant> {
      return cluster.grant(candidate);
    };
    hooks.admit = [this](cluster::Call call, cluster::NodeRecord record) {
      return admit(std::move(call), std::move(record));
    };
    hooks.seen = [this](const std::string&) { return seen; };
    host = std::make_unique<JoinHost>(loop, std::move(hooks));
  }

  JoinApproval approval(std::string node_id, std::string address = kAddress) const {
    return {std::move(node_id),
            std::move(address),
            {},
            *security::PrivateKey::from_der(cluster.ca_key.to_der().view())};
  }
  // Runs to its end, or until nothing happens for a while.
  template <class T>
  std::optional<T> run(Task<T> task, Duration limit = std::chrono::minutes(30)) {
    auto result = std::make_shared<std::optional<T>>();
    std::function<void(T)> done = [result](T value) { result->emplace(std::move(value)); };
    spawn<T>(std::move(task), std::move(done));
    scheduler.run_until([&] { return result->has_value(); }, limit);
    return std::move(*result);
  }
  Result<PendingJoin> approve() {
    auto pending = *run(host->approve(approval(identity.node_id)));
    scheduler.run_for(std::chrono::milliseconds(100));  // J3 arrives, the code shows
    return pending;
  }
  ConfirmResult confirm(std::string code) { return *run(host->confirm(identity.node_id, std::move(code))); }
  std::string code() const { return guest->status().code; }
  std::string wrong_code(int n = 1) const {
    std::string text = code();
    text[0] = static_cast<char>('0' + (text[0] - '0' + n) % 10);
    return text;
  }
  void settle() { scheduler.run_for(std::chrono::seconds(10)); }

  SimScheduler scheduler;
  SimLoop loop;
  security::TestCluster cluster;
  security::NodeIdentity identity = *security::make_identity();

  bool guest_may_begin = true;
  int keep_fails = 0;
  int keep_calls = 0;
  std::optional<security::JoinGrant> kept;
  std::vector<std::string> codes_shown;
  int joined = 0;

  Result<void> may_join;
  std::vector<cluster::NodeRecord> admitted;
  std::optional<Error> admit_fails;
  bool seen = false;

  // Of the next lines, in order; the last one stays.
  std::vector<std::shared_ptr<net::JoinPipe>> pipes = {std::make_shared<net::JoinPipe>()};
  int dials = 0;
  int busy_dials = 0;  // the next so many are ended at once
  bool door_open = true;

  std::unique_ptr<JoinGuest> guest;
  std::unique_ptr<JoinHost> host;

  std::unique_ptr<net::JoinLine> line_to_guest() {
    auto pipe = pipes.front();
    if (pipes.size() > 1) pipes.erase(pipes.begin());
    auto [mine, theirs] = net::PipeEnd::make(loop, pipe);
    auto shared = std::make_shared<std::unique_ptr<net::PipeEnd>>(std::move(theirs));
    loop.post([this, shared] {
      if (guest) guest->take(std::move(*shared));
    });
    return std::move(mine);
  }

 private:
  Task<Result<std::unique_ptr<net::JoinLine>>> dial(std::string address) {
    ++dials;
    if (busy_dials > 0) {
      --busy_dials;
      co_return Error{Errc::unavailable, "the other end closed the connection"};
    }
    if (!door_open) co_return Error{Errc::unavailable, "nothing listens at " + address};
    co_return line_to_guest();
  }
  Task<Result<cluster::NodeRecord>> admit(cluster::Call, cluster::NodeRecord record) {
    if (admit_fails) co_return *admit_fails;
    admitted.push_back(record);
    co_return record;
  }
};

}  // namespace samovar::daemon
