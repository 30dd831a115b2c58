// What commands send and say, against canned answers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.hpp"
#include "daemon/cli/config.hpp"
#include "fake_box.hpp"

namespace samovar::cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kSession =
    R"({"id":"ses_1","user":{"id":"usr_1","username":"admin","display_name":"Ada","role":"admin"},"kind":"bearer",)"
    R"("created_at":"2026-11-16T05:00:00Z","expires_at":"2026-11-16T17:00:00Z","reauth_until":null,"last_login":null})";
constexpr const char* kUserList =
    R"({"items":[{"id":"usr_2","username":"mara","role":"viewer","etag":"\"7\""}],"next_cursor":null})";
constexpr const char* kReauth =
    R"({"type":"urn:samovar:problem:reauth_required","title":"Password needed","status":403,"code":"reauth_required","detail":"enter your password again"})";

std::string header(const HttpRequest& request, const std::string& name) {
  for (const auto& entry : request.headers) {
    if (entry.first == name) return entry.second;
  }
  return {};
}

TEST(Run, WithoutACommandShowsHelpAsAnError) {
  Bench bench;
  const Outcome outcome = bench.run({});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr("Usage:"));
  EXPECT_EQ(bench.run({"--help"}).code, 0);
  EXPECT_EQ(bench.run({"help", "users", "add"}).code, 0);
  EXPECT_EQ(bench.run({"help", "usres"}).code, 2);
}

TEST(Run, DataGoesToStdoutAndNotesToStderr) {
  Bench bench;
  bench.box.on("GET /api/v1/users?limit=200", 200, R"({"items":[],"next_cursor":null})");
  const Outcome outcome = bench.run({"users", "list"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err, "Nothing to show.\n");
  EXPECT_EQ(bench.run({"users", "list", "--quiet"}).err, "");
}

TEST(Run, TheSessionIsSentAndAProblemSaysWhatToDo) {
  Bench bench;
  bench.box.on("GET /api/v1/session", 401,
               R"({"code":"not_logged_in","title":"Not logged in","status":401,"detail":"no session"})");
  const Outcome outcome = bench.run({"whoami"});
  EXPECT_EQ(outcome.code, 4);
  EXPECT_THAT(outcome.err, HasSubstr("samovar login"));
  EXPECT_EQ(header(bench.box.requests.back(), "Authorization"), "Bearer session-secret");
}

TEST(Run, WithJsonAnErrorIsTheProblemDocument) {
  Bench bench;
  const char* problem = R"({"code":"not_found","detail":"no such user","status":404,"title":"Not found"})";
  bench.box.on("GET /api/v1/session", 404, problem);
  Outcome outcome = bench.run({"whoami", "--json"});
  EXPECT_EQ(outcome.code, 3);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(json::parse(outcome.err), json::parse(problem));
  outcome = bench.run({"nodes", "lsit", "--json"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(json::parse(outcome.err)["code"], "usage");
  bench.box.failure = "nothing answers";
  outcome = bench.run({"whoami", "--json"});
  EXPECT_EQ(outcome.code, 7);
  EXPECT_EQ(json::parse(outcome.err)["detail"], "nothing answers");
}

TEST(Run, LoginKeepsTheTokenPrivateAndPrintsNone) {
  Bench bench;
  bench.io.input = "correct horse battery\n";
  json session = json::parse(kSession);
  session["session_token"] = "fresh-secret";
  bench.box.on("POST /api/v1/session", 200, session.dump());
  const Outcome outcome = bench.run({"login", "-u", "admin", "--password-stdin", "--json"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out + outcome.err, Not(HasSubstr("fresh-secret")));
  const HttpRequest request = bench.box.last("POST", "/session");
  EXPECT_EQ(json::parse(request.body),
            (json{{"username", "admin"}, {"password", "correct horse battery"}, {"transport", "bearer"}}));
  EXPECT_EQ(header(request, "Authorization"), "") << "an old session must not travel with a login";
  EXPECT_EQ(load_session(bench.env.config_dir, "127.0.0.1:8443").value(), "fresh-secret");
}

TEST(Run, LogoutForgetsTheTokenEvenWhenTheBoxIsAway) {
  Bench bench;
  bench.box.failure = "nothing answers";
  EXPECT_EQ(bench.run({"logout"}).code, 7);
  EXPECT_EQ(load_session(bench.env.config_dir, "127.0.0.1:8443").value(), "");
}

TEST(Run, ReauthAsksOnceAndRepeatsTheCall) {
  Bench bench;
  bench.io.terminal = true;
  bench.io.answers = {"new-password-123", "new-password-123", "my-password"};
  bench.box.on("POST /api/v1/users", 403, kReauth);
  bench.box.on("POST /api/v1/users", 201, R"({"id":"usr_9","username":"bo"})");
  bench.box.on("POST /api/v1/session:reauth", 200, kSession);
  const Outcome outcome = bench.run({"users", "add", "bo", "--role", "viewer"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(json::parse(bench.box.last("POST", "/session:reauth").body)["password"], "my-password");
  ASSERT_EQ(bench.box.requests.size(), 3U);
  EXPECT_EQ(header(bench.box.requests[0], "Idempotency-Key"),
            header(bench.box.requests[2], "Idempotency-Key"));
  EXPECT_NE(header(bench.box.requests[0], "Idempotency-Key"), "");
}

TEST(Run, ReauthIsNotAskedWithoutATerminal) {
  Bench bench;
  bench.io.input = "new-password-123\n";
  bench.box.on("POST /api/v1/users", 403, kReauth);
  const Outcome outcome = bench.run({"users", "add", "bo", "--role", "viewer", "--password-stdin"});
  EXPECT_EQ(outcome.code, 4);
  EXPECT_THAT(outcome.err, HasSubstr("samovar login"));
}

TEST(Run, TwoDifferentPasswordsChangeNothing) {
  Bench bench;
  bench.io.terminal = true;
  bench.io.answers = {"new-password-123", "new-password-124"};
  EXPECT_EQ(bench.run({"users", "add", "bo", "--role", "viewer"}).code, 6);
  EXPECT_TRUE(bench.box.requests.empty());
}

TEST(Run, NoInputNeverAsks) {
  Bench bench;
  bench.io.terminal = true;
  bench.io.answers = {"x"};
  EXPECT_EQ(bench.run({"users", "add", "bo", "--role", "viewer", "--no-input"}).code, 2);
  EXPECT_EQ(bench.run({"login", "--no-input"}).code, 2);
  EXPECT_EQ(bench.io.questions, "");
}

TEST(Run, ChangesSendTheRevisionThatWasRead) {
  Bench bench;
  bench.box.on("GET /api/v1/users?limit=200", 200, kUserList);
  bench.box.on("GET /api/v1/users/usr_2", 200, R"({"id":"usr_2"})", {{"etag", "\"8\""}});
  bench.box.on("PATCH /api/v1/users/usr_2", 200, R"({"id":"usr_2","role":"auditor"})");
  EXPECT_EQ(bench.run({"users", "set-role", "mara", "auditor"}).code, 0);
  const HttpRequest request = bench.box.last("PATCH", "/users/usr_2");
  EXPECT_EQ(header(request, "If-Match"), "\"8\"");
  EXPECT_EQ(json::parse(request.body), (json{{"role", "auditor"}}));
}

TEST(Run, RemovingAsksForTheNameOrYes) {
  Bench bench;
  bench.box.on("GET /api/v1/users?limit=200", 200, kUserList);
  bench.box.on("DELETE /api/v1/users/usr_2", 204, "");
  EXPECT_EQ(bench.run({"users", "remove", "mara"}).code, 2);
  bench.io.terminal = true;
  bench.io.answers = {"wrong"};
  EXPECT_EQ(bench.run({"users", "remove", "mara"}).code, 2);
  EXPECT_EQ(bench.box.last("DELETE", "/users/usr_2").url, "");
  bench.io.answers = {"mara"};
  EXPECT_EQ(bench.run({"users", "remove", "mara"}).code, 0);
  EXPECT_NE(bench.box.last("DELETE", "/users/usr_2").url, "");
  bench.io.terminal = false;
  EXPECT_EQ(bench.run({"users", "remove", "mara", "--yes"}).code, 0);
  EXPECT_EQ(bench.run({"users", "remove", "nobody", "--yes"}).code, 3);
}

TEST(Run, DryRunSendsNothingAndShowsNoSecret) {
  Bench bench;
  bench.io.input = "new-password-123\n";
  const Outcome outcome =
      bench.run({"users", "add", "bo", "--role", "viewer", "--password-stdin", "--dry-run"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_TRUE(bench.box.requests.empty());
  EXPECT_EQ(json::parse(outcome.out)["path"], "/api/v1/users");
  EXPECT_EQ(json::parse(outcome.out)["body"]["password"], "********");
}

TEST(Run, ATokenIsPrintedAloneOrWrittenPrivately) {
  Bench bench;
  const char* made = R"({"id":"tok_1","name":"etl","expires_at":"2026-12-16T00:00:00Z","token":"smv_x"})";
  bench.box.on("POST /api/v1/tokens", 201, made);
  EXPECT_EQ(bench.run({"tokens", "create", "etl", "--scope", "read,metrics", "--days", "30"}).out, "smv_x\n");
  EXPECT_EQ(json::parse(bench.box.last("POST", "/tokens").body)["scopes"], (json{"read", "metrics"}));
  const std::string file = (bench.home / "etl.token").string();
  const Outcome outcome = bench.run({"tokens", "create", "etl", "--out", file, "--json"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out, Not(HasSubstr("smv_x")));
  EXPECT_EQ(read_file(file).value(), "smv_x\n");
  EXPECT_EQ(std::filesystem::status(file).permissions(), std::filesystem::perms(0600));
  EXPECT_EQ(bench.run({"tokens", "create", "etl", "--days", "366"}).code, 2);
}

TEST(Run, ATokenFileStandsInForTheSession) {
  Bench bench;
  const std::string file = (bench.home / "token").string();
  ASSERT_TRUE(write_private_file(file, "smv_file\n"));
  bench.box.on("GET /api/v1/session", 200, kSession);
  bench.env.token_file = file;
  EXPECT_EQ(bench.run({"whoami"}).code, 0);
  EXPECT_EQ(header(bench.box.requests.back(), "Authorization"), "Bearer smv_file");
  EXPECT_EQ(bench.run({"whoami", "--token-file", file + ".gone"}).code, 3);
}

TEST(Run, ABrokenAuditChainIsAFailure) {
  Bench bench;
  bench.box.on("POST /api/v1/audit:verify", 200,
               R"({"ok":true,"entries":3,"head_hash":"ab","first_bad_seq":null,"message":""})");
  bench.box.on("POST /api/v1/audit:verify", 200,
               R"({"ok":false,"entries":3,"head_hash":"ab","first_bad_seq":2,"message":"hash differs"})");
  Outcome outcome = bench.run({"audit", "verify"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out, HasSubstr("3 entries"));
  outcome = bench.run({"audit", "verify"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("BROKEN at entry 2"));
}

TEST(Run, ListsFollowTheCursor) {
  Bench bench;
  bench.box.on("GET /api/v1/audit?limit=3", 200, R"({"items":[{"seq":9},{"seq":8}],"next_cursor":"c/1"})");
  bench.box.on("GET /api/v1/audit?limit=1&cursor=c%2F1", 200, R"({"items":[{"seq":7}],"next_cursor":"c2"})");
  const Outcome outcome = bench.run({"audit", "list", "--limit", "3", "-o", "jsonl"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "{\"seq\":9}\n{\"seq\":8}\n{\"seq\":7}\n");
}

TEST(Run, InitFromAScriptSendsTheDocument) {
  Bench bench;
  bench.box.on("GET /api/v1/setup", 200, R"({"phase":"new","node":{"hostname":"box"}})");
  bench.box.on("POST /api/v1/setup", 201, R"({"cluster":{"id":"clu_1","name":"Ward 3"}})");
  const json body = {{"code", "1234-5678"}, {"box_name", "Ward 3"}, {"admin", {{"username", "ada"}}}};
  bench.io.input = body.dump();
  const Outcome outcome = bench.run({"init", "--no-input"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("samovar login -u ada"));
  EXPECT_EQ(json::parse(bench.box.last("POST", "/setup").body), body);
  bench.io.input = "not json";
  EXPECT_EQ(bench.run({"init", "--no-input"}).code, 2);
}

TEST(Run, InitAsksEverythingAndNamesTheRisk) {
  Bench bench;
  bench.io.terminal = true;
  bench.io.answers = {"1234",   "Ward 3",          "Europe/Berlin",   "ada",
                      "Ada L.", "long-password-1", "long-password-1", "2"};
  bench.box.on("GET /api/v1/setup", 200, R"({"phase":"new","node":{"hostname":"box"}})");
  bench.box.on("POST /api/v1/setup:check", 204, "");
  bench.box.on("POST /api/v1/setup", 201, R"({"cluster":{"id":"clu_1","name":"Ward 3"}})");
  const Outcome outcome = bench.run({"init"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("RISK"));
  const json sent = json::parse(bench.box.last("POST", "/setup").body);
  EXPECT_EQ(
      sent,
      (json{{"code", "1234"},
            {"box_name", "Ward 3"},
            {"time_zone", "Europe/Berlin"},
            {"admin", {{"username", "ada"}, {"display_name", "Ada L."}, {"password", "long-password-1"}}},
            {"unlock", {{"mode", "key_file"}}}}));
}

TEST(Run, AWrongSetupCodeEndsBeforeTheQuestions) {
  Bench bench;
  bench.io.terminal = true;
  bench.io.answers = {"0000"};
  bench.box.on("GET /api/v1/setup", 200, R"({"phase":"new"})");
  bench.box.on(
      "POST /api/v1/setup:check", 403,
      R"({"code":"wrong_setup_code","status":403,"title":"Wrong code","detail":"the code is wrong"})");
  EXPECT_EQ(bench.run({"init"}).code, 4);
}

TEST(Run, WatchDrawsOnlyOnATerminalAndEndsByCtrlC) {
  Bench bench;
  bench.box.on("GET /api/v1/nodes?limit=200", 200,
               R"({"items":[{"name":"a","state":"up"}],"next_cursor":null})");
  bench.io.terminal = true;
  bench.io.pauses_left = 2;
  Outcome outcome = bench.run({"top"});
  EXPECT_EQ(outcome.code, 130);
  EXPECT_THAT(outcome.out, HasSubstr("\x1b[H"));
  EXPECT_THAT(outcome.out, HasSubstr("\x1b[?25h")) << "the cursor must come back";
  bench.io.terminal = false;
  outcome = bench.run({"top"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out, Not(HasSubstr("\x1b")));
}

TEST(Run, ApiBuildsQueryAndBody) {
  Bench bench;
  bench.box.on("GET /api/v1/metrics/history?metric=cpu%2Cwatts", 200, R"({"names":["t"]})");
  EXPECT_EQ(bench.run({"api", "get", "/api/v1/metrics/history", "-f", "metric=cpu,watts"}).out,
            "{\n  \"names\": [\n    \"t\"\n  ]\n}\n");
  bench.box.on("POST /api/v1/x", 204, "");
  EXPECT_EQ(bench.run({"api", "POST", "x", "-f", "a=1", "-f", "b:=2", "-f", "c.d=e"}).code, 0);
  EXPECT_EQ(json::parse(bench.box.last("POST", "/x").body),
            (json{{"a", "1"}, {"b", 2}, {"c", {{"d", "e"}}}}));
  bench.box.on("GET /metrics", 200, "# HELP x\n");
  EXPECT_EQ(bench.run({"api", "GET", "/metrics"}).out, "# HELP x\n");
  EXPECT_EQ(bench.run({"api", "POST", "x", "-f", "b:=oops"}).code, 2);
}

TEST(Run, ContextsAreChosenByNameAddressOrEnvironment) {
  Bench bench;
  bench.box.on("GET /api/v1/setup", 200, R"({"phase":"new"})");
  EXPECT_EQ(bench.run({"status", "--context", "lab"}).code, 2);
  EXPECT_EQ(bench.run({"status", "--server", "https://10.1.1.1", "--context", "lab", "--yes"}).code, 0);
  bench.env.context = "lab";
  EXPECT_EQ(bench.run({"status"}).code, 0);
  EXPECT_THAT(bench.box.requests.back().url, HasSubstr("https://10.1.1.1:8443/"));
  EXPECT_EQ(bench.run({"context", "use", "lab"}).code, 0);
  EXPECT_EQ(bench.run({"context", "remove", "lab"}).code, 0);
  EXPECT_EQ(bench.run({"status"}).code, 2) << "SAMOVAR_CONTEXT names a box that is forgotten";
}

TEST(Run, AnswersOfAnotherShapeAreNoCrash) {
  Bench bench;
  for (const char* body : {"", "[]", "{}", "nonsense", R"({"items":5})", R"({"items":[5,null,"x"]})",
                           R"({"items":[{"username":7}]})"}) {
    FakeBox fresh;
    fresh.on("GET /api/v1/users?limit=200", 200, body);
    bench.box = fresh;
    const int code = bench.run({"users", "list"}).code;
    EXPECT_TRUE(code == 0 || code == 1) << body << " gave " << code;
    bench.run({"users", "show", "x"});
  }
}

TEST(Complete, OffersCommandsFlagsAndNamesFromTheBox) {
  Bench bench;
  bench.box.on("GET /api/v1/users?limit=200", 200, kUserList);
  EXPECT_THAT(bench.run({"__complete", "--", "us"}).out, HasSubstr("users\t"));
  EXPECT_THAT(bench.run({"__complete", "--", "users", "add", "x", "--ro"}).out, HasSubstr("--role\t"));
  EXPECT_THAT(bench.run({"__complete", "--", "users", "add", "x", "--role", "a"}).out, HasSubstr("analyst"));
  EXPECT_EQ(bench.run({"__complete", "--", "users", "show", ""}).out, "mara\tviewer\n");
  EXPECT_EQ(bench.run({"__complete", "--", "users", "show", "mara", ""}).out, "");
  EXPECT_EQ(bench.run({"__complete", "--", "nodes", "list", "--token-file", ""}).out, ":file\n");
  EXPECT_EQ(bench.run({"__complete", "--", "nonsense", ""}).out, "");
}

}  // namespace
}  // namespace samovar::cli
