#include "tests/unit/daemon/api/model_support.hpp"

namespace samovar::api::test {
namespace {

using nlohmann::json;

class ModelsApi : public ModelBox {
 protected:
  const std::string path = "/api/v1/models/readmission";
  Reply patch(const std::string& target, const json& body, As who, const std::string& tag = {}) {
    if (!tag.empty()) who.headers["If-Match"] = tag;
    return box.send(Method::patch, target, body, who);
  }
};

TEST_F(ModelsApi, AModelIsShownWithItsVersions) {
  const std::string job = train();
  train();
  const json listed = box.get("/api/v1/models", as).body;
  ASSERT_EQ(listed["items"].size(), 1u);
  EXPECT_EQ(listed["items"][0]["version"], 2);
  EXPECT_EQ(listed["items"][0]["headline"]["auc"], 0.74);
  const Reply shown = box.get(path, as);
  EXPECT_EQ(shown.status, 200);
  EXPECT_EQ(shown.body["owner"], "boris");
  EXPECT_TRUE(shown.body["serving"].is_null());
  EXPECT_EQ(shown.body["may_use"], true);
  ASSERT_EQ(shown.body["versions"].size(), 2u);
  const json& first = shown.body["versions"][1];
  EXPECT_EQ(first["version"], 1);
  EXPECT_EQ(first["stage"], "candidate");
  EXPECT_EQ(first["job_id"], job);
  EXPECT_EQ(first["dataset"], "Ward");
  EXPECT_EQ(first["signature"]["inputs"][0]["name"], "age");
  EXPECT_EQ(shown.header("ETag"), "\"2\"");
  EXPECT_EQ(box.get(path + "/versions/1", as).body["model"], "readmission");
  EXPECT_EQ(box.get(path + "/versions/1/evaluation", as).body["task"], "binary");
  for (const char* nowhere : {"/versions/3", "/versions/0", "/versions/x", "/versions/1x"})
    EXPECT_EQ(box.get(path + nowhere, as).code(), "no_model") << nowhere;
}

TEST_F(ModelsApi, WhatIsNotTheirsIsNotThere) {
  train();
  const auto vera = box.add_user("vera", cluster::Role::viewer);
  const As as_vera = box.log_in(vera);
  EXPECT_EQ(box.get(path, as_vera).code(), "no_model");
  EXPECT_TRUE(box.get("/api/v1/models", as_vera).body["items"].empty());
  grant(vera);
  const Reply shown = box.get(path, as_vera);
  EXPECT_EQ(shown.status, 200);
  EXPECT_EQ(shown.body["may_export"], false);
  EXPECT_EQ(shown.body["granted"].size(), 1u);
  EXPECT_TRUE(shown.body["versions"][0]["dataset"].is_null());
  const auto clara = box.add_user("clara", cluster::Role::analyst);
  grant(clara);
  EXPECT_EQ(box.get(path, as_vera).body["granted"].size(), 1u) << "only their own";
  const As as_clara = box.log_in(clara);
  EXPECT_EQ(patch(path, {{"description", "x"}}, as_clara, "*").code(), "denied");
  EXPECT_EQ(box.post(path + "/versions/1:promote", nullptr, as_clara).code(), "denied");
  EXPECT_EQ(box.send(Method::del, path + "/versions/1", nullptr, as_clara).code(), "denied");
  EXPECT_EQ(box.send(Method::del, path + "/grants/vera", nullptr, as_clara).code(), "denied");
  EXPECT_EQ(box.send(Method::del, path + "/grants/vera", nullptr, as).status, 204);
  EXPECT_EQ(box.get(path, as_vera).status, 404);
}

TEST_F(ModelsApi, StagesAndRemoval) {
  train();
  train();
  EXPECT_EQ(box.post(path + ":rollback", nullptr, as).code(), "no_rollback");
  EXPECT_EQ(box.post(path + "/versions/1:promote", nullptr, as).body["serving"], 1);
  EXPECT_EQ(box.post(path + "/versions/2:promote", nullptr, as).body["serving"], 2);
  EXPECT_EQ(box.post(path + ":rollback", nullptr, as).body["serving"], 1);
  EXPECT_EQ(box.send(Method::del, path + "/versions/1", nullptr, as).code(), "model_serving");
  EXPECT_EQ(patch(path + "/versions/2", {{"protected", true}}, as).body["protected"], true);
  EXPECT_EQ(box.send(Method::del, path + "/versions/2", nullptr, as).code(), "model_protected");
  EXPECT_TRUE(box.post(path + ":retire", nullptr, as).body["serving"].is_null());
  EXPECT_EQ(box.send(Method::del, path + "/versions/1", nullptr, as).status, 204);
  EXPECT_EQ(box.post(path + "/versions/7:promote", nullptr, as).status, 404);
}

TEST_F(ModelsApi, ChangesNeedTheRevisionAndAHandOverAFreshPassword) {
  train();
  EXPECT_EQ(patch(path, {{"description", "new"}}, as).status, 428);
  EXPECT_EQ(patch(path, {{"description", "new"}}, as, "\"9\"").status, 412);
  EXPECT_EQ(patch(path, {{"description", "new"}}, as, "\"1\"").body["description"], "new");
  EXPECT_EQ(patch(path, json::object(), as, "*").status, 422);
  EXPECT_EQ(patch(path, {{"owner_id", "nobody"}}, as, "*").status, 422);
  const auto clara = box.add_user("clara", cluster::Role::analyst);
  box.advance(std::chrono::minutes(6));
  EXPECT_EQ(patch(path, {{"owner_id", "clara"}}, as, "*").code(), "reauth_required");
  EXPECT_EQ(patch(path, {{"owner_id", "clara"}}, box.log_in(boris), "*").status, 204);
  EXPECT_EQ(box.get(path, box.log_in(clara)).body["owner"], "clara");
}

TEST_F(ModelsApi, ExportIsForThoseWhoMayAndIsRecordedWithItsReason) {
  train();
  const std::string target = path + "/versions/1:export";
  const Reply made = box.post(target, {{"format", "json"}, {"reason", "for the ward"}}, as);
  ASSERT_EQ(made.status, 200) << made.response.body;
  EXPECT_EQ(made.response.body, "{}");
  EXPECT_EQ(made.header("Samovar-SHA256"),
            "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a");
  EXPECT_NE(made.header("Content-Disposition").find("readmission.json"), std::string::npos);
  EXPECT_EQ(box.models.seen_reason, "for the ward");
  EXPECT_EQ(box.post(target, {{"format", "pickle"}, {"reason", "for the ward"}}, as).status, 422);
  EXPECT_EQ(box.post(target, {{"format", "onnx"}}, as).status, 422);
  box.models.export_error = Error{Errc::internal, "row 3 differs"};
  const Reply differs = box.post(target, {{"format", "c"}, {"reason", "for the ward"}}, as);
  EXPECT_EQ(differs.status, 500);
  EXPECT_EQ(differs.code(), "export_mismatch");
  // An administrator sees it and may not take it.
  EXPECT_EQ(box.post(target, {{"format", "c"}, {"reason", "for me"}}, box.log_in(box.admin)).code(),
            "denied");
}

TEST_F(ModelsApi, ImportMakesAVersion) {
  const Reply made = box.post("/api/v1/models:import?name=old", {{"weights", {1, 2}}}, as);
  ASSERT_EQ(made.status, 201) << made.response.body;
  EXPECT_EQ(made.header("Location"), "/api/v1/models/old/versions/1");
  EXPECT_TRUE(made.body["job_id"].is_null());
  EXPECT_EQ(box.post("/api/v1/models:import?name=a%20b", {{"weights", 1}}, as).status, 400);
  EXPECT_EQ(box.post("/api/v1/models:import?name=compare", {{"weights", 1}}, as).status, 400);
  EXPECT_EQ(box.post("/api/v1/models:import?name=old", {{"x", 1}}, as).status, 422);
  const As other = box.log_in_as(cluster::Role::analyst);
  EXPECT_EQ(box.post("/api/v1/models:import?name=OLD", {{"weights", 1}}, other).code(), "name_taken");
}

TEST_F(ModelsApi, ComparisonTellsWhereTheyDiffer) {
  train();
  train();
  const Reply both = box.get("/api/v1/models:compare?a=readmission@1&b=readmission@2", as);
  ASSERT_EQ(both.status, 200) << both.response.body;
  EXPECT_EQ(both.body["a"]["version"], 1);
  EXPECT_EQ(both.body["a"]["model"], "readmission");
  EXPECT_EQ(both.body["b"]["metrics"]["test"]["auc"]["value"], 0.72);
  EXPECT_TRUE(both.body["differences"].empty());
  box.post("/api/v1/models:import?name=old", {{"weights", 1}}, as);
  const json other = box.get("/api/v1/models:compare?a=readmission@1&b=old", as).body;
  ASSERT_EQ(other["differences"].size(), 2u);
  EXPECT_EQ(other["differences"][0]["path"], "/kind");
  EXPECT_TRUE(other["differences"][0]["b"].is_null());
  EXPECT_EQ(box.get("/api/v1/models:compare?a=readmission@1", as).status, 400);
  EXPECT_EQ(box.get("/api/v1/models:compare?a=readmission@x&b=old", as).status, 400);
  EXPECT_EQ(box.get("/api/v1/models:compare?a=readmission@9&b=old", as).status, 404);
}

TEST_F(ModelsApi, AUserWithModelsIsNotDeleted) {
  train();
  const auto clara = box.add_user("clara", cluster::Role::analyst);
  As admin = box.log_in(box.admin);
  admin.headers["If-Match"] = "*";
  const Reply reply = box.send(Method::del, "/api/v1/users/" + boris.id, nullptr, admin);
  EXPECT_EQ(reply.code(), "owns_datasets");
}

}  // namespace
}  // namespace samovar::api::test
