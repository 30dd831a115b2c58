// Nodes: members, those that are being emptied, and those that were members.
//
//   node.admit → active ⇄ draining → removed, which is for good
//
// A box that is alone makes its own row with node.put.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "daemon/cluster/context.hpp"
#include "daemon/cluster/copies.hpp"
#include "daemon/cluster/losses.hpp"
#include "daemon/cluster/rows.hpp"

namespace samovar::cluster {
namespace {

constexpr std::size_t kNameBytesMax = 64;
constexpr std::size_t kTextBytesMax = 256;
constexpr std::size_t kAddressesMax = 16;
constexpr std::size_t kAddressBytesMax = 64;
constexpr std::size_t kKeyBytes = 32;
constexpr std::size_t kNodesMax = 256;
constexpr std::size_t kRowsMax = 4096;  // with those that were members

Result<std::vector<std::string>> read_addresses(const Fields& body) {
  SAMOVAR_TRY(auto addresses, body.texts("addresses", kAddressesMax, kAddressBytesMax));
  for (const std::string& address : addresses)
    if (address.find(' ') != std::string::npos)
      return Error{Errc::invalid, "addresses: an address has no spaces"};
  return addresses;
}

Result<Bytes> read_key(const Fields& body, std::string_view field) {
  SAMOVAR_TRY(Bytes key, body.bytes(field, 0, kKeyBytes));
  if (!key.empty() && key.size() != kKeyBytes)
    return Error{Errc::invalid, fmt::format("{}: has a wrong length", field)};
  return key;
}

// On top of what is known; what the command does not name stays.
Result<void> read_node(const Fields& body, NodeRecord& node) {
  SAMOVAR_TRY(node.name, body.text("name", kNameBytesMax));
  SAMOVAR_TRY(node.hostname, body.text("hostname", kTextBytesMax));
  SAMOVAR_TRY(node.model, body.text("model", kTextBytesMax));
  SAMOVAR_TRY(node.version, body.text("version", 64));
  SAMOVAR_TRY(node.arch, body.text("arch", 64));
  if (body.has("level")) {
    SAMOVAR_TRY(const std::int64_t level, body.number("level", 1, INT32_MAX));
    node.level = static_cast<unsigned>(level);
  }
  if (body.has("addresses")) {
    SAMOVAR_TRY(node.addresses, read_addresses(body));
  }
  if (body.has("disk_bytes")) {
    SAMOVAR_TRY(const std::int64_t bytes, body.number("disk_bytes", 0, INT64_MAX));
    node.disk_bytes = static_cast<std::uint64_t>(bytes);
  }
  // Given once: whoever has another key is another node.
  if (node.sign_public.empty() && body.has("sign_public")) {
    SAMOVAR_TRY(node.sign_public, read_key(body, "sign_public"));
  }
  if (node.box_public.empty() && body.has("box_public")) {
    SAMOVAR_TRY(node.box_public, read_key(body, "box_public"));
  }
  return {};
}

void write_node(Context& context, const NodeRecord& node) {
  run(context.db,
      "INSERT INTO nodes VALUES (?, ?, ?, ?, ?, ?, ?, 1) ON CONFLICT (id) DO UPDATE SET name = "
      "excluded.name, hostname = excluded.hostname, model = excluded.model, version = excluded.version, arch "
      "= excluded.arch, revision = revision + 1",
      node.id, node.name, node.hostname, node.model, node.version, node.arch, context.now);
  run(context.db, "INSERT OR REPLACE INTO members VALUES (?, ?, ?, ?, ?, ?, ?, ?)", node.id,
      to_string(node.state), join_words(node.addresses), node.sign_public, node.box_public, node.disk_bytes,
      node.level, node.removed_at);
  context.changed(Change::Kind::nodes, node.id);
}

std::size_t count_in(const std::vector<NodeRecord>& nodes, NodeState state, const std::string& without) {
  return static_cast<std::size_t>(std::count_if(nodes.begin(), nodes.end(), [&](const NodeRecord& node) {
    return node.state == state && node.id != without;
  }));
}

Result<NodeRecord> need_member(Context& context) {
  SAMOVAR_TRY(const std::string id, context.body.text("id", 64, 1));
  auto node = find_node(context.db, id);
  if (!node || node->state == NodeState::removed)
    return Error{Errc::not_found, "there is no such node, or it was removed"};
  return *std::move(node);
}

Error too_old(const NodeRecord& node, unsigned level) {
  return Error{
      Errc::unsupported,
      fmt::format("node {} has version {}, which does not know all that the cluster does (level {} of "
                  "{}): install the others' version on it",
                  node.name, node.version, node.level, level)};
}

Fields details_of(const NodeRecord& node) {
  return Fields().set("name", node.name).set("version", node.version).set("addresses", node.addresses);
}

// Nobody else may go on with it: its uploads are on the node that is gone, and, while jobs trained on one
// node, their checkpoints. Since then (level 3) the leader gives a job to another node.
void end_work_of(Context& context, const NodeRecord& node) {
  const std::string why = fmt::format("node {}, which worked on it, was removed", node.name);
  std::vector<std::string> jobs;
  if (level_of_cluster(context.db) < 3)
    for (Query row(
             context.db,
             "SELECT j.id FROM jobs j JOIN carriers c ON c.id = j.id WHERE c.node_id = ? AND j.state IN "
             "('queued', 'paused') ORDER BY j.id",
             node.id);
         row.next();)
      jobs.push_back(row.text(0));
  for (const std::string& id : jobs) {
    run(context.db,
        "UPDATE jobs SET state = 'failed', error = ?, ended_us = ?, checkpoint_step = 0, checkpoint_hash = "
        "x'', revision = revision + 1 WHERE id = ?",
        why + ": start it again", context.now, id);
    context.changed(Change::Kind::jobs, id);
  }
  run(context.db,
      "UPDATE operations SET state = 'failed', error = ?, ended_us = ? WHERE state = 'queued' AND id IN "
      "(SELECT "
      "id FROM carriers WHERE node_id = ?)",
      why, context.now, node.id);
  if (context.db.changes() > 0) context.changed(Change::Kind::operations);
}

// Whoever asks looked before, and since then a data set may have been kept whose only holder is this node, or
// the other holder may have gone. Only where the command asks for it (version 7): nodes of an earlier version
// would not look. Returns how many files are lost.
Result<std::uint64_t> check_removal(Context& context, const NodeRecord& node,
                                    const std::vector<NodeRecord>& nodes) {
  SAMOVAR_TRY(const std::int64_t losses_max, context.body.number("losses_max", 0, INT64_MAX));
  // One that is drained does not vote: nobody could agree on anything any more.
  if (count_in(nodes, NodeState::active, node.id) == 0) return refuse(Refusal::last_active);
  const auto lost = only_copies_of(context.db, node.id);
  SAMOVAR_CHECK(check_losses(context.db, lost, static_cast<std::uint64_t>(losses_max)));
  return lost.size();
}

}  // namespace

unsigned level_of_cluster(Db& db) { return level_of(read_nodes(db)); }

unsigned level_of(const std::vector<NodeRecord>& nodes) {
  unsigned level = 0;
  for (const NodeRecord& node : nodes)
    if (node.state != NodeState::removed) level = level == 0 ? node.level : std::min(level, node.level);
  return level == 0 ? static_cast<unsigned>(kCommandVersion) : level;
}

Result<Fields> apply_node_put(Context& context) {
  SAMOVAR_TRY(const std::string id, context.body.text("id", 64, 1));
  const auto before = find_node(context.db, id);
  NodeRecord node = before.value_or(NodeRecord{});
  node.id = id;
  if (!before) node.level = 1;
  SAMOVAR_CHECK(read_node(context.body, node));
  if (node.state == NodeState::removed)
    return Error{Errc::denied, "this node was removed from the cluster: reset it, then let it join anew"};
  const auto nodes = read_nodes(context.db);
  const bool alone = count_in(nodes, NodeState::active, id) + count_in(nodes, NodeState::draining, id) == 0;
  if (context.body.has("level")) {
    // A box that is alone writes its own row; a second one comes through node.admit.
    if (!before && !alone) return Error{Errc::denied, "this node is no member: let it join first"};
    // One that is alone may go back: there is nobody it could disagree with.
    const unsigned level = level_of_cluster(context.db);
    if (!alone && node.level < level) return too_old(node, level);
  }
  write_node(context, node);
  context.audit("node.put", node.id, Fields().set("name", node.name).set("version", node.version));
  return Fields().set("id", node.id);
}

Result<Fields> apply_node_admit(Context& context) {
  NodeRecord node;
  SAMOVAR_TRY(node.id, context.body.text("id", 64, 1));
  if (node.id.find(' ') != std::string::npos) return Error{Errc::invalid, "id: has no spaces"};
  node.level = 1;
  SAMOVAR_CHECK(read_node(context.body, node));
  if (find_node(context.db, node.id)) return refuse(Refusal::node_known);
  const auto nodes = read_nodes(context.db);
  if (nodes.size() - count_in(nodes, NodeState::removed, {}) >= kNodesMax || nodes.size() >= kRowsMax)
    return Error{Errc::busy, "there are as many nodes as a cluster can have"};
  if (node.sign_public.empty()) return Error{Errc::invalid, "sign_public: is missing"};
  for (const NodeRecord& other : nodes)
    if (other.sign_public == node.sign_public) return refuse(Refusal::node_known);
  const unsigned level = level_of_cluster(context.db);
  if (node.level < level) return too_old(node, level);
  write_node(context, node);
  context.audit("node.admit", node.id, details_of(node));
  return Fields().set("id", node.id);
}

Result<Fields> apply_node_drain(Context& context) {
  SAMOVAR_TRY(NodeRecord node, need_member(context));
  SAMOVAR_TRY(const bool on, context.body.flag("drain"));
  if (on == (node.state == NodeState::draining)) return Fields().set("id", node.id);
  if (on && count_in(read_nodes(context.db), NodeState::active, node.id) == 0)
    return refuse(Refusal::last_node);
  node.state = on ? NodeState::draining : NodeState::active;
  write_node(context, node);
  context.audit(on ? "node.drain" : "node.resume", node.id, Fields().set("name", node.name));
  return Fields().set("id", node.id);
}

Result<Fields> apply_node_remove(Context& context) {
  SAMOVAR_TRY(NodeRecord node, need_member(context));
  const auto nodes = read_nodes(context.db);
  if (count_in(nodes, NodeState::active, node.id) + count_in(nodes, NodeState::draining, node.id) == 0)
    return refuse(Refusal::last_node);
  std::optional<std::uint64_t> lost;
  if (context.body.has("losses_max")) {
    SAMOVAR_TRY(lost, check_removal(context, node, nodes));
  }
  run(context.db, "DELETE FROM copies WHERE node_id = ?", node.id);
  const std::int64_t copies = context.db.changes();
  if (copies > 0) {
    context.changed(Change::Kind::datasets);
    context.changed(Change::Kind::models);
  }
  end_work_of(context, node);
  node.state = NodeState::removed;
  node.removed_at = context.now;
  write_node(context, node);
  Fields details = details_of(node).set("copies", copies);
  if (lost) details.set("lost", *lost);
  context.audit("node.remove", node.id, details);
  return Fields().set("id", node.id);
}

}  // namespace samovar::cluster
