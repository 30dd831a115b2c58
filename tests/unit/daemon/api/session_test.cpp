// Logging in and out, CSRF, idle and absolute ends, lock-out, re-authentication.
#include <gtest/gtest.h>

#include <set>

#include "tests/unit/daemon/api/box.hpp"

namespace samovar::api::test {
namespace {

using nlohmann::json;

json login_body(const std::string& password, const std::string& name = "ada") {
  return {{"username", name}, {"password", password}};
}

// The session of a log-in through the API.
As from_login(const Reply& reply) {
  As as;
  as.csrf = reply.body["csrf"].is_string() ? reply.body["csrf"].get<std::string>() : "";
  if (reply.body.contains("session_token")) {
    as.bearer = reply.body["session_token"];
    return as;
  }
  for (const auto& [name, value] : reply.response.headers.all()) {
    const std::string begin = std::string(kSessionCookie) + "=";
    if (name == "Set-Cookie" && value.rfind(begin, 0) == 0)
      as.cookie = value.substr(begin.size(), value.find(';') - begin.size());
  }
  return as;
}

TEST(Session, LoginSetsAStrictCookieAndSaysWhoYouAre) {
  Box box;
  const Reply reply = box.post("/api/v1/session", login_body(kPassword), {});
  ASSERT_EQ(reply.status, 200) << reply.response.body;
  EXPECT_EQ(reply.body["user"]["username"], "ada");
  EXPECT_EQ(reply.body["user"]["role"], "admin");
  EXPECT_EQ(reply.body["kind"], "cookie");
  EXPECT_FALSE(reply.body["reauth_until"].is_null());
  const std::string cookie = reply.header("Set-Cookie");
  for (const char* rule : {"__Host-samovar=", "HttpOnly", "Secure", "SameSite=Strict", "Path=/"})
    EXPECT_NE(cookie.find(rule), std::string::npos) << cookie;
  EXPECT_EQ(reply.response.body.find(from_login(reply).cookie), std::string::npos);
  EXPECT_EQ(box.get("/api/v1/session", from_login(reply)).status, 200);
}

TEST(Session, BearerLoginAnswersTheTokenAndNeedsNoCsrf) {
  Box box;
  json body = login_body(kPassword);
  body["transport"] = "bearer";
  const Reply reply = box.post("/api/v1/session", body, {});
  ASSERT_EQ(reply.status, 200);
  EXPECT_TRUE(reply.body["csrf"].is_null());
  EXPECT_EQ(reply.header("Set-Cookie"), "");
  As as = from_login(reply);
  EXPECT_EQ(box.send(Method::del, "/api/v1/session", nullptr, as).status, 204);
  EXPECT_EQ(box.get("/api/v1/session", as).status, 401);
}

TEST(Session, ABearerSecretIsNoCookie) {
  Box box;
  As as = box.log_in(box.admin, cluster::SessionKind::bearer);
  as.cookie = std::exchange(as.bearer, "");
  EXPECT_EQ(box.get("/api/v1/session", as).status, 401);
}

TEST(Session, WrongPasswordAndUnknownUserAnswerAlike) {
  Box box;
  const Reply wrong = box.post("/api/v1/session", login_body("not the password"), {});
  const Reply unknown = box.post("/api/v1/session", login_body("not the password", "nobody"), {});
  EXPECT_EQ(wrong.status, 401);
  EXPECT_EQ(wrong.code(), "wrong_credentials");
  EXPECT_EQ(wrong.response.body, unknown.response.body);
}

TEST(Session, TenFailuresLockOutEvenTheRightPassword) {
  Box box;
  As as;
  for (int i = 0; i < 10; ++i) {
    as.address = "192.168.7." + std::to_string(i);
    box.advance(std::chrono::minutes(10));  // past the short delays
    EXPECT_EQ(box.post("/api/v1/session", login_body("not the password"), as).status, 401) << i;
  }
  const Reply locked = box.post("/api/v1/session", login_body(kPassword), as);
  EXPECT_EQ(locked.status, 429);
  EXPECT_EQ(locked.code(), "locked_out");
  EXPECT_GT(std::stoi(locked.header("Retry-After")), 1000);
  box.advance(std::chrono::minutes(31));
  EXPECT_EQ(box.post("/api/v1/session", login_body(kPassword), as).status, 200);
}

TEST(Session, TheThirdFailureDelaysTheNextTry) {
  Box box;
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(box.post("/api/v1/session", login_body("not the password"), {}).status, 401);
  const Reply soon = box.post("/api/v1/session", login_body(kPassword), {});
  EXPECT_EQ(soon.status, 429);
  EXPECT_GE(std::stoi(soon.header("Retry-After")), 1);
}

TEST(Session, OneAddressMayTryThirtyTimesAMinute) {
  Box box;
  int refused = 0;
  for (int i = 0; i < 35; ++i) {
    const Reply reply =
        box.post("/api/v1/session", login_body("not the password", "name" + std::to_string(i)), {});
    if (reply.status == 429) ++refused;
  }
  EXPECT_EQ(refused, 5);
}

TEST(Session, EndsAfterFifteenIdleMinutes) {
  Box box;
  const As as = box.log_in(box.admin);
  box.advance(std::chrono::minutes(14));
  EXPECT_EQ(box.get("/api/v1/session", as).status, 200);
  box.settle();
  box.advance(std::chrono::minutes(14));  // the look above counted as activity
  EXPECT_EQ(box.get("/api/v1/session", as).status, 200);
  box.settle();
  box.advance(std::chrono::minutes(16));
  EXPECT_EQ(box.get("/api/v1/session", as).status, 401);
}

TEST(Session, EndsAfterTwelveHoursWhateverHappens) {
  Box box;
  const As as = box.log_in(box.admin);
  for (int i = 0; i < 71; ++i) {
    box.advance(std::chrono::minutes(10));
    ASSERT_EQ(box.get("/api/v1/session", as).status, 200) << i;
    box.settle();
  }
  box.advance(std::chrono::minutes(11));
  EXPECT_EQ(box.get("/api/v1/session", as).status, 401);
}

TEST(Session, BearerSessionsStayAnHourIdle) {
  Box box;
  const As as = box.log_in(box.admin, cluster::SessionKind::bearer);
  box.advance(std::chrono::minutes(50));
  EXPECT_EQ(box.get("/api/v1/session", as).status, 200);
  box.settle();
  box.advance(std::chrono::minutes(62));
  EXPECT_EQ(box.get("/api/v1/session", as).status, 401);
}

TEST(Session, IdleMinutesAreASetting) {
  Box box;
  As as = box.log_in(box.admin);
  as.headers["If-Match"] = box.get("/api/v1/settings/general", as).header("ETag");
  const json general = {{"login_banner", "Hello"}, {"idle_minutes", 5}};
  ASSERT_EQ(box.send(Method::put, "/api/v1/settings/general", general, as).status, 200);
  EXPECT_EQ(box.get("/api/v1/setup", {}).body["login_banner"], "Hello");
  box.advance(std::chrono::minutes(6));
  EXPECT_EQ(box.get("/api/v1/session", as).status, 401);
}

TEST(Session, AChangedRoleEndsTheSession) {
  Box box;
  const auto user = box.add_user("eve", cluster::Role::analyst);
  const As eve = box.log_in(user);
  As admin = box.log_in(box.admin);
  admin.headers["If-Match"] = box.get("/api/v1/users/" + user.id, admin).header("ETag");
  ASSERT_EQ(box.send(Method::patch, "/api/v1/users/" + user.id, {{"role", "viewer"}}, admin).status, 200);
  EXPECT_EQ(box.get("/api/v1/session", eve).status, 401);
}

TEST(Csrf, UnsafeRequestsNeedTheValueAndTheOrigin) {
  Box box;
  const json body = {{"password", kPassword}};
  const auto status = [&](const std::map<std::string, std::string>& headers, bool drop_csrf = false) {
    As as = box.log_in(box.admin);
    if (drop_csrf) as.csrf = "";
    as.headers = headers;
    const Reply reply = box.post("/api/v1/session:reauth", body, as);
    if (reply.status != 200) {
      EXPECT_EQ(reply.code(), "csrf");
    }
    return reply.status;
  };
  EXPECT_EQ(status({}), 200);
  EXPECT_EQ(status({{"Sec-Fetch-Site", ""}, {"Origin", "https://kettle.local:8443"}}), 200);
  EXPECT_EQ(status({}, true), 403);
  EXPECT_EQ(status({{"X-CSRF", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}}), 403);
  EXPECT_EQ(status({{"Sec-Fetch-Site", "cross-site"}}), 403);
  EXPECT_EQ(status({{"Sec-Fetch-Site", "same-site"}}), 403);
  EXPECT_EQ(status({{"Sec-Fetch-Site", ""}}), 403);
  EXPECT_EQ(status({{"Origin", "https://evil.example"}}), 403);
  EXPECT_EQ(status({{"Sec-Fetch-Site", ""}, {"Origin", "http://kettle.local:8443"}}), 403);
  EXPECT_EQ(status({{"Content-Type", "text/plain"}}), 403);
}

TEST(Csrf, OneSessionsValueDoesNotServeAnother) {
  Box box;
  As as = box.log_in(box.admin);
  as.csrf = box.log_in(box.admin).csrf;
  EXPECT_EQ(box.post("/api/v1/session:reauth", {{"password", kPassword}}, as).code(), "csrf");
}

TEST(Csrf, CrossSiteLoginIsRefused) {
  Box box;
  As as;
  as.headers["Sec-Fetch-Site"] = "cross-site";
  EXPECT_EQ(box.post("/api/v1/session", login_body(kPassword), as).code(), "csrf");
}

TEST(Reauth, ThePasswordOpensSensitiveActsForFiveMinutes) {
  Box box;
  const As as = box.log_in(box.admin);
  const json token = {{"name", "t"}, {"scopes", {"read"}}};
  box.advance(std::chrono::minutes(6));
  EXPECT_EQ(box.post("/api/v1/tokens", token, as).code(), "reauth_required");
  const Reply wrong = box.post("/api/v1/session:reauth", {{"password", "not the password"}}, as);
  EXPECT_EQ(wrong.status, 403);
  EXPECT_EQ(wrong.code(), "wrong_password");
  ASSERT_EQ(box.post("/api/v1/session:reauth", {{"password", kPassword}}, as).status, 200);
  EXPECT_EQ(box.post("/api/v1/tokens", token, as).status, 201);
}

TEST(Password, ChangeKeepsThisSessionAndEndsTheOthers) {
  Box box;
  const As here = box.log_in(box.admin);
  const As there = box.log_in(box.admin);
  const json weak = {{"current_password", kPassword}, {"new_password", "short"}};
  EXPECT_EQ(box.post("/api/v1/session:password", weak, here).body["errors"][0]["pointer"], "/new_password");
  const json good = {{"current_password", kPassword}, {"new_password", kOtherPassword}};
  ASSERT_EQ(box.post("/api/v1/session:password", good, here).status, 204);
  EXPECT_EQ(box.get("/api/v1/session", here).status, 200);
  EXPECT_EQ(box.get("/api/v1/session", there).status, 401);
  EXPECT_EQ(box.post("/api/v1/session", login_body(kPassword), {}).status, 401);
  EXPECT_EQ(box.post("/api/v1/session", login_body(kOtherPassword), {}).status, 200);
}

TEST(Credentials, InTheAddressAreRefused) {
  Box box;
  const std::string token = box.token_of(box.admin, {"read"});
  EXPECT_EQ(box.get("/api/v1/nodes?token=" + token, {}).status, 400);
  EXPECT_EQ(box.get("/api/v1/nodes?x=" + token, {}).code(), "token_in_url");
}

TEST(Setup, ChecksTheCodeWithAGrowingDelayAndListsEveryProblem) {
  Box box;
  box.node.current = Phase::fresh;
  EXPECT_EQ(box.post("/api/v1/setup:check", {{"code", "K7Q2-M4XP"}}, {}).status, 204);
  const json bad = {{"code", "K7Q2-M4XP"},
                    {"box_name", ""},
                    {"time_zone", "Mars/Olympus"},
                    {"admin", {{"username", "Ada L"}, {"password", "short"}, {"extra", 1}}},
                    {"unlock", {{"mode", "magic"}}}};
  const Reply reply = box.post("/api/v1/setup", bad, {});
  EXPECT_EQ(reply.status, 422);
  std::set<std::string> pointers;
  for (const auto& error : reply.body["errors"]) pointers.insert(error["pointer"]);
  EXPECT_EQ(pointers, (std::set<std::string>{"/box_name", "/time_zone", "/admin/username", "/admin/password",
                                             "/admin/extra", "/unlock/mode"}));
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(box.post("/api/v1/setup:check", {{"code", "WRONG"}}, {}).code(), "wrong_setup_code");
  const Reply wait = box.post("/api/v1/setup:check", {{"code", "K7Q2-M4XP"}}, {});
  EXPECT_EQ(wait.status, 429);
  EXPECT_EQ(wait.header("Retry-After"), "1");
  box.advance(std::chrono::seconds(2));
  EXPECT_EQ(box.post("/api/v1/setup:check", {{"code", "K7Q2-M4XP"}}, {}).status, 204);
}

TEST(Setup, IsDoneOnce) {
  Box box;
  EXPECT_EQ(box.post("/api/v1/setup:check", {{"code", "K7Q2-M4XP"}}, {}).code(), "already_set_up");
  EXPECT_EQ(box.post("/api/v1/setup", json::object(), {}).code(), "already_set_up");
}

TEST(Unlock, TakesTheRightPassphraseOnly) {
  Box box;
  box.node.current = Phase::locked;
  EXPECT_EQ(box.get("/readyz", {}).status, 503);
  EXPECT_EQ(box.post("/api/v1/unlock", {{"passphrase", "wrong"}}, {}).code(), "wrong_passphrase");
  EXPECT_EQ(box.post("/api/v1/unlock", {{"passphrase", "seven quiet birches stand"}}, {}).status, 204);
  EXPECT_EQ(box.get("/readyz", {}).status, 200);
  EXPECT_EQ(box.post("/api/v1/unlock", {{"passphrase", "x"}}, {}).code(), "not_locked");
}

}  // namespace
}  // namespace samovar::api::test
