#include "daemon/jobs/replicas.hpp"

#include "base/metrics.hpp"
#include "tests/unit/daemon/jobs/replicas_fixture.hpp"

namespace samovar::jobs {
namespace {

constexpr unsigned kFiles = 24;
constexpr std::size_t kFileBytes = 50'000;

// As many files as given, each spread from the first node, and recorded as a manifest would.
std::vector<Bytes> fill(ReplicaCluster& box, unsigned count, unsigned wanted) {
  std::vector<Bytes> contents;
  std::vector<cluster::StoredFile> files;
  for (unsigned i = 0; i < count; ++i) {
    contents.push_back(noise(kFileBytes, 100 + i));
    files.push_back(box.put(0, key_of(i), contents.back(), wanted));
  }
  const auto holders = box.run(box.nodes[0]->replicas->spread(files));
  EXPECT_EQ(holders.size(), files.size());
  for (unsigned i = 0; i < count; ++i) box.record(files[i], holders[i]);
  return contents;
}

std::size_t index_of(const ReplicaCluster& box, const std::string& id) {
  for (std::size_t i = 0; i < box.nodes.size(); ++i)
    if (box.nodes[i]->id == id) return i;
  return 0;
}

// Every record tells the truth, and every file has its copies on nodes that are up and stay.
void expect_well(ReplicaCluster& box, const std::vector<Bytes>& contents, unsigned wanted) {
  for (unsigned i = 0; i < contents.size(); ++i) {
    unsigned up = 0;
    for (const auto& id : box.files[key_of(i)].holders) {
      const auto at = index_of(box, id);
      if (!box.nodes[at]->up) continue;
      EXPECT_TRUE(box.has(at, key_of(i), contents[i])) << i << " on " << id;
      if (!box.nodes[at]->draining) ++up;
    }
    EXPECT_EQ(up, wanted) << i;
  }
}

bool all_have(const ReplicaCluster& box, unsigned wanted) {
  for (const auto& [key, file] : box.files) {
    unsigned up = 0;
    for (const auto& id : file.holders) {
      const auto& node = *box.nodes[index_of(box, id)];
      up += node.up && !node.draining ? 1 : 0;
    }
    if (up != wanted) return false;
  }
  return true;
}

std::uint64_t counter(const std::string& name) {
  const std::string all = metrics::render();
  const std::size_t at = all.find("\n" + name + " ");
  return at == std::string::npos ? 0 : std::stoull(all.substr(at + name.size() + 2));
}

TEST(ReplicasSpread, ABoxAloneHoldsItself) {
  ReplicaCluster box(1);
  const auto contents = fill(box, 3, 2);
  for (const auto& [key, file] : box.files) EXPECT_EQ(file.holders, std::vector<std::string>{"a"});
}

TEST(ReplicasSpread, TwoNodesHoldEverythingTwice) {
  ReplicaCluster box(2);
  const auto contents = fill(box, kFiles, 2);
  for (const auto& [key, file] : box.files) EXPECT_EQ(file.holders, (std::vector<std::string>{"a", "b"}));
  expect_well(box, contents, 2);
}

TEST(ReplicasSpread, OfThreeNodesEachHoldsItsShare) {
  ReplicaCluster box(3);
  const auto contents = fill(box, kFiles, 2);
  expect_well(box, contents, 2);
  std::map<std::string, unsigned> held;
  for (const auto& [key, file] : box.files)
    for (const auto& id : file.holders) ++held[id];
  for (const auto& [id, count] : held) EXPECT_GE(count, kFiles / 4) << id;
}

TEST(ReplicasSpread, SaysTheHonestNumberWhenANodeIsAway) {
  ReplicaCluster box(2);
  box.stop(1);
  const auto contents = fill(box, 2, 2);
  for (const auto& [key, file] : box.files) EXPECT_EQ(file.holders, std::vector<std::string>{"a"});
  // It comes back, and gets what it should have.
  box.start(1);
  ASSERT_TRUE(box.until([&] { return all_have(box, 2); }));
  expect_well(box, contents, 2);
}

TEST(ReplicasSpread, AnotherNodeIsTakenWhenOneIsFullOrDoesNotAnswer) {
  ReplicaCluster box(4);
  box.network.partition({"b"});  // not known yet: it counts as reachable
  box.nodes[2]->disk.set_capacity(10'000);
  const auto contents = fill(box, 8, 2);
  for (const auto& [key, file] : box.files) EXPECT_EQ(file.holders, (std::vector<std::string>{"a", "d"}));
}

TEST(ReplicasSweep, ForeignCopiesGoAfterAWhileAndNeverBefore) {
  ReplicaCluster box(3);
  const auto contents = fill(box, kFiles, 2);
  const auto count = [&box](std::size_t i) { return box.nodes[i]->replicas->blobs().list()->size(); };
  ASSERT_EQ(count(0), kFiles) << "the node they were made on has all";
  box.scheduler.run_for(std::chrono::minutes(30));
  EXPECT_EQ(count(0), kFiles);
  // One of them is in use.
  std::string used;
  for (const auto& [key, file] : box.files)
    if (std::find(file.holders.begin(), file.holders.end(), "a") == file.holders.end()) used = key;
  auto hold = box.bring(0, {used});
  ASSERT_TRUE(hold);
  box.scheduler.run_for(std::chrono::minutes(90));
  std::size_t mine = 0;
  for (const auto& [key, file] : box.files)
    mine += std::find(file.holders.begin(), file.holders.end(), "a") != file.holders.end() ? 1 : 0;
  ASSERT_LT(mine, kFiles);
  EXPECT_EQ(count(0), mine + 1);
  hold->reset();
  box.scheduler.run_for(std::chrono::minutes(90));
  EXPECT_EQ(count(0), mine);
  expect_well(box, contents, 2);
}

TEST(ReplicasSweep, FilesBeforeTheirManifestStayWhileItIsMade) {
  ReplicaCluster box(2);
  box.making.insert("dst_01J8Z3K4M5N6P7Q8R9S0T1V2W3");
  const Bytes content = noise(1000, 1);
  const auto file = box.put(0, key_of(0), content);
  static_cast<void>(box.run(box.nodes[0]->replicas->spread({file})));
  box.stop(1, true);
  box.start(1);
  box.scheduler.run_for(std::chrono::hours(5));
  EXPECT_TRUE(box.has(1, key_of(0), content));
  box.making.clear();  // it came to nothing
  box.scheduler.run_for(std::chrono::hours(1));
  EXPECT_FALSE(box.has(1, key_of(0), content));
}

TEST(ReplicasRepair, LossIsMadeGoodWithTheFewestBytes) {
  ReplicaCluster box(4);
  const auto contents = fill(box, kFiles, 2);
  box.scheduler.run_for(std::chrono::hours(2));  // copies that do not count would make it look cheaper
  const auto lost = std::count_if(box.files.begin(), box.files.end(), [](const auto& one) {
    const auto& holders = one.second.holders;
    return std::find(holders.begin(), holders.end(), "c") != holders.end();
  });
  ASSERT_GT(lost, 0);
  const auto before = counter("samovar_repair_bytes_total");
  box.stop(2);
  box.scheduler.run_for(std::chrono::seconds(50));
  EXPECT_EQ(counter("samovar_repair_bytes_total"), before) << "a node may be away for a minute";
  EXPECT_EQ(box.nodes[0]->replicas->status().under_replicated, 0u);
  ASSERT_TRUE(box.until([&] { return all_have(box, 2); }));
  expect_well(box, contents, 2);
  EXPECT_EQ(counter("samovar_repair_bytes_total") - before, static_cast<std::uint64_t>(lost) * kFileBytes);
  box.scheduler.run_for(std::chrono::minutes(5));
  EXPECT_EQ(counter("samovar_repair_bytes_total") - before, static_cast<std::uint64_t>(lost) * kFileBytes);
  EXPECT_EQ(box.nodes[0]->replicas->status().under_replicated, 0u);
}

TEST(ReplicasRepair, ANodeThatComesBackMovesOnlyTheDifference) {
  ReplicaCluster box(3);
  const auto contents = fill(box, kFiles, 2);
  box.stop(2);
  box.scheduler.run_for(std::chrono::hours(1));
  ASSERT_TRUE(all_have(box, 2));
  const auto before = counter("samovar_repair_bytes_total");
  // Two of its files were lost meanwhile.
  unsigned gone = 0;
  for (unsigned i = 0; i < kFiles && gone < 2; ++i)
    if (box.nodes[2]->disk.remove("/data/versions/dst_01J8Z3K4M5N6P7Q8R9S0T1V2W3.1/" + std::to_string(i)))
      ++gone;
  ASSERT_EQ(gone, 2u);
  box.start(2);
  box.scheduler.run_for(std::chrono::hours(3));
  EXPECT_TRUE(all_have(box, 2));
  expect_well(box, contents, 2);
  EXPECT_LE(counter("samovar_repair_bytes_total") - before, gone * kFileBytes);
  for (const auto& node : box.nodes) {
    const auto named = std::count_if(box.files.begin(), box.files.end(), [&](const auto& one) {
      const auto& holders = one.second.holders;
      return std::find(holders.begin(), holders.end(), node->id) != holders.end();
    });
    EXPECT_EQ(node->replicas->blobs().list()->size(), static_cast<std::size_t>(named)) << "space leaked";
  }
}

TEST(ReplicasRepair, ADrainedNodeIsEmptiedAndMayGo) {
  ReplicaCluster box(3);
  const auto contents = fill(box, kFiles, 2);
  box.nodes[1]->draining = true;
  for (auto& node : box.nodes) node->replicas->changed();
  ASSERT_TRUE(box.until([&] {
    return all_have(box, 2) && std::none_of(box.files.begin(), box.files.end(), [](const auto& one) {
             const auto& holders = one.second.holders;
             return std::find(holders.begin(), holders.end(), "b") != holders.end();
           });
  }));
  expect_well(box, contents, 2);
}

TEST(ReplicasRepair, ANewNodeGetsItsShare) {
  ReplicaCluster box(2);
  const auto contents = fill(box, kFiles, 2);
  box.nodes.push_back(std::make_unique<ReplicaCluster::Node>("c", 77));
  box.start(2);
  box.scheduler.run_for(std::chrono::minutes(10));
  expect_well(box, contents, 2);
  const auto moved = std::count_if(box.files.begin(), box.files.end(), [](const auto& one) {
    const auto& holders = one.second.holders;
    return std::find(holders.begin(), holders.end(), "c") != holders.end();
  });
  EXPECT_GE(moved, kFiles / 3);
}

// Files that nobody can give stand first in every plan: they must not keep the others waiting.
TEST(ReplicasRepair, FilesThatCannotBeHadDoNotKeepOthersWaiting) {
  ReplicaCluster box(1);
  const unsigned bad = 8;
  for (unsigned i = 0; i < kFiles; ++i) {
    auto file = box.put(0, key_of(i), noise(kFileBytes, 100 + i), 2);
    if (i < bad) file.bytes += 1;
    box.record(file, {"a"});
  }
  box.nodes.push_back(std::make_unique<ReplicaCluster::Node>("b", 77));
  box.start(1);
  EXPECT_TRUE(box.until([&] {
    for (unsigned i = bad; i < kFiles; ++i)
      if (box.files[key_of(i)].holders.size() != 2) return false;
    return true;
  }));
}

TEST(ReplicasRepair, TheNextLeaderGoesOn) {
  ReplicaCluster box(4);
  const auto contents = fill(box, kFiles, 2);
  box.stop(3);
  box.scheduler.run_for(std::chrono::seconds(63));
  box.stop(0);
  box.leader = 1;
  box.start(0);
  ASSERT_TRUE(box.until([&] { return all_have(box, 2); }));
  expect_well(box, contents, 2);
}

TEST(ReplicasRepair, ALeaderMissesItsOwnFilesToo) {
  ReplicaCluster box(3);
  const Bytes content = noise(50'000, 21);
  const auto file = box.put(0, key_of(0), content);
  box.leader = 2;
  box.record(file, {"a", "b"});  // b has it no more, and leads from now on
  box.leader = 1;
  ASSERT_TRUE(box.until([&] {
    const auto& holders = box.files[key_of(0)].holders;
    unsigned there = 0;
    for (std::size_t i = 0; i < 3; ++i)
      if (std::find(holders.begin(), holders.end(), box.nodes[i]->id) != holders.end())
        there += box.has(i, key_of(0), content) ? 1 : 0;
    return there == 2 && holders.size() == 2;
  }));
}

TEST(ReplicasMend, AFlippedByteIsHealedFromAnother) {
  ReplicaCluster box(2);
  const auto contents = fill(box, 1, 2);
  ASSERT_TRUE(box.nodes[1]->disk.flip_bit("/data/versions/dst_01J8Z3K4M5N6P7Q8R9S0T1V2W3.1/0", 4001));
  EXPECT_EQ(box.run(box.nodes[1]->replicas->mend(key_of(0))), Replicas::Mended::mended);
  EXPECT_TRUE(box.has(1, key_of(0), contents[0]));
  EXPECT_EQ(box.run(box.nodes[1]->replicas->mend(key_of(0))), Replicas::Mended::good);
}

TEST(ReplicasMend, WaitsForAGoodCopyAndGivesTheBadOneToNobody) {
  ReplicaCluster box(2);
  const auto contents = fill(box, 1, 2);
  box.stop(0);
  ASSERT_TRUE(box.nodes[1]->disk.flip_bit("/data/versions/dst_01J8Z3K4M5N6P7Q8R9S0T1V2W3.1/0", 4001));
  EXPECT_EQ(box.run(box.nodes[1]->replicas->mend(key_of(0))), Replicas::Mended::later);
  EXPECT_TRUE(box.nodes[1]->replicas->damaged(key_of(0)));
  const auto refused = box.bring(1, {key_of(0)});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Errc::unavailable);
  box.start(0);
  EXPECT_TRUE(box.bring(1, {key_of(0)}));
  EXPECT_TRUE(box.has(1, key_of(0), contents[0]));
}

TEST(ReplicasMend, WithoutAGoodCopyItIsLost) {
  ReplicaCluster box(2);
  const auto contents = fill(box, 1, 2);
  for (auto& node : box.nodes)
    ASSERT_TRUE(node->disk.flip_bit("/data/versions/dst_01J8Z3K4M5N6P7Q8R9S0T1V2W3.1/0", 4001));
  EXPECT_EQ(box.run(box.nodes[1]->replicas->mend(key_of(0))), Replicas::Mended::lost);
}

}  // namespace
}  // namespace samovar::jobs
