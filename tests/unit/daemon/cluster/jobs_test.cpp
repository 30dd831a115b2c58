#include "daemon/cluster/copies.hpp"
#include "tests/unit/daemon/cluster/model_fixture.hpp"

namespace samovar::cluster::testing {
namespace {

using JobsTest = ModelFixture;

TEST_F(JobsTest, AJobIsKeptAsItWasAccepted) {
  must(apply("job.begin", job_body("job_1"), 5));
  const auto job = find_job(db(), "job_1");
  ASSERT_TRUE(job);
  EXPECT_EQ(job->kind, "glm");
  EXPECT_EQ(job->name, "readmission");
  EXPECT_EQ(job->owner_id, "usr_boris");
  EXPECT_EQ(job->dataset_id, "dst_1");
  EXPECT_EQ(job->dataset_version, 1u);
  EXPECT_EQ(job->spec_json, "{\"kind\":\"glm\",\"target\":\"age\"}");
  EXPECT_EQ(job->state, "queued");
  EXPECT_EQ(job->attempt, 1u);
  EXPECT_EQ(job->created_at, at(5));
  EXPECT_FALSE(job->ended_at);
  EXPECT_EQ(job->wrapped_key, Bytes(72, 5));
  EXPECT_EQ(job->revision, 1u);
  ASSERT_EQ(audit("job.begin").size(), 1u);
  EXPECT_EQ(audit("job.begin")[0].object, "job_1");
}

TEST_F(JobsTest, AWrongJobLeavesNothing) {
  const auto with = [](const char* field, std::string_view value) {
    return job_body("job_1").set(field, value);
  };
  EXPECT_EQ(code(apply("job.begin", with("name", ""))), Errc::invalid);
  EXPECT_EQ(code(apply("job.begin", with("name", "a b"))), Errc::invalid);
  EXPECT_EQ(code(apply("job.begin", with("name", "../x"))), Errc::invalid);
  EXPECT_EQ(code(apply("job.begin", with("name", "Compare"))), Errc::invalid);
  EXPECT_EQ(code(apply("job.begin", with("name", std::string(65, 'a')))), Errc::invalid);
  EXPECT_EQ(code(apply("job.begin", with("owner_id", "usr_gone"))), Errc::not_found);
  EXPECT_EQ(code(apply("job.begin", with("dataset_id", "dst_9"))), Errc::not_found);
  EXPECT_EQ(code(apply("job.begin", job_body("job_1").set("dataset_version", std::int64_t{2}))),
            Errc::not_found);
  EXPECT_EQ(code(apply("job.begin", job_body("job_1").set("spec", to_bytes("[1]")))), Errc::invalid);
  EXPECT_EQ(code(apply("job.begin", job_body("job_1").set("wrapped_key", Bytes(8, 1)))), Errc::invalid);
  must(apply("dataset.bin", id("dst_1")));
  EXPECT_EQ(why(apply("job.begin", job_body("job_1"))), Refusal::dataset_binned);
  EXPECT_EQ(count("SELECT count(*) FROM jobs"), 0);
  EXPECT_TRUE(audit("job.begin").empty());
}

TEST_F(JobsTest, StatesFollowEachOther) {
  must(apply("job.begin", job_body("job_1")));
  EXPECT_EQ(why(apply("job.end", job_end("job_1", "queued"))), Refusal::job_state);
  EXPECT_EQ(why(apply("job.end", job_end("job_1", "done"))), Refusal::job_state);
  must(apply("job.end", job_end("job_1", "paused"), 10));
  EXPECT_FALSE(find_job(db(), "job_1")->ended_at);
  EXPECT_EQ(why(apply("job.end", job_end("job_1", "failed"))), Refusal::job_state);
  must(apply("job.end", job_end("job_1", "queued")));
  EXPECT_EQ(find_job(db(), "job_1")->attempt, 1u);
  must(apply("job.end", job_end("job_1", "failed", "the target has one class"), 20));
  EXPECT_EQ(find_job(db(), "job_1")->error, "the target has one class");
  EXPECT_EQ(find_job(db(), "job_1")->ended_at, at(20));
  must(apply("job.end", job_end("job_1", "queued")));
  EXPECT_EQ(find_job(db(), "job_1")->attempt, 2u);
  EXPECT_EQ(find_job(db(), "job_1")->error, "");
  EXPECT_FALSE(find_job(db(), "job_1")->ended_at);
  must(apply("job.end", job_end("job_1", "cancelled")));
  EXPECT_EQ(why(apply("job.end", job_end("job_1", "paused"))), Refusal::job_state);
  for (const char* action : {"job.pause", "job.resume", "job.end", "job.retry", "job.cancel"})
    EXPECT_EQ(audit(action).size(), 1u) << action;
  EXPECT_EQ(audit("job.end")[0].result, "failed");
  EXPECT_EQ(audit("job.end")[0].details.find("one class"), std::string::npos);
}

TEST_F(JobsTest, WhatIsKnownOfARunStaysWhenNothingNewIsSaid) {
  must(apply("job.begin", job_body("job_1")));
  must(apply("job.end", job_end("job_1", "paused").set("summary", to_bytes("{\"seconds\":7}"))));
  must(apply("job.end", job_end("job_1", "queued")));
  EXPECT_EQ(find_job(db(), "job_1")->summary_json, "{\"seconds\":7}");
}

TEST_F(JobsTest, TheLastCheckpointIsNamed) {
  must(apply("job.begin", job_body("job_1")));
  const auto checkpoint = [&](std::int64_t step, Bytes hash) {
    return apply("job.checkpoint", id("job_1").set("step", step).set("hash", hash));
  };
  const std::size_t entries = audit("").size();
  must(checkpoint(40, hash_of(1)));
  must(checkpoint(90, hash_of(2)));
  EXPECT_EQ(find_job(db(), "job_1")->checkpoint_step, 90u);
  EXPECT_EQ(find_job(db(), "job_1")->checkpoint_hash, hash_of(2));
  ASSERT_EQ(list_job_refs(db()).size(), 1u);
  EXPECT_EQ(list_job_refs(db())[0].checkpoint_hash, hash_of(2));
  EXPECT_EQ(code(checkpoint(91, Bytes(31, 1))), Errc::invalid);
  EXPECT_EQ(code(checkpoint(0, hash_of(1))), Errc::invalid);
  must(checkpoint(0, {}));
  EXPECT_EQ(find_job(db(), "job_1")->checkpoint_step, 0u);
  must(apply("job.end", job_end("job_1", "cancelled")));
  EXPECT_EQ(why(checkpoint(100, hash_of(1))), Refusal::job_state);
  EXPECT_EQ(audit("").size(), entries + 1);
}

TEST_F(JobsTest, OnlyTheNodeThatHasAJobPlansIt) {
  must(apply("job.begin", job_body("job_1").set("node_id", "nod_a")));
  const auto plan = [&](const char* node, std::int64_t run, std::int64_t epoch) {
    return apply("job.plan", id("job_1")
                                 .set("node_id", node)
                                 .set("run", run)
                                 .set("epoch", epoch)
                                 .set("plan", to_bytes("{\"parts\":1}")));
  };
  must(plan("nod_a", 1, 1));
  must(plan("nod_a", 1, 2));
  EXPECT_EQ(find_job(db(), "job_1")->epoch, 2u);
  EXPECT_EQ(find_job(db(), "job_1")->plan_json, "{\"parts\":1}");
  EXPECT_EQ(why(plan("nod_a", 1, 2)), Refusal::job_state);
  EXPECT_EQ(why(plan("nod_b", 2, 3)), Refusal::job_state);
  // Another one has it from now on, and the first one's plans count no more.
  must(apply("job.take", id("job_1").set("from", "nod_a").set("node_id", "nod_b")));
  EXPECT_EQ(find_job(db(), "job_1")->node_id, "nod_b");
  EXPECT_EQ(why(plan("nod_a", 1, 3)), Refusal::job_state);
  must(plan("nod_b", 3, 3));
  EXPECT_EQ(why(plan("nod_b", 2, 4)), Refusal::job_state);  // a run before
  must(apply("job.take", id("job_1").set("from", "nod_a").set("node_id", "nod_c")));
  EXPECT_EQ(find_job(db(), "job_1")->node_id, "nod_b");
  must(apply("job.end", job_end("job_1", "cancelled")));
  EXPECT_EQ(why(plan("nod_b", 3, 5)), Refusal::job_state);
  EXPECT_EQ(audit("job.take").size(), 1u);
}

TEST_F(JobsTest, AHomeThatLostItsJobCannotCommitItsModel) {
  must(apply("job.begin", job_body("job_1").set("node_id", "nod_a")));
  const auto plan = [&](const char* node, std::int64_t run) {
    must(apply(
        "job.plan",
        id("job_1").set("node_id", node).set("run", run).set("epoch", run).set("plan", to_bytes("{}"))));
  };
  const auto commit = [&](const char* home, std::int64_t run) {
    return apply("model.commit", model_body("readmission", "job_1").set("run", run).set("home", home));
  };
  plan("nod_a", 1);
  must(apply("job.take", id("job_1").set("from", "nod_a").set("node_id", "nod_b")));
  EXPECT_EQ(why(commit("nod_a", 1)), Refusal::job_state);
  plan("nod_b", 2);
  EXPECT_EQ(why(commit("nod_a", 1)), Refusal::job_state);
  EXPECT_EQ(why(commit("nod_b", 1)), Refusal::job_state);  // of a run before
  EXPECT_FALSE(find_model(db(), "readmission"));
  must(commit("nod_b", 2));
  EXPECT_EQ(find_job(db(), "job_1")->state, "done");
}

TEST_F(JobsTest, ACheckpointIsAStoredFileUntilTheNextOne) {
  must(apply("job.begin", job_body("job_1").set("node_id", "nod_a")));
  const auto checkpoint = [&](std::int64_t step, std::int64_t run) {
    return apply("job.checkpoint", id("job_1")
                                       .set("step", step)
                                       .set("hash", hash_of(1))
                                       .set("name", "checkpoint-" + std::to_string(step))
                                       .set("bytes", std::int64_t{100})
                                       .set("run", run)
                                       .set("holders", std::vector<std::string>{"nod_a", "nod_b"}));
  };
  const auto stored = [&](const char* key) { return find_stored_file(db(), key); };
  must(checkpoint(40, 0));
  ASSERT_TRUE(stored("job_1/checkpoint-40"));
  EXPECT_EQ(stored("job_1/checkpoint-40")->bytes, 100u);
  EXPECT_EQ(stored("job_1/checkpoint-40")->holders, (std::vector<std::string>{"nod_a", "nod_b"}));
  must(checkpoint(90, 0));
  EXPECT_FALSE(stored("job_1/checkpoint-40"));
  EXPECT_EQ(find_job(db(), "job_1")->checkpoint_name, "checkpoint-90");
  bool listed = false;
  for (const auto& file : list_stored_files(db())) listed = listed || file.key == "job_1/checkpoint-90";
  EXPECT_TRUE(listed);
  // It goes with the job to another node.
  must(apply("job.take", id("job_1").set("from", "nod_a").set("node_id", "nod_b")));
  EXPECT_EQ(find_job(db(), "job_1")->checkpoint_step, 90u);
  must(apply("job.plan", id("job_1")
                             .set("node_id", "nod_b")
                             .set("run", std::int64_t{2})
                             .set("epoch", std::int64_t{1})
                             .set("plan", to_bytes("{}"))));
  EXPECT_EQ(why(checkpoint(120, 1)), Refusal::job_state);  // of the run before
  // The last one of a job that pauses comes after it did.
  must(apply("job.end", job_end("job_1", "paused")));
  must(checkpoint(130, 2));
  must(apply("job.end", job_end("job_1", "cancelled")));
  must(apply("job.remove", id("job_1")));
  EXPECT_FALSE(stored("job_1/checkpoint-130"));
}

TEST_F(JobsTest, HowUrgentItIsCanChangeUntilItHasEnded) {
  must(apply("job.begin", job_body("job_1").set("priority", std::int64_t{10})));
  must(apply("job.begin", job_body("job_2")));
  EXPECT_EQ(find_job(db(), "job_1")->priority, 10);
  EXPECT_EQ(find_job(db(), "job_2")->priority, 0);
  const auto urge = [&](std::int64_t priority) {
    return apply("job.priority", id("job_2").set("priority", priority));
  };
  must(urge(-10));
  must(urge(-10));
  EXPECT_EQ(find_job(db(), "job_2")->priority, -10);
  EXPECT_EQ(find_job(db(), "job_2")->revision, 2u);
  EXPECT_EQ(audit("job.priority").size(), 1u);
  EXPECT_EQ(code(urge(101)), Errc::invalid);
  must(apply("job.end", job_end("job_2", "paused")));
  must(urge(7));
  must(apply("job.end", job_end("job_2", "cancelled")));
  EXPECT_EQ(why(urge(8)), Refusal::job_state);
  must(apply("job.remove", id("job_2")));
  EXPECT_EQ(count("SELECT count(*) FROM job_priorities"), 1);
}

TEST_F(JobsTest, OnlyWhatHasEndedAndIsNotProtectedIsRemoved) {
  must(apply("job.begin", job_body("job_1")));
  EXPECT_EQ(why(apply("job.remove", id("job_1"))), Refusal::job_state);
  must(apply("job.end", job_end("job_1", "cancelled")));
  must(apply("job.protect", id("job_1").set("protect", true)));
  must(apply("job.protect", id("job_1").set("protect", true)));
  EXPECT_EQ(audit("job.protect").size(), 1u);
  EXPECT_EQ(why(apply("job.remove", id("job_1"))), Refusal::job_protected);
  must(apply("job.protect", id("job_1").set("protect", false)));
  must(apply("job.remove", id("job_1")));
  EXPECT_FALSE(find_job(db(), "job_1"));
  EXPECT_EQ(code(apply("job.remove", id("job_1"))), Errc::not_found);
  EXPECT_EQ(audit("job.remove").size(), 1u);
}

TEST_F(JobsTest, TheDataOfAnUnfinishedJobIsNotDestroyed) {
  must(apply("job.begin", job_body("job_1")));
  must(apply("dataset.bin", id("dst_1")));
  EXPECT_EQ(why(apply("dataset.destroy", id("dst_1"))), Refusal::dataset_needed);
  must(apply("job.end", job_end("job_1", "paused")));
  EXPECT_EQ(why(apply("dataset.destroy", id("dst_1"))), Refusal::dataset_needed);
  // And it does not go on while its data is on the way out.
  EXPECT_EQ(why(apply("job.end", job_end("job_1", "queued"))), Refusal::dataset_binned);
  must(apply("job.end", job_end("job_1", "cancelled")));
  must(apply("dataset.destroy", id("dst_1")));
  EXPECT_EQ(code(apply("job.end", job_end("job_1", "queued"))), Errc::not_found);
}

TEST_F(JobsTest, ADeletedUsersJobsAreCancelled) {
  must(apply("job.begin", job_body("job_1")));
  must(apply("job.begin", job_body("job_2")));
  must(apply("job.begin", job_body("job_3", "other", "usr_ada")));
  must(apply("job.end", job_end("job_2", "paused")));
  std::vector<std::string> heard;
  machine_->on_change([&](const Change& change) {
    if (change.kind == Change::Kind::jobs) heard.push_back(change.id);
  });
  must(apply("user.delete", id("usr_boris"), 50));
  EXPECT_EQ(heard, (std::vector<std::string>{"job_1", "job_2"}));
  EXPECT_EQ(find_job(db(), "job_1")->state, "cancelled");
  EXPECT_EQ(find_job(db(), "job_1")->ended_at, at(50));
  EXPECT_EQ(find_job(db(), "job_2")->state, "cancelled");
  EXPECT_EQ(find_job(db(), "job_3")->state, "queued");
}

TEST_F(JobsTest, ListsAreOfOneStateAndOneUser) {
  train("job_1");
  must(apply("job.begin", job_body("job_2")));
  must(apply("job.begin", job_body("job_3", "other", "usr_ada")));
  const auto ids = [&](const JobFilter& filter) {
    std::string out;
    for (const JobRecord& job : list_jobs(db(), filter)) out += job.id + " ";
    return out;
  };
  EXPECT_EQ(ids({}), "job_3 job_2 job_1 ");
  EXPECT_EQ(ids({"queued", std::nullopt}), "job_3 job_2 ");
  EXPECT_EQ(ids({"", "usr_boris"}), "job_2 job_1 ");
  EXPECT_EQ(ids({"", "usr_vera"}), "");
  // Who may use a model may see how it was made.
  must(apply("model.grant", Fields().set("name", "readmission").set("user_id", "usr_vera")));
  EXPECT_EQ(ids({"", "usr_vera"}), "job_1 ");
}

TEST_F(JobsTest, TooManyWaitingJobsAreRefused) {
  for (int i = 0; i < 100; ++i) must(apply("job.begin", job_body("job_" + std::to_string(i))));
  EXPECT_EQ(code(apply("job.begin", job_body("job_more"))), Errc::busy);
  must(apply("job.begin", job_body("job_ada", "other", "usr_ada")));
  must(apply("job.end", job_end("job_0", "cancelled")));
  must(apply("job.begin", job_body("job_more")));
  EXPECT_EQ(code(apply("job.end", job_end("job_0", "queued"))), Errc::busy);
}

}  // namespace
}  // namespace samovar::cluster::testing
