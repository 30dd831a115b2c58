#include "tests/unit/daemon/api/model_support.hpp"

namespace samovar::api::test {
namespace {

using nlohmann::json;
using JobsApi = ModelBox;

TEST_F(JobsApi, AJobIsMadeOnceAndShown) {
  As twice = as;
  twice.headers["Idempotency-Key"] = "key-of-job";
  const Reply made = box.post("/api/v1/jobs", spec(), twice);
  ASSERT_EQ(made.status, 201) << made.response.body;
  const std::string id = made.body["id"];
  EXPECT_EQ(made.header("Location"), "/api/v1/jobs/" + id);
  EXPECT_EQ(made.body["state"], "queued");
  EXPECT_EQ(made.body["owner"], "boris");
  EXPECT_EQ(made.body["dataset"], "Ward");
  EXPECT_EQ(made.body["target"], "age");
  EXPECT_TRUE(made.body["model"].is_null());
  EXPECT_TRUE(made.body["seconds_left"].is_null());
  EXPECT_EQ(box.post("/api/v1/jobs", spec(), twice).body["id"], id);
  const Reply shown = box.get("/api/v1/jobs/" + id, as);
  EXPECT_EQ(shown.status, 200);
  EXPECT_EQ(shown.header("ETag"), "\"1\"");
  EXPECT_EQ(box.get("/api/v1/jobs", as).body["items"].size(), 1u);
}

TEST_F(JobsApi, FaultsAreToldAllAtOnce) {
  const Reply refused = box.post("/api/v1/jobs", json{{"dataset", dataset}}, as);
  EXPECT_EQ(refused.status, 422);
  EXPECT_EQ(refused.code(), "invalid_spec");
  ASSERT_EQ(refused.body["errors"].size(), 2u);
  EXPECT_EQ(refused.body["errors"][0]["pointer"], "/name");
  EXPECT_EQ(box.post("/api/v1/jobs:estimate", json{{"dataset", dataset}}, as).code(), "invalid_spec");
  const Reply checked = box.post("/api/v1/jobs:check", json{{"dataset", dataset}}, as);
  EXPECT_EQ(checked.status, 200);
  EXPECT_EQ(checked.body["faults"].size(), 2u);
  EXPECT_TRUE(checked.body["advice"].empty());
  const Reply good = box.post("/api/v1/jobs:check", spec(), as);
  EXPECT_TRUE(good.body["faults"].empty());
  EXPECT_EQ(good.body["advice"].size(), 1u);
  EXPECT_EQ(good.body["spec"]["target"], "age");
  EXPECT_EQ(box.post("/api/v1/jobs:estimate", spec(), as).body["basis"], "guessed");
}

TEST_F(JobsApi, ADataSetOutOfSightIsNotThere) {
  const As other = box.log_in_as(cluster::Role::analyst);
  EXPECT_EQ(box.post("/api/v1/jobs", spec(), other).status, 404);
  EXPECT_EQ(box.post("/api/v1/jobs:check", spec(), other).status, 404);
}

TEST_F(JobsApi, OneIsSteeredByItsOwnerAndStoppedByAdmins) {
  const std::string path = "/api/v1/jobs/" + start();
  const As admin = box.log_in(box.admin);
  const As other = box.log_in_as(cluster::Role::analyst);
  EXPECT_EQ(box.post(path + ":cancel", nullptr, other).status, 404);
  EXPECT_EQ(box.post(path + ":pause", nullptr, admin).body["state"], "paused");
  EXPECT_EQ(box.post(path + ":resume", nullptr, admin).status, 403);
  EXPECT_EQ(box.post(path + ":resume", nullptr, as).body["state"], "queued");
  const Reply wrong = box.post(path + ":retry", nullptr, as);
  EXPECT_EQ(wrong.status, 409);
  EXPECT_EQ(wrong.code(), "job_state");
  EXPECT_EQ(box.send(Method::del, path, nullptr, as).code(), "job_state");
  EXPECT_EQ(box.post(path + ":cancel", nullptr, as).body["state"], "cancelled");
  EXPECT_EQ(box.send(Method::patch, path, {{"protected", true}}, as).body["protected"], true);
  EXPECT_EQ(box.send(Method::del, path, nullptr, as).code(), "job_protected");
  EXPECT_EQ(box.send(Method::patch, path, {{"protected", "no"}}, as).status, 422);
  EXPECT_EQ(box.send(Method::patch, path, {{"protected", false}}, as).status, 200);
  EXPECT_EQ(box.send(Method::del, path, nullptr, as).status, 204);
  EXPECT_EQ(box.get(path, as).status, 404);
}

TEST_F(JobsApi, ListsArePagedAndFiltered) {
  // Ids of one millisecond come in any order.
  const std::string first = start("a");
  box.advance(std::chrono::milliseconds(1));
  const std::string second = start("b");
  box.advance(std::chrono::milliseconds(1));
  const std::string third = start("c");
  box.post("/api/v1/jobs/" + second + ":cancel", nullptr, as);
  const json page = box.get("/api/v1/jobs?limit=2", as).body;
  ASSERT_EQ(page["items"].size(), 2u);
  EXPECT_EQ(page["items"][0]["id"], third);
  EXPECT_EQ(page["next_cursor"], second);
  const json rest = box.get("/api/v1/jobs?limit=2&cursor=" + second, as).body;
  ASSERT_EQ(rest["items"].size(), 1u);
  EXPECT_EQ(rest["items"][0]["id"], first);
  EXPECT_TRUE(rest["next_cursor"].is_null());
  EXPECT_EQ(box.get("/api/v1/jobs?state=cancelled", as).body["items"].size(), 1u);
  EXPECT_EQ(box.get("/api/v1/jobs?limit=x", as).status, 400);
}

TEST_F(JobsApi, MetricsAndLogs) {
  const std::string path = "/api/v1/jobs/" + start();
  const json metrics = box.get(path + "/metrics", as).body;
  EXPECT_EQ(metrics["names"][1], "valid_loss");
  EXPECT_TRUE(metrics["cols"][1][1].is_null()) << "never a NaN";
  const json lines = box.get(path + "/logs?after=2&limit=2", as).body;
  ASSERT_EQ(lines["items"].size(), 2u);
  EXPECT_EQ(lines["items"][0]["seq"], 3);
  EXPECT_EQ(box.get(path + "/logs?after=-1", as).status, 400);
  EXPECT_EQ(box.get(path + "/logs?limit=0", as).status, 400);
}

TEST_F(JobsApi, WhoWasGrantedTheModelSeesItsJobWithoutTheData) {
  const std::string path = "/api/v1/jobs/" + train();
  const auto vera = box.add_user("vera", cluster::Role::viewer);
  EXPECT_EQ(box.get(path, box.log_in(vera)).status, 404);
  grant(vera);
  const Reply shown = box.get(path, box.log_in(vera));
  EXPECT_EQ(shown.status, 200);
  EXPECT_EQ(shown.body["model"], "readmission");
  EXPECT_EQ(shown.body["model_version"], 1);
  EXPECT_TRUE(shown.body["dataset"].is_null());
}

TEST_F(JobsApi, Algorithms) {
  const json list = box.get("/api/v1/algorithms", as).body;
  ASSERT_GE(list["items"].size(), 1u);
  EXPECT_EQ(list["items"][0]["id"], "glm");
  EXPECT_TRUE(list["items"][0]["parameters"].is_object());
}

TEST_F(JobsApi, DataThatIsNeededIsNotDestroyed) {
  const std::string id = start();
  const As admin = box.log_in(box.admin);
  EXPECT_EQ(box.send(Method::del, "/api/v1/datasets/" + dataset, nullptr, as).status, 204);
  EXPECT_EQ(box.post("/api/v1/datasets/" + dataset + ":destroy", nullptr, admin).code(), "dataset_needed");
}

}  // namespace
}  // namespace samovar::api::test
