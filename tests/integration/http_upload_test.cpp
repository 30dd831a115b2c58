// Streaming bodies: bounded memory, back-pressure, rates.
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>

#include "tests/integration/http_fixture.hpp"

// AddressSanitizer keeps up to 256 MiB of freed memory aside by default: more than the body whose memory is
// measured here. (It looks for this function; other builds never call it.)
extern "C" const char*
__asan_default_options();  // NOLINT(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)
extern "C" const char* __asan_default_options() { return "quarantine_size_mb=8"; }  // NOLINT

namespace samovar::test {
namespace {

using namespace std::chrono_literals;

class HttpUpload : public HttpFixture {
 protected:
  static std::uint64_t resident_bytes() {
    std::ifstream statm("/proc/self/statm");
    std::uint64_t total = 0;
    std::uint64_t resident = 0;
    statm >> total >> resident;
    return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  }
};

TEST_F(HttpUpload, LargeBodyNeedsLittleMemory) {
  start(loose());
  constexpr std::uint64_t kBytes = 64 << 20;
  Client one = client();
  ASSERT_TRUE(one.handshake());
  const std::string piece(1 << 20, 'u');
  one.send("PUT /api/v1/upload HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + std::to_string(kBytes) +
           "\r\n\r\n");
  ASSERT_TRUE(one.send(piece));
  const std::uint64_t before = resident_bytes();
  for (std::uint64_t sent = piece.size(); sent < kBytes; sent += piece.size()) ASSERT_TRUE(one.send(piece));
  const Reply reply = one.read_reply();
  const std::uint64_t after = resident_bytes();
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body, std::to_string(kBytes));
  // Half of the body: sanitizers keep freed memory for a while.
  EXPECT_LT(after, before + (32 << 20));
}

// Each piece is a turn of two threads: with one for each record of TLS an upload did little else.
TEST_F(HttpUpload, AFastClientFillsLargePieces) {
  start(loose());
  constexpr std::uint64_t kBytes = 64 << 20;
  Client one = client();
  ASSERT_TRUE(one.handshake());
  const std::string piece(1 << 20, 'u');
  one.send("PUT /api/v1/upload HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + std::to_string(kBytes) +
           "\r\n\r\n");
  for (std::uint64_t sent = 0; sent < kBytes; sent += piece.size()) ASSERT_TRUE(one.send(piece));
  EXPECT_EQ(one.read_reply().body, std::to_string(kBytes));
  // On an idle machine about one for each MiB; on a busy one the client pauses, and is not waited for.
  EXPECT_LT(upload_pieces, kBytes / (64 * 1024));
  EXPECT_EQ(one.request("GET", "/api/v1/hello").status, 200) << "nothing was read beyond the body and lost";
}

TEST_F(HttpUpload, WhatFollowsALargeBodyAtOnceIsAnswered) {
  start(loose());
  Client one = client();
  ASSERT_TRUE(one.handshake());
  constexpr std::size_t kBytes = 3'000'001;
  const std::string upload =
      "PUT /api/v1/upload HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + std::to_string(kBytes) +
      "\r\n\r\n" + std::string(kBytes, 'u');
  const std::string hello = "GET /api/v1/hello HTTP/1.1\r\nHost: localhost\r\n\r\n";
  std::thread sender([&] { one.send(upload + hello + upload + hello); });
  for (int i = 1; i <= 2; ++i) {
    EXPECT_EQ(one.read_reply().body, std::to_string(i * kBytes));
    EXPECT_EQ(one.read_reply().status, 200);
  }
  sender.join();
}

TEST_F(HttpUpload, ALargeBodyThatPausesGoesOn) {
  start(loose());
  Client one = client();
  ASSERT_TRUE(one.handshake());
  const std::string part(700'001, 'u');
  one.send("PUT /api/v1/upload HTTP/1.1\r\nHost: localhost\r\nContent-Length: " +
           std::to_string(3 * part.size()) + "\r\n\r\n");
  for (std::uint64_t sent = part.size(); sent <= 3 * part.size(); sent += part.size()) {
    one.send(part);
    EXPECT_TRUE(eventually([&] { return uploaded == sent; })) << "what came is handed on without the rest";
  }
  EXPECT_EQ(one.read_reply().body, std::to_string(3 * part.size()));
}

TEST_F(HttpUpload, ChunkedBodyAndTheNextRequest) {
  start(loose());
  Client one = client();
  ASSERT_TRUE(one.handshake());
  one.send("PUT /api/v1/upload HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n");
  for (int i = 0; i < 50; ++i) one.send("3e8\r\n" + std::string(1000, 'c') + "\r\n");
  one.send("0\r\n\r\n");
  EXPECT_EQ(one.read_reply().body, "50000");
  EXPECT_EQ(one.request("GET", "/api/v1/hello").status, 200);
}

TEST_F(HttpUpload, AHandlerThatPausesStopsTheClient) {
  start(loose());
  hold_upload = true;
  Client one = client();
  ASSERT_TRUE(one.handshake());
  constexpr std::uint64_t kBytes = 32 << 20;
  std::atomic<std::uint64_t> sent{0};
  std::thread sender([&] {
    one.send("PUT /api/v1/upload HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + std::to_string(kBytes) +
             "\r\n\r\n");
    const std::string piece(1 << 16, 'u');
    for (; sent < kBytes; sent += piece.size()) {
      if (!one.send(piece)) return;
    }
  });
  EXPECT_TRUE(eventually([&] {
    bool held = false;
    on_loop([&] { held = held_upload != nullptr; });
    return held;
  }));
  // The socket's buffers fill, then the client stands still: wait until it does.
  std::uint64_t last = 1;
  EXPECT_TRUE(eventually([&] {
    std::this_thread::sleep_for(100ms);
    const std::uint64_t now = sent;
    return std::exchange(last, now) == now;
  }));
  EXPECT_LT(sent, kBytes) << "not everything was taken from a handler that reads nothing";
  EXPECT_LE(uploaded, 1U << 20) << "one piece";
  hold_upload = false;
  on_loop([&] { std::exchange(held_upload, nullptr)(0); });
  sender.join();
  EXPECT_EQ(one.read_reply().body, std::to_string(kBytes));
}

TEST_F(HttpUpload, TooSlowIsATimeoutForTheHandler) {
  auto options = loose();
  options.limits.body_grace = 300ms;
  start(options);
  Client slow = client();
  ASSERT_TRUE(slow.handshake());
  slow.send("PUT /api/v1/upload HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\nabc");
  EXPECT_EQ(slow.read_reply().status, 408);
  on_loop([&] { EXPECT_EQ(upload_error, "timeout"); });
}

TEST_F(HttpUpload, AClientThatLeavesIsAnIoError) {
  start(loose());
  {
    Client gone = client();
    ASSERT_TRUE(gone.handshake());
    gone.send("PUT /api/v1/upload HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\nabc");
    EXPECT_TRUE(eventually([&] { return uploaded == 3; }));
  }
  EXPECT_TRUE(eventually([&] {
    std::string error;
    on_loop([&] { error = upload_error; });
    return error == "io";
  }));
  EXPECT_TRUE(eventually([&] { return server->stats().connections == 0; }));
}

TEST_F(HttpUpload, RoutesHaveTheirOwnLimit) {
  start(loose());
  Client one = client();
  EXPECT_EQ(one.request("PUT", "/api/v1/small-upload", std::string(1000, 'x')).status, 200);
  EXPECT_EQ(one.request("PUT", "/api/v1/small-upload", std::string(1001, 'x')).status, 413);
}

TEST_F(HttpUpload, AnUnreadBodyEndsTheConnection) {
  start(loose());
  Client one = client();
  const Reply reply = one.request("PUT", "/api/v1/ignore", std::string(200'000, 'x'));
  EXPECT_EQ(reply.status, 200) << "the answer arrives although the body was not read";
  EXPECT_EQ(reply.headers.at("connection"), "close");
  EXPECT_TRUE(one.closed());
}

}  // namespace
}  // namespace samovar::test
