// The server's own life: ports, stopping, dying in the middle.
#include <gmock/gmock.h>

#include "base/metrics.hpp"
#include "tests/integration/http_fixture.hpp"

namespace samovar::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class HttpServer : public HttpFixture {
 protected:
  bool stop_and_wait() {
    auto done = std::make_shared<std::promise<void>>();
    auto stopped = done->get_future();
    server->stop([done] { done->set_value(); });
    return stopped.wait_for(30s) == std::future_status::ready;
  }
};

TEST_F(HttpServer, ATakenPortIsNamed) {
  start(loose());
  const auto again = server->listen({"127.0.0.1"}, port);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code(), Errc::conflict);
  EXPECT_THAT(again.error().message(), HasSubstr("port " + std::to_string(port)));
  EXPECT_THAT(again.error().message(), HasSubstr("ss -ltnp"));
  EXPECT_EQ(client().request("GET", "/api/v1/hello").status, 200);
}

TEST_F(HttpServer, WrongAddressesAreRefused) {
  start(loose());
  EXPECT_EQ(server->listen({"nowhere"}, 0).error().code(), Errc::invalid);
  EXPECT_EQ(server->listen({"203.0.113.7"}, 0).error().code(), Errc::invalid);
  EXPECT_EQ(server->listen({}, 0).error().code(), Errc::invalid);
}

TEST_F(HttpServer, ListensOnSeveralAddressesWithOnePort) {
  start(loose());
  const auto chosen = server->listen({"127.0.0.2", "127.0.0.3"}, 0);
  ASSERT_TRUE(chosen) << chosen.error().message();
  EXPECT_NE(*chosen, 0);
}

TEST_F(HttpServer, AKeyThatDoesNotFitIsRefused) {
  const Pem one = make_certificate("one");
  const Pem two = make_certificate("two");
  const auto created = api::Server::create(loop, {}, *api::Router::create({}), {}, {}, {one.chain, two.key});
  ASSERT_FALSE(created);
  EXPECT_EQ(created.error().code(), Errc::invalid);
}

TEST_F(HttpServer, StopLetsRunningRequestsFinish) {
  start(loose());
  Client busy = client();
  ASSERT_TRUE(busy.handshake());
  busy.send("GET /api/v1/wait HTTP/1.1\r\nHost: localhost\r\n\r\n");
  Client idle = client();
  ASSERT_EQ(idle.request("GET", "/api/v1/hello").status, 200);
  ASSERT_TRUE(eventually([&] { return server->stats().requests_running == 1; }));
  std::atomic<bool> stopped{false};
  server->stop([&] { stopped = true; });
  EXPECT_TRUE(idle.closed());
  EXPECT_FALSE(client().connected()) << "no longer accepting";
  EXPECT_FALSE(stopped);
  release_waiting();
  const Reply reply = busy.read_reply();
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.headers.at("connection"), "close");
  EXPECT_TRUE(busy.closed());
  busy.close();
  EXPECT_TRUE(eventually([&] { return stopped.load(); }));
}

TEST_F(HttpServer, StopDoesNotWaitForever) {
  auto options = loose();
  options.limits.stop_time_max = 200ms;
  start(options);
  Client busy = client();
  ASSERT_TRUE(busy.handshake());
  busy.send("GET /api/v1/wait HTTP/1.1\r\nHost: localhost\r\n\r\n");
  ASSERT_TRUE(eventually([&] { return server->stats().requests_running == 1; }));
  EXPECT_TRUE(stop_and_wait());
  EXPECT_EQ(busy.read_reply().status, 0);
  release_waiting();  // an answer that goes nowhere does no harm
}

TEST_F(HttpServer, StopEndsEventStreams) {
  start(loose());
  Client one = client();
  ASSERT_TRUE(one.handshake());
  one.send("GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
  ASSERT_EQ(one.read_reply(true).status, 200);
  ASSERT_TRUE(eventually([&] { return server->stats().event_streams == 1; }));
  std::thread reader([&] { EXPECT_TRUE(one.closed()); });
  EXPECT_TRUE(stop_and_wait());
  reader.join();
  EXPECT_TRUE(eventually([&] { return sinks_closed == 1; }));
}

TEST_F(HttpServer, StopWithNobodyThereIsImmediate) {
  start(loose());
  EXPECT_TRUE(stop_and_wait());
}

TEST_F(HttpServer, DestroyedInTheMiddleOfEverything) {
  start(loose());
  hold_upload = true;
  std::vector<Client> all;
  for (const char* request :
       {"GET /api/v1/wait HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "PUT /api/v1/upload HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nabc",
        "POST /api/v1/echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{", "GET /api"}) {
    all.push_back(client());
    ASSERT_TRUE(all.back().handshake());
    all.back().send(request);
  }
  all.push_back(client());  // no handshake
  ASSERT_TRUE(eventually([&] {
    bool held = false;
    on_loop([&] { held = held_upload != nullptr && !waiting.empty() && !sinks.empty(); });
    return held;
  }));
  server.reset();
  EXPECT_TRUE(eventually([&] { return sinks_closed == 1; }));
  // The handlers end after the server: their reads fail and their answers vanish.
  release_waiting();
  on_loop([&] { std::exchange(held_upload, nullptr)(0); });
  EXPECT_TRUE(eventually([&] {
    std::string error;
    on_loop([&] { error = upload_error; });
    return error == "io";
  }));
}

TEST_F(HttpServer, MetricsCountRequestsAndRefusals) {
  start(loose());
  Client one = client();
  one.request("GET", "/api/v1/hello");
  one.request("GET", "/api/v1/nothing");
  const std::string text = metrics::render();
  EXPECT_THAT(text, HasSubstr("samovar_api_requests_total{method=\"GET\",status=\"2xx\"}"));
  EXPECT_THAT(text, HasSubstr("samovar_api_requests_total{method=\"GET\",status=\"4xx\"}"));
  EXPECT_THAT(text, HasSubstr("samovar_api_rejected_total{reason=\"not_found\"}"));
  EXPECT_THAT(text, HasSubstr("samovar_api_connections 1"));
}

}  // namespace
}  // namespace samovar::test
