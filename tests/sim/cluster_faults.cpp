// What people do meanwhile, and what happens to the nodes.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/ids.hpp"
#include "security/sha256.hpp"
#include "tests/sim/cluster_node.hpp"
#include "tests/sim/cluster_world.hpp"

namespace samovar::test {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

cluster::Call call(std::string request_id) {
  cluster::Call out{cluster::Actor::system(), std::move(request_id)};
  return out;
}

Bytes hash_of(ByteView bytes) {
  security::Sha256 hasher;
  hasher.update(bytes);
  return to_bytes(ByteView(hasher.digest()));
}

}  // namespace

void ClusterWorld::people() {
  if (!storm_) return;
  if (Node* node = any_member()) {
    if (rng_.chance(60'000)) {
      on(*node, [this, node] { spawn(bring_data(*node)); });
    } else {
      on(*node, [this, node, what = fmt::format("w{}", ++writes_)] { spawn(write(*node, what)); });
    }
  }
  if (rng_.chance(100'000)) admit();
  in(milliseconds(20 + rng_.below(500)), [this] { people(); });
}

// Asked again with the same id while the outcome is not known, as people and programs do.
Task<void> ClusterWorld::write(Node& node, std::string what) {
  const std::uint64_t life = node.life;
  asked_.insert(what);
  for (int turn = 0; turn < 3; ++turn) {
    const std::string request = plant_ == Plant::apply_twice ? fmt::format("{}-{}", what, turn) : what;
    cluster::Call who = call("req_" + request);
    const auto done = co_await node.cluster->record(std::move(who), "sim.write", what, "ok", "{}");
    if (done) {
      acknowledged_.insert(what);
      co_return;
    }
    if (node.life != life || !storm_) break;
  }
  ++verdict_.unknown;
}

Task<void> ClusterWorld::bring_data(Node& node) {
  Kept kept;
  kept.id = new_id("dst", node.loop->clock(), node.rng);
  making_[kept.id] = {&node, node.life};
  const std::string id = kept.id;
  co_await make_data(node, std::move(kept));
  making_.erase(id);
}

Task<void> ClusterWorld::make_data(Node& node, Kept kept) {
  const std::uint64_t life = node.life;
  std::vector<cluster::StoredFile> files;
  cluster::NewDataset manifest;
  const unsigned shards = 1 + static_cast<unsigned>(rng_.below(3));
  for (unsigned i = 0; i < shards; ++i) {
    Bytes content(static_cast<std::size_t>(200 + rng_.below(12'000)));
    rng_.fill(content);
    cluster::StoredFile file;
    file.key = store::BlobKey::of_version(kept.id, 1, std::to_string(i));
    file.bytes = content.size();
    file.hash = hash_of(content);
    file.wanted = node.replicas->wanted(0);
    auto& blobs = node.replicas->blobs();
    auto arrival = blobs.begin(fmt::format("blb_{}_{}", kept.id, i), content.size());
    if (!arrival || !(*arrival)->write(0, content)) co_return;
    if (!blobs.take(*std::move(arrival), *store::BlobKey::parse(file.key), file.bytes, file.hash)) co_return;
    kept.hashes[file.key] = file.hash;
    files.push_back(std::move(file));
  }
  auto planned = files;
  const auto holders = co_await node.replicas->spread(std::move(planned));
  if (node.life != life) co_return;
  manifest.dataset.id = kept.id;
  manifest.dataset.name = kept.id;
  manifest.dataset.owner_id = owner_;
  auto& version = manifest.version;
  version.created_by = owner_;
  version.schema_json = R"({"columns":[{"name":"age","type":"integer","sensitive":false}]})";
  version.options_json = R"({"format":"csv"})";
  version.source_name = "ward.csv";
  version.source_sha256 = std::string(64, 'a');
  version.wrapped_key = Bytes(72, 7);
  version.key_commitment = Bytes(16, 6);
  for (unsigned i = 0; i < shards; ++i) {
    cluster::ShardRecord shard;
    shard.number = i;
    shard.rows = 10;
    shard.blocks = 1;
    shard.plain_bytes = shard.stored_bytes = files[i].bytes;
    shard.hash = files[i].hash;
    shard.node_ids = holders[i];
    version.rows += shard.rows;
    version.shards.push_back(std::move(shard));
  }
  cluster::Call who = call("req_" + kept.id);
  const auto done = co_await node.cluster->commit_dataset(std::move(who), std::move(manifest));
  if (!done) {
    say("a data set was not kept, perhaps: " + done.error().message());
    co_return;
  }
  ++verdict_.datasets;
  say(kept.id + " is kept");
  kept_.push_back(std::move(kept));
}

// systemd of every node, and the administrator who switches boards on again.
void ClusterWorld::look_after() {
  const MonoTime now = scheduler_.clock().mono();
  std::erase_if(making_, [](const auto& one) { return one.second.first->life != one.second.second; });
  for (const auto& node : nodes_) {
    if (node->removed || !node->member) continue;
    if (node->lives() && node->cluster->status().failed) {
      say(node->id + " restarts: " + node->cluster->status().failure);
      crash(*node);
      node->back_at = now + seconds(2);
    } else if (!node->powered() && now >= node->back_at) {
      start(*node, false, true);
    }
  }
  in(milliseconds(500), [this] { look_after(); });
}

void ClusterWorld::fate() {
  if (!storm_) return;
  strike();
  in(milliseconds(200 + rng_.below(4000)), [this] { fate(); });
}

void ClusterWorld::strike() {
  std::vector<Node*> up;
  for (const auto& node : nodes_)
    if (node->powered() && !node->removed) up.push_back(node.get());
  if (up.empty()) return;
  Node& victim = *up[static_cast<std::size_t>(rng_.below(up.size()))];
  const MonoTime now = scheduler_.clock().mono();
  switch (rng_.below(12)) {
    case 0:
    case 1:
      ++verdict_.crashes;
      crash(victim);
      victim.back_at = now + milliseconds(rng_.below(15'000));
      break;
    case 2: {  // the leader
      Node* lead = leader();
      if (lead == nullptr) break;
      ++verdict_.crashes;
      crash(*lead);
      lead->back_at = now + milliseconds(rng_.below(10'000));
      break;
    }
    case 3: {  // all at once
      if (!rng_.chance(200'000)) break;
      for (Node* node : up) {
        ++verdict_.crashes;
        crash(*node);
        node->back_at = now + milliseconds(rng_.below(5000));
      }
      break;
    }
    case 4:
    case 5: {
      side_.clear();
      for (Node* node : up)
        if (rng_.chance(400'000)) side_.insert(node->id);
      ++verdict_.splits;
      say(fmt::format("split: {} apart", side_.size()));
      network_.partition(side_);
      break;
    }
    case 6:
    case 7:
      side_.clear();
      network_.heal();
      break;
    case 8:
      ++verdict_.disk_errors;
      say(victim.id + "'s disk will fail");
      victim.disk.fail_nth(1 + rng_.below(6));
      break;
    case 9: {
      SimNetworkOptions weather;
      weather.latency_max = milliseconds(1 + rng_.below(80));
      weather.loss_per_million = static_cast<std::uint32_t>(rng_.below(80'000));
      weather.duplicate_per_million = static_cast<std::uint32_t>(rng_.below(50'000));
      network_.set_options(weather);
      break;
    }
    case 10:
      victim.loop->clock().step_wall(seconds(static_cast<std::int64_t>(rng_.below(7200)) - 3600));
      if (rng_.chance(100'000)) victim.loop->clock().step_wall(-hours(24 * 365 * 50));
      break;
    default:
      if (rng_.chance(300'000)) remove_one();
      break;
  }
}

void ClusterWorld::mend_everything() {
  storm_ = false;
  say("everything is mended");
  side_.clear();
  network_.heal();
  network_.set_options({});
  for (const auto& node : nodes_) node->back_at = {};
}

}  // namespace samovar::test
