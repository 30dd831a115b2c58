// Where copies belong: balance, little movement, safety, and that repair comes to an end.
#include "daemon/cluster/placement.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/sim/sim_rng.hpp"
#include "daemon/cluster/placement_weights.hpp"

namespace samovar::cluster::testing {
namespace {

constexpr std::uint64_t kGiB = 1ull << 30;

StorageNode node(const std::string& id, std::uint64_t capacity_gib = 1000) {
  return {id, capacity_gib * kGiB, capacity_gib * kGiB, true, false};
}

std::vector<StorageNode> nodes_of(const std::vector<std::uint64_t>& capacities) {
  std::vector<StorageNode> nodes;
  for (std::size_t i = 0; i < capacities.size(); ++i)
    nodes.push_back(node("nod_" + std::to_string(i), capacities[i]));
  return nodes;
}

std::vector<StoredFile> files_of(std::size_t count, unsigned wanted, std::uint64_t bytes = 64ull << 20) {
  std::vector<StoredFile> files(count);
  for (std::size_t i = 0; i < count; ++i) {
    files[i].key = "dst_01J8Z3.1/" + std::to_string(i);
    files[i].bytes = bytes;
    files[i].wanted = wanted;
  }
  return files;
}

void place(std::vector<StoredFile>& files, const std::vector<StorageNode>& nodes) {
  Placer placer(nodes);
  for (StoredFile& file : files) {
    file.holders = placer.choose(file);
    std::sort(file.holders.begin(), file.holders.end());
  }
}

std::map<std::string, std::size_t> copies_by_node(const std::vector<StoredFile>& files) {
  std::map<std::string, std::size_t> counts;
  for (const StoredFile& file : files)
    for (const auto& id : file.holders) ++counts[id];
  return counts;
}

std::size_t moved(const std::vector<StoredFile>& before, const std::vector<StoredFile>& after) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < before.size(); ++i)
    for (const auto& id : after[i].holders)
      count += std::count(before[i].holders.begin(), before[i].holders.end(), id) == 0 ? 1 : 0;
  return count;
}

TEST(Placement, DefaultCopiesFollowTheNumberOfNodes) {
  EXPECT_EQ(default_copies(0), 0u);
  EXPECT_EQ(default_copies(1), 1u);
  EXPECT_EQ(default_copies(2), 2u);
  EXPECT_EQ(default_copies(3), 2u);
  EXPECT_EQ(default_copies(4), 3u);
  EXPECT_EQ(default_copies(16), 3u);
}

TEST(Placement, TheSameFileGoesToTheSameNodesWhoeverAsks) {
  const auto nodes = nodes_of({1000, 500, 2000, 1000});
  auto shuffled = nodes;
  std::reverse(shuffled.begin(), shuffled.end());
  for (const StoredFile& file : files_of(50, 2)) {
    const auto chosen = choose_holders(file, nodes);
    EXPECT_EQ(chosen, choose_holders(file, shuffled));
    EXPECT_EQ(chosen.size(), 2u);
    EXPECT_NE(chosen[0], chosen[1]);
  }
}

TEST(Placement, OnlyWhoCanTakeItIsChosen) {
  auto nodes = nodes_of({1000, 1000, 1000, 1000, 1000});
  nodes[0].reachable = false;
  nodes[1].draining = true;
  nodes[2].free_bytes = 10;
  for (StoredFile file : files_of(50, 3)) {
    EXPECT_EQ(std::set<std::string>({"nod_3", "nod_4"}), [&] {
      const auto chosen = choose_holders(file, nodes);
      return std::set<std::string>(chosen.begin(), chosen.end());
    }());
    // Who has it needs no room for it.
    file.holders = {"nod_2"};
    EXPECT_EQ(choose_holders(file, nodes).size(), 3u);
  }
  EXPECT_TRUE(choose_holders(files_of(1, 2)[0], {}).empty());
}

TEST(Placement, SharesAreThoseOfTheCapacities) {
  const std::vector<std::vector<std::uint64_t>> clusters = {{1000, 1000, 1000},
                                                            {1000, 1000, 1000, 1000, 1000},
                                                            {500, 1000, 1000, 2000},
                                                            {250, 500, 1000, 1000},
                                                            {100, 200, 300, 400, 500, 600, 700},
                                                            {1000, 1000, 1000, 1000, 1000, 1000, 4000}};
  for (const auto& capacities : clusters)
    for (const unsigned wanted : {1u, 2u, 3u}) {
      const auto nodes = nodes_of(capacities);
      auto files = files_of(1000, wanted);
      place(files, nodes);
      const auto counts = copies_by_node(files);
      // A node holds at most one copy of a file: what it cannot take, the others share.
      std::vector<double> target(capacities.size());
      double left = wanted;
      std::set<std::size_t> full;
      for (bool again = true; again;) {
        again = false;
        double sum = 0;
        for (std::size_t i = 0; i < capacities.size(); ++i)
          if (!full.contains(i)) sum += static_cast<double>(capacities[i]);
        for (std::size_t i = 0; i < capacities.size(); ++i) {
          if (full.contains(i)) continue;
          target[i] = static_cast<double>(capacities[i]) * left / sum;
          if (target[i] < 1.0 || again) continue;
          target[i] = 1.0;
          full.insert(i);
          left -= 1.0;
          again = true;
        }
      }
      for (std::size_t i = 0; i < capacities.size(); ++i) {
        const double share =
            static_cast<double>(counts.contains(nodes[i].id) ? counts.at(nodes[i].id) : 0) / 1000;
        // Four standard deviations of 1,000 draws, and a per mille for the rates.
        const double room = 4 * std::sqrt(target[i] * (1 - std::min(target[i], 1.0)) / 1000) + 0.002;
        EXPECT_NEAR(share, target[i], room)
            << "node " << i << " of " << capacities.size() << ", R " << wanted;
      }
    }
}

TEST(Placement, AJoiningNodeMovesWhatItGetsAndNothingElse) {
  for (const unsigned wanted : {2u, 3u}) {
    auto before = files_of(3000, wanted);
    place(before, nodes_of({1000, 1000, 1000, 1000}));
    auto after = before;
    for (auto& file : after) file.holders.clear();
    place(after, nodes_of({1000, 1000, 1000, 1000, 1000}));
    const std::size_t gets = copies_by_node(after)["nod_4"];
    EXPECT_EQ(moved(before, after), gets);
    EXPECT_NEAR(static_cast<double>(gets), 3000.0 * wanted / 5, 3000.0 * wanted / 5 * 0.06);
  }
}

TEST(Placement, ALeavingNodeMovesWhatItHadAndNothingElse) {
  auto before = files_of(3000, 2);
  auto nodes = nodes_of({1000, 1000, 1000, 1000, 1000});
  place(before, nodes);
  auto after = before;
  for (auto& file : after) file.holders.clear();
  nodes[2].draining = true;
  place(after, nodes);
  EXPECT_EQ(moved(before, after), copies_by_node(before)["nod_2"]);
}

TEST(Placement, UnlikeNodesMoveLittleMoreThanTheLeastPossible) {
  auto before = files_of(3000, 2);
  place(before, nodes_of({500, 1000, 2000, 1000, 1500}));
  auto after = before;
  for (auto& file : after) file.holders.clear();
  place(after, nodes_of({500, 1000, 2000, 1000, 1500, 1000}));
  const double gets = static_cast<double>(copies_by_node(after)["nod_5"]);
  const double ratio = static_cast<double>(moved(before, after)) / gets;
  RecordProperty("moved_against_ideal_percent", static_cast<int>(ratio * 100));
  EXPECT_LT(ratio, 1.10);
}

TEST(PlacementWeights, AreTheCapacitiesForOneCopyAndOnesForEquals) {
  const auto equal = placement_weights({5, 5, 5, 5}, 3);
  for (const double weight : equal) EXPECT_DOUBLE_EQ(weight, equal[0]);
  const auto one = placement_weights({1, 2, 3}, 1);
  EXPECT_NEAR(one[1] / one[0], 2, 1e-9);
  EXPECT_NEAR(one[2] / one[0], 3, 1e-9);
}

TEST(Repair, TheMostEndangeredComesFirst) {
  const auto nodes = nodes_of({1000, 1000, 1000});
  auto files = files_of(30, 2);
  place(files, nodes);
  files[20].holders.resize(1);
  files[7].holders.clear();
  const auto plan = plan_repair(files, nodes, 100);
  ASSERT_EQ(plan.transfers.size(), 1u);
  EXPECT_EQ(plan.transfers[0].key, files[20].key);
  EXPECT_EQ(plan.transfers[0].from, files[20].holders);
  EXPECT_NE(plan.transfers[0].to, files[20].holders[0]);
  EXPECT_EQ(plan.lost, 1u);
  EXPECT_TRUE(plan.removals.empty());
}

TEST(Repair, ALostNodeCostsWhatItHeld) {
  auto nodes = nodes_of({1000, 1000, 1000, 1000});
  auto files = files_of(400, 2);
  place(files, nodes);
  const std::size_t held = copies_by_node(files)["nod_1"];
  EXPECT_TRUE(plan_repair(files, nodes, 1000).transfers.empty());
  nodes[1].reachable = false;
  const auto plan = plan_repair(files, nodes, 1000);
  EXPECT_EQ(plan.transfers.size(), held);
  EXPECT_TRUE(plan.removals.empty());
  EXPECT_EQ(plan_repair(files, nodes, 5).transfers.size(), 5u);
}

TEST(Repair, ADrainedNodeGivesUpAfterTheOthersHaveIt) {
  auto nodes = nodes_of({1000, 1000, 1000});
  std::vector<StoredFile> files = files_of(1, 2);
  files[0].holders = {"nod_0", "nod_1"};
  nodes[0].draining = true;
  auto plan = plan_repair(files, nodes, 10);
  ASSERT_EQ(plan.transfers.size(), 1u);
  EXPECT_EQ(plan.transfers[0].to, "nod_2");
  EXPECT_TRUE(plan.removals.empty());
  files[0].holders = {"nod_0", "nod_1", "nod_2"};
  plan = plan_repair(files, nodes, 10);
  EXPECT_TRUE(plan.transfers.empty());
  ASSERT_EQ(plan.removals.size(), 1u);
  EXPECT_EQ(plan.removals[0].node, "nod_0");
}

TEST(Repair, PreviewSaysWhatBecomesUnsafe) {
  auto nodes = nodes_of({1000, 1000, 1000});
  auto files = files_of(4, 2);
  files[0].holders = {"nod_0"};
  files[1].holders = {"nod_0", "nod_1"};
  files[2].holders = {"nod_0", "nod_1", "nod_2"};
  files[3].holders = {"nod_1", "nod_2"};
  auto preview = preview_drain(files, nodes, "nod_0");
  EXPECT_EQ(preview.files, 3u);
  EXPECT_EQ(preview.bytes, 3u * (64ull << 20));
  EXPECT_EQ(preview.last_copies, 1u);
  EXPECT_EQ(preview.below_wanted, 2u);
  EXPECT_TRUE(preview.fits_elsewhere);
  nodes[2].free_bytes = 64ull << 20;
  EXPECT_FALSE(preview_drain(files, nodes, "nod_0").fits_elsewhere);
  nodes[1].reachable = false;
  nodes[2].reachable = false;
  preview = preview_drain(files, nodes, "nod_0");
  EXPECT_EQ(preview.last_copies, 3u);
  EXPECT_FALSE(preview.fits_elsewhere);
}

// A state of files and nodes as chance makes them, and a store that does what a plan says.
class World {
 public:
  explicit World(std::uint64_t seed) : rng_(seed) {
    const std::size_t count = 1 + rng_.below(7);
    for (std::size_t i = 0; i < count; ++i) {
      nodes_.push_back(node("nod_" + std::to_string(i), 1 + rng_.below(4)));
      nodes_.back().reachable = rng_.below(5) != 0;
      nodes_.back().draining = rng_.below(6) == 0;
    }
    files_ = files_of(1 + rng_.below(120), 1);
    for (StoredFile& file : files_) {
      file.bytes = rng_.below(200ull << 20);
      file.wanted = static_cast<unsigned>(1 + rng_.below(4));
      for (StorageNode& one : nodes_)
        if (rng_.below(3) == 0 && one.free_bytes >= file.bytes) {
          file.holders.push_back(one.id);
          one.free_bytes -= file.bytes;
        }
      if (rng_.below(20) == 0) file.holders.push_back("nod_gone");
    }
  }

  // Applies a plan, asking of each step whether it is safe.
  void apply(const RepairPlan& plan) {
    for (const Transfer& transfer : plan.transfers) {
      StoredFile& file = of(transfer.key);
      StorageNode& to = at(transfer.to);
      ASSERT_TRUE(to.reachable && !to.draining);
      ASSERT_FALSE(holds(file, transfer.to)) << "two copies on one node";
      ASSERT_GE(to.free_bytes, file.bytes) << "no room";
      ASSERT_FALSE(transfer.from.empty());
      for (const auto& id : transfer.from) ASSERT_TRUE(holds(file, id) && at(id).reachable);
      to.free_bytes -= file.bytes;
      file.holders.push_back(transfer.to);
    }
    for (const Removal& removal : plan.removals) {
      StoredFile& file = of(removal.key);
      ASSERT_TRUE(holds(file, removal.node));
      std::erase(file.holders, removal.node);
      at(removal.node).free_bytes += file.bytes;
      ASSERT_GE(staying(file), file.wanted) << "a removal below what is wanted";
    }
  }
  std::size_t staying(const StoredFile& file) {
    return static_cast<std::size_t>(std::count_if(nodes_.begin(), nodes_.end(), [&](const StorageNode& one) {
      return one.reachable && !one.draining && holds(file, one.id);
    }));
  }
  // All that could be given: wanted copies, or one on every node that has room.
  void check_end() {
    for (StoredFile& file : files_) {
      const bool reached = std::any_of(nodes_.begin(), nodes_.end(), [&](const StorageNode& one) {
        return one.reachable && holds(file, one.id);
      });
      if (!reached || staying(file) >= file.wanted) continue;
      for (const StorageNode& one : nodes_) {
        const bool could = one.reachable && !one.draining && !holds(file, one.id);
        EXPECT_FALSE(could && one.free_bytes >= file.bytes);
      }
    }
  }

  SimRng rng_;
  std::vector<StorageNode> nodes_;
  std::vector<StoredFile> files_;

 private:
  static bool holds(const StoredFile& file, const std::string& id) {
    return std::count(file.holders.begin(), file.holders.end(), id) > 0;
  }
  StoredFile& of(const std::string& key) {
    return *std::find_if(files_.begin(), files_.end(),
                         [&](const StoredFile& file) { return file.key == key; });
  }
  StorageNode& at(const std::string& id) {
    return *std::find_if(nodes_.begin(), nodes_.end(), [&](const StorageNode& one) { return one.id == id; });
  }
};

TEST(Repair, AnyStateComesToRestAndNothingIsLost) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    World world(seed);
    const std::uint64_t lost = plan_repair(world.files_, world.nodes_, 1).lost;
    int rounds = 0;
    for (; rounds < 400; ++rounds) {
      const auto plan = plan_repair(world.files_, world.nodes_, 1 + world.rng_.below(40));
      if (plan.transfers.empty() && plan.removals.empty()) break;
      world.apply(plan);
      if (HasFatalFailure()) return;
      ASSERT_EQ(plan.lost, lost);
    }
    ASSERT_LT(rounds, 400) << "it does not come to rest";
    world.check_end();
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace samovar::cluster::testing
