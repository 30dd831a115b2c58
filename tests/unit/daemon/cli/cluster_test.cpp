// Commands about several machines: nodes, peers, join, doctor, links, status of a new machine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "fake_box.hpp"

#include "base/json.hpp"

namespace samovar::cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kNodes = R"({"items":[
 {"id":"node-a","name":"board-1","state":"up","self":true,"leader":true,"voice":"voter","sample":null},
 {"id":"node-b","name":"board-2","state":"unreachable","self":false,"leader":false,"voice":"voter","sample":null}],
 "next_cursor":null})";
constexpr const char* kPeers = R"({"items":[
 {"id":"node-c","short_id":"K7Q2-M4XP","hostname":"board-3","model":"Jetson Nano","address":"10.0.0.9:7443","state":"waiting",
  "detail":"","interface":"eth0","multicast":true,"join":null},
 {"id":"node-d","short_id":"AAAA-BBBB","hostname":"board-4","model":"x86","address":"10.0.0.10:7443","state":"other_cluster",
  "detail":"a member of another cluster","interface":"eth0","multicast":true,"join":null}],"blocked":["node-x"]})";
constexpr const char* kJoin =
    R"({"id":"joi_1","node_id":"node-c","node":{"hostname":"board-3","model":"Jetson Nano","arch":"aarch64","memory_bytes":4294967296,
 "disk_bytes":68719476736,"clock_skew_s":0.4},"cluster_name":"Ward 3","expires_at":"2026-11-16T06:10:00Z","tries_left":3})";
constexpr const char* kSafe =
    R"({"files":12,"bytes":4096,"last_copies":0,"below_wanted":0,"fits_elsewhere":true,"quorum_after":true,"sentence":"Nothing is lost."})";
constexpr const char* kUnsafe =
    R"({"files":12,"bytes":4096,"last_copies":3,"below_wanted":1,"fits_elsewhere":true,"quorum_after":true,"sentence":"3 files are lost."})";

class Cluster : public ::testing::Test {
 protected:
  Cluster() {
    bench.io.terminal = true;
    bench.box.on("GET /api/v1/nodes?limit=200", 200, kNodes);
    bench.box.on("GET /api/v1/peers", 200, kPeers);
  }
  json body_of(const std::string& method, const std::string& path) {
    return json::parse(bench.box.last(method, path).body, nullptr, false);
  }
  bool sent(const std::string& method, const std::string& path) {
    return !bench.box.last(method, path).url.empty();
  }
  Bench bench;
};

TEST_F(Cluster, DrainAndResumeNameTheNode) {
  bench.box.on("POST /api/v1/nodes/node-b:drain", 200, R"({"id":"node-b","state":"draining"})");
  bench.box.on("POST /api/v1/nodes/node-b:resume", 200, R"({"id":"node-b","state":"up"})");
  Outcome outcome = bench.run({"nodes", "drain", "board-2"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("samovar nodes resume board-2"));
  EXPECT_EQ(bench.run({"nodes", "resume", "node-b"}).code, 0);
  EXPECT_EQ(bench.run({"nodes", "drain", "board-9"}).code, 3);
  EXPECT_EQ(bench.run({"nodes", "show"}).code, 2) << "there are two";
}

TEST_F(Cluster, RemovingShowsThePreviewAndAsksForTheName) {
  bench.box.on("GET /api/v1/nodes/node-b:removal", 200, kSafe);
  bench.box.on("DELETE /api/v1/nodes/node-b", 204, "");
  bench.io.answers = {"board-1"};
  Outcome outcome = bench.run({"nodes", "remove", "board-2"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("Nothing is lost."));
  EXPECT_FALSE(sent("DELETE", "/nodes/node-b"));
  bench.io.answers = {"board-2"};
  EXPECT_EQ(bench.run({"nodes", "remove", "board-2"}).code, 0);
  EXPECT_TRUE(sent("DELETE", "/nodes/node-b"));
}

TEST_F(Cluster, AnUnsafeRemovalNeedsForce) {
  bench.box.on("GET /api/v1/nodes/node-b:removal", 200, kUnsafe);
  bench.box.on("DELETE /api/v1/nodes/node-b?force=1&losses_max=3", 204, "");
  Outcome outcome = bench.run({"nodes", "remove", "board-2", "--yes"});
  EXPECT_EQ(outcome.code, 5);
  EXPECT_THAT(outcome.err, HasSubstr("samovar nodes drain board-2"));
  EXPECT_TRUE(bench.io.questions.empty());
  EXPECT_EQ(bench.run({"nodes", "remove", "board-2", "--force", "--yes"}).code, 0);
  EXPECT_TRUE(sent("DELETE", "/nodes/node-b?force=1&losses_max=3")) << "no more than was shown";
}

TEST_F(Cluster, WhatTheBoxCallsUnsafeIsAConflict) {
  bench.box.on("GET /api/v1/nodes/node-b:removal", 200, kSafe);
  bench.box.on(
      "DELETE /api/v1/nodes/node-b", 409,
      R"({"code":"unsafe_removal","status":409,"title":"Not safe","detail":"it changed meanwhile"})");
  const Outcome outcome = bench.run({"nodes", "remove", "board-2", "--yes"});
  EXPECT_EQ(outcome.code, 5);
  EXPECT_THAT(outcome.err, HasSubstr("it changed meanwhile"));
}

TEST_F(Cluster, PeersAreListedWithTheBlockedOnes) {
  Outcome outcome = bench.run({"peers", "list", "--no-color"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("K7Q2-M4XP  board-3"));
  EXPECT_THAT(outcome.err, HasSubstr("Blocked: node-x"));
  outcome = bench.run({"peers", "list", "--json"});
  EXPECT_EQ(json::parse(outcome.out), json::parse(kPeers)) << "the resource unchanged";
}

TEST_F(Cluster, AnAddressIsAskedAndTheFailedStepNamed) {
  bench.box.on("POST /api/v1/peers:add", 200,
               R"({"id":"node-c","short_id":"K7Q2-M4XP","state":"waiting","address":"10.0.0.9:7443"})");
  bench.box.on(
      "POST /api/v1/peers:add", 422,
      R"({"code":"peer_unreachable","status":422,"title":"Nobody","detail":"10.0.0.9 refuses port 7443: start samovard"})");
  Outcome outcome = bench.run({"peers", "add", "10.0.0.9"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(body_of("POST", "/peers:add"), (json{{"address", "10.0.0.9"}}));
  EXPECT_THAT(outcome.err, HasSubstr("samovar peers approve K7Q2-M4XP"));
  outcome = bench.run({"peers", "add", "10.0.0.9"});
  EXPECT_EQ(outcome.code, 6);
  EXPECT_THAT(outcome.err, HasSubstr("refuses port 7443"));
}

TEST_F(Cluster, ApprovingAsksPasswordThenCodeUntilItIsRight) {
  bench.io.answers = {"my-password", "111 111", "482-917"};
  bench.box.on("POST /api/v1/peers/node-c:approve", 202, kJoin);
  bench.box.on(
      "POST /api/v1/peers/node-c:confirm", 422,
      R"({"code":"wrong_code","status":422,"title":"Wrong code","detail":"not the code","tries_left":2})");
  bench.box.on("POST /api/v1/peers/node-c:confirm", 200, R"({"id":"node-c","name":"board-3"})");
  // Ids are typed as people read them.
  const Outcome outcome = bench.run({"peers", "approve", "k7q2m4xp"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(body_of("POST", ":approve"), (json{{"password", "my-password"}}));
  EXPECT_THAT(outcome.err, HasSubstr("Jetson Nano"));
  EXPECT_THAT(outcome.err, HasSubstr("\"Ward 3\""));
  EXPECT_THAT(outcome.err, HasSubstr("2 tries are left"));
  EXPECT_EQ(body_of("POST", ":confirm"), (json{{"code", "482917"}}));
  EXPECT_THAT(outcome.err, HasSubstr("board-3 is a member now"));
}

TEST_F(Cluster, AfterTheLastWrongCodeNothingMoreIsAsked) {
  bench.io.answers = {"my-password", "111111", "222222"};
  bench.box.on("POST /api/v1/peers/node-c:approve", 202, kJoin);
  bench.box.on(
      "POST /api/v1/peers/node-c:confirm", 422,
      R"({"code":"wrong_code","status":422,"title":"Wrong code","detail":"not the code","tries_left":0})");
  const Outcome outcome = bench.run({"peers", "approve", "board-3"});
  EXPECT_EQ(outcome.code, 6);
  EXPECT_THAT(outcome.err, HasSubstr("0 tries are left"));
  EXPECT_EQ(bench.io.answers.size(), 1U);
}

TEST_F(Cluster, NothingTypedGivesTheApprovalUp) {
  bench.io.answers = {"my-password", ""};
  bench.box.on("POST /api/v1/peers/node-c:approve", 202, kJoin);
  bench.box.on("POST /api/v1/peers/node-c:cancel", 204, "");
  const Outcome outcome = bench.run({"peers", "approve", "board-3"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(sent("POST", "/peers/node-c:cancel"));
  EXPECT_FALSE(sent("POST", "/peers/node-c:confirm"));
}

TEST_F(Cluster, AnApprovalThatIsOverSaysWhy) {
  bench.io.answers = {"my-password", "111111"};
  bench.box.on("POST /api/v1/peers/node-c:approve", 202, kJoin);
  bench.box.on("POST /api/v1/peers/node-c:confirm", 409,
               R"({"code":"join_over","status":409,"title":"Over","detail":"the machine went away"})");
  const Outcome outcome = bench.run({"peers", "approve", "board-3"});
  EXPECT_EQ(outcome.code, 5);
  EXPECT_THAT(outcome.err, HasSubstr("the machine went away"));
}

TEST_F(Cluster, AScriptApprovesInTwoSteps) {
  bench.io.terminal = false;
  bench.box.on("POST /api/v1/peers/node-c:approve", 202, kJoin);
  bench.box.on("POST /api/v1/peers/node-c:confirm", 200, R"({"id":"node-c","name":"board-3"})");
  bench.io.input = "my-password\n";
  EXPECT_EQ(bench.run({"peers", "approve", "K7Q2-M4XP", "--password-stdin"}).code, 2);
  EXPECT_FALSE(sent("POST", ":approve")) << "nothing is begun that cannot be ended";
  Outcome outcome = bench.run({"peers", "approve", "K7Q2-M4XP", "--password-stdin", "--no-wait", "--json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(json::parse(outcome.out), json::parse(kJoin));
  outcome = bench.run({"peers", "confirm", "K7Q2-M4XP", "482917", "-q"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "node-c\n");
}

TEST_F(Cluster, ASilentBlockedMachineCanBeUnblocked) {
  bench.box.on("POST /api/v1/peers/node-c:block", 204, "");
  bench.box.on("POST /api/v1/peers/node-x:unblock", 204, "");
  EXPECT_EQ(bench.run({"peers", "block", "board-3"}).code, 0);
  EXPECT_EQ(bench.run({"peers", "unblock", "node-x"}).code, 0);
  EXPECT_EQ(bench.run({"peers", "block", "board-9"}).code, 3);
}

TEST_F(Cluster, AnInvitationIsOnlyItsWords) {
  bench.io.answers = {"my-password"};
  bench.box.on(
      "POST /api/v1/peers:invite", 200,
      R"({"words":"birch kettle smoke honey tin","ca_digest":"ab12","expires_at":"2026-11-16T06:10:00Z"})");
  const Outcome outcome = bench.run({"peers", "invite"});
  EXPECT_EQ(outcome.out, "birch kettle smoke honey tin\n");
  EXPECT_THAT(outcome.err, HasSubstr("samovar join"));
}

TEST_F(Cluster, JoiningAsksForCodeAndWordsAndWaits) {
  bench.io.answers = {"SETUP-CODE", "birch kettle smoke honey tin"};
  bench.io.pauses_left = 5;
  bench.box.on("GET /api/v1/setup", 200, R"({"phase":"new"})");
  bench.box.on("GET /api/v1/setup", 200, R"({"phase":"joining"})");
  bench.box.on("GET /api/v1/setup", 200, R"({"phase":"ready"})");
  bench.box.on("POST /api/v1/setup:join", 202, "{}");
  Outcome outcome = bench.run({"join"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(body_of("POST", "/setup:join"),
            (json{{"setup_code", "SETUP-CODE"}, {"words", "birch kettle smoke honey tin"}}));
  outcome = bench.run({"join"});
  EXPECT_EQ(outcome.code, 5) << "a member does not join again";
}

TEST_F(Cluster, JoiningThatDoesNotEndIsATimeout) {
  bench.io.pauses_left = 100;
  bench.box.on("GET /api/v1/setup", 200, R"({"phase":"new"})");
  bench.box.on("POST /api/v1/setup:join", 202, "{}");
  bench.io.input = R"({"setup_code":"a","words":"b"})";
  const Outcome outcome = bench.run({"join", "--no-input", "--wait", "2"});
  EXPECT_EQ(outcome.code, 7);
  EXPECT_THAT(outcome.err, HasSubstr("samovar doctor"));
}

TEST_F(Cluster, TheDoctorsExitCodeIsItsVerdict) {
  const char* good =
      R"({"checks":[{"id":"clock","state":"ok","title":"Clock","detail":"0.1 s apart","remedy":""}]})";
  const char* bad =
      R"({"checks":[{"id":"clock","state":"ok","title":"Clock","detail":"0.1 s apart","remedy":""},
 {"id":"port","state":"fail","title":"Port 7443","detail":"10.0.0.9 refuses it","remedy":"Open TCP 7443 in its firewall."}]})";
  bench.box.on("GET /api/v1/doctor", 200, good);
  bench.box.on("POST /api/v1/doctor:probe", 200, bad);
  EXPECT_EQ(bench.run({"doctor"}).code, 0);
  Outcome outcome = bench.run({"doctor", "--address", "10.0.0.9", "--no-color"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(body_of("POST", "/doctor:probe"), (json{{"address", "10.0.0.9"}}));
  EXPECT_EQ(outcome.out,
            "STATE  CHECK      SEEN\n"
            "ok     Clock      0.1 s apart\n"
            "fail   Port 7443  10.0.0.9 refuses it\n"
            "\nWhat to do:\n  Port 7443: Open TCP 7443 in its firewall.\n");
  EXPECT_EQ(bench.run({"doctor", "--address", "10.0.0.9", "--json"}).code, 1);
}

TEST_F(Cluster, LinksNameNodesAndAreMeasuredOnDemand) {
  bench.box.on("GET /api/v1/links", 200,
               R"({"links":[{"from":"node-a","to":"node-b","up":true,"address":"10.0.0.8:7443","rtt_ms":0.42,
 "send_bytes_per_second":1024,"receive_bytes_per_second":0,"measured_bytes_per_second":null,"measured_at":null,"trouble":null}]})");
  bench.box.on("POST /api/v1/links:test", 200,
               R"({"from":"node-a","to":"node-b","up":true,"measured_bytes_per_second":104857600})");
  Outcome outcome = bench.run({"links", "--no-color"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("board-1  board-2  yes  10.0.0.8:7443  0.4 ms  1.0 KiB/s"));
  outcome = bench.run({"links", "--test", "board-2"});
  EXPECT_EQ(body_of("POST", "/links:test"), (json{{"to", "node-b"}}));
  EXPECT_THAT(outcome.out, HasSubstr("100 MiB/s"));
}

TEST_F(Cluster, ANewMachineShowsItsIdAndThenTheCode) {
  bench.io.terminal = false;
  bench.box.on(
      "GET /api/v1/setup", 200,
      R"({"phase":"new","join":{"state":"waiting","code":null,"cluster_name":null,"short_id":"K7Q2-M4XP"}})");
  bench.box.on(
      "GET /api/v1/setup", 200,
      R"({"phase":"new","join":{"state":"code","code":"482 917","cluster_name":"Ward 3","short_id":"K7Q2-M4XP"}})");
  Outcome outcome = bench.run({"status"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out, HasSubstr("waits to be added"));
  EXPECT_THAT(outcome.out, HasSubstr("K7Q2-M4XP"));
  EXPECT_THAT(outcome.err, HasSubstr("samovar init"));
  outcome = bench.run({"status"});
  EXPECT_THAT(outcome.out, HasSubstr("\"Ward 3\" wants to add it"));
  EXPECT_THAT(outcome.out, HasSubstr("  482 917\n"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("█")));
  bench.io.terminal = true;
  EXPECT_THAT(bench.run({"status"}).out, HasSubstr("██  ██  ██████  ██████"));
}

TEST_F(Cluster, StatusCountsNodesAndCopies) {
  bench.box.on("GET /api/v1/setup", 200, R"({"phase":"ready"})");
  bench.box.on(
      "GET /api/v1/cluster", 200,
      R"({"name":"Ward 3","health":{"state":"ok","summary":"All is well"},"nodes":{"total":2,"up":1},"power":{"energy_today_wh":0.08995945}})");
  bench.box.on("GET /api/v1/alerts?limit=200", 200, R"({"items":[],"next_cursor":null})");
  bench.box.on(
      "GET /api/v1/alerts?limit=200", 200,
      R"({"items":[{"id":"copies_missing","severity":"warning","title":"Some data has fewer copies than wanted"}],"next_cursor":null})");
  Outcome outcome = bench.run({"status", "--no-color"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("Nodes:    1 of 2 up, board-1 leads"));
  EXPECT_THAT(outcome.out, HasSubstr("0.09 Wh today"));
  EXPECT_THAT(outcome.out, HasSubstr("Copies:   as many as wanted"));
  outcome = bench.run({"status", "--no-color"});
  EXPECT_THAT(outcome.out, HasSubstr("Copies:   Some data has fewer copies than wanted"));
}

TEST_F(Cluster, CopiesAreChosenPerDataSet) {
  bench.box.on("GET /api/v1/datasets?limit=200", 200,
               R"({"items":[{"id":"dst_1","name":"Sales"}],"next_cursor":null})");
  bench.box.on("PATCH /api/v1/datasets/dst_1", 200, R"({"id":"dst_1","copies":3})");
  EXPECT_EQ(bench.run({"data", "set-copies", "Sales", "3"}).code, 0);
  EXPECT_EQ(body_of("PATCH", "/datasets/dst_1"), (json{{"copies", 3}}));
  EXPECT_EQ(bench.run({"data", "set-copies", "Sales", "8"}).code, 2);
  EXPECT_EQ(bench.run({"data", "set-copies", "Sales", "many"}).code, 2);
}

TEST_F(Cluster, AnswersOfAnotherShapeAreNoCrash) {
  for (const char* body : {"", "[]", "{}", "nonsense", R"({"items":5})", R"({"items":[5,null,"x"]})",
                           R"({"checks":[5],"links":[5],"items":[{"id":7}]})"}) {
    FakeBox odd;
    for (const char* path : {"nodes?limit=200", "peers", "doctor", "links", "setup"})
      odd.on(std::string("GET /api/v1/") + path, 200, body);
    bench.box = odd;
    for (const char* words : {"nodes list", "peers list", "doctor", "links", "status", "top -n 1"}) {
      std::vector<std::string> split;
      std::istringstream in(words);
      for (std::string word; in >> word;) split.push_back(word);
      const int code = bench.run(split).code;
      EXPECT_TRUE(code == 0 || code == 1 || code == 4 || code == 130)
          << words << " on " << body << " gave " << code;
    }
    bench.run({"peers", "approve", "x"});
    bench.run({"nodes", "remove", "x", "--yes"});
  }
}

}  // namespace
}  // namespace samovar::cli
