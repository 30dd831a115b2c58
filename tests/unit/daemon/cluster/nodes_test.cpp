// Members, holders of files, carriers of work.
#include "daemon/cluster/copies.hpp"
#include "daemon/cluster/schema.hpp"
#include "tests/unit/daemon/cluster/nodes_fixture.hpp"

namespace samovar::cluster::testing {
namespace {

class NodesTest : public NodesFixture {};

// The leader copies and removes by this list: an old one would have it do so for ever.
TEST_F(NodesTest, TheListOfStoredFilesFollowsCheckpointsAndTheirCopies) {
  grow();
  must(apply("job.begin", job_body("job_1").set("node_id", "nod_1")));
  const auto listed = [&](const std::string& key) -> std::optional<Ids> {
    for (const auto& file : machine_->stored_files())
      if (file.key == key) return file.holders;
    return std::nullopt;
  };
  const auto checkpoint = [&](std::int64_t step) {
    return apply("job.checkpoint", checkpoint_body("job_1", step, {"nod_1"}));
  };
  EXPECT_FALSE(listed("job_1/checkpoint-40"));
  must(checkpoint(40));
  EXPECT_EQ(listed("job_1/checkpoint-40"), Ids{"nod_1"});
  Ids heard;
  machine_->on_change([&](const Change& one) {
    if (one.kind == Change::Kind::jobs) heard.push_back(one.id);
  });
  must(copies({change("job_1/checkpoint-40", "nod_2")}));
  EXPECT_EQ(listed("job_1/checkpoint-40"), (Ids{"nod_1", "nod_2"}));
  EXPECT_EQ(heard, Ids{"job_1"});
  must(checkpoint(90));
  EXPECT_FALSE(listed("job_1/checkpoint-40"));
  EXPECT_TRUE(listed("job_1/checkpoint-90"));
}

TEST_F(NodesTest, ANodeIsAdmittedOnceAndRemovedForGood) {
  grow();
  const auto node = find_node(db(), "nod_2");
  ASSERT_TRUE(node);
  EXPECT_EQ(node->state, NodeState::active);
  EXPECT_EQ(node->addresses, (Ids{"10.0.0.7:7443", "[fe80::1]:7443"}));
  EXPECT_EQ(node->disk_bytes, std::uint64_t{1} << 40);
  EXPECT_EQ(node->sign_public, Bytes(32, '2'));
  EXPECT_EQ(why(apply("node.admit", node_body("nod_2"))), Refusal::node_known);
  // The same key under another id is the same disk once more.
  EXPECT_EQ(why(apply("node.admit", node_body("nod_22"))), Refusal::node_known);
  must(apply("node.remove", id("nod_2"), 7));
  EXPECT_EQ(find_node(db(), "nod_2")->state, NodeState::removed);
  EXPECT_EQ(find_node(db(), "nod_2")->removed_at, at(7));
  EXPECT_EQ(why(apply("node.admit", node_body("nod_2"))), Refusal::node_known);
  EXPECT_EQ(code(apply("node.put", node_body("nod_2"))), Errc::denied);
  EXPECT_EQ(code(apply("node.remove", id("nod_2"))), Errc::not_found);
  EXPECT_EQ(read_nodes(db()).back().id, "nod_2");
  EXPECT_EQ(audit("node.admit").size(), 2u);
  EXPECT_EQ(audit("node.remove").size(), 1u);
}

TEST_F(NodesTest, AStrangerDoesNotWriteItselfIn) {
  grow();
  EXPECT_EQ(code(apply("node.put", node_body("nod_9"))), Errc::denied);
  EXPECT_EQ(read_nodes(db()).size(), 3u);
  // Addresses change over night, keys do not.
  Fields moved = node_body("nod_3");
  moved.set("addresses", Ids{"192.168.5.5:7443"}).set("sign_public", Bytes(32, 99));
  must(apply("node.put", moved));
  EXPECT_EQ(find_node(db(), "nod_3")->addresses, Ids{"192.168.5.5:7443"});
  EXPECT_EQ(find_node(db(), "nod_3")->sign_public, Bytes(32, '3'));
}

TEST_F(NodesTest, OneNodeStays) {
  must(apply("node.put", node_body("nod_1")));
  EXPECT_EQ(why(apply("node.remove", id("nod_1"))), Refusal::last_node);
  EXPECT_EQ(why(apply("node.drain", id("nod_1").set("drain", true))), Refusal::last_node);
  must(apply("node.admit", node_body("nod_2")));
  must(apply("node.drain", id("nod_1").set("drain", true)));
  must(apply("node.drain", id("nod_1").set("drain", true)));
  EXPECT_EQ(find_node(db(), "nod_1")->state, NodeState::draining);
  EXPECT_EQ(why(apply("node.drain", id("nod_2").set("drain", true))), Refusal::last_node);
  must(apply("node.drain", id("nod_1").set("drain", false)));
  EXPECT_EQ(find_node(db(), "nod_1")->state, NodeState::active);
  EXPECT_EQ(audit("node.drain").size(), 1u);
  EXPECT_EQ(audit("node.resume").size(), 1u);
}

TEST_F(NodesTest, HoldersFollowTheFacts) {
  grow();
  EXPECT_EQ(holders("dst_1.1/0"), Ids{"nod_1"});
  const auto entries = count("SELECT count(*) FROM audit");
  must(
      copies({change("dst_1.1/0", "nod_3"), change("dst_1.1/0", "nod_2"), change("dst_1.1/0", "nod_1", false),
              change("dst_1.1/profile", "nod_2"), change("dst_1/source", "nod_2"),
              // Passed over: no such file, no such member.
              change("dst_1.1/99", "nod_2"), change("dst_1.2/0", "nod_2"), change("dst_7/source", "nod_2"),
              change("dst_1.1/0", "nod_9"), change("dst_1.01/0", "nod_2"), change("nonsense", "nod_2")}));
  EXPECT_EQ(holders("dst_1.1/0"), (Ids{"nod_2", "nod_3"}));
  const auto version = find_version(db(), "dst_1", 1);
  EXPECT_EQ(version->shards[0].node_ids, (Ids{"nod_2", "nod_3"}));
  EXPECT_EQ(version->objects[1].node_ids, Ids{"nod_2"});
  EXPECT_EQ(count("SELECT count(*) FROM copies WHERE node_id = 'nod_9' OR key LIKE '%99'"), 0);
  EXPECT_EQ(count("SELECT count(*) FROM audit"), entries);
}

TEST_F(NodesTest, ACopyIsGivenUpOnlyWhileOthersHaveIt) {
  grow();
  must(copies({change("dst_1.1/0", "nod_2")}));
  must(copies({change("dst_1.1/0", "nod_1", false).set("others_min", std::int64_t{2})}));
  EXPECT_EQ(holders("dst_1.1/0"), (Ids{"nod_1", "nod_2"}));
  must(copies({change("dst_1.1/0", "nod_1", false).set("others_min", std::int64_t{1})}));
  EXPECT_EQ(holders("dst_1.1/0"), Ids{"nod_2"});
  must(copies({change("dst_1.1/0", "nod_2", false).set("others_min", std::int64_t{1})}));
  EXPECT_EQ(holders("dst_1.1/0"), Ids{"nod_2"});
  // A damaged copy is a fact.
  must(copies({change("dst_1.1/0", "nod_2", false)}));
  EXPECT_TRUE(holders("dst_1.1/0").empty());
}

TEST_F(NodesTest, ARemovedNodeTakesCopiesAndWorkWithIt) {
  grow();
  must(copies({change("dst_1.1/0", "nod_2"), change("dst_1.1/1", "nod_2")}));
  must(apply("job.begin", job_body("job_1").set("node_id", "nod_2")));
  must(apply("job.begin", job_body("job_2").set("node_id", "nod_1")));
  must(apply("operation.begin", operation_body("op_1").set("node_id", "nod_2")));
  must(apply("job.checkpoint", id("job_1").set("step", std::int64_t{5}).set("hash", hash_of(5))));
  must(apply("node.remove", id("nod_2")));
  EXPECT_EQ(holders("dst_1.1/0"), Ids{"nod_1"});
  EXPECT_EQ(count("SELECT count(*) FROM copies WHERE node_id = 'nod_2'"), 0);
  // The leader gives the job to somebody else, without the checkpoint that lay only there.
  EXPECT_EQ(find_job(db(), "job_1")->state, "queued");
  EXPECT_EQ(find_job(db(), "job_2")->state, "queued");
  EXPECT_EQ(find_operation(db(), "op_1")->state, "failed");
  must(apply("job.take", id("job_1").set("from", "nod_2").set("node_id", "nod_3")));
  EXPECT_EQ(find_job(db(), "job_1")->node_id, "nod_3");
  EXPECT_EQ(find_job(db(), "job_1")->checkpoint_step, 0u);
  // A manifest made while it was still there.
  must(apply("dataset.commit",
             manifest_body("dst_2", "Late").set("holders", Fields().set("profile", Ids{"nod_2"}))));
  EXPECT_TRUE(holders("dst_2.1/profile").empty());
}

TEST_F(NodesTest, ACheckpointStaysWhereItWasMade) {
  grow();
  must(apply("job.begin", job_body("job_1").set("node_id", "nod_2")));
  must(apply("job.checkpoint", id("job_1").set("step", std::int64_t{5}).set("hash", hash_of(5))));
  must(apply("job.end", job_end("job_1", "paused")));
  must(apply("job.end", job_end("job_1", "queued").set("node_id", "nod_2")));
  EXPECT_EQ(find_job(db(), "job_1")->checkpoint_step, 5u);
  must(apply("job.end", job_end("job_1", "paused")));
  must(apply("job.end", job_end("job_1", "queued").set("node_id", "nod_1")));
  EXPECT_EQ(find_job(db(), "job_1")->checkpoint_step, 0u);
  EXPECT_EQ(find_job(db(), "job_1")->node_id, "nod_1");
}

TEST_F(NodesTest, AllFilesAreListedWithWhatIsWanted) {
  grow();
  Fields manifest = manifest_body("dst_2", "Second");
  manifest.set("holders", Fields().set("profile", Ids{"nod_2", "nod_3"}).set("bad-rows", Ids{"nod_2"}));
  Fields source;
  source.set("nodes", Ids{"nod_3", "nod_2"}).set("stored", std::int64_t{700}).set("hash", hash_of(77));
  must(apply("dataset.commit", manifest.set("source", source)));
  Fields model = model_body("heart", "");
  model.set("evaluation_name", "mdl_1/evaluation");
  model.set(
      "files",
      std::vector<Fields>{
          Fields().set("name", "model").set("stored", std::int64_t{4096}).set("nodes", Ids{"nod_1"}),
          Fields().set("name", "evaluation").set("stored", std::int64_t{90}).set("nodes", Ids{"nod_2"})});
  must(apply("model.commit", model));
  const auto files = list_stored_files(db());
  Ids keys;
  for (const StoredFile& file : files) keys.push_back(file.key);
  EXPECT_EQ(keys, (Ids{"dst_1.1/0", "dst_1.1/1", "dst_1.1/bad-rows", "dst_1.1/profile", "dst_1/source",
                       "dst_2.1/0", "dst_2.1/1", "dst_2.1/bad-rows", "dst_2.1/profile", "dst_2/source",
                       "mdl_1/evaluation", "mdl_1/model"}));
  for (const StoredFile& file : files) {
    EXPECT_EQ(file.wanted, 2u) << file.key;
    const auto one = find_stored_file(db(), file.key);
    ASSERT_TRUE(one) << file.key;
    EXPECT_EQ(one->holders, file.holders) << file.key;
    EXPECT_EQ(one->bytes, file.bytes) << file.key;
    EXPECT_EQ(one->hash, file.hash) << file.key;
  }
  EXPECT_EQ(files[8].holders, (Ids{"nod_2", "nod_3"}));
  EXPECT_EQ(files[9].holders, (Ids{"nod_2", "nod_3"}));
  EXPECT_EQ(files[9].bytes, 700u);
  EXPECT_EQ(files[9].hash, hash_of(77));
  EXPECT_TRUE(files[4].hash.empty());
  EXPECT_EQ(files[10].bytes, 90u);
  EXPECT_EQ(files[10].holders, Ids{"nod_2"});
  EXPECT_EQ(files[11].bytes, 4096u);
  EXPECT_EQ(find_model_version(db(), "heart", 1)->files[0].node_ids, Ids{"nod_1"});

  must(apply("dataset.update", id("dst_2").set("copies", std::int64_t{3})));
  EXPECT_EQ(find_dataset(db(), "dst_2")->copies, 3u);
  EXPECT_EQ(find_stored_file(db(), "dst_2.1/0")->wanted, 3u);
  EXPECT_EQ(find_stored_file(db(), "dst_1.1/0")->wanted, 2u);
  EXPECT_FALSE(apply("dataset.update", id("dst_2").set("copies", std::int64_t{8})));
  must(apply("node.admit", node_body("nod_4")));
  EXPECT_EQ(find_stored_file(db(), "dst_1.1/0")->wanted, 3u);

  // What a node found of a file that nobody had recorded; later finds change nothing.
  must(copies({change("dst_1/source", "nod_1").set("hash", hash_of(42)).set("bytes", std::int64_t{512})}));
  must(copies({change("dst_1/source", "nod_2").set("hash", hash_of(43)).set("bytes", std::int64_t{513})}));
  EXPECT_EQ(find_stored_file(db(), "dst_1/source")->hash, hash_of(42));
  EXPECT_EQ(find_stored_file(db(), "dst_1/source")->bytes, 512u);

  must(apply("dataset.bin", id("dst_2")));
  must(apply("dataset.destroy", id("dst_2")));
  must(apply("model.remove", named("heart", 1)));
  EXPECT_EQ(count("SELECT count(*) FROM copies WHERE key LIKE 'dst_2%' OR key LIKE 'mdl%'"), 0);
  EXPECT_EQ(count("SELECT count(*) FROM files WHERE key <> 'dst_1/source'"), 0);
  EXPECT_EQ(count("SELECT count(*) FROM dataset_copies"), 0);
  EXPECT_FALSE(find_stored_file(db(), "dst_2.1/0"));
}

TEST_F(NodesTest, WhatIsRememberedIsWhatIsThere) {
  const auto agree = [this](const char* after) {
    const auto files = list_stored_files(db());
    const auto& known = machine_->stored_files();
    ASSERT_EQ(known.size(), files.size()) << after;
    for (std::size_t i = 0; i < files.size(); ++i) {
      EXPECT_EQ(known[i].key, files[i].key) << after;
      EXPECT_EQ(known[i].holders, files[i].holders) << after;
      EXPECT_EQ(known[i].wanted, files[i].wanted) << after;
      EXPECT_EQ(known[i].hash, files[i].hash) << after;
    }
    const auto nodes = read_nodes(db());
    ASSERT_EQ(machine_->nodes().size(), nodes.size()) << after;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      EXPECT_EQ(machine_->nodes()[i].state, nodes[i].state) << after;
      EXPECT_EQ(machine_->nodes()[i].revision, nodes[i].revision) << after;
    }
  };
  agree("the start");
  grow();
  agree("three nodes");
  must(copies({change("dst_1.1/0", "nod_2"), change("dst_1/source", "nod_2")}));
  agree("copies");
  must(apply("node.admit", node_body("nod_4")));
  agree("a fourth");
  must(apply("dataset.update", id("dst_1").set("copies", std::int64_t{4})));
  agree("more wanted");
  must(apply("model.commit", model_body("heart", "").set("evaluation_name", "mdl_1/evaluation")));
  agree("a model");
  must(apply("node.drain", id("nod_4").set("drain", true)));
  agree("draining");
  must(apply("node.remove", id("nod_2")));
  agree("removed");
  const auto image = machine_->snapshot();
  must(apply("model.remove", named("heart", 1)));
  agree("no model");
  must(apply("dataset.bin", id("dst_1")));
  must(apply("dataset.destroy", id("dst_1")));
  agree("no data set");
  ASSERT_TRUE(machine_->restore(*image));
  agree("restored");
}

TEST_F(NodesTest, TheClusterKnowsWhatItsOldestMemberKnows) {
  EXPECT_EQ(level_of_cluster(db()), static_cast<unsigned>(kCommandVersion));
  grow();
  EXPECT_EQ(code(apply("node.admit", node_body("nod_5", 1))), Errc::unsupported);
  EXPECT_EQ(code(apply("node.put", node_body("nod_3", 1))), Errc::unsupported);
  EXPECT_EQ(level_of_cluster(db()), static_cast<unsigned>(kCommandVersion));
  // A box of the version before: its row says nothing of a level.
  Fields old = node_body("nod_1");
  for (const char* sql : {"DELETE FROM nodes", "DELETE FROM members"}) ASSERT_TRUE(db().exec(sql));
  run(db(), "INSERT INTO nodes VALUES ('nod_1', 'box', 'box', 'm', '0.1.0', 'amd64', 5, 1)");
  EXPECT_EQ(level_of_cluster(db()), 1u);
  must(apply("node.put", old));
  EXPECT_EQ(level_of_cluster(db()), static_cast<unsigned>(kCommandVersion));
}

TEST_F(NodesTest, OldCommandsStayReadableForOldNodes) {
  const auto version_of = [](const Command& command) {
    return Fields::decode(encode_command(command))->number("v", 1, 99).value_or(0);
  };
  EXPECT_EQ(version_of(make_command("user.create", user_body("usr_9", "nina"), at(0))), 1);
  EXPECT_EQ(version_of(make_command("node.put", node_body("nod_1"), at(0))), 1);
  EXPECT_EQ(version_of(make_command("operation.begin", operation_body("op_1"), at(0))), 1);
  EXPECT_EQ(version_of(make_command("operation.begin", operation_body("op_1").set("node_id", "n"), at(0))),
            2);
  EXPECT_EQ(version_of(make_command("copies.change", {}, at(0))), 2);
  EXPECT_EQ(version_of(make_command("node.remove", id("nod_1"), at(0))), 2);
  EXPECT_EQ(version_of(make_command("node.remove", id("nod_1").set("losses_max", std::int64_t{0}), at(0))),
            7);
}

TEST_F(NodesTest, ANodeThatCannotFollowMakesNoSnapshot) {
  ASSERT_TRUE(machine_->snapshot());
  EXPECT_TRUE(machine_->behind().empty());
  Fields later;
  later.set("v", kCommandVersion + 1);
  machine_->apply(++index_, later.encode());
  EXPECT_FALSE(machine_->behind().empty());
  const auto refused = machine_->snapshot();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Errc::unsupported);
}

// The state of a box that was alone, once as its snapshot and once as its log, under this version.
TEST_F(NodesTest, ASnapshotOfABoxAloneKnowsWhereItsFilesLie) {
  auto fresh = ClusterMachine::create();
  ASSERT_TRUE(fresh);
  machine_ = *std::move(fresh);
  init();
  // As the version before wrote them: no level, no places.
  run(db(), "INSERT INTO nodes VALUES ('nod_1', 'box', 'box', 'm', '0.1.0', 'amd64', 5, 1)");
  must(apply("user.create", user_body("usr_boris", "boris", "analyst")));
  must(apply("dataset.commit", manifest_body("dst_1", "Ward 6")));
  must(apply("job.begin", job_body("job_1")));
  must(apply("model.commit", model_body("heart", "job_1").set("evaluation_name", "mdl_1/evaluation")));
  must(apply("operation.begin", operation_body("op_1")));
  const Bytes replayed = machine_->state_hash();
  EXPECT_EQ(holders("dst_1.1/1"), Ids{"nod_1"});
  EXPECT_EQ(holders("dst_1.1/profile"), Ids{"nod_1"});
  EXPECT_EQ(holders("dst_1/source"), Ids{"nod_1"});
  EXPECT_EQ(holders("mdl_1/evaluation"), Ids{"nod_1"});
  EXPECT_EQ(find_operation(db(), "op_1")->node_id, "nod_1");
  ASSERT_TRUE(db().exec("UPDATE shards SET nodes = 'nod_1'"));
  ASSERT_TRUE(downgrade_schema(db(), 3));
  ASSERT_TRUE(db().exec("DROP INDEX IF EXISTS model_versions_by_folder"));
  const auto image = machine_->snapshot();
  ASSERT_TRUE(image);
  auto other = ClusterMachine::create();
  ASSERT_TRUE(other);
  const auto restored = (*other)->restore(*image);
  ASSERT_TRUE(restored) << restored.error().message();
  EXPECT_EQ((*other)->state_hash(), replayed);
}

TEST_F(NodesTest, ARestoredStateIsToldAsAWhole) {
  grow();
  const auto image = machine_->snapshot();
  ASSERT_TRUE(image);
  auto other = ClusterMachine::create();
  ASSERT_TRUE(other);
  std::vector<Change::Kind> kinds;
  (*other)->on_change([&kinds](const Change& change) { kinds.push_back(change.kind); });
  ASSERT_TRUE((*other)->restore(*image));
  EXPECT_EQ(kinds.size(), 11u);
  EXPECT_EQ((*other)->state_hash(), machine_->state_hash());
}

}  // namespace
}  // namespace samovar::cluster::testing
