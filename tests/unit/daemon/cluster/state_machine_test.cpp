// Exactly once, determinism, snapshots, and random streams of commands that keep the rules.
#include <random>
#include <set>

#include "daemon/cluster/audit.hpp"
#include "daemon/cluster/schema.hpp"
#include "tests/unit/daemon/cluster/dataset_fixture.hpp"

namespace samovar::cluster::testing {
namespace {

class StateMachineTest : public MachineFixture {};

TEST_F(StateMachineTest, SameRequestHappensOnce) {
  init();
  const auto first = apply("user.create", user_body("usr_a", "boris"), 1, "req-1");
  must(first);
  // A retry brings other random ids; the first answer counts.
  const auto second = apply("user.create", user_body("usr_b", "boris"), 2, "req-1");
  must(second);
  EXPECT_EQ(*second->text("id", 64), "usr_a");
  EXPECT_EQ(count("SELECT count(*) FROM users"), 2);
  EXPECT_EQ(count("SELECT count(*) FROM audit WHERE action = 'user.create'"), 2);
}

TEST_F(StateMachineTest, RequestIdOfAnotherCommandIsRefused) {
  init();
  must(apply("user.create", user_body("usr_a", "boris"), 1, "req-1"));
  const auto other = apply("user.delete", Fields().set("id", "usr_a"), 2, "req-1");
  ASSERT_FALSE(other);
  EXPECT_EQ(refusal_of(other.error()), Refusal::request_reused);
}

TEST_F(StateMachineTest, FailedRequestMayBeTriedAgain) {
  init();
  EXPECT_FALSE(apply("user.delete", Fields().set("id", "usr_a"), 1, "req-1"));
  must(apply("user.create", user_body("usr_a", "boris"), 2));
  must(apply("user.delete", Fields().set("id", "usr_a"), 3, "req-1"));
}

TEST_F(StateMachineTest, RequestsAreForgottenAfterADay) {
  init();
  must(apply("user.create", user_body("usr_a", "boris"), 1, "req-1"));
  EXPECT_EQ(count("SELECT count(*) FROM requests"), 1);
  must(apply("user.unlock", Fields().set("id", "usr_a"), 86'401));
  EXPECT_EQ(count("SELECT count(*) FROM requests"), 0);
}

TEST_F(StateMachineTest, SavedResponsesLastADay) {
  init();
  Fields body;
  body.set("user_id", "usr_admin").set("key", "k1").set("fingerprint", hash_of(3));
  body.set("status", std::int64_t{201}).set("body", to_bytes("{\"a\":1}\n"));
  must(apply("response.save", body));
  const auto saved = find_response(db(), "usr_admin", "k1");
  ASSERT_TRUE(saved);
  EXPECT_EQ(saved->status, 201u);
  EXPECT_EQ(saved->body, "{\"a\":1}\n");
  must(apply("user.unlock", Fields().set("id", "usr_admin"), 86'401));
  EXPECT_FALSE(find_response(db(), "usr_admin", "k1"));
}

TEST_F(StateMachineTest, SettingsAreObjectsWithRevisions) {
  init();
  const auto put = [&](const std::string& json, std::int64_t revision) {
    Fields body;
    body.set("key", "general").set("json", to_bytes(json)).set("if_revision", revision);
    return apply("setting.put", body);
  };
  must(put("{\"b\": 1,\n \"a\": 2}", 0));
  EXPECT_EQ(find_setting(db(), "general")->json, "{\"a\":2,\"b\":1}");
  EXPECT_EQ(refusal_of(put("{}", 0).error()), Refusal::stale_revision);
  must(put("{}", 1));
  for (const char* bad : {"[]", "12", "{", "nul", "{\"a\":1} x"}) EXPECT_FALSE(put(bad, 2)) << bad;
  EXPECT_FALSE(put(std::string(40, '[') + "1" + std::string(40, ']'), 2));
}

TEST_F(StateMachineTest, GarbageIsAnsweredNotFeared) {
  init();
  std::mt19937_64 random(7);
  const Bytes good = encode_command(make_command("user.create", user_body("usr_x", "x"), at(1)));
  for (int i = 0; i < 3000; ++i) {
    Bytes bytes = good;
    const auto edits = 1 + random() % 4;
    for (std::uint64_t e = 0; e < edits; ++e)
      bytes[random() % bytes.size()] = static_cast<std::uint8_t>(random());
    if (random() % 4 == 0) bytes.resize(random() % bytes.size());
    const Bytes reply = machine_->apply(++index_, bytes);
    EXPECT_TRUE(Fields::decode(reply));
  }
  EXPECT_FALSE(decode_reply(machine_->apply(++index_, {})));
  EXPECT_FALSE(decode_reply(machine_->apply(++index_, Bytes(500'000, 0x81))));  // arrays in arrays in arrays
}

TEST_F(StateMachineTest, UnknownVersionAndFieldsAreRefused) {
  Fields command;
  command.set("v", kCommandVersion + 1);
  const auto newer = decode_command(command.encode());
  ASSERT_FALSE(newer);
  EXPECT_EQ(newer.error().code(), Errc::unsupported);
  auto good = Fields::decode(encode_command(make_command("user.create", {}, at(0))));
  ASSERT_TRUE(good);
  EXPECT_TRUE(decode_command(good->encode()));
  good->set("extra", true);
  EXPECT_FALSE(decode_command(good->encode()));
}

TEST_F(StateMachineTest, SnapshotRestoresTheSameState) {
  init();
  for (int i = 0; i < 20; ++i)
    must(apply("user.create", user_body("usr_" + std::to_string(i), "u" + std::to_string(i)), i,
               "r" + std::to_string(i)));
  must(apply("session.login", login_body("usr_3", "ses_1", 1, 5), 30));
  const auto image = machine_->snapshot();
  ASSERT_TRUE(image);
  auto other = ClusterMachine::create();
  ASSERT_TRUE(other);
  ASSERT_TRUE((*other)->restore(*image));
  EXPECT_EQ((*other)->state_hash(), machine_->state_hash());
  EXPECT_EQ((*other)->last_time(), machine_->last_time());
  // And both go on alike.
  const Bytes next = encode_command(make_command("user.create", user_body("usr_z", "zoe"), at(5)));
  EXPECT_EQ((*other)->apply(99, next), machine_->apply(99, next));
  EXPECT_EQ((*other)->state_hash(), machine_->state_hash());
}

TEST_F(StateMachineTest, DamagedSnapshotLeavesTheOldState) {
  init();
  const Bytes before = machine_->state_hash();
  const auto image = machine_->snapshot();
  ASSERT_TRUE(image);
  EXPECT_FALSE(machine_->restore({}));
  EXPECT_FALSE(machine_->restore(to_bytes("not a database")));
  EXPECT_FALSE(machine_->restore(Bytes(8192, 0)));
  EXPECT_FALSE(machine_->restore(ByteView(*image).first(image->size() / 2)));
  Bytes other_application = *image;
  other_application[68] ^= 1;  // SQLite's application id
  EXPECT_FALSE(machine_->restore(other_application));
  auto empty = Db::open_memory();
  ASSERT_TRUE((*empty)->exec("CREATE TABLE t (a)"));
  EXPECT_FALSE(machine_->restore(*(*empty)->serialize()));
  EXPECT_EQ(machine_->state_hash(), before);
}

TEST_F(StateMachineTest, SnapshotOfTheFirstSchemaIsUpgraded) {
  init();
  const Bytes before = machine_->state_hash();
  // As the first version wrote it: without the tables that came later.
  for (const char* table :
       {"datasets", "dataset_versions", "dataset_keys", "shards", "dataset_objects", "dataset_grants",
        "operations", "jobs", "models", "model_versions", "model_grants", "members", "copies", "files",
        "dataset_copies", "carriers", "job_runs", "job_priorities"})
    ASSERT_TRUE(db().exec(("DROP TABLE " + std::string(table)).c_str()));
  ASSERT_TRUE(db().exec("PRAGMA user_version = 1"));
  const auto image = machine_->snapshot();
  ASSERT_TRUE(image);
  auto other = ClusterMachine::create();
  ASSERT_TRUE(other);
  const auto restored = (*other)->restore(*image);
  ASSERT_TRUE(restored) << restored.error().message();
  EXPECT_EQ((*other)->state_hash(), before);
  ASSERT_TRUE(db().exec("PRAGMA user_version = 7"));
  EXPECT_EQ((*other)->restore(*machine_->snapshot()).error().code(), Errc::unsupported);
}

TEST_F(StateMachineTest, ListenerHearsWhatChanged) {
  init();
  std::vector<Change> heard;
  machine_->on_change([&](const Change& change) { heard.push_back(change); });
  must(apply("user.create", user_body("usr_2", "boris")));
  EXPECT_FALSE(apply("user.create", user_body("usr_3", "boris")));
  ASSERT_EQ(heard.size(), 2u);
  EXPECT_EQ(heard[0].kind, Change::Kind::audit);
  EXPECT_EQ(heard[0].audit_seq, 3u);
  EXPECT_EQ(heard[1].kind, Change::Kind::users);
  EXPECT_EQ(heard[1].id, "usr_2");
}

// ---- random streams ----

class Stream {
 public:
  explicit Stream(std::uint64_t seed) : random_(seed) {}

  Command next() {
    Actor actor = admin_actor();
    actor.user_id = user();
    time_ += static_cast<std::int64_t>(pick(400)) - 60;  // clocks are set back now and then
    const std::string request = pick(3) == 0 ? "r" + std::to_string(pick(50)) : "";
    auto [type, body] = act();
    return make_command(std::move(type), std::move(body), at(time_), request, actor);
  }

 private:
  std::uint64_t pick(std::uint64_t below) { return random_() % below; }
  std::string user() { return pick(4) == 0 ? "usr_admin" : "usr_" + std::to_string(pick(8)); }
  std::string role() {
    const char* roles[] = {"admin", "admin", "analyst", "viewer", "auditor", "service"};
    return roles[pick(6)];
  }
  std::string session() { return "ses_" + std::to_string(pick(12)); }

  std::pair<std::string, Fields> act() {
    const std::string id = user();
    if (pick(3) == 0) return act_on_data(id);
    switch (pick(14)) {
      case 0:
      case 1:
      case 2:
        return {"user.create", user_body(id, "name" + std::to_string(pick(8)), role())};
      case 3:
        return {"user.update", Fields().set("id", id).set("role", role())};
      case 4:
        return {"user.update", Fields().set("id", id).set("disabled", pick(2) == 0)};
      case 5:
        return {"user.delete", Fields().set("id", id)};
      case 6:
        return {"session.login", login_body(id, session(), static_cast<std::uint8_t>(pick(250)), 3)};
      case 7:
        return {"session.login_failed", Fields().set("username", "name" + std::to_string(pick(8)))};
      case 8:
        return {"session.end", Fields().set("session_id", session())};
      case 9:
        return {"session.touch", Fields().set("session_id", session())};
      case 10:
        return {"token.create",
                token_body(id, "tok_" + std::to_string(pick(9)), std::to_string(pick(9)), at(time_ + 1000))};
      case 11:
        return {"token.delete", Fields().set("id", "tok_" + std::to_string(pick(9)))};
      case 12:
        return {"setting.put", Fields().set("key", "general").set("json", to_bytes("{\"n\":1}"))};
      default:
        return {"user.unlock", Fields().set("id", id)};
    }
  }

  std::pair<std::string, Fields> act_on_data(const std::string& user_id) {
    const std::string id = "dst_" + std::to_string(pick(5));
    const std::string operation = "op_" + std::to_string(pick(6));
    switch (pick(9)) {
      case 0:
        return {"operation.begin", operation_body(operation, pick(2) == 0 ? "version" : "ingest",
                                                  pick(2) == 0 ? id : "", user_id)};
      case 1:
        return {"operation.end", Fields()
                                     .set("id", operation)
                                     .set("state", pick(2) == 0 ? "failed" : "cancelled")
                                     .set("error", "")};
      case 2:
      case 3:
        return {"dataset.commit", manifest_body(id, pick(2) == 0 ? "Name " + std::to_string(pick(4)) : "",
                                                pick(2) == 0 ? operation : "", user_id)};
      case 4:
        return {"dataset.update", Fields().set("id", id).set("name", "nAME " + std::to_string(pick(4)))};
      case 5:
        return {"dataset.bin", Fields().set("id", id)};
      case 6:
        return {"dataset.restore", Fields().set("id", id)};
      case 7:
        return {"dataset.destroy", Fields().set("id", id)};
      default:
        return {pick(3) == 0 ? "dataset.ungrant" : "dataset.grant",
                Fields().set("id", id).set("user_id", user_id)};
    }
  }

  std::mt19937_64 random_;
  std::int64_t time_ = 0;
};

void expect_rules(ClusterMachine& machine, std::uint64_t seed) {
  Db& db = machine.db();
  const auto one = [&](std::string_view sql) {
    Query query(db, sql);
    return query.next() ? query.number(0) : -1;
  };
  EXPECT_GE(one("SELECT count(*) FROM users WHERE role = 'admin' AND disabled = 0"), 1) << seed;
  EXPECT_EQ(one("SELECT count(*) - count(DISTINCT username) FROM users"), 0) << seed;
  EXPECT_EQ(
      one("SELECT count(*) FROM sessions WHERE user_id NOT IN (SELECT id FROM users WHERE disabled = 0)"), 0);
  EXPECT_EQ(one("SELECT count(*) FROM tokens WHERE user_id NOT IN (SELECT id FROM users)"), 0) << seed;
  EXPECT_EQ(one("SELECT count(*) FROM devices WHERE user_id NOT IN (SELECT id FROM users)"), 0) << seed;
  EXPECT_EQ(one("SELECT count(*) FROM audit a JOIN audit b ON b.seq = a.seq + 1 WHERE b.time_us < a.time_us"),
            0);
  EXPECT_EQ(one("SELECT coalesce(max(seq), 0) - count(*) FROM audit"), 0) << seed;
  EXPECT_EQ(one("SELECT count(*) FROM datasets WHERE owner_id NOT IN (SELECT id FROM users)"), 0) << seed;
  EXPECT_EQ(one("SELECT count(*) FROM dataset_grants WHERE user_id NOT IN (SELECT id FROM users)"), 0)
      << seed;
  for (const char* table :
       {"dataset_versions", "dataset_keys", "shards", "dataset_objects", "dataset_grants"})
    EXPECT_EQ(one("SELECT count(*) FROM " + std::string(table) +
                  " WHERE dataset_id NOT IN (SELECT id FROM datasets)"),
              0)
        << seed << " " << table;
  EXPECT_EQ(
      one("SELECT count(*) FROM datasets d WHERE version <> (SELECT max(v.version) FROM dataset_versions v "
          "WHERE v.dataset_id = d.id)"),
      0)
      << seed;
  EXPECT_EQ(
      one("SELECT count(*) FROM (SELECT name_key FROM datasets WHERE binned_us IS NULL GROUP BY name_key "
          "HAVING count(*) > 1)"),
      0)
      << seed;
  EXPECT_EQ(one("SELECT count(*) FROM operations WHERE (state = 'queued') <> (ended_us IS NULL)"), 0) << seed;
  security::ChainVerifier verifier;
  std::uint64_t next = 1;
  while (verify_some(db, verifier, next, 100)) {
  }
  EXPECT_TRUE(finish_verify(db, verifier).ok) << seed;
  EXPECT_TRUE(db.take_error()) << seed;
}

TEST_F(StateMachineTest, RandomStreamsKeepTheRulesAndAgree) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    Stream stream(seed);
    auto a = *ClusterMachine::create();
    auto b = *ClusterMachine::create();
    std::uint64_t index = 1;
    const Bytes start = encode_command(make_command("cluster.init", init_body(), at(0)));
    EXPECT_EQ(a->apply(index, start), b->apply(index, start));
    for (int i = 0; i < 200; ++i) {
      const Bytes command = encode_command(stream.next());
      ++index;
      ASSERT_EQ(a->apply(index, command), b->apply(index, command)) << "seed " << seed << " step " << i;
      // Half way, one of them goes through a snapshot, as a node that was restarted does.
      if (i == 100) {
        const auto image = b->snapshot();
        ASSERT_TRUE(image);
        b = *ClusterMachine::create();
        ASSERT_TRUE(b->restore(*image));
      }
    }
    EXPECT_EQ(a->state_hash(), b->state_hash()) << seed;
    expect_rules(*a, seed);
  }
}

}  // namespace
}  // namespace samovar::cluster::testing
