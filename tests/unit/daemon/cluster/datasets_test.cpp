#include <set>

#include "base/encoding.hpp"
#include "daemon/cluster/audit.hpp"
#include "daemon/cluster/dataset_rights.hpp"
#include "daemon/cluster/name_key.hpp"
#include "security/hash.hpp"
#include "tests/unit/daemon/cluster/dataset_fixture.hpp"

namespace samovar::cluster::testing {
namespace {

class DatasetsTest : public MachineFixture {
 protected:
  DatasetsTest() {
    init();
    must(apply("user.create", user_body("usr_boris", "boris", "analyst")));
    must(apply("user.create", user_body("usr_vera", "vera", "viewer")));
  }
  Refusal why(const Result<Fields>& reply) { return reply ? Refusal::none : refusal_of(reply.error()); }
  Errc code(const Result<Fields>& reply) { return reply ? Errc::internal : reply.error().code(); }
  Fields id(const std::string& dataset) { return Fields().set("id", dataset); }
  std::int64_t rows_of(const std::string& dataset) {
    std::int64_t rows = 0;
    for (const char* table :
         {"dataset_versions", "dataset_keys", "shards", "dataset_objects", "dataset_grants"})
      rows += count("SELECT count(*) FROM " + std::string(table) + " WHERE dataset_id = '" + dataset + "'");
    return rows;
  }
  std::vector<AuditEntry> audit(const std::string& action) {
    AuditQuery query;
    query.action = action;
    return query_audit(db(), query).items;
  }
};

TEST_F(DatasetsTest, AManifestIsAWholeDataset) {
  must(apply("operation.begin", operation_body("op_1")));
  must(apply("dataset.commit", manifest_body("dst_1", "Ward 6", "op_1", "usr_boris"), 5));
  const auto dataset = find_dataset(db(), "dst_1");
  ASSERT_TRUE(dataset);
  EXPECT_EQ(dataset->name, "Ward 6");
  EXPECT_EQ(dataset->description, "two\nlines");
  EXPECT_EQ(dataset->owner_id, "usr_boris");
  EXPECT_EQ(dataset->created_at, at(5));
  EXPECT_EQ(dataset->version, 1u);
  EXPECT_TRUE(dataset->has_source);
  EXPECT_EQ(dataset->source_bytes, 500u);
  EXPECT_EQ(dataset->revision, 1u);
  const auto version = find_version(db(), "dst_1", 0);
  ASSERT_TRUE(version);
  EXPECT_EQ(version->rows, 30u);
  EXPECT_EQ(version->bad_rows, 2u);
  EXPECT_EQ(version->seed, static_cast<std::uint64_t>(-5));
  EXPECT_EQ(version->notes, std::vector<std::string>{"a note"});
  EXPECT_EQ(version->wrapped_key, Bytes(72, 7));
  ASSERT_EQ(version->shards.size(), 2u);
  EXPECT_EQ(version->shards[1].rows, 20u);
  EXPECT_EQ(version->shards[1].hash, hash_of(2));
  EXPECT_EQ(version->shards[1].node_ids, std::vector<std::string>{"nod_1"});
  ASSERT_EQ(version->objects.size(), 2u);
  EXPECT_EQ(version->objects[1].name, "profile");
  const auto summary = find_summary(db(), "dst_1", 0);
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->columns, 2u);
  EXPECT_EQ(summary->shards, 2u);
  EXPECT_EQ(summary->plain_bytes, 8000u);
  EXPECT_EQ(summary->stored_bytes, 2110u);
  EXPECT_EQ(*find_wrapped_key(db(), "dst_1", 0), Bytes(72, 8));
  const auto operation = find_operation(db(), "op_1");
  ASSERT_TRUE(operation);
  EXPECT_EQ(operation->state, "done");
  EXPECT_EQ(operation->dataset_id, "dst_1");
  EXPECT_EQ(operation->version, 1u);
  EXPECT_EQ(operation->ended_at, at(5));
  ASSERT_EQ(audit("dataset.create").size(), 1u);
}

TEST_F(DatasetsTest, AWrongManifestLeavesNothing) {
  must(apply("operation.begin", operation_body("op_1")));
  const auto refused = [&](const char* what, Fields body) {
    const auto before = machine_->state_hash();
    EXPECT_FALSE(apply("dataset.commit", std::move(body))) << what;
    EXPECT_EQ(machine_->state_hash(), before) << what;
  };
  const Fields good = manifest_body("dst_1", "Ward", "op_1");
  refused("rows that are not in the shards", Fields(good).set("rows", std::int64_t{31}));
  refused("a gap in the shards",
          Fields(good).set("shards", std::vector<Fields>{shard_body(0, 10), shard_body(2, 20)}));
  refused("rows that overflow",
          Fields(good).set("shards", std::vector<Fields>{shard_body(0, INT64_MAX), shard_body(1, 20)}));
  refused("a short key", Fields(good).set("wrapped_key", Bytes(8, 1)));
  refused("no columns", Fields(good).set("schema", to_bytes("{\"columns\":[]}")));
  refused("no JSON", Fields(good).set("schema", to_bytes("[]x")));
  refused("an unknown owner", Fields(good).set("owner_id", "usr_nobody"));
  refused("an unknown operation", Fields(good).set("operation_id", "op_2"));
  refused("a name with a space before it", Fields(good).set("name", " Ward"));
  refused("a description with a control character", Fields(good).set("description", to_bytes("a\tb")));
  refused(
      "objects twice",
      Fields(good).set(
          "objects",
          std::vector<Fields>(
              2, Fields().set("name", "profile").set("stored", std::int64_t{1}).set("hash", hash_of(1)))));
  must(apply("dataset.commit", good));
}

TEST_F(DatasetsTest, ACancelledOperationCommitsNothing) {
  must(apply("operation.begin", operation_body("op_1")));
  must(apply("operation.end", Fields().set("id", "op_1").set("state", "cancelled").set("error", "")));
  EXPECT_EQ(code(apply("dataset.commit", manifest_body("dst_1", "Ward", "op_1"))), Errc::conflict);
  EXPECT_FALSE(find_dataset(db(), "dst_1"));
  EXPECT_EQ(rows_of("dst_1"), 0);
  EXPECT_EQ(code(apply("operation.end", Fields().set("id", "op_1").set("state", "done").set("error", ""))),
            Errc::conflict);
}

TEST_F(DatasetsTest, NamesAreUniqueWithoutCaseOutsideTheBin) {
  must(apply("dataset.commit", manifest_body("dst_1", "Patienten ÄÖ")));
  EXPECT_EQ(why(apply("dataset.commit", manifest_body("dst_2", "patienten äö"))),
            Refusal::dataset_name_taken);
  must(apply("dataset.bin", id("dst_1"), 10));
  EXPECT_EQ(find_dataset(db(), "dst_1")->binned_at, at(10));
  must(apply("dataset.commit", manifest_body("dst_2", "PATIENTEN äö")));
  EXPECT_EQ(why(apply("dataset.restore", id("dst_1"))), Refusal::dataset_name_taken);
  must(apply("dataset.update", id("dst_2").set("name", "Other")));
  must(apply("dataset.restore", id("dst_1")));
  EXPECT_FALSE(find_dataset(db(), "dst_1")->binned_at);
  EXPECT_EQ(why(apply("dataset.restore", id("dst_1"))), Refusal::dataset_not_binned);
  EXPECT_EQ(why(apply("dataset.update", id("dst_2").set("name", "patienten äÖ"))),
            Refusal::dataset_name_taken);
  must(apply("dataset.update", id("dst_2").set("name", "oTHER")));  // its own, spelled otherwise
}

TEST_F(DatasetsTest, NewVersionsAreNumberedByTheState) {
  must(apply("dataset.commit", manifest_body("dst_1", "Ward")));
  must(apply("dataset.commit", manifest_body("dst_1", "")));
  EXPECT_EQ(find_dataset(db(), "dst_1")->version, 2u);
  EXPECT_EQ(find_dataset(db(), "dst_1")->name, "Ward");
  EXPECT_EQ(why(apply("dataset.commit", manifest_body("dst_1", "").set("version", std::int64_t{2}))),
            Refusal::stale_revision);
  must(apply("dataset.commit", manifest_body("dst_1", "").set("version", std::int64_t{3})));
  const auto versions = list_versions(db(), "dst_1");
  ASSERT_EQ(versions.size(), 3u);
  EXPECT_EQ(versions.front().version, 3u);
  EXPECT_TRUE(find_version(db(), "dst_1", 2));
  EXPECT_FALSE(find_version(db(), "dst_1", 4));
  EXPECT_EQ(list_version_refs(db()).size(), 3u);
  EXPECT_EQ(code(apply("dataset.commit", manifest_body("dst_9", ""))), Errc::not_found);
  EXPECT_EQ(code(apply("dataset.commit", manifest_body("dst_1", "Again"))), Errc::conflict);
  must(apply("dataset.bin", id("dst_1")));
  EXPECT_EQ(why(apply("dataset.commit", manifest_body("dst_1", ""))), Refusal::dataset_binned);
}

TEST_F(DatasetsTest, OneVersionIsMadeAtATime) {
  must(apply("dataset.commit", manifest_body("dst_1", "Ward")));
  must(apply("operation.begin", operation_body("op_1", "version", "dst_1")));
  EXPECT_EQ(why(apply("operation.begin", operation_body("op_2", "version", "dst_1"))), Refusal::dataset_busy);
  EXPECT_EQ(why(apply("dataset.bin", id("dst_1"))), Refusal::dataset_busy);
  must(apply("dataset.commit", manifest_body("dst_1", "", "op_1")));
  must(apply("operation.begin", operation_body("op_2", "version", "dst_1")));
  must(apply("operation.end", Fields().set("id", "op_2").set("state", "failed").set("error", "No.")));
  EXPECT_EQ(find_operation(db(), "op_2")->error, "No.");
  EXPECT_EQ(audit("operation.end").front().result, "failed");
  must(apply("dataset.bin", id("dst_1")));
  EXPECT_EQ(why(apply("operation.begin", operation_body("op_3", "version", "dst_1"))),
            Refusal::dataset_binned);
  EXPECT_EQ(code(apply("operation.begin", operation_body("op_3", "version", "dst_9"))), Errc::not_found);
}

TEST_F(DatasetsTest, DestroyingLeavesTheCertificateAndNothingElse) {
  must(apply("dataset.commit", manifest_body("dst_1", "Ward")));
  must(apply("dataset.commit", manifest_body("dst_1", "")));
  must(apply("dataset.grant", id("dst_1").set("user_id", "usr_boris")));
  EXPECT_EQ(why(apply("dataset.destroy", id("dst_1"))), Refusal::dataset_not_binned);
  must(apply("dataset.bin", id("dst_1")));
  must(apply("dataset.destroy", id("dst_1"), 99));
  EXPECT_FALSE(find_dataset(db(), "dst_1"));
  EXPECT_EQ(rows_of("dst_1"), 0);
  EXPECT_FALSE(find_wrapped_key(db(), "dst_1", 0));
  EXPECT_TRUE(list_version_refs(db()).empty());

  const auto whole = audit("dataset.destroyed");
  ASSERT_EQ(whole.size(), 1u);
  EXPECT_EQ(whole[0].object, "dst_1");
  EXPECT_EQ(whole[0].actor, "anna");
  EXPECT_EQ(whole[0].time, at(99));
  const auto details = Fields::parse(whole[0].details);
  ASSERT_TRUE(details);
  EXPECT_EQ(details->items("versions"), 2u);
  EXPECT_EQ(*details->text("source_key_hash", 64), hex_encode(security::blake2b_256(Bytes(72, 8))));
  const auto parts = audit("dataset.version_destroyed");
  ASSERT_EQ(parts.size(), 2u);
  const auto part = Fields::parse(parts[0].details);
  ASSERT_TRUE(part);
  EXPECT_EQ(*part->texts("shard_hashes", 10, 64),
            (std::vector<std::string>{hex_encode(hash_of(1)), hex_encode(hash_of(2))}));
  EXPECT_EQ(*part->text("key_commitment", 64), hex_encode(Bytes(16, 6)));
  EXPECT_EQ(code(apply("dataset.destroy", id("dst_1"))), Errc::not_found);
  // The snapshot made from now on holds none of the keys.
  const auto image = machine_->snapshot();
  ASSERT_TRUE(image);
  for (const std::uint8_t byte : {7, 8}) {
    const Bytes key(72, byte);
    EXPECT_EQ(std::search(image->begin(), image->end(), key.begin(), key.end()), image->end());
  }
}

TEST_F(DatasetsTest, GrantsAreSortedOnceAndRecorded) {
  must(apply("dataset.commit", manifest_body("dst_1", "Ward")));
  must(apply("dataset.grant", id("dst_1").set("user_id", "usr_vera")));
  must(apply("dataset.grant", id("dst_1").set("user_id", "usr_boris")));
  must(apply("dataset.grant", id("dst_1").set("user_id", "usr_boris")));
  EXPECT_EQ(find_dataset(db(), "dst_1")->granted_ids, (std::vector<std::string>{"usr_boris", "usr_vera"}));
  EXPECT_EQ(audit("dataset.grant").size(), 2u);
  EXPECT_EQ(code(apply("dataset.grant", id("dst_1").set("user_id", "usr_admin"))), Errc::invalid);
  EXPECT_EQ(code(apply("dataset.grant", id("dst_1").set("user_id", "usr_x"))), Errc::not_found);
  must(apply("dataset.ungrant", id("dst_1").set("user_id", "usr_vera")));
  EXPECT_EQ(code(apply("dataset.ungrant", id("dst_1").set("user_id", "usr_vera"))), Errc::not_found);
  EXPECT_EQ(find_dataset(db(), "dst_1")->granted_ids, std::vector<std::string>{"usr_boris"});
}

TEST_F(DatasetsTest, ListsAreFilteredByUserBinAndText) {
  must(apply("dataset.commit", manifest_body("dst_1", "Ward Šest", {}, "usr_boris")));
  must(apply("dataset.commit", manifest_body("dst_2", "Loans")));
  must(apply("dataset.commit", manifest_body("dst_3", "Other")));
  must(apply("dataset.grant", id("dst_2").set("user_id", "usr_boris")));
  must(apply("dataset.bin", id("dst_3")));
  const auto ids = [&](DatasetFilter filter) {
    std::vector<std::string> out;
    for (const Dataset& one : list_datasets(db(), filter, {}).items) out.push_back(one.id);
    return out;
  };
  using Ids = std::vector<std::string>;
  EXPECT_EQ(ids({}), (Ids{"dst_2", "dst_1"}));
  EXPECT_EQ(ids({true, "", {}}), (Ids{"dst_3"}));
  EXPECT_EQ(ids({false, "", "usr_boris"}), (Ids{"dst_2", "dst_1"}));
  EXPECT_EQ(ids({false, "", "usr_vera"}), Ids{});
  EXPECT_EQ(ids({true, "", "usr_boris"}), Ids{});
  EXPECT_EQ(ids({false, "šEST", {}}), (Ids{"dst_1"}));
  EXPECT_EQ(ids({false, "LINES", {}}), (Ids{"dst_2", "dst_1"}));
  EXPECT_EQ(ids({false, "%", {}}), Ids{});
  const auto first = list_datasets(db(), {}, {1, ""});
  EXPECT_EQ(first.items.at(0).id, "dst_2");
  EXPECT_EQ(list_datasets(db(), {}, {1, first.next_cursor}).items.at(0).id, "dst_1");
}

TEST_F(DatasetsTest, DamageIsMarkedAndHealedOnce) {
  must(apply("dataset.commit", manifest_body("dst_1", "Ward")));
  const auto mark = [&](std::int64_t shard, bool damaged) {
    return apply("dataset.mark",
                 id("dst_1").set("version", std::int64_t{1}).set("shard", shard).set("damaged", damaged));
  };
  must(mark(1, true));
  must(mark(1, true));
  EXPECT_TRUE(find_version(db(), "dst_1", 1)->shards[1].damaged);
  EXPECT_EQ(find_summary(db(), "dst_1", 1)->shards_damaged, 1u);
  EXPECT_EQ(audit("dataset.shard_damaged").size(), 1u);
  must(mark(1, false));
  EXPECT_EQ(find_summary(db(), "dst_1", 1)->shards_damaged, 0u);
  EXPECT_EQ(audit("dataset.shard_healed").size(), 1u);
  EXPECT_EQ(code(mark(2, true)), Errc::not_found);
}

TEST_F(DatasetsTest, UpdatesAskForTheRevision) {
  must(apply("dataset.commit", manifest_body("dst_1", "Ward")));
  must(apply("dataset.update",
             id("dst_1").set("description", to_bytes("new")).set("if_revision", std::int64_t{1})));
  EXPECT_EQ(find_dataset(db(), "dst_1")->description, "new");
  EXPECT_EQ(find_dataset(db(), "dst_1")->revision, 2u);
  EXPECT_EQ(why(apply("dataset.update", id("dst_1").set("name", "x").set("if_revision", std::int64_t{1}))),
            Refusal::stale_revision);
  EXPECT_EQ(code(apply("dataset.update", id("dst_1").set("name", ""))), Errc::invalid);
}

TEST_F(DatasetsTest, WhoOwnsDataSetsIsNotDeleted) {
  must(apply("dataset.commit", manifest_body("dst_1", "Ward", {}, "usr_boris")));
  must(apply("dataset.commit", manifest_body("dst_2", "Loans")));
  must(apply("dataset.grant", id("dst_2").set("user_id", "usr_boris")));
  must(apply("operation.begin", operation_body("op_1", "ingest", {}, "usr_boris")));
  EXPECT_EQ(why(apply("user.delete", id("usr_boris"))), Refusal::owns_datasets);
  must(apply("dataset.bin", id("dst_1")));
  EXPECT_EQ(why(apply("user.delete", id("usr_boris"))), Refusal::owns_datasets);
  must(apply("dataset.restore", id("dst_1")));
  must(apply("dataset.update", id("dst_1").set("owner_id", "usr_vera")));
  EXPECT_EQ(*Fields::parse(audit("dataset.update").at(0).details)->text("owner_before", 64), "usr_boris");
  must(apply("user.delete", id("usr_boris")));
  EXPECT_TRUE(find_dataset(db(), "dst_2")->granted_ids.empty());
  EXPECT_EQ(find_operation(db(), "op_1")->state, "cancelled");
}

TEST_F(DatasetsTest, EndedOperationsAreForgottenAfterAWeek) {
  must(apply("operation.begin", operation_body("op_1")));
  must(apply("operation.begin", operation_body("op_2")));
  must(apply("operation.end", Fields().set("id", "op_1").set("state", "done").set("error", ""), 10));
  must(apply("user.unlock", id("usr_vera"), 10 + 7 * 86'400 - 1));
  EXPECT_EQ(list_operations(db(), std::nullopt).size(), 2u);
  must(apply("user.unlock", id("usr_vera"), 10 + 7 * 86'400));
  ASSERT_EQ(list_operations(db(), std::nullopt).size(), 1u);
  EXPECT_EQ(list_operations(db(), "usr_admin").at(0).id, "op_2");
  EXPECT_TRUE(list_operations(db(), "usr_vera").empty());
}

TEST_F(DatasetsTest, TheQueueHasAnEnd) {
  for (int i = 0; i < 100; ++i)
    must(apply("operation.begin", operation_body("op_" + std::to_string(i), "ingest", {}, "usr_boris")));
  EXPECT_EQ(code(apply("operation.begin", operation_body("op_x", "ingest", {}, "usr_boris"))), Errc::busy);
  must(apply("operation.begin", operation_body("op_x")));
}

TEST(NameKey, FoldsWhatItKnows) {
  EXPECT_EQ(name_key("ABC xyz"), "abc xyz");
  EXPECT_EQ(name_key("ÀÖØÞ×ß÷"), "àöøþ×ß÷");
  EXPECT_EQ(name_key("ŁŠŽĹŸĀſ"), "łšžĺÿāſ");
  EXPECT_EQ(name_key("ΑΩΣ"), "αωσ");
  EXPECT_EQ(name_key("САМОВАР ЁЏ"), "самовар ёџ");
  EXPECT_EQ(name_key("日本 😀"), "日本 😀");
  EXPECT_EQ(name_key("\xc3"), "\xc3");
}

TEST(DatasetRights, AsInTheTable) {
  Dataset dataset;
  dataset.owner_id = "usr_owner";
  dataset.granted_ids = {"usr_a", "usr_granted"};
  struct Row {
    Role role;
    const char* user;
    bool see, rows, manage;
  };
  const Row rows[] = {
      {Role::admin, "usr_x", true, false, true},          {Role::admin, "usr_granted", true, true, true},
      {Role::admin, "usr_owner", true, true, true},       {Role::analyst, "usr_x", false, false, false},
      {Role::analyst, "usr_granted", true, true, false},  {Role::analyst, "usr_owner", true, true, true},
      {Role::viewer, "usr_x", false, false, false},       {Role::viewer, "usr_granted", true, false, false},
      {Role::viewer, "usr_owner", true, false, false},    {Role::auditor, "usr_x", true, false, false},
      {Role::auditor, "usr_granted", true, false, false}, {Role::service, "usr_x", false, false, false},
      {Role::service, "usr_granted", true, true, false},
  };
  for (const Row& row : rows) {
    Actor actor;
    actor.user_id = row.user;
    actor.role = row.role;
    actor.auth = AuthKind::session;
    EXPECT_EQ(may_see(actor, dataset), row.see) << to_string(row.role) << " " << row.user;
    EXPECT_EQ(may_read_rows(actor, dataset), row.rows) << to_string(row.role) << " " << row.user;
    EXPECT_EQ(may_manage(actor, dataset), row.manage) << to_string(row.role) << " " << row.user;
  }
  EXPECT_FALSE(may_see({}, dataset));
  EXPECT_FALSE(may_read_rows({}, dataset));
  EXPECT_FALSE(may_manage({}, dataset));
  EXPECT_TRUE(may_read_rows(Actor::system(), dataset));
}

}  // namespace
}  // namespace samovar::cluster::testing
