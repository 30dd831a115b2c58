// The small parts: strict JSON, address ranges, time zones, brakes on guessing, problem details.
#include <gtest/gtest.h>

#include "base/disk.hpp"
#include "base/ids.hpp"
#include "base/json.hpp"
#include "daemon/api/attempts.hpp"
#include "daemon/api/cidr.hpp"
#include "daemon/api/json_body.hpp"
#include "daemon/api/problem.hpp"
#include "daemon/api/time_zone.hpp"

namespace samovar::api {
namespace {

using std::chrono::seconds;

TEST(ParseJson, TakesWhatRfc8259SaysAndNothingElse) {
  EXPECT_TRUE(parse_json("{\"a\":[1,2,{\"b\":null}]}"));
  for (const char* bad :
       {"", "{", "{} x", "{'a':1}", "[1,]", "// c\n{}", "\xff", "\"\xc3\x28\"", "NaN", "01"})
    EXPECT_FALSE(parse_json(bad)) << bad;
}

TEST(ParseJson, BoundsDepthAndRefusesAKeyTwice) {
  const auto nested = [](unsigned depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_TRUE(parse_json(nested(32)));
  EXPECT_FALSE(parse_json(nested(33)));
  EXPECT_FALSE(parse_json(std::string(500000, '[')));
  EXPECT_TRUE(parse_json("[\"" + std::string(100, '[') + "\\\"" + std::string(100, '[') + "\"]"));
  EXPECT_FALSE(parse_json("{\"a\":1,\"a\":2}"));
  EXPECT_TRUE(parse_json("{\"a\":{\"a\":1},\"b\":{\"a\":1}}"));
}

TEST(ParseJson, MessagesNeverRepeatTheInput) {
  const auto bad = parse_json("{\"password\":\"hunter2hunter2\" oops");
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().message().find("hunter2"), std::string::npos);
}

TEST(Fields, CollectsEveryProblemWithItsPointer) {
  auto body = parse_json("{\"a\":1,\"b\":\"\",\"c\":true,\"x/y\":1,\"n\":99}").value();
  std::vector<FieldError> errors;
  Fields fields(body, "", errors);
  EXPECT_FALSE(fields.text("a", Need::required));
  EXPECT_FALSE(fields.text("b", Need::required, {1, 10, false}));
  EXPECT_TRUE(fields.flag("c", Need::required));
  EXPECT_FALSE(fields.integer("n", Need::required, 1, 10));
  EXPECT_FALSE(fields.text("missing", Need::required));
  EXPECT_FALSE(fields.text("absent", Need::optional));
  fields.finish();
  std::vector<std::string> seen;
  for (const auto& error : errors) seen.push_back(error.pointer + " " + error.code);
  EXPECT_EQ(seen, (std::vector<std::string>{"/a type", "/b too_short", "/n range", "/missing required",
                                            "/x~1y unknown"}));
}

TEST(Cidr, NormalisesAndContains) {
  EXPECT_EQ(parse_cidr("192.168.7.0/24").value(), "192.168.7.0/24");
  EXPECT_EQ(parse_cidr("10.1.2.3").value(), "10.1.2.3/32");
  EXPECT_EQ(parse_cidr("FD00::/8").value(), "fd00::/8");
  for (const char* bad :
       {"", "x", "192.168.7.1/24", "1.2.3.4/33", "1.2.3.4/", "1.2.3.4/+8", "::/129", "1.2.3/8"})
    EXPECT_FALSE(parse_cidr(bad)) << bad;
  EXPECT_TRUE(cidr_contains("192.168.7.0/24", "192.168.7.255"));
  EXPECT_TRUE(cidr_contains("192.168.7.0/24", "::ffff:192.168.7.1"));
  EXPECT_FALSE(cidr_contains("192.168.7.0/24", "192.168.8.0"));
  EXPECT_FALSE(cidr_contains("192.168.7.0/24", "::1"));
  EXPECT_TRUE(cidr_contains("0.0.0.0/0", "8.8.8.8"));
  EXPECT_TRUE(cidr_contains("fe80::/10", "fe80::1%eth0"));
}

TEST(TimeZone, KnowsSummerAndWinter) {
  if (!real_disk().exists("/usr/share/zoneinfo/Europe/Berlin")) GTEST_SKIP() << "no tz database here";
  const auto at = [](const char* text) { return parse_time(text).value(); };
  EXPECT_EQ(zone_offset("Europe/Berlin", at("2026-01-15T12:00:00Z")), seconds(3600));
  EXPECT_EQ(zone_offset("Europe/Berlin", at("2026-07-15T12:00:00Z")), seconds(7200));
  EXPECT_EQ(zone_offset("Asia/Kolkata", at("2026-07-15T12:00:00Z")), seconds(19800));
  EXPECT_EQ(format_time(local_midnight("Europe/Berlin", at("2026-07-15T23:30:00Z"))),
            "2026-07-15T22:00:00.000000Z");
  // The clocks went forward at 01:00 UTC: midnight was still winter time.
  EXPECT_EQ(format_time(local_midnight("Europe/Berlin", at("2026-03-29T12:00:00Z"))),
            "2026-03-28T23:00:00.000000Z");
  EXPECT_TRUE(zone_known("Europe/Berlin"));
  EXPECT_FALSE(zone_known("Mars/Olympus"));
}

TEST(TimeZone, RefusesWhatIsNoName) {
  for (const char* bad : {"", "../etc/passwd", "/etc/passwd", "Europe//Berlin", "Europe/", "a b", "x.y"})
    EXPECT_FALSE(zone_name_valid(bad)) << bad;
  EXPECT_FALSE(tzif_offset(as_bytes("TZif"), 0));
  EXPECT_FALSE(tzif_offset(as_bytes(std::string("TZif2") + std::string(60, '\xff')), 0));
}

TEST(Attempts, CountPerKeyAndWindow) {
  Attempts attempts({2, seconds(10)});
  EXPECT_EQ(attempts.take("a", seconds(100)), Duration::zero());
  EXPECT_EQ(attempts.take("a", seconds(101)), Duration::zero());
  EXPECT_EQ(attempts.take("a", seconds(102)), seconds(8));
  EXPECT_EQ(attempts.take("b", seconds(102)), Duration::zero());
  EXPECT_EQ(attempts.take("a", seconds(110)), Duration::zero());
}

TEST(Backoff, GrowsToAMinuteAndNeverLocks) {
  Backoff backoff;
  MonoTime now = seconds(1);
  for (unsigned i = 0; i < Backoff::kFree - 1; ++i) backoff.failed(now);
  EXPECT_EQ(backoff.wait(now), Duration::zero());
  Duration last{};
  for (int i = 0; i < 12; ++i) {
    backoff.failed(now);
    EXPECT_GE(backoff.wait(now), last);
    last = backoff.wait(now);
    now += last;
    EXPECT_EQ(backoff.wait(now), Duration::zero());
  }
  EXPECT_EQ(last, Backoff::kDelayMax);
}

TEST(Problem, HidesInnerReasonsAndKeepsOuterOnes) {
  Request request;
  request.path = "/x";
  request.trace_id = "t1";
  const Response inner = problem_from(Error{Errc::io, "/var/lib/samovar/secret"}, request);
  EXPECT_EQ(inner.status, 500);
  EXPECT_EQ(inner.body.find("secret"), std::string::npos);
  EXPECT_NE(inner.body.find("t1"), std::string::npos);
  const Response full = problem_from(Error{Errc::no_space, "free some space"}, request);
  EXPECT_EQ(full.status, 507);
  EXPECT_NE(full.body.find("\"code\":\"disk_full\""), std::string::npos);
  EXPECT_NE(full.body.find("free some space"), std::string::npos);
}

}  // namespace
}  // namespace samovar::api
