#include "base/encoding.hpp"
#include "security/hash.hpp"
#include "tests/unit/daemon/cluster/model_fixture.hpp"

namespace samovar::cluster::testing {
namespace {

class ModelsTest : public ModelFixture {
 protected:
  Result<Fields> promote(std::int64_t version) {
    return apply("model.promote", named("readmission", version));
  }
  ModelStage stage(std::uint32_t version) { return find_model_version(db(), "readmission", version)->stage; }
};

TEST_F(ModelsTest, OneCommandMakesTheVersionAndEndsTheJob) {
  must(apply("job.begin", job_body("job_1")));
  must(apply("job.checkpoint", id("job_1").set("step", std::int64_t{9}).set("hash", hash_of(1))));
  const auto reply = apply("model.commit", model_body("readmission", "job_1"), 30);
  must(reply);
  EXPECT_EQ(*reply->number("version", 0, 99), 1);
  const auto model = find_model(db(), "READMISSION");
  ASSERT_TRUE(model);
  EXPECT_EQ(model->name, "readmission");
  EXPECT_EQ(model->description, "for the ward");
  EXPECT_EQ(model->kind, "glm");
  EXPECT_EQ(model->owner_id, "usr_boris");
  EXPECT_EQ(model->version, 1u);
  EXPECT_EQ(model->serving, 0u);
  EXPECT_EQ(model->created_at, at(30));
  const auto version = find_model_version(db(), "readmission", 1);
  ASSERT_TRUE(version);
  EXPECT_EQ(version->stage, ModelStage::candidate);
  EXPECT_EQ(version->job_id, "job_1");
  EXPECT_EQ(version->dataset_id, "dst_1");
  EXPECT_EQ(version->dataset_version, 1u);
  EXPECT_EQ(version->dataset_hash, std::string(64, 'd'));
  EXPECT_EQ(version->code_version, "0.4.0");
  EXPECT_EQ(version->headline_json, "{\"auc\":0.74}");
  EXPECT_EQ(version->stored_bytes, 4096u);
  EXPECT_EQ(version->hash, hash_of(3));
  EXPECT_EQ(version->wrapped_key, Bytes(72, 5));
  EXPECT_EQ(version->evaluation_name, "evaluation");
  EXPECT_EQ(version->evaluation_hash, hash_of(4));
  const auto job = find_job(db(), "job_1");
  EXPECT_EQ(job->state, "done");
  EXPECT_EQ(job->model_name, "readmission");
  EXPECT_EQ(job->model_version, 1u);
  EXPECT_EQ(job->summary_json, "{\"seconds\":2}");
  EXPECT_EQ(job->ended_at, at(30));
  EXPECT_EQ(job->checkpoint_step, 0u);
  ASSERT_EQ(audit("model.create").size(), 1u);
  EXPECT_EQ(audit("model.create")[0].object, "readmission");
  ASSERT_EQ(list_model_refs(db()).size(), 1u);
  EXPECT_EQ(list_model_refs(db())[0].evaluation_hash, hash_of(4));
}

TEST_F(ModelsTest, AJobThatEndedMakesNoModel) {
  must(apply("job.begin", job_body("job_1")));
  must(apply("job.end", job_end("job_1", "cancelled")));
  EXPECT_EQ(why(apply("model.commit", model_body("readmission", "job_1"))), Refusal::job_state);
  EXPECT_EQ(code(apply("model.commit", model_body("readmission", "job_9"))), Errc::not_found);
  EXPECT_FALSE(find_model(db(), "readmission"));
  EXPECT_EQ(count("SELECT count(*) FROM model_versions"), 0);
  EXPECT_TRUE(audit("model.create").empty());
}

TEST_F(ModelsTest, AWrongVersionLeavesNothing) {
  const auto body = [] { return model_body("readmission", ""); };
  EXPECT_EQ(code(apply("model.commit", body().set("kind", ""))), Errc::invalid);
  EXPECT_EQ(code(apply("model.commit", body().set("hash", Bytes(31, 1)))), Errc::invalid);
  EXPECT_EQ(code(apply("model.commit", body().set("evaluation_hash", Bytes()))), Errc::invalid);
  EXPECT_EQ(code(apply("model.commit", body().set("wrapped_key", Bytes()))), Errc::invalid);
  EXPECT_EQ(code(apply("model.commit", body().set("signature", to_bytes("no")))), Errc::invalid);
  EXPECT_EQ(code(apply("model.commit", body().set("name", "é"))), Errc::invalid);
  EXPECT_EQ(code(apply("model.commit", body().set("created_by", "usr_gone"))), Errc::not_found);
  EXPECT_FALSE(find_model(db(), "readmission"));
  must(apply("model.commit", body()));
  EXPECT_EQ(audit("model.import").size(), 1u);
}

TEST_F(ModelsTest, OnlyTheOwnerAddsVersions) {
  train("job_1");
  EXPECT_EQ(why(apply("job.begin", job_body("job_2", "Readmission", "usr_ada"))), Refusal::model_name_taken);
  EXPECT_EQ(why(apply("model.commit", model_body("readmission", "", "usr_ada"))), Refusal::model_name_taken);
  train("job_3", "READMISSION");
  EXPECT_EQ(find_model(db(), "readmission")->version, 2u);
  EXPECT_EQ(find_job(db(), "job_3")->model_name, "readmission");
  // Handed over while a job waits: its result must not land in another one's model.
  must(apply("job.begin", job_body("job_4")));
  must(apply("model.update", Fields().set("name", "readmission").set("owner_id", "usr_ada")));
  EXPECT_EQ(why(apply("model.commit", model_body("readmission", "job_4"))), Refusal::model_name_taken);
  EXPECT_EQ(find_job(db(), "job_4")->state, "queued");
}

TEST_F(ModelsTest, PromotionAndRollback) {
  train("job_1");
  train("job_2");
  train("job_3");
  EXPECT_EQ(find_model_version(db(), "readmission", 0)->version, 3u);
  EXPECT_EQ(why(apply("model.rollback", Fields().set("name", "readmission"))), Refusal::no_rollback);
  must(promote(1));
  EXPECT_EQ(find_model_version(db(), "readmission", 0)->version, 1u);
  must(promote(2));
  must(promote(2));
  EXPECT_EQ(audit("model.promote").size(), 2u);
  EXPECT_EQ(stage(1), ModelStage::archived);
  EXPECT_EQ(stage(2), ModelStage::production);
  EXPECT_EQ(stage(3), ModelStage::candidate);
  EXPECT_EQ(find_model(db(), "readmission")->served_before, 1u);
  must(apply("model.rollback", Fields().set("name", "readmission")));
  EXPECT_EQ(find_model(db(), "readmission")->serving, 1u);
  EXPECT_EQ(stage(1), ModelStage::production);
  EXPECT_EQ(stage(2), ModelStage::archived);
  EXPECT_EQ(why(apply("model.rollback", Fields().set("name", "readmission"))), Refusal::no_rollback);
  EXPECT_EQ(code(promote(4)), Errc::not_found);
  must(promote(0));
  EXPECT_EQ(find_model(db(), "readmission")->serving, 0u);
  EXPECT_EQ(stage(1), ModelStage::archived);
  EXPECT_EQ(audit("model.retire").size(), 1u);
}

TEST_F(ModelsTest, WhatServesOrIsProtectedIsNotRemoved) {
  train("job_1");
  train("job_2");
  must(promote(1));
  EXPECT_EQ(why(apply("model.remove", named("readmission", 1))), Refusal::model_serving);
  must(apply("model.protect", named("readmission", 2).set("protect", true)));
  EXPECT_EQ(why(apply("model.remove", named("readmission", 2))), Refusal::model_protected);
  must(apply("model.protect", named("readmission", 2).set("protect", false)));
  must(promote(2));
  must(apply("model.remove", named("readmission", 1)));
  EXPECT_EQ(find_model(db(), "readmission")->served_before, 0u);
  EXPECT_FALSE(find_model_version(db(), "readmission", 1));
  // The job's copy of the key opened the same files.
  EXPECT_TRUE(find_job(db(), "job_1")->wrapped_key.empty());
  EXPECT_FALSE(find_job(db(), "job_2")->wrapped_key.empty());
  const auto entry = audit("model.remove");
  ASSERT_EQ(entry.size(), 1u);
  EXPECT_NE(entry[0].details.find(hex_encode(security::blake2b_256(Bytes(72, 5)))), std::string::npos);
  // A number is not given twice.
  train("job_3");
  EXPECT_EQ(find_job(db(), "job_3")->model_version, 3u);
}

TEST_F(ModelsTest, TheModelGoesWithItsLastVersion) {
  train("job_1");
  must(apply("model.grant", Fields().set("name", "readmission").set("user_id", "usr_vera")));
  must(apply("model.remove", named("readmission", 1)));
  EXPECT_FALSE(find_model(db(), "readmission"));
  EXPECT_EQ(count("SELECT count(*) FROM model_grants"), 0);
  EXPECT_TRUE(list_model_refs(db()).empty());
  must(apply("job.begin", job_body("job_2", "readmission", "usr_ada")));
}

TEST_F(ModelsTest, GrantsAndOwnership) {
  train("job_1");
  const auto grant = [&](const char* type, const char* user) {
    return apply(type, Fields().set("name", "readmission").set("user_id", user));
  };
  must(grant("model.grant", "usr_vera"));
  must(grant("model.grant", "usr_vera"));
  must(grant("model.grant", "usr_ada"));
  EXPECT_EQ(audit("model.grant").size(), 2u);
  EXPECT_EQ(find_model(db(), "readmission")->granted_ids, (std::vector<std::string>{"usr_ada", "usr_vera"}));
  EXPECT_EQ(code(grant("model.grant", "usr_boris")), Errc::invalid);
  EXPECT_EQ(code(grant("model.grant", "usr_gone")), Errc::not_found);
  EXPECT_EQ(list_models(db(), "usr_vera").size(), 1u);
  EXPECT_EQ(list_models(db(), "usr_admin").size(), 0u);
  must(grant("model.ungrant", "usr_vera"));
  EXPECT_EQ(code(grant("model.ungrant", "usr_vera")), Errc::not_found);
  const auto revision = find_model(db(), "readmission")->revision;
  Fields change;
  change.set("name", "readmission").set("owner_id", "usr_ada").set("if_revision", revision);
  must(apply("model.update", change));
  EXPECT_EQ(why(apply("model.update", change)), Refusal::stale_revision);
  EXPECT_EQ(find_model(db(), "readmission")->owner_id, "usr_ada");
  EXPECT_TRUE(find_model(db(), "readmission")->granted_ids.empty());
}

TEST_F(ModelsTest, AUserWithModelsIsNotDeletedAndOneWithoutLosesGrants) {
  train("job_1");
  must(apply("model.grant", Fields().set("name", "readmission").set("user_id", "usr_vera")));
  EXPECT_EQ(why(apply("user.delete", id("usr_boris"))), Refusal::owns_models);
  must(apply("user.delete", id("usr_vera")));
  EXPECT_TRUE(find_model(db(), "readmission")->granted_ids.empty());
  must(apply("model.update", Fields().set("name", "readmission").set("owner_id", "usr_ada")));
  must(apply("user.delete", id("usr_boris")));
}

TEST_F(ModelsTest, TheDataOfAModelInProductionIsNotDestroyed) {
  train("job_1");
  must(apply("dataset.bin", id("dst_1")));
  must(promote(1));
  EXPECT_EQ(why(apply("dataset.destroy", id("dst_1"))), Refusal::dataset_needed);
  must(promote(0));
  must(apply("dataset.destroy", id("dst_1")));
  EXPECT_EQ(find_model_version(db(), "readmission", 1)->dataset_id, "dst_1");
}

TEST_F(ModelsTest, TheHashAndTheSnapshotCoverThem) {
  const Bytes empty = machine_->state_hash();
  train("job_1");
  const Bytes before = machine_->state_hash();
  EXPECT_NE(before, empty);
  for (const char* sql : {"UPDATE jobs SET attempt = 7", "UPDATE models SET serving = 1",
                          "UPDATE model_versions SET protect = 1",
                          "INSERT INTO model_grants VALUES ('readmission', 'usr_vera', 0, '')"}) {
    ASSERT_TRUE(db().exec("BEGIN"));
    ASSERT_TRUE(db().exec(sql));
    EXPECT_NE(machine_->state_hash(), before) << sql;
    ASSERT_TRUE(db().exec("ROLLBACK"));
  }
  auto other = ClusterMachine::create();
  ASSERT_TRUE(other);
  ASSERT_TRUE((*other)->restore(*machine_->snapshot()));
  EXPECT_EQ((*other)->state_hash(), before);
}

TEST_F(ModelsTest, ASecondSendingAnswersTheSame) {
  must(apply("job.begin", job_body("job_1")));
  const auto first = apply("model.commit", model_body("readmission", "job_1"), 0, "req_1");
  const auto again = apply("model.commit", model_body("readmission", "job_1"), 0, "req_1");
  must(first);
  must(again);
  EXPECT_EQ(first->to_json(), again->to_json());
  EXPECT_EQ(find_model(db(), "readmission")->version, 1u);
}

}  // namespace
}  // namespace samovar::cluster::testing
