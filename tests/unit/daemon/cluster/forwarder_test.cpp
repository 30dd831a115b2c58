// Commands find the leader, and happen once however often they had to be sent.
#include "daemon/cluster/forwarder.hpp"

#include <optional>

#include "daemon/cluster/cluster_clock.hpp"
#include "tests/unit/daemon/cluster/forwarder_fixture.hpp"

namespace samovar::cluster::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class ForwarderTest : public ::testing::Test {
 protected:
  ForwarderTest() : network_(scheduler_, {}), logs_(scheduler_, network_) {
    EXPECT_GE(sodium_init(), 0);
    for (const char* id : {"a", "b", "c"}) logs_.add(id);
    logs_.lead("a");
    EXPECT_TRUE(submit("a", make_command("cluster.init", init_body(), at(0))));
    scheduler_.run_for(seconds(1));
  }

  std::shared_ptr<std::optional<Result<Bytes>>> begin(const std::string& node, Command command) {
    auto out = std::make_shared<std::optional<Result<Bytes>>>();
    spawn<Result<Bytes>>(logs_.at(node).forwarder->submit(std::move(command)),
                         [out](Result<Bytes> reply) { out->emplace(std::move(reply)); });
    return out;
  }
  Result<Fields> end(const std::shared_ptr<std::optional<Result<Bytes>>>& out) {
    EXPECT_TRUE(scheduler_.run_until([&] { return out->has_value(); }, seconds(60)));
    Result<Bytes> reply = **out;
    if (!reply) return reply.error();
    return decode_reply(*reply);
  }
  Result<Fields> submit(const std::string& node, Command command) {
    return end(begin(node, std::move(command)));
  }
  Command add_user(const std::string& name, std::string request_id = "req_1") {
    return make_command("user.create", user_body("usr_" + name, name), at(0), std::move(request_id));
  }
  std::int64_t users(const std::string& node) {
    Query query(logs_.at(node).machine->db(), "SELECT count(*) FROM users");
    return query.next() ? query.number(0) : -1;
  }
  void settle() {
    scheduler_.run_for(seconds(1));
    for (const char* id : {"b", "c"})
      EXPECT_EQ(logs_.at(id).machine->state_hash(), logs_.at("a").machine->state_hash());
  }
  // Nothing reaches anybody any more.
  void cut() { network_.set_options({milliseconds(1), milliseconds(1), 1'000'000, 0}); }
  void mend() { network_.set_options({}); }

  SimScheduler scheduler_{7};
  SimNetwork network_;
  FakeLogs logs_;
};

TEST_F(ForwarderTest, AFollowerAsksTheLeaderAndReadsItsOwnWrite) {
  const auto done = submit("b", add_user("boris"));
  ASSERT_TRUE(done) << done.error().message();
  EXPECT_EQ(users("b"), 2);
  EXPECT_EQ(users("c"), users("b") == 2 ? users("c") : 0);
  settle();
  // A refusal comes back as one.
  const auto again = submit("c", add_user("boris", "req_2"));
  ASSERT_FALSE(again);
  EXPECT_EQ(refusal_of(again.error()), Refusal::name_taken);
}

TEST_F(ForwarderTest, TheLeaderPutsInItsOwnTime) {
  logs_.at("b").loop.clock().step_wall(-std::chrono::hours(24 * 365 * 56));  // 1970
  ASSERT_TRUE(submit("b", add_user("boris")));
  const WallTime made = find_user_by_name(logs_.at("b").machine->db(), "boris")->created_at;
  EXPECT_GE(made, SimClock::kStart);
  EXPECT_LT(made, SimClock::kStart + seconds(60));
}

TEST_F(ForwarderTest, ALostAnswerIsAskedForAgainAndHappensOnce) {
  logs_.on_commit = [this] { cut(); };
  const auto out = begin("b", add_user("boris"));
  scheduler_.run_for(seconds(1));
  EXPECT_FALSE(out->has_value());
  EXPECT_EQ(users("a"), 2);
  mend();
  const auto done = end(out);
  ASSERT_TRUE(done) << done.error().message();
  EXPECT_EQ(*done->text("id", 64), "usr_boris");
  EXPECT_GE(logs_.entries.size(), 3u) << "it was not asked again";
  settle();
  EXPECT_EQ(users("b"), 2);
  Query audit(logs_.at("b").machine->db(), "SELECT count(*) FROM audit WHERE action = 'user.create'");
  ASSERT_TRUE(audit.next());
  EXPECT_EQ(audit.number(0), 2);  // the administrator, and he
}

TEST_F(ForwarderTest, WithoutARequestIdAnUnknownOutcomeIsNotRepeated) {
  logs_.on_commit = [this] { cut(); };
  const auto out = begin("b", add_user("boris", ""));
  const auto done = end(out);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code(), Errc::timeout);
  mend();
  settle();
  EXPECT_EQ(logs_.entries.size(), 2u);
}

TEST_F(ForwarderTest, ALeaderThatDiesOnTheWayIsReplaced) {
  logs_.swallow = true;
  const auto out = begin("b", add_user("boris"));
  scheduler_.run_for(seconds(1));
  EXPECT_FALSE(out->has_value());
  logs_.swallow = false;
  logs_.lead("c");
  const auto done = end(out);
  ASSERT_TRUE(done) << done.error().message();
  settle();
  EXPECT_EQ(users("b"), 2);
}

TEST_F(ForwarderTest, ALeaderThatFellSilentIsNotWaitedForOnceAnotherOneLeads) {
  logs_.swallow = true;
  const auto sure = begin("b", add_user("boris"));
  const auto once = begin("b", add_user("anna", ""));
  scheduler_.run_for(milliseconds(100));
  logs_.swallow = false;
  logs_.lead("c");
  logs_.at("b").forwarder->leader_changed();
  scheduler_.run_for(seconds(1));  // the first one's answer would be waited for three seconds
  ASSERT_TRUE(sure->has_value());
  EXPECT_TRUE(**sure);
  EXPECT_FALSE(once->has_value());  // may not be repeated: its answer may still come
  ignore(end(once), "whichever it is, it is the second user");
  settle();
  EXPECT_EQ(users("b"), 2);
}

// What the leader sends does not arrive here: the others still have it, and whoever asked may ask them.
TEST_F(ForwarderTest, WhoDoesNotHearTheLeaderAnyMoreSaysSoSoon) {
  logs_.swallow = true;
  const MonoTime before = scheduler_.clock().mono();
  const auto out = begin("b", add_user("boris"));
  scheduler_.run_for(milliseconds(2500));
  logs_.lead("");
  logs_.at("b").forwarder->leader_changed();
  const auto done = end(out);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code(), Errc::unavailable);
  EXPECT_EQ(refusal_of(done.error()), Refusal::none) << "it may have happened";
  EXPECT_LE(scheduler_.clock().mono() - before, milliseconds(6500));
}

TEST_F(ForwarderTest, ALeaderThatStepsDownAfterTheWriteDoesItOnce) {
  // It is in the log, but who proposed it does not lead any more when it is applied.
  logs_.commit_time = milliseconds(200);
  const auto out = begin("a", add_user("boris"));
  scheduler_.run_for(milliseconds(100));
  logs_.lead("c");
  const auto done = end(out);
  ASSERT_TRUE(done) << done.error().message();
  settle();
  EXPECT_EQ(users("a"), 2);
  EXPECT_EQ(logs_.entries.size(), 3u);
}

TEST_F(ForwarderTest, TheNodeThatWasAskedMayHaveBecomeAFollower) {
  logs_.lead("c");
  const auto done = submit("a", add_user("boris"));
  ASSERT_TRUE(done) << done.error().message();
  settle();
}

TEST_F(ForwarderTest, AMinorityRefusesAndSaysSo) {
  logs_.lead("");
  const MonoTime before = scheduler_.clock().mono();
  auto done = submit("b", add_user("boris"));
  ASSERT_FALSE(done);
  EXPECT_EQ(refusal_of(done.error()), Refusal::no_quorum);
  EXPECT_EQ(done.error().code(), Errc::unavailable);
  EXPECT_LE(scheduler_.clock().mono() - before, seconds(11));
  // Once it is clear that this is no election, nobody is made to wait.
  scheduler_.run_for(seconds(10));
  const MonoTime later = scheduler_.clock().mono();
  done = submit("b", add_user("boris"));
  ASSERT_FALSE(done);
  EXPECT_LE(scheduler_.clock().mono() - later, milliseconds(10));
  logs_.lead("a");
  EXPECT_TRUE(submit("b", add_user("boris")));
}

TEST_F(ForwarderTest, AfterAnElectionTheCommandGoesThrough) {
  logs_.lead("");
  const auto out = begin("b", add_user("boris"));
  scheduler_.run_for(seconds(3));
  EXPECT_FALSE(out->has_value());
  logs_.lead("c");
  EXPECT_TRUE(end(out));
}

TEST_F(ForwarderTest, AnUnknownOutcomeIsSaidAfterTenSeconds) {
  logs_.swallow = true;
  const MonoTime before = scheduler_.clock().mono();
  const auto done = submit("b", add_user("boris"));
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code(), Errc::unavailable);
  EXPECT_EQ(refusal_of(done.error()), Refusal::none);
  EXPECT_LE(scheduler_.clock().mono() - before, seconds(13));
}

TEST_F(ForwarderTest, ARemovedNodeIsNotHeard) {
  Fields node;
  node.set("id", "b").set("name", "b").set("hostname", "b").set("model", "m").set("version", "1");
  node.set("arch", "arm64").set("level", kCommandVersion).set("sign_public", Bytes(32, 1));
  ASSERT_TRUE(submit("a", make_command("node.admit", node, at(0))));
  Fields other = node;
  ASSERT_TRUE(
      submit("a", make_command("node.admit", other.set("id", "c").set("sign_public", Bytes(32, 2)), at(0))));
  ASSERT_TRUE(submit("b", add_user("boris")));
  ASSERT_TRUE(submit("a", make_command("node.remove", Fields().set("id", "b"), at(0))));
  const auto done = submit("b", add_user("vera", "req_2"));
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code(), Errc::denied);
}

TEST_F(ForwarderTest, WhoWasAwayCatchesUpWithTheLeader) {
  auto& b = logs_.at("b");
  const auto catch_up = [&b] {
    auto out = std::make_shared<std::optional<Result<void>>>();
    spawn<Result<void>>(b.forwarder->catch_up(seconds(10)),
                        [out](Result<void> done) { out->emplace(std::move(done)); });
    return out;
  };
  EXPECT_TRUE(b.forwarder->was_away()) << "it was just started";
  logs_.follow_time = seconds(5);
  ASSERT_TRUE(submit("a", add_user("boris")));
  const auto out = catch_up();
  scheduler_.run_for(seconds(4));
  EXPECT_FALSE(out->has_value()) << "it does not know him yet";
  EXPECT_TRUE(b.forwarder->was_away());
  ASSERT_TRUE(scheduler_.run_until([&] { return out->has_value(); }, seconds(5)));
  EXPECT_TRUE(**out);
  EXPECT_EQ(users("b"), 2);
  EXPECT_FALSE(b.forwarder->was_away());
  // An election is no absence; a minority is one, and shows what it has.
  logs_.lead("");
  scheduler_.run_for(seconds(2));
  EXPECT_FALSE(b.forwarder->was_away());
  scheduler_.run_for(seconds(2));
  EXPECT_TRUE(b.forwarder->was_away());
  EXPECT_FALSE(b.forwarder->is_cut_off());
  const auto alone = catch_up();
  ASSERT_TRUE(alone->has_value());
  EXPECT_EQ(refusal_of((*alone)->error()), Refusal::no_quorum);
  scheduler_.run_for(seconds(4));
  EXPECT_TRUE(b.forwarder->is_cut_off());
  logs_.lead("c");
  scheduler_.run_for(seconds(1));
  EXPECT_TRUE(b.forwarder->was_away()) << "until it has asked";
  const auto back = catch_up();
  ASSERT_TRUE(scheduler_.run_until([&] { return back->has_value(); }, seconds(5)));
  EXPECT_TRUE(**back);
  EXPECT_FALSE(b.forwarder->was_away());
  EXPECT_FALSE(b.forwarder->is_cut_off());
}

TEST_F(ForwarderTest, StoppingEndsWhatWaits) {
  logs_.swallow = true;
  const auto asked = begin("b", add_user("boris"));
  scheduler_.run_for(milliseconds(100));
  logs_.at("b").forwarder->stop();
  ASSERT_TRUE(asked->has_value());
  EXPECT_EQ((*asked)->error().code(), Errc::unavailable);
  logs_.lead("");
  const auto paused = begin("c", add_user("boris"));
  scheduler_.run_for(milliseconds(30));
  EXPECT_FALSE(paused->has_value());
  logs_.at("c").forwarder.reset();
  EXPECT_TRUE(paused->has_value());
  scheduler_.run_for(seconds(5));
}

TEST_F(ForwarderTest, SkewIsMeasuredAgainstWhoeverLeads) {
  auto& b = logs_.at("b");
  b.loop.clock().step_wall(seconds(70));
  EXPECT_FALSE(logs_.at("a").forwarder->clock_skew());
  scheduler_.run_for(seconds(40));
  ASSERT_TRUE(b.forwarder->clock_skew());
  EXPECT_NEAR(std::chrono::duration<double>(*b.forwarder->clock_skew()).count(), 70.0, 0.01);
  logs_.at("c").loop.clock().step_wall(seconds(100));
  logs_.lead("c");
  scheduler_.run_for(seconds(5));
  EXPECT_NEAR(std::chrono::duration<double>(*b.forwarder->clock_skew()).count(), -30.0, 0.01);
  EXPECT_FALSE(logs_.at("c").forwarder->clock_skew());
  // Without a leader it is forgotten after a while.
  logs_.lead("");
  scheduler_.run_for(seconds(130));
  EXPECT_FALSE(b.forwarder->clock_skew());
}

TEST_F(ForwarderTest, AClockThatIsFarOffDoesNotBecomeTheClustersByAnElection) {
  auto& b = logs_.at("b");
  b.loop.clock().step_wall(std::chrono::hours(24 * 3650));
  scheduler_.run_for(seconds(40));
  const auto before = b.forwarder->clock_skew();
  ASSERT_TRUE(before);
  logs_.lead("b");
  scheduler_.run_for(seconds(640));
  const auto after = b.forwarder->clock_skew();
  ASSERT_TRUE(after);
  EXPECT_NEAR(std::chrono::duration<double>(*before - *after).count(), 10.0, 1.0);
}

TEST(ClusterClock, GoesOnFromTheLastCommandWhenTheBoardHasNoTime) {
  SimClock clock(WallTime(seconds(1)));  // 1970
  ClusterClock cluster;
  EXPECT_EQ(cluster.now(clock, {}, {}), clock.wall());
  EXPECT_EQ(cluster.now(clock, at(0), {}), at(0));
  clock.advance(seconds(64));
  EXPECT_EQ(cluster.now(clock, at(0), {}), at(63));
  // The next command says more exactly what time it is.
  EXPECT_EQ(cluster.now(clock, at(65), {}), at(65));
}

TEST(ClusterClock, FollowsTheLeaderAndNeverGoesBack) {
  SimClock clock(at(1000));
  clock.set_mono(seconds(0));
  ClusterClock cluster;
  EXPECT_EQ(cluster.now(clock, at(10), {}), at(1000));
  EXPECT_EQ(cluster.now(clock, at(10), seconds(400)), at(600));
  EXPECT_EQ(cluster.now(clock, at(10), seconds(-50)), at(1050));
  // Set back by five seconds after a command: the cluster's time waits until it is met again.
  EXPECT_EQ(cluster.now(clock, at(1000), {}), at(1000));
  clock.step_wall(-seconds(5));
  EXPECT_EQ(cluster.now(clock, at(1000), {}), at(1000));
  clock.advance(seconds(64));
  EXPECT_EQ(cluster.now(clock, at(1000), {}), at(1063));
  clock.advance(seconds(64 * 9));
  EXPECT_EQ(cluster.now(clock, at(1000), {}), clock.wall());
}

TEST(ProposeMessage, WalksThereAndBack) {
  const auto question = decode_question(encode_question({ProposeKind::command, to_bytes("abc")}));
  ASSERT_TRUE(question);
  EXPECT_EQ(question->kind, ProposeKind::command);
  EXPECT_EQ(as_text(question->body), "abc");
  const auto answer = decode_answer(encode_answer({42, at(3), to_bytes("xyz")}));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->index, 42u);
  EXPECT_EQ(answer->time, at(3));
  EXPECT_EQ(as_text(answer->reply), "xyz");
  EXPECT_FALSE(decode_question({}));
  EXPECT_FALSE(decode_question(Bytes{1}));
  EXPECT_FALSE(decode_question(Bytes{1, 2}));
  EXPECT_FALSE(decode_question(Bytes{1, 0, 7}));
  EXPECT_EQ(decode_question(Bytes{2, 1}).error().code(), Errc::unsupported);
  EXPECT_FALSE(decode_answer(Bytes(16, 1)));
  EXPECT_FALSE(decode_answer(Bytes(17, 0xff)));
  Bytes late = encode_answer({1, at(0), {}});
  late[16] = 0xff;  // a time below zero
  EXPECT_FALSE(decode_answer(late));
}

}  // namespace
}  // namespace samovar::cluster::testing
