// Event streams: many, slow ones, and their ends.
#include "tests/integration/http_fixture.hpp"

namespace samovar::test {
namespace {

using namespace std::chrono_literals;

class HttpEvents : public HttpFixture {
 protected:
  Client open(ClientOptions options = {}) {
    Client one = client(std::move(options));
    EXPECT_TRUE(one.handshake());
    one.send("GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
    return one;
  }
  static std::string read_until(Client& one, std::string_view end) {
    std::string all;
    while (all.find(end) == std::string::npos) {
      const std::string more = one.read_some();
      if (more.empty()) break;
      all += more;
    }
    return all;
  }
  std::size_t sink_count() {
    std::size_t count = 0;
    on_loop([&] { count = sinks.size(); });
    return count;
  }
  bool send_all(std::string_view text) {
    bool sent = true;
    on_loop([&] {
      for (const auto& sink : sinks) sent = sink->send(text) && sent;
    });
    return sent;
  }
};

TEST_F(HttpEvents, HeadThenEventsAsTheyCome) {
  start(loose());
  Client one = open();
  const Reply head = one.read_reply(true);
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.headers.at("content-type"), "text/event-stream");
  EXPECT_EQ(head.headers.at("cache-control"), "no-store");
  EXPECT_EQ(head.headers.count("content-length"), 0U);
  EXPECT_EQ(read_until(one, "\n\n"), "retry: 2000\n\n");
  EXPECT_TRUE(send_all("event: a\ndata: 1\n\n"));
  EXPECT_EQ(read_until(one, "\n\n"), "event: a\ndata: 1\n\n");
  EXPECT_EQ(server->stats().event_streams, 1U);
}

TEST_F(HttpEvents, AHundredClientsGetEveryEvent) {
  start(loose());
  std::vector<Client> all;
  for (int i = 0; i < 100; ++i) all.push_back(open());
  ASSERT_TRUE(eventually([&] { return sink_count() == 100; }));
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(send_all("data: " + std::to_string(i) + "\n\n"));
  EXPECT_TRUE(send_all("data: end\n\n"));
  for (Client& one : all) {
    const std::string text = read_until(one, "data: end\n\n");
    EXPECT_NE(
        text.find("data: 0\n\ndata: 1\n\ndata: 2\n\ndata: 3\n\ndata: 4\n\ndata: 5\n\ndata: 6\n\ndata: 7\n\n"
                  "data: 8\n\ndata: 9\n\ndata: end\n\n"),
        std::string::npos);
  }
  EXPECT_EQ(client().request("GET", "/api/v1/hello").status, 200);
  all.clear();
  EXPECT_TRUE(eventually([&] { return sinks_closed == 100; }));
  EXPECT_TRUE(eventually([&] { return server->stats().event_streams == 0; }));
  EXPECT_FALSE(send_all("data: nobody\n\n")) << "gone clients are reported";
}

TEST_F(HttpEvents, ASlowReaderIsRefusedMoreAndTheOthersAreNot) {
  auto options = loose();
  options.limits.event_buffer_bytes_max = 64 * 1024;
  start(options);
  Client slow = open({.receive_buffer = 4096});
  ASSERT_TRUE(eventually([&] { return sink_count() == 1; }));
  Client good = open();
  ASSERT_TRUE(eventually([&] { return sink_count() == 2; }));
  const std::string event = "data: " + std::string(8000, 'e') + "\n\n";
  std::size_t received = 0;
  std::thread reader([&] {
    for (std::string more = good.read_some(); !more.empty(); more = good.read_some()) received += more.size();
  });
  // Until the slow one's socket and buffer are full. The good one may lag a moment, never for long.
  std::size_t accepted = 0;
  bool full = false;
  for (int i = 0; i < 5000 && !full; ++i) {
    on_loop([&] { full = !sinks[0]->send(event); });
    EXPECT_TRUE(eventually([&] {
      bool sent = false;
      on_loop([&] { sent = sinks[1]->send(event); });
      return sent;
    }));
    ++accepted;
  }
  EXPECT_TRUE(full);
  EXPECT_GT(accepted, 7U);
  on_loop([&] { sinks[1]->close(); });
  reader.join();
  EXPECT_GE(received, accepted * event.size());
}

TEST_F(HttpEvents, AReaderThatStopsIsClosed) {
  auto options = loose();
  options.limits.write_time_max = 300ms;
  start(options);
  Client stuck = open({.receive_buffer = 4096});
  ASSERT_TRUE(eventually([&] { return sink_count() == 1; }));
  const std::string event = "data: " + std::string(60'000, 'e') + "\n\n";
  EXPECT_TRUE(eventually([&] {
    send_all(event);
    return sinks_closed == 1;
  }));
}

TEST_F(HttpEvents, TheHandlerMayCloseAfterItsLastWord) {
  start(loose());
  Client one = open();
  ASSERT_TRUE(eventually([&] { return sink_count() == 1; }));
  on_loop([&] {
    sinks[0]->send("event: bye\n\n");
    sinks[0]->close();
    EXPECT_FALSE(sinks[0]->send("late"));
  });
  EXPECT_NE(read_until(one, "event: bye\n\n").find("event: bye\n\n"), std::string::npos);
  EXPECT_TRUE(one.closed());
  EXPECT_TRUE(eventually([&] { return sinks_closed == 1; }));
}

TEST_F(HttpEvents, OnClosedSetLateIsStillCalled) {
  start(loose());
  {
    Client one = open();
    ASSERT_TRUE(eventually([&] { return sink_count() == 1; }));
  }
  ASSERT_TRUE(eventually([&] { return sinks_closed == 1; }));
  std::atomic<bool> told{false};
  on_loop([&] { sinks[0]->on_closed([&] { told = true; }); });
  EXPECT_TRUE(eventually([&] { return told.load(); }));
}

TEST_F(HttpEvents, TheNumberOfStreamsIsBounded) {
  auto options = loose();
  options.limits.event_streams_max = 2;
  start(options);
  Client first = open();
  Client second = open();
  ASSERT_TRUE(eventually([&] { return sink_count() == 2; }));
  Client third = open();
  const Reply reply = third.read_reply();
  EXPECT_EQ(reply.status, 503);
  EXPECT_EQ(reply.headers.at("retry-after"), "1");
  EXPECT_EQ(client().request("HEAD", "/api/v1/events").status, 200) << "only the head, no stream";
}

}  // namespace
}  // namespace samovar::test
