// Both sides over a real line: TCP and TLS on the loopback. What the other tests simulate must hold there.
#include <gtest/gtest.h>

#include "base/asio_loop.hpp"
#include "daemon/doctor_probe.hpp"
#include "daemon/join_guest.hpp"
#include "daemon/join_host.hpp"
#include "daemon/net/join_line.hpp"
#include "tests/unit/security/join_pair.hpp"

namespace samovar::daemon {
namespace {

using std::chrono::seconds;

struct JoinLineTest : testing::Test {
  AsioLoop loop;
  security::TestCluster cluster;
  security::NodeIdentity identity = *security::make_identity();
  std::unique_ptr<JoinGuest> guest;
  std::unique_ptr<net::JoinDoor> door;
  std::unique_ptr<JoinHost> host;
  std::string address;
  bool kept = false;
  int admitted = 0;
  Loop::Id guard = 0;

  void SetUp() override {
    JoinGuestHooks hooks;
    hooks.facts = [] { return security::test_facts(); };
    hooks.who = [this] {
      discovery::Beacon beacon;
      beacon.join_port = 7443;
      beacon.hostname = "board-7";
      return *discovery::encode_beacon(beacon, identity);
    };
    hooks.keep = [this](security::JoinGrant grant) -> Task<Result<void>> {
      kept = grant.cmk.equal(Bytes(32, 0x5a));
      co_return Result<void>{};
    };
    hooks.joined = [this] { loop.stop(); };
    guest = std::make_unique<JoinGuest>(loop, identity, std::move(hooks));
    auto opened = net::JoinDoor::open(
        loop, {"127.0.0.1:0"}, [this](std::unique_ptr<net::JoinLine> line) { guest->take(std::move(line)); });
    ASSERT_TRUE(opened) << opened.error().message();
    door = *std::move(opened);
    address = "127.0.0.1:" + std::to_string(door->ports().front());

    JoinHostHooks member;
    member.cluster = [this] { return cluster.offer(); };
    member.dial = [this](std::string to, Duration deadline) {
      return net::dial_join(loop, std::move(to), deadline);
    };
    member.may_join = [](const security::JoinCandidate&) { return Result<void>{}; };
    member.grant = [this](const security::JoinCandidate& candidate) -> Result<security::JoinGrant> {
      return cluster.grant(candidate);
    };
    member.admit = [this](cluster::Call, cluster::NodeRecord record) -> Task<Result<cluster::NodeRecord>> {
      ++admitted;
      co_return record;
    };
    host = std::make_unique<JoinHost>(loop, std::move(member));
    guard = loop.after(seconds(60), [this] { loop.stop(); });  // a hang is a failure, not a hang
  }
  void TearDown() override {
    loop.cancel(guard);
    host.reset();
    guest.reset();
    door.reset();
    loop.after(std::chrono::milliseconds(50), [this] { loop.stop(); });  // what was under way ends
    loop.run();
  }
  JoinApproval approval() const {
    return {identity.node_id, address, {}, *security::PrivateKey::from_der(cluster.ca_key.to_der().view())};
  }
};

TEST_F(JoinLineTest, ANodeIsAddedOverTls) {
  std::optional<ConfirmResult> result;
  const auto add = [&]() -> Task<void> {
    auto pending = co_await host->approve(approval());
    EXPECT_TRUE(pending) << (pending ? "" : pending.error().message());
    // The console shows the code once J3 is there.
    while (guest->status().code.empty()) {
      std::function<void(std::function<void(bool)>)> turn = [this](std::function<void(bool)> done) {
        loop.after(std::chrono::milliseconds(1), [done] { done(true); });
      };
      co_await from_callback<bool>(std::move(turn));
    }
    result.emplace(co_await host->confirm(identity.node_id, guest->status().code));
  };
  spawn(add());
  loop.run();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->kind, ConfirmResult::Kind::joined) << result->reason;
  EXPECT_EQ(result->node.addresses.front(), address);
  EXPECT_TRUE(kept);
  EXPECT_EQ(admitted, 1);
  EXPECT_EQ(guest->status().state, GuestState::done);
}

TEST_F(JoinLineTest, AProbeHearsWhoIsThere) {
  std::optional<ProbeResult> result;
  DialJoin dial = [this](std::string to, Duration deadline) {
    return net::dial_join(loop, std::move(to), deadline);
  };
  std::function<void(ProbeResult)> done = [&](ProbeResult got) {
    result.emplace(std::move(got));
    loop.stop();
  };
  spawn<ProbeResult>(probe_address(std::move(dial), address, seconds(10)), std::move(done));
  loop.run();
  ASSERT_TRUE(result);
  ASSERT_TRUE(result->beacon) << (result->error ? result->error->message() : "");
  EXPECT_EQ(result->beacon->node_id, identity.node_id);
}

TEST_F(JoinLineTest, ADoorThatIsShutIsNamed) {
  door.reset();
  std::optional<Result<PendingJoin>> result;
  std::function<void(Result<PendingJoin>)> done = [&](Result<PendingJoin> got) {
    result.emplace(std::move(got));
    loop.stop();
  };
  spawn<Result<PendingJoin>>(host->approve(approval()), std::move(done));
  loop.run();
  ASSERT_TRUE(result);
  ASSERT_FALSE(*result);
  EXPECT_NE(result->error().message().find("refused"), std::string::npos) << result->error().message();
  EXPECT_TRUE(host->pending().empty());
}

}  // namespace
}  // namespace samovar::daemon
