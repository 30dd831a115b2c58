// Who votes: the steps from any state to the one that survives most losses.
#include "daemon/cluster/steward.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/sim/sim_rng.hpp"

namespace samovar::cluster::testing {
namespace {

using Kind = StewardAction::Kind;
using raft::LogMember;
using raft::Voice;

// Names: "A" votes, "a" is a standby; '!' behind it: silent; '-' behind it: draining; '~': removed; '+': not
// in the log yet. The first one leads.
struct World {
  explicit World(const std::string& text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      const char c = text[i];
      if (c == ' ') continue;
      const std::string id(1, static_cast<char>(std::tolower(c)));
      const char mark = i + 1 < text.size() ? text[i + 1] : ' ';
      if (view.self.empty()) view.self = id;
      if (mark != '+') {
        LogMember member;
        member.node_id = id;
        member.voice = c >= 'A' && c <= 'Z' ? Voice::voter : Voice::standby;
        member.heard = mark != '!';
        member.match_index = 100;
        view.members.push_back(member);
      }
      if (mark == '-') view.draining.push_back(id);
      if (mark != '-' && mark != '~') view.active.push_back(id);
      if (mark == '!' || mark == '-' || mark == '~' || mark == '+') ++i;
    }
  }
  std::string next() const {
    const StewardAction action = next_action(view);
    return action.kind == Kind::none ? "none" : std::string(to_string(action.kind)) + " " + action.node_id;
  }
  // What the log would do.
  void apply(const StewardAction& action) {
    const auto found = std::find_if(view.members.begin(), view.members.end(), [&](const LogMember& member) {
      return member.node_id == action.node_id;
    });
    switch (action.kind) {
      case Kind::add: {
        ASSERT_EQ(found, view.members.end());
        LogMember fresh;
        fresh.node_id = action.node_id;
        fresh.voice = Voice::standby;
        view.members.push_back(fresh);
        return;
      }
      case Kind::promote:
        ASSERT_TRUE(found != view.members.end() && found->voice == Voice::standby && found->heard);
        found->voice = Voice::voter;
        return;
      case Kind::demote:
        ASSERT_TRUE(found != view.members.end() && found->voice == Voice::voter);
        ASSERT_NE(action.node_id, view.self);
        found->voice = Voice::standby;
        return;
      case Kind::remove:
        ASSERT_NE(found, view.members.end());
        ASSERT_NE(action.node_id, view.self);
        view.members.erase(found);
        return;
      case Kind::hand_over:
        ASSERT_TRUE(found != view.members.end() && found->voice == Voice::voter && found->heard);
        ASSERT_NE(action.node_id, view.self);
        view.self = action.node_id;
        return;
      case Kind::none:
        return;
    }
  }
  // More than half of those that vote are there, without this one.
  bool can_agree(const std::string& without = {}) const {
    std::size_t voters = 0;
    std::size_t living = 0;
    for (const LogMember& member : view.members) {
      if (member.voice != Voice::voter || member.node_id == without) continue;
      ++voters;
      living += member.heard ? 1 : 0;
    }
    return living > voters / 2;
  }
  // One of those that vote is there and stays.
  bool stayers_vote() const {
    return std::any_of(view.members.begin(), view.members.end(), [this](const LogMember& member) {
      return member.voice == Voice::voter && member.heard &&
             std::find(view.active.begin(), view.active.end(), member.node_id) != view.active.end();
    });
  }
  std::string settle(int steps_max = 60) {
    for (int i = 0; i < steps_max; ++i) {
      const StewardAction action = next_action(view);
      if (action.kind == Kind::none) return text();
      const bool agreed = can_agree();
      apply(action);
      if (action.kind == Kind::demote) {
        EXPECT_TRUE(!agreed || can_agree()) << "without " << action.node_id;
      }
      if (::testing::Test::HasFatalFailure()) return "failed";
    }
    return "no end";
  }
  std::string text() const {
    std::string out;
    for (const LogMember& member : view.members)
      out += member.voice == Voice::voter ? static_cast<char>(std::toupper(member.node_id[0]))
                                          : member.node_id[0];
    return out;
  }

  StewardView view;
};

TEST(Steward, VotersAreOddUpToSeven) {
  const std::vector<std::size_t> wanted = {0, 1, 2, 3, 3, 5, 5, 7, 7, 7};
  for (std::size_t n = 0; n < wanted.size(); ++n) EXPECT_EQ(voters_wanted(n), wanted[n]) << n;
  EXPECT_EQ(voters_wanted(16), 7u);
}

TEST(Steward, TheNextStep) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"A", "none"},
      {"A b+", "add b"},
      {"A b", "promote b"},
      {"A B", "none"},
      {"A B c", "promote c"},
      {"A B C d", "none"},
      {"A B C D", "demote d"},
      {"A B C d e", "promote d"},
      {"A B C D e", "promote e"},
      {"A B C D E f", "none"},
      {"A B C D E F G h", "none"},
      {"A B!", "none"},
      {"A B C!", "none"},
      {"A B C! d", "promote d"},
      {"A B C! D", "demote c"},
      {"A B C D E!", "none"},
      {"A B C D! E!", "demote e"},
      {"A B C D!", "demote d"},
      {"A B C D E F G! h", "demote g"},
      {"A B C D E F g! h", "promote h"},
      {"A B C-", "demote c"},
      {"A B C- d", "promote d"},
      {"A B C- D", "demote c"},
      {"A- B C", "hand over b"},
      {"A- b", "promote b"},
      {"A-", "none"},
      {"A B C~", "remove c"},
      {"A~ B C", "hand over b"},
      {"A B c~ d+", "remove c"},
      {"A b!", "none"},
      {"A b-", "none"},
      // Those that are being drained are needed while the others are away.
      {"A- B- C!", "demote c"},
      {"A- B- c!", "none"},
      {"A- B- c", "promote c"},
      {"A B C- D! E!", "demote e"},
      {"A B C- D! e!", "demote c"},
  };
  for (const auto& [state, step] : cases) EXPECT_EQ(World(state).next(), step) << state;
}

TEST(Steward, TheLeaderAndWhoeverIsAheadAreKept) {
  World world("A B C d e");
  world.view.members[4].match_index = 200;
  EXPECT_EQ(world.next(), "promote e");
  World many("B A C D");
  many.view.members[2].match_index = 50;
  EXPECT_EQ(many.next(), "demote c");
  World failing("A B c d");
  failing.view.not_promotable = {"c"};
  EXPECT_EQ(failing.next(), "promote d");
}

TEST(Steward, AClusterGrowsToSevenVoters) {
  EXPECT_EQ(World("A b+ c+ d+ e+ f+ g+ h+ i+").settle(), "ABCDEFGhi");
  EXPECT_EQ(World("A b+ c+ d+").settle(), "ABCd");
  EXPECT_EQ(World("A b+").settle(), "AB");
}

TEST(Steward, ALostVoterIsReplacedAndComesBackAsAStandby) {
  World world("A B C d");
  world.view.members[2].heard = false;
  EXPECT_EQ(world.settle(), "ABcD");
  world.view.members[2].heard = true;
  EXPECT_EQ(world.settle(), "ABcD");
}

TEST(Steward, AfterTwoLossesOfFiveThreeVoteAndCanLoseOneMore) {
  World world("A B C D! E!");
  EXPECT_EQ(world.settle(), "ABCde");
  world.view.members[3].heard = world.view.members[4].heard = true;
  EXPECT_EQ(world.settle(), "ABCDE");
}

TEST(Steward, AnyStateComesToRest) {
  SimRng rng(5);
  for (int round = 0; round < 3000; ++round) {
    World world("");
    const std::size_t count = 1 + rng.below(10);
    bool led = false;
    for (std::size_t i = 0; i < count; ++i) {
      const std::string id(1, static_cast<char>('a' + i));
      LogMember member;
      member.node_id = id;
      member.voice = rng.below(2) == 0 ? Voice::voter : Voice::standby;
      member.heard = rng.below(4) != 0;
      member.match_index = rng.below(3);
      const std::uint64_t state = rng.below(8);
      if (state == 0) world.view.draining.push_back(id);
      if (state > 1) world.view.active.push_back(id);
      if (!led && rng.below(3) == 0) {
        led = true;
        member.voice = Voice::voter;
        member.heard = true;
        world.view.self = id;
      }
      if (member.heard || rng.below(2) == 0 || world.view.self == id) world.view.members.push_back(member);
    }
    if (!led) continue;
    SCOPED_TRACE(round);
    const std::string end = world.settle();
    ASSERT_NE(end, "no end") << world.text();
    ASSERT_NE(end, "failed");
    std::size_t voters = 0;
    std::size_t candidates = 0;
    std::size_t living = 0;
    for (const LogMember& member : world.view.members) {
      const auto& active = world.view.active;
      const bool stays = std::find(active.begin(), active.end(), member.node_id) != active.end();
      const bool votes = member.voice == Voice::voter;
      voters += votes ? 1 : 0;
      living += votes && member.heard ? 1 : 0;
      candidates += stays && member.heard ? 1 : 0;
      if (member.node_id != world.view.self && votes && !stays) {
        EXPECT_FALSE(world.stayers_vote() && world.can_agree(member.node_id)) << end;
      }
    }
    // Without anybody to hand over to, the leader stays as it is.
    if (candidates == 0) continue;
    EXPECT_GE(living, voters_wanted(candidates)) << end;
    EXPECT_LE(voters, kVotersMax) << end;
    EXPECT_FALSE(voters == living && voters > 2 && voters % 2 == 0) << end;
  }
}

}  // namespace
}  // namespace samovar::cluster::testing
