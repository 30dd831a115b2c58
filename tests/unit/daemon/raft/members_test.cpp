// A log with several members: growing, losing a leader, minorities, coming back, leaving.
#include "tests/unit/daemon/raft/members_fixture.hpp"

namespace samovar::raft::testing {
namespace {

class MembersTest : public MembersFixture {};

TEST_F(MembersTest, GrowsFromOneToFiveWhileItWorks) {
  begin();
  fill("a", 3, "one-");
  add("b");
  fill("a", 3, "two-");
  add("c");
  fill("a", 3, "three-");
  add("d");
  add("e", false);
  fill("a", 3, "five-");
  expect_same({"a", "b", "c", "d", "e"});
  EXPECT_EQ(list("e").size(), 12u);
  const auto members = log("a").members();
  ASSERT_EQ(members.size(), 5u);
  for (const LogMember& member : members) {
    EXPECT_EQ(member.voice, member.node_id == "e" ? Voice::standby : Voice::voter) << member.node_id;
    EXPECT_TRUE(member.heard) << member.node_id;
  }
  EXPECT_EQ(log("d").status().leader_id, "a");
  EXPECT_TRUE(log("d").status().member);
  EXPECT_FALSE(log("d").status().leader);
}

TEST_F(MembersTest, WhoDoesNotLeadSaysSo) {
  grow({"b", "c"});
  const auto refused = propose("b", "no");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Errc::conflict);
  const auto changed = finish([&](auto done) { log("b").add_member("x", done); });
  ASSERT_FALSE(changed);
  EXPECT_EQ(changed.error().code(), Errc::conflict);
}

TEST_F(MembersTest, DeadLeaderIsReplacedAndComesBack) {
  grow({"b", "c"});
  fill("a", 5, "before-");
  kill("a");
  const std::string next = new_leader({"a"});
  fill(next, 5, "after-");
  open("a");
  expect_same({"a", "b", "c"});
  EXPECT_EQ(list("a").size(), 10u);
  EXPECT_EQ(log("a").status().leader_id, next);
}

// With so much patience nobody else would lead before the test ends.
TEST_F(MembersTest, BrokenConnectionsToADeadLeaderBeginAnElection) {
  election_ms_ = 3'600'000;
  grow({"b", "c", "d"});
  fill("a", 2, "before-");
  kill("a");
  for (const char* other : {"b", "c", "d"}) log(other).link_changed("a", false);
  const std::string next = new_leader({"a"});
  fill(next, 2, "after-");
  open("a");
  expect_same({"a", "b", "c", "d"});
}

TEST_F(MembersTest, ConnectionThatIsThereAgainChangesNothing) {
  election_ms_ = 3'600'000;
  grow({"b", "c"});
  fill("a", 2, "before-");
  const auto term = log("a").status().term;
  log("b").link_changed("a", false);  // c still hears it: b asks in vain, and hears it again
  log("c").link_changed("a", false);
  log("c").link_changed("a", true);
  fill("a", 40, "after-");
  expect_same({"a", "b", "c"});
  EXPECT_TRUE(wait([&] { return log("b").status().leader_id == "a"; }));
  EXPECT_EQ(log("a").status().term, term);
  EXPECT_TRUE(log("a").status().leader);
}

TEST_F(MembersTest, ManyDeadLeadersLoseNothing) {
  grow({"b", "c"});
  std::vector<std::string> acknowledged;
  for (int round = 0; round < 6; ++round) {
    const std::string on = new_leader();
    for (int i = 0; i < 4; ++i) {
      const std::string text = std::to_string(round) + "/" + std::to_string(i);
      if (propose(on, text)) acknowledged.push_back(text);
    }
    // Some are under way when it dies.
    for (int i = 0; i < 3; ++i) log(on).propose(to_bytes("lost?"), [](const Result<Bytes>&) {});
    kill(on);
    new_leader({on});
    open(on);
  }
  expect_same({"a", "b", "c"});
  std::vector<std::string> kept;
  for (const auto& text : list("a"))
    if (text != "lost?") kept.push_back(text);
  EXPECT_EQ(kept, acknowledged);
}

TEST_F(MembersTest, MinorityNeitherAgreesNorForgets) {
  grow({"b", "c"});
  fill("a", 2, "both-");
  board_.split({{"a"}, {"b", "c"}});
  std::optional<Result<Bytes>> lonely;
  log("a").propose(to_bytes("alone"), [&](Result<Bytes> r) { lonely.emplace(std::move(r)); });
  const std::string next = new_leader({"a"});
  fill(next, 3, "many-");
  ASSERT_TRUE(wait([&] { return lonely.has_value(); }));
  ASSERT_FALSE(*lonely);
  EXPECT_EQ(lonely->error().code(), Errc::unavailable);
  EXPECT_FALSE(log("a").status().leader);
  EXPECT_FALSE(log("a").status().failed);
  EXPECT_EQ(list("a").size(), 2u);  // reads stay
  board_.heal();
  expect_same({"a", "b", "c"});
  EXPECT_EQ(list("a").size(), 5u);
  EXPECT_EQ(std::count(list("a").begin(), list("a").end(), "alone"), 0);
  // And it can lead again.
  ASSERT_TRUE(wait([&] { return !log("a").status().leader_id.empty(); }));
  EXPECT_TRUE(make_leader("a"));
  EXPECT_TRUE(propose("a", "again"));
}

TEST_F(MembersTest, QueuedChangesOfALostLeaderDidNotHappen) {
  grow({"b", "c"});
  board_.split({{"a"}, {"b", "c"}});
  std::vector<Errc> codes;
  const auto note = [&](const Result<Bytes>& r) { codes.push_back(r ? Errc::internal : r.error().code()); };
  log("a").propose(to_bytes("in flight"), note);
  ASSERT_TRUE(wait([&] { return log("a").status().last_index > log("b").status().last_index; }));
  log("a").propose(to_bytes("queued"), note);
  ASSERT_TRUE(wait([&] { return codes.size() == 2; }));
  EXPECT_EQ(codes, (std::vector<Errc>{Errc::unavailable, Errc::conflict}));
}

TEST_F(MembersTest, LaggingMemberGetsASnapshot) {
  threshold_ = 16;
  grow({"b", "c"});
  kill("c");
  fill("a", 60, std::string(3000, 'x'));
  EXPECT_GT(log("a").status().snapshot_index, 0u);
  open("c");
  expect_same({"a", "b", "c"});
  EXPECT_GT(members_["c"].machine->restores, 0);
  fill("a", 10, "after-");
  expect_same({"a", "b", "c"});
  // What came as a snapshot is there after a restart as well.
  kill("c");
  open("c");
  EXPECT_GT(members_["c"].machine->restores, 0);
  EXPECT_GE(list("c").size(), 40u);
  expect_same({"a", "b", "c"});
}

// The first of them begin at nothing, which every log has.
TEST_F(MembersTest, MessagesOfWhatASnapshotHoldsSayNothingNew) {
  threshold_ = 16;
  election_ms_ = 3'600'000;  // the messages stay those of the one who leads
  begin();
  board_.keep("a", "b");
  add("b");
  fill("a", 3, "early-");
  expect_same({"a", "b"});
  fill("a", 60, "later-");
  expect_same({"a", "b"});
  ASSERT_TRUE(wait([&] { return log("b").status().snapshot_index > 20; }));
  const auto last = log("b").status().last_index;
  ASSERT_GT(board_.repeat(), 3u);
  fill("a", 3, "last-");
  expect_same({"a", "b"});
  EXPECT_EQ(list("b").size(), 66u);
  EXPECT_EQ(log("b").status().last_index, last + 3);
  kill("b");
  open("b");
  fill("a", 1, "after-");
  expect_same({"a", "b"});
}

TEST_F(MembersTest, LargeSnapshotsAndChangesGoInPieces) {
  threshold_ = 8;
  begin();
  fill("a", 30, std::string(900'000, 'y'));
  board_.longest = 0;
  add("b");
  expect_same({"a", "b"});
  EXPECT_GT(members_["b"].machine->restores, 0);
  const auto large = propose("a", std::string(1024 * 1024, 'z'));
  ASSERT_TRUE(large) << large.error().message();
  expect_same({"a", "b"});
  EXPECT_LE(board_.longest, 1024u * 1024);
}

// With so much patience nobody takes the leadership but by being asked to, and a slow disk is waited for.
TEST_F(MembersTest, HandOverMovesTheLeadership) {
  election_ms_ = 3'600'000;
  grow({"b", "c"});
  ASSERT_TRUE(finish([&](auto done) { log("a").hand_over("c", done); }));
  EXPECT_EQ(new_leader({"a"}), "c");
  EXPECT_TRUE(propose("c", "x"));
  ASSERT_TRUE(finish([&](auto done) { log("c").hand_over("", done); }));
  EXPECT_NE(new_leader({"c"}), "c");
  expect_same({"a", "b", "c"});
}

TEST_F(MembersTest, RemovedMemberLeavesTheOthersAlone) {
  grow({"b", "c"});
  const auto self = finish([&](auto done) { log("a").remove_member("a", done); });
  ASSERT_FALSE(self);
  EXPECT_EQ(self.error().code(), Errc::conflict);
  ASSERT_TRUE(finish([&](auto done) { log("a").remove_member("c", done); }));
  ASSERT_TRUE(finish([&](auto done) { log("a").remove_member("c", done); }));  // done already
  const std::uint64_t term = log("a").status().term;
  fill("a", 20, "x");  // while the removed one asks for votes
  EXPECT_EQ(log("a").members().size(), 2u);
  EXPECT_EQ(log("a").status().term, term);
  expect_same({"a", "b"});
}

TEST_F(MembersTest, WipedMemberComesBackUnderANewName) {
  threshold_ = 16;
  grow({"b", "c"});
  fill("a", 40, "x");
  kill("c");
  fs::remove_all(dir_.path("c"));
  members_.erase("c");
  ASSERT_TRUE(finish([&](auto done) { log("a").remove_member("c", done); }));
  add("c2");
  fill("a", 5, "y");
  expect_same({"a", "b", "c2"});
  kill("a");
  EXPECT_NE(new_leader({"a"}), "");
}

TEST_F(MembersTest, AllRestartAtOnce) {
  threshold_ = 16;
  grow({"b", "c"});
  fill("a", 30, "x");
  expect_same({"a", "b", "c"});
  const auto before = list("a");
  for (const char* name : {"a", "b", "c"}) shut(name);
  for (const char* name : {"a", "b", "c"}) open(name);
  // Before anybody leads they show what they knew to be agreed on.
  for (const char* name : {"a", "b", "c"}) EXPECT_EQ(list(name), before) << name;
  fill(new_leader(), 3, "y");
  expect_same({"a", "b", "c"});
  EXPECT_EQ(list("a").size(), 33u);
}

TEST_F(MembersTest, LastOneStandingIsMadeTheOnlyOne) {
  grow({"b", "c"});
  fill("a", 5, "x");
  expect_same({"a", "b", "c"});
  kill("a");
  kill("b");
  shut("c");
  const auto recovered = ConsensusLog::recover_alone(real_disk(), options("c"), key_of(7));
  ASSERT_TRUE(recovered) << recovered.error().message();
  open("c");
  EXPECT_TRUE(log("c").status().leader);
  EXPECT_EQ(list("c").size(), 5u);
  EXPECT_EQ(log("c").members().size(), 1u);
  ASSERT_TRUE(propose("c", "alone"));
  add("d");
  expect_same({"c", "d"});
  const auto wrong = ConsensusLog::recover_alone(real_disk(), options("a"), key_of(8));
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code(), Errc::denied);
}

TEST_F(MembersTest, FollowersWitnessWhatTheyApplied) {
  grow({"b"});
  fill("a", 5, "x");
  expect_same({"a", "b"});
  shut("b");
  // The last closed segment of b is gone: it applied what was in it, and says so.
  std::string last;
  for (const auto& [name, bytes] : contents_of(dir_.path("b")))
    if (name.size() == 33 && name[16] == '-') last = name;
  ASSERT_FALSE(last.empty());
  fs::remove(fs::path(dir_.path("b")) / last);
  const auto opened = try_open("b", false, false);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code(), Errc::corrupt);
}

TEST_F(MembersTest, WaitingForAnIndexEnds) {
  grow({"b"});
  const auto reply = propose("a", "x");
  ASSERT_TRUE(reply);
  const std::uint64_t index = log("a").status().applied_index;
  EXPECT_TRUE(finish([&](auto done) { log("b").when_applied(index, std::chrono::seconds(30), done); }));
  EXPECT_EQ(list("b").size(), 1u);
  const auto late =
      finish([&](auto done) { log("b").when_applied(index + 100, std::chrono::milliseconds(20), done); });
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code(), Errc::timeout);
}

TEST_F(MembersTest, LeaderIsTold) {
  grow({"b", "c"});
  std::vector<std::string> told;
  log("b").on_leader([&](const ConsensusStatus& status) { told.push_back(status.leader_id); });
  kill("a");
  const std::string next = new_leader({"a"});
  ASSERT_TRUE(wait([&] { return !told.empty() && told.back() == next; }));
}

TEST_F(MembersTest, SnapshotOfAnotherClusterIsRefused) {
  threshold_ = 8;
  begin();
  fill("a", 30, "x");
  // b has another key, as a member of another cluster would.
  members_["b"].plug = std::make_unique<Switchboard::Plug>(board_, "b");
  members_["b"].machine = std::make_unique<ListMachine>();
  auto with = options("b");
  with.join = true;
  with.wire = members_["b"].plug.get();
  auto log_b = ConsensusLog::open(loop_, with, key_of(9), *members_["b"].machine);
  ASSERT_TRUE(log_b);
  members_["b"].log = *std::move(log_b);
  ASSERT_TRUE(finish([&](auto done) { log("a").add_member("b", done); }));
  fill("a", 30, "y");
  EXPECT_EQ(members_["b"].machine->restores, 0);
  EXPECT_TRUE(list("b").empty());
  EXPECT_FALSE(log("b").status().failed);
}

}  // namespace
}  // namespace samovar::raft::testing
