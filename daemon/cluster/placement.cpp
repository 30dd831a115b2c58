#include "daemon/cluster/placement.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "daemon/cluster/placement_weights.hpp"

namespace samovar::cluster {
namespace {

std::uint64_t mixed(std::uint64_t x) {  // the finaliser of SplitMix64
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

std::uint64_t hash_of(const std::string& text) {  // FNV-1a, then mixed
  std::uint64_t hash = 0xcbf29ce484222325ull;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  return mixed(hash);
}

// In (0, 1).
double unit_of(std::uint64_t hash) { return (static_cast<double>(hash >> 11) + 0.5) * 0x1.0p-53; }

bool contains(const std::vector<std::string>& ids, const std::string& id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

using NodesById = std::map<std::string, std::size_t>;

NodesById index_nodes(const std::vector<StorageNode>& nodes) {
  NodesById by_id;
  for (std::size_t i = 0; i < nodes.size(); ++i) by_id.emplace(nodes[i].id, i);
  return by_id;
}

// Holders of a file among the nodes, as indices, in the order of their ids.
struct Holders {
  std::vector<std::size_t> all;
  std::vector<std::size_t> reachable;
  std::size_t staying = 0;  // reachable and not draining
};

bool contains(const std::vector<std::size_t>& indices, std::size_t index) {
  return std::find(indices.begin(), indices.end(), index) != indices.end();
}

Holders holders_of(const StoredFile& file, const std::vector<StorageNode>& nodes, const NodesById& by_id) {
  Holders out;
  for (const std::string& id : file.holders) {
    const auto found = by_id.find(id);
    if (found == by_id.end()) continue;
    out.all.push_back(found->second);
    if (!nodes[found->second].reachable) continue;
    out.reachable.push_back(found->second);
    if (!nodes[found->second].draining) ++out.staying;
  }
  return out;
}

// The first `wanted` of the ranking that hold it or have room.
std::vector<std::size_t> pick(const std::vector<std::size_t>& ranking,
                              const std::vector<std::size_t>& holders, unsigned wanted, std::uint64_t bytes,
                              const std::vector<StorageNode>& nodes) {
  std::vector<std::size_t> chosen;
  for (const std::size_t i : ranking) {
    if (chosen.size() == wanted) break;
    if (contains(holders, i) || nodes[i].free_bytes >= bytes) chosen.push_back(i);
  }
  return chosen;
}

}  // namespace

unsigned default_copies(std::size_t storage_nodes) {
  return static_cast<unsigned>(std::min<std::size_t>(storage_nodes, storage_nodes >= 4 ? 3 : 2));
}

Placer::Placer(const std::vector<StorageNode>& nodes) : nodes_(nodes) {
  double known = 0;
  std::size_t count = 0;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (!nodes_[i].reachable || nodes_[i].draining) continue;
    takers_.push_back(i);
    hashes_.push_back(hash_of(nodes_[i].id));
    capacities_.push_back(static_cast<double>(nodes_[i].capacity_bytes));
    known += capacities_.back();
    count += nodes_[i].capacity_bytes > 0 ? 1 : 0;
  }
  // One that has not said yet how large it is counts as one of the others.
  const double usual = count == 0 ? 1.0 : known / static_cast<double>(count);
  for (double& capacity : capacities_)
    if (capacity <= 0) capacity = usual;
}

const std::vector<double>& Placer::weights(unsigned wanted) {
  auto& weights = weights_[wanted];
  if (weights.empty()) weights = placement_weights(capacities_, wanted);
  return weights;
}

std::vector<std::size_t> Placer::rank(const std::string& key, unsigned wanted) {
  const auto& weight = weights(wanted);
  const std::uint64_t file_hash = hash_of(key);
  // Each taker draws from an exponential distribution with its weight as the rate; the smallest come first.
  std::vector<std::pair<double, std::size_t>> drawn;
  drawn.reserve(takers_.size());
  for (std::size_t k = 0; k < takers_.size(); ++k) {
    const double time = -std::log(unit_of(mixed(file_hash ^ mixed(hashes_[k])))) / weight[k];
    drawn.emplace_back(time, takers_[k]);
  }
  std::sort(drawn.begin(), drawn.end(), [this](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : nodes_[a.second].id < nodes_[b.second].id;
  });
  std::vector<std::size_t> ranking;
  ranking.reserve(drawn.size());
  for (const auto& [time, index] : drawn) ranking.push_back(index);
  return ranking;
}

std::vector<std::string> Placer::choose(const StoredFile& file) {
  std::vector<std::size_t> holders;
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    if (contains(file.holders, nodes_[i].id)) holders.push_back(i);
  std::vector<std::string> ids;
  for (const std::size_t i : pick(rank(file.key, file.wanted), holders, file.wanted, file.bytes, nodes_))
    ids.push_back(nodes_[i].id);
  return ids;
}

std::vector<std::string> choose_holders(const StoredFile& file, const std::vector<StorageNode>& nodes) {
  return Placer(nodes).choose(file);
}

RepairPlan plan_repair(const std::vector<StoredFile>& files, const std::vector<StorageNode>& nodes,
                       std::size_t limit) {
  RepairPlan plan;
  Placer placer(nodes);
  std::vector<StorageNode> room = nodes;  // free_bytes shrink as transfers are planned
  const NodesById by_id = index_nodes(nodes);

  // The most endangered first; what only lies at another place than it should comes last.
  struct Turn {
    const StoredFile* file;
    Holders holders;
    bool enough;
  };
  std::vector<Turn> turns;
  turns.reserve(files.size());
  for (const StoredFile& file : files) {
    Holders holders = holders_of(file, nodes, by_id);
    const bool enough = holders.staying >= file.wanted;
    if (holders.reachable.empty()) {
      ++plan.lost;
    } else {
      turns.push_back({&file, std::move(holders), enough});
    }
  }
  std::stable_sort(turns.begin(), turns.end(), [](const Turn& a, const Turn& b) {
    return a.enough != b.enough ? !a.enough : a.holders.reachable.size() < b.holders.reachable.size();
  });

  for (const Turn& turn : turns) {
    const StoredFile& file = *turn.file;
    const auto& reachable = turn.holders.reachable;
    const auto chosen =
        pick(placer.rank(file.key, file.wanted), turn.holders.all, file.wanted, file.bytes, room);
    std::size_t settled = 0;
    for (const std::size_t i : chosen) {
      if (contains(reachable, i)) {
        ++settled;
        continue;
      }
      if (plan.transfers.size() >= limit) continue;
      Transfer transfer{file.key, file.bytes, {}, nodes[i].id};
      for (const std::size_t from : reachable) transfer.from.push_back(nodes[from].id);
      room[i].free_bytes -= file.bytes;
      plan.transfers.push_back(std::move(transfer));
    }
    // Nothing goes before all that should have it do.
    if (settled < chosen.size() || settled < file.wanted) continue;
    for (const std::size_t i : reachable)
      if (!contains(chosen, i)) plan.removals.push_back({file.key, nodes[i].id});
  }
  return plan;
}

DrainPreview preview_drain(const std::vector<StoredFile>& files, const std::vector<StorageNode>& nodes,
                           const std::string& node) {
  DrainPreview preview;
  std::vector<StorageNode> rest;
  for (const StorageNode& one : nodes)
    if (one.id != node) rest.push_back(one);
  Placer placer(rest);
  const NodesById by_id = index_nodes(rest);
  const auto takers = static_cast<unsigned>(std::count_if(
      rest.begin(), rest.end(), [](const StorageNode& one) { return one.reachable && !one.draining; }));
  for (const StoredFile& file : files) {
    if (!contains(file.holders, node)) continue;
    ++preview.files;
    preview.bytes += file.bytes;
    const Holders others = holders_of(file, rest, by_id);
    if (others.reachable.empty()) ++preview.last_copies;
    if (others.staying >= file.wanted) continue;
    ++preview.below_wanted;
    // With fewer nodes there are fewer copies: as many as there are places for.
    const unsigned wanted = std::min(file.wanted, takers);
    const auto chosen = pick(placer.rank(file.key, wanted), others.all, wanted, file.bytes, rest);
    if (chosen.size() < std::max(wanted, 1u)) preview.fits_elsewhere = false;
    for (const std::size_t i : chosen)
      if (!contains(others.all, i)) rest[i].free_bytes -= file.bytes;
  }
  return preview;
}

}  // namespace samovar::cluster
