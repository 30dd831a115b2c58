// Ordinary traffic: routes, static files, keep-alive, pipelining.
#include "tests/integration/http_fixture.hpp"

namespace samovar::test {
namespace {

class HttpRequests : public HttpFixture {};

TEST_F(HttpRequests, AnswersWithSecurityHeaders) {
  start();
  const Reply reply = client().request("GET", "/api/v1/hello");
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body, R"({"hello":"you"})");
  EXPECT_EQ(reply.headers.at("cache-control"), "no-store");
  EXPECT_EQ(reply.headers.at("x-content-type-options"), "nosniff");
  EXPECT_EQ(reply.headers.at("content-security-policy").substr(0, 18), "default-src 'none'");
  EXPECT_EQ(reply.headers.at("x-trace-id").size(), 32U);
  EXPECT_EQ(reply.headers.count("strict-transport-security"), 0U);
}

TEST_F(HttpRequests, KeepsTheConnectionForManyRequests) {
  start();
  Client one = client();
  std::string trace;
  for (int i = 0; i < 20; ++i) {
    const Reply reply = one.request("POST", "/api/v1/echo", "{\"n\":" + std::to_string(i) + "}");
    ASSERT_EQ(reply.status, 200);
    EXPECT_EQ(reply.body, "{\"n\":" + std::to_string(i) + "}");
    EXPECT_NE(reply.headers.at("x-trace-id"), trace);
    trace = reply.headers.at("x-trace-id");
  }
  EXPECT_EQ(server->stats().connections, 1U);
}

TEST_F(HttpRequests, PipelinedRequestsAreAnsweredInOrder) {
  start();
  Client one = client();
  ASSERT_TRUE(one.handshake());
  one.send(
      "GET /api/v1/hello HTTP/1.1\r\nHost: localhost\r\n\r\n"
      "POST /api/v1/echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
      "Transfer-Encoding: chunked\r\n\r\n3\r\n[1,\r\n2\r\n2]\r\n0\r\n\r\n"
      "GET /nope HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(one.read_reply().body, R"({"hello":"you"})");
  EXPECT_EQ(one.read_reply().body, "[1,2]");
  const Reply last = one.read_reply();
  EXPECT_EQ(last.status, 200) << "a page of the app";
  EXPECT_EQ(last.headers.at("connection"), "close");
  EXPECT_TRUE(one.closed());
}

TEST_F(HttpRequests, HeadHasTheHeadersAndNoBody) {
  start();
  Client one = client();
  Reply reply = one.request("HEAD", "/api/v1/hello");
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.headers.at("content-length"), "15");
  reply = one.request("GET", "/api/v1/hello");
  EXPECT_EQ(reply.status, 200) << "no stray body before this answer";
  EXPECT_EQ(reply.body.size(), 15U);
}

TEST_F(HttpRequests, UnknownAndWrongAddressesAreProblems) {
  start();
  Client one = client();
  Reply reply = one.request("GET", "/api/v1/nothing");
  EXPECT_EQ(reply.status, 404);
  EXPECT_EQ(reply.headers.at("content-type"), "application/problem+json");
  EXPECT_NE(reply.body.find("\"code\":\"not_found\""), std::string::npos);
  EXPECT_NE(reply.body.find(reply.headers.at("x-trace-id")), std::string::npos);
  reply = one.request("DELETE", "/api/v1/hello");
  EXPECT_EQ(reply.status, 405);
  EXPECT_EQ(reply.headers.at("allow"), "GET, HEAD, OPTIONS");
  reply = one.request("OPTIONS", "/api/v1/echo");
  EXPECT_EQ(reply.status, 204);
  EXPECT_EQ(reply.headers.at("allow"), "OPTIONS, POST");
  EXPECT_EQ(reply.headers.count("access-control-allow-origin"), 0U) << "no CORS";
  EXPECT_EQ(one.request("POST", "/", "{}").status, 405);
}

TEST_F(HttpRequests, ServesThePagesCompressedAndCached) {
  start();
  Client one = client();
  Reply reply = one.request("GET", "/", {}, "Accept-Encoding: gzip, br\r\n");
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.headers.at("content-type"), "text/html; charset=utf-8");
  EXPECT_EQ(reply.headers.at("content-encoding"), "gzip");
  EXPECT_EQ(reply.body.substr(0, 2), "\x1f\x8b");
  const std::string etag = reply.headers.at("etag");
  reply = one.request("GET", "/", {}, "If-None-Match: " + etag + "\r\n");
  EXPECT_EQ(reply.status, 304);
  EXPECT_EQ(one.request("GET", "/some/page").status, 200);
  EXPECT_EQ(one.request("GET", "/missing.js").status, 404);
}

TEST_F(HttpRequests, LargeAnswersArriveWhole) {
  start();
  const Reply reply = client().request("GET", "/api/v1/big");
  EXPECT_EQ(reply.body.size(), 4U << 20);
}

TEST_F(HttpRequests, ContinueIsSentOnlyWhenTheBodyIsWanted) {
  start();
  Client one = client();
  ASSERT_TRUE(one.handshake());
  one.send(
      "POST /api/v1/echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
      "Content-Length: 2\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(one.read_reply(true).status, 100);
  one.send("{}");
  EXPECT_EQ(one.read_reply().body, "{}");

  one.send(
      "PUT /api/v1/denied-upload HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n"
      "Expect: 100-continue\r\n\r\n");
  EXPECT_EQ(one.read_reply().status, 401) << "refused before it was sent";
  EXPECT_EQ(uploaded, 0U);
}

TEST_F(HttpRequests, BodiesWhereNoneIsExpected) {
  start();
  Client one = client();
  EXPECT_EQ(one.request("POST", "/api/v1/act", "{}").status, 204);
  EXPECT_EQ(one.request("POST", "/api/v1/act", {}, "Content-Length: 0\r\n").status, 204);
  EXPECT_EQ(one.request("POST", "/api/v1/act", std::string(5000, 'x')).status, 413);
  EXPECT_EQ(client().request("GET", "/api/v1/hello", "{}").status, 400);
}

}  // namespace
}  // namespace samovar::test
