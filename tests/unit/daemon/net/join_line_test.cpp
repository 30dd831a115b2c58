// The line between a member and a node that is none yet, on real sockets.
#include "daemon/net/join_line.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <optional>
#include <thread>

#include "base/asio_loop.hpp"
#include "security/init.hpp"

namespace samovar::net {
namespace {

using namespace std::chrono_literals;

class JoinLineTest : public ::testing::Test {
 protected:
  using Dialled = std::optional<Result<std::unique_ptr<JoinLine>>>;
  using Received = std::optional<Result<Bytes>>;

  void SetUp() override {
    ASSERT_TRUE(security::init());
    auto opened = JoinDoor::open(loop_, {"127.0.0.1:0"}, [this](std::unique_ptr<JoinLine> line) {
      lines_.push_back(std::move(line));
    });
    ASSERT_TRUE(opened) << opened.error().message();
    door_ = *std::move(opened);
  }
  bool until(const std::function<bool()>& done) {
    const MonoTime end = loop_.clock().mono() + 30s;
    bool reached = false;
    std::function<void()> look = [&] {
      reached = done();
      if (reached || loop_.clock().mono() > end) return loop_.stop();
      loop_.after(2ms, look);
    };
    loop_.post(look);
    loop_.run();
    return reached;
  }
  std::string address() const { return "127.0.0.1:" + std::to_string(door_->ports().front()); }
  Result<std::unique_ptr<JoinLine>> dial(const std::string& to, Duration deadline = 10s) {
    Dialled dialled;
    loop_.post([&] {
      spawn<Result<std::unique_ptr<JoinLine>>>(
          dial_join(loop_, to, deadline),
          [&](Result<std::unique_ptr<JoinLine>> result) { dialled.emplace(std::move(result)); });
    });
    EXPECT_TRUE(until([&] { return dialled.has_value(); }));
    return *std::move(dialled);
  }
  void start_receive(JoinLine& line, Received& received, Duration deadline) {
    loop_.post([&, deadline] {
      spawn<Result<Bytes>>(line.receive(deadline),
                           [&received](Result<Bytes> result) { received.emplace(std::move(result)); });
    });
  }
  Result<Bytes> receive(JoinLine& line, Duration deadline = 10s) {
    Received received;
    start_receive(line, received, deadline);
    EXPECT_TRUE(until([&] { return received.has_value(); }));
    return *std::move(received);
  }

  AsioLoop loop_;
  std::vector<std::unique_ptr<JoinLine>> lines_;
  std::unique_ptr<JoinDoor> door_;
};

// A listener that is no JoinDoor.
struct RawListener {
  RawListener() : fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(fd, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(fd, 4), 0);
    EXPECT_EQ(::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size), 0);
    port = ntohs(address.sin_port);
  }
  ~RawListener() { ::close(fd); }
  std::string address() const { return "127.0.0.1:" + std::to_string(port); }
  int fd;
  std::uint16_t port = 0;
};

TEST_F(JoinLineTest, MessagesGoBothWays) {
  auto member = dial(address());
  ASSERT_TRUE(member) << member.error().message();
  ASSERT_TRUE(until([&] { return !lines_.empty(); }));
  JoinLine& guest = *lines_.front();
  EXPECT_EQ((*member)->remote(), address());
  EXPECT_EQ(guest.remote().rfind("127.0.0.1:", 0), 0u);
  ASSERT_TRUE((*member)->send(to_bytes("J1")));
  ASSERT_TRUE((*member)->send({}));
  ASSERT_TRUE((*member)->send(Bytes(kJoinMessageBytesMax, 7)));
  EXPECT_EQ(as_text(*receive(guest)), "J1");
  EXPECT_TRUE(receive(guest)->empty());
  EXPECT_EQ(receive(guest)->size(), kJoinMessageBytesMax);
  ASSERT_TRUE(guest.send(to_bytes("J2")));
  EXPECT_EQ(as_text(*receive(**member)), "J2");
  EXPECT_EQ((*member)->send(Bytes(kJoinMessageBytesMax + 1)).error().code(), Errc::invalid);
}

TEST_F(JoinLineTest, ManyMessagesWaitUntilTheyAreTaken) {
  auto member = dial(address());
  ASSERT_TRUE(member);
  ASSERT_TRUE(until([&] { return !lines_.empty(); }));
  for (int i = 0; i < 100; ++i) ASSERT_TRUE((*member)->send(to_bytes(std::to_string(i))));
  for (int i = 0; i < 100; ++i) {
    const auto got = receive(*lines_.front());
    ASSERT_TRUE(got);
    EXPECT_EQ(as_text(*got), std::to_string(i));
  }
}

TEST_F(JoinLineTest, SilenceIsATimeoutAndTheLineGoesOn) {
  auto member = dial(address());
  ASSERT_TRUE(member);
  EXPECT_EQ(receive(**member, 1ms).error().code(), Errc::timeout);
  ASSERT_TRUE(until([&] { return !lines_.empty(); }));
  ASSERT_TRUE(lines_.front()->send(to_bytes("still here")));
  EXPECT_EQ(as_text(*receive(**member)), "still here");
}

TEST_F(JoinLineTest, WhatWasSentBeforeTheEndStillArrives) {
  auto member = dial(address());
  ASSERT_TRUE(member);
  ASSERT_TRUE(until([&] { return !lines_.empty(); }));
  ASSERT_TRUE((*member)->send(to_bytes("last words")));
  member->reset();
  EXPECT_EQ(as_text(*receive(*lines_.front())), "last words");
  EXPECT_EQ(receive(*lines_.front()).error().code(), Errc::unavailable);
  EXPECT_EQ(lines_.front()->send(to_bytes("x")).error().code(), Errc::unavailable);
}

TEST_F(JoinLineTest, ClosingEndsAWaitingReceiveFromTheLoop) {
  auto member = dial(address());
  ASSERT_TRUE(member);
  Received received;
  bool inside = false;
  loop_.post([&] {
    spawn<Result<Bytes>>((*member)->receive(1h), [&](Result<Bytes> result) {
      EXPECT_FALSE(inside);
      received.emplace(std::move(result));
    });
    inside = true;
    (*member)->close();
    inside = false;
  });
  ASSERT_TRUE(until([&] { return received.has_value(); }));
  EXPECT_EQ(received->error().code(), Errc::unavailable);
}

TEST_F(JoinLineTest, OneLineAtATimeAndTheNextWhenItIsClosed) {
  auto first = dial(address());
  ASSERT_TRUE(first);
  ASSERT_TRUE(until([&] { return !lines_.empty(); }));
  const auto second = dial(address());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code(), Errc::busy) << second.error().message();
  lines_.clear();
  const auto third = dial(address());
  EXPECT_TRUE(third) << third.error().message();
}

TEST_F(JoinLineTest, WhoSaysNothingDoesNotHoldTheDoor) {
  const int silent = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in there{};
  there.sin_family = AF_INET;
  there.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  there.sin_port = htons(door_->ports().front());
  ASSERT_EQ(::connect(silent, reinterpret_cast<sockaddr*>(&there), sizeof there), 0);
  const auto member = dial(address());
  EXPECT_TRUE(member) << member.error().message();
  ::close(silent);
}

TEST_F(JoinLineTest, TheDoorIsFreeForTheMeshAsSoonAsItIsClosed) {
  const std::string same = address();
  auto member = dial(same);
  ASSERT_TRUE(member);
  ASSERT_TRUE(until([&] { return !lines_.empty(); }));
  door_.reset();
  ASSERT_TRUE((*member)->send(to_bytes("after"))) << "a line outlives its door";
  EXPECT_EQ(as_text(*receive(*lines_.front())), "after");
  auto again = JoinDoor::open(loop_, {same}, [](std::unique_ptr<JoinLine>) {});
  EXPECT_TRUE(again) << again.error().message();
  const auto third = JoinDoor::open(loop_, {same}, [](std::unique_ptr<JoinLine>) {});
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().code(), Errc::conflict);
}

TEST_F(JoinLineTest, TheErrorNamesTheStepThatFailed) {
  const std::string closed = address();
  door_.reset();
  const auto refused = dial(closed);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Errc::unavailable);
  EXPECT_NE(refused.error().message().find("nothing listens"), std::string::npos)
      << refused.error().message();

  EXPECT_EQ(dial("10.0.0.9:port").error().code(), Errc::invalid);
  EXPECT_EQ(dial("").error().code(), Errc::invalid);
  EXPECT_EQ(dial("no such host:1").error().code(), Errc::invalid);

  // A machine that takes the connection and never says a word.
  const RawListener silent;
  const auto mute = dial(silent.address(), 50ms);
  ASSERT_FALSE(mute);
  EXPECT_EQ(mute.error().code(), Errc::timeout);
  EXPECT_NE(mute.error().message().find("handshake"), std::string::npos) << mute.error().message();

  // A web server.
  const RawListener web;
  std::thread server([&] {
    const int fd = ::accept(web.fd, nullptr, nullptr);
    const std::string text = "HTTP/1.1 400 Bad Request\r\n\r\n";
    EXPECT_EQ(::write(fd, text.data(), text.size()), static_cast<ssize_t>(text.size()));
    char scratch[512];
    while (::read(fd, scratch, sizeof scratch) > 0) {
    }
    ::close(fd);
  });
  const auto other = dial(web.address());
  server.join();
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code(), Errc::unsupported) << other.error().message();
}

}  // namespace
}  // namespace samovar::net
