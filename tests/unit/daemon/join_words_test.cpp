// Joining by words: no console, no code, proofs both ways.
#include <gtest/gtest.h>

#include "security/join_wire.hpp"
#include "security/join_words.hpp"
#include "tests/support/join_world.hpp"

namespace samovar::daemon {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

security::SecretBytes key_of(std::string_view words) {
  return *security::words_key(words, security::kTestCost);
}

struct JoinByWords : testing::Test {
  JoinWorld world;

  void invite(std::string_view words = "able-acid-acorn-acre-add") {
    JoinInvitation invitation{key_of(words),
                              {},
                              *security::PrivateKey::from_der(world.cluster.ca_key.to_der().view()),
                              minutes(10)};
    world.host->invite(std::move(invitation));
  }
  void expect_words(std::string_view words = "able-acid-acorn-acre-add", std::string digest = {}) {
    world.guest->expect_words(key_of(words), std::move(digest), minutes(10));
  }
  Result<cluster::NodeRecord> offer(std::string address = JoinWorld::kAddress) {
    return *world.run(world.host->offer(world.identity.node_id, std::move(address)));
  }
};

TEST_F(JoinByWords, TheSameWordsMakeAMemberWithoutACode) {
  invite();
  expect_words("able-acid-acorn-acre-add", security::ca_digest(world.cluster.ca));
  EXPECT_TRUE(world.guest->status().words);
  EXPECT_TRUE(world.host->invited_until());
  const auto joined = offer();
  ASSERT_TRUE(joined) << joined.error().message();
  world.settle();
  EXPECT_TRUE(world.kept);
  EXPECT_EQ(world.admitted.size(), 1u);
  EXPECT_EQ(world.joined, 1);
  EXPECT_TRUE(world.codes_shown.empty());
  EXPECT_FALSE(world.guest->status().words);
  // Single use.
  EXPECT_FALSE(world.host->invited_until());
  EXPECT_EQ(offer("10.0.0.8:7443").error().code(), Errc::conflict);
}

TEST_F(JoinByWords, OtherWordsAreRefusedAndNotTriedAgainThere) {
  invite();
  expect_words("able-acid-acorn-acre-age");
  EXPECT_EQ(offer().error().code(), Errc::denied);
  world.settle();
  EXPECT_FALSE(world.kept);
  EXPECT_TRUE(world.admitted.empty());
  EXPECT_NE(world.guest->status().trouble.find("words"), std::string::npos);
  EXPECT_EQ(offer().error().code(), Errc::conflict);
  EXPECT_TRUE(world.host->invited_until());
}

TEST_F(JoinByWords, FiveWrongAnswersEndTheInvitation) {
  invite();
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(world.host->invited_until()) << i;
    world.identity = *security::make_identity();
    world.make_guest();
    expect_words("able-acid-acorn-acre-age");
    EXPECT_EQ(offer("10.0.0." + std::to_string(i) + ":7443").error().code(), Errc::denied);
    world.settle();
  }
  EXPECT_FALSE(world.host->invited_until());
  world.make_guest();
  expect_words();
  EXPECT_EQ(offer("10.0.0.77:7443").error().code(), Errc::conflict);
  EXPECT_TRUE(world.admitted.empty());
}

TEST_F(JoinByWords, TenMinutesOnBothSides) {
  invite();
  expect_words();
  world.scheduler.run_for(minutes(11));
  EXPECT_FALSE(world.host->invited_until());
  EXPECT_FALSE(world.guest->status().words);
  invite();
  EXPECT_EQ(offer().error().code(), Errc::denied);  // the node waits for none any more
}

TEST_F(JoinByWords, AnAuthorityWithAnotherDigestIsRefused) {
  invite();
  security::TestCluster other;
  expect_words("able-acid-acorn-acre-add", security::ca_digest(other.ca));
  EXPECT_EQ(offer().error().code(), Errc::denied);
  EXPECT_FALSE(world.kept);
}

// Whoever is dialled by a node that pretends, or dials it, learns nothing that helps: a stranger who does not
// know the words cannot take the node.
TEST_F(JoinByWords, AStrangerWithoutTheWordsCannotTakeTheNode) {
  expect_words();
  security::TestCluster rogue;
  const auto guess = key_of("able-acid-acorn-acre-age");
  for (int i = 0; i < 5; ++i) {
    auto member = *security::JoinMember::begin(rogue.offer(security::JoinForm::words));
    auto line = world.line_to_guest();
    ASSERT_TRUE(line->send(member.j1()));
    const auto j2 = world.run(line->receive(seconds(5)));
    ASSERT_TRUE(member.take_j2(**j2)) << i;
    ASSERT_TRUE(line->send(member.j3()));
    ASSERT_TRUE(*world.run(line->receive(seconds(5))));  // its proof, no use without the words
    ASSERT_TRUE(line->send(member.words_proof(guess)));
    const auto answer = world.run(line->receive(seconds(5)));
    EXPECT_EQ(security::join_kind(**answer), security::JoinKind::refusal);
    line.reset();
    world.settle();
  }
  EXPECT_FALSE(world.guest->status().words);  // five failures: forgotten
  EXPECT_EQ(world.keep_calls, 0);
}

TEST_F(JoinByWords, ALineThatWasLostIsTriedAgain) {
  invite();
  expect_words();
  auto cut = std::make_shared<net::JoinPipe>();
  cut->cut_after = 2;
  world.pipes = {cut, std::make_shared<net::JoinPipe>()};
  EXPECT_FALSE(offer());
  world.settle();
  EXPECT_TRUE(offer());
  world.settle();
  EXPECT_TRUE(world.kept);
}

TEST_F(JoinByWords, ACodeStillWorksWhileWordsAreWaitedFor) {
  expect_words();
  ASSERT_TRUE(world.approve());
  EXPECT_EQ(world.confirm(world.code()).kind, ConfirmResult::Kind::joined);
}

}  // namespace
}  // namespace samovar::daemon
