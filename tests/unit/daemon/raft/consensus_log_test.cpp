// Proposing, restarting, snapshots, bounds: with libraft's real files and the real loop.
#include <sys/resource.h>

#include <csignal>

#include "base/failpoint.hpp"
#include "tests/unit/daemon/raft/log_fixture.hpp"

namespace samovar::raft::testing {
namespace {

class ConsensusLogTest : public LogFixture {};

TEST_F(ConsensusLogTest, ProposeAnswersWithTheMachinesReply) {
  begin();
  const auto first = propose("a");
  const auto second = propose("b");
  ASSERT_TRUE(first && second);
  EXPECT_EQ(as_text(*first), "1");
  EXPECT_EQ(as_text(*second), "2");
  EXPECT_EQ(machine_->list, (std::vector<std::string>{"a", "b"}));
  const auto status = log_->status();
  EXPECT_TRUE(status.leader);
  EXPECT_FALSE(status.failed);
  EXPECT_EQ(status.sequence, 2u);
  EXPECT_EQ(status.in_flight, 0u);
}

TEST_F(ConsensusLogTest, ManyAtOnceKeepTheirOrder) {
  begin();
  std::vector<std::string> texts;
  for (int i = 0; i < 600; ++i) texts.push_back("c" + std::to_string(i));
  const auto replies = propose_all(texts);
  for (std::size_t i = 0; i < replies.size(); ++i) {
    ASSERT_TRUE(replies[i]) << replies[i].error().message();
    EXPECT_EQ(as_text(*replies[i]), std::to_string(i + 1));
  }
  EXPECT_EQ(machine_->list, texts);
}

TEST_F(ConsensusLogTest, RestartReplaysEverything) {
  begin();
  fill(20);
  const auto before = machine_->list;
  reopen();
  EXPECT_EQ(machine_->list, before);
  const auto reply = propose("after");
  ASSERT_TRUE(reply);
  EXPECT_EQ(as_text(*reply), "21");
}

TEST_F(ConsensusLogTest, DropWithoutCloseLosesNothingAcknowledged) {
  begin();
  for (int round = 0; round < 4; ++round) {
    fill(5, "r" + std::to_string(round) + "-");
    drop();
    ASSERT_TRUE(open(options(false)));
    EXPECT_EQ(machine_->list.size(), 5u * (static_cast<std::size_t>(round) + 1));
  }
}

TEST_F(ConsensusLogTest, SnapshotIsTakenAndRestored) {
  auto with = options(true);
  with.snapshot_threshold = 8;
  with.snapshot_trailing = 4;
  ASSERT_TRUE(open(with));
  fill(60);
  EXPECT_GT(machine_->snapshots, 2);
  const auto before = machine_->list;
  shut();
  EXPECT_FALSE(file_like([](const std::string& n) { return n.rfind("snapshot-", 0) == 0; }).empty());
  with.bootstrap = false;
  for (int round = 0; round < 3; ++round) {
    ASSERT_TRUE(open(with));
    EXPECT_EQ(machine_->restores, 1);
    EXPECT_EQ(machine_->list, before);
    shut();
  }
  ASSERT_TRUE(open(with));
  fill(30, "more");
  EXPECT_EQ(machine_->list.size(), 90u);
}

TEST_F(ConsensusLogTest, CompactionDropsClosedSegmentsAndOldSnapshots) {
  begin();
  const auto closed = [&] {
    std::vector<std::string> names;
    for (const auto& [name, bytes] : contents_of(dir_.path("raft")))
      if (name.size() == 33 && name[16] == '-') names.push_back(name);
    return names;
  };
  for (int i = 0; i < 12; ++i) ASSERT_TRUE(propose(std::string(20'000, 'x')));
  const std::size_t before = closed().size();
  ASSERT_GE(before, 3u);
  EXPECT_EQ(machine_->snapshots, 0);
  log_->compact_soon();
  // A snapshot is not begun while the one before it is being written: how many entries it takes is the disk's
  // to say.
  for (int i = 0; i < 1000 && machine_->snapshots < 2; ++i) ASSERT_TRUE(propose("small"));
  EXPECT_EQ(machine_->snapshots, 2);
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(propose("small"));
  EXPECT_EQ(machine_->snapshots, 2);  // and back to the usual threshold
  const auto list = machine_->list;
  reopen();
  EXPECT_LT(closed().size(), before);
  EXPECT_EQ(machine_->list, list);
  EXPECT_EQ(machine_->restores, 1);
}

TEST_F(ConsensusLogTest, BootstrapRefusesAFolderInUse) {
  begin();
  fill(1);
  shut();
  const auto before = contents_of(dir());
  const auto opened = open(options(true));
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code(), Errc::conflict);
  EXPECT_EQ(contents_of(dir()), before);
}

TEST_F(ConsensusLogTest, NoLogIsNotFound) {
  const auto opened = open(options(false));
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code(), Errc::not_found);
}

TEST_F(ConsensusLogTest, FullDiskRefusesAndGoesOnAfterwards) {
  auto free_bytes = std::make_shared<std::uint64_t>(1ull << 30);
  auto with = options(true);
  with.free_bytes = [free_bytes]() -> Result<std::uint64_t> { return *free_bytes; };
  ASSERT_TRUE(open(with));
  fill(3);
  *free_bytes = 1024;
  const auto refused = propose("too much");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Errc::no_space);
  EXPECT_EQ(machine_->list.size(), 3u);
  *free_bytes = 1ull << 30;
  EXPECT_TRUE(propose("fits again"));
}

TEST_F(ConsensusLogTest, TooLargeAndTooManyAreRefused) {
  auto with = options(true);
  with.command_bytes_max = 100;
  with.in_flight_max = 2;
  ASSERT_TRUE(open(with));
  const auto large = propose(std::string(101, 'x'));
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().code(), Errc::invalid);
  const auto results = propose_all({"a", "b", "c"});
  EXPECT_TRUE(results[0] && results[1]);
  ASSERT_FALSE(results[2]);
  EXPECT_EQ(results[2].error().code(), Errc::busy);
}

// A limit on the size of files stands in for a disk that fails: libraft's next segment cannot be made.
TEST_F(ConsensusLogTest, FailedWriteStopsTheLogUntilRestart) {
  begin();
  fill(3);
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit small = before;
  small.rlim_cur = 16 * 1024;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  std::size_t acknowledged = 3;
  std::optional<Error> failure;
  for (int i = 0; i < 100 && !failure; ++i) {
    auto reply = propose(std::string(10'000, 'x'));
    if (reply) {
      ++acknowledged;
    } else {
      failure = reply.error();
    }
  }
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->code(), Errc::unavailable);
  EXPECT_NE(failure->message().find("Restart"), std::string::npos) << failure->message();
  EXPECT_TRUE(log_->status().failed);
  // The limit is gone, but nobody knows what the disk holds now.
  EXPECT_FALSE(propose("no"));
  reopen();
  EXPECT_GE(machine_->list.size(), acknowledged);
  EXPECT_TRUE(propose("yes"));
}

TEST_F(ConsensusLogTest, LargeCommandsFillSeveralSegments) {
  begin();
  const std::string large(700 * 1024, 'z');
  for (int i = 0; i < 16; ++i) ASSERT_TRUE(propose(large + std::to_string(i)));
  const auto before = machine_->list;
  reopen();
  EXPECT_EQ(machine_->list, before);
}

TEST_F(ConsensusLogTest, CloseFinishesWhatIsInFlight) {
  begin();
  int answered = 0;
  bool closed = false;
  for (int i = 0; i < 10; ++i)
    log_->propose(to_bytes("x"), [&](Result<Bytes> result) { answered += result.has_value() ? 1 : 0; });
  log_->close([&] {
    closed = true;
    loop_.stop();
  });
  std::optional<Errc> late;
  log_->propose(to_bytes("late"), [&](Result<Bytes> result) {
    if (!result) late = result.error().code();
  });
  loop_.run();
  EXPECT_TRUE(closed);
  EXPECT_EQ(answered, 10);
  EXPECT_EQ(late, Errc::unavailable);
  const auto after = propose("after the end");
  ASSERT_FALSE(after);
  EXPECT_EQ(after.error().code(), Errc::unavailable);
  log_.reset();
}

TEST_F(ConsensusLogTest, AcknowledgementMayProposeAgain) {
  begin();
  int left = 50;
  std::function<void(Result<Bytes>)> next = [&](Result<Bytes> result) {
    ASSERT_TRUE(result);
    if (--left == 0) return loop_.stop();
    log_->propose(to_bytes("again"), next);
  };
  log_->propose(to_bytes("first"), next);
  loop_.run();
  EXPECT_EQ(machine_->list.size(), 50u);
}

TEST_F(ConsensusLogTest, NothingOnDiskIsPlain) {
  auto with = options(true);
  with.snapshot_threshold = 8;
  ASSERT_TRUE(open(with));
  fill(30, "the name of Vera Figner, ");
  shut();
  for (const auto& [name, bytes] : contents_of(dir()))
    EXPECT_EQ(as_text(bytes).find("Figner"), std::string_view::npos) << name;
}

#if SAMOVAR_FAILPOINTS
TEST_F(ConsensusLogTest, FailpointsAreListed) {
  const auto names = failpoint::names();
  for (const char* wanted : {"raft.propose.before", "raft.append.done", "raft.apply.before",
                             "raft.apply.after", "raft.witness.before", "raft.witness.after",
                             "raft.reply.before", "raft.snapshot.before", "raft.snapshot.after"})
    EXPECT_NE(std::find(names.begin(), names.end(), wanted), names.end()) << wanted;
}

TEST_F(ConsensusLogTest, FailedSnapshotOnlyKeepsTheLog) {
  ASSERT_TRUE(failpoint::arm("raft.snapshot.before=error"));
  auto with = options(true);
  with.snapshot_threshold = 4;
  ASSERT_TRUE(open(with));
  fill(20);
  failpoint::disarm_all();
  EXPECT_EQ(machine_->snapshots, 0);
  fill(5, "later");
  EXPECT_GT(machine_->snapshots, 0);
}

// The positive control of the durability harness: with the planted bug an acknowledged change is lost.
TEST_F(ConsensusLogTest, PlantedBugLosesAnAcknowledgedChange) {
  auto with = options(true);
  with.ack_before_commit_for_tests = true;
  ASSERT_TRUE(open(with));
  ASSERT_TRUE(propose("lost"));
  drop();
  ASSERT_TRUE(open(options(false)));
  EXPECT_TRUE(machine_->list.empty());
}
#endif

}  // namespace
}  // namespace samovar::raft::testing
