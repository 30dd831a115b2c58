#include "daemon/cli/http_client.hpp"

#include <gtest/gtest.h>

namespace samovar::cli {
namespace {

TEST(Server, AddressIsFilledIn) {
  EXPECT_EQ(normalize_server("box").value(), "https://box:8443");
  EXPECT_EQ(normalize_server("HTTPS://Box.Local/").value(), "https://box.local:8443");
  EXPECT_EQ(normalize_server("10.0.0.1:9000").value(), "https://10.0.0.1:9000");
  EXPECT_EQ(normalize_server("https://[fe80::1]:8443").value(), "https://[fe80::1]:8443");
}

TEST(Server, RefusesWhatIsNoBox) {
  EXPECT_FALSE(normalize_server("http://box:8443"));
  EXPECT_FALSE(normalize_server("ftp://box"));
  EXPECT_FALSE(normalize_server("https://user:pass@box"));
  EXPECT_FALSE(normalize_server("https://box/path"));
  EXPECT_FALSE(normalize_server("https://box?x=1"));
  EXPECT_FALSE(normalize_server(""));
}

TEST(Url, EncodesAllButTheUnreserved) {
  EXPECT_EQ(url_encode("a-b_c.d~9"), "a-b_c.d~9");
  EXPECT_EQ(url_encode("../a b"), "..%2Fa%20b");
  EXPECT_EQ(url_encode("ü"), "%C3%BC");
}

TEST(HttpClient, SaysWhatToDoWhenNothingListens) {
  const auto client = make_http_client();
  HttpRequest request;
  request.url = "https://127.0.0.1:1/api/v1/setup";  // tcpmux: nobody serves it
  request.timeout_s = 5;
  const auto reply = client->send(request);
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code(), Errc::io);
  EXPECT_NE(reply.error().message().find("https://127.0.0.1:1"), std::string::npos);
}

}  // namespace
}  // namespace samovar::cli
