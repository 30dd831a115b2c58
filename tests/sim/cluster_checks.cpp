// What must hold after everything was mended.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/encoding.hpp"
#include "daemon/store/blobs.hpp"
#include "tests/sim/cluster_node.hpp"
#include "tests/sim/cluster_world.hpp"

namespace samovar::test {

// At rest: one leader, everybody has applied as much, the members of the log are those of the cluster, every
// file has its copies and nothing else lies about. Cheap questions first: it is asked every second.
bool ClusterWorld::settled() {
  const auto all = living();
  const Node* lead = leader();
  if (lead == nullptr) return false;
  std::set<std::string> members;
  std::size_t active = 0;  // a removal that came to nothing leaves a member that is drained
  for (const auto& row : lead->cluster->nodes()) {
    if (row.state != cluster::NodeState::removed) members.insert(row.id);
    if (row.state == cluster::NodeState::active) ++active;
  }
  for (const auto& node : nodes_) {
    // Let in with an unknown outcome, and it came to nothing: it is none of us.
    if (members.contains(node->id) && (!node->lives() || !node->cluster->info())) return false;
  }
  const auto applied = lead->cluster->status().applied_index;
  for (const Node* node : all)
    if (members.contains(node->id) && node->cluster->status().applied_index != applied) return false;
  const auto in_log = lead->cluster->log_members();
  if (in_log.size() != members.size()) return false;
  std::size_t voters = 0;
  for (const auto& member : in_log) {
    if (!members.contains(member.node_id)) return false;
    if (member.voice == raft::Voice::voter) ++voters;
  }
  if (voters != cluster::voters_wanted(active)) return false;
  const auto files = lead->cluster->stored_files();
  std::map<std::string, std::set<std::string>> named;
  for (const auto& file : files) {
    if (file.holders.size() < std::min<std::size_t>(file.wanted, active)) {
      // The planted bug would never come to rest: the check below says why.
      if (plant_ != Plant::forget_shard) return false;
    }
    for (const auto& holder : file.holders) named[holder].insert(file.key);
  }
  // What a box alone leaves of work that failed is removed by who did that work, which is not simulated.
  for (Node* node : all) {
    if (!members.contains(node->id) || members.size() == 1) continue;
    const auto there = node->replicas->blobs().list();
    if (!there || there->size() != named[node->id].size()) return false;
  }
  return true;
}

void ClusterWorld::check_members() {
  const Node* lead = leader();
  if (lead == nullptr) return wrong("nobody leads");
  for (const auto& node : nodes_) {
    const auto row = lead->cluster->node(node->id);
    if (node->removed && row && row->state != cluster::NodeState::removed)
      wrong(node->id + " was removed, and is a member");
  }
}

void ClusterWorld::check_states() {
  const Node* lead = leader();
  if (lead == nullptr) return;
  const Bytes wanted = lead->cluster->state_hash();
  const auto applied = lead->cluster->status().applied_index;
  for (const Node* node : living()) {
    if (node->cluster->status().applied_index != applied) continue;  // "does not come to rest" says so
    if (node->cluster->state_hash() != wanted)
      wrong(fmt::format("{} and {} applied the same log and differ", lead->id, node->id));
  }
}

void ClusterWorld::check_writes() {
  verdict_.acknowledged = acknowledged_.size();
  Node* lead = leader();
  if (lead == nullptr) return;
  std::map<std::string, int> seen;
  cluster::AuditQuery query;
  query.limit = cluster::kPageMax;
  query.action = "sim.write";
  for (;;) {
    const auto page = lead->cluster->audit(query);
    for (const auto& entry : page.items) ++seen[entry.object];
    if (!page.next_before_seq) break;
    query.before_seq = page.next_before_seq;
  }
  for (const auto& what : acknowledged_)
    if (!seen.contains(what)) wrong(fmt::format("{} was acknowledged and is lost", what));
  for (const auto& [what, times] : seen) {
    if (times > 1) wrong(fmt::format("{} happened {} times", what, times));
    if (!asked_.contains(what)) wrong(fmt::format("{} happened and nobody asked for it", what));
  }
}

void ClusterWorld::check_files() {
  Node* lead = leader();
  if (lead == nullptr) return;
  std::set<std::string> members;
  std::size_t active = 0;
  for (const auto& row : lead->cluster->nodes()) {
    if (row.state != cluster::NodeState::removed) members.insert(row.id);
    if (row.state == cluster::NodeState::active) ++active;
  }
  std::map<std::string, cluster::StoredFile> files;
  for (auto& file : lead->cluster->stored_files()) files.emplace(file.key, file);
  for (const Kept& kept : kept_) {
    for (const auto& [key, hash] : kept.hashes) {
      if (!files.contains(key)) wrong(key + " was kept and has no record any more");
    }
  }
  std::map<std::string, std::set<std::string>> named;
  for (const auto& [key, file] : files) {
    std::size_t good = 0;
    for (const auto& holder : file.holders) {
      named[holder].insert(key);
      for (const auto& node : nodes_) {
        if (node->id != holder || !node->lives()) continue;
        const auto hash = node->replicas->blobs().hash(*store::BlobKey::parse(key));
        if (hash && to_bytes(ByteView(*hash)) == file.hash) {
          ++good;
        } else {
          wrong(fmt::format("{} should have {} and has not", holder, key));
        }
      }
    }
    const std::size_t wanted = std::min<std::size_t>(file.wanted, active);
    if (good < wanted) wrong(fmt::format("{} has {} of {} copies", key, good, wanted));
  }
  for (Node* node : living()) {
    if (!members.contains(node->id) || members.size() == 1) continue;
    const auto there = node->replicas->blobs().list();
    if (!there) continue;
    for (const auto& key : *there)
      if (!named[node->id].contains(key))
        wrong(fmt::format("{} has {}, which nobody wants there", node->id, key));
  }
}

}  // namespace samovar::test
