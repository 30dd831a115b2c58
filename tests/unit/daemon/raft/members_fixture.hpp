// Several consensus logs in one process, over a wire that can be cut, with real folders and the real loop.
#pragma once
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/daemon/raft/log_fixture.hpp"

namespace samovar::raft::testing {

// Everybody's messages, through the loop.
class Switchboard {
 public:
  using Handler = std::function<void(const std::string& from, Bytes message)>;

  explicit Switchboard(Loop& loop) : loop_(loop) {}

  class Plug final : public Wire {
   public:
    Plug(Switchboard& board, std::string self) : board_(board), self_(std::move(self)) {}
    ~Plug() override { board_.handlers_.erase(self_); }
    void send(const std::string& node_id, Bytes message) override {
      board_.send(self_, node_id, std::move(message));
    }
    void on_message(Handler handler) override { board_.handlers_[self_] = std::move(handler); }

   private:
    Switchboard& board_;
    std::string self_;
  };

  // Nobody of one group hears anybody of another; who is in none hears nobody.
  void split(std::vector<std::set<std::string>> groups) { groups_ = std::move(groups); }
  void heal() { groups_.clear(); }

  // What one sent another is kept, and comes once more.
  void keep(const std::string& from, const std::string& to) { keep_ = {from, to}; }
  std::size_t repeat() {
    std::vector<Bytes> again = std::exchange(kept_, {});
    const auto [from, to] = std::exchange(keep_, {});
    for (const Bytes& message : again) send(from, to, message);
    return again.size();
  }

  std::size_t longest = 0;
  std::size_t messages = 0;
  std::size_t bytes = 0;

 private:
  bool joined(const std::string& a, const std::string& b) const {
    if (groups_.empty()) return true;
    for (const auto& group : groups_)
      if (group.contains(a) && group.contains(b)) return true;
    return false;
  }
  void send(const std::string& from, const std::string& to, Bytes message) {
    longest = std::max(longest, message.size());
    ++messages;
    bytes += message.size();
    if (from == keep_.first && to == keep_.second) kept_.push_back(message);
    loop_.post([this, from, to, message = std::move(message)]() mutable {
      const auto found = handlers_.find(to);
      if (found != handlers_.end() && joined(from, to)) found->second(from, std::move(message));
    });
  }

  Loop& loop_;
  std::map<std::string, Handler> handlers_;
  std::vector<std::set<std::string>> groups_;
  std::pair<std::string, std::string> keep_;
  std::vector<Bytes> kept_;
};

struct Member {
  std::unique_ptr<Switchboard::Plug> plug;
  std::unique_ptr<ListMachine> machine;
  std::unique_ptr<ConsensusLog> log;
};

class MembersFixture : public ::testing::Test {
 protected:
  MembersFixture() { EXPECT_GE(sodium_init(), 0); }
  ~MembersFixture() override {
    for (auto& [name, member] : members_) member.log.reset();
  }

  ConsensusOptions options(const std::string& name) {
    ConsensusOptions options;
    options.dir = dir_.path(name);
    options.cluster_id = "clu_1";
    options.node_id = name;
    options.segment_bytes = 64 * 1024;
    options.heartbeat_ms = 50;
    options.election_ms = election_ms_;
    options.snapshot_threshold = threshold_;
    options.snapshot_trailing = 4;
    options.free_bytes = [] { return std::uint64_t{1} << 40; };
    return options;
  }
  Result<void> try_open(const std::string& name, bool bootstrap, bool join) {
    Member& member = members_[name];
    member.plug = std::make_unique<Switchboard::Plug>(board_, name);
    member.machine = std::make_unique<ListMachine>();
    auto with = options(name);
    with.bootstrap = bootstrap;
    with.join = join;
    with.wire = member.plug.get();
    auto log = ConsensusLog::open(loop_, std::move(with), key_of(7), *member.machine);
    if (!log) return std::move(log).error();
    member.log = *std::move(log);
    return {};
  }
  void open(const std::string& name, bool bootstrap = false, bool join = false) {
    const auto opened = try_open(name, bootstrap, join);
    ASSERT_TRUE(opened) << name << ": " << opened.error().message();
  }
  void begin() { open("a", true); }
  void kill(const std::string& name) {
    members_[name].log.reset();
    members_[name].plug.reset();
  }
  void shut(const std::string& name) {
    bool closed = false;
    members_[name].log->close([&] { closed = true; });
    ASSERT_TRUE(wait([&] { return closed; }));
    kill(name);
  }

  // Generous: how long it takes is not what is tested.
  bool wait(const std::function<bool()>& wanted, std::chrono::seconds most = std::chrono::seconds(60)) {
    bool good = false;
    const auto deadline = std::chrono::steady_clock::now() + most;
    std::function<void()> look = [&] {
      good = wanted();
      if (good || std::chrono::steady_clock::now() > deadline) return loop_.stop();
      loop_.after(std::chrono::milliseconds(2), look);
    };
    loop_.post(look);
    loop_.run();
    return good;
  }

  std::string leader() const {
    for (const auto& [name, member] : members_)
      if (member.log && member.log->status().leader) return name;
    return "";
  }
  // One who leads, apart from these.
  std::string new_leader(const std::set<std::string>& except = {}) {
    std::string found;
    EXPECT_TRUE(wait([&] {
      for (const auto& [name, member] : members_)
        if (member.log && !except.contains(name) && member.log->status().leader) found = name;
      return !found.empty();
    }));
    return found;
  }
  // By handing over, as often as it takes.
  bool make_leader(const std::string& name) {
    for (int turn = 0; turn < 20; ++turn) {
      const std::string now = new_leader();
      if (now == name) return true;
      ignore(finish([&](auto done) { log(now).hand_over(name, done); }), "seen by who leads next");
    }
    return false;
  }
  ConsensusLog& log(const std::string& name) { return *members_.at(name).log; }
  const std::vector<std::string>& list(const std::string& name) { return members_.at(name).machine->list; }

  // Shared with the answer, which may come when nobody waits for it any more.
  Result<void> finish(const std::function<void(std::function<void(Result<void>)>)>& call) {
    const auto result = std::make_shared<std::optional<Result<void>>>();
    call([result](Result<void> r) { result->emplace(std::move(r)); });
    EXPECT_TRUE(wait([&] { return result->has_value(); }));
    return *result ? **result : Result<void>(Error{Errc::timeout, "no answer"});
  }
  Result<Bytes> propose(const std::string& on, const std::string& text) {
    const auto result = std::make_shared<std::optional<Result<Bytes>>>();
    log(on).propose(to_bytes(text), [result](Result<Bytes> r) { result->emplace(std::move(r)); });
    EXPECT_TRUE(wait([&] { return result->has_value(); }));
    return *result ? **result : Result<Bytes>(Error{Errc::timeout, "no answer"});
  }
  void fill(const std::string& on, int count, const std::string& prefix) {
    for (int i = 0; i < count; ++i) {
      const auto reply = propose(on, prefix + std::to_string(i));
      ASSERT_TRUE(reply) << reply.error().message();
    }
  }
  void add(const std::string& name, bool voter = true) {
    open(name, false, true);
    const std::string on = new_leader();
    const auto added = finish([&](auto done) { log(on).add_member(name, done); });
    ASSERT_TRUE(added) << added.error().message();
    if (!voter) return;
    const auto voice = finish([&](auto done) { log(on).set_voice(name, Voice::voter, done); });
    ASSERT_TRUE(voice) << voice.error().message();
  }
  void grow(const std::vector<std::string>& names) {
    begin();
    for (const auto& name : names) add(name);
  }
  void expect_same(const std::vector<std::string>& names) {
    EXPECT_TRUE(wait([&] {
      for (const auto& name : names)
        if (list(name) != list(names.front())) return false;
      return true;
    }));
    for (const auto& name : names) EXPECT_EQ(list(name), list(names.front())) << name;
  }

  TempDir dir_;
  AsioLoop loop_;
  Switchboard board_{loop_};
  std::map<std::string, Member> members_;
  unsigned threshold_ = 1024;
  // Longer than other programs keep the disk from syncing: else leaders change while nothing happened.
  unsigned election_ms_ = 1000;
};

}  // namespace samovar::raft::testing
