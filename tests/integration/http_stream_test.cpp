// Streamed answers: framing, back-pressure, bounded memory, broken ends.
#include <unistd.h>

#include <fstream>

#include "tests/integration/http_fixture.hpp"

namespace samovar::test {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kGet = "GET /api/v1/stream HTTP/1.1\r\nHost: localhost\r\n\r\n";

std::string letters(std::size_t count) {
  std::string text(count, ' ');
  for (std::size_t i = 0; i < count; ++i) text[i] = static_cast<char>('a' + i % 26);
  return text;
}

class HttpStream : public HttpFixture {
 protected:
  struct Chunked {
    std::string body;
    bool whole = false;  // the last chunk came
  };
  // The chunks of an answer whose head was read, taken apart strictly.
  static Chunked read_chunks(Client& from) {
    Chunked out;
    std::string in;
    const auto have = [&](std::size_t bytes) {
      while (in.size() < bytes) {
        const std::string more = from.read_some();
        if (more.empty()) return false;
        in += more;
      }
      return true;
    };
    for (;;) {
      std::size_t line = 0;
      while ((line = in.find("\r\n")) == std::string::npos) {
        if (!have(in.size() + 1)) return out;
      }
      const std::size_t size = std::stoul(in.substr(0, line), nullptr, 16);
      in.erase(0, line + 2);
      if (!have(size + 2)) {
        out.body += in;
        return out;
      }
      out.body += in.substr(0, size);
      EXPECT_EQ(in.substr(size, 2), "\r\n");
      in.erase(0, size + 2);
      if (size > 0) continue;
      out.whole = true;
      EXPECT_EQ(in, "");
      return out;
    }
  }

  bool no_source_left() {
    return eventually([&] { return sources == 0; });
  }

  static std::uint64_t resident_bytes() {
    std::ifstream statm("/proc/self/statm");
    std::uint64_t total = 0;
    std::uint64_t resident = 0;
    statm >> total >> resident;
    return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  }
};

TEST_F(HttpStream, OfUnknownLengthComesInChunksAndTheConnectionGoesOn) {
  stream.bytes = 1'000'003;
  start(loose());
  Client one = client();
  ASSERT_TRUE(one.handshake());
  for (int i = 0; i < 2; ++i) {
    one.send(kGet);
    const Reply head = one.read_reply();
    EXPECT_EQ(head.status, 200);
    EXPECT_EQ(head.headers.at("transfer-encoding"), "chunked");
    EXPECT_EQ(head.headers.count("content-length"), 0U);
    const Chunked answer = read_chunks(one);
    EXPECT_TRUE(answer.whole);
    EXPECT_EQ(answer.body, letters(1'000'003));
  }
  EXPECT_TRUE(no_source_left());
}

TEST_F(HttpStream, OfKnownLengthHasIt) {
  stream.bytes = 300'000;
  stream.length = 300'000;
  start(loose());
  Client one = client();
  const Reply reply = one.request("GET", "/api/v1/stream");
  EXPECT_EQ(reply.headers.at("content-length"), "300000");
  EXPECT_EQ(reply.headers.count("transfer-encoding"), 0U);
  EXPECT_EQ(reply.body, letters(300'000));
  EXPECT_EQ(one.request("GET", "/api/v1/hello").status, 200);
}

TEST_F(HttpStream, AnEmptyOneIsWhole) {
  start(loose());
  Client one = client();
  ASSERT_TRUE(one.handshake());
  one.send(kGet);
  EXPECT_EQ(one.read_reply().status, 200);
  const Chunked answer = read_chunks(one);
  EXPECT_TRUE(answer.whole);
  EXPECT_EQ(answer.body, "");
}

TEST_F(HttpStream, HeadAsksTheSourceForNothing) {
  stream.bytes = 5000;
  start(loose());
  Client one = client();
  const Reply reply = one.request("HEAD", "/api/v1/stream");
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.headers.at("transfer-encoding"), "chunked");
  EXPECT_EQ(one.request("GET", "/api/v1/hello").status, 200) << "nothing was left on the connection";
  EXPECT_TRUE(no_source_left());
  EXPECT_EQ(streamed, 0U);
}

TEST_F(HttpStream, Http10GetsItUntilTheEnd) {
  stream.bytes = 100'000;
  start(loose());
  Client one = client();
  ASSERT_TRUE(one.handshake());
  one.send("GET /api/v1/stream HTTP/1.0\r\nHost: localhost\r\nConnection: keep-alive\r\n\r\n");
  const Reply head = one.read_reply();
  EXPECT_EQ(head.headers.count("transfer-encoding"), 0U);
  EXPECT_EQ(head.headers.at("connection"), "close");
  std::string body;
  for (std::string more = one.read_some(); !more.empty(); more = one.read_some()) body += more;
  EXPECT_EQ(body, letters(100'000));
}

TEST_F(HttpStream, AnErrorInTheMiddleBreaksTheConnection) {
  stream.bytes = 10 << 20;
  stream.fails_at = 3 << 20;
  start(loose());
  Client one = client();
  ASSERT_TRUE(one.handshake());
  one.send(kGet);
  EXPECT_EQ(one.read_reply().status, 200);
  const Chunked answer = read_chunks(one);
  EXPECT_FALSE(answer.whole) << "a client must not take it for the whole";
  EXPECT_TRUE(one.closed());
  EXPECT_TRUE(no_source_left());
}

TEST_F(HttpStream, LessOrMoreThanAnnouncedBreaksTheConnection) {
  for (const std::uint64_t announced : {100'000U, 400'000U}) {
    if (!server) start(loose());
    on_loop([&] {
      stream.bytes = 200'000;
      stream.length = announced;
    });
    Client one = client();
    const Reply reply = one.request("GET", "/api/v1/stream");
    EXPECT_LT(reply.body.size(), announced);
    EXPECT_TRUE(one.closed());
  }
}

TEST_F(HttpStream, ASlowReaderHoldsTheSourceBack) {
  stream.bytes = 256 << 20;
  start(loose());
  ClientOptions small;
  small.receive_buffer = 16 * 1024;
  Client slow = client(small);
  ASSERT_TRUE(slow.handshake());
  slow.send(kGet);
  EXPECT_EQ(slow.read_reply().status, 200);
  // The buffers of both sockets fill, then the source stands still: wait until it does.
  std::uint64_t last = 1;
  EXPECT_TRUE(eventually([&] {
    std::this_thread::sleep_for(100ms);
    const std::uint64_t now = streamed;
    return std::exchange(last, now) == now;
  }));
  EXPECT_LT(streamed, stream.bytes / 4);
  slow.close();
  EXPECT_TRUE(no_source_left()) << "a reader that left frees what it asked for";
}

TEST_F(HttpStream, AReaderThatStandsStillIsLetGo) {
  auto options = loose();
  options.limits.write_time_max = 300ms;
  stream.bytes = 256 << 20;
  start(options);
  Client still = client();
  ASSERT_TRUE(still.handshake());
  still.send(kGet);
  EXPECT_TRUE(no_source_left() && eventually([&] { return server->stats().connections == 0; }));
  EXPECT_LT(streamed, stream.bytes);
}

TEST_F(HttpStream, AClientThatLeavesEndsASourceThatWaits) {
  stream.bytes = 4 << 20;
  std::vector<std::function<void(int)>> held;
  stream.wait = [&](std::function<void(int)> go) { held.push_back(std::move(go)); };
  start(loose());
  {
    Client gone = client();
    ASSERT_TRUE(gone.handshake());
    gone.send(kGet);
    EXPECT_TRUE(eventually([&] {
      bool waits = false;
      on_loop([&] { waits = !held.empty(); });
      return waits;
    }));
  }
  // Each piece that is let go is written to nobody, until that is noticed.
  EXPECT_TRUE(eventually([&] {
    on_loop([&] {
      for (const auto& go : std::exchange(held, {})) go(0);
    });
    return sources == 0;
  }));
}

TEST_F(HttpStream, AServerThatStopsEndsThem) {
  auto options = loose();
  options.limits.stop_time_max = 100ms;
  stream.bytes = 256 << 20;
  start(options);
  Client still = client();
  ASSERT_TRUE(still.handshake());
  still.send(kGet);
  EXPECT_TRUE(eventually([&] { return streamed > 0; }));
  std::promise<void> stopped;
  server->stop([&] { stopped.set_value(); });
  stopped.get_future().wait();
  EXPECT_TRUE(no_source_left());
}

TEST_F(HttpStream, AGigabyteNeedsLittleMemory) {
  constexpr std::uint64_t kBytes = 1 << 30;
  stream.bytes = kBytes;
  stream.piece = 1 << 20;
  stream.length = kBytes;
  start(loose());
  Client one = client();
  ASSERT_TRUE(one.handshake());
  one.send(kGet);
  EXPECT_EQ(one.read_reply(true).status, 200);
  std::uint64_t got = one.read_some().size();
  while (got < kBytes / 16) got += one.read_some().size();
  const std::uint64_t before = resident_bytes();
  std::uint64_t most = 0;
  while (got < kBytes) {
    const std::size_t more = one.read_some().size();
    ASSERT_GT(more, 0U);
    if (got / (64 << 20) != (got + more) / (64 << 20)) most = std::max(most, resident_bytes());
    got += more;
  }
  EXPECT_EQ(got, kBytes);
  // Sanitizers keep freed memory for a while.
  EXPECT_LT(most, before + (64 << 20));
}

}  // namespace
}  // namespace samovar::test
