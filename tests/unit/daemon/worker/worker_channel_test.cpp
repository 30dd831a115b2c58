#include "daemon/ingest/worker_channel.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

namespace samovar::ingest {
namespace {

struct Pair {
  Pair() {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    left = std::make_unique<WorkerChannel>(Descriptor(ends[0]));
    right_fd = ends[1];
    right = std::make_unique<WorkerChannel>(Descriptor(ends[1]));
  }
  std::unique_ptr<WorkerChannel> left;
  std::unique_ptr<WorkerChannel> right;
  int right_fd = -1;
};

TEST(WorkerChannel, FramesArriveWholeHoweverLarge) {
  Pair pair;
  Bytes body(3u << 20);
  for (std::size_t i = 0; i < body.size(); ++i) body[i] = static_cast<std::uint8_t>(i * 7);
  std::thread sender([&pair, body] {
    EXPECT_TRUE(pair.left->send(MessageType::found, body));
    EXPECT_TRUE(pair.left->send(MessageType::progress, {}));
  });
  auto first = pair.right->receive(MessageType::found);
  auto second = pair.right->receive(MessageType::progress);
  sender.join();
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->body, body);
  EXPECT_FALSE(first->descriptor);
  EXPECT_TRUE(second->body.empty());
}

TEST(WorkerChannel, ADescriptorComesWithItsFrame) {
  Pair pair;
  int pipe_ends[2];
  ASSERT_EQ(::pipe(pipe_ends), 0);
  ASSERT_TRUE(pair.left->send(MessageType::progress, to_bytes("a")));
  ASSERT_TRUE(pair.left->send(MessageType::file, to_bytes("b"), pipe_ends[1]));
  ::close(pipe_ends[1]);
  auto first = pair.right->receive(MessageType::progress);
  auto second = pair.right->receive(MessageType::file);
  ASSERT_TRUE(first && second);
  EXPECT_FALSE(first->descriptor);
  ASSERT_TRUE(second->descriptor);
  ASSERT_EQ(::write(second->descriptor.get(), "x", 1), 1);
  char got = 0;
  EXPECT_EQ(::read(pipe_ends[0], &got, 1), 1);
  ::close(pipe_ends[0]);
}

TEST(WorkerChannel, TheOtherEndGoneIsToldApartFromSilence) {
  Pair pair;
  auto nothing = pair.right->receive(Duration::zero());
  ASSERT_TRUE(nothing);
  EXPECT_FALSE(*nothing);
  pair.left.reset();
  auto gone = pair.right->receive(Duration::zero());
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code(), Errc::io);
  EXPECT_FALSE(pair.right->send(MessageType::ready, {}));
}

TEST(WorkerChannel, ALengthThatNoFrameHasIsRefusedBeforeMemoryIsTaken) {
  Pair pair;
  Bytes head(kFrameHeadBytes, 0xff);
  head[4] = static_cast<std::uint8_t>(MessageType::found);
  ASSERT_EQ(::send(pair.right_fd, head.data(), head.size(), 0), static_cast<ssize_t>(head.size()));
  auto frame = pair.left->receive(std::chrono::seconds(10));
  ASSERT_FALSE(frame);
  EXPECT_EQ(frame.error().code(), Errc::corrupt);
}

}  // namespace
}  // namespace samovar::ingest
