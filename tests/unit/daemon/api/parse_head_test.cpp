#include "daemon/api/parse_head.hpp"

#include <gtest/gtest.h>

namespace samovar::api {
namespace {

int status_of(std::string_view bytes) {
  RequestHead head;
  const auto refusal = parse_head(bytes, Limits{}, head);
  return refusal ? refusal->status : 0;
}

TEST(ParseHead, FillsTheHead) {
  RequestHead head;
  ASSERT_FALSE(
      parse_head("POST /api/v1/users?x=1 HTTP/1.1\r\nHost: Box:8443\r\nContent-Length: 3\r\n"
                 "X-Thing:  spaced \r\nExpect: 100-continue\r\n\r\n",
                 Limits{}, head));
  EXPECT_EQ(head.method, Method::post);
  EXPECT_EQ(head.path, "/api/v1/users");
  EXPECT_EQ(head.query.at(0).first, "x");
  EXPECT_EQ(head.host, "box");
  EXPECT_EQ(head.content_length, 3U);
  EXPECT_EQ(head.headers.get("x-thing"), "spaced");
  EXPECT_TRUE(head.expects_continue);
}

TEST(ParseHead, RefusesOtherProtocolsAndMethods) {
  EXPECT_EQ(status_of("PRI * HTTP/2.0\r\n\r\n"), 505);
  EXPECT_EQ(status_of("GET / HTTP/1.2\r\nHost: a\r\n\r\n"), 505);
  EXPECT_EQ(status_of("BREW / HTTP/1.1\r\nHost: a\r\n\r\n"), 501);
  EXPECT_EQ(status_of("CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n"), 501);
  EXPECT_EQ(status_of("get / HTTP/1.1\r\nHost: a\r\n\r\n"), 501);
  EXPECT_EQ(status_of("GET /\r\nHost: a\r\n\r\n"), 400);
  EXPECT_EQ(status_of("GET  / HTTP/1.1\r\nHost: a\r\n\r\n"), 400);
  EXPECT_EQ(status_of("hello\r\n\r\n"), 400);
}

TEST(ParseHead, RefusesSmuggling) {
  const std::string start = "POST / HTTP/1.1\r\nHost: a\r\n";
  EXPECT_EQ(status_of(start + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"), 400);
  EXPECT_EQ(status_of(start + "Transfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n"), 400);
  EXPECT_EQ(status_of(start + "Content-Length: 1\r\nContent-Length: 1\r\n\r\n"), 400);
  EXPECT_EQ(status_of(start + "Transfer-Encoding : chunked\r\n\r\n"), 400);
  EXPECT_EQ(status_of(start + "Transfer-Encoding: x\r\n chunked\r\n\r\n"), 400);
}

TEST(ParseHead, HostIsNeededByHttp10Too) {
  EXPECT_EQ(status_of("GET / HTTP/1.0\r\n\r\n"), 400);
  EXPECT_EQ(status_of("GET / HTTP/1.0\r\nHost: a\r\n\r\n"), 0);
}

}  // namespace
}  // namespace samovar::api
