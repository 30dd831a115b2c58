#include "daemon/worker/peer_link.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>

namespace samovar::worker {
namespace {

using ingest::Descriptor;
using ingest::MessageType;
using ingest::WorkerChannel;

jobs::TrainJob job_of_two() {
  jobs::TrainJob job;
  job.epoch = 1;
  job.member = 1;
  job.members = {1, 2};
  return job;
}

// The test is samovard.
struct Line {
  Line() {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    own = std::make_unique<WorkerChannel>(Descriptor(ends[0]));
    samovard = std::make_unique<WorkerChannel>(Descriptor(ends[1]));
    exchange = std::make_unique<Exchange>(*own);
    link = std::make_unique<PeerLink>(*exchange, job_of_two(), [](const auto&) { return Result<void>{}; });
  }
  // What samovard was given so far: the first byte of each.
  std::vector<std::uint8_t> given() {
    std::vector<std::uint8_t> out;
    for (;;) {
      auto frame = samovard->receive(Duration::zero());
      if (!frame || !*frame) return out;
      EXPECT_EQ((*frame)->type, MessageType::peer_send);
      const auto message = jobs::decode_peer_frame((*frame)->body);
      EXPECT_TRUE(message);
      out.push_back(message->body.at(0));
    }
  }
  void credit(std::uint32_t count) {
    EXPECT_TRUE(samovard->send(MessageType::peer_sent, encode(jobs::PeerCredit{count})));
  }
  std::unique_ptr<WorkerChannel> own, samovard;
  std::unique_ptr<Exchange> exchange;
  std::unique_ptr<PeerLink> link;
};

TEST(PeerLink, WhatSamovardDoesNotTakeYetWaitsAndHoldsUpNobody) {
  Line line;
  constexpr std::uint8_t kMessages = jobs::kPeerUnsentMax + 8;
  for (std::uint8_t i = 0; i < kMessages; ++i) ASSERT_TRUE(line.link->give(2, Bytes{i, 0}));
  EXPECT_EQ(line.link->seconds_blocked(), 0);
  std::vector<std::uint8_t> all = line.given();
  EXPECT_EQ(all.size(), jobs::kPeerUnsentMax);
  line.credit(3);
  ASSERT_TRUE(line.link->receive(std::chrono::milliseconds(0)));
  for (const std::uint8_t one : line.given()) all.push_back(one);
  EXPECT_EQ(all.size(), jobs::kPeerUnsentMax + 3);
  line.credit(5);
  ASSERT_TRUE(line.link->drain());
  for (const std::uint8_t one : line.given()) all.push_back(one);
  ASSERT_EQ(all.size(), kMessages);
  for (std::uint8_t i = 0; i < kMessages; ++i) EXPECT_EQ(all[i], i);
}

TEST(PeerLink, WhoHasTooMuchWaitingIsHeldUpAndItIsCounted) {
  Line line;
  const Bytes large(jobs::kPeerMessageMax);
  for (std::uint32_t i = 0; i < jobs::kPeerUnsentMax; ++i) ASSERT_TRUE(line.link->give(2, Bytes{1}));
  for (std::size_t waiting = 0; waiting + large.size() <= PeerLink::kWaitingBytesMax; waiting += large.size())
    ASSERT_TRUE(line.link->give(2, large));
  EXPECT_EQ(line.link->seconds_blocked(), 0);
  line.credit(1);
  ASSERT_TRUE(line.link->give(2, large));
  EXPECT_GT(line.link->seconds_blocked(), 0);
}

TEST(PeerLink, OneThatIsGoneIsToldNothingThatWaited) {
  Line line;
  for (std::uint32_t i = 0; i < jobs::kPeerUnsentMax + 4; ++i) ASSERT_TRUE(line.link->give(2, Bytes{1}));
  EXPECT_EQ(line.given().size(), jobs::kPeerUnsentMax);
  jobs::MembershipMessage alone;
  alone.epoch = 2;
  alone.members = {1};
  ASSERT_TRUE(line.samovard->send(MessageType::membership, encode(alone)));
  ASSERT_TRUE(line.link->receive(std::chrono::milliseconds(0)));
  EXPECT_EQ(line.link->membership().epoch, 2u);
  line.credit(8);
  ASSERT_TRUE(line.link->drain());
  EXPECT_TRUE(line.given().empty());
}

TEST(PeerLink, AStopEndsTheWait) {
  Line line;
  for (std::uint32_t i = 0; i < jobs::kPeerUnsentMax + 4; ++i) ASSERT_TRUE(line.link->give(2, Bytes{1}));
  ASSERT_TRUE(line.samovard->send(MessageType::stop, {}));
  EXPECT_FALSE(line.link->drain());
}

}  // namespace
}  // namespace samovar::worker
