#include "daemon/jobs/crew.hpp"

#include <gtest/gtest.h>

namespace samovar::jobs {
namespace {

using std::chrono::seconds;

class CrewTest : public ::testing::Test {
 protected:
  Crew make(CrewRules rules = {}) {
    BlockMap map;
    for (int i = 0; i < 6; ++i) map.shards.push_back({1000, 2, {"a", "b", "c"}});
    Crew crew(std::move(map), rules, "a", Plan{}, 0);
    crew.set_up({"a", "b", "c"});
    return crew;
  }
  // All that were ordered to prepare are ready.
  void get_ready(Crew& crew, const Crew::Orders& orders) {
    for (const auto& one : orders.prepare) crew.ready(one.number, one.turn, now_);
  }
  Crew begun(CrewRules rules = {}) {
    Crew crew = make(rules);
    get_ready(crew, crew.next(now_, false));
    EXPECT_TRUE(crew.next(now_, false).announce);
    return crew;
  }
  // Everybody says that they are alive.
  void pass(Crew& crew, Duration time) {
    now_ += time;
    for (const auto& [number, worker] : crew.workers())
      if (crew.find(number)->state != Crew::State::lost) crew.heard(number, now_);
  }
  static std::size_t owned(const Crew& crew) {
    std::size_t blocks = 0;
    for (const std::uint32_t number : crew.working()) blocks += crew.find(number)->blocks.size();
    return blocks;
  }
  MonoTime now_ = seconds(100);
};

TEST_F(CrewTest, BeginsWhenAllAreReady) {
  Crew crew = make();
  const auto orders = crew.next(now_, false);
  ASSERT_EQ(orders.prepare.size(), 3u);
  crew.ready(1, orders.prepare[0].turn, now_);
  EXPECT_FALSE(crew.next(now_, false).announce);
  get_ready(crew, orders);
  EXPECT_TRUE(crew.next(now_, false).announce);
  EXPECT_EQ(crew.epoch(), 1u);
  EXPECT_EQ(crew.working(), (std::vector<std::uint32_t>{1, 2, 3}));
  EXPECT_EQ(crew.find(1)->node, "a");  // home leads
  EXPECT_EQ(owned(crew), 12u);
}

TEST_F(CrewTest, ALostOneIsLeftOutAtOnceAndItsBlocksComeNext) {
  Crew crew = begun();
  crew.ended(2, false, "killed", now_);
  auto orders = crew.next(now_, false);
  EXPECT_TRUE(orders.announce);
  EXPECT_EQ(crew.epoch(), 2u);
  ASSERT_FALSE(orders.notes.empty());
  EXPECT_EQ(orders.notes[0].text, "Node b lost, going on with 2.");
  EXPECT_EQ(crew.working(), (std::vector<std::uint32_t>{1, 3}));
  get_ready(crew, orders);
  orders = crew.next(now_, false);
  get_ready(crew, orders);
  if (!orders.announce) orders = crew.next(now_, false);
  EXPECT_TRUE(orders.announce);
  EXPECT_EQ(owned(crew), 12u);
}

TEST_F(CrewTest, OneWithoutRoomIsLeftOutAndPeopleAreToldWhy) {
  Crew crew = begun();
  crew.no_room(1, "the disk is full", now_);
  crew.set_up({"b", "c"});
  const auto orders = crew.next(now_, true);
  EXPECT_TRUE(orders.announce);
  ASSERT_EQ(orders.notes.size(), 1u);
  EXPECT_EQ(orders.notes[0].kind, "left");
  EXPECT_EQ(orders.notes[0].text, "Node a is left out, going on with 2: the disk is full.");
  EXPECT_EQ(crew.lead(), 2u);
}

TEST_F(CrewTest, SilenceIsALoss) {
  Crew crew = begun();
  now_ += seconds(11);
  crew.heard(1, now_);
  crew.heard(2, now_);
  EXPECT_TRUE(crew.next(now_, false).announce);
  EXPECT_EQ(crew.find(3)->state, Crew::State::lost);
  EXPECT_EQ(crew.working().size(), 2u);
}

TEST_F(CrewTest, WhoIsGivenUpOnIsToldToEnd) {
  Crew crew = begun();
  now_ += seconds(11);
  crew.heard(1, now_);
  crew.heard(2, now_);
  EXPECT_EQ(crew.next(now_, false).kill, std::vector<std::uint32_t>{3});
  EXPECT_TRUE(crew.next(now_, false).kill.empty());
}

TEST_F(CrewTest, WhileItStopsNobodyIsHiredAndTheSilentAreNotWaitedFor) {
  CrewRules rules;
  rules.nodes_max = 2;  // one more is up
  for (const bool begins : {false, true}) {
    Crew crew = make(rules);
    const auto orders = crew.next(now_, false);
    ASSERT_EQ(orders.prepare.size(), 2u);
    if (begins) {
      get_ready(crew, orders);
      EXPECT_TRUE(crew.next(now_, false).announce);
    }
    crew.stop();
    crew.ended(1, false, "stopped", now_);
    EXPECT_TRUE(crew.next(now_, true).prepare.empty());
    EXPECT_EQ(crew.workers().size(), 2u);
    now_ += seconds(11);
    const auto last = crew.next(now_, true);
    EXPECT_TRUE(last.prepare.empty());
    EXPECT_TRUE(last.over);
    EXPECT_EQ(crew.find(2)->state, Crew::State::lost);
    EXPECT_EQ(crew.workers().size(), 2u);
  }
}

TEST_F(CrewTest, OneWhoseWorkerDiedComesBackUnderANewNumberWhileTheLeadTrains) {
  Crew crew = begun();
  crew.ended(3, false, "killed", now_);
  get_ready(crew, crew.next(now_, true));
  for (int i = 0; i < 3; ++i) get_ready(crew, crew.next(now_, true));
  pass(crew, seconds(2));
  EXPECT_EQ(crew.working().size(), 2u);
  get_ready(crew, crew.next(now_, false));  // it evaluates: nobody joins
  EXPECT_EQ(crew.workers().size(), 3u);
  auto orders = crew.next(now_, true);
  ASSERT_FALSE(orders.prepare.empty());
  get_ready(crew, orders);
  orders = crew.next(now_, true);
  EXPECT_TRUE(orders.announce);
  EXPECT_EQ(crew.working(), (std::vector<std::uint32_t>{1, 2, 4}));
  EXPECT_TRUE(crew.find(4)->joined);
  EXPECT_EQ(owned(crew), 12u);
}

TEST_F(CrewTest, BelowTheMinimumItSavesAndWaits) {
  CrewRules rules;
  rules.nodes_min = 2;
  Crew crew = make(rules);
  crew.set_up({"a"});
  EXPECT_TRUE(crew.next(now_, false).prepare.empty());
  EXPECT_EQ(crew.waiting_for(), "waits for 2 nodes, 1 is there");
  crew.set_up({"a", "b"});
  get_ready(crew, crew.next(now_, false));
  EXPECT_TRUE(crew.next(now_, false).announce);
  crew.ended(2, false, "killed", now_);
  EXPECT_TRUE(crew.next(now_, false).over);
}

TEST_F(CrewTest, WithNobodyLeftItIsOver) {
  Crew crew = begun();
  for (const std::uint32_t number : {1u, 2u, 3u}) crew.ended(number, false, "cut", now_);
  EXPECT_TRUE(crew.next(now_, false).over);
  EXPECT_EQ(crew.last_error(), "cut");
}

TEST_F(CrewTest, TheNextLowestLeads) {
  Crew crew = begun();
  EXPECT_EQ(crew.lead(), 1u);
  crew.ended(1, false, "killed", now_);
  EXPECT_TRUE(crew.next(now_, false).announce);
  EXPECT_EQ(crew.lead(), 2u);
}

TEST_F(CrewTest, OneThatPreparesInVainIsDoneWithout) {
  Crew crew = make();
  const auto orders = crew.next(now_, false);
  crew.ended(2, false, "no room", now_);
  get_ready(crew, orders);
  auto again = crew.next(now_, false);
  get_ready(crew, again);
  if (!again.announce) again = crew.next(now_, false);
  EXPECT_TRUE(again.announce);
  EXPECT_EQ(crew.working(), (std::vector<std::uint32_t>{1, 3}));
  EXPECT_EQ(owned(crew), 12u);
}

TEST_F(CrewTest, NumbersGoOnFromTheRunBefore) {
  BlockMap map;
  map.shards.push_back({1000, 2, {"a"}});
  Plan plan;
  plan.next_number = 7;
  Crew crew(map, {}, "a", plan, 4);
  crew.set_up({"a"});
  get_ready(crew, crew.next(now_, false));
  EXPECT_TRUE(crew.next(now_, false).announce);
  EXPECT_EQ(crew.lead(), 7u);
  EXPECT_EQ(crew.epoch(), 5u);
  EXPECT_EQ(crew.plan().next_number, 8u);
}

TEST_F(CrewTest, DoneWhenAllAre) {
  Crew crew = begun();
  for (const std::uint32_t number : {1u, 2u, 3u}) crew.ended(number, true, "", now_);
  EXPECT_TRUE(crew.finished());
}

}  // namespace
}  // namespace samovar::jobs
