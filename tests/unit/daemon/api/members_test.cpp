// Several nodes, and those that would be one, through the routes.
#include <gtest/gtest.h>

#include "daemon/api/ca_wraps.hpp"
#include "security/certificates.hpp"
#include "security/password_wrap.hpp"
#include "tests/unit/daemon/api/box.hpp"
#include "tests/unit/daemon/api/dataset_support.hpp"

namespace samovar::api::test {
namespace {

using nlohmann::json;

constexpr const char* kPeer = "/api/v1/peers/k7q2m4xp:";

cluster::Call system_call() {
  cluster::Call call;
  call.actor = cluster::Actor::system();
  return call;
}

// A second member, with what it last said of itself.
struct Pair {
  Box box;
  As admin = box.log_in(box.admin);

  Pair() {
    box.node.latest.t = box.clock.wall();
    box.node.latest.watts = 7;
    for (const std::string id : {"node1", "node2"}) {
      cluster::NodeRecord row;
      row.id = id;
      row.name = id == "node1" ? "kettle" : "urn";
      row.addresses = {"10.0.0.2:7443"};
      row.disk_bytes = 1000;
      row.version = "0.1.0";
      row.sign_public = Bytes(32, static_cast<std::uint8_t>(id.back()));
      row.box_public = row.sign_public;
      auto done = id == "node1" ? box.run(box.node.state->put_node(system_call(), row))
                                : box.run(box.node.state->admit_node(system_call(), row));
      if (!done) ADD_FAILURE() << done.error().message();
    }
    NodeReport report;
    report.facts.id = "node2";
    report.facts.hostname = "urn";
    report.facts.cores = 6;
    report.url = "https://10.0.0.2:8443";
    report.version = "0.1.0";
    report.disk = {1000, 600};
    report.sample.t = box.clock.wall();
    report.sample.watts = 5;
    box.members.reports["node2"] = report;
    box.members.contacts["node2"] = {true, box.clock.wall(), 0.4};
    box.members.storage = {{"node1", 1000, 400, true, false}, {"node2", 1000, 600, true, false}};
  }
  json node2() { return box.get("/api/v1/nodes/node2", admin).body; }
};

TEST(Nodes, TheListHasAllMembersWithWhatIsKnownOfEach) {
  Pair t;
  const json items = t.box.get("/api/v1/nodes", t.admin).body["items"];
  ASSERT_EQ(items.size(), 2u);
  EXPECT_EQ(t.box.members.refreshed, 1u);
  const json node = t.node2();
  EXPECT_EQ(node["state"], "up");
  EXPECT_EQ(node["self"], false);
  EXPECT_EQ(node["cores"], 6);
  EXPECT_EQ(node["url"], "https://10.0.0.2:8443");
  EXPECT_EQ(node["rtt_ms"], 0.4);
  EXPECT_EQ(node["disk"]["free"], 600);
  EXPECT_EQ(node["sample"]["watts"], 5);
  const json self = t.box.get("/api/v1/nodes/node1", t.admin).body;
  EXPECT_EQ(self["self"], true);
  EXPECT_EQ(self["leader"], true);
  EXPECT_EQ(self["voice"], "voter");
  const json cluster = t.box.get("/api/v1/cluster", t.admin).body;
  EXPECT_EQ(cluster["nodes"], json({{"total", 2}, {"up", 2}}));
  EXPECT_EQ(cluster["power"]["watts"], 12);
  EXPECT_EQ(cluster["storage"]["free_bytes"], 1000);
  EXPECT_EQ(cluster["writable"], true);
}

TEST(Nodes, OneThatDoesNotAnswerKeepsItsFactsButNotItsSample) {
  Pair t;
  t.box.members.contacts["node2"].reachable = false;
  const json node = t.node2();
  EXPECT_EQ(node["state"], "unreachable");
  EXPECT_EQ(node["sample"], nullptr);
  EXPECT_EQ(node["cores"], 6);
  EXPECT_EQ(t.box.get("/api/v1/cluster", t.admin).body["nodes"], json({{"total", 2}, {"up", 1}}));
  t.box.members.reports.clear();
  EXPECT_EQ(t.node2()["cores"], nullptr);
  EXPECT_EQ(t.node2()["hostname"], "");
}

TEST(Nodes, DrainAndResume) {
  Pair t;
  EXPECT_EQ(t.box.post("/api/v1/nodes/node2:drain", nullptr, t.admin).body["state"], "draining");
  EXPECT_EQ(t.box.post("/api/v1/nodes/node2:resume", nullptr, t.admin).body["state"], "up");
  EXPECT_EQ(t.box.post("/api/v1/nodes/node9:drain", nullptr, t.admin).status, 404);
}

TEST(Nodes, ARemovedOneLeavesTheListAndIsNotTakenBack) {
  Pair t;
  const json preview = t.box.get("/api/v1/nodes/node2:removal", t.admin).body;
  EXPECT_EQ(preview["files"], 0);
  EXPECT_EQ(preview["quorum_after"], true);
  EXPECT_FALSE(preview["sentence"].get<std::string>().empty());
  ASSERT_EQ(t.box.send(Method::del, "/api/v1/nodes/node2", nullptr, t.admin).status, 204);
  EXPECT_EQ(t.box.get("/api/v1/nodes", t.admin).body["items"].size(), 1u);
  EXPECT_EQ(t.node2()["state"], "removed");
  EXPECT_EQ(t.box.send(Method::del, "/api/v1/nodes/node2", nullptr, t.admin).status, 404);
  EXPECT_EQ(t.box.send(Method::del, "/api/v1/nodes/node1", nullptr, t.admin).code(), "last_node");
}

// The preview was made before: what counts is the moment of the removal.
TEST(Nodes, NoMoreIsLostThanSomebodyAgreedTo) {
  Pair t;
  const auto dataset = add_dataset(t.box, "Ward 6", t.box.admin);
  std::vector<cluster::CopyChange> moved(2);
  moved[0].key = moved[1].key = dataset.id + ".1/0";
  moved[0].node_id = "node2";
  moved[1].node_id = "node1";
  moved[1].there = false;
  ASSERT_TRUE(t.box.run(t.box.node.state->change_copies(system_call(), moved)));
  const auto remove = [&t](const std::string& query) {
    return t.box.send(Method::del, "/api/v1/nodes/node2" + query, nullptr, t.admin);
  };
  EXPECT_EQ(remove("").code(), "unsafe_removal");
  EXPECT_EQ(remove("?force=1&losses_max=some").code(), "bad_query");
  const auto refused = remove("?force=1&losses_max=0");
  EXPECT_EQ(refused.status, 409);
  EXPECT_EQ(refused.code(), "unsafe_removal");
  EXPECT_NE(refused.body["detail"].get<std::string>().find("1 file, of the data set \"Ward 6\""),
            std::string::npos)
      << refused.body;
  EXPECT_EQ(refused.body["removal"]["last_copies"], 1);
  EXPECT_EQ(t.node2()["state"], "up");
  EXPECT_EQ(remove("?force=1&losses_max=1").status, 204);
}

TEST(Nodes, HistoryOfAnotherIsAskedThere) {
  Pair t;
  const json table = t.box.get("/api/v1/metrics/history?metric=cpu&range=5m&node=node2", t.admin).body;
  EXPECT_EQ(table["node"], "node2");
  EXPECT_EQ(table["cols"][1], json({0.25, 0.5}));
  t.box.members.contacts["node2"].reachable = false;
  EXPECT_EQ(t.box.get("/api/v1/metrics/history?metric=cpu&node=node2", t.admin).code(), "node_unreachable");
  EXPECT_EQ(t.box.get("/api/v1/metrics/history?metric=cpu&node=node9", t.admin).status, 404);
}

TEST(Links, AreListedAndMeasured) {
  Pair t;
  EXPECT_EQ(t.box.post("/api/v1/links:test", {{"to", "node2"}}, t.admin).code(), "node_unreachable");
  LinkReport link;
  link.from = "node1";
  link.to = "node2";
  link.up = true;
  t.box.members.link_rows = {link};
  EXPECT_EQ(t.box.get("/api/v1/links", t.admin).body["links"][0]["to"], "node2");
  EXPECT_EQ(t.box.post("/api/v1/links:test", {{"to", "node2"}}, t.admin).body["measured_bytes_per_second"],
            5e8);
  for (const std::string to : {"node1", "node9"})
    EXPECT_EQ(t.box.post("/api/v1/links:test", {{"to", to}}, t.admin).status, 422) << to;
}

// The CA's key, wrapped by ada's password, as set-up leaves it.
void give_ca_key(Box& box, const std::string& password) {
  const auto key = security::PrivateKey::generate().value();
  const std::string cluster_id = box.node.state->info()->id;
  const auto certificate = security::make_cluster_ca(key, cluster_id).value();
  const auto wrap =
      security::wrap_secret_with_password(key.to_der(), as_bytes(password),
                                          ca_wrap_aad(cluster_id, box.admin.id), security::kTestCost)
          .value();
  auto put =
      box.run(box.node.state->put_setting(system_call(), std::string(kCaSetting),
                                          make_ca_document(certificate.to_pem(), box.admin.id, wrap), {}));
  ASSERT_TRUE(put);
}

TEST(Peers, ApprovalNeedsTheAdministratorsPasswordAndOpensTheKey) {
  Box box;
  const As admin = box.log_in(box.admin);
  const std::string path = std::string(kPeer) + "approve";
  give_ca_key(box, kPassword);
  EXPECT_EQ(box.post(path, {{"password", kOtherPassword}}, admin).code(), "wrong_password");
  EXPECT_TRUE(box.members.ca_key.empty());
  const Reply good = box.post(path, {{"password", kPassword}}, admin);
  ASSERT_EQ(good.status, 202) << good.response.body;
  EXPECT_EQ(good.body["tries_left"], 3);
  EXPECT_EQ(box.members.approved_by, "ada");
  EXPECT_TRUE(security::PrivateKey::from_der(box.members.ca_key.view()));
}

TEST(Peers, AnAdministratorWithoutTheKeyIsToldWhoHasIt) {
  Box box;
  give_ca_key(box, kPassword);
  const Reply reply = box.post(std::string(kPeer) + "approve", {{"password", kPassword}},
                               box.log_in_as(cluster::Role::admin));
  EXPECT_EQ(reply.code(), "no_ca_key");
  EXPECT_NE(reply.body["detail"].get<std::string>().find("ada"), std::string::npos);
}

TEST(Peers, AWrongCodeCountsDownAndTheEndSaysWhy) {
  Box box;
  const As admin = box.log_in(box.admin);
  const std::string path = std::string(kPeer) + "confirm";
  for (const unsigned left : {2u, 1u, 0u}) {
    const Reply wrong = box.post(path, {{"code", "000 000"}}, admin);
    EXPECT_EQ(wrong.status, 422);
    EXPECT_EQ(wrong.code(), "wrong_code");
    EXPECT_EQ(wrong.body["tries_left"], left);
  }
  const Reply over = box.post(path, {{"code", "418 902"}}, admin);
  EXPECT_EQ(over.status, 409);
  EXPECT_EQ(over.code(), "join_over");
}

TEST(Peers, TheRightCodeGivesTheNode) {
  Box box;
  const Reply reply = box.post(std::string(kPeer) + "confirm", {{"code", "418 902"}}, box.log_in(box.admin));
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body["name"], "urn");
}

TEST(Peers, AddressesBlocksAndInvitations) {
  Box box;
  const As admin = box.log_in(box.admin);
  EXPECT_EQ(box.post("/api/v1/peers:add", {{"address", "10.0.0.9"}}, admin).body["short_id"], "K7Q2-M4XP");
  const Reply nobody = box.post("/api/v1/peers:add", {{"address", "10.0.0.8"}}, admin);
  EXPECT_EQ(nobody.status, 422);
  EXPECT_EQ(nobody.code(), "peer_unreachable");
  EXPECT_EQ(box.post("/api/v1/peers/x:block", nullptr, admin).status, 204);
  EXPECT_EQ(box.get("/api/v1/peers", admin).body["blocked"], json({"x"}));
  EXPECT_EQ(box.post("/api/v1/peers/x:unblock", nullptr, admin).status, 204);
  EXPECT_EQ(box.post("/api/v1/peers/x:cancel", nullptr, admin).status, 204);
  give_ca_key(box, kPassword);
  const Reply words = box.post("/api/v1/peers:invite", {{"password", kPassword}}, admin);
  EXPECT_EQ(words.body["words"], "acid-bench-coral-fern-wagon");
}

TEST(Setup, ANewNodeShowsItsCodeOnlyToWhoSitsAtIt) {
  Box box;
  box.node.current = Phase::fresh;
  box.members.guest_view = {"code", "418 902", "Kettle"};
  As here;
  here.address = "127.0.0.1";
  EXPECT_EQ(box.get("/api/v1/setup", here).body["join"]["code"], "418 902");
  const json away = box.get("/api/v1/setup", {}).body["join"];
  EXPECT_EQ(away["code"], nullptr);
  EXPECT_EQ(away["state"], "code");
  EXPECT_EQ(away["cluster_name"], "Kettle");
  box.node.current = Phase::ready;
  EXPECT_FALSE(box.get("/api/v1/setup", here).body.contains("join"));
}

TEST(Setup, WordsNeedTheSetUpCode) {
  Box box;
  box.node.current = Phase::fresh;
  const auto send = [&](const std::string& code, const std::string& words) {
    return box.post("/api/v1/setup:join", {{"setup_code", code}, {"words", words}}, {});
  };
  EXPECT_EQ(send("WRONG", "acid bench coral fern wagon").code(), "wrong_setup_code");
  EXPECT_EQ(box.members.typed_words, "");
  box.advance(std::chrono::minutes(1));
  EXPECT_EQ(send("K7Q2-M4XP", "no such words").code(), "validation");
  EXPECT_EQ(send("K7Q2-M4XP", "acid bench coral fern wagon").status, 202);
  EXPECT_EQ(box.members.typed_words, "acid bench coral fern wagon");
  box.node.current = Phase::ready;
  EXPECT_EQ(send("K7Q2-M4XP", "acid bench coral fern wagon").code(), "already_set_up");
}

TEST(Doctor, IsForAdministratorsAndForAnyoneOnANewNode) {
  Box box;
  box.members.doctor_report.checks = {
      {"multicast", "fail", "Multicast", "nothing heard", "Paste an address."}};
  const Reply reply = box.get("/api/v1/doctor", box.log_in(box.admin));
  EXPECT_EQ(reply.body["checks"][0]["remedy"], "Paste an address.");
  EXPECT_EQ(box.post("/api/v1/doctor:probe", {{"address", "10.0.0.9"}}, box.log_in(box.admin))
                .body["checks"]
                .size(),
            1u);
  EXPECT_EQ(box.get("/api/v1/doctor", {}).status, 401);
  box.node.current = Phase::fresh;
  EXPECT_EQ(box.get("/api/v1/doctor", {}).status, 200);
}

}  // namespace
}  // namespace samovar::api::test
