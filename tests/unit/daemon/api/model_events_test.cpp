#include "daemon/api/model_events.hpp"

#include "tests/unit/daemon/api/model_support.hpp"

namespace samovar::api::test {
namespace {

class ModelEvents : public ModelBox {
 protected:
  ModelEvents() { forward_model_events(*box.services, box.models); }

  std::shared_ptr<RecordingSink> listen(const cluster::User& user) {
    auto sink = std::make_shared<RecordingSink>();
    const Reply reply = box.get("/api/v1/events?topics=job,model,scoring", box.log_in(user));
    EXPECT_TRUE(reply.response.events) << reply.response.body;
    if (reply.response.events) reply.response.events(sink);
    sink->sent.clear();
    return sink;
  }
  static std::size_t count(const RecordingSink& sink, const std::string& event) {
    std::size_t found = 0;
    for (std::size_t at = 0; (at = sink.sent.find("event: " + event + "\n", at)) != std::string::npos; ++at)
      ++found;
    return found;
  }
  jobs::Job job(const std::string& id) { return *box.models.job(cluster::Actor::system(), id); }
};

TEST_F(ModelEvents, AJobIsToldToThoseWhoMaySeeIt) {
  const std::string id = start();
  const auto owner = listen(boris);
  const auto admin = listen(box.admin);
  const auto other = listen(box.add_user("clara", cluster::Role::analyst));
  box.models.listener.job(job(id));
  box.models.listener.metric(id, {{"step", "valid_loss"}, {{7}, {0.5}}});
  box.models.listener.log(id, {3, box.clock.wall(), "info", "a line"});
  for (const auto& sink : {owner, admin}) {
    EXPECT_EQ(count(*sink, "job.changed"), 1u) << sink->sent;
    EXPECT_NE(sink->sent.find("\"values\":[7.0,0.5]"), std::string::npos) << sink->sent;
    EXPECT_NE(sink->sent.find("\"text\":\"a line\""), std::string::npos) << sink->sent;
  }
  EXPECT_EQ(owner->sent.find("\"dataset\":\"Ward\""), std::string::npos) << "names go only to whom they may";
  EXPECT_EQ(other->sent, "");
}

// Workers and other nodes are believed in nothing, also not in that they send text.
TEST_F(ModelEvents, BytesThatAreNoTextAreReplaced) {
  const std::string id = start();
  const auto owner = listen(boris);
  jobs::Job running = job(id);
  running.state = jobs::JobState::running;
  running.step = "train\xff";
  running.workers.emplace_back().error = "ends in the middle of a letter: \xc3";
  box.models.listener.job(running);
  EXPECT_NE(owner->sent.find("train\xef\xbf\xbd"), std::string::npos) << owner->sent;
  box.models.listener.metric(id, {{"\xff"}, {{7}}});
  EXPECT_NE(owner->sent.find("\"values\":[7.0]"), std::string::npos) << owner->sent;
  jobs::Scoring scoring;
  scoring.id = "scr_1";
  scoring.owner_id = boris.id;
  scoring.error = "\xff";
  box.models.listener.scoring(scoring);
  EXPECT_EQ(count(*owner, "scoring.changed"), 1u);
}

TEST_F(ModelEvents, ProgressIsASampleAndAStateIsNot) {
  const std::string id = start();
  const auto sink = listen(boris);
  jobs::Job running = job(id);
  running.state = jobs::JobState::running;
  running.step = "training";
  for (int i = 0; i < 10; ++i) {
    running.share = i * 0.1;
    box.models.listener.job(running);
  }
  EXPECT_LE(count(*sink, "job.changed"), 3u);
  running.step = "evaluating";
  box.models.listener.job(running);
  EXPECT_NE(sink->sent.find("\"step\":\"evaluating\""), std::string::npos);
}

TEST_F(ModelEvents, AModelIsToldToThoseWhoMaySeeIt) {
  train();
  const auto vera = box.add_user("vera", cluster::Role::viewer);
  grant(vera);
  const auto granted = listen(vera);
  const auto other = listen(box.add_user("clara", cluster::Role::analyst));
  publish_model_change(*box.services, "readmission");
  EXPECT_NE(granted->sent.find("\"name\":\"readmission\""), std::string::npos);
  EXPECT_EQ(other->sent, "");
  publish_model_change(*box.services, "gone");
  EXPECT_EQ(other->sent.find("gone"), std::string::npos);
  EXPECT_EQ(count(*other, "model.changed"), 1u);
}

TEST_F(ModelEvents, AScoringIsItsOwners) {
  const auto owner = listen(boris);
  const auto other = listen(box.add_user("clara", cluster::Role::analyst));
  jobs::Scoring scoring;
  scoring.id = "scr_1";
  scoring.owner_id = boris.id;
  box.models.listener.scoring(scoring);
  EXPECT_EQ(count(*owner, "scoring.changed"), 1u);
  EXPECT_EQ(other->sent, "");
}

}  // namespace
}  // namespace samovar::api::test
