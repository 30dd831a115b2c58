#include "daemon/jobs/scheduler.hpp"

#include <gtest/gtest.h>

#include <set>

#include "daemon/jobs/local_models_work.hpp"

namespace samovar::jobs {
namespace {

BlockMap map_of(std::vector<PlanShard> shards, std::uint32_t parts = 1) {
  BlockMap map;
  map.shards = std::move(shards);
  map.parts = parts;
  return map;
}

std::vector<PlanNode> nodes(std::initializer_list<const char*> ids) {
  std::vector<PlanNode> out;
  for (const char* id : ids) out.push_back({id, 1});
  return out;
}

// Every block belongs to exactly one of them.
void expect_each_once(const BlockMap& map, const Assignment& assignment) {
  std::multiset<std::uint32_t> seen;
  for (const auto& [node, blocks] : assignment) {
    seen.insert(blocks.begin(), blocks.end());
    EXPECT_TRUE(std::is_sorted(blocks.begin(), blocks.end()));
  }
  ASSERT_EQ(seen.size(), map.blocks());
  std::uint32_t next = 0;
  for (const std::uint32_t block : seen) EXPECT_EQ(block, next++);
}

std::uint64_t rows_of(const BlockMap& map, const std::vector<std::uint32_t>& blocks) {
  std::uint64_t rows = 0;
  for (const std::uint32_t block : blocks) rows += map.rows_of(block);
  return rows;
}

TEST(Scheduler, BlocksAreReadWhereTheyLie) {
  const BlockMap map = map_of({{1000, 2, {"a"}}, {1000, 2, {"b"}}, {1000, 2, {"c"}}});
  const auto assignment = assign_blocks(map, nodes({"a", "b", "c"}));
  expect_each_once(map, assignment);
  EXPECT_EQ(assignment.at("a"), (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(assignment.at("b"), (std::vector<std::uint32_t>{2, 3}));
  EXPECT_EQ(assignment.at("c"), (std::vector<std::uint32_t>{4, 5}));
  for (const auto& [node, blocks] : assignment) EXPECT_TRUE(shards_of(map, blocks, node).empty());
}

TEST(Scheduler, WhoeverHoldsAllGivesAShareAway) {
  const BlockMap map = map_of({{4000, 4, {"a"}}, {4000, 4, {"a"}}});
  const auto assignment = assign_blocks(map, nodes({"a", "b"}));
  expect_each_once(map, assignment);
  EXPECT_EQ(rows_of(map, assignment.at("a")), 4000u);
  EXPECT_EQ(rows_of(map, assignment.at("b")), 4000u);
  EXPECT_FALSE(shards_of(map, assignment.at("b"), "b").empty());
}

TEST(Scheduler, SharesFollowSpeed) {
  const BlockMap map = map_of({{30'000, 30, {"a", "b"}}});
  const auto assignment = assign_blocks(map, {{"a", 2}, {"b", 1}});
  expect_each_once(map, assignment);
  EXPECT_NEAR(static_cast<double>(assignment.at("a").size()), 20, 1);
}

TEST(Scheduler, CopiesOnTwoOfThreeNodesAreDealtEvenly) {
  std::vector<PlanShard> shards;
  const std::vector<std::vector<std::string>> holders = {{"a", "b"}, {"b", "c"}, {"a", "c"}};
  for (std::size_t i = 0; i < 9; ++i) shards.push_back({8000, 2, holders[i % 3]});
  const BlockMap map = map_of(std::move(shards));
  const auto assignment = assign_blocks(map, nodes({"a", "b", "c"}));
  expect_each_once(map, assignment);
  for (const auto& [node, blocks] : assignment) {
    EXPECT_EQ(blocks.size(), 6u) << node;
    EXPECT_TRUE(shards_of(map, blocks, node).empty()) << node;
  }
}

TEST(Scheduler, FewBlocksAreCutIntoParts) {
  EXPECT_EQ(parts_for({{20'000, 1, {}}}), kBlocksWanted);
  EXPECT_EQ(parts_for({{300, 1, {}}}), 1u);  // not worth it
  EXPECT_EQ(parts_for({{1'000'000, 40, {}}}), 1u);
  const BlockMap map = map_of({{20'000, 1, {"a"}}}, parts_for({{20'000, 1, {"a"}}}));
  const auto assignment = assign_blocks(map, nodes({"a", "b", "c"}));
  expect_each_once(map, assignment);
  for (const auto& [node, blocks] : assignment) EXPECT_EQ(blocks.size(), 8u) << node;
}

TEST(Scheduler, TheRestKeepWhatTheyHaveWhenOneGoes) {
  const BlockMap map = map_of({{12'000, 12, {"a", "b", "c"}}});
  const auto before = assign_blocks(map, nodes({"a", "b", "c"}));
  const auto after = assign_blocks(map, nodes({"a", "b"}), before);
  expect_each_once(map, after);
  for (const char* node : {"a", "b"})
    for (const std::uint32_t block : before.at(node))
      EXPECT_TRUE(std::count(after.at(node).begin(), after.at(node).end(), block)) << node << block;
  EXPECT_EQ(after.at("a").size(), 6u);
}

TEST(Scheduler, ANewcomerGetsItsShareFromTheOthers) {
  const BlockMap map = map_of({{12'000, 12, {"a", "b", "c"}}});
  const auto before = assign_blocks(map, nodes({"a", "b"}));
  const auto after = assign_blocks(map, nodes({"a", "b", "c"}), before);
  expect_each_once(map, after);
  EXPECT_EQ(after.at("c").size(), 4u);
  std::size_t moved = 0;
  for (const char* node : {"a", "b"})
    for (const std::uint32_t block : before.at(node))
      moved += std::count(after.at(node).begin(), after.at(node).end(), block) == 0 ? 1u : 0u;
  EXPECT_EQ(moved, 4u);
}

TEST(Scheduler, HomeComesFirstThenWhoHoldsMost) {
  const BlockMap map = map_of({{1000, 4, {"c"}}, {500, 4, {"b"}}});
  EXPECT_EQ(choose_nodes(map, {"a", "b", "c"}, "a", 2), (std::vector<std::string>{"a", "c"}));
  EXPECT_EQ(choose_nodes(map, {"a", "b", "c"}, "a", 0).size(), 3u);
  const BlockMap one = map_of({{1000, 1, {"c"}}});
  EXPECT_EQ(choose_nodes(one, {"a", "b", "c"}, "a", 0).size(), 1u);  // nobody without a block
}

TEST(Scheduler, APlanIsReadBack) {
  Plan plan;
  plan.parts = 3;
  plan.next_number = 5;
  plan.workers = {{1, "nod_a", {0, 1, 2, 7}}, {4, "nod_b", {3, 4}}};
  const auto read = decode_plan(encode_plan(plan));
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(*read, plan);
  EXPECT_FALSE(decode_plan("{}"));
  EXPECT_FALSE(decode_plan("[1]"));
  EXPECT_FALSE(decode_plan(R"({"parts":0,"next":1,"workers":[]})"));
  EXPECT_FALSE(
      decode_plan(R"({"parts":1,"next":1,"workers":[{"number":1,"node":"a","blocks":[[0,99999999]]}]})"));
}

TEST(PlanTest, AWorkerThatALaterPlanDoesNotNameIsLeftOut) {
  Plan plan;
  plan.workers = {{1, "nod_a", {0}}, {3, "nod_c", {1}}};
  cluster::JobRecord record;
  record.run = 5;
  record.epoch = 8;
  record.plan_json = encode_plan(plan);
  EXPECT_FALSE(is_left_out(record, {"job_1", 5, 3}, 7));
  EXPECT_TRUE(is_left_out(record, {"job_1", 5, 2}, 7));
  // Its home told it more than the state here knows.
  EXPECT_FALSE(is_left_out(record, {"job_1", 5, 4}, 8));
  EXPECT_FALSE(is_left_out(record, {"job_1", 5, 4}, 9));
  // It prepares, to join.
  EXPECT_FALSE(is_left_out(record, {"job_1", 5, 4}, 0));
  EXPECT_TRUE(is_left_out(record, {"job_1", 4, 1}, 0));
  EXPECT_FALSE(is_left_out(record, {"job_1", 6, 2}, 0));
  record.run = record.epoch = 0;
  record.plan_json.clear();
  EXPECT_FALSE(is_left_out(record, {"job_1", 1, 1}, 1));  // a box alone plans nothing
}

// ---- blocks that go round ----

std::map<std::string, std::set<std::uint32_t>> met_in(const std::vector<Assignment>& turns) {
  std::map<std::string, std::set<std::uint32_t>> met;
  for (const Assignment& turn : turns)
    for (const auto& [node, blocks] : turn) met[node].insert(blocks.begin(), blocks.end());
  return met;
}

BlockMap two_copies_of_three() {
  return map_of({{6000, 6, {"a", "b"}}, {6000, 6, {"b", "c"}}, {6000, 6, {"a", "c"}}});
}

TEST(Rotation, AmongAllEveryBlockMeetsEveryNode) {
  const BlockMap map = two_copies_of_three();
  const auto now = assign_blocks(map, nodes({"a", "b", "c"}));
  const auto turns = rotate_blocks(map, now, Rounds::all);
  ASSERT_EQ(turns.size(), 3u);
  EXPECT_EQ(turns.front(), now);
  for (const Assignment& turn : turns) {
    expect_each_once(map, turn);
    for (const auto& [node, blocks] : turn)
      EXPECT_NEAR(static_cast<double>(rows_of(map, blocks)), 6000, 1100) << node;
  }
  for (const auto& [node, blocks] : met_in(turns)) EXPECT_GE(blocks.size(), 16u) << node;
  // A pure function.
  EXPECT_EQ(turns, rotate_blocks(map, now, Rounds::all));
}

TEST(Rotation, AmongCopiesNothingIsBrought) {
  const BlockMap map = two_copies_of_three();
  const auto now = assign_blocks(map, nodes({"a", "b", "c"}));
  const auto turns = rotate_blocks(map, now, Rounds::copies);
  ASSERT_GE(turns.size(), 2u);
  std::size_t moved = 0;
  for (const Assignment& turn : turns) {
    expect_each_once(map, turn);
    for (const auto& [node, blocks] : turn) {
      EXPECT_TRUE(shards_of(map, blocks, node).empty()) << node;
      EXPECT_FALSE(blocks.empty());
    }
  }
  for (const auto& [node, blocks] : met_in(turns)) moved += blocks.size();
  EXPECT_GT(moved, 30u);  // of 36: each of 18 blocks on both of its holders
}

TEST(Rotation, CopiesComeFirst) {
  const BlockMap map = two_copies_of_three();
  const auto now = assign_blocks(map, nodes({"a", "b", "c"}));
  const auto turns = rotate_blocks(map, now, Rounds::all);
  std::size_t fetched = 0;
  for (const auto& [node, blocks] : turns.at(1)) fetched += shards_of(map, blocks, node).size();
  std::size_t later = 0;
  for (const auto& [node, blocks] : turns.at(2)) later += shards_of(map, blocks, node).size();
  EXPECT_LE(fetched, 1u);
  EXPECT_GT(later, fetched);
}

TEST(Rotation, WithOneCopyOfEachNothingMovesAmongCopies) {
  const BlockMap map = map_of({{1000, 2, {"a"}}, {1000, 2, {"b"}}, {1000, 2, {"c"}}});
  const auto now = assign_blocks(map, nodes({"a", "b", "c"}));
  EXPECT_TRUE(rotate_blocks(map, now, Rounds::copies).empty());
  EXPECT_EQ(rotate_blocks(map, now, Rounds::all).size(), 3u);
}

TEST(Rotation, OneAloneHasNobodyToChangeWith) {
  const BlockMap map = map_of({{1000, 2, {"a"}}});
  EXPECT_TRUE(rotate_blocks(map, assign_blocks(map, nodes({"a"})), Rounds::all).empty());
  EXPECT_TRUE(rotate_blocks(map, {}, Rounds::all).empty());
}

TEST(Rotation, DrawnClustersHaveEachBlockOnceInEveryTurn) {
  std::uint32_t drawn = 7;
  const auto draw = [&drawn](std::uint32_t below) {
    drawn = drawn * 1664525u + 1013904223u;
    return (drawn >> 8) % below;
  };
  for (int cluster = 0; cluster < 200; ++cluster) {
    const std::uint32_t members = 2 + draw(9);
    std::vector<PlanNode> all;
    for (std::uint32_t i = 0; i < members; ++i) all.push_back({"n" + std::to_string(i), 1});
    BlockMap map;
    for (std::uint32_t shard = 0, shards = 1 + draw(12); shard < shards; ++shard) {
      PlanShard one{100 + draw(5000), 1 + draw(6), {}};
      for (std::uint32_t copy = 0, copies = 1 + draw(3); copy < copies; ++copy)
        one.holders.push_back("n" + std::to_string(draw(members)));
      map.shards.push_back(one);
    }
    map.parts = parts_for(map.shards);
    const auto now = assign_blocks(map, all);
    for (const Rounds how : {Rounds::copies, Rounds::all}) {
      const auto turns = rotate_blocks(map, now, how);
      ASSERT_LE(turns.size(), std::min<std::size_t>(members, kRotationsMax));
      for (const Assignment& turn : turns) {
        expect_each_once(map, turn);
        ASSERT_EQ(turn.size(), now.size());
      }
    }
  }
}

}  // namespace
}  // namespace samovar::jobs
