// What is known of the members, and what is asked of them.
#include <algorithm>

#include "daemon/discovery/interfaces.hpp"
#include "daemon/net/link_probe.hpp"
#include "daemon/node_net.hpp"

namespace samovar::daemon {
namespace {

constexpr std::chrono::seconds kHistoryMax{5};
constexpr std::size_t kLearntMax = 64;

}  // namespace

const api::NodeReport* NodeNet::report(std::string_view node_id) const { return reports_.find(node_id); }

api::Contact NodeNet::contact(std::string_view node_id) const {
  const std::string id(node_id);
  api::Contact contact;
  contact.reachable = id == facts_.id || reports_.reachable(id);
  contact.heard_at = reports_.heard_at(id);
  if (!mesh_) return contact;
  for (const auto& link : mesh_->links())
    if (link.node_id == id) contact.rtt_ms = link.rtt_ms;
  return contact;
}

std::vector<cluster::StorageNode> NodeNet::storage_nodes() const {
  std::vector<cluster::StorageNode> out;
  const std::uint64_t reserve = std::uint64_t{config_.disk_reserve_mib} << 20;
  const auto beyond = [reserve](std::uint64_t free) { return free > reserve ? free - reserve : 0; };
  const api::NodeReport own = hooks_.report(true);
  bool self = false;
  if (cluster_ != nullptr) {
    for (const auto& row : cluster_->nodes()) {
      if (row.state == cluster::NodeState::removed) continue;
      const bool here = row.id == facts_.id;
      self = self || here;
      const api::NodeReport* known = here ? &own : reports_.find(row.id);
      cluster::StorageNode node;
      node.id = row.id;
      node.capacity_bytes =
          known != nullptr && known->disk.total_bytes > 0 ? known->disk.total_bytes : row.disk_bytes;
      // Not asked yet: as much as it has, so that a first placement is not held up; a fetch that does not fit
      // fails.
      node.free_bytes = known != nullptr ? beyond(known->disk.free_bytes) : node.capacity_bytes / 2;
      node.reachable = here || reports_.reachable(row.id);
      node.draining = row.state == cluster::NodeState::draining;
      out.push_back(std::move(node));
    }
  }
  if (!self) {
    cluster::StorageNode node;
    node.id = facts_.id;
    node.capacity_bytes = own.disk.total_bytes;
    node.free_bytes = beyond(own.disk.free_bytes);
    out.push_back(std::move(node));
  }
  return out;
}

// A node that was away while others joined does not know them, and would refuse the one who leads now.
// Without a leader it believes the members it knows about whom they are talking with; those its state names
// as removed stay out.
void NodeNet::learn_members(const api::NodeReport& report) {
  if (cluster_ == nullptr || cluster_->writable()) return;
  bool learnt = false;
  for (const auto& link : report.links) {
    const auto known = [&](const net::Peer& peer) { return peer.node_id == link.to; };
    if (!link.up || link.to == facts_.id || cluster_->node(link.to) || first_peers_.size() >= kLearntMax ||
        std::any_of(first_peers_.begin(), first_peers_.end(), known))
      continue;
    first_peers_.push_back({link.to, {link.address}});
    learnt = true;
  }
  if (learnt) refresh_peers();
}

std::optional<Duration> NodeNet::clock_ahead() const {
  const bool sure = hooks_.report(true).clock_sure;
  std::vector<Duration> ahead;  // of ours
  for (const auto& id : other_ids()) {
    const api::NodeReport* known = reports_.find(id);
    const auto theirs = reports_.clock_ahead(id);
    if (known != nullptr && known->clock_sure && theirs && reports_.reachable(id))
      ahead.emplace_back(*theirs);
  }
  return ahead_of_most(std::move(ahead), sure);
}

// The MTU of the card whose address comes first among those that others are told.
unsigned NodeNet::mtu() const {
  const auto addresses = mesh_addresses();
  for (const auto& interface : discovery::list_interfaces())
    for (const auto& address : interface.addresses)
      if (!addresses.empty() && addresses.front() == dial_address(address, mesh_port())) return interface.mtu;
  return 0;
}

api::LinkReport NodeNet::link_of(const net::LinkState& state) const {
  api::LinkReport link;
  link.from = facts_.id;
  link.to = state.node_id;
  link.up = state.up;
  link.address = state.address;
  link.rtt_ms = state.rtt_ms;
  link.send_bytes_per_second = state.rates.send_bytes_per_second;
  link.receive_bytes_per_second = state.rates.receive_bytes_per_second;
  link.trouble = state.trouble;
  if (const auto measured = measured_.find(state.node_id); measured != measured_.end()) {
    link.measured_bytes_per_second = measured->second.bytes_per_second;
    link.measured_at = measured->second.at;
  }
  return link;
}

std::vector<api::LinkReport> NodeNet::links() const {
  std::vector<api::LinkReport> out;
  if (mesh_)
    for (const auto& state : mesh_->links()) out.push_back(link_of(state));
  for (const auto& id : other_ids()) {
    const api::NodeReport* known = reports_.find(id);
    if (known == nullptr || !reports_.reachable(id)) continue;
    for (auto link : known->links) {
      link.from = id;  // whatever it says: it speaks for itself only
      out.push_back(std::move(link));
    }
  }
  return out;
}

Task<Result<Bytes>> NodeNet::answer_report(Bytes body) {
  SAMOVAR_CO_TRY(const api::ReportRequest request, api::decode_request(body));
  if (request.history) {
    SAMOVAR_CO_TRY(const power::HistoryTable table, hooks_.history().query(*request.history));
    co_return api::encode_history(table);
  }
  api::NodeReport report = hooks_.report(request.brief);
  if (!request.brief) report.mtu = mtu();
  if (!request.brief && mesh_)
    for (const auto& state : mesh_->links()) report.links.push_back(link_of(state));
  co_return api::encode_report(report);
}

Task<Result<power::HistoryTable>> NodeNet::history_of(std::string node_id, power::HistoryQuery query) {
  api::ReportRequest request;
  request.history = std::move(query);
  net::AskOptions options;
  options.deadline = kHistoryMax;
  auto answer = co_await exchange_.ask(std::move(node_id), net::Topic::node_report,
                                       api::encode_request(request), options);
  if (!answer) co_return std::move(answer).error();
  co_return api::decode_history(*answer);
}

Task<Result<api::LinkReport>> NodeNet::test_link(std::string to) {
  const auto alive = alive_;
  auto measured = co_await net::measure_link(loop_, exchange_, to);
  if (!measured) co_return std::move(measured).error();
  if (!*alive || !mesh_) co_return Error{Errc::unavailable, "this node is stopping"};
  measured_[to] = {measured->send_bytes_per_second, loop_.clock().wall()};
  for (const auto& state : mesh_->links())
    if (state.node_id == to) co_return link_of(state);
  co_return Error{Errc::unavailable, "the link went away after the test"};
}

}  // namespace samovar::daemon
