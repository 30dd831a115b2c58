// Users, tokens, sessions, settings, audit: the rules of each object through the API.
#include <gtest/gtest.h>

#include <set>

#include "base/ids.hpp"
#include "tests/unit/daemon/api/box.hpp"

namespace samovar::api::test {
namespace {

using nlohmann::json;

json new_user(const std::string& name, const std::string& role = "viewer") {
  return {{"username", name}, {"display_name", "N"}, {"role", role}, {"password", kPassword}};
}

TEST(Users, ACreatedUserHasAnEtagAndCanLogIn) {
  Box box;
  As admin = box.log_in(box.admin);
  const auto before = box.audit_count("user.create");
  const Reply made = box.post("/api/v1/users", new_user("eve"), admin);
  ASSERT_EQ(made.status, 201) << made.response.body;
  EXPECT_EQ(made.header("Location"), "/api/v1/users/" + made.body["id"].get<std::string>());
  EXPECT_EQ(made.header("ETag"), made.body["etag"]);
  EXPECT_EQ(made.response.body.find("smvpw"), std::string::npos);
  EXPECT_EQ(box.post("/api/v1/session", {{"username", "eve"}, {"password", kPassword}}, {}).status, 200);
  EXPECT_EQ(box.audit_count("user.create"), before + 1);
  const Reply twice = box.post("/api/v1/users", new_user("eve"), admin);
  EXPECT_EQ(twice.status, 409);
  EXPECT_EQ(twice.code(), "name_taken");
}

TEST(Users, UnknownFieldsAndEveryProblemAreNamed) {
  Box box;
  const json bad = {{"username", "Eve Adams"}, {"role", "king"}, {"password", "short"}, {"admin", true}};
  const Reply reply = box.post("/api/v1/users", bad, box.log_in(box.admin));
  EXPECT_EQ(reply.status, 422);
  EXPECT_EQ(reply.code(), "validation");
  std::set<std::string> pointers;
  for (const auto& error : reply.body["errors"]) pointers.insert(error["pointer"]);
  EXPECT_EQ(pointers, (std::set<std::string>{"/username", "/role", "/password", "/admin"}));
}

TEST(Users, ChangesNeedTheCurrentEtag) {
  Box box;
  const auto user = box.add_user("eve", cluster::Role::viewer);
  As admin = box.log_in(box.admin);
  const std::string path = "/api/v1/users/" + user.id;
  EXPECT_EQ(box.send(Method::patch, path, {{"display_name", "E"}}, admin).status, 428);
  admin.headers["If-Match"] = box.get(path, admin).header("ETag");
  EXPECT_EQ(box.send(Method::patch, path, {{"display_name", "E"}}, admin).status, 200);
  const Reply stale = box.send(Method::patch, path, {{"display_name", "F"}}, admin);
  EXPECT_EQ(stale.status, 412);
  EXPECT_EQ(box.get(path, admin).body["display_name"], "E");
}

TEST(Users, TheLastAdministratorStays) {
  Box box;
  As admin = box.log_in(box.admin);
  const std::string path = "/api/v1/users/" + box.admin.id;
  admin.headers["If-Match"] = "*";
  EXPECT_EQ(box.send(Method::patch, path, {{"role", "viewer"}}, admin).status, 409);
  EXPECT_EQ(box.send(Method::patch, path, {{"disabled", true}}, admin).status, 409);
  EXPECT_EQ(box.send(Method::del, path, nullptr, admin).status, 409);
  EXPECT_EQ(box.get("/api/v1/session", admin).status, 200);
}

TEST(Users, NobodyClimbs) {
  Box box;
  const auto user = box.add_user("eve", cluster::Role::analyst);
  As eve = box.log_in(user);
  eve.headers["If-Match"] = "*";
  EXPECT_EQ(box.send(Method::patch, "/api/v1/users/" + user.id, {{"role", "admin"}}, eve).status, 403);
  EXPECT_EQ(box.send(Method::patch, "/api/v1/users/" + user.id, {{"display_name", "Eve"}}, eve).status, 200);
  EXPECT_EQ(box.send(Method::patch, "/api/v1/users/" + box.admin.id, {{"display_name", "x"}}, eve).status,
            404);
  EXPECT_EQ(box.get("/api/v1/users/" + box.admin.id, eve).status, 404);
  EXPECT_EQ(box.get("/api/v1/tokens?all=true", eve).status, 403);
}

TEST(Users, SetPasswordEndsTheirSessionsAndUnlockEndsALockOut) {
  Box box;
  const auto user = box.add_user("eve", cluster::Role::viewer);
  const As eve = box.log_in(user);
  const As admin = box.log_in(box.admin);
  ASSERT_EQ(
      box.post("/api/v1/users/" + user.id + ":set-password", {{"password", kOtherPassword}}, admin).status,
      204);
  EXPECT_EQ(box.get("/api/v1/session", eve).status, 401);
  const json wrong = {{"username", "eve"}, {"password", "not the password"}};
  for (int i = 0; i < 3; ++i) box.post("/api/v1/session", wrong, {});
  EXPECT_EQ(box.post("/api/v1/session", wrong, {}).status, 429);
  ASSERT_EQ(box.post("/api/v1/users/" + user.id + ":unlock", nullptr, admin).status, 204);
  EXPECT_EQ(box.post("/api/v1/session", {{"username", "eve"}, {"password", kOtherPassword}}, {}).status, 200);
}

TEST(Users, ListsArePaged) {
  Box box;
  for (int i = 0; i < 5; ++i) box.add_user("user" + std::to_string(i), cluster::Role::viewer);
  const As admin = box.log_in(box.admin);
  std::set<std::string> names;
  std::string cursor;
  int pages = 0;
  do {
    const Reply page = box.get("/api/v1/users?limit=2" + (cursor.empty() ? "" : "&cursor=" + cursor), admin);
    ASSERT_EQ(page.status, 200);
    for (const auto& user : page.body["items"]) EXPECT_TRUE(names.insert(user["username"]).second);
    cursor = page.body["next_cursor"].is_null() ? "" : page.body["next_cursor"].get<std::string>();
    ASSERT_LT(++pages, 10);
  } while (!cursor.empty());
  EXPECT_EQ(names.size(), 6u);
  EXPECT_EQ(box.get("/api/v1/users?limit=0", admin).status, 400);
  EXPECT_EQ(box.get("/api/v1/users?limit=201", admin).status, 400);
}

TEST(Idempotency, ARepeatAnswersTheSameAndActsOnce) {
  Box box;
  As admin = box.log_in(box.admin);
  admin.headers["Idempotency-Key"] = "key-0000-0001";
  const auto before = box.audit_count("user.create");
  const Reply first = box.post("/api/v1/users", new_user("eve"), admin);
  const Reply again = box.post("/api/v1/users", new_user("eve"), admin);
  ASSERT_EQ(first.status, 201);
  EXPECT_EQ(again.status, 201);
  EXPECT_EQ(again.body, first.body);
  EXPECT_EQ(again.header("Idempotency-Replayed"), "true");
  EXPECT_EQ(box.audit_count("user.create"), before + 1);
  const Reply other = box.post("/api/v1/users", new_user("mallory"), admin);
  EXPECT_EQ(other.status, 422);
  EXPECT_EQ(other.code(), "idempotency_key_reused");
  box.advance(std::chrono::hours(25));
  As later = box.log_in(box.admin);
  later.headers = admin.headers;
  EXPECT_EQ(box.post("/api/v1/users", new_user("mallory"), later).header("Idempotency-Replayed"), "");
}

TEST(Idempotency, ATokenIsShownOnceOnly) {
  Box box;
  As admin = box.log_in(box.admin);
  admin.headers["Idempotency-Key"] = "key-0000-0002";
  const json body = {{"name", "ci"}, {"scopes", {"read"}}};
  const Reply first = box.post("/api/v1/tokens", body, admin);
  ASSERT_EQ(first.status, 201);
  const Reply again = box.post("/api/v1/tokens", body, admin);
  EXPECT_EQ(again.body["id"], first.body["id"]);
  EXPECT_TRUE(first.body.contains("token"));
  EXPECT_FALSE(again.body.contains("token"));
}

TEST(Tokens, WorkFromTheirRangeUntilTheyEnd) {
  Box box;
  const As admin = box.log_in(box.admin);
  const json body = {{"name", "ci"}, {"scopes", {"read"}}, {"expires_days", 2}, {"cidr", "192.168.7.0/24"}};
  const Reply made = box.post("/api/v1/tokens", body, admin);
  ASSERT_EQ(made.status, 201) << made.response.body;
  As token;
  token.bearer = made.body["token"];
  EXPECT_EQ(token.bearer.rfind("smv_", 0), 0u);
  EXPECT_EQ(box.get("/api/v1/nodes", token).status, 200);
  token.address = "::ffff:192.168.7.200";
  EXPECT_EQ(box.get("/api/v1/nodes", token).status, 200);
  token.address = "192.168.8.1";
  EXPECT_EQ(box.get("/api/v1/nodes", token).code(), "wrong_address");
  token.address = "192.168.7.1";
  box.advance(std::chrono::hours(49));
  EXPECT_EQ(box.get("/api/v1/nodes", token).status, 401);
}

TEST(Tokens, AreGoneOnceRevokedAndBelongToTheirMaker) {
  Box box;
  const auto user = box.add_user("eve", cluster::Role::viewer);
  As token;
  token.bearer = box.token_of(user, {"read"});
  const As admin = box.log_in(box.admin);
  const As other = box.log_in_as(cluster::Role::analyst);
  EXPECT_EQ(box.get("/api/v1/tokens", admin).body["items"].size(), 0u);
  const json all = box.get("/api/v1/tokens?all=true", admin).body["items"];
  ASSERT_EQ(all.size(), 1u);
  const std::string path = "/api/v1/tokens/" + all[0]["id"].get<std::string>();
  EXPECT_EQ(box.send(Method::del, path, nullptr, other).status, 404);
  EXPECT_EQ(box.get("/api/v1/nodes", token).status, 200);
  EXPECT_EQ(box.send(Method::del, path, nullptr, admin).status, 204);
  EXPECT_EQ(box.get("/api/v1/nodes", token).status, 401);
}

TEST(Tokens, RefuseWhatMakesNoSense) {
  Box box;
  const As admin = box.log_in(box.admin);
  const auto pointer = [&](const json& body) {
    const Reply reply = box.post("/api/v1/tokens", body, admin);
    EXPECT_EQ(reply.status, 422) << body;
    return reply.body["errors"][0]["pointer"].get<std::string>();
  };
  EXPECT_EQ(pointer({{"name", "t"}, {"scopes", {"root"}}}), "/scopes");
  EXPECT_EQ(pointer({{"name", "t"}, {"scopes", json::array()}}), "/scopes");
  EXPECT_EQ(pointer({{"name", "t"}, {"scopes", {"read"}}, {"expires_days", 366}}), "/expires_days");
  EXPECT_EQ(pointer({{"name", "t"}, {"scopes", {"read"}}, {"cidr", "192.168.7.1/24"}}), "/cidr");
  As broken;
  broken.bearer = box.token_of(box.admin, {"read"});
  broken.bearer.back() = broken.bearer.back() == '0' ? '1' : '0';
  EXPECT_EQ(box.get("/api/v1/nodes", broken).status, 401);
}

TEST(Sessions, ThoseOfOthersNeedAnAdministratorWithAFreshPassword) {
  Box box;
  const auto user = box.add_user("eve", cluster::Role::viewer);
  const As eve = box.log_in(user);
  const As admin = box.log_in(box.admin);
  const As other = box.log_in_as(cluster::Role::analyst);
  const std::string path =
      "/api/v1/sessions/" + box.get("/api/v1/session", eve).body["id"].get<std::string>();
  EXPECT_EQ(box.send(Method::del, path, nullptr, other).status, 404);
  box.advance(std::chrono::minutes(6));
  EXPECT_EQ(box.send(Method::del, path, nullptr, admin).code(), "reauth_required");
  ASSERT_EQ(box.post("/api/v1/session:reauth", {{"password", kPassword}}, admin).status, 200);
  EXPECT_EQ(box.send(Method::del, path, nullptr, admin).status, 204);
  EXPECT_EQ(box.get("/api/v1/session", eve).status, 401);
}

TEST(Cluster, IsRenamedWithTheRightEtag) {
  Box box;
  As admin = box.log_in(box.admin);
  EXPECT_EQ(box.send(Method::patch, "/api/v1/cluster", {{"name", "Pot"}}, admin).code(), "if_match_required");
  admin.headers["If-Match"] = box.get("/api/v1/cluster", admin).header("ETag");
  const Reply renamed = box.send(Method::patch, "/api/v1/cluster", {{"name", "Pot"}}, admin);
  ASSERT_EQ(renamed.status, 200) << renamed.response.body;
  EXPECT_EQ(renamed.body["name"], "Pot");
  EXPECT_EQ(box.send(Method::patch, "/api/v1/cluster", {{"name", "Pan"}}, admin).status, 412);
  admin.headers["If-Match"] = "*";
  EXPECT_EQ(box.send(Method::patch, "/api/v1/cluster", {{"time_zone", "../etc/passwd"}}, admin).status, 422);
}

TEST(Settings, OnlyTheDocumentsForPeopleAreReachable) {
  Box box;
  const As admin = box.log_in(box.admin);
  EXPECT_EQ(box.get("/api/v1/settings/cluster_ca", admin).status, 404);
  EXPECT_EQ(box.get("/api/v1/settings/tls", admin).body["fingerprint_sha256"], "AB:CD");
}

TEST(Audit, RecordsRefusalsAndVerifies) {
  Box box;
  const As viewer = box.log_in_as(cluster::Role::viewer);
  EXPECT_EQ(box.get("/api/v1/users", viewer).status, 403);
  const As admin = box.log_in(box.admin);
  const json found = box.get("/api/v1/audit?action=access.denied", admin).body["items"];
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0]["object"], "GET /api/v1/users");
  const Reply verdict = box.post("/api/v1/audit:verify", nullptr, admin);
  EXPECT_TRUE(verdict.body["ok"]) << verdict.response.body;
  EXPECT_GT(verdict.body["entries"], 3);
}

TEST(Audit, AnAnalystSeesOwnEntriesAndAnAuditorExports) {
  Box box;
  const auto user = box.add_user("eve", cluster::Role::analyst);
  const As eve = box.log_in(user);
  const Reply own = box.get("/api/v1/audit?actor=ada", eve);
  for (const auto& entry : own.body["items"]) EXPECT_EQ(entry["actor"], "eve");
  const As auditor = box.log_in_as(cluster::Role::auditor);
  const Reply dump = box.get("/api/v1/audit/export", auditor);
  ASSERT_EQ(dump.status, 200);
  EXPECT_EQ(dump.header("Content-Type"), "application/x-ndjson");
  std::uint64_t expected = 1;
  std::string rest = dump.response.body;
  while (!rest.empty()) {
    const auto end = rest.find('\n');
    EXPECT_EQ(json::parse(rest.substr(0, end))["seq"], expected++);
    rest = rest.substr(end + 1);
  }
  EXPECT_EQ(box.audit_count("audit.export"), 1u);
  const Reply part = box.get("/api/v1/audit/export?action=audit.export", auditor);
  ASSERT_EQ(part.status, 200);
  EXPECT_EQ(std::count(part.response.body.begin(), part.response.body.end(), '\n'), 2);
  EXPECT_EQ(box.get("/api/v1/audit/export?from=yesterday", auditor).status, 400);
}

TEST(History, AnswersColumnsAndRefusesNonsense) {
  Box box;
  const As admin = box.log_in(box.admin);
  power::Sample sample;
  sample.t = box.clock.wall();
  sample.cpu = 0.5;
  sample.covers_s = 1;
  box.node.past.add(sample);
  const Reply reply = box.get("/api/v1/metrics/history?metric=cpu&range=5m&step=1", admin);
  ASSERT_EQ(reply.status, 200) << reply.response.body;
  EXPECT_EQ(reply.body["names"], (json{"t", "cpu"}));
  ASSERT_EQ(reply.body["cols"].size(), 2u);
  EXPECT_EQ(reply.body["cols"][0].size(), reply.body["cols"][1].size());
  bool seen = false;
  for (const auto& value : reply.body["cols"][1]) seen = seen || value == 0.5;
  EXPECT_TRUE(seen);
  for (const char* bad :
       {"", "?metric=love", "?metric=cpu&range=1y", "?metric=cpu&step=fast", "?metric=cpu&from=yesterday"})
    EXPECT_EQ(box.get(std::string("/api/v1/metrics/history") + bad, admin).status, 400) << bad;
  EXPECT_EQ(box.get("/api/v1/metrics/history?metric=cpu&node=other", admin).status, 404);
}

TEST(Names, ComeBackAsDataWhateverTheyHold) {
  Box box;
  const As admin = box.log_in(box.admin);
  for (const std::string name : {"<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "{{7*7}}",
                                 "'; DROP TABLE users;--"}) {
    json body = new_user("u" + std::to_string(++box.users_made));
    body["display_name"] = name;
    const Reply made = box.post("/api/v1/users", body, admin);
    ASSERT_EQ(made.status, 201) << made.response.body;
    EXPECT_EQ(made.body["display_name"], name);
    EXPECT_EQ(made.header("Content-Type"), "application/json");
  }
  json control = new_user("control");
  control["display_name"] =
      "a\x01"
      "b";
  EXPECT_EQ(box.post("/api/v1/users", control, admin).status, 422);
}

}  // namespace
}  // namespace samovar::api::test
