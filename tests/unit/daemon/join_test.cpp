// Both sides of a join with their limits: what an administrator, an impatient one, and an enemy can do.
#include <gtest/gtest.h>

#include "security/join_wire.hpp"
#include "tests/support/join_world.hpp"

namespace samovar::daemon {
namespace {

using Kind = ConfirmResult::Kind;
using std::chrono::minutes;
using std::chrono::seconds;

TEST(Join, TheRightCodeMakesAMember) {
  JoinWorld world;
  const auto pending = world.approve();
  ASSERT_TRUE(pending) << pending.error().message();
  EXPECT_EQ(pending->node_id, world.identity.node_id);
  EXPECT_EQ(pending->facts.hostname, "board-7");
  EXPECT_EQ(pending->state, PendingState::code_needed);
  EXPECT_EQ(pending->tries_left, 3u);
  EXPECT_EQ(pending->cluster_name, "Städtische Klinik");
  world.settle();
  EXPECT_EQ(world.guest->status().state, GuestState::code);
  EXPECT_EQ(world.guest->status().cluster_name, "Städtische Klinik");
  EXPECT_TRUE(world.admitted.empty());
  EXPECT_FALSE(world.kept);

  const ConfirmResult result = world.confirm(world.code());
  ASSERT_EQ(result.kind, Kind::joined) << result.reason;
  EXPECT_EQ(result.node.id, world.identity.node_id);
  EXPECT_EQ(result.node.addresses, (std::vector<std::string>{"10.0.0.7:7443", "[fe80::1]:7443"}));
  EXPECT_EQ(result.node.sign_public, to_bytes(ByteView(world.identity.sign_public)));
  world.settle();
  ASSERT_EQ(world.admitted.size(), 1u);
  ASSERT_TRUE(world.kept);
  EXPECT_TRUE(world.kept->cmk.equal(Bytes(32, 0x5a)));
  EXPECT_EQ(world.joined, 1);
  EXPECT_EQ(world.guest->status().state, GuestState::done);
  EXPECT_EQ(world.guest->status().code, "");
  EXPECT_TRUE(world.host->pending().empty());
  EXPECT_EQ(world.dials, 1);
}

TEST(Join, ApprovingAgainAnswersWithTheSameJoin) {
  JoinWorld world;
  const auto first = world.approve();
  const auto again = world.approve();
  ASSERT_TRUE(first && again);
  EXPECT_EQ(first->id, again->id);
  EXPECT_EQ(world.dials, 1);
}

TEST(Join, ABusyDoorIsTriedAgain) {
  JoinWorld world;
  world.busy_dials = 2;
  EXPECT_TRUE(world.approve());
  EXPECT_EQ(world.dials, 3);

  JoinWorld busy;
  busy.busy_dials = 3;
  const auto refused = busy.approve();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Errc::busy);
  EXPECT_NE(refused.error().message().find("screen"), std::string::npos);
  EXPECT_TRUE(busy.host->pending().empty());
}

TEST(Join, ThreeWrongCodesEndItAndBarTheKey) {
  JoinWorld world;
  ASSERT_TRUE(world.approve());
  world.settle();
  const std::string right = world.code();
  EXPECT_EQ(world.confirm(world.wrong_code(1)).tries_left, 2u);
  EXPECT_EQ(world.confirm(world.wrong_code(2)).tries_left, 1u);
  const ConfirmResult third = world.confirm(world.wrong_code(3));
  EXPECT_EQ(third.kind, Kind::over);
  EXPECT_NE(third.reason.find("three wrong codes"), std::string::npos);
  // The right one afterwards is late.
  EXPECT_EQ(world.confirm(right).kind, Kind::over);
  world.settle();
  EXPECT_EQ(world.guest->status().state, GuestState::waiting);
  EXPECT_EQ(world.guest->status().code, "");
  EXPECT_TRUE(world.admitted.empty());
  const auto barred = world.approve();
  ASSERT_FALSE(barred);
  EXPECT_EQ(barred.error().code(), Errc::denied);
  EXPECT_NE(barred.error().message().find("15 minutes"), std::string::npos) << barred.error().message();
  EXPECT_EQ(world.dials, 1);
  world.scheduler.run_for(minutes(16));
  EXPECT_TRUE(world.approve());
}

TEST(Join, TheBarHoldsForTheKeyWhateverTheAddress) {
  JoinWorld world;
  ASSERT_TRUE(world.approve());
  for (int i = 1; i <= 3; ++i) world.confirm(world.wrong_code(i));
  world.settle();
  const auto elsewhere = world.run(world.host->approve(world.approval("", "192.168.7.7:7443")));
  ASSERT_FALSE(*elsewhere);
  EXPECT_EQ(elsewhere->error().code(), Errc::denied);
  world.settle();
  EXPECT_EQ(world.codes_shown.size(), 1u);
}

TEST(Join, ALateCodeIsRefused) {
  JoinWorld world;
  ASSERT_TRUE(world.approve());
  world.settle();
  const std::string right = world.code();
  world.scheduler.run_for(minutes(11));
  const ConfirmResult late = world.confirm(right);
  EXPECT_EQ(late.kind, Kind::over);
  EXPECT_NE(late.reason.find("ten minutes"), std::string::npos);
  EXPECT_EQ(world.guest->status().state, GuestState::waiting);
  EXPECT_EQ(world.guest->status().unfinished, 0u);  // older than ten minutes
  EXPECT_TRUE(world.admitted.empty());
  EXPECT_FALSE(world.kept);
}

TEST(Join, CancellingClearsTheConsole) {
  JoinWorld world;
  ASSERT_TRUE(world.approve());
  world.settle();
  EXPECT_TRUE(world.host->cancel(world.identity.node_id));
  EXPECT_FALSE(world.host->cancel(world.identity.node_id));
  world.settle();
  EXPECT_EQ(world.guest->status().state, GuestState::waiting);
  EXPECT_EQ(world.guest->status().unfinished, 1u);
  EXPECT_NE(world.guest->status().trouble, "");
}

TEST(Join, ASecondHandshakeIsRefusedWhileACodeShows) {
  JoinWorld world;
  ASSERT_TRUE(world.approve());
  world.settle();
  const std::string shown = world.code();
  security::TestCluster other;
  auto line = world.line_to_guest();
  ASSERT_TRUE(line->send(security::JoinMember::begin(other.offer())->j1()));
  const auto answer = world.run(line->receive(seconds(5)));
  ASSERT_TRUE(*answer);
  const auto refusal = security::decode_refusal(**answer);
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->reason, security::JoinRefusal::code_shown);
  EXPECT_GT(refusal->retry_seconds, 500);
  EXPECT_EQ(world.code(), shown);
  EXPECT_EQ(world.confirm(shown).kind, Kind::joined);
}

// Somebody in between who opens handshake after handshake until the two codes happen to be the same: five
// tries, then ten minutes of nothing, and the console shows them.
TEST(Join, SilentGrindingEndsAfterFive) {
  JoinWorld world;
  security::TestCluster rogue;
  unsigned answered = 0;
  for (int i = 0; i < 40; ++i) {
    auto line = world.line_to_guest();
    ASSERT_TRUE(line->send(security::JoinMember::begin(rogue.offer())->j1()));
    const auto answer = world.run(line->receive(seconds(5)));
    ASSERT_TRUE(*answer);
    if (security::join_kind(**answer) == security::JoinKind::j2) {
      ++answered;
    } else {
      EXPECT_EQ(security::decode_refusal(**answer)->reason, security::JoinRefusal::too_many);
      EXPECT_GT(security::decode_refusal(**answer)->retry_seconds, 0);
    }
    line.reset();
    world.scheduler.run_for(seconds(5));
  }
  EXPECT_EQ(answered, 5u);
  EXPECT_EQ(world.guest->status().unfinished, 5u);
  EXPECT_TRUE(world.codes_shown.empty());
  const auto refused = world.approve();
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message().find("too many attempts"), std::string::npos);
  world.scheduler.run_for(minutes(10));
  EXPECT_TRUE(world.approve());
}

TEST(Join, AHandshakeThatHangsIsGivenUpAndCounts) {
  JoinWorld world;
  auto line = world.line_to_guest();
  ASSERT_TRUE(line->send(security::JoinMember::begin(world.cluster.offer())->j1()));
  ASSERT_TRUE(*world.run(line->receive(seconds(5))));
  EXPECT_EQ(world.guest->status().state, GuestState::handshake);
  world.scheduler.run_for(seconds(20));
  EXPECT_EQ(world.guest->status().state, GuestState::waiting);
  EXPECT_EQ(world.guest->status().unfinished, 1u);
}

TEST(Join, GarbageAtTheDoorIsRefusedAndCountsNothing) {
  JoinWorld world;
  security::TestCluster rogue;
  Bytes broken = security::JoinMember::begin(rogue.offer())->j1();
  broken.pop_back();
  for (const Bytes& message : {Bytes{}, Bytes{0}, Bytes{2, 1, 0}, Bytes(65'000, 7), broken}) {
    auto line = world.line_to_guest();
    ASSERT_TRUE(line->send(message));
    const auto answer = world.run(line->receive(seconds(5)));
    ASSERT_TRUE(*answer);
    EXPECT_EQ(security::decode_refusal(**answer)->reason, security::JoinRefusal::failed);
  }
  Bytes later = security::JoinMember::begin(rogue.offer())->j1();
  later[1] = 9;
  auto line = world.line_to_guest();
  ASSERT_TRUE(line->send(later));
  EXPECT_EQ(security::decode_refusal(**world.run(line->receive(seconds(5))))->reason,
            security::JoinRefusal::version);
  EXPECT_EQ(world.guest->status().unfinished, 0u);
}

TEST(Join, WhoIsThereIsAnsweredAndCountsNothing) {
  JoinWorld world;
  for (int i = 0; i < 20; ++i) {
    auto line = world.line_to_guest();
    ASSERT_TRUE(line->send(security::encode_who()));
    const auto answer = world.run(line->receive(seconds(5)));
    ASSERT_TRUE(*answer);
    EXPECT_EQ(as_text(*security::decode_here(**answer)), "a beacon");
  }
  EXPECT_EQ(world.guest->status().unfinished, 0u);
}

TEST(Join, AClaimedNodeRefusesEveryHandshake) {
  JoinWorld world;
  ASSERT_TRUE(world.approve());
  ASSERT_EQ(world.confirm(world.code()).kind, Kind::joined);
  world.settle();
  security::TestCluster other;
  auto line = world.line_to_guest();
  ASSERT_TRUE(line->send(security::JoinMember::begin(other.offer())->j1()));
  EXPECT_EQ(security::decode_refusal(**world.run(line->receive(seconds(5))))->reason,
            security::JoinRefusal::claimed);
  EXPECT_EQ(world.keep_calls, 1);

  JoinWorld own;  // set up in the browser as a cluster of its own
  own.guest->close();
  const auto refused = own.approve();
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message().find("factory state"), std::string::npos);
}

TEST(Join, NothingBeginsWhileTheNodeIsBeingSetUp) {
  JoinWorld world;
  world.guest_may_begin = false;
  EXPECT_FALSE(world.approve());
  EXPECT_EQ(world.guest->status().unfinished, 0u);
}

TEST(Join, AnotherNodeAtTheAddressIsRefusedByName) {
  JoinWorld world;
  const auto other = security::make_identity();
  const auto refused = world.run(world.host->approve(world.approval(other->node_id)));
  ASSERT_FALSE(*refused);
  EXPECT_NE(refused->error().message().find(security::short_node_id(other->node_id)), std::string::npos);
  EXPECT_NE(refused->error().message().find(security::short_node_id(world.identity.node_id)),
            std::string::npos);
  world.settle();
  EXPECT_TRUE(world.codes_shown.empty());
}

TEST(Join, ANodeThatMayNotJoinIsRefusedBeforeAnyCode) {
  JoinWorld world;
  world.may_join = Error{Errc::denied, "this id belongs to a member: a cloned disk"};
  const auto refused = world.approve();
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message().find("cloned"), std::string::npos);
  world.settle();
  EXPECT_TRUE(world.codes_shown.empty());
  EXPECT_EQ(world.guest->status().state, GuestState::waiting);
}

TEST(Join, ACommitThatFailsLeavesTheNodeUnclaimedAndWithoutKeys) {
  JoinWorld world;
  ASSERT_TRUE(world.approve());
  world.admit_fails = Error{Errc::unavailable, "this side of the network has 1 of 3 nodes"};
  const ConfirmResult result = world.confirm(world.code());
  EXPECT_EQ(result.kind, Kind::over);
  EXPECT_NE(result.reason.find("1 of 3"), std::string::npos);
  world.settle();
  EXPECT_EQ(world.keep_calls, 0);
  EXPECT_EQ(world.guest->status().state, GuestState::waiting);
  EXPECT_NE(world.guest->status().trouble.find("did not take"), std::string::npos);
  world.admit_fails.reset();
  ASSERT_TRUE(world.approve());
  EXPECT_EQ(world.confirm(world.code()).kind, Kind::joined);
}

// The line dies after n messages, for every n. Either nobody is a member, or both sides agree that the node
// is.
TEST(Join, ALineCutAtEveryStepLeavesNoHalfMember) {
  for (unsigned n = 0; n <= 7; ++n) {
    JoinWorld world(n + 1);
    auto cut = std::make_shared<net::JoinPipe>();
    cut->cut_after = n;
    world.pipes = {cut, std::make_shared<net::JoinPipe>()};
    const auto pending = world.approve();
    if (pending) world.confirm(world.code());
    world.scheduler.run_for(minutes(5));
    const bool in_cluster = !world.admitted.empty();
    const bool on_node = world.kept.has_value();
    EXPECT_EQ(in_cluster, on_node) << "cut after " << n;
    EXPECT_EQ(in_cluster, n >= 5) << n;  // J1 to J5 arrived
    EXPECT_TRUE(world.host->pending().empty()) << n;
    if (on_node) {
      EXPECT_EQ(world.joined, 1) << n;
      continue;
    }
    EXPECT_EQ(world.guest->status().state, GuestState::waiting) << n;
    ASSERT_TRUE(world.approve()) << n;  // and it can simply be tried again
    EXPECT_EQ(world.confirm(world.code()).kind, Kind::joined) << n;
  }
}

// The node restarts between J5 and J6: it knows nothing any more, the cluster has its row. Approving it once
// more brings both together.
TEST(Join, ANodeRestartedAtTheLastStepIsAddedByApprovingAgain) {
  JoinWorld world;
  auto cut = std::make_shared<net::JoinPipe>();
  cut->cut_after = 5;
  world.pipes = {cut, std::make_shared<net::JoinPipe>()};
  ASSERT_TRUE(world.approve());
  world.settle();
  EXPECT_EQ(world.confirm(world.code()).kind, Kind::joined);
  world.make_guest();
  world.scheduler.run_for(minutes(2));
  EXPECT_FALSE(world.kept);
  EXPECT_EQ(world.guest->status().state, GuestState::waiting);
  EXPECT_EQ(world.guest->status().unfinished, 0u);
  ASSERT_TRUE(world.approve());
  EXPECT_EQ(world.confirm(world.code()).kind, Kind::joined);
  world.settle();
  EXPECT_TRUE(world.kept);
}

TEST(Join, ADiskThatFailsOnceIsTriedAgainByItself) {
  JoinWorld world;
  world.keep_fails = 2;
  ASSERT_TRUE(world.approve());
  EXPECT_EQ(world.confirm(world.code()).kind, Kind::joined);
  EXPECT_FALSE(world.kept);
  world.scheduler.run_for(minutes(2));
  EXPECT_TRUE(world.kept);
  EXPECT_EQ(world.joined, 1);
  EXPECT_EQ(world.admitted.size(), 1u);
}

TEST(Join, AStrangersJ6IsRefused) {
  JoinWorld world;
  auto line = world.line_to_guest();
  ASSERT_TRUE(line->send(security::encode_fixed(security::JoinKind::j6, Bytes(100, 1))));
  EXPECT_EQ(security::decode_refusal(**world.run(line->receive(seconds(5))))->reason,
            security::JoinRefusal::unknown);
}

TEST(Join, EightAtATimeAndOnePerAddress) {
  JoinWorld world;
  // Doors that never answer: the dials stay pending.
  std::vector<std::shared_ptr<std::optional<Result<PendingJoin>>>> results;
  const auto begin = [&](const std::string& address) {
    auto result = std::make_shared<std::optional<Result<PendingJoin>>>();
    std::function<void(Result<PendingJoin>)> done = [result](Result<PendingJoin> value) {
      result->emplace(std::move(value));
    };
    spawn<Result<PendingJoin>>(world.host->approve(world.approval("", address)), std::move(done));
    results.push_back(result);
  };
  world.guest.reset();
  for (int i = 0; i < 8; ++i) begin("10.0.0." + std::to_string(i) + ":7443");
  begin("10.0.0.3:7443");
  begin("10.0.0.99:7443");
  ASSERT_TRUE(results[9]->has_value());
  EXPECT_EQ((*results[9])->error().code(), Errc::busy);
  ASSERT_TRUE(results[8]->has_value());
  EXPECT_NE((*results[8])->error().code(), Errc::internal);
  EXPECT_EQ(world.host->pending().size(), 8u);
  world.scheduler.run_for(minutes(1));
  EXPECT_TRUE(world.host->pending().empty());
  for (const auto& result : results) EXPECT_TRUE(result->has_value() && !(*result)->has_value());
}

TEST(Join, TenWrongCodesInAnHourCloseTheDoor) {
  JoinWorld world;
  unsigned wrong = 0;
  while (wrong < 10) {
    // Another node each time, so that the bar of one key does not come first.
    world.identity = *security::make_identity();
    world.make_guest();
    ASSERT_TRUE(world.approve()) << wrong;
    for (int i = 1; i <= 2 && wrong < 10; ++i, ++wrong) world.confirm(world.wrong_code(i));
    if (wrong < 10) {
      ASSERT_TRUE(world.host->cancel(world.identity.node_id));
    }
  }
  EXPECT_TRUE(world.host->pending().empty());
  world.identity = *security::make_identity();
  world.make_guest();
  const auto closed = world.approve();
  ASSERT_FALSE(closed);
  EXPECT_EQ(closed.error().code(), Errc::busy);
  world.scheduler.run_for(minutes(61));
  EXPECT_TRUE(world.approve());
}

TEST(Join, DestroyingEitherSideEndsItForTheOther) {
  JoinWorld world;
  ASSERT_TRUE(world.approve());
  world.settle();
  world.host.reset();
  world.settle();
  EXPECT_EQ(world.guest->status().state, GuestState::waiting);

  JoinWorld other;
  ASSERT_TRUE(other.approve());
  other.settle();
  const std::string code = other.code();
  other.guest.reset();
  other.settle();
  EXPECT_EQ(other.confirm(code).kind, Kind::over);
  EXPECT_TRUE(other.admitted.empty());
}

// A man in the middle answers the member with a node of his own and dials the node with a cluster of his own:
// both handshakes go through, and what the real console shows is no use at the member.
TEST(Join, TheRealConsolesCodeDoesNotFitSomebodyInBetween) {
  JoinWorld world;  // its node is the false one, which the member reaches
  const auto identity = *security::make_identity();
  JoinGuestHooks hooks;
  hooks.facts = [] { return security::test_facts(); };
  JoinGuest honest(world.loop, identity, std::move(hooks));
  ASSERT_TRUE(world.approve());

  security::TestCluster rogue;
  auto member = *security::JoinMember::begin(rogue.offer());
  auto [line, theirs] = net::PipeEnd::make(world.loop, std::make_shared<net::JoinPipe>());
  honest.take(std::move(theirs));
  ASSERT_TRUE(line->send(member.j1()));
  ASSERT_TRUE(member.take_j2(**world.run(line->receive(seconds(5)))));
  ASSERT_TRUE(line->send(member.j3()));
  world.settle();
  ASSERT_EQ(honest.status().state, GuestState::code);
  for (int i = 0; i < 3; ++i) EXPECT_NE(world.confirm(honest.status().code).kind, Kind::joined);
  // Not even his own code helps now.
  EXPECT_EQ(world.confirm(world.codes_shown.front()).kind, Kind::over);
  EXPECT_TRUE(world.admitted.empty());
}

}  // namespace
}  // namespace samovar::daemon
