#include "daemon/api/http.hpp"

#include <gtest/gtest.h>

namespace samovar::api {
namespace {

TEST(Headers, NamesAreComparedWithoutCase) {
  Headers headers;
  headers.add("Content-Type", "text/plain");
  EXPECT_EQ(headers.get("content-type"), "text/plain");
  EXPECT_TRUE(headers.has("CONTENT-TYPE"));
  EXPECT_FALSE(headers.has("Content-Typ"));
  EXPECT_EQ(headers.get("Accept"), "");
}

TEST(Headers, SetReplacesAllAndAddKeepsAll) {
  Headers headers;
  headers.add("Link", "a");
  headers.add("link", "b");
  ASSERT_EQ(headers.all().size(), 2U);
  EXPECT_EQ(headers.get("LINK"), "a");
  headers.set("LINK", "c");
  ASSERT_EQ(headers.all().size(), 1U);
  EXPECT_EQ(headers.get("link"), "c");
}

TEST(Request, CookieFindsTheWholeNameInAnyField) {
  Request request;
  request.headers.add("Cookie", "a=1; __Host-samovar=abc=; b=2");
  request.headers.add("Cookie", "late=x");
  EXPECT_EQ(request.cookie("__Host-samovar"), "abc=");
  EXPECT_EQ(request.cookie("b"), "2");
  EXPECT_EQ(request.cookie("late"), "x");
  EXPECT_EQ(request.cookie("samovar"), "");
  EXPECT_EQ(request.cookie("B"), "") << "cookie names have case";
}

TEST(Request, CookieSurvivesNonsense) {
  Request request;
  request.headers.add("Cookie", ";;=;a;=b; ;c=");
  EXPECT_EQ(request.cookie("a"), "");
  EXPECT_EQ(request.cookie("c"), "");
}

TEST(Request, ParamsAndQueryAreFoundByName) {
  Request request;
  request.params = {{"id", "usr_1"}};
  request.query = {{"limit", "5"}, {"limit", "6"}};
  EXPECT_EQ(request.param("id"), "usr_1");
  EXPECT_EQ(request.param("Id"), "");
  EXPECT_EQ(request.query_value("limit"), "5");
}

TEST(Method, NamesAreThoseOfHttp) {
  EXPECT_EQ(to_string(Method::del), "DELETE");
  EXPECT_EQ(to_string(Method::options), "OPTIONS");
}

}  // namespace
}  // namespace samovar::api
