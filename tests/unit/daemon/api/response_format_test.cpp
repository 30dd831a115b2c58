#include "daemon/api/response_format.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace samovar::api {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(HttpDate, IsTheOneOfTheStandard) {
  EXPECT_EQ(http_date(WallTime(std::chrono::seconds(784111777))), "Sun, 06 Nov 1994 08:49:37 GMT");
}

TEST(FormatHead, CarriesTheSecurityHeaders) {
  Response response;
  response.headers.set("Content-Type", "application/json");
  response.body = "{}";
  const std::string head = format_head(response, {WallTime{}, "t1", true, true, true});
  EXPECT_THAT(head, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(head, EndsWith("\r\n\r\n"));
  EXPECT_THAT(head, HasSubstr("Content-Type: application/json\r\n"));
  EXPECT_THAT(head, HasSubstr("Content-Length: 2\r\n"));
  EXPECT_THAT(head, HasSubstr("Connection: keep-alive\r\n"));
  EXPECT_THAT(head, HasSubstr("Cache-Control: no-store\r\n"));
  EXPECT_THAT(head, HasSubstr("X-Content-Type-Options: nosniff\r\n"));
  EXPECT_THAT(head, HasSubstr("Referrer-Policy: no-referrer\r\n"));
  EXPECT_THAT(head, HasSubstr("Cross-Origin-Opener-Policy: same-origin\r\n"));
  EXPECT_THAT(head, HasSubstr("Cross-Origin-Resource-Policy: same-origin\r\n"));
  EXPECT_THAT(head, HasSubstr("Permissions-Policy: "));
  EXPECT_THAT(head, HasSubstr("Strict-Transport-Security: max-age=31536000\r\n"));
  EXPECT_THAT(head, HasSubstr("X-Trace-Id: t1\r\n"));
  EXPECT_THAT(head,
              HasSubstr("Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; "
                        "img-src 'self' data:; connect-src 'self'; font-src 'self'; form-action 'self'; "
                        "base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
                        "trusted-types 'none'\r\n"));
  EXPECT_THAT(head, Not(HasSubstr("Access-Control")));
}

TEST(FormatHead, AHandlerCannotSplitTheAnswer) {
  Response response;
  response.headers.set("X-Name", "a\r\nSet-Cookie: evil=1\r\n\r\n<script>");
  response.headers.set("Bad Name", "x");
  const std::string head = format_head(response, {});
  EXPECT_THAT(head, HasSubstr("X-Name: aSet-Cookie: evil=1<script>\r\n"));
  EXPECT_THAT(head, Not(HasSubstr("\r\nSet-Cookie")));
  EXPECT_THAT(head, Not(HasSubstr("Bad Name")));
  EXPECT_EQ(head.find("\r\n\r\n"), head.size() - 4);
}

TEST(FormatHead, FramingIsTheEnginesOwn) {
  Response response;
  response.headers.set("Content-Length", "99");
  response.headers.set("Transfer-Encoding", "chunked");
  response.headers.set("Cache-Control", "max-age=1");
  const std::string head = format_head(response, {WallTime{}, "", true});
  EXPECT_THAT(head, Not(HasSubstr("99")));
  EXPECT_THAT(head, Not(HasSubstr("chunked")));
  EXPECT_THAT(head, HasSubstr("Content-Length: 0\r\n"));
  EXPECT_THAT(head, HasSubstr("Connection: close\r\n"));
  EXPECT_THAT(head, HasSubstr("Cache-Control: max-age=1\r\n"));
  EXPECT_THAT(head, Not(HasSubstr("no-store")));
  EXPECT_THAT(head, Not(HasSubstr("Strict-Transport")));
}

TEST(FormatHead, NoLengthWhereThereIsNoBody) {
  for (const int status : {204, 304}) {
    Response response;
    response.status = status;
    EXPECT_THAT(format_head(response, {}), Not(HasSubstr("Content-Length")));
  }
  HeadFormat stream;
  stream.until_close = true;
  EXPECT_THAT(format_head(Response{}, stream), Not(HasSubstr("Content-Length")));
}

}  // namespace
}  // namespace samovar::api
