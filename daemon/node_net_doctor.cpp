// What the doctor looks at, from this node's side.
#include <algorithm>

#include "daemon/doctor.hpp"
#include "daemon/doctor_probe.hpp"
#include "daemon/local_names.hpp"
#include "daemon/node_net.hpp"

namespace samovar::daemon {
namespace {

constexpr std::chrono::seconds kProbeMax{5};

std::vector<api::DoctorCheck> checks_of(const std::vector<Check>& checks) {
  std::vector<api::DoctorCheck> out;
  for (const auto& check : checks)
    out.push_back({check.id, std::string(to_string(check.state)), check.title, check.detail, check.remedy});
  return out;
}

std::string name_of(const cluster::NodeRecord& row) {
  return row.name.empty() ? security::short_node_id(row.id) : row.name;
}

}  // namespace

DoctorMember NodeNet::doctor_member(const cluster::NodeRecord& row) const {
  DoctorMember member;
  member.node_id = row.id;
  member.name = name_of(row);
  member.version = row.version;
  if (mesh_)
    for (const auto& link : mesh_->links()) {
      if (link.node_id != row.id) continue;
      member.up = link.up;
      member.address = link.address;
      member.trouble = link.trouble;
      member.clock_ahead = link.clock_ahead;
    }
  const api::NodeReport* known = reports_.find(row.id);
  if (known == nullptr) return member;
  member.version = known->version;
  if (known->mtu > 0) member.mtu = known->mtu;
  // What it said before it fell silent says nothing about now.
  if (reports_.reachable(row.id))
    for (const auto& link : known->links)
      if (link.to == facts_.id) member.reaches_us = link.up || link.trouble.empty();
  if (const auto ahead = reports_.clock_ahead(row.id)) member.clock_ahead = *ahead;
  return member;
}

DoctorFacts NodeNet::doctor_facts() const {
  DoctorFacts facts;
  facts.member = papers_.has_value();
  facts.node_id = facts_.id;
  facts.version = SAMOVAR_VERSION;
  if (facts.member) facts.cluster_tag = discovery::cluster_tag(cluster_id_);
  facts.discovery_trouble = neighbours_trouble_;
  facts.discovery_port = static_cast<std::uint16_t>(config_.discovery_port);
  if (neighbours_) {
    facts.interfaces = neighbours_->interfaces();
    facts.neighbours = neighbours_->list();
  }
  facts.seeds = config_.seeds;
  if (const auto names = local_names(config_, facts_.id); !names.empty()) {
    facts.local_name = names.front().name;
    facts.local_trouble = names_trouble_;
    if (names_) facts.local_claimed_by = names_->claimed_by(facts.local_name);
  }
  facts.listen_trouble = port_trouble_;
  facts.listening = mesh_addresses();
  facts.cloned_at = cloned_at_;
  facts.now = loop_.clock().wall();
  facts.unfinished_joins = guest_status().unfinished;
  if (cluster_ == nullptr) return facts;
  facts.writable = cluster_->writable();
  facts.ahead_of_cluster = cluster_->clock_skew();
  facts.leads = cluster_->status().leader;
  for (const auto& row : cluster_->nodes())
    if (row.state != cluster::NodeState::removed && row.id != facts_.id)
      facts.members.push_back(doctor_member(row));
  return facts;
}

Task<api::DoctorReport> NodeNet::doctor() {
  co_await refresh();
  const DoctorFacts facts = doctor_facts();
  api::DoctorReport report;
  report.checks = checks_of(examine(facts));
  report.interfaces = facts.interfaces;
  report.links = links();
  report.neighbours = peers();
  co_return report;
}

Task<ProbeResult> NodeNet::look_at(std::string address) {
  DialJoin dial = [this](std::string where, Duration deadline) {
    return net::dial_join(loop_, std::move(where), deadline);
  };
  auto result = co_await probe_address(std::move(dial), std::move(address), kProbeMax);
  const auto where = parse_listen(result.address);
  if (result.beacon && neighbours_ && where)
    ignore(neighbours_->note(result.datagram, where->host), "its row is a comfort: who asked has the answer");
  co_return result;
}

Task<std::vector<api::DoctorCheck>> NodeNet::probe(std::string address) {
  const auto parsed = parse_seed(address, net::kMeshPort);
  if (!parsed)
    co_return std::vector<api::DoctorCheck>{{"address", "fail", "The address is not one",
                                             parsed.error().message(),
                                             "Write e.g. 10.0.0.9 or 10.0.0.9:7443."}};
  const ProbeResult result = co_await look_at(dial_address(parsed->host, parsed->port));
  co_return checks_of(examine_probe(result, doctor_facts()));
}

}  // namespace samovar::daemon
