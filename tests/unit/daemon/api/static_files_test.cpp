#include "daemon/api/static_files.hpp"

#include <gtest/gtest.h>

namespace samovar::api {
namespace {

StaticFiles site() {
  return StaticFiles({
      {"/index.html", "text/html; charset=utf-8", "\"i1\"", as_bytes("<html>"), {}, false},
      {"/assets/app-12345678.js", "text/javascript; charset=utf-8", "\"a1\"", as_bytes("let a=1"),
       as_bytes("GZ"), true},
  });
}

Response get(std::string path, std::string encoding = "", std::string etag = "") {
  Request request;
  request.path = std::move(path);
  if (!encoding.empty()) request.headers.set("Accept-Encoding", encoding);
  if (!etag.empty()) request.headers.set("If-None-Match", etag);
  return site().serve(request);
}

TEST(StaticFiles, ServesFilesWithTheirType) {
  const Response response = get("/assets/app-12345678.js");
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, "let a=1");
  EXPECT_EQ(response.headers.get("Content-Type"), "text/javascript; charset=utf-8");
  EXPECT_EQ(response.headers.get("Cache-Control"), "public, max-age=31536000, immutable");
  EXPECT_EQ(response.headers.get("Vary"), "Accept-Encoding");
  EXPECT_FALSE(response.headers.has("Content-Encoding"));
}

TEST(StaticFiles, AppAddressesGetTheIndex) {
  for (const char* path : {"/", "/nodes", "/users/usr_1", "/index.html"}) {
    const Response response = get(path);
    EXPECT_EQ(response.status, 200) << path;
    EXPECT_EQ(response.body, "<html>");
    EXPECT_EQ(response.headers.get("Cache-Control"), "no-cache");
  }
}

TEST(StaticFiles, MissingFilesAreMissing) {
  for (const char* path : {"/favicon.ico", "/assets/app-old.js", "/nodes/x.y"})
    EXPECT_EQ(get(path).status, 404) << path;
  EXPECT_EQ(StaticFiles().serve(Request{}).status, 404);
}

TEST(StaticFiles, GzipOnlyWhenAskedFor) {
  const auto encoded = [](std::string accept) {
    return get("/assets/app-12345678.js", std::move(accept)).headers.get("Content-Encoding") == "gzip";
  };
  EXPECT_TRUE(encoded("gzip"));
  EXPECT_TRUE(encoded("br, GZIP;q=0.8"));
  EXPECT_TRUE(encoded("*"));
  EXPECT_FALSE(encoded("gzip;q=0"));
  EXPECT_FALSE(encoded("gzip; q=0.000"));
  EXPECT_FALSE(encoded("br"));
  EXPECT_FALSE(encoded("xgzip"));
  EXPECT_EQ(get("/assets/app-12345678.js", "gzip").body, "GZ");
  EXPECT_EQ(get("/", "gzip").body, "<html>") << "no gzip form";
}

TEST(StaticFiles, UnchangedIs304) {
  const std::string etag(get("/").headers.get("ETag"));
  for (const std::string& sent :
       {etag, std::string("\"x\", ") + etag, std::string("*"), std::string("\"i1\"")}) {
    const Response response = get("/", "", sent);
    EXPECT_EQ(response.status, 304) << sent;
    EXPECT_TRUE(response.body.empty());
    EXPECT_EQ(response.headers.get("ETag"), etag);
  }
  EXPECT_EQ(get("/", "", "\"i2\"").status, 200);
}

TEST(StaticFiles, EmbeddedHasAPage) {
  Request request;
  request.path = "/";
  const Response response = StaticFiles::embedded().serve(request);
  EXPECT_EQ(response.status, 200);
  EXPECT_NE(response.body.find("<html"), std::string::npos);
  EXPECT_EQ(response.headers.get("Content-Type"), "text/html; charset=utf-8");
}

}  // namespace
}  // namespace samovar::api
