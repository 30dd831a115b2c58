// Every route × every kind of caller. The table below is written by hand on purpose: it is the second
// opinion on routes.cpp, and a route without a row fails the test.
#include <gtest/gtest.h>

#include <set>

#include "daemon/api/routes.hpp"
#include "tests/unit/daemon/api/box.hpp"

namespace samovar::api::test {
namespace {

struct Row {
  Method method;
  std::string target;
  std::string pattern;  // empty: the target
  std::string roles;    // "*": anonymous too
  std::string scope;    // read, write, predict, metrics, any, never
  bool reauth = false;
};

const std::string kAll = "admin analyst viewer auditor service";
const std::string kPeople = "admin analyst viewer auditor";
const std::string kTrainers = "admin analyst service";
const std::string kAskers = "admin analyst viewer service";
const std::string kVersion = "/api/v1/models/{name}/versions/{version}";

const std::vector<Row> kTable = {
    {Method::get, "/healthz", "", "*", ""},
    {Method::get, "/readyz", "", "*", ""},
    {Method::get, "/metrics", "", "admin viewer auditor", "metrics"},
    {Method::get, "/openapi.json", "", "*", ""},
    {Method::get, "/ca.crt", "", "*", ""},
    {Method::get, "/api/v1/setup", "", "*", ""},
    {Method::post, "/api/v1/setup", "", "*", ""},
    {Method::post, "/api/v1/setup:check", "", "*", ""},
    {Method::post, "/api/v1/setup:join", "", "*", ""},
    {Method::post, "/api/v1/unlock", "", "*", ""},
    {Method::post, "/api/v1/session", "", "*", ""},
    {Method::get, "/api/v1/session", "", kAll, "any"},
    {Method::del, "/api/v1/session", "", kAll, "never"},
    {Method::post, "/api/v1/session:reauth", "", kAll, "never"},
    {Method::post, "/api/v1/session:password", "", kAll, "never"},
    {Method::get, "/api/v1/cluster", "", kPeople, "read"},
    {Method::patch, "/api/v1/cluster", "", "admin", "write"},
    {Method::get, "/api/v1/alerts", "", kPeople, "read"},
    {Method::get, "/api/v1/settings/general", "/api/v1/settings/{key}", "admin auditor", "read"},
    {Method::put, "/api/v1/settings/general", "/api/v1/settings/{key}", "admin", "write"},
    {Method::get, "/api/v1/power", "", kPeople, "read"},
    {Method::get, "/api/v1/cluster/state", "", "admin auditor", "read"},
    {Method::get, "/api/v1/nodes", "", kPeople, "read"},
    {Method::get, "/api/v1/nodes/node1", "/api/v1/nodes/{id}", kPeople, "read"},
    {Method::get, "/api/v1/nodes/node1:removal", "/api/v1/nodes/{id}:removal", kPeople, "read"},
    {Method::post, "/api/v1/nodes/node1:drain", "/api/v1/nodes/{id}:drain", "admin", "write"},
    {Method::post, "/api/v1/nodes/node1:resume", "/api/v1/nodes/{id}:resume", "admin", "write"},
    {Method::del, "/api/v1/nodes/node2", "/api/v1/nodes/{id}", "admin", "never", true},
    {Method::get, "/api/v1/links", "", kPeople, "read"},
    {Method::post, "/api/v1/links:test", "", "admin", "write"},
    {Method::get, "/api/v1/doctor", "", "admin", "read"},
    {Method::post, "/api/v1/doctor:probe", "", "admin", "write"},
    {Method::get, "/api/v1/peers", "", "admin", "read"},
    {Method::post, "/api/v1/peers:add", "", "admin", "write"},
    {Method::post, "/api/v1/peers:invite", "", "admin", "never"},
    {Method::post, "/api/v1/peers/node2:approve", "/api/v1/peers/{id}:approve", "admin", "never"},
    {Method::post, "/api/v1/peers/node2:confirm", "/api/v1/peers/{id}:confirm", "admin", "never"},
    {Method::post, "/api/v1/peers/node2:cancel", "/api/v1/peers/{id}:cancel", "admin", "write"},
    {Method::post, "/api/v1/peers/node2:block", "/api/v1/peers/{id}:block", "admin", "write"},
    {Method::post, "/api/v1/peers/node2:unblock", "/api/v1/peers/{id}:unblock", "admin", "write"},
    {Method::get, "/api/v1/metrics/history?metric=cpu", "/api/v1/metrics/history", kPeople, "read"},
    {Method::get, "/api/v1/events", "", kPeople, "read"},
    {Method::get, "/api/v1/users", "", "admin auditor", "read"},
    {Method::post, "/api/v1/users", "", "admin", "never", true},
    {Method::get, "/api/v1/users/usr_x", "/api/v1/users/{id}", kPeople, "read"},
    {Method::patch, "/api/v1/users/usr_x", "/api/v1/users/{id}", kPeople, "never", true},
    {Method::del, "/api/v1/users/usr_x", "/api/v1/users/{id}", "admin", "never", true},
    {Method::post, "/api/v1/users/usr_x:set-password", "/api/v1/users/{id}:set-password", "admin", "never",
     true},
    {Method::post, "/api/v1/users/usr_x:unlock", "/api/v1/users/{id}:unlock", "admin", "never", true},
    {Method::post, "/api/v1/users/usr_x:allow-joins", "/api/v1/users/{id}:allow-joins", "admin", "never"},
    {Method::post, "/api/v1/users/usr_x:forbid-joins", "/api/v1/users/{id}:forbid-joins", "admin", "never",
     true},
    {Method::get, "/api/v1/tokens", "", kAll, "read"},
    {Method::post, "/api/v1/tokens", "", kAll, "never", true},
    {Method::del, "/api/v1/tokens/tok_x", "/api/v1/tokens/{id}", kAll, "never", true},
    {Method::get, "/api/v1/sessions", "", kAll, "read"},
    {Method::del, "/api/v1/sessions/ses_x", "/api/v1/sessions/{id}", kAll, "never"},
    {Method::get, "/api/v1/audit", "", "admin auditor analyst", "read"},
    {Method::get, "/api/v1/audit/export", "", "auditor", "never", true},
    {Method::post, "/api/v1/audit:verify", "", "admin auditor", "read"},
    {Method::options, "/api/v1/uploads", "", "*", ""},
    {Method::get, "/api/v1/uploads", "", "admin analyst", "read"},
    {Method::post, "/api/v1/uploads", "", "admin analyst", "write"},
    {Method::head, "/api/v1/uploads/upl_x", "/api/v1/uploads/{id}", "admin analyst", "read"},
    {Method::get, "/api/v1/uploads/upl_x", "/api/v1/uploads/{id}", "admin analyst", "read"},
    {Method::patch, "/api/v1/uploads/upl_x", "/api/v1/uploads/{id}", "admin analyst", "write"},
    {Method::put, "/api/v1/uploads/a.csv", "/api/v1/uploads/{id}", "admin analyst", "write"},
    {Method::del, "/api/v1/uploads/upl_x", "/api/v1/uploads/{id}", "admin analyst", "write"},
    {Method::post, "/api/v1/uploads/upl_x:inspect", "/api/v1/uploads/{id}:inspect", "admin analyst", "read"},
    {Method::get, "/api/v1/datasets", "", kAll, "read"},
    {Method::post, "/api/v1/datasets", "", "admin analyst", "write"},
    {Method::post, "/api/v1/datasets:sample", "", "admin analyst", "write"},
    {Method::post, "/api/v1/datasets:scrub", "", "admin", "write"},
    {Method::get, "/api/v1/datasets/dst_x", "/api/v1/datasets/{id}", kAll, "read"},
    {Method::patch, "/api/v1/datasets/dst_x", "/api/v1/datasets/{id}", "admin analyst", "write"},
    {Method::del, "/api/v1/datasets/dst_x", "/api/v1/datasets/{id}", "admin analyst", "write"},
    {Method::post, "/api/v1/datasets/dst_x:restore", "/api/v1/datasets/{id}:restore", "admin analyst",
     "write"},
    {Method::post, "/api/v1/datasets/dst_x:destroy", "/api/v1/datasets/{id}:destroy", "admin", "never", true},
    {Method::get, "/api/v1/datasets/dst_x/schema", "/api/v1/datasets/{id}/schema", kAll, "read"},
    {Method::put, "/api/v1/datasets/dst_x/schema", "/api/v1/datasets/{id}/schema", "admin analyst", "write"},
    {Method::get, "/api/v1/datasets/dst_x/preview", "/api/v1/datasets/{id}/preview", kAll, "read"},
    {Method::get, "/api/v1/datasets/dst_x/profile", "/api/v1/datasets/{id}/profile", kAll, "read"},
    {Method::get, "/api/v1/datasets/dst_x/shards", "/api/v1/datasets/{id}/shards", kAll, "read"},
    {Method::get, "/api/v1/datasets/dst_x/download", "/api/v1/datasets/{id}/download", kAll, "read"},
    {Method::get, "/api/v1/datasets/dst_x/bad-rows", "/api/v1/datasets/{id}/bad-rows", kAll, "read"},
    {Method::put, "/api/v1/datasets/dst_x/grants/usr_x", "/api/v1/datasets/{id}/grants/{user_id}",
     "admin analyst", "never", true},
    {Method::del, "/api/v1/datasets/dst_x/grants/usr_x", "/api/v1/datasets/{id}/grants/{user_id}",
     "admin analyst", "never", true},
    {Method::get, "/api/v1/formats", "", kAll, "read"},
    {Method::get, "/api/v1/operations", "", kAll, "read"},
    {Method::get, "/api/v1/operations/op_x", "/api/v1/operations/{id}", kAll, "read"},
    {Method::post, "/api/v1/operations/op_x:cancel", "/api/v1/operations/{id}:cancel", "admin analyst",
     "write"},
    {Method::get, "/api/v1/algorithms", "", kAll, "read"},
    {Method::post, "/api/v1/jobs:check", "", kTrainers, "read"},
    {Method::post, "/api/v1/jobs:estimate", "", kTrainers, "read"},
    {Method::get, "/api/v1/jobs", "", kAll, "read"},
    {Method::post, "/api/v1/jobs", "", kTrainers, "write"},
    {Method::get, "/api/v1/jobs/job_x", "/api/v1/jobs/{id}", kAll, "read"},
    {Method::patch, "/api/v1/jobs/job_x", "/api/v1/jobs/{id}", kTrainers, "write"},
    {Method::del, "/api/v1/jobs/job_x", "/api/v1/jobs/{id}", kTrainers, "write"},
    {Method::post, "/api/v1/jobs/job_x:pause", "/api/v1/jobs/{id}:pause", kTrainers, "write"},
    {Method::post, "/api/v1/jobs/job_x:resume", "/api/v1/jobs/{id}:resume", kTrainers, "write"},
    {Method::post, "/api/v1/jobs/job_x:cancel", "/api/v1/jobs/{id}:cancel", kTrainers, "write"},
    {Method::post, "/api/v1/jobs/job_x:retry", "/api/v1/jobs/{id}:retry", kTrainers, "write"},
    {Method::get, "/api/v1/jobs/job_x/metrics", "/api/v1/jobs/{id}/metrics", kAll, "read"},
    {Method::get, "/api/v1/jobs/job_x/logs", "/api/v1/jobs/{id}/logs", kAll, "read"},
    {Method::get, "/api/v1/models", "", kPeople, "read"},
    {Method::get, "/api/v1/models:compare?a=m@1&b=m@2", "/api/v1/models:compare", kPeople, "read"},
    {Method::post, "/api/v1/models:import?name=m", "/api/v1/models:import", "admin analyst", "write"},
    {Method::get, "/api/v1/models/m", "/api/v1/models/{name}", kPeople, "read"},
    {Method::patch, "/api/v1/models/m", "/api/v1/models/{name}", "admin analyst", "write"},
    {Method::post, "/api/v1/models/m:rollback", "/api/v1/models/{name}:rollback", "admin analyst", "write"},
    {Method::post, "/api/v1/models/m:retire", "/api/v1/models/{name}:retire", "admin analyst", "write"},
    {Method::put, "/api/v1/models/m/grants/usr_x", "/api/v1/models/{name}/grants/{user_id}", "admin analyst",
     "never", true},
    {Method::del, "/api/v1/models/m/grants/usr_x", "/api/v1/models/{name}/grants/{user_id}", "admin analyst",
     "never", true},
    {Method::get, "/api/v1/models/m/versions/1", kVersion, kPeople, "read"},
    {Method::patch, "/api/v1/models/m/versions/1", kVersion, "admin analyst", "write"},
    {Method::del, "/api/v1/models/m/versions/1", kVersion, "admin analyst", "write"},
    {Method::get, "/api/v1/models/m/versions/1/evaluation", kVersion + "/evaluation", kPeople, "read"},
    {Method::post, "/api/v1/models/m/versions/1:promote", kVersion + ":promote", "admin analyst", "write"},
    {Method::post, "/api/v1/models/m/versions/1:export", kVersion + ":export", "admin analyst", "never",
     true},
    {Method::post, "/api/v1/models/m:predict", "/api/v1/models/{name}:predict", kAskers, "predict"},
    {Method::get, "/api/v1/scorings", "", kTrainers, "predict"},
    {Method::post, "/api/v1/scorings", "", kTrainers, "predict"},
    {Method::get, "/api/v1/scorings/scr_x", "/api/v1/scorings/{id}", kTrainers, "predict"},
    {Method::get, "/api/v1/scorings/scr_x/result", "/api/v1/scorings/{id}/result", kTrainers, "predict"},
    {Method::del, "/api/v1/scorings/scr_x", "/api/v1/scorings/{id}", kTrainers, "predict"},
    {Method::get, "/v2", "", kAll, "any"},
    {Method::get, "/v2/health/live", "", "*", ""},
    {Method::get, "/v2/health/ready", "", "*", ""},
    {Method::get, "/v2/models/m", "/v2/models/{name}", kAskers, "predict"},
    {Method::get, "/v2/models/m/ready", "/v2/models/{name}/ready", kAskers, "predict"},
    {Method::post, "/v2/models/m/infer", "/v2/models/{name}/infer", kAskers, "predict"},
    {Method::get, "/v2/models/m/versions/1", "/v2/models/{name}/versions/{version}", kAskers, "predict"},
    {Method::get, "/v2/models/m/versions/1/ready", "/v2/models/{name}/versions/{version}/ready", kAskers,
     "predict"},
    {Method::post, "/v2/models/m/versions/1/infer", "/v2/models/{name}/versions/{version}/infer", kAskers,
     "predict"},
};

std::string name_of(const Row& row) { return std::string(to_string(row.method)) + " " + row.target; }

bool has_word(const std::string& list, std::string_view word) {
  return (" " + list + " ").find(" " + std::string(word) + " ") != std::string::npos;
}

nlohmann::json body_for(const Row& row) {
  if (!is_unsafe(row.method) || row.method == Method::del) return nullptr;
  return nlohmann::json::object();
}

// Let in: whatever the handler then says of an empty body or an unknown object.
bool let_in(const Reply& reply) {
  static const std::set<std::string> kRefusals = {"not_logged_in",     "forbidden",     "reauth_required",
                                                  "token_not_allowed", "missing_scope", "csrf"};
  return kRefusals.count(reply.code()) == 0;
}

constexpr cluster::Role kRoles[] = {cluster::Role::admin, cluster::Role::analyst, cluster::Role::viewer,
                                    cluster::Role::auditor, cluster::Role::service};

TEST(AccessTable, EveryRouteHasARow) {
  Box box;
  std::set<std::pair<std::string, std::string>> rows;
  for (const Row& row : kTable)
    rows.emplace(to_string(row.method),
                 row.pattern.empty() ? row.target.substr(0, row.target.find('?')) : row.pattern);
  std::set<std::pair<std::string, std::string>> routes;
  for (const Route& route : box.router->routes())
    routes.emplace(to_string(route.method), std::string(route.pattern));
  EXPECT_EQ(rows, routes);
}

TEST(AccessTable, AnonymousGetsOnlyWhatIsForAnyone) {
  Box box;
  for (const Row& row : kTable) {
    const Reply reply = box.send(row.method, row.target, body_for(row), {});
    if (row.roles == "*") {
      EXPECT_TRUE(let_in(reply)) << name_of(row) << " " << reply.response.body;
    } else {
      EXPECT_EQ(reply.status, 401) << name_of(row);
      EXPECT_EQ(reply.code(), "not_logged_in") << name_of(row);
    }
  }
}

TEST(AccessTable, RolesGetExactlyTheirRoutes) {
  Box box;
  for (const cluster::Role role : kRoles) {
    const auto user = box.add_user("role-" + std::string(to_string(role)), role);
    for (const Row& row : kTable) {
      if (row.roles == "*") continue;
      const As as = box.log_in(user);  // anew: some routes end the session
      const Reply reply = box.send(row.method, row.target, body_for(row), as);
      if (has_word(row.roles, to_string(role))) {
        EXPECT_TRUE(let_in(reply)) << to_string(role) << " " << name_of(row) << " " << reply.response.body;
      } else {
        EXPECT_EQ(reply.status, 403) << to_string(role) << " " << name_of(row);
        EXPECT_EQ(reply.code(), "forbidden") << to_string(role) << " " << name_of(row);
      }
    }
  }
}

TEST(AccessTable, SensitiveRoutesNeedAFreshPassword) {
  Box box;
  const auto admin = box.log_in(box.admin);
  const auto auditor = box.log_in_as(cluster::Role::auditor);
  box.advance(std::chrono::minutes(6));
  for (const Row& row : kTable) {
    if (row.roles == "*") continue;
    const As& as = has_word(row.roles, "admin") ? admin : auditor;
    if (row.target == "/api/v1/session" && row.method == Method::del) continue;
    const Reply reply = box.send(row.method, row.target, body_for(row), as);
    EXPECT_EQ(reply.code() == "reauth_required", row.reauth) << name_of(row) << " " << reply.response.body;
    if (row.reauth) {
      EXPECT_EQ(reply.status, 403) << name_of(row);
    }
  }
}

TEST(AccessTable, TokensNeedTheScopeAndNeverPassReauth) {
  Box box;
  for (const std::string scope : {"read", "write", "predict", "metrics"}) {
    As as;
    as.bearer = box.token_of(box.admin, {scope});
    for (const Row& row : kTable) {
      if (row.roles == "*") continue;
      const Reply reply = box.send(row.method, row.target, body_for(row), as);
      const bool fits =
          row.scope == "any" || (row.scope == scope && (scope == "metrics" || has_word(row.roles, "admin")));
      EXPECT_EQ(let_in(reply), fits) << scope << " " << name_of(row) << " " << reply.response.body;
      if (!fits) {
        EXPECT_EQ(reply.status, 403) << scope << " " << name_of(row);
      }
    }
  }
}

TEST(AccessTable, MetricsScopeNeedsNoRole) {
  Box box;
  As as;
  as.bearer = box.token_of(box.add_user("scraper", cluster::Role::service), {"metrics"});
  EXPECT_EQ(box.get("/metrics", as).status, 200);
  EXPECT_EQ(box.get("/api/v1/nodes", as).status, 403);
}

TEST(AccessTable, PhasesHoldBackAllButSetupUnlockSessionAndHealth) {
  Box box;
  struct Held {
    Phase phase;
    int status;
    std::string code;
  };
  for (const Held& held : {Held{Phase::fresh, 409, "not_set_up"}, Held{Phase::locked, 423, "locked"},
                           Held{Phase::starting, 503, "starting"}, Held{Phase::joining, 503, "joining"},
                           Held{Phase::removed, 409, "removed"}}) {
    const Phase phase = held.phase;
    box.node.current = phase;
    for (const Row& row : kTable) {
      const bool always = row.roles == "*" && row.target != "/api/v1/session";
      const bool who = row.target == "/api/v1/session" && row.method == Method::get;
      const Reply reply = box.send(row.method, row.target, body_for(row), {});
      const bool open = phase == Phase::fresh && row.target == "/api/v1/doctor";
      if (open) {
        EXPECT_EQ(reply.status, 200) << name_of(row);
      } else if (who) {
        EXPECT_EQ(reply.status, 401) << name_of(row);
      } else if (!always) {
        EXPECT_EQ(reply.status, held.status) << name_of(row);
        EXPECT_EQ(reply.code(), held.code) << name_of(row);
      }
    }
    box.node.current = Phase::ready;
  }
}

}  // namespace
}  // namespace samovar::api::test
