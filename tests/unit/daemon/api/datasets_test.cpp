// Data sets and operations: what is answered, to whom, and what is refused how.
#include <gtest/gtest.h>

#include "tests/unit/daemon/api/dataset_support.hpp"

namespace samovar::api::test {
namespace {

using cluster::Role;
using nlohmann::json;

// An owner, somebody it was granted to, and people of every role.
struct Ward {
  Ward() {
    owner = box.add_user("boris", Role::analyst);
    other = box.add_user("olga", Role::analyst);
    viewer = box.add_user("vera", Role::viewer);
    dataset = add_dataset(box, "Ward 6", owner);
    path = "/api/v1/datasets/" + dataset.id;
    as_owner = box.log_in(owner);
    as_other = box.log_in(other);
    as_viewer = box.log_in(viewer);
    as_admin = box.log_in(box.admin);
    as_auditor = box.log_in_as(Role::auditor);
  }
  void grant(const cluster::User& user) {
    ASSERT_EQ(box.send(Method::put, path + "/grants/" + user.id, json::object(), as_owner).status, 200);
  }
  As matching(As as, std::uint64_t revision) {
    as.headers["If-Match"] = "\"" + std::to_string(revision) + "\"";
    return as;
  }

  Box box;
  cluster::User owner, other, viewer;
  cluster::Dataset dataset;
  std::string path;
  As as_owner, as_other, as_viewer, as_admin, as_auditor;
};

TEST(Datasets, ListsShowWhatOneMaySee) {
  Ward w;
  add_dataset(w.box, "Loans", w.box.admin);
  const auto names = [&](const As& as, const std::string& query = "") {
    std::vector<std::string> out;
    const Reply reply = w.box.get("/api/v1/datasets" + query, as);
    EXPECT_EQ(reply.status, 200);
    for (const auto& item : reply.body["items"]) out.push_back(item["name"]);
    return out;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(names(w.as_admin), (Names{"Loans", "Ward 6"}));
  EXPECT_EQ(names(w.as_auditor), (Names{"Loans", "Ward 6"}));
  EXPECT_EQ(names(w.as_owner), (Names{"Ward 6"}));
  EXPECT_EQ(names(w.as_other), Names{});
  EXPECT_EQ(names(w.as_viewer), Names{});
  w.grant(w.viewer);
  EXPECT_EQ(names(w.as_viewer), (Names{"Ward 6"}));
  EXPECT_EQ(names(w.as_admin, "?q=wARD"), (Names{"Ward 6"}));
  EXPECT_EQ(names(w.as_admin, "?bin=true"), Names{});
  EXPECT_EQ(w.box.get("/api/v1/datasets?bin=perhaps", w.as_admin).status, 400);
  const Reply first = w.box.get("/api/v1/datasets?limit=1", w.as_admin);
  EXPECT_EQ(names(w.as_admin, "?limit=1&cursor=" + first.body["next_cursor"].get<std::string>()),
            (Names{"Ward 6"}));
}

TEST(Datasets, UnseenIsNotFoundOnEveryPath) {
  Ward w;
  for (const std::string tail : {"", "/schema", "/preview", "/profile", "/shards", "/download", "/bad-rows"})
    EXPECT_EQ(w.box.get(w.path + tail, w.as_other).status, 404) << tail;
  EXPECT_EQ(w.box.send(Method::del, w.path, nullptr, w.as_other).status, 404);
  EXPECT_EQ(w.box.send(Method::put, w.path + "/schema", json::object(), w.as_other).status, 404);
  EXPECT_EQ(w.box.send(Method::put, w.path + "/grants/" + w.other.id, nullptr, w.as_other).status, 404);
  EXPECT_EQ(w.box.post(w.path + ":restore", nullptr, w.as_other).status, 404);
}

TEST(Datasets, DetailHasAllOfItAndAnETag) {
  Ward w;
  const Reply reply = w.box.get(w.path, w.as_owner);
  ASSERT_EQ(reply.status, 200);
  EXPECT_EQ(reply.header("ETag"), "\"1\"");
  EXPECT_EQ(reply.body["owner"], "boris");
  EXPECT_EQ(reply.body["rows"], 30);
  EXPECT_EQ(reply.body["columns"], 2);
  EXPECT_EQ(reply.body["stored_bytes"], 1760);
  EXPECT_EQ(reply.body["schema"]["columns"][1]["sensitive"], true);
  EXPECT_EQ(reply.body["options"]["format"], "csv");
  EXPECT_EQ(reply.body["source"]["kept"], true);
  EXPECT_EQ(reply.body["versions"][0]["version"], 1);
  EXPECT_EQ(reply.body["shards"], 2);
  EXPECT_EQ(reply.body["may_read_rows"], true);
  EXPECT_EQ(reply.response.body.find("wrapped"), std::string::npos);
  EXPECT_EQ(w.box.get(w.path, w.as_admin).body["may_read_rows"], false);
  const Reply shards = w.box.get(w.path + "/shards", w.as_auditor);
  EXPECT_EQ(shards.body["items"].size(), 2u);
  EXPECT_EQ(shards.body["copies"], 1);
  EXPECT_EQ(shards.body["tolerates"], 0);
  const Reply schema = w.box.get(w.path + "/schema?version=1", w.as_auditor);
  EXPECT_EQ(schema.body["columns"][0]["name"], "age");
  EXPECT_EQ(w.box.get(w.path + "/schema?version=2", w.as_auditor).status, 404);
  EXPECT_EQ(w.box.get(w.path + "/schema?version=x", w.as_auditor).status, 400);
  EXPECT_EQ(w.box.get(w.path + "/schema?version=0", w.as_auditor).status, 400);
}

TEST(Datasets, RowsNeedTheRightToThem) {
  Ward w;
  w.grant(w.viewer);
  for (const std::string tail : {"/preview", "/download", "/bad-rows"}) {
    for (const As& as : {w.as_admin, w.as_auditor, w.as_viewer}) {
      const Reply reply = w.box.get(w.path + tail, as);
      EXPECT_EQ(reply.status, 403) << tail;
      EXPECT_EQ(reply.code(), "rows_denied") << tail;
    }
    EXPECT_EQ(w.box.get(w.path + tail, w.as_owner).status, 200) << tail;
  }
  EXPECT_EQ(w.box.get(w.path + "/profile?target=age", w.as_viewer).status, 200);
  EXPECT_EQ(w.box.data.seen_target, "age");
  const Reply preview = w.box.get(w.path + "/preview", w.as_owner);
  EXPECT_EQ(preview.body["rows"][0][0], "17");
  EXPECT_TRUE(preview.body["rows"][1][0].is_null());
  EXPECT_EQ(preview.body["columns"][1]["name"], "name");
  // Granted, an administrator may; that is recorded.
  w.grant(w.box.admin);
  EXPECT_EQ(w.box.get(w.path + "/preview", w.as_admin).status, 200);
  EXPECT_EQ(w.box.audit_count("dataset.grant"), 2u);
}

TEST(Datasets, ADownloadIsAStreamWithAName) {
  Ward w;
  w.box.data.pieces = {"age\n", "17\n"};
  const Reply reply = w.box.get(w.path + "/download?version=1", w.as_owner);
  ASSERT_EQ(reply.status, 200);
  EXPECT_EQ(w.box.data.seen_version, 1u);
  EXPECT_EQ(reply.header("Content-Type"), "text/csv; charset=utf-8");
  EXPECT_EQ(reply.header("Content-Disposition"),
            "attachment; filename=\"Ward_6.csv\"; filename*=UTF-8''Ward%206.csv");
  ASSERT_TRUE(reply.response.stream);
  std::string all;
  for (;;) {
    const auto piece = w.box.run(reply.response.stream->next());
    ASSERT_TRUE(piece);
    if (piece->empty()) break;
    all += as_text(*piece);
  }
  EXPECT_EQ(all, "age\n17\n");
  w.box.data.read_error = Error{Errc::corrupt, "shard 1 is damaged"};
  EXPECT_EQ(w.box.get(w.path + "/download", w.as_owner).status, 500);
  w.box.data.read_error = Error{Errc::unavailable, "shard 1 is damaged and not served"};
  EXPECT_EQ(w.box.get(w.path + "/bad-rows", w.as_owner).status, 503);
}

TEST(Datasets, AreMadeOfAnUploadWithWhatAPersonChose) {
  Ward w;
  jobs::NewUpload wanted;
  wanted.file_name = "a.csv";
  cluster::Call call;
  call.actor.user_id = w.owner.id;
  call.actor.role = Role::analyst;
  const auto upload = w.box.run(w.box.data.create_upload(call, wanted));
  ASSERT_TRUE(upload);
  json body = {{"upload_id", upload->id},
               {"name", "Loans"},
               {"description", "two\nlines"},
               {"hints", {{"delimiter", ";"}}},
               {"columns", {{{"column", "age"}, {"rename", "years"}, {"type", "real"}}}}};
  As again = w.as_owner;
  again.headers["Idempotency-Key"] = "make-it-once";
  const Reply reply = w.box.post("/api/v1/datasets", body, again);
  ASSERT_EQ(reply.status, 202) << reply.response.body;
  EXPECT_EQ(reply.header("Location"), "/api/v1/operations/" + reply.body["id"].get<std::string>());
  EXPECT_EQ(reply.body["state"], "queued");
  EXPECT_EQ(w.box.data.seen_request.name, "Loans");
  EXPECT_EQ(w.box.data.seen_request.description, "two\nlines");
  EXPECT_EQ(w.box.data.seen_request.hints.delimiter, ';');
  ASSERT_EQ(w.box.data.seen_request.columns.size(), 1u);
  EXPECT_EQ(w.box.data.seen_request.columns[0].rename, "years");
  EXPECT_EQ(w.box.post("/api/v1/datasets", body, again).body["id"], reply.body["id"]);
  EXPECT_EQ(w.box.data.running.size(), 1u);

  const auto errors = [&](json changed) {
    const Reply refused = w.box.post("/api/v1/datasets", changed, w.as_owner);
    EXPECT_EQ(refused.status, 422) << refused.response.body;
    std::string pointers;
    for (const auto& error : refused.body["errors"]) pointers += error["pointer"].get<std::string>() + " ";
    return pointers;
  };
  EXPECT_EQ(errors(json::object()), "/upload_id /name ");
  json wrong = body;
  wrong["hints"] = {{"delimiter", "far too long"}};
  wrong["columns"] = {{{"column", "age"}, {"type", "colour"}}};
  wrong["colour"] = "red";
  EXPECT_EQ(errors(wrong), "/hints /columns /colour ");
  body["upload_id"] = "upl_none";
  EXPECT_EQ(w.box.post("/api/v1/datasets", body, w.as_owner).status, 404);
  EXPECT_EQ(w.box.post("/api/v1/datasets:sample", nullptr, w.as_owner).status, 202);
}

TEST(Datasets, ChangesNeedTheETagAndTheOwner) {
  Ward w;
  w.grant(w.other);  // revision 2
  const json change = {{"name", "Ward 7"}};
  EXPECT_EQ(w.box.send(Method::patch, w.path, change, w.as_owner).status, 428);
  EXPECT_EQ(w.box.send(Method::patch, w.path, change, w.matching(w.as_owner, 1)).status, 412);
  const Reply denied = w.box.send(Method::patch, w.path, change, w.matching(w.as_other, 2));
  EXPECT_EQ(denied.status, 403);
  EXPECT_EQ(denied.code(), "denied");
  const Reply done = w.box.send(Method::patch, w.path, change, w.matching(w.as_owner, 2));
  ASSERT_EQ(done.status, 200) << done.response.body;
  EXPECT_EQ(done.body["name"], "Ward 7");
  EXPECT_EQ(done.header("ETag"), "\"3\"");
  EXPECT_EQ(w.box.send(Method::patch, w.path, json::object(), w.matching(w.as_owner, 3)).status, 422);
  EXPECT_EQ(w.box.send(Method::patch, w.path, {{"rows", 7}}, w.matching(w.as_owner, 3)).status, 422);
  EXPECT_EQ(w.box.send(Method::patch, w.path, {{"name", ""}}, w.matching(w.as_owner, 3)).status, 422);
  add_dataset(w.box, "Loans", w.box.admin);
  const Reply taken = w.box.send(Method::patch, w.path, {{"name", "LOANS"}}, w.matching(w.as_owner, 3));
  EXPECT_EQ(taken.status, 409);
  EXPECT_EQ(taken.code(), "name_taken");
}

TEST(Datasets, HandingOverNeedsAFreshPassword) {
  Ward w;
  const json change = {{"owner_id", "olga"}};  // an id, or a name
  As as = w.matching(w.as_owner, 1);
  EXPECT_EQ(w.box.send(Method::patch, w.path, {{"owner_id", "usr_none"}}, as).status, 422);
  w.box.advance(std::chrono::minutes(6));
  EXPECT_EQ(w.box.send(Method::patch, w.path, change, as).code(), "reauth_required");
  as = w.matching(w.box.log_in(w.owner), 1);
  EXPECT_EQ(w.box.send(Method::patch, w.path, change, as).status, 204);
  EXPECT_EQ(w.box.get(w.path, as).status, 404);
  EXPECT_EQ(w.box.get(w.path, w.box.log_in(w.other)).body["owner"], "olga");
}

TEST(Datasets, GoIntoTheBinAndOutAndAreDestroyedByAnAdministrator) {
  Ward w;
  EXPECT_EQ(w.box.send(Method::del, w.path, nullptr, w.as_owner).status, 204);
  const Reply binned = w.box.get(w.path, w.as_owner);
  EXPECT_FALSE(binned.body["binned_at"].is_null());
  EXPECT_FALSE(binned.body["purge_at"].is_null());
  EXPECT_EQ(w.box.get("/api/v1/datasets?bin=true", w.as_owner).body["items"].size(), 1u);
  EXPECT_EQ(w.box.get("/api/v1/datasets", w.as_owner).body["items"].size(), 0u);
  EXPECT_EQ(w.box.get(w.path + "/preview", w.as_owner).code(), "dataset_binned");
  EXPECT_EQ(w.box.send(Method::del, w.path, nullptr, w.as_owner).code(), "dataset_binned");

  add_dataset(w.box, "ward 6", w.box.admin);
  const Reply taken = w.box.post(w.path + ":restore", nullptr, w.as_owner);
  EXPECT_EQ(taken.status, 409);
  EXPECT_EQ(taken.code(), "name_taken");
  const std::string other = w.box.get("/api/v1/datasets", w.as_admin).body["items"][0]["id"];
  EXPECT_EQ(w.box.send(Method::del, "/api/v1/datasets/" + other, nullptr, w.as_admin).status, 204);
  EXPECT_EQ(w.box.post(w.path + ":restore", nullptr, w.as_owner).status, 200);
  EXPECT_EQ(w.box.post(w.path + ":restore", nullptr, w.as_owner).code(), "dataset_not_binned");

  EXPECT_EQ(w.box.post(w.path + ":destroy", nullptr, w.as_owner).status, 403);
  EXPECT_EQ(w.box.post(w.path + ":destroy", nullptr, w.as_admin).code(), "dataset_not_binned");
  EXPECT_EQ(w.box.send(Method::del, w.path, nullptr, w.as_admin).status, 204);
  EXPECT_EQ(w.box.post(w.path + ":destroy", nullptr, w.as_admin).status, 204);
  EXPECT_EQ(w.box.get(w.path, w.as_admin).status, 404);
  EXPECT_EQ(w.box.audit_count("dataset.destroyed"), 1u);
}

TEST(Datasets, GrantsByIdOrNameAreShownToThoseWhoManage) {
  Ward w;
  EXPECT_EQ(w.box.send(Method::put, w.path + "/grants/olga", json::object(), w.as_owner).status, 200);
  w.grant(w.viewer);
  EXPECT_EQ(w.box.get(w.path, w.as_owner).body["granted"].size(), 2u);
  EXPECT_EQ(w.box.get(w.path, w.as_auditor).body["granted"].size(), 2u);
  const json seen = w.box.get(w.path, w.as_other).body["granted"];
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0]["username"], "olga");
  EXPECT_EQ(w.box.send(Method::put, w.path + "/grants/nobody", nullptr, w.as_owner).status, 404);
  EXPECT_EQ(w.box.send(Method::put, w.path + "/grants/vera", nullptr, w.as_other).status, 403);
  EXPECT_EQ(w.box.send(Method::put, w.path + "/grants/boris", nullptr, w.as_owner).status, 422);
  EXPECT_EQ(w.box.send(Method::del, w.path + "/grants/olga", nullptr, w.as_owner).status, 204);
  EXPECT_EQ(w.box.send(Method::del, w.path + "/grants/olga", nullptr, w.as_owner).status, 404);
  EXPECT_EQ(w.box.get(w.path, w.as_other).status, 404);
}

TEST(Datasets, ANewSchemaIsANewVersion) {
  Ward w;
  w.grant(w.other);
  const json change = {{"columns", {{{"column", "age"}, {"type", "real"}}}}};
  EXPECT_EQ(w.box.send(Method::put, w.path + "/schema", change, w.as_other).status, 403);
  const Reply reply = w.box.send(Method::put, w.path + "/schema", change, w.as_owner);
  ASSERT_EQ(reply.status, 202) << reply.response.body;
  EXPECT_EQ(reply.body["kind"], "version");
  EXPECT_EQ(w.box.send(Method::put, w.path + "/schema", change, w.matching(w.as_owner, 1)).status, 412);
  EXPECT_EQ(w.box.send(Method::put, w.path + "/schema", change, w.matching(w.as_owner, 2)).status, 202);
  EXPECT_EQ(w.box.send(Method::put, w.path + "/schema", json::object(), w.as_owner).status, 422);
}

TEST(Datasets, WhoOwnsSomeIsNotDeleted) {
  Ward w;
  const Reply reply = w.box.send(Method::del, "/api/v1/users/" + w.owner.id, nullptr, w.as_admin);
  EXPECT_EQ(reply.status, 409);
  EXPECT_EQ(reply.code(), "owns_datasets");
}

TEST(Datasets, WithoutAStoreTheRestOfTheBoxServes) {
  Ward w;
  w.box.node.fake_data = nullptr;
  for (const std::string path : {"/api/v1/datasets", "/api/v1/uploads", "/api/v1/operations"}) {
    const Reply reply = w.box.get(path, w.as_admin);
    EXPECT_EQ(reply.status, 503) << path;
    EXPECT_EQ(reply.code(), "unavailable") << path;
  }
  EXPECT_EQ(w.box.get("/api/v1/formats", w.as_admin).status, 200);
  EXPECT_EQ(w.box.get("/api/v1/nodes", w.as_admin).status, 200);
}

TEST(Operations, AreSeenAndCancelledByTheirOwnerAndAdministrators) {
  Ward w;
  const Reply started = w.box.post("/api/v1/datasets:sample", nullptr, w.as_owner);
  ASSERT_EQ(started.status, 202);
  const std::string path = started.header("Location");
  EXPECT_EQ(w.box.get(path, w.as_owner).body["id"], started.body["id"]);
  EXPECT_EQ(w.box.get(path, w.as_admin).status, 200);
  EXPECT_EQ(w.box.get(path, w.as_other).status, 404);
  EXPECT_EQ(w.box.get("/api/v1/operations", w.as_other).body["items"].size(), 0u);
  EXPECT_EQ(w.box.get("/api/v1/operations", w.as_owner).body["items"].size(), 1u);
  EXPECT_EQ(w.box.post(path + ":cancel", nullptr, w.as_other).status, 404);
  const Reply cancelled = w.box.post(path + ":cancel", nullptr, w.as_owner);
  EXPECT_EQ(cancelled.status, 200);
  EXPECT_EQ(cancelled.body["state"], "cancelled");
  EXPECT_EQ(w.box.post("/api/v1/datasets:scrub", nullptr, w.as_admin).status, 202);
}

}  // namespace
}  // namespace samovar::api::test
