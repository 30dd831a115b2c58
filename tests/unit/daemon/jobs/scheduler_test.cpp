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

}  // namespace
}  // namespace samovar::jobs
