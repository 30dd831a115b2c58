#include "daemon/api/request_head.hpp"

#include <gtest/gtest.h>

namespace samovar::api {
namespace {

RequestHead with_target(std::string target) {
  RequestHead head;
  head.target = std::move(target);
  return head;
}

TEST(DecodeTarget, DecodesPathAndQuery) {
  RequestHead head = with_target("/a%20b/gr%C3%BC?x=1+2&y=%26&flag&=z&&x=3");
  ASSERT_FALSE(decode_target(head));
  EXPECT_EQ(head.path, "/a b/gr\xc3\xbc");
  const std::vector<std::pair<std::string, std::string>> expected = {
      {"x", "1 2"}, {"y", "&"}, {"flag", ""}, {"", "z"}, {"x", "3"}};
  EXPECT_EQ(head.query, expected);
}

TEST(DecodeTarget, RefusesWhatCouldMeanAnotherFile) {
  for (const char* target :
       {"",          "a",         "*",       "http://x/", "/../etc/passwd", "/a/..",   "/a/../b",
        "/a/./b",    "/%2e%2e/x", "/.%2E/x", "/a%2fb",    "/a%5cb",         "/a\\b",   "/a%00b",
        "/a%0ab",    "/a%7f",     "/%",      "/%2",       "/%zz",           "/a#b",    "/a b",
        "/\xc3\xbc", "/%c0%af",   "/%ff",    "/?a=%00",   "/?a=%",          "/?a=%ff", "/\"",
        "/<x>"}) {
    RequestHead head = with_target(target);
    const auto refusal = decode_target(head);
    ASSERT_TRUE(refusal) << target;
    EXPECT_EQ(refusal->status, 400) << target;
  }
}

TEST(DecodeTarget, TakesHarmlessDots) {
  for (const char* target : {"/...", "/a..b", "/.well-known/x", "/a.", "/a/.b"}) {
    RequestHead head = with_target(target);
    EXPECT_FALSE(decode_target(head)) << target;
    EXPECT_EQ(head.path, target);
  }
}

TEST(DecodeTarget, BoundsTheNumberOfParameters) {
  std::string target = "/?";
  for (int i = 0; i < 64; ++i) target += "a=1&";
  RequestHead fits = with_target(target);
  EXPECT_FALSE(decode_target(fits));
  RequestHead over = with_target(target + "a=1");
  EXPECT_TRUE(decode_target(over));
}

RequestHead with_hosts(std::vector<std::string> hosts) {
  RequestHead head;
  for (auto& host : hosts) head.headers.add("Host", std::move(host));
  return head;
}

TEST(DecodeHost, TakesNamesAndAddresses) {
  const std::pair<const char*, const char*> good[] = {
      {"box", "box"},           {"Box.Local:8443", "box.local"}, {"box.", "box"},
      {"10.0.0.5", "10.0.0.5"}, {"[::1]:8443", "[::1]"},         {"[fe80::1]", "[fe80::1]"},
  };
  for (const auto& [sent, host] : good) {
    RequestHead head = with_hosts({sent});
    EXPECT_FALSE(decode_host(head)) << sent;
    EXPECT_EQ(head.host, host);
  }
}

TEST(DecodeHost, RefusesAnythingElse) {
  for (const char* sent : {"",     ":",      ":80",    "a:",    "a:0",      "a:65536", "a:8x",     "a:80:80",
                           "[::1", "[::1]x", "[::1]:", "[box]", "[]",       "a b",     "user@box", "a/b",
                           "a,b",  ".a",     "-a",     "a..b",  "\xc3\xbc", "a:+80"}) {
    RequestHead head = with_hosts({sent});
    EXPECT_TRUE(decode_host(head)) << sent;
  }
  RequestHead none = with_hosts({});
  EXPECT_TRUE(decode_host(none));
  RequestHead two = with_hosts({"a", "a"});
  EXPECT_TRUE(decode_host(two));
}

TEST(HostNames, AllowsTheBoxAndNothingForeign) {
  const HostNames names("Kitchen.lan", {"Samovar.Example"});
  for (const char* host : {"localhost", "kitchen.lan", "kitchen", "kitchen.local", "samovar.example",
                           "192.168.1.7", "[::1]", "127.0.0.1"}) {
    EXPECT_TRUE(names.allows(host)) << host;
  }
  for (const char* host :
       {"evil.example", "kitchen.lan.evil.example", "local", "", "192.168.1.7.nip.io", "1.2.3"}) {
    EXPECT_FALSE(names.allows(host)) << host;
  }
}

RequestHead with_fields(std::vector<std::pair<std::string, std::string>> fields) {
  RequestHead head;
  for (auto& [name, value] : fields) head.headers.add(name, value);
  return head;
}

TEST(DecodeFraming, KnowsTheThreeKinds) {
  RequestHead none;
  EXPECT_FALSE(decode_framing(none, 1));
  EXPECT_EQ(none.framing, Framing::none);
  RequestHead length = with_fields({{"content-length", "42"}});
  EXPECT_FALSE(decode_framing(length, 1));
  EXPECT_EQ(length.framing, Framing::length);
  EXPECT_EQ(length.content_length, 42U);
  RequestHead chunked = with_fields({{"Transfer-Encoding", "Chunked"}});
  EXPECT_FALSE(decode_framing(chunked, 1));
  EXPECT_EQ(chunked.framing, Framing::chunked);
}

TEST(DecodeFraming, RefusesEveryDoubtAboutTheLength) {
  const std::vector<std::pair<std::string, std::string>> cases[] = {
      {{"Content-Length", "1"}, {"Transfer-Encoding", "chunked"}},
      {{"Content-Length", "1"}, {"content-length", "1"}},
      {{"Content-Length", "1"}, {"Content-Length", "2"}},
      {{"Content-Length", "1, 1"}},
      {{"Content-Length", "-1"}},
      {{"Content-Length", "+1"}},
      {{"Content-Length", "0x10"}},
      {{"Content-Length",
        "1 "
        "2"}},
      {{"Content-Length", ""}},
      {{"Content-Length", "9999999999999999999"}},
      {{"Transfer-Encoding", "chunked"}, {"Transfer-Encoding", "chunked"}},
  };
  for (const auto& fields : cases) {
    RequestHead head = with_fields(fields);
    const auto refusal = decode_framing(head, 1);
    ASSERT_TRUE(refusal) << fields[0].second;
    EXPECT_EQ(refusal->status, 400);
  }
  for (const char* coding : {"gzip, chunked", "chunked, identity", "xchunked", "identity", ""}) {
    RequestHead head = with_fields({{"Transfer-Encoding", coding}});
    ASSERT_TRUE(decode_framing(head, 1)) << coding;
  }
  RequestHead old = with_fields({{"Transfer-Encoding", "chunked"}});
  EXPECT_TRUE(decode_framing(old, 0)) << "HTTP/1.0 knows no chunks";
}

TEST(DecodeFraming, KeepAliveFollowsVersionAndWish) {
  const auto keeps = [](int minor, const char* connection) {
    RequestHead head = with_fields({{"Connection", connection}});
    EXPECT_FALSE(decode_framing(head, minor));
    return head.keep_alive;
  };
  EXPECT_TRUE(keeps(1, ""));
  EXPECT_FALSE(keeps(1, "close"));
  EXPECT_FALSE(keeps(1, "keep-alive, Close"));
  EXPECT_FALSE(keeps(0, ""));
  EXPECT_TRUE(keeps(0, "Keep-Alive"));
}

TEST(DecodeFraming, OnlyContinueMayBeExpected) {
  RequestHead fine = with_fields({{"Expect", "100-Continue"}});
  EXPECT_FALSE(decode_framing(fine, 1));
  EXPECT_TRUE(fine.expects_continue);
  RequestHead odd = with_fields({{"Expect", "tea"}});
  const auto refusal = decode_framing(odd, 1);
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->status, 417);
}

int raw_status(const std::string& head, const Limits& limits = {}) {
  const auto refusal = check_raw_head(head, limits);
  return refusal ? refusal->status : 0;
}

TEST(CheckRawHead, TakesAnOrdinaryHead) {
  EXPECT_EQ(raw_status("GET / HTTP/1.1\r\nHost: a\r\nX:\r\nY: a\tb\r\n\r\n"), 0);
}

TEST(CheckRawHead, RefusesAmbiguousBytes) {
  const std::string heads[] = {
      "GET / HTTP/1.1\r\nHost: a\r\n b\r\n\r\n",            // obs-fold
      "GET / HTTP/1.1\r\nHost: a\r\n\tb\r\n\r\n",           // obs-fold by tab
      "GET / HTTP/1.1\r\n Host: a\r\n\r\n",                 // fold right after the request line
      "GET / HTTP/1.1\r\nHost : a\r\n\r\n",                 // space before the colon
      "GET / HTTP/1.1\r\n: a\r\n\r\n",                      // no name
      "GET / HTTP/1.1\r\nHost\r\n\r\n",                     // no colon
      "GET / HTTP/1.1\nHost: a\r\n\r\n",                    // bare LF
      "GET / HTTP/1.1\r\nA: b\rC: d\r\n\r\n",               // bare CR
      std::string("GET / HTTP/1.1\r\nA: \0b\r\n\r\n", 26),  // NUL
      "\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",              // empty line first
      "GET / HTTP/1.1\r\nHost: a\r\n",                      // no end
      "GET / HTTP/1.1\r\n\r\nrest\r\n\r\n",                 // more than a head
      "",
  };
  for (const std::string& head : heads) EXPECT_EQ(raw_status(head), 400) << head;
}

TEST(CheckRawHead, BoundsSizesAndCounts) {
  Limits limits;
  std::string head = "GET / HTTP/1.1\r\n";
  for (std::size_t i = 0; i < limits.header_fields_max; ++i) head += "A: b\r\n";
  EXPECT_EQ(raw_status(head + "\r\n"), 0);
  EXPECT_EQ(raw_status(head + "A: b\r\n\r\n"), 431);
  EXPECT_EQ(raw_status("GET / HTTP/1.1\r\nA: " + std::string(limits.header_bytes_max, 'x') + "\r\n\r\n"),
            431);
  const std::string line = "GET /" + std::string(limits.request_line_bytes_max - 14, 'x') + " HTTP/1.1";
  ASSERT_EQ(line.size(), limits.request_line_bytes_max);
  EXPECT_EQ(raw_status(line + "\r\n\r\n"), 0);
  EXPECT_EQ(raw_status("x" + line + "\r\n\r\n"), 414);
}

TEST(CheckPartialHead, RefusesAsSoonAsItIsHopeless) {
  Limits limits;
  const auto status = [&](const std::string& bytes) {
    const auto refusal = check_partial_head(bytes, limits);
    return refusal ? refusal->status : 0;
  };
  EXPECT_EQ(status(""), 0);
  EXPECT_EQ(status("GET / HTTP/1.1\r\nHost: a"), 0);
  EXPECT_EQ(status("GET / HTTP/1.1\nHost: a\n\n"), 400);
  EXPECT_EQ(status(std::string(limits.request_line_bytes_max, 'x')), 0);
  EXPECT_EQ(status(std::string(limits.request_line_bytes_max + 2, 'x')), 414);
  EXPECT_EQ(status("GET / HTTP/1.1\r\n" + std::string(limits.header_bytes_max, 'x')), 431);
}

}  // namespace
}  // namespace samovar::api
