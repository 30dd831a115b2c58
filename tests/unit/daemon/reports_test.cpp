// Who asks whom how often, and what counts as out of reach.
#include "daemon/reports.hpp"

#include <gtest/gtest.h>

#include <set>

#include "base/sim/sim_loop.hpp"
#include "base/sim/sim_transport.hpp"

namespace samovar::daemon {
namespace {

struct Node {
  Node(SimScheduler& world, SimNetwork& network, const std::string& name)
      : loop(world), transport(network.attach(name, loop)), exchange(loop, *transport) {
    exchange.on_ask(net::Topic::node_report,
                    [this](std::string, Bytes body) { return answer(std::move(body)); });
  }
  Task<Result<Bytes>> answer(Bytes body) {
    const auto request = api::decode_request(body);
    ++(request->brief ? briefs : fulls);
    api::NodeReport report;
    report.brief = request->brief;
    report.facts.id = transport->self();
    report.facts.cores = 4;
    report.disk = {1000, 500};
    report.clock = loop.clock().wall() + ahead;
    co_return api::encode_report(report);
  }
  SimLoop loop;
  std::unique_ptr<SimTransport> transport;
  net::Exchange exchange;
  unsigned briefs = 0;
  unsigned fulls = 0;
  std::chrono::seconds ahead{0};
};

struct World {
  SimScheduler scheduler{1};
  SimNetwork network{scheduler, {}};
  Node a{scheduler, network, "a"};
  Node b{scheduler, network, "b"};
  bool leads = false;
  bool watched = false;
  bool calm = true;
  std::optional<bool> heard;
  std::vector<std::string> turned;
  unsigned sampled = 0;
  Reports reports{a.loop, a.exchange, hooks()};

  ReportsHooks hooks() {
    ReportsHooks h;
    h.others = [] { return std::vector<std::string>{"b"}; };
    h.leads = [this] { return leads; };
    h.watched = [this] { return watched; };
    h.heard = [this](const std::string&) { return heard; };
    h.linked = [](const std::string&) { return false; };
    h.calm = [this] { return calm; };
    h.sampled = [this](const std::string&) { ++sampled; };
    h.turned = [this](const std::string& id) { turned.push_back(id); };
    return h;
  }
  void run(std::chrono::seconds time) { scheduler.run_for(time); }
};

TEST(Reports, MostClocksAreRightAndTheEarlierOfTwo) {
  using std::chrono::seconds;
  constexpr Duration kYears = std::chrono::hours(24 * 365 * 5);
  EXPECT_EQ(ahead_of_most({}, true), std::nullopt);
  EXPECT_EQ(ahead_of_most({-kYears, -kYears + seconds(2)}, true), kYears - seconds(2));  // ours is ahead
  EXPECT_EQ(ahead_of_most({kYears, seconds(1)}, true), -seconds(1));  // one of the others is: nothing to do
  EXPECT_EQ(ahead_of_most({-kYears}, true), kYears);
  EXPECT_EQ(ahead_of_most({kYears}, true), Duration::zero());
  EXPECT_EQ(ahead_of_most({kYears}, false), -kYears);  // ours is known to be wrong
}

TEST(Reports, NobodyIsAskedWhenNobodyWatchesAndOthersLead) {
  World t;
  t.reports.start();
  t.run(std::chrono::seconds(120));
  EXPECT_EQ(t.b.briefs + t.b.fulls, 0u);
  EXPECT_TRUE(t.reports.reachable("b"));  // there is a leader: presumed there
  t.calm = false;
  EXPECT_FALSE(t.reports.reachable("b"));
}

TEST(Reports, TheLeaderAsksBrieflyEveryHalfMinute) {
  World t;
  t.leads = true;
  t.reports.start();
  t.run(std::chrono::seconds(121));
  EXPECT_EQ(t.b.fulls, 0u);
  EXPECT_EQ(t.b.briefs, 4u);
  EXPECT_EQ(t.reports.find("b")->disk.free_bytes, 500u);
  EXPECT_EQ(t.sampled, 0u);
}

TEST(Reports, WhileSomebodyWatchesAllAskInFullEveryTwoSeconds) {
  World t;
  t.watched = true;
  t.reports.start();
  t.run(std::chrono::seconds(21));
  EXPECT_EQ(t.b.fulls, 10u);
  EXPECT_EQ(t.sampled, 10u);
  EXPECT_EQ(t.reports.find("b")->facts.cores, 4u);
  t.watched = false;
  t.run(std::chrono::seconds(20));
  EXPECT_EQ(t.b.fulls, 10u);
}

TEST(Reports, ABriefOneKeepsWhatTheFullOneSaid) {
  World t;
  t.watched = true;
  t.reports.start();
  t.run(std::chrono::seconds(3));
  t.watched = false;
  t.leads = true;
  t.run(std::chrono::seconds(60));
  ASSERT_GT(t.b.briefs, 0u);
  EXPECT_EQ(t.reports.find("b")->facts.cores, 4u);
}

TEST(Reports, OneThatDoesNotAnswerTurnsOnceEachWay) {
  World t;
  t.watched = true;
  t.reports.start();
  t.run(std::chrono::seconds(5));
  EXPECT_EQ(t.turned, std::vector<std::string>{"b"});
  t.network.partition({"b"});
  t.run(std::chrono::seconds(10));
  EXPECT_FALSE(t.reports.reachable("b"));
  EXPECT_EQ(t.turned.size(), 2u);
  t.network.heal();
  t.run(std::chrono::seconds(10));
  EXPECT_TRUE(t.reports.reachable("b"));
  EXPECT_EQ(t.turned.size(), 3u);
}

TEST(Reports, TheLeadersLogKnowsBetterThanSilence) {
  World t;
  t.heard = false;
  EXPECT_FALSE(t.reports.reachable("b"));
  t.heard = true;
  EXPECT_TRUE(t.reports.reachable("b"));
}

TEST(Reports, ARequestWaitsForAnswersButNotForever) {
  World t;
  bool done = false;
  const auto ask = [&] {
    done = false;
    spawn([](World& w, bool& flag) -> Task<void> {
      co_await w.reports.refresh();
      flag = true;
    }(t, done));
  };
  t.reports.start();
  ask();
  EXPECT_FALSE(done);
  t.run(std::chrono::seconds(1));
  EXPECT_TRUE(done);
  ask();
  EXPECT_TRUE(done) << "what came a moment ago is not asked for again";
  t.network.partition({"b"});
  t.run(std::chrono::seconds(60));
  ask();
  t.run(std::chrono::seconds(2));
  EXPECT_TRUE(done);
  EXPECT_FALSE(t.reports.reachable("b"));
}

TEST(Reports, ClocksAreCompared) {
  World t;
  t.b.ahead = std::chrono::seconds(30);
  t.watched = true;
  t.reports.start();
  t.run(std::chrono::seconds(3));
  const auto ahead = t.reports.clock_ahead("b");
  ASSERT_TRUE(ahead);
  EXPECT_GT(*ahead, std::chrono::seconds(29));
  EXPECT_LT(*ahead, std::chrono::seconds(31));
}

TEST(Reports, AClockCenturiesAheadStillFits) {
  World t;
  t.b.ahead = std::chrono::hours(24 * 365 * 1000);
  t.watched = true;
  t.reports.start();
  t.run(std::chrono::seconds(3));
  const Duration ahead = t.reports.clock_ahead("b").value();
  EXPECT_GT(ahead, std::chrono::hours(24 * 365 * 250));
}

}  // namespace
}  // namespace samovar::daemon
