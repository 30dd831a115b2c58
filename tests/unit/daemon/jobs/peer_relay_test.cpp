#include "daemon/jobs/peer_relay.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/sim/sim_loop.hpp"
#include "base/sim/sim_transport.hpp"

namespace samovar::jobs {
namespace {

using ingest::Descriptor;
using ingest::MessageType;

constexpr std::uint32_t kLarge = 3u << 20;

// A worker on node a, and a node b that answers for pieces when the test says so.
class PeerRelayTest : public ::testing::Test {
 protected:
  PeerRelayTest()
      : a_(network_.attach("a", loop_a_)),
        b_(network_.attach("b", loop_b_)),
        from_(loop_a_, *a_),
        to_(loop_b_, *b_),
        relay_(from_) {
    int ends[2] = {-1, -1};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    ours_ = std::make_unique<ingest::WorkerChannel>(Descriptor(ends[0]));
    worker_ = std::make_unique<ingest::WorkerChannel>(Descriptor(ends[1]));
    line_->attach(ours_.get());
    relay_.attach(ref_, line_);
    relay_.set_members(ref_, {{1, "a"}, {2, "b"}});
    to_.on_ask(net::Topic::job, [this](std::string, Bytes) -> Task<Result<Bytes>> {
      ++asked_;
      auto wait = [this](std::function<void(bool)> done) { waiting_.push_back(std::move(done)); };
      co_await from_callback<bool>(std::move(wait));
      co_return Bytes{};
    });
  }
  ~PeerRelayTest() override { line_->attach(nullptr); }

  void say(std::uint32_t bytes) {
    PeerFrame frame;
    frame.peer = 2;
    frame.epoch = 1;
    frame.bytes = bytes;
    Descriptor file(::memfd_create("peer", MFD_CLOEXEC));
    EXPECT_EQ(::ftruncate(file.get(), bytes), 0);
    relay_.send(ref_, std::move(frame), std::move(file));
  }
  void run() { scheduler_.run_for(std::chrono::seconds(2)); }
  void answer_all() {
    while (!waiting_.empty()) {
      for (auto& done : std::exchange(waiting_, {})) done(true);
      run();
    }
  }
  // How many of its messages the worker heard are on their way.
  unsigned credits() {
    unsigned count = 0;
    for (;;) {
      auto frame = worker_->receive(Duration::zero());
      if (!frame || !*frame) return count;
      if ((*frame)->type == MessageType::peer_sent) count += decode_peer_credit((*frame)->body)->count;
    }
  }

  SimScheduler scheduler_{1};
  SimNetwork network_{scheduler_, {}};
  SimLoop loop_a_{scheduler_};
  SimLoop loop_b_{scheduler_};
  std::unique_ptr<SimTransport> a_;
  std::unique_ptr<SimTransport> b_;
  net::Exchange from_;
  net::Exchange to_;
  PeerRelay relay_;
  const WorkerRef ref_{"job_1", 1, 1};
  const std::shared_ptr<WorkerLine> line_ = std::make_shared<WorkerLine>();
  std::unique_ptr<ingest::WorkerChannel> ours_;
  std::unique_ptr<ingest::WorkerChannel> worker_;
  unsigned asked_ = 0;
  std::vector<std::function<void(bool)>> waiting_;
};

TEST_F(PeerRelayTest, AMessageIsAnsweredForOnceAllItsPiecesAre) {
  say(kLarge);
  run();
  EXPECT_EQ(asked_, 3u);
  EXPECT_EQ(credits(), 0u);
  answer_all();
  EXPECT_EQ(credits(), 1u);
}

// The third is partly on its way when the other is left out: it counts as sent, too, or the worker would have
// one message less under way for as long as it lives.
TEST_F(PeerRelayTest, WhatIsSentToOneWhoIsLeftOutDoesNotCount) {
  for (int i = 0; i < 4; ++i) say(kLarge);
  run();
  EXPECT_EQ(asked_, kPeerWindow);
  relay_.set_members(ref_, {{1, "a"}});
  answer_all();
  EXPECT_EQ(asked_, kPeerWindow);
  EXPECT_EQ(credits(), 4u);
}

TEST_F(PeerRelayTest, AWorkerThatDoesNotWaitIsNotListenedTo) {
  for (unsigned i = 0; i < 3 * kPeerUnsentMax; ++i) say(kLarge);
  run();
  answer_all();
  EXPECT_EQ(asked_, 3 * kPeerUnsentMax);  // pieces
  EXPECT_EQ(credits(), kPeerUnsentMax);
  say(kLarge);
  run();
  answer_all();
  EXPECT_EQ(credits(), 1u);
}

TEST_F(PeerRelayTest, AWorkerThatReadsNothingHoldsUpNobodyAndIsGivenUp) {
  EXPECT_TRUE(ours_->check_read(Duration::zero()));
  std::size_t told = 0;
  while (told < 100'000 && line_->send(MessageType::membership, Bytes(4096, 7))) ++told;
  EXPECT_GE(told, ingest::kUnreadFramesMax);
  EXPECT_LT(told, 100'000u);
  EXPECT_FALSE(line_->send(MessageType::peer_sent, Bytes(4)));
  const auto checked = ours_->check_read(std::chrono::hours(1));
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code(), Errc::timeout);
}

TEST_F(PeerRelayTest, WhatASlowWorkerDidNotReadComesWholeAndInOrder) {
  constexpr std::size_t kFrames = 200;  // more than the socket holds
  for (std::size_t i = 0; i < kFrames; ++i) {
    Descriptor file(::memfd_create("peer", MFD_CLOEXEC));
    ASSERT_EQ(::ftruncate(file.get(), static_cast<off_t>(i)), 0);
    ASSERT_TRUE(
        line_->send(MessageType::peer_message, Bytes(4096, static_cast<std::uint8_t>(i)), std::move(file)));
  }
  EXPECT_TRUE(ours_->check_read(std::chrono::hours(1)));
  for (std::size_t i = 0; i < kFrames; ++i) {
    auto frame = worker_->receive(Duration::zero());
    while (frame && !*frame) {
      ASSERT_TRUE(ours_->receive(Duration::zero()));  // the thread beside it writes while it listens
      frame = worker_->receive(Duration::zero());
    }
    ASSERT_TRUE(frame);
    EXPECT_EQ((*frame)->body, Bytes(4096, static_cast<std::uint8_t>(i)));
    EXPECT_EQ(::lseek((*frame)->descriptor.get(), 0, SEEK_END), static_cast<off_t>(i));
  }
  EXPECT_TRUE(ours_->check_read(Duration::zero()));
}

}  // namespace
}  // namespace samovar::jobs
