// Several nodes in virtual time: real exchanges, forwarders and state machines over a log that is played by
// the test. It keeps its promises (one order, nothing applied twice), and fails when and how the test says.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/sim/sim_transport.hpp"
#include "daemon/cluster/forwarder.hpp"
#include "tests/unit/daemon/cluster/machine_fixture.hpp"

namespace samovar::cluster::testing {

class FakeLogs;

struct FakeNode : LogPort {
  FakeNode(FakeLogs& all, SimScheduler& scheduler, SimNetwork& network, std::string name);

  raft::ConsensusStatus status() const override;
  void propose(Bytes command, std::function<void(Result<Bytes>)> done) override;
  void when_applied(std::uint64_t index, Duration deadline, std::function<void(Result<void>)> done) override;
  void apply_until(std::size_t end);
  Result<void> may_ask(const std::string& from) const;

  FakeLogs& logs;
  const std::string id;
  SimLoop loop;
  std::unique_ptr<SimTransport> transport;
  net::Exchange exchange;
  std::unique_ptr<ClusterMachine> machine;
  std::size_t applied = 0;
  std::map<std::size_t, std::function<void(Result<Bytes>)>> proposed;  // by the entry's number
  std::vector<std::pair<std::uint64_t, std::function<void(Result<void>)>>> waiting;
  std::unique_ptr<Forwarder> forwarder;
};

class FakeLogs {
 public:
  FakeLogs(SimScheduler& scheduler, SimNetwork& network) : scheduler_(scheduler), network_(network) {}

  FakeNode& add(const std::string& id) {
    nodes_[id] = std::make_unique<FakeNode>(*this, scheduler_, network_, id);
    return *nodes_[id];
  }
  FakeNode& at(const std::string& id) { return *nodes_.at(id); }
  std::size_t size() const { return nodes_.size(); }
  // Everybody knows; proposals of the one before that are not applied yet end with an unknown outcome.
  void lead(const std::string& id) {
    if (nodes_.contains(leader)) {
      auto lost = std::exchange(at(leader).proposed, {});
      for (auto& [number, done] : lost) done(Error{Errc::unavailable, "the leader changed"});
    }
    leader = id;
  }

  std::string leader;
  std::vector<Bytes> entries;
  bool swallow = false;  // the leader takes proposals and they come to nothing
  Duration commit_time = std::chrono::milliseconds(5);
  Duration follow_time = std::chrono::milliseconds(20);  // until the others have applied it, too
  std::function<void()> on_commit;                       // before the next one is applied and answered

 private:
  friend struct FakeNode;
  SimScheduler& scheduler_;
  SimNetwork& network_;
  std::map<std::string, std::unique_ptr<FakeNode>> nodes_;
};

inline FakeNode::FakeNode(FakeLogs& all, SimScheduler& scheduler, SimNetwork& network, std::string name)
    : logs(all),
      id(std::move(name)),
      loop(scheduler),
      transport(network.attach(id, loop)),
      exchange(loop, *transport),
      machine(*ClusterMachine::create()) {
  ForwarderView view;
  view.now = [this] { return loop.clock().wall(); };
  view.may_ask = [this](const std::string& from) { return may_ask(from); };
  view.may_propose = [](const Command&) { return Result<void>(); };
  view.no_leader = [] { return refuse_without_leader("1 of 3"); };
  forwarder = std::make_unique<Forwarder>(loop, *this, exchange, std::move(view));
}

inline Result<void> FakeNode::may_ask(const std::string& from) const {
  const auto node = find_node(machine->db(), from);
  if (node && node->state == NodeState::removed) return Error{Errc::denied, "no member"};
  return {};
}

inline raft::ConsensusStatus FakeNode::status() const {
  raft::ConsensusStatus status;
  status.leader = logs.leader == id;
  status.leader_id = logs.leader;
  status.applied_index = applied;
  return status;
}

inline void FakeNode::propose(Bytes command, std::function<void(Result<Bytes>)> done) {
  if (logs.leader != id) return done(Error{Errc::conflict, "this node does not lead"});
  if (logs.swallow) return;
  logs.entries.push_back(std::move(command));
  const std::size_t number = logs.entries.size();
  proposed.emplace(number, std::move(done));
  loop.post_in(logs.commit_time, [this, number] {
    if (logs.on_commit) std::exchange(logs.on_commit, {})();
    apply_until(number);
    for (auto& [name, node] : logs.nodes_) {
      FakeNode* other = node.get();
      if (other != this)
        other->loop.post_in(logs.follow_time, [other, number] { other->apply_until(number); });
    }
  });
}

inline void FakeNode::apply_until(std::size_t end) {
  while (applied < end) {
    const Bytes reply = machine->apply(applied + 1, logs.entries[applied]);
    ++applied;
    if (auto node = proposed.extract(applied); !node.empty()) node.mapped()(reply);
  }
  auto all = std::exchange(waiting, {});
  for (auto& [index, done] : all) {
    if (index <= applied) {
      done({});
    } else {
      waiting.emplace_back(index, std::move(done));
    }
  }
}

inline void FakeNode::when_applied(std::uint64_t index, Duration, std::function<void(Result<void>)> done) {
  if (index <= applied) return done({});
  waiting.emplace_back(index, std::move(done));
}

}  // namespace samovar::cluster::testing
