// Event streams: hello, topics, replay, slow readers, the end of a session.
#include <gtest/gtest.h>

#include <map>

#include "base/sim/sim_loop.hpp"
#include "base/sim/sim_rng.hpp"
#include "daemon/api/event_hub.hpp"
#include "tests/unit/daemon/api/box.hpp"

namespace samovar::api::test {
namespace {

struct Hub {
  SimScheduler world{1};
  SimLoop loop{world};
  EventHub hub{loop, world.rng()};
  std::chrono::seconds remaining{3600};

  std::shared_ptr<RecordingSink> join(std::vector<std::string> topics = {}, std::string last_id = {},
                                      bool audit = true) {
    auto sink = std::make_shared<RecordingSink>();
    Subscription subscription;
    subscription.topics = std::move(topics);
    subscription.audit = audit;
    subscription.last_event_id = std::move(last_id);
    subscription.hello = [] { return std::string("{}"); };
    subscription.remaining = [this] { return remaining; };
    hub.subscribe(sink, subscription);
    return sink;
  }
};

bool has(const std::shared_ptr<RecordingSink>& sink, const std::string& text) {
  return sink->sent.find(text) != std::string::npos;
}

TEST(EventHub, SaysHelloAtOnceAndPings) {
  Hub t;
  const auto sink = t.join();
  EXPECT_EQ(sink->sent.rfind("retry: 2000\n\n", 0), 0u);
  EXPECT_TRUE(has(sink, "id: " + t.hub.last_id() + "\nevent: hello\ndata: {}\n\n"));
  EXPECT_FALSE(has(sink, ": ping"));
  t.world.run_for(std::chrono::seconds(16));
  EXPECT_TRUE(has(sink, ": ping\n\n"));
}

TEST(EventHub, TopicsAndRightsChooseWhatIsHeard) {
  Hub t;
  const auto nodes = t.join({"node"});
  const auto all = t.join();
  const auto no_audit = t.join({}, {}, false);
  t.hub.publish_change("node.changed", "{\"a\":1}");
  t.hub.publish_change("audit.appended", "{\"seq\":7}");
  EXPECT_TRUE(has(nodes, "node.changed"));
  EXPECT_FALSE(has(nodes, "audit.appended"));
  EXPECT_TRUE(has(all, "event: audit.appended\ndata: {\"seq\":7}\n\n"));
  EXPECT_FALSE(has(no_audit, "audit.appended"));
}

TEST(EventHub, AnAudienceHearsWhatIsMeantForItAlsoLater) {
  Hub t;
  const auto hearers = [&](const std::string& last_id) {
    std::map<std::string, std::shared_ptr<RecordingSink>> sinks;
    for (const std::string who : {"usr_a", "usr_b", "usr_c", "auditor", "admin"}) {
      auto sink = std::make_shared<RecordingSink>();
      Subscription subscription;
      subscription.user_id = who;
      subscription.admin = who == "admin";
      subscription.audit = who == "admin" || who == "auditor";
      subscription.last_event_id = last_id;
      subscription.hello = [] { return std::string("{}"); };
      subscription.remaining = [&t] { return t.remaining; };
      t.hub.subscribe(sink, subscription);
      sinks[who] = sink;
    }
    return sinks;
  };
  const auto check = [](const auto& sinks, const std::string& event, const std::string& expected) {
    for (const auto& [who, sink] : sinks)
      EXPECT_EQ(has(sink, event), expected.find(who) != std::string::npos) << event << " " << who;
  };
  const std::string before = t.hub.last_id();
  const auto now = hearers("");
  t.hub.publish_change("operation.changed", "{}", std::string("usr_a"));
  t.hub.publish_change("dataset.changed", "{}", Audience::of_dataset({"usr_a", "usr_b"}));
  t.hub.publish_change("node.changed", "{}");
  t.hub.publish_change("operation.ended", "{}", std::string());
  t.hub.publish_sample("operation.progress", "op_1", "{}", std::string("usr_b"));
  check(now, "operation.changed", "usr_a admin");
  check(now, "dataset.changed", "usr_a usr_b auditor admin");
  check(now, "node.changed", "usr_a usr_b usr_c auditor admin");
  check(now, "operation.ended", "admin");
  check(now, "operation.progress", "usr_b admin");
  const auto later = hearers(before);
  check(later, "operation.changed", "usr_a admin");
  check(later, "dataset.changed", "usr_a usr_b auditor admin");
}

TEST(EventHub, ReplaysWhatWasMissedOrTellsToStartOver) {
  Hub t;
  t.hub.publish_change("cluster.changed", "1");
  const std::string seen = t.hub.last_id();
  t.hub.publish_change("cluster.changed", "2");
  t.hub.publish_change("node.changed", "3");
  const auto back = t.join({}, seen);
  EXPECT_FALSE(has(back, "data: 1\n"));
  EXPECT_TRUE(has(back, "data: 2\n"));
  EXPECT_TRUE(has(back, "data: 3\n"));
  EXPECT_FALSE(has(back, "event: reset"));
  EXPECT_TRUE(has(t.join({}, "otherboot-1"), "event: reset"));
  EXPECT_TRUE(has(t.join({}, "garbage"), "event: reset"));
  for (std::size_t i = 0; i < EventHub::kRingMax + 2; ++i) t.hub.publish_change("cluster.changed", "x");
  EXPECT_TRUE(has(t.join({}, seen), "event: reset"));
}

TEST(EventHub, SamplesComeAtMostTwiceASecond) {
  Hub t;
  const auto sink = t.join();
  for (int i = 0; i < 20; ++i) {
    t.hub.publish_sample("node.sample", "n", "{}");
    t.world.run_for(std::chrono::milliseconds(100));
  }
  std::size_t count = 0;
  for (auto at = sink->sent.find("node.sample"); at != std::string::npos;
       at = sink->sent.find("node.sample", at + 1))
    ++count;
  EXPECT_LE(count, 4u);
  EXPECT_GE(count, 3u);
}

TEST(EventHub, ASlowReaderLosesSamplesButNeverAChangeUnnoticed) {
  Hub t;
  const auto sink = t.join();
  sink->full = true;
  t.hub.publish_sample("node.sample", "n", "{}");
  EXPECT_FALSE(sink->closed);
  t.hub.publish_change("cluster.changed", "{}");
  EXPECT_TRUE(sink->closed);
  EXPECT_EQ(t.hub.count(), 0u);
}

TEST(EventHub, WarnsBeforeTheSessionEndsAndSaysBye) {
  Hub t;
  const auto sink = t.join();
  t.remaining = std::chrono::seconds(90);
  t.world.run_for(std::chrono::seconds(61));
  EXPECT_TRUE(has(sink, "event: session.expiring\ndata: {\"in_s\":90}"));
  t.remaining = std::chrono::seconds(-1);
  t.world.run_for(std::chrono::seconds(61));
  EXPECT_TRUE(has(sink, "event: bye\n"));
  EXPECT_TRUE(sink->closed);
}

TEST(EventHub, ForgetsAClientThatLeft) {
  Hub t;
  const auto sink = t.join();
  sink->close();
  EXPECT_EQ(t.hub.count(), 0u);
  t.hub.publish_change("cluster.changed", "{}");
  EXPECT_FALSE(has(sink, "cluster.changed"));
}

TEST(Events, AStreamBeginsWithTheSnapshotAndEndsWithTheSession) {
  Box box;
  const As admin = box.log_in(box.admin);
  const Reply reply = box.get("/api/v1/events?topics=node,cluster", admin);
  ASSERT_EQ(reply.status, 200);
  ASSERT_TRUE(reply.response.events);
  EXPECT_EQ(reply.header("Content-Type"), "text/event-stream");
  auto sink = std::make_shared<RecordingSink>();
  reply.response.events(sink);
  EXPECT_TRUE(has(sink, "event: hello\ndata: {\"nodes\":[{\"id\":\"node1\""));
  ASSERT_EQ(box.send(Method::del, "/api/v1/session", nullptr, admin).status, 204);
  box.events.recheck();
  EXPECT_TRUE(has(sink, "event: bye\n"));
  EXPECT_TRUE(sink->closed);
}

TEST(Events, UnknownTopicsAreRefused) {
  Box box;
  EXPECT_EQ(box.get("/api/v1/events?topics=weather", box.log_in(box.admin)).status, 400);
}

}  // namespace
}  // namespace samovar::api::test
