#include "daemon/api/refusal.hpp"
#include "base/json.hpp"

#include <gtest/gtest.h>

namespace samovar::api {
namespace {

TEST(Refusal, IsAProblemDocument) {
  const Response response = to_response({413, "body_too_large", "Too \"big\"\n."}, "/api/v1/x\\y", "abc");
  EXPECT_EQ(response.status, 413);
  EXPECT_EQ(response.headers.get("Content-Type"), "application/problem+json");
  const auto json = nlohmann::json::parse(response.body);
  EXPECT_EQ(json["type"], "urn:samovar:problem:body_too_large");
  EXPECT_EQ(json["title"], "Content Too Large");
  EXPECT_EQ(json["status"], 413);
  EXPECT_EQ(json["detail"], "Too \"big\"\n.");
  EXPECT_EQ(json["instance"], "/api/v1/x\\y");
  EXPECT_EQ(json["code"], "body_too_large");
  EXPECT_EQ(json["trace_id"], "abc");
}

TEST(Refusal, TellsWhenToComeBack) {
  EXPECT_EQ(to_response({429, "x", ""}, "", "").headers.get("Retry-After"), "1");
  EXPECT_EQ(to_response({503, "x", ""}, "", "").headers.get("Retry-After"), "1");
  EXPECT_FALSE(to_response({400, "x", ""}, "", "").headers.has("Retry-After"));
}

TEST(Refusal, StaysJsonWhateverThePath) {
  const Response response = to_response({400, "x", "y"}, "/\xff", "t");
  EXPECT_TRUE(nlohmann::json::accept(response.body));
}

}  // namespace
}  // namespace samovar::api
