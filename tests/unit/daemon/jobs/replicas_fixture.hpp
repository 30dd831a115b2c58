// Nodes with simulated disks on a simulated network, and one replicated state that they all see at once.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/sim/sim_disk.hpp"
#include "base/sim/sim_loop.hpp"
#include "base/sim/sim_transport.hpp"
#include "daemon/jobs/replicas.hpp"
#include "daemon/net/exchange.hpp"
#include "daemon/store/blobs.hpp"
#include "security/sha256.hpp"

namespace samovar::jobs {

inline Bytes noise(std::size_t size, std::uint64_t seed) {
  Bytes out(size);
  SimRng(seed).fill(out);
  return out;
}
inline Bytes hash_of(ByteView bytes) {
  security::Sha256 hasher;
  hasher.update(bytes);
  return to_bytes(ByteView(hasher.digest()));
}
inline std::string key_of(unsigned number) {
  return "dst_01J8Z3K4M5N6P7Q8R9S0T1V2W3.1/" + std::to_string(number);
}

class ReplicaCluster {
 public:
  struct Node {
    std::string id;
    SimDisk disk;
    bool up = false;
    bool draining = false;
    std::uint64_t capacity = std::uint64_t{1} << 30;
    // While it is up, born in this order.
    std::unique_ptr<SimLoop> loop;
    std::unique_ptr<SimTransport> transport;
    std::unique_ptr<net::Exchange> exchange;
    std::unique_ptr<Replicas> replicas;
    Node(std::string name, std::uint64_t seed) : id(std::move(name)), disk(seed, std::uint64_t{1} << 30) {}
  };

  explicit ReplicaCluster(unsigned count, std::uint64_t seed = 1, SimNetworkOptions net = {})
      : scheduler(seed), network(scheduler, net), rng(seed + 7) {
    options.root = "/data";
    options.space = {.reserve_bytes = 0, .full_share = 1.0, .ballast_bytes = 0};
    options.piece_bytes = 16 * 1024;
    options.repair_bytes_per_second = 0;
    options.repair_bytes_per_second_busy = 0;
    for (unsigned i = 0; i < count; ++i) {
      nodes.push_back(std::make_unique<Node>(std::string(1, static_cast<char>('a' + i)), seed * 100 + i));
      start(i);
    }
  }
  ~ReplicaCluster() {
    for (std::size_t i = 0; i < nodes.size(); ++i)
      if (nodes[i]->up) stop(i);
  }

  void start(std::size_t i) {
    Node& node = *nodes[i];
    node.loop = std::make_unique<SimLoop>(scheduler);
    node.transport = network.attach(node.id, *node.loop);
    node.exchange = std::make_unique<net::Exchange>(*node.loop, *node.transport);
    ReplicasOptions mine = options;
    mine.node_id = node.id;
    auto opened = Replicas::open(*node.loop, rng, node.exchange.get(), node.disk, io, world(i), mine);
    ASSERT_TRUE(opened) << opened.error().message();
    node.replicas = *std::move(opened);
    node.replicas->start();
    node.up = true;
  }
  // The plug is pulled; `wipe`: and its disk is lost.
  void stop(std::size_t i, bool crash = false) {
    Node& node = *nodes[i];
    node.up = false;
    node.replicas->stop();
    node.exchange.reset();  // its questions end
    node.replicas.reset();
    node.transport.reset();
    node.loop.reset();
    if (crash) node.disk.crash();
  }

  ReplicaWorld world(std::size_t self) {
    ReplicaWorld world;
    world.nodes = [this] {
      std::vector<cluster::StorageNode> all;
      for (const auto& node : nodes) {
        cluster::StorageNode one;
        one.id = node->id;
        one.capacity_bytes = node->capacity;
        const auto space = node->disk.space("/data");
        one.free_bytes = space ? space->free_bytes : 0;
        one.reachable = node->up && !cut.contains(node->id);
        one.draining = node->draining;
        all.push_back(std::move(one));
      }
      return all;
    };
    world.files = [this] {
      std::vector<cluster::StoredFile> all;
      for (const auto& [key, file] : files) all.push_back(file);
      return all;
    };
    world.file = [this](const std::string& key) -> std::optional<cluster::StoredFile> {
      const auto found = files.find(key);
      return found == files.end() ? std::nullopt : std::optional(found->second);
    };
    world.change_copies = [this](std::vector<cluster::CopyChange> changes) -> Task<Result<void>> {
      return change(std::move(changes));
    };
    world.catch_up = [this]() -> Task<Result<void>> { return change({}); };
    world.leads = [this, self] { return self == leader; };
    world.in_making = [this](const std::string& id) { return making.contains(id); };
    world.training = [] { return false; };
    return world;
  }

  Task<Result<void>> change(std::vector<cluster::CopyChange> changes) {
    for (const auto& one : changes) {
      const auto found = files.find(one.key);
      if (found == files.end()) continue;
      auto& holders = found->second.holders;
      const auto at = std::find(holders.begin(), holders.end(), one.node_id);
      if (one.there && at == holders.end()) holders.push_back(one.node_id);
      if (!one.there && at != holders.end() && holders.size() > one.others_min) holders.erase(at);
      std::sort(holders.begin(), holders.end());
    }
    co_return Result<void>{};
  }

  // A file of the store of node i; no record of it.
  cluster::StoredFile put(std::size_t i, const std::string& key, const Bytes& content, unsigned wanted = 2) {
    auto dir = store::DataDir::open(nodes[i]->disk, "/data", options.space);
    store::BlobDir blobs(nodes[i]->disk, *std::move(dir), "/data");
    auto arrival = blobs.begin("blb_put", content.size());
    EXPECT_TRUE(arrival && (*arrival)->write(0, content));
    EXPECT_TRUE(
        blobs.take(*std::move(arrival), *store::BlobKey::parse(key), content.size(), hash_of(content)));
    cluster::StoredFile file;
    file.key = key;
    file.bytes = content.size();
    file.hash = hash_of(content);
    file.wanted = wanted;
    return file;
  }
  void record(cluster::StoredFile file, std::vector<std::string> holders) {
    file.holders = std::move(holders);
    files[file.key] = std::move(file);
  }
  // Is the file there, with the recorded bytes?
  bool has(std::size_t i, const std::string& key, const Bytes& content) {
    auto dir = store::DataDir::open(nodes[i]->disk, "/data", options.space);
    const store::BlobDir blobs(nodes[i]->disk, *std::move(dir), "/data");
    const auto found = blobs.hash(*store::BlobKey::parse(key));
    return found && to_bytes(ByteView(*found)) == hash_of(content);
  }

  template <class T>
  T run(Task<T> task, Duration limit = std::chrono::hours(1)) {
    std::optional<T> result;
    spawn<T>(std::move(task), [&](T value) { result.emplace(std::move(value)); });
    EXPECT_TRUE(scheduler.run_until([&] { return result.has_value(); }, limit));
    return *std::move(result);
  }
  bool until(const std::function<bool()>& done, Duration limit = std::chrono::minutes(10)) {
    return scheduler.run_until(done, limit);
  }
  Result<Replicas::HoldPtr> bring(std::size_t i, std::vector<std::string> keys) {
    return run(nodes[i]->replicas->bring(std::move(keys)));
  }

  SimScheduler scheduler;
  SimNetwork network;
  SimRng rng;
  Pool io{"io", 0, 1};
  ReplicasOptions options;
  std::map<std::string, cluster::StoredFile> files;
  std::set<std::string> making;
  std::set<std::string> cut;
  std::size_t leader = 0;
  std::vector<std::unique_ptr<Node>> nodes;
};

}  // namespace samovar::jobs
