// Three real nodes in one process: join, forwarding, loss of the leader, a minority, removal.
#include "tests/unit/daemon/cluster/members_fixture.hpp"

namespace samovar::cluster::testing {
namespace {

class MembersTest : public MembersFixture {
 protected:
  void three() {
    found("nod_a");
    if (!HasFatalFailure()) join("nod_b", "nod_a");
    if (!HasFatalFailure()) join("nod_c", "nod_b");
    if (!HasFatalFailure()) settle({"nod_a", "nod_b", "nod_c"});
  }
};

TEST_F(MembersTest, ANodeJoinsAndEveryOneTakesWrites) {
  three();
  for (const std::string id : {"nod_a", "nod_b", "nod_c"}) {
    const auto made = wait(at(id).create_user(call(), user("user-" + id.substr(4))));
    ASSERT_TRUE(made) << made.error().message();
    // What it wrote it reads at once.
    EXPECT_TRUE(at(id).user(made->id));
    EXPECT_TRUE(at(id).writable());
  }
  settle({"nod_a", "nod_b", "nod_c"});
  EXPECT_EQ(at("nod_c").users({}).items.size(), 4u);
  EXPECT_EQ(at("nod_b").nodes().size(), 3u);
  EXPECT_EQ(at("nod_b").level(), static_cast<unsigned>(kCommandVersion));
  const auto verdict = wait(at("nod_c").verify_audit());
  ASSERT_TRUE(verdict);
  EXPECT_TRUE(verdict->ok);
}

TEST_F(MembersTest, ALeaderGoesByTheClocksOfTheOthers) {
  three();
  Cluster* leader = nullptr;
  for (const std::string id : {"nod_a", "nod_b", "nod_c"})
    if (at(id).status().leader) leader = &at(id);
  ASSERT_NE(leader, nullptr);
  EXPECT_EQ(leader->clock_skew(), std::nullopt);
  clock_ahead_ = std::chrono::hours(24 * 365);
  EXPECT_EQ(leader->clock_skew(), clock_ahead_);
  // Behind what the others say: its stamps are later than its own clock.
  clock_ahead_ = -std::chrono::hours(2);
  EXPECT_GT(leader->now(), loop_.clock().wall() + std::chrono::hours(1));
  clock_ahead_ = std::chrono::seconds(20);  // within what is let pass
  EXPECT_EQ(leader->clock_skew(), std::nullopt);
}

TEST_F(MembersTest, DestroyedKeysLeaveTheLogsOfAllNodes) {
  three();
  NewDataset manifest;
  manifest.dataset.name = "Ward 6";
  manifest.dataset.owner_id = at("nod_a").user_by_name("anna")->id;
  manifest.version.created_by = manifest.dataset.owner_id;
  manifest.version.schema_json = "{\"columns\":[{\"name\":\"a\"}]}";
  manifest.version.options_json = "{}";
  manifest.version.wrapped_key = Bytes(72, 1);
  manifest.wrapped_source_key = Bytes(72, 2);
  const auto made = wait(at("nod_b").commit_dataset(call(), manifest));
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_EQ(at("nod_b").stored_file(made->id + "/source")->holders, std::vector<std::string>{"nod_b"});
  ASSERT_TRUE(wait(at("nod_c").bin_dataset(call(), made->id)));
  ASSERT_TRUE(wait(at("nod_c").destroy_dataset(call(), made->id)));
  settle({"nod_a", "nod_b", "nod_c"});
  const auto index = at("nod_c").status().applied_index;
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(wait(at("nod_c").record(call(), "test", "", "ok", "{}")));
  until(
      [&] {
        for (const std::string id : {"nod_a", "nod_b", "nod_c"})
          if (at(id).status().snapshot_index <= index) return false;
        return true;
      },
      "for snapshots without the keys");
}

TEST_F(MembersTest, TheLeaderGoesAndWritesGoOn) {
  three();
  const std::string first = leader();
  const std::string other = other_than(first);
  ASSERT_TRUE(wait(at(other).create_user(call(), user("before"))));
  stop(first);
  // Begun while nobody leads; it waits for the election.
  const auto made = wait(at(other).create_user(call("req-during"), user("during")));
  ASSERT_TRUE(made) << made.error().message();
  const auto again = wait(at(other).create_user(call("req-during"), user("during")));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->id, made->id);
  start(first, false, false);
  settle({"nod_a", "nod_b", "nod_c"});
  EXPECT_TRUE(at(first).user_by_name("before"));
  EXPECT_TRUE(at(first).user_by_name("during"));
}

TEST_F(MembersTest, AMinorityRefusesWritesAndReads) {
  three();
  const std::string lone = leader();
  const std::string other = other_than(lone);
  switch_.cut({lone});
  until([&] { return !at(lone).status().leader; }, "until it steps down");
  const auto refused = wait(at(lone).create_user(call(), user("lost")));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Errc::unavailable);
  EXPECT_EQ(refusal_of(refused.error()), Refusal::no_quorum) << refused.error().message();
  EXPECT_NE(refused.error().message().find("1 of 3 nodes"), std::string::npos) << refused.error().message();
  EXPECT_FALSE(at(lone).writable());
  EXPECT_TRUE(at(lone).user_by_name("anna"));
  ASSERT_TRUE(wait(at(other).create_user(call(), user("kept"))));
  switch_.cut({});
  settle({"nod_a", "nod_b", "nod_c"});
  EXPECT_TRUE(at(lone).user_by_name("kept"));
  EXPECT_FALSE(at(lone).user_by_name("lost"));
}

TEST_F(MembersTest, ARemovedNodeLeavesTheLogAndIsNotHeard) {
  three();
  const std::string first = leader();
  const std::string gone = other_than(first);
  ASSERT_TRUE(wait(at(first).remove_node(call(), gone)));
  until(
      [&] {
        for (const auto& member : at(leader()).log_members())
          if (member.node_id == gone) return false;
        return true;
      },
      "until it is out of the log");
  const auto refused = wait(at(gone).create_user(call(), user("ghost")));
  EXPECT_FALSE(refused);
  stop(gone);
  ASSERT_TRUE(wait(at(first).create_user(call(), user("after"))));
}

// As people do who wait for nothing but the answer. Of two, the one that is left is enough only when the vote
// of the other went before it did.
TEST_F(MembersTest, WhoIsRemovedMayBeSwitchedOffAtOnce) {
  found("nod_a");
  if (HasFatalFailure()) return;
  join("nod_b", "nod_a");
  if (HasFatalFailure()) return;
  const std::string gone = leader();
  const std::string stays = other_than(gone);
  const auto removed = wait(at(stays).remove_node(call(), gone));
  ASSERT_TRUE(removed) << removed.error().message();
  stop(gone);
  const auto made = wait(at(stays).create_user(call(), user("after")));
  ASSERT_TRUE(made) << made.error().message();
}

TEST_F(MembersTest, NothingIsKeptThatOnlyARemovedNodeHolds) {
  three();
  const std::string stays = leader();
  const std::string gone = other_than(stays);
  NewDataset manifest;
  manifest.dataset.name = "Ward 6";
  manifest.dataset.owner_id = at(stays).user_by_name("anna")->id;
  manifest.version.created_by = manifest.dataset.owner_id;
  manifest.version.schema_json = "{\"columns\":[{\"name\":\"a\"}]}";
  manifest.version.options_json = "{}";
  manifest.version.wrapped_key = Bytes(72, 1);
  manifest.wrapped_source_key = Bytes(72, 2);
  manifest.source.node_ids = {gone};
  ASSERT_TRUE(wait(at(stays).remove_node(call(), gone)));
  const auto lost = wait(at(stays).commit_dataset(call(), manifest));
  ASSERT_FALSE(lost);
  EXPECT_NE(lost.error().message().find("removed meanwhile"), std::string::npos) << lost.error().message();
  manifest.source.node_ids = {gone, stays};
  const auto kept = wait(at(stays).commit_dataset(call(), manifest));
  ASSERT_TRUE(kept) << kept.error().message();
  EXPECT_EQ(at(stays).stored_file(kept->id + "/source")->holders, std::vector<std::string>{stays});
}

// Somebody looked, and it was safe then; the data set was kept after that.
TEST_F(MembersTest, WhoBecameTheOnlyHolderIsNotRemovedUnasked) {
  three();
  const std::string stays = leader();
  const std::string gone = other_than(stays);
  NewDataset manifest;
  manifest.dataset.name = "Ward 6";
  manifest.dataset.owner_id = at(stays).user_by_name("anna")->id;
  manifest.version.created_by = manifest.dataset.owner_id;
  manifest.version.schema_json = "{\"columns\":[{\"name\":\"a\"}]}";
  manifest.version.options_json = "{}";
  manifest.version.wrapped_key = Bytes(72, 1);
  manifest.wrapped_source_key = Bytes(72, 2);
  manifest.source.node_ids = {gone};
  const auto kept = wait(at(stays).commit_dataset(call(), manifest));
  ASSERT_TRUE(kept) << kept.error().message();
  const auto refused = wait(at(other_than(gone)).remove_node(call(), gone));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refusal_of(refused.error()), Refusal::last_copies) << refused.error().message();
  EXPECT_NE(at(stays).node(gone)->state, NodeState::removed);
  std::vector<CopyChange> copied(1);
  copied[0].key = kept->id + "/source";
  copied[0].node_id = stays;
  ASSERT_TRUE(wait(at(stays).change_copies(call(), copied)));
  const auto removed = wait(at(stays).remove_node(call(), gone));
  ASSERT_TRUE(removed) << removed.error().message();
}

TEST_F(MembersTest, AFourthStandsByAndVotesForOneThatIsGone) {
  grace_ = std::chrono::seconds(1);
  three();
  join("nod_d", "nod_b", raft::Voice::standby);
  if (HasFatalFailure()) return;
  settle({"nod_a", "nod_b", "nod_c", "nod_d"});
  // Give it time to do what it should not: a fourth vote.
  ASSERT_TRUE(wait(at("nod_d").create_user(call(), user("by-a-standby"))));
  const std::string gone = leader() == "nod_c" ? "nod_b" : "nod_c";
  stop(gone);
  until(
      [&] {
        std::set<std::string> voters;
        for (const auto& member : at(leader()).log_members())
          if (member.voice == raft::Voice::voter) voters.insert(member.node_id);
        return voters.size() == 3 && voters.contains("nod_d") && !voters.contains(gone);
      },
      "until the fourth votes in its place");
  start(gone, false, false);
  settle({"nod_a", "nod_b", "nod_c", "nod_d"});
  ASSERT_TRUE(wait(at(gone).create_user(call(), user("back"))));
}

TEST_F(MembersTest, TheLeaderItselfIsRemovedAndHandsOver) {
  three();
  const std::string first = leader();
  const std::string other = other_than(first);
  ASSERT_TRUE(wait(at(other).remove_node(call(), first)));
  until(
      [&] {
        const auto& status = at(other).status();
        if (status.leader_id.empty() || status.leader_id == first) return false;
        for (const auto& member : at(leader()).log_members())
          if (member.node_id == first) return false;
        return true;
      },
      "until another one leads without it");
  stop(first);
  const auto made = wait(at(other).create_user(call(), user("after")));
  ASSERT_TRUE(made) << made.error().message();
}

}  // namespace
}  // namespace samovar::cluster::testing
