// Each limit is refused with its own status, and smuggling finds no crack.

#include "base/json.hpp"
#include "tests/integration/http_fixture.hpp"

namespace samovar::test {
namespace {

using namespace std::chrono_literals;

class HttpLimits : public HttpFixture {
 protected:
  // The status for raw bytes, and whether the connection ended after it.
  int raw(const std::string& bytes) {
    Client one = client();
    if (!one.handshake() || !one.send(bytes)) return -1;
    const Reply reply = one.read_reply();
    if (reply.status >= 400) {
      EXPECT_EQ(reply.headers.at("connection"), "close");
      EXPECT_TRUE(nlohmann::json::accept(reply.body));
      EXPECT_TRUE(one.closed());
    }
    return reply.status;
  }
  static std::string post(const std::string& fields, const std::string& body = "") {
    return "POST /api/v1/echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" + fields +
           "\r\n" + body;
  }
};

TEST_F(HttpLimits, SizesHaveTheirStatus) {
  start(loose());
  EXPECT_EQ(raw("GET /" + std::string(9000, 'a') + " HTTP/1.1\r\nHost: localhost\r\n\r\n"), 414);
  EXPECT_EQ(raw("GET / HTTP/1.1\r\nHost: localhost\r\nX: " + std::string(17 * 1024, 'a') + "\r\n\r\n"), 431);
  EXPECT_EQ(raw("GET / HTTP/1.1\r\nHost: localhost\r\nX: " + std::string(17 * 1024, 'a')), 431)
      << "without its end";
  std::string fields;
  for (int i = 0; i < 70; ++i) fields += "X: y\r\n";
  EXPECT_EQ(raw("GET / HTTP/1.1\r\nHost: localhost\r\n" + fields + "\r\n"), 431);
  EXPECT_EQ(raw(post("Content-Length: 1048577\r\n")), 413);
  EXPECT_EQ(raw(post("Transfer-Encoding: chunked\r\n", "100001\r\n")), 413);
  EXPECT_EQ(client().request("POST", "/api/v1/echo", std::string(1 << 20, ' ')).status, 200);
}

TEST_F(HttpLimits, LengthAndTypeAreNeeded) {
  start(loose());
  EXPECT_EQ(client().request("POST", "/api/v1/echo").status, 411);
  Client one = client();
  ASSERT_TRUE(one.handshake());
  one.send(
      "POST /api/v1/echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: "
      "2\r\n\r\n{}");
  EXPECT_EQ(one.read_reply().status, 415);
  EXPECT_EQ(handled, 0);
}

TEST_F(HttpLimits, SmugglingIsRefused) {
  start(loose());
  const std::string smuggled = "GET /api/v1/hello HTTP/1.1\r\nHost: localhost\r\n\r\n";
  EXPECT_EQ(raw(post("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n" + smuggled)), 400);
  EXPECT_EQ(raw(post("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", "0\r\n\r\n" + smuggled)), 400);
  EXPECT_EQ(raw(post("Content-Length: 2\r\nContent-Length: 2\r\n", "{}" + smuggled)), 400);
  EXPECT_EQ(raw(post("Content-Length: 2\r\nContent-Length: 9\r\n", "{}" + smuggled)), 400);
  EXPECT_EQ(raw(post("Content-Length: 2,2\r\n", "{}" + smuggled)), 400);
  EXPECT_EQ(raw(post("Content-Length: +2\r\n", "{}" + smuggled)), 400);
  EXPECT_EQ(raw(post("Transfer-Encoding: xchunked\r\n", "0\r\n\r\n" + smuggled)), 501);
  EXPECT_EQ(raw(post("Transfer-Encoding: identity, chunked\r\n", "0\r\n\r\n" + smuggled)), 501);
  EXPECT_EQ(raw(post("Transfer-Encoding:\x0b"
                     "chunked\r\n",
                     "0\r\n\r\n" + smuggled)),
            400);
  EXPECT_EQ(raw(post("Transfer-Encoding : chunked\r\n", "0\r\n\r\n" + smuggled)), 400);
  EXPECT_EQ(raw(post("X: y\r\n Transfer-Encoding: chunked\r\n", "0\r\n\r\n" + smuggled)), 400);
  EXPECT_EQ(raw(post("Transfer-Encoding: chunked\r\n", "2\n{}\r\n0\r\n\r\n" + smuggled)), 400);
  EXPECT_EQ(raw(post("Transfer-Encoding: chunked\r\n", "zz\r\n{}\r\n0\r\n\r\n" + smuggled)), 400);
  EXPECT_EQ(raw(post("Transfer-Encoding: chunked\r\n", "2\r\n{}XX0\r\n\r\n" + smuggled)), 400);
  constexpr char kNul[] = "GET / HTTP/1.1\r\nHost: localhost\r\nX: a\0b\r\n\r\n";
  EXPECT_EQ(raw(std::string(kNul, sizeof kNul - 1)), 400);
  EXPECT_EQ(raw("GET / HTTP/1.1\nHost: localhost\n\n"), 400);
  EXPECT_EQ(handled, 0) << "no hidden request reached a handler";
}

TEST_F(HttpLimits, PathsThatCouldMeanOtherFiles) {
  start(loose());
  for (const char* path : {"/../etc/passwd", "/%2e%2e/x", "/a%2fb", "/a%00", "/%zz", "/a\\b"}) {
    EXPECT_EQ(raw("GET " + std::string(path) + " HTTP/1.1\r\nHost: localhost\r\n\r\n"), 400) << path;
  }
}

TEST_F(HttpLimits, HostIsCheckedAgainstRebinding) {
  auto options = loose();
  options.names = {"box.example"};
  start(options);
  const auto with_host = [&](const std::string& field) {
    Client one = client();
    one.handshake();
    one.send("GET /api/v1/hello HTTP/1.1\r\n" + field + "\r\n");
    return one.read_reply();
  };
  for (const char* host : {"127.0.0.1:8443", "localhost", "[::1]", "Box.Example:1"}) {
    EXPECT_EQ(with_host("Host: " + std::string(host) + "\r\n").status, 200) << host;
  }
  const Reply refused = with_host("Host: evil.example\r\n");
  EXPECT_EQ(refused.status, 421);
  EXPECT_NE(refused.body.find("evil.example"), std::string::npos);
  EXPECT_EQ(with_host("").status, 400);
  EXPECT_EQ(with_host("Host: localhost\r\nHost: localhost\r\n").status, 400);
  EXPECT_EQ(with_host("Host: a b\r\n").status, 400);
  server->set_names({"evil.example"});
  EXPECT_EQ(with_host("Host: evil.example\r\n").status, 200);
  EXPECT_EQ(with_host("Host: box.example\r\n").status, 421);
}

TEST_F(HttpLimits, RequestRateIsLimitedPerAddress) {
  auto options = loose();
  options.limits.requests_per_second = 0.001;
  options.limits.request_burst = 3;
  start(options);
  Client one = client();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(one.request("GET", "/api/v1/hello").status, 200);
  const Reply reply = one.request("GET", "/api/v1/hello");
  EXPECT_EQ(reply.status, 429);
  EXPECT_EQ(reply.headers.at("retry-after"), "1");
  EXPECT_EQ(client().request("GET", "/").status, 429) << "pages and other connections count too";
  EXPECT_EQ(client({.source = "127.0.0.2"}).request("GET", "/api/v1/hello").status, 200);
}

TEST_F(HttpLimits, SlowHeaderIsCutAsAWhole) {
  auto options = loose();
  options.limits.header_time_max = 600ms;
  start(options);
  Client slow = client();
  ASSERT_TRUE(slow.handshake());
  const auto began = std::chrono::steady_clock::now();
  // A byte each 50 ms would defeat a timeout per read.
  const std::string head = "GET / HTTP/1.1\r\nHost: localhost\r\nX: " + std::string(1000, 'x');
  for (const char c : head) {
    if (!slow.send({&c, 1}) || std::chrono::steady_clock::now() - began > 650ms) break;
    std::this_thread::sleep_for(50ms);
  }
  EXPECT_EQ(slow.read_reply().status, 408);
  EXPECT_TRUE(slow.closed());
  EXPECT_GE(std::chrono::steady_clock::now() - began, 500ms);
}

TEST_F(HttpLimits, SlowSecondHeaderIsCutToo) {
  auto options = loose();
  options.limits.header_time_max = 300ms;
  start(options);
  Client one = client();
  Reply first = one.request("GET", "/api/v1/hello");
  ASSERT_EQ(first.status, 200);
  one.send("GET / HT");
  EXPECT_EQ(one.read_reply().status, 408);
}

TEST_F(HttpLimits, SlowBodyIsCut) {
  auto options = loose();
  options.limits.body_grace = 300ms;
  start(options);
  Client slow = client();
  ASSERT_TRUE(slow.handshake());
  slow.send(post("Content-Length: 1000\r\n", "{"));
  EXPECT_EQ(slow.read_reply().status, 408);
  EXPECT_EQ(handled, 0);
}

TEST_F(HttpLimits, IdleConnectionsAreClosed) {
  auto options = loose();
  options.limits.idle_time_max = 200ms;
  start(options);
  Client one = client();
  ASSERT_EQ(one.request("GET", "/api/v1/hello").status, 200);
  EXPECT_TRUE(one.closed());
  EXPECT_TRUE(eventually([&] { return server->stats().connections == 0; }));
}

TEST_F(HttpLimits, BodiesBeingReceivedShareABound) {
  auto options = loose();
  options.limits.body_memory_bytes_max = 100'000;
  start(options);
  Client first = client();
  ASSERT_TRUE(first.handshake());
  first.send(post("Content-Length: 90001\r\n", "\"" + std::string(89'000, 'x')));
  Client second = client();
  ASSERT_TRUE(second.handshake());
  // The first one's bytes may still be on their way: ask until they count.
  EXPECT_TRUE(eventually([&] {
    Client third = client();
    third.handshake();
    third.send(post("Content-Length: 50000\r\n", "\"" + std::string(49'998, 'x') + "\""));
    return third.read_reply().status == 503;
  }));
  first.send(std::string(999, 'x') + "\"");
  EXPECT_EQ(first.read_reply().status, 200) << "who was in goes on";
  second.send(post("Content-Length: 50000\r\n", "\"" + std::string(49'998, 'x') + "\""));
  EXPECT_EQ(second.read_reply().status, 200) << "and the room is given back";
}

}  // namespace
}  // namespace samovar::test
