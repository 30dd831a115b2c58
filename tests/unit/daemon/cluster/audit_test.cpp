#include "daemon/cluster/audit.hpp"

#include "daemon/cluster/schema.hpp"
#include "tests/unit/daemon/cluster/machine_fixture.hpp"

namespace samovar::cluster::testing {
namespace {

class AuditTest : public MachineFixture {
 protected:
  static AuditVerdict verify(Db& db) {
    security::ChainVerifier verifier;
    std::uint64_t next = 1;
    while (verify_some(db, verifier, next, 3)) {
    }
    return finish_verify(db, verifier);
  }
  void some_history() {
    init();
    for (int i = 0; i < 10; ++i)
      must(apply("user.create", user_body("usr_" + std::to_string(i), "user" + std::to_string(i)), i));
  }
};

TEST_F(AuditTest, EveryActIsRecordedWithItsActor) {
  some_history();
  const auto page = query_audit(db(), {});
  ASSERT_EQ(page.items.size(), 12u);  // set-up makes two
  EXPECT_EQ(page.items.front().seq, 12u);
  EXPECT_EQ(page.items.front().action, "user.create");
  EXPECT_EQ(page.items.front().object, "usr_9");
  EXPECT_EQ(page.items.front().actor, "anna");
  EXPECT_EQ(page.items.front().actor_id, "usr_admin");
  EXPECT_EQ(page.items.front().role, "admin");
  EXPECT_EQ(page.items.front().result, "ok");
  EXPECT_EQ(page.items.front().time, at(9));
  const auto verdict = verify(db());
  EXPECT_TRUE(verdict.ok) << verdict.message;
  EXPECT_EQ(verdict.entries, 12u);
}

TEST_F(AuditTest, ARefusedCommandLeavesNoTrace) {
  some_history();
  const Bytes before = machine_->state_hash();
  EXPECT_FALSE(apply("user.create", user_body("usr_x", "user1"), 1000, "request"));
  EXPECT_FALSE(apply("no.such", {}, 1000));
  EXPECT_EQ(machine_->state_hash(), before);
}

TEST_F(AuditTest, TriggersRefuseChangesAndDeletions) {
  some_history();
  for (const char* sql :
       {"UPDATE audit SET actor = 'nobody' WHERE seq = 3", "DELETE FROM audit WHERE seq = 12",
        "DELETE FROM audit", "REPLACE INTO audit SELECT * FROM audit WHERE seq = 3",
        "INSERT INTO audit SELECT 99, log_index, time_us, actor_id, actor, role, auth, address, "
        "action, object, result, details, prev, hash FROM audit WHERE seq = 3"}) {
    EXPECT_FALSE(db().exec(sql)) << sql;
  }
  EXPECT_TRUE(verify(db()).ok);
}

// Somebody who edits the image itself, without the triggers.
TEST_F(AuditTest, VerifyFindsEveryModifiedColumn) {
  some_history();
  const auto image = db().serialize();
  ASSERT_TRUE(image);
  const char* changes[] = {"UPDATE audit SET actor = 'x' WHERE seq = 5",
                           "UPDATE audit SET actor_id = 'x' WHERE seq = 5",
                           "UPDATE audit SET role = 'x' WHERE seq = 5",
                           "UPDATE audit SET auth = 'x' WHERE seq = 5",
                           "UPDATE audit SET address = 'x' WHERE seq = 5",
                           "UPDATE audit SET action = 'x' WHERE seq = 5",
                           "UPDATE audit SET object = 'x' WHERE seq = 5",
                           "UPDATE audit SET result = 'x' WHERE seq = 5",
                           "UPDATE audit SET details = '{}' WHERE seq = 5",
                           "UPDATE audit SET time_us = time_us + 1 WHERE seq = 5",
                           "UPDATE audit SET log_index = log_index + 1 WHERE seq = 5",
                           "UPDATE audit SET hash = zeroblob(32) WHERE seq = 5",
                           "DELETE FROM audit WHERE seq = 5"};
  for (const char* change : changes) {
    auto copy = Db::open_memory();
    ASSERT_TRUE(copy && (*copy)->load(*image));
    ASSERT_TRUE((*copy)->exec("DROP TRIGGER audit_is_never_changed; DROP TRIGGER audit_is_never_deleted;"));
    ASSERT_TRUE((*copy)->exec(change)) << change;
    const auto verdict = verify(**copy);
    EXPECT_FALSE(verdict.ok) << change;
    EXPECT_EQ(verdict.first_bad_seq, 5u) << change;
    EXPECT_FALSE(check_schema(**copy)) << "a snapshot without its triggers must not load";
  }
}

TEST_F(AuditTest, FiltersAndCursor) {
  some_history();
  must(apply("session.login_failed", Fields().set("username", "user3"), 50));
  AuditQuery query;
  query.action = "user.*";
  EXPECT_EQ(query_audit(db(), query).items.size(), 11u);
  query.action = "session.login";
  EXPECT_EQ(query_audit(db(), query).items.size(), 1u);
  query = {};
  query.text = "USER3";
  EXPECT_EQ(query_audit(db(), query).items.size(), 2u);
  query.text = "%";  // means itself
  EXPECT_EQ(query_audit(db(), query).items.size(), 0u);
  query = {};
  query.from = at(5);
  query.to = at(7);
  EXPECT_EQ(query_audit(db(), query).items.size(), 2u);
  query = {};
  query.actor = "usr_admin";
  EXPECT_EQ(query_audit(db(), query).items.size(), 13u);
  query = {};
  query.limit = 5;
  std::size_t seen = 0;
  for (;;) {
    const auto page = query_audit(db(), query);
    seen += page.items.size();
    if (!page.next_before_seq) break;
    query.before_seq = page.next_before_seq;
  }
  EXPECT_EQ(seen, 13u);
  query = {};
  query.limit = 100'000;
  EXPECT_LE(query_audit(db(), query).items.size(), kPageMax);
}

TEST_F(AuditTest, TimeNeverGoesBackwards) {
  init();
  must(apply("user.create", user_body("usr_1", "one"), 1000));
  must(apply("user.create", user_body("usr_2", "two"), 10));  // a clock that was set back
  const auto page = query_audit(db(), {});
  EXPECT_EQ(page.items[0].time, at(1000));
  EXPECT_EQ(find_user(db(), "usr_2")->created_at, at(1000));
}

}  // namespace
}  // namespace samovar::cluster::testing
