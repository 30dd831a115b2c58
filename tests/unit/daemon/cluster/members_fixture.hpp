// Several Clusters in one process: real logs on disk, real exchanges, a network in memory on the real loop.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/asio_loop.hpp"
#include "base/transport.hpp"
#include "daemon/cluster/cluster.hpp"
#include "daemon/cluster/steward.hpp"
#include "daemon/net/exchange.hpp"
#include "tests/unit/daemon/cluster/machine_fixture.hpp"
#include "tests/unit/daemon/raft/log_fixture.hpp"

namespace samovar::cluster::testing {

// Messages between nodes, posted to the loop; a test cuts nodes off.
class Switch {
 public:
  explicit Switch(Loop& loop) : loop_(loop) {}

  class Port final : public Transport {
   public:
    Port(Switch& all, std::string name) : switch_(all), name_(std::move(name)) {
      switch_.ports_[name_] = this;
    }
    ~Port() override { switch_.ports_.erase(name_); }
    Port(const Port&) = delete;
    Port& operator=(const Port&) = delete;
    const std::string& self() const override { return name_; }
    Result<void> send(const std::string& to, Bytes message, Lane) override {
      if (!switch_.connected(name_, to)) return Error{Errc::unavailable, "no way"};
      switch_.loop_.post([all = &switch_, from = name_, to, message = std::move(message)]() mutable {
        all->deliver(from, to, std::move(message));
      });
      return {};
    }
    void on_message(OnMessage handler) override { handler_ = std::move(handler); }

   private:
    friend class Switch;
    Switch& switch_;
    const std::string name_;
    OnMessage handler_;
  };

  bool connected(const std::string& a, const std::string& b) const {
    return ports_.contains(b) && cut_.contains(a) == cut_.contains(b);
  }
  // These reach only each other.
  void cut(std::set<std::string> side) { cut_ = std::move(side); }

 private:
  void deliver(const std::string& from, const std::string& to, Bytes message) {
    if (!connected(from, to)) return;
    const auto found = ports_.find(to);
    if (found->second->handler_) found->second->handler_(from, std::move(message));
  }

  Loop& loop_;
  std::map<std::string, Port*> ports_;
  std::set<std::string> cut_;
};

class MembersFixture : public ::testing::Test {
 protected:
  struct Member {
    std::unique_ptr<Switch::Port> port;
    std::unique_ptr<net::Exchange> exchange;
    std::unique_ptr<Cluster> cluster;
    std::unique_ptr<Steward> steward;
  };

  MembersFixture() { EXPECT_GE(sodium_init(), 0); }
  ~MembersFixture() override {
    while (!members_.empty()) stop(members_.begin()->first);
  }

  void start(const std::string& id, bool bootstrap, bool join) {
    Member& member = members_[id];
    member.port = std::make_unique<Switch::Port>(switch_, id);
    member.exchange = std::make_unique<net::Exchange>(loop_, *member.port);
    ClusterOptions options;
    options.dir = dir_.path("raft-" + id);
    options.cluster_id = "clu_1";
    options.node_id = id;
    options.bootstrap = bootstrap;
    options.join = join;
    options.links.exchange = member.exchange.get();
    options.links.up = [this, id](const std::string& other) { return switch_.connected(id, other); };
    options.links.clock_ahead = [this] { return clock_ahead_; };
    options.log.heartbeat_ms = 100;
    options.log.election_ms = 600;
    options.log.segment_bytes = 64 * 1024;
    options.log.snapshot_threshold = 64;
    options.log.snapshot_trailing = 16;
    options.log.free_bytes = [] { return std::uint64_t{1} << 40; };
    auto cluster = Cluster::open(loop_, system_rng(), std::move(options), raft::testing::key_of(3));
    ASSERT_TRUE(cluster) << cluster.error().message();
    member.cluster = *std::move(cluster);
    StewardOptions steward;
    steward.every = std::chrono::milliseconds(50);
    steward.grace = grace_;
    member.steward = std::make_unique<Steward>(loop_, *member.cluster, steward);
  }
  void stop(const std::string& id) {
    Member& member = members_.at(id);
    member.steward.reset();
    if (member.cluster) {
      bool closed = false;
      spawn([](Cluster& cluster, bool& done) -> Task<void> {
        co_await cluster.close();
        done = true;
      }(*member.cluster, closed));
      until([&] { return closed; });
    }
    member.cluster.reset();
    member.exchange.reset();
    members_.erase(id);
  }
  Cluster& at(const std::string& id) { return *members_.at(id).cluster; }

  // Turns the loop until it holds; fails the test after a minute.
  template <class Holds>
  void until(Holds holds, const char* what = "") {
    bool late = false;
    const auto deadline = loop_.after(std::chrono::seconds(60), [&] {
      late = true;
      loop_.stop();
    });
    while (!holds() && !late) {
      const auto look = loop_.after(std::chrono::milliseconds(5), [this] { loop_.stop(); });
      loop_.run();
      loop_.cancel(look);
    }
    loop_.cancel(deadline);
    EXPECT_FALSE(late) << "waited in vain " << what;
  }
  template <class T>
  T wait(Task<T> task) {
    std::optional<T> out;
    spawn<T>(std::move(task), [&](T value) { out.emplace(std::move(value)); });
    until([&] { return out.has_value(); });
    return *std::move(out);
  }

  static NodeRecord record(const std::string& id) {
    NodeRecord node;
    node.id = id;
    node.name = node.hostname = id;
    node.model = "test";
    node.version = "0.2.0";
    node.arch = "amd64";
    node.sign_public = Bytes(32, static_cast<std::uint8_t>(id.back()));
    node.addresses = {"10.0.0.1:7443"};
    node.disk_bytes = 1ull << 40;
    return node;
  }
  Call call(std::string request_id = {}) { return {admin_actor(), std::move(request_id)}; }

  void found(const std::string& id) {
    start(id, true, false);
    NewCluster fresh{"clu_1", "Ward 6", "Europe/Vienna", "anna", "Anna Andreyevna", "$argon2id$hash"};
    const auto info = wait(at(id).initialise(call(), fresh));
    ASSERT_TRUE(info) << info.error().message();
    ASSERT_TRUE(wait(at(id).put_node(call(), record(id))));
  }
  // Admitted through `by`, then started; returns when its state is there and it has its voice.
  void join(const std::string& id, const std::string& by, raft::Voice voice = raft::Voice::voter) {
    const auto admitted = wait(at(by).admit_node(call(), record(id)));
    ASSERT_TRUE(admitted) << admitted.error().message();
    start(id, false, true);
    until([&] { return at(id).info().has_value(); }, "for the state");
    until(
        [&] {
          for (const auto& member : at(leader()).log_members())
            if (member.node_id == id && member.voice == voice) return true;
          return false;
        },
        "for its voice");
  }
  std::string leader() {
    std::string id;
    until(
        [&] {
          for (auto& [name, member] : members_)
            if (member.cluster->status().leader) id = name;
          return !id.empty();
        },
        "for a leader");
    return id;
  }
  void settle(const std::vector<std::string>& ids) {
    until(
        [&] {
          for (const auto& id : ids)
            if (at(id).state_hash() != at(ids[0]).state_hash()) return false;
          return true;
        },
        "for equal states");
  }
  std::string other_than(const std::string& id) {
    for (auto& [name, member] : members_)
      if (name != id) return name;
    return {};
  }
  NewUser user(const std::string& name) { return {name, "Name of " + name, Role::viewer, "$argon2id$hash"}; }

  Duration grace_ = std::chrono::seconds(600);
  std::optional<Duration> clock_ahead_ = Duration::zero();  // of a leader, against the others
  raft::testing::TempDir dir_;
  AsioLoop loop_;
  Switch switch_{loop_};
  std::map<std::string, Member> members_;
};

}  // namespace samovar::cluster::testing
