#include "daemon/doctor.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/sim/sim_loop.hpp"
#include "daemon/doctor_probe.hpp"
#include "security/join_wire.hpp"
#include "tests/support/join_pipe.hpp"

namespace samovar::daemon {
namespace {

using std::chrono::seconds;

const Check* find(const std::vector<Check>& checks, std::string_view id) {
  const auto found = std::find_if(checks.begin(), checks.end(), [&](const Check& c) { return c.id == id; });
  return found == checks.end() ? nullptr : &*found;
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

discovery::InterfaceReport card(std::string name, bool used = true) {
  discovery::InterfaceReport report;
  report.name = std::move(name);
  report.addresses = {"10.0.0.7"};
  report.used = used;
  report.mtu = 1500;
  report.sent = 10;
  report.heard_own = 10;
  report.heard = 10;
  return report;
}

discovery::Neighbour neighbour(std::string address, std::uint64_t tag = 0) {
  discovery::Neighbour row;
  row.beacon.node_id = "k7q2m4xp" + address;
  row.beacon.version = "1.4.0";
  row.beacon.member = tag != 0;
  row.beacon.cluster_tag = tag;
  row.address = std::move(address);
  row.multicast = true;
  return row;
}

DoctorMember peer(std::string name) {
  DoctorMember member;
  member.node_id = "id-of-" + name;
  member.name = std::move(name);
  member.up = true;
  member.address = "10.0.0.8:7443";
  member.version = "1.4.0";
  member.mtu = 1500;
  return member;
}

DoctorFacts healthy() {
  DoctorFacts facts;
  facts.member = true;
  facts.node_id = "own";
  facts.version = "1.4.0";
  facts.cluster_tag = 7;
  facts.interfaces = {card("eth0")};
  facts.neighbours = {neighbour("10.0.0.8", 7), neighbour("10.0.0.9")};
  facts.listening = {"10.0.0.7:7443"};
  facts.members = {peer("board-8"), peer("board-9")};
  facts.now = WallTime{std::chrono::sys_days{std::chrono::year{2026} / 5 / 1}};
  return facts;
}

// Every trouble has its check, says what is wrong and what to do.
void expect_trouble(const DoctorFacts& facts, std::string_view id, CheckState state, std::string_view detail,
                    std::string_view remedy) {
  const auto checks = examine(facts);
  const Check* check = find(checks, id);
  ASSERT_NE(check, nullptr) << id;
  EXPECT_EQ(to_string(check->state), to_string(state)) << check->detail;
  EXPECT_TRUE(has(check->detail, detail)) << check->detail;
  EXPECT_TRUE(has(check->remedy, remedy)) << check->remedy;
  EXPECT_FALSE(check->title.empty());
}

TEST(Doctor, SaysWhetherTheNameForPeopleLeadsHere) {
  DoctorFacts facts = healthy();
  EXPECT_EQ(find(examine(facts), "name"), nullptr) << "none is answered";
  facts.local_name = "samovar.local";
  auto checks = examine(facts);
  ASSERT_NE(find(checks, "name"), nullptr);
  EXPECT_EQ(find(checks, "name")->state, CheckState::ok);
  facts.local_claimed_by = "10.0.0.9";
  checks = examine(facts);
  EXPECT_EQ(find(checks, "name")->state, CheckState::info);
  EXPECT_TRUE(has(find(checks, "name")->detail, "10.0.0.9"));
  EXPECT_TRUE(has(find(checks, "name")->remedy, "mdns_name"));
  facts.local_trouble = "the port is taken";
  checks = examine(facts);
  EXPECT_TRUE(has(find(checks, "name")->detail, "the port is taken"));
  EXPECT_FALSE(find(checks, "name")->remedy.empty());
}

TEST(Doctor, AHealthyClusterHasNothingToDo) {
  const auto checks = examine(healthy());
  EXPECT_GE(checks.size(), 10u);
  for (const Check& check : checks) {
    EXPECT_EQ(check.state, CheckState::ok) << check.id << ": " << check.detail;
    EXPECT_EQ(check.remedy, "") << check.id;
    EXPECT_FALSE(check.detail.empty()) << check.id;
  }
}

TEST(Doctor, NoUsableCard) {
  DoctorFacts facts = healthy();
  facts.interfaces = {card("docker0", false), card("eth0", false)};
  facts.interfaces[0].why_not = "a bridge for containers on this computer";
  facts.interfaces[1].why_not = "no IPv4 address";
  expect_trouble(facts, "interfaces", CheckState::fail, "eth0 (no IPv4 address)", "discovery_interfaces");
  EXPECT_EQ(find(examine(facts), "multicast"), nullptr);
}

TEST(Doctor, OwnAnnouncementsAreNotHeard) {
  DoctorFacts facts = healthy();
  facts.interfaces[0].heard_own = 0;
  expect_trouble(facts, "multicast", CheckState::warn, "does not even hear its own", "firewall");
  facts.interfaces[0].sent = 2;  // too early to tell
  EXPECT_EQ(find(examine(facts), "multicast")->state, CheckState::ok);
}

TEST(Doctor, AnnouncementsThatDoNotLeave) {
  DoctorFacts facts = healthy();
  facts.interfaces[0].trouble = "could not send: Network is unreachable";
  expect_trouble(facts, "multicast", CheckState::warn, "unreachable", "cable");
}

TEST(Doctor, ASwitchThatDropsMulticast) {
  DoctorFacts facts = healthy();
  for (auto& row : facts.neighbours) row.multicast = false;
  expect_trouble(facts, "multicast", CheckState::warn, "do not arrive", "IGMP");
}

TEST(Doctor, ThePortOfDiscoveryIsTaken) {
  DoctorFacts facts = healthy();
  facts.discovery_trouble = "UDP port 7446 is in use";
  expect_trouble(facts, "multicast", CheckState::fail, "7446", "ss -lunp");
}

TEST(Doctor, NobodyWasHeardNamesTheAddressToPaste) {
  DoctorFacts facts;
  facts.interfaces = {card("eth0")};
  facts.listening = {"10.0.0.7:7443"};
  facts.now = healthy().now;
  facts.version = "1.4.0";
  expect_trouble(facts, "neighbours", CheckState::warn, "No other node", "10.0.0.7:7443");
  facts.member = true;
  expect_trouble(facts, "neighbours", CheckState::info, "No other node", "peers add");
  facts.members = {peer("board-8")};
  expect_trouble(facts, "neighbours", CheckState::info, "connected all the same", "");
}

TEST(Doctor, SeedsThatDoNotAnswerAreNamed) {
  DoctorFacts facts = healthy();
  EXPECT_EQ(find(examine(facts), "seeds"), nullptr);
  facts.seeds = {"10.0.0.9", "10.0.0.8:7446"};
  expect_trouble(facts, "seeds", CheckState::ok, "All", "");
  facts.seeds.push_back("10.0.0.77:7446");
  expect_trouble(facts, "seeds", CheckState::warn, "10.0.0.77", "UDP port 7446");
}

TEST(Doctor, ThePortForNodesIsTaken) {
  DoctorFacts facts = healthy();
  facts.listen_trouble = "0.0.0.0:7443 is already in use";
  expect_trouble(facts, "listen", CheckState::fail, "already in use", "mesh_listen");
  facts.listen_trouble.clear();
  facts.listening.clear();
  expect_trouble(facts, "listen", CheckState::fail, "nowhere", "mesh_listen");
}

TEST(Doctor, AClosedPortSaysWhichWay) {
  DoctorFacts facts = healthy();
  DoctorMember& member = facts.members[0];
  member.up = false;
  member.trouble = "10.0.0.8:7443 does not answer: a firewall drops it, or the address is wrong";
  const std::string id = "link:" + member.node_id;
  expect_trouble(facts, id, CheckState::fail, "does not answer", "on and its cable is in");
  facts.neighbours[0].beacon.node_id = member.node_id;  // heard, so it is on
  expect_trouble(facts, id, CheckState::fail, "does not answer", "announcements arrive");
  member.reaches_us = true;
  expect_trouble(facts, id, CheckState::fail, "does not answer", "only the way from here to there");
  member.reaches_us.reset();
  member.trouble = "10.0.0.8:7443 refused: nothing listens there, or a firewall rejects it";
  expect_trouble(facts, id, CheckState::fail, "refused", "systemctl start samovard");
  member.reaches_us = true;  // it said so before it was stopped: that is no firewall
  expect_trouble(facts, id, CheckState::fail, "refused", "samovard does not run there");
  member.reaches_us.reset();
  member.trouble.clear();
  expect_trouble(facts, id, CheckState::ok, "needed", "");
  member.up = true;
  member.reaches_us = false;
  expect_trouble(facts, id, CheckState::warn, "no way to this node", "firewall");
}

TEST(Doctor, CertificateTroubleOnEitherSide) {
  DoctorFacts facts = healthy();
  facts.members[0].up = false;
  facts.members[0].trouble = "its certificate is not of this cluster (certificate refused: self-signed)";
  expect_trouble(facts, "link:id-of-board-8", CheckState::fail, "certificate", "factory state");
  facts.members[0].trouble = "another machine shows this node's own certificate: a cloned disk";
  expect_trouble(facts, "link:id-of-board-8", CheckState::fail, "cloned", "factory state");
  facts.certificate_trouble = "member/node.crt is not for this node's key";
  expect_trouble(facts, "certificate", CheckState::fail, "node.crt", "backup");
}

TEST(Doctor, ALeaderWhoseClockIsYearsAheadDoesNotSetTheTime) {
  DoctorFacts facts = healthy();
  facts.ahead_of_cluster = std::chrono::hours(24 * 365 * 3);
  facts.leads = true;
  expect_trouble(facts, "clock", CheckState::fail, "goes by the clocks of the others", "time server");
}

TEST(Doctor, AClonedDisk) {
  DoctorFacts facts = healthy();
  facts.neighbours[1].duplicate_id = true;
  facts.neighbours[1].duplicate_address = "10.0.0.10:7443";
  expect_trouble(facts, "duplicate_id", CheckState::fail, "10.0.0.9 and 10.0.0.10:7443", "--factory-reset");
  facts = healthy();
  facts.cloned_at = "10.0.0.66";
  expect_trouble(facts, "duplicate_id", CheckState::fail, "10.0.0.66 and here", "--factory-reset");
}

TEST(Doctor, NodesOfAnotherCluster) {
  DoctorFacts facts = healthy();
  facts.neighbours.push_back(neighbour("10.0.0.20", 9));
  expect_trouble(facts, "wrong_cluster", CheckState::info, "10.0.0.20", "--factory-reset");
  facts.member = false;
  facts.neighbours = {neighbour("10.0.0.20", 9), neighbour("10.0.0.21", 10)};
  expect_trouble(facts, "wrong_cluster", CheckState::info, "2 clusters", "the right one");
}

TEST(Doctor, OtherVersions) {
  DoctorFacts facts = healthy();
  facts.members[1].version = "1.3.9";
  expect_trouble(facts, "version", CheckState::info, "board-9 1.3.9", "same version");
  facts.members[1].version = "1.1.0";
  expect_trouble(facts, "version", CheckState::fail, "board-9 1.1.0", "same version");
  facts = healthy();
  facts.interfaces[0].later = 3;
  expect_trouble(facts, "version", CheckState::fail, "later version", "same version");
}

TEST(Doctor, VersionsOfNeighbouringNumbersWorkTogether) {
  EXPECT_TRUE(versions_work_together("1.4.0", "1.4.9"));
  EXPECT_TRUE(versions_work_together("1.4.0", "1.5.0"));
  EXPECT_TRUE(versions_work_together("1.4.0", ""));
  EXPECT_FALSE(versions_work_together("1.4.0", "1.6.0"));
  EXPECT_FALSE(versions_work_together("1.4.0", "2.4.0"));
  EXPECT_FALSE(versions_work_together("1.4.0", "nonsense"));
}

TEST(Doctor, ClocksThatDisagree) {
  DoctorFacts facts = healthy();
  facts.members[0].clock_ahead = seconds(10);
  expect_trouble(facts, "clock", CheckState::warn, "That of board-8 is 10 seconds ahead", "time server");
  facts.ahead_of_cluster = -std::chrono::hours(5);
  expect_trouble(facts, "clock", CheckState::fail, "This node's clock is 5 hours behind", "time server");
  facts = healthy();
  facts.now = WallTime{seconds(100)};
  expect_trouble(facts, "clock", CheckState::warn, "never set", "can join all the same");
}

TEST(Doctor, PacketSizesThatDiffer) {
  DoctorFacts facts = healthy();
  facts.members[1].mtu = 9000;
  expect_trouble(facts, "mtu", CheckState::warn, "board-9 uses 9000", "1500 always works");
}

TEST(Doctor, AMinority) {
  DoctorFacts facts = healthy();
  for (auto& member : facts.members) member.up = false;
  facts.writable = false;
  expect_trouble(facts, "quorum", CheckState::fail, "1 of 3 nodes", "back first");
}

TEST(Doctor, SomebodyTriesCodes) {
  DoctorFacts facts = healthy();
  facts.member = false;
  facts.unfinished_joins = 4;
  expect_trouble(facts, "door", CheckState::warn, "4 attempts", "trying codes");
}

// ---- an address ----

struct Probe : testing::Test {
  SimScheduler scheduler{1};
  SimLoop loop{scheduler};
  security::NodeIdentity identity = *security::make_identity();

  // Whoever is at the address does `serve` with its end of the line.
  std::vector<Check> run(std::function<Task<void>(std::unique_ptr<net::JoinLine>)> serve,
                         const DoctorFacts& facts) {
    DialJoin dial = [&, serve](std::string, Duration) -> Task<Result<std::unique_ptr<net::JoinLine>>> {
      auto [mine, theirs] = net::PipeEnd::make(loop, std::make_shared<net::JoinPipe>());
      spawn(serve(std::move(theirs)));
      co_return std::unique_ptr<net::JoinLine>(std::move(mine));
    };
    return finish(std::move(dial), facts);
  }
  std::vector<Check> fail_with(const Error& error, const DoctorFacts& facts) {
    DialJoin dial = [&error](std::string, Duration) -> Task<Result<std::unique_ptr<net::JoinLine>>> {
      co_return error;
    };
    return finish(std::move(dial), facts);
  }
  std::vector<Check> finish(DialJoin dial, const DoctorFacts& facts) {
    std::optional<ProbeResult> result;
    std::function<void(ProbeResult)> done = [&](ProbeResult got) { result.emplace(std::move(got)); };
    spawn<ProbeResult>(probe_address(std::move(dial), "10.0.0.9:7443", seconds(3)), std::move(done));
    scheduler.run_for(seconds(10));
    EXPECT_TRUE(result);
    return examine_probe(*result, facts);
  }
  Bytes beacon(std::string version = "1.4.0") {
    discovery::Beacon said;
    said.join_port = 7443;
    said.hostname = "board-9";
    said.version = std::move(version);
    return *discovery::encode_beacon(said, identity);
  }
};

TEST_F(Probe, ANewNodeSaysWhoItIs) {
  const Bytes mine = beacon();
  const auto serve = [mine](std::unique_ptr<net::JoinLine> line) -> Task<void> {
    auto asked = co_await line->receive(seconds(1));
    EXPECT_TRUE(asked && security::decode_who(*asked));
    EXPECT_TRUE(line->send(security::encode_here(mine)));
    ignore(co_await line->receive(seconds(1)), "until it is read");
  };
  const auto checks = run(serve, healthy());
  ASSERT_EQ(checks.size(), 2u);
  EXPECT_EQ(checks[0].state, CheckState::ok);
  EXPECT_EQ(checks[1].state, CheckState::ok);
  EXPECT_TRUE(has(checks[1].detail, "board-9"));
  EXPECT_TRUE(has(checks[1].remedy, "Approve it"));
}

TEST_F(Probe, AnotherVersionIsNamed) {
  const Bytes mine = beacon("3.0.0");
  const auto serve = [mine](std::unique_ptr<net::JoinLine> line) -> Task<void> {
    ignore(co_await line->receive(seconds(1)), "the question");
    EXPECT_TRUE(line->send(security::encode_here(mine)));
    ignore(co_await line->receive(seconds(1)), "until it is read");
  };
  const auto checks = run(serve, healthy());
  ASSERT_NE(find(checks, "version"), nullptr);
  EXPECT_TRUE(has(find(checks, "version")->detail, "3.0.0"));
}

TEST_F(Probe, AMemberDoesNotAnswerStrangers) {
  const auto serve = [](std::unique_ptr<net::JoinLine> line) -> Task<void> {
    ignore(co_await line->receive(seconds(1)), "the question");
    line->close();
  };
  const auto checks = run(serve, healthy());
  ASSERT_EQ(checks.size(), 2u);
  EXPECT_TRUE(has(checks[1].detail, "do not answer strangers"));
  DoctorFacts facts = healthy();
  facts.neighbours = {neighbour("10.0.0.9", 99)};
  const auto other = run(serve, facts);
  EXPECT_TRUE(has(other[1].detail, "another cluster"));
  facts.neighbours = {neighbour("10.0.0.9", 7)};
  EXPECT_EQ(run(serve, facts)[1].state, CheckState::ok);
}

TEST_F(Probe, AForgedAnswerIsNoNode) {
  Bytes forged = beacon();
  forged.back() ^= 1;
  const auto serve = [forged](std::unique_ptr<net::JoinLine> line) -> Task<void> {
    ignore(co_await line->receive(seconds(1)), "the question");
    EXPECT_TRUE(line->send(security::encode_here(forged)));
    ignore(co_await line->receive(seconds(1)), "until it is read");
  };
  EXPECT_EQ(run(serve, healthy())[1].state, CheckState::fail);
}

TEST_F(Probe, EveryFailedStepHasItsRemedy) {
  std::set<std::string> remedies;
  for (const Errc code :
       {Errc::invalid, Errc::unavailable, Errc::timeout, Errc::io, Errc::unsupported, Errc::denied}) {
    const auto checks = fail_with(Error{code, "it failed"}, healthy());
    ASSERT_EQ(checks.size(), 1u);
    EXPECT_NE(checks[0].state, CheckState::ok);
    remedies.insert(checks[0].remedy);
  }
  EXPECT_EQ(remedies.size(), 6u);
  EXPECT_TRUE(has(fail_with(Error{Errc::unavailable, "10.0.0.9 refused"}, healthy())[0].remedy, "systemctl"));
  DoctorFacts facts = healthy();
  facts.neighbours = {neighbour("10.0.0.9")};
  EXPECT_TRUE(has(fail_with(Error{Errc::timeout, "it failed"}, facts)[0].remedy, "announcements arrive"));
}

}  // namespace
}  // namespace samovar::daemon
