// Commands and queries on nodes and copies: typed arguments into a command, the reply into a value.
#include <algorithm>
#include <utility>

#include "daemon/cluster/cluster_impl.hpp"
#include "daemon/cluster/copies.hpp"
#include "daemon/cluster/losses.hpp"
#include "daemon/cluster/rows.hpp"

namespace samovar::cluster {
namespace {

constexpr std::size_t kTextBytes = 256;
// Far fewer than a command may have: applying one holds up the loop of every node.
constexpr std::size_t kChangesAtOnce = 256;
constexpr Duration kVoteKeptMax = std::chrono::seconds(30);  // of a node that is to go
constexpr Duration kVoteLook = std::chrono::milliseconds(50);

// What is not given (no addresses, no size) is left as it is.
bool says_nothing_new(const NodeRecord& known, const NodeRecord& node) {
  return known.name == node.name && known.hostname == node.hostname && known.model == node.model &&
         known.version == node.version && known.arch == node.arch && known.level == node.level &&
         (node.addresses.empty() || known.addresses == node.addresses) &&
         (node.disk_bytes == 0 || known.disk_bytes == node.disk_bytes) &&
         (node.sign_public.empty() || !known.sign_public.empty()) &&
         (node.box_public.empty() || !known.box_public.empty());
}

Fields encode_node(const NodeRecord& node) {
  Fields body;
  body.set("id", node.id).set("name", clean_text(node.name, 64));
  body.set("hostname", clean_text(node.hostname, kTextBytes))
      .set("model", clean_text(node.model, kTextBytes));
  body.set("version", node.version).set("arch", node.arch).set("level", std::int64_t{node.level});
  if (!node.addresses.empty()) body.set("addresses", node.addresses);
  if (node.disk_bytes > 0) body.set("disk_bytes", node.disk_bytes);
  if (!node.sign_public.empty()) body.set("sign_public", node.sign_public);
  if (!node.box_public.empty()) body.set("box_public", node.box_public);
  return body;
}

}  // namespace

Task<Result<NodeRecord>> Cluster::Impl::change_node(Call call, std::string type, Fields body) {
  SAMOVAR_CO_TRY(const Fields done, co_await execute(std::move(call), std::move(type), std::move(body)));
  SAMOVAR_CO_TRY(const std::string id, done.text("id", 64));
  auto node = find_node(db(), id);
  if (!node) co_return Error{Errc::not_found, "the node is gone"};
  co_return *std::move(node);
}

Task<Result<NodeRecord>> Cluster::put_node(Call call, NodeRecord node) {
  node.level = static_cast<unsigned>(kCommandVersion);
  if (auto known = this->node(node.id); known && says_nothing_new(*known, node)) co_return *std::move(known);
  Fields body = encode_node(node);
  co_return co_await impl_->change_node(std::move(call), "node.put", std::move(body));
}

Task<Result<NodeRecord>> Cluster::admit_node(Call call, NodeRecord node) {
  if (node.level == 0) node.level = static_cast<unsigned>(kCommandVersion);
  Fields body = encode_node(node);
  co_return co_await impl_->change_node(std::move(call), "node.admit", std::move(body));
}

Task<Result<NodeRecord>> Cluster::drain_node(Call call, std::string node_id, bool on) {
  Fields body;
  body.set("id", node_id).set("drain", on);
  co_return co_await impl_->change_node(std::move(call), "node.drain", std::move(body));
}

bool Cluster::Impl::votes(const std::string& which) const {
  for (const raft::LogMember& member : log->members())
    if (member.node_id == which) return member.voice == raft::Voice::voter;
  return false;
}

// Who leads sees to it (Steward).
Task<Result<void>> Cluster::Impl::until_voteless(std::string which) {
  const MonoTime end = loop.clock().mono() + kVoteKeptMax;
  while (votes(which)) {
    if (loop.clock().mono() >= end)
      co_return Error{Errc::unavailable,
                      "the others could not take this node's vote yet, so it is still needed: see that more "
                      "than half of the nodes are up, leave this one on, and try again. It is being drained "
                      "meanwhile"};
    SAMOVAR_CO_CHECK(co_await forwarder->pause(kVoteLook));
  }
  co_return Result<void>();
}

// A removed node is heard by nobody from that moment on, and people switch it off. Had it a vote still, the
// others might be too few to agree on anything, even on taking it: so the vote goes first.
Task<Result<void>> Cluster::Impl::take_vote(Call call, std::string which) {
  const auto row = find_node(db(), which);
  if (!forwarder || !row || row->state == NodeState::removed || !votes(which)) co_return Result<void>();
  if (row->state == NodeState::active) {
    if (!call.request_id.empty()) call.request_id += ".drain";
    Fields body;
    body.set("id", which).set("drain", true);
    auto drained = co_await change_node(std::move(call), "node.drain", std::move(body));
    // Nobody else is there to vote.
    if (!drained && refusal_of(drained.error()) == Refusal::last_node) co_return Result<void>();
    if (!drained) co_return std::move(drained).error();
  }
  co_return co_await until_voteless(std::move(which));
}

Task<Result<NodeRecord>> Cluster::remove_node(Call call, std::string node_id, std::uint64_t losses_max) {
  SAMOVAR_CO_CHECK(co_await impl_->take_vote(call, node_id));
  Fields body;
  body.set("id", node_id);
  if (impl_->level() >= kHeldLevel) {
    body.set("losses_max", static_cast<std::int64_t>(std::min(losses_max, kLossesAny)));
  } else {
    // Nobody looks when it is applied: as late as possible, then.
    SAMOVAR_CO_CHECK(check_losses(impl_->db(), only_copies_of(impl_->db(), node_id), losses_max));
  }
  auto removed = co_await impl_->change_node(std::move(call), "node.remove", std::move(body));
  // A change of leader may have given it the vote again.
  if (removed && impl_->forwarder)
    ignore(co_await impl_->until_voteless(std::move(node_id)), "it is out, and its vote will be");
  co_return removed;
}

Task<Result<void>> Cluster::change_copies(Call call, std::vector<CopyChange> changes) {
  for (std::size_t at = 0; at < changes.size(); at += kChangesAtOnce) {
    std::vector<Fields> list;
    for (std::size_t i = at; i < std::min(changes.size(), at + kChangesAtOnce); ++i) {
      const CopyChange& change = changes[i];
      Fields one;
      one.set("key", change.key).set("node", change.node_id).set("there", change.there);
      if (change.others_min > 0) one.set("others_min", std::int64_t{change.others_min});
      if (!change.hash.empty()) one.set("hash", change.hash).set("bytes", change.bytes);
      list.push_back(std::move(one));
    }
    // A request id is for one command.
    Call part = call;
    if (at > 0 && !part.request_id.empty()) part.request_id += "." + std::to_string(at);
    Fields body;
    body.set("changes", list);
    SAMOVAR_CO_TRY(const Fields done,
                   co_await impl_->execute(std::move(part), "copies.change", std::move(body)));
  }
  co_return Result<void>();
}

std::vector<NodeRecord> Cluster::nodes() const { return impl_->machine->nodes(); }

std::optional<NodeRecord> Cluster::node(std::string_view id) const { return find_node(impl_->db(), id); }

std::vector<StoredFile> Cluster::stored_files() const { return impl_->machine->stored_files(); }

std::optional<StoredFile> Cluster::stored_file(std::string_view key) const {
  return find_stored_file(impl_->db(), key);
}

}  // namespace samovar::cluster
