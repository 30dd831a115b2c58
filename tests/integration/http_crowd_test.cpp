// A crowd of idle and slow connections must not stop a good client.
#include <sys/resource.h>

#include "tests/integration/http_fixture.hpp"

namespace samovar::test {
namespace {

using namespace std::chrono_literals;

class HttpCrowd : public HttpFixture {
 protected:
  void SetUp() override {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, 8192);
    ::setrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur < 4096) GTEST_SKIP() << "needs 4096 open files; raise 'ulimit -n'";
  }
  // The limits of the product, but with times so long that only making room can save the good client.
  static api::ServerOptions patient() {
    api::ServerOptions options;
    options.limits.handshake_time_max = 600s;
    options.limits.header_time_max = 600s;
    return options;
  }
  static ClientOptions from(int n) { return {.source = "127.0.1." + std::to_string(1 + n % 250)}; }
};

TEST_F(HttpCrowd, AThousandIdleAndAThousandSlowClients) {
  start(patient());
  std::vector<Client> crowd;
  crowd.reserve(2000);
  Client good = client();
  for (int i = 0; i < 1000; ++i) {
    crowd.push_back(client(from(i)));
    if (i % 100 == 0) {
      EXPECT_EQ(client().request("GET", "/api/v1/hello").status, 200) << i;
    }
  }
  EXPECT_EQ(good.request("GET", "/api/v1/hello").status, 200);
  // Slow: half a handshake for most, half a header for some.
  for (int i = 0; i < 1000; ++i) {
    crowd.push_back(client(from(i)));
    if (i % 10 == 0) {
      crowd.back().handshake();
      crowd.back().send("GET / HTTP/1.1\r\nHo");
    } else {
      crowd.back().send_plain("\x16\x03");
    }
    if (i % 100 == 0) {
      EXPECT_EQ(client().request("GET", "/api/v1/hello").status, 200) << i;
    }
  }
  // Those told to go need a moment to be gone.
  EXPECT_TRUE(eventually([&] { return server->stats().connections <= 1024; }));
  EXPECT_GE(server->stats().connections, 900U);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(client().request("GET", "/api/v1/hello").status, 200);
  EXPECT_EQ(client().request("POST", "/api/v1/echo", "{}").status, 200);
}

TEST_F(HttpCrowd, OneAddressHasItsShareAndNoMore) {
  start(patient());
  std::vector<Client> crowd;
  for (int i = 0; i < 200; ++i) crowd.push_back(client({.source = "127.0.0.9"}));
  EXPECT_TRUE(eventually([&] { return server->stats().connections == 64; }));
  EXPECT_EQ(client({.source = "127.0.0.9"}).request("GET", "/api/v1/hello").status, 200)
      << "the newest gets in";
  EXPECT_EQ(client().request("GET", "/api/v1/hello").status, 200);
}

TEST_F(HttpCrowd, RunningRequestsAreNotCutForNewcomers) {
  auto options = patient();
  options.limits.connections_max = 2;
  start(options);
  Client first = client();
  Client second = client();
  for (Client* one : {&first, &second}) {
    ASSERT_TRUE(one->handshake());
    one->send("GET /api/v1/wait HTTP/1.1\r\nHost: localhost\r\n\r\n");
  }
  ASSERT_TRUE(eventually([&] { return server->stats().requests_running == 2; }));
  Client third = client();
  EXPECT_FALSE(third.handshake()) << "closed quickly, as all are busy";
  release_waiting();
  EXPECT_EQ(first.read_reply().status, 200);
  EXPECT_EQ(second.read_reply().status, 200);
  EXPECT_EQ(client().request("GET", "/api/v1/hello").status, 200) << "an idle one makes room";
}

}  // namespace
}  // namespace samovar::test
