// The typed interface over a real log: durable, sealed, resumed on the loop.
#include "daemon/cluster/cluster.hpp"

#include <set>

#include "tests/unit/daemon/cluster/machine_fixture.hpp"
#include "tests/unit/daemon/raft/log_fixture.hpp"

namespace samovar::cluster::testing {
namespace {

using raft::testing::contents_of;
using raft::testing::key_of;
using raft::testing::TempDir;

class ClusterTest : public ::testing::Test {
 protected:
  ClusterTest() { EXPECT_GE(sodium_init(), 0); }
  ~ClusterTest() override { shut(); }

  ClusterOptions options(bool bootstrap) const {
    ClusterOptions options;
    options.dir = dir_.path("raft");
    options.cluster_id = "clu_1";
    options.node_id = "node";
    options.bootstrap = bootstrap;
    options.log.segment_bytes = 64 * 1024;
    options.log.snapshot_threshold = 16;
    options.log.snapshot_trailing = 4;
    options.log.free_bytes = [] { return std::uint64_t{1} << 40; };
    return options;
  }
  void open(bool bootstrap) {
    auto cluster = Cluster::open(loop_, system_rng(), options(bootstrap), key_of(3));
    ASSERT_TRUE(cluster) << cluster.error().message();
    cluster_ = *std::move(cluster);
  }
  void begin() {
    open(true);
    NewCluster fresh{"clu_1", "Ward 6", "Europe/Vienna", "Anna", "Anna Andreyevna", "$argon2id$secret-hash"};
    const auto info = wait(cluster_->initialise(call(), fresh));
    ASSERT_TRUE(info) << info.error().message();
    EXPECT_EQ(info->name, "Ward 6");
  }
  void shut() {
    if (!cluster_) return;
    spawn([](Cluster& cluster, AsioLoop& loop) -> Task<void> {
      co_await cluster.close();
      loop.stop();
    }(*cluster_, loop_));
    loop_.run();
    cluster_.reset();
  }

  template <class T>
  T wait(Task<T> task) {
    std::optional<T> out;
    spawn<T>(std::move(task), [&](T value) {
      EXPECT_TRUE(loop_.in_loop());
      out.emplace(std::move(value));
      loop_.stop();
    });
    loop_.run();
    return *std::move(out);
  }
  Call call(std::string request_id = {}) { return {admin_actor(), std::move(request_id)}; }
  NewUser new_user(const std::string& name) {
    return {name, "Name of " + name, Role::viewer, "$argon2id$hash"};
  }

  TempDir dir_;
  AsioLoop loop_;
  std::unique_ptr<Cluster> cluster_;
};

TEST_F(ClusterTest, StateSurvivesRestarts) {
  begin();
  std::set<std::string> ids;
  for (int i = 0; i < 40; ++i) {
    const auto user = wait(cluster_->create_user(call(), new_user("user" + std::to_string(i))));
    ASSERT_TRUE(user) << user.error().message();
    ids.insert(user->id);
  }
  EXPECT_EQ(ids.size(), 40u);
  const Bytes before = cluster_->state_hash();
  shut();
  open(false);
  EXPECT_EQ(cluster_->state_hash(), before);
  EXPECT_EQ(cluster_->info()->id, "clu_1");
  EXPECT_TRUE(cluster_->user_by_name("USER7"));
  const auto page = cluster_->users({25, {}});
  EXPECT_EQ(page.items.size(), 25u);
  EXPECT_EQ(cluster_->users({25, page.next_cursor}).items.size(), 16u);
  const auto verdict = wait(cluster_->verify_audit());
  ASSERT_TRUE(verdict);
  EXPECT_TRUE(verdict->ok) << verdict->message;
}

TEST_F(ClusterTest, RepeatedRequestAnswersTheSame) {
  begin();
  const auto first = wait(cluster_->create_user(call("req-1"), new_user("boris")));
  shut();
  open(false);
  const auto second = wait(cluster_->create_user(call("req-1"), new_user("boris")));
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->id, second->id);
}

TEST_F(ClusterTest, LoginSessionAndTokenWalk) {
  begin();
  const auto admin = cluster_->user_by_name("anna");
  ASSERT_TRUE(admin);
  EXPECT_EQ(cluster_->login_gate("ANNA", {}).user->id, admin->id);
  EXPECT_FALSE(cluster_->login_gate("nobody", {}).user);
  NewSession fresh;
  fresh.user_id = admin->id;
  fresh.secret_hash = hash_of(1);
  fresh.address = "192.0.2.1";
  fresh.user_agent = "Mozilla\n\xff 5.0";  // recorded, not judged
  fresh.device_hash = hash_of(2);
  const auto session = wait(cluster_->login(call(), fresh));
  ASSERT_TRUE(session) << session.error().message();
  EXPECT_EQ(session->user_agent, "Mozilla?? 5.0");
  EXPECT_TRUE(cluster_->login_gate("anna", hash_of(2)).known_device);
  ASSERT_TRUE(cluster_->session_by_hash(hash_of(1)));
  EXPECT_TRUE(wait(cluster_->touch_session(session->id)));
  EXPECT_TRUE(wait(cluster_->reauthenticate(call(), session->id)));
  EXPECT_EQ(cluster_->sessions(admin->id, {}).items.size(), 1u);
  EXPECT_TRUE(wait(cluster_->end_session(call(), session->id)));
  EXPECT_FALSE(cluster_->session(session->id));

  NewToken token;
  token.user_id = admin->id;
  token.name = "script";
  token.lookup = "abcdefgh";
  token.secret_hash = hash_of(4);
  token.scopes = {"read", "metrics"};
  token.cidr = "192.0.2.0/24";
  token.expires_at = cluster_->now() + std::chrono::hours(24);
  const auto made = wait(cluster_->create_token(call(), token));
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_EQ(made->scopes, (std::vector<std::string>{"metrics", "read"}));
  ASSERT_TRUE(cluster_->token_by_lookup("abcdefgh"));
  EXPECT_TRUE(wait(cluster_->touch_token(made->id)));
  EXPECT_TRUE(cluster_->token(made->id)->last_used_at);
  EXPECT_TRUE(wait(cluster_->delete_token(call(), made->id)));
  EXPECT_FALSE(cluster_->token_by_lookup("abcdefgh"));
}

TEST_F(ClusterTest, FailedLoginsSlowDown) {
  begin();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(wait(cluster_->login_failed(call(), {"anna", "192.0.2.1", {}})));
  EXPECT_GT(cluster_->login_gate("anna", {}).retry_after, Duration::zero());
  const auto admin = cluster_->user_by_name("anna");
  ASSERT_TRUE(wait(cluster_->unlock_user(call(), admin->id)));
  EXPECT_EQ(cluster_->login_gate("anna", {}).retry_after, Duration::zero());
}

TEST_F(ClusterTest, SettingsNodesRecordsAndResponses) {
  begin();
  EXPECT_EQ(cluster_->setting("general").revision, 0u);
  const auto setting = wait(cluster_->put_setting(call(), "general", "{\"idle_minutes\": 15}", 0));
  ASSERT_TRUE(setting) << setting.error().message();
  EXPECT_EQ(setting->json, "{\"idle_minutes\":15}");
  const auto stale = wait(cluster_->put_setting(call(), "general", "{}", 0));
  ASSERT_FALSE(stale);
  EXPECT_EQ(refusal_of(stale.error()), Refusal::stale_revision);

  NodeRecord node;
  node.id = "n1";
  node.name = "box";
  node.hostname = "host";
  node.model = "model";
  node.version = "0.1.0";
  node.arch = "x86_64";
  ASSERT_TRUE(wait(cluster_->put_node({Actor::system(), {}}, node)));
  const auto sequence = cluster_->status().sequence;
  ASSERT_TRUE(wait(cluster_->put_node({Actor::system(), {}}, node)));
  EXPECT_EQ(cluster_->status().sequence, sequence);  // nothing differed
  EXPECT_EQ(cluster_->nodes().size(), 1u);

  const auto seq = wait(cluster_->record(call(), "audit.export", "", "ok", "{\"entries\":3}"));
  ASSERT_TRUE(seq) << seq.error().message();
  EXPECT_EQ(cluster_->audit({}).items.front().seq, *seq);
  EXPECT_FALSE(wait(cluster_->record(call(), "audit.export", "", "ok", "no json")));

  ASSERT_TRUE(wait(cluster_->save_response({"usr_1", "key", hash_of(1), 201, "{}", {}})));
  ASSERT_TRUE(cluster_->saved_response("usr_1", "key"));
  EXPECT_FALSE(cluster_->saved_response("usr_2", "key"));

  const auto renamed = wait(cluster_->update_cluster(call(), {"Ward 7", {}}, 1));
  ASSERT_TRUE(renamed);
  EXPECT_EQ(renamed->name, "Ward 7");
  EXPECT_EQ(renamed->time_zone, "Europe/Vienna");
}

TEST_F(ClusterTest, NoNameIsPlainOnDisk) {
  begin();
  for (int i = 0; i < 30; ++i)
    ASSERT_TRUE(wait(cluster_->create_user(call(), new_user("lermontov" + std::to_string(i)))));
  const auto check = [&] {
    for (const auto& [name, bytes] : contents_of(dir_.path("raft")))
      for (const char* secret :
           {"lermontov", "Andreyevna", "argon2id", "Ward 6", "user.create", "SQLite format"})
        EXPECT_EQ(as_text(bytes).find(secret), std::string_view::npos) << secret << " in " << name;
  };
  check();
  shut();
  check();
}

TEST_F(ClusterTest, OtherClusterIdIsRefused) {
  open(true);
  NewCluster fresh{"clu_2", "x", "UTC", "anna", "", "$h"};
  const auto info = wait(cluster_->initialise(call(), fresh));
  ASSERT_FALSE(info);
  EXPECT_EQ(info.error().code(), Errc::invalid);
}

TEST_F(ClusterTest, ListenerHearsBeforeTheTaskResumes) {
  begin();
  std::vector<Change::Kind> heard;
  cluster_->on_change([&](const Change& change) { heard.push_back(change.kind); });
  ASSERT_TRUE(wait(cluster_->create_user(call(), new_user("boris"))));
  EXPECT_EQ(heard, (std::vector<Change::Kind>{Change::Kind::audit, Change::Kind::users}));
}

NewDataset manifest_of(std::size_t shards, std::size_t columns, std::size_t name_bytes) {
  NewDataset out;
  out.dataset.name = "Ward";
  std::string schema = "{\"columns\":[";
  for (std::size_t i = 0; i < columns; ++i) {
    std::string name = "c" + std::to_string(i);
    name.resize(name_bytes, '_');
    schema += (i == 0 ? "" : ",") + ("{\"name\":\"" + name + "\",\"sensitive\":false,\"type\":\"integer\"}");
  }
  out.version.schema_json = schema + "]}";
  out.version.options_json = "{}";
  out.version.wrapped_key = Bytes(72, 1);
  out.version.key_commitment = Bytes(16, 2);
  out.version.source_name = "a\nfile.csv";
  out.version.notes = {"one", "", "two\tmore"};
  out.version.rows = shards * 1'000'000;
  for (std::size_t i = 0; i < shards; ++i)
    out.version.shards.push_back({static_cast<std::uint32_t>(i),
                                  1'000'000,
                                  16,
                                  200'000'000,
                                  64'000'000,
                                  hash_of(static_cast<std::uint8_t>(i)),
                                  {"nod_01J8Z3ABCDEFGHJKMNPQRSTVWX"},
                                  false});
  out.version.objects = {{"profile", 5, hash_of(1)}, {"bad-rows", 6, hash_of(2)}};
  out.wrapped_source_key = Bytes(72, 3);
  return out;
}

TEST_F(ClusterTest, DatasetsAndOperationsSurviveRestarts) {
  begin();
  const std::string owner = cluster_->user_by_name("anna")->id;
  OperationRecord fresh;
  fresh.kind = "ingest";
  fresh.owner_id = owner;
  fresh.title = "Ward\n";
  fresh.spec_json = "{\"upload\":\"upl_1\"}";
  const auto operation = wait(cluster_->begin_operation(call("req-op"), fresh));
  ASSERT_TRUE(operation) << operation.error().message();
  EXPECT_EQ(operation->state, "queued");
  EXPECT_EQ(wait(cluster_->begin_operation(call("req-op"), fresh))->id, operation->id);
  EXPECT_EQ(cluster_->operations().size(), 1u);

  NewDataset manifest = manifest_of(512, 4096, 64);
  manifest.dataset.owner_id = owner;
  manifest.operation_id = operation->id;
  const auto made = wait(cluster_->commit_dataset(call(operation->id), manifest));
  ASSERT_TRUE(made) << made.error().message();
  // The outcome of the first was not heard: the same again changes nothing.
  EXPECT_EQ(wait(cluster_->commit_dataset(call(operation->id), manifest))->id, made->id);
  NewDataset next = manifest_of(1, 2, 8);
  next.dataset = {};
  next.dataset.id = made->id;
  next.version.version = 2;
  ASSERT_TRUE(wait(cluster_->commit_dataset(call(), next)));
  ShardMark mark{made->id, 1, 511, true};
  ASSERT_TRUE(wait(cluster_->mark_shard(call(), mark)));
  shut();
  open(false);
  const auto dataset = cluster_->dataset(made->id);
  ASSERT_TRUE(dataset);
  EXPECT_EQ(dataset->version, 2u);
  EXPECT_EQ(cluster_->operation(operation->id)->state, "done");
  const auto version = cluster_->dataset_version(made->id, 1);
  ASSERT_TRUE(version);
  EXPECT_EQ(version->shards.size(), 512u);
  EXPECT_TRUE(version->shards[511].damaged);
  EXPECT_EQ(version->schema_json, manifest.version.schema_json);
  EXPECT_EQ(version->source_name, "a?file.csv");
  EXPECT_EQ(version->notes, (std::vector<std::string>{"one", "two?more"}));
  EXPECT_EQ(cluster_->version_summary(made->id, 1)->columns, 4096u);
  EXPECT_EQ(cluster_->dataset_versions(made->id).size(), 2u);
  EXPECT_EQ(*cluster_->wrapped_source_key(made->id), Bytes(72, 3));

  ASSERT_TRUE(wait(cluster_->bin_dataset(call(), made->id)));
  ASSERT_TRUE(wait(cluster_->destroy_dataset(call(), made->id)));
  EXPECT_FALSE(cluster_->dataset(made->id));
  EXPECT_TRUE(cluster_->version_refs().empty());
  const auto index = cluster_->status().applied_index;
  for (int i = 0; i < 1000 && cluster_->status().snapshot_index <= index; ++i)
    ASSERT_TRUE(wait(cluster_->record(call(), "test", "", "ok", "{}")));
  EXPECT_GT(cluster_->status().snapshot_index, index);  // long before the usual threshold
  EXPECT_LT(cluster_->status().applied_index, index + 10);
}

TEST_F(ClusterTest, ManifestsBeyondTheBoundsAreRefusedInASentence) {
  begin();
  NewDataset wide = manifest_of(1, 4096, 256);
  wide.dataset.owner_id = cluster_->user_by_name("anna")->id;
  const auto too_wide = wait(cluster_->commit_dataset(call(), wide));
  ASSERT_FALSE(too_wide);
  EXPECT_EQ(too_wide.error().code(), Errc::invalid);
  EXPECT_NE(too_wide.error().message().find("column"), std::string::npos);
  const auto too_many = wait(cluster_->commit_dataset(call(), manifest_of(kShardsMax + 1, 1, 8)));
  ASSERT_FALSE(too_many);
  EXPECT_EQ(too_many.error().code(), Errc::invalid);
  // The most that is allowed fits into one command.
  NewDataset most = manifest_of(kShardsMax, 4096, 110);
  most.dataset.owner_id = wide.dataset.owner_id;
  ASSERT_GT(most.version.schema_json.size(), kSchemaBytesMax * 9 / 10);
  const auto made = wait(cluster_->commit_dataset(call(), most));
  EXPECT_TRUE(made) << made.error().message();
}

}  // namespace
}  // namespace samovar::cluster::testing
