// What is looked at in the moment a node is removed, and what comes too late for one that is.
#include "tests/unit/daemon/cluster/nodes_fixture.hpp"

namespace samovar::cluster::testing {
namespace {

class RemovalTest : public NodesFixture {};

// Between the preview and the removal a data set may have been kept, or the other copy gone.
TEST_F(RemovalTest, TheLastCopyOfAnythingIsNotTakenUnasked) {
  grow();
  Fields model = model_body("heart", "").set("evaluation_name", "mdl_1/evaluation");
  const auto file = [](const char* name) {
    return Fields().set("name", name).set("stored", std::int64_t{90}).set("nodes", Ids{"nod_1"});
  };
  must(apply("model.commit", model.set("files", std::vector<Fields>{file("model"), file("evaluation")})));
  must(apply("job.begin", job_body("job_1").set("node_id", "nod_1")));
  must(apply("job.checkpoint", checkpoint_body("job_1", 40, {"nod_1"})));
  const Fields removal = id("nod_2").set("losses_max", std::int64_t{0});
  const Bytes before = machine_->state_hash();
  const std::vector<std::pair<std::string, std::string>> files = {
      {"dst_1.1/0", "the data set \"Ward 6\""},
      {"dst_1.1/profile", "the data set \"Ward 6\""},
      {"dst_1.1/bad-rows", "the data set \"Ward 6\""},
      {"dst_1/source", "the data set \"Ward 6\""},
      {"mdl_1/model", "the model \"heart\""},
      {"mdl_1/evaluation", "the model \"heart\""},
      {"job_1/checkpoint-40", "the training of \"readmission\""},
  };
  for (const auto& [key, owner] : files) {
    must(copies({change(key, "nod_2"), change(key, "nod_1", false)}));
    ASSERT_EQ(holders(key), Ids{"nod_2"});
    const auto refused = apply("node.remove", removal);
    ASSERT_EQ(why(refused), Refusal::last_copies) << key;
    EXPECT_NE(refused.error().message().find("1 file, of " + owner), std::string::npos)
        << refused.error().message();
    EXPECT_EQ(find_node(db(), "nod_2")->state, NodeState::active);
    EXPECT_EQ(holders(key), Ids{"nod_2"});
    must(copies({change(key, "nod_3")}));
  }
  EXPECT_EQ(audit("node.remove").size(), 0u);
  // Nobody misses what has no record any more.
  run(db(), "INSERT INTO copies VALUES ('dst_7.1/0', 'nod_2')");
  must(apply("node.remove", removal));
  for (const auto& [key, owner] : files) EXPECT_EQ(holders(key), Ids{"nod_3"}) << key;
  EXPECT_NE(machine_->state_hash(), before);
}

TEST_F(RemovalTest, AsManyFilesAreLostAsSomebodyAgreedTo) {
  grow();
  must(apply(
      "dataset.commit",
      manifest_body("dst_2", "Ward 7")
          .set("holders", Fields().set("profile", Ids{"nod_2"}))
          .set("source",
               Fields().set("nodes", Ids{"nod_2"}).set("stored", std::int64_t{7}).set("hash", hash_of(7)))));
  const auto remove = [&](std::int64_t losses) {
    return apply("node.remove", id("nod_2").set("losses_max", losses));
  };
  const auto refused = remove(1);
  ASSERT_EQ(why(refused), Refusal::last_copies);
  EXPECT_NE(refused.error().message().find("2 files, of the data set \"Ward 7\""), std::string::npos)
      << refused.error().message();
  EXPECT_FALSE(remove(-1));
  must(remove(2));
  const auto entry = audit("node.remove");
  ASSERT_EQ(entry.size(), 1u);
  EXPECT_NE(entry[0].details.find("\"lost\":2"), std::string::npos) << entry[0].details;
}

// As nodes before version 7 do it, and so does the log they wrote.
TEST_F(RemovalTest, ARemovalThatDoesNotAskForItIsNotLookedAt) {
  grow();
  must(copies({change("dst_1.1/0", "nod_2"), change("dst_1.1/0", "nod_1", false)}));
  must(apply("node.remove", id("nod_2")));
  EXPECT_TRUE(holders("dst_1.1/0").empty());
}

// Those that are drained have no vote: without the last one that is not, nobody could change anything.
TEST_F(RemovalTest, TheLastActiveNodeIsNotRemoved) {
  grow();
  must(apply("node.drain", id("nod_2").set("drain", true)));
  must(apply("node.drain", id("nod_3").set("drain", true)));
  const Fields removal = id("nod_1").set("losses_max", INT64_MAX);
  EXPECT_EQ(why(apply("node.remove", removal)), Refusal::last_active);
  must(apply("node.remove", id("nod_3").set("losses_max", INT64_MAX)));
  EXPECT_EQ(why(apply("node.remove", removal)), Refusal::last_active);
  must(apply("node.drain", id("nod_2").set("drain", false)));
  must(apply("node.remove", removal));
}

TEST_F(RemovalTest, NothingIsKeptThatOnlyARemovedNodeHeld) {
  grow();
  must(apply("job.begin", job_body("job_1").set("node_id", "nod_1")));
  must(apply("job.checkpoint", checkpoint_body("job_1", 40, {"nod_1"})));
  must(apply("node.remove", id("nod_2").set("losses_max", std::int64_t{0})));
  // The one before is better than none.
  EXPECT_EQ(code(apply("job.checkpoint", checkpoint_body("job_1", 90, {"nod_2"}).set("must_be_held", true))),
            Errc::conflict);
  EXPECT_EQ(find_job(db(), "job_1")->checkpoint_step, 40u);
  EXPECT_EQ(holders("job_1/checkpoint-40"), Ids{"nod_1"});
  const auto model = [&](Ids nodes) {
    const auto file = [&](const char* name) {
      return Fields().set("name", name).set("stored", std::int64_t{90}).set("nodes", nodes);
    };
    return model_body("heart", "job_1")
        .set("evaluation_name", "mdl_1/evaluation")
        .set("files", std::vector<Fields>{file("model"), file("evaluation")})
        .set("must_be_held", true);
  };
  EXPECT_EQ(code(apply("model.commit", model({"nod_2"}))), Errc::conflict);
  EXPECT_EQ(find_job(db(), "job_1")->state, "queued");
  EXPECT_FALSE(find_model(db(), "heart"));
  must(apply("model.commit", model({"nod_2", "nod_3"})));
  EXPECT_EQ(holders("mdl_1/model"), Ids{"nod_3"});
}

TEST_F(RemovalTest, WorkIsNotBegunByANodeThatWasRemoved) {
  grow();
  must(apply("node.remove", id("nod_2").set("losses_max", std::int64_t{0})));
  const auto begin = [&](const char* operation, const char* node) {
    return apply("operation.begin",
                 operation_body(operation).set("node_id", node).set("must_be_member", true));
  };
  EXPECT_EQ(code(begin("op_1", "nod_2")), Errc::denied);
  EXPECT_FALSE(find_operation(db(), "op_1"));
  must(begin("op_2", "nod_3"));
}

}  // namespace
}  // namespace samovar::cluster::testing
