// Links, neighbours, joins and what the doctor found, as clients see them.

#include "base/ids.hpp"
#include "base/json.hpp"
#include "daemon/api/views.hpp"
#include "security/short_id.hpp"

namespace samovar::api {
namespace {

template <class T>
View or_null(const std::optional<T>& value) {
  return value ? View(*value) : View(nullptr);
}

View interface_view(const discovery::InterfaceReport& report) {
  return {{"name", report.name},   {"addresses", report.addresses},
          {"used", report.used},   {"why_not", report.why_not},
          {"mtu", report.mtu},     {"sent", report.sent},
          {"heard", report.heard}, {"heard_own", report.heard_own},
          {"bad", report.bad},     {"trouble", report.trouble}};
}

}  // namespace

View link_view(const LinkReport& link) {
  return {{"from", link.from},
          {"to", link.to},
          {"up", link.up},
          {"address", link.address},
          {"rtt_ms", or_null(link.rtt_ms)},
          {"send_bytes_per_second", link.send_bytes_per_second},
          {"receive_bytes_per_second", link.receive_bytes_per_second},
          {"measured_bytes_per_second", or_null(link.measured_bytes_per_second)},
          {"measured_at", time_view(link.measured_at)},
          {"trouble", link.trouble}};
}

View join_view(const PendingJoin& join) {
  return {{"id", join.id},
          {"node_id", join.node_id},
          {"node",
           {{"hostname", join.hostname},
            {"model", join.model},
            {"arch", join.arch},
            {"memory_bytes", join.memory_bytes},
            {"disk_bytes", join.disk_bytes},
            {"clock_skew_s", join.clock_skew_s}}},
          {"cluster_name", join.cluster_name},
          {"expires_at", format_time(join.expires_at)},
          {"tries_left", join.tries_left}};
}

View peer_view(const PeerEntry& peer) {
  return {{"id", peer.id},
          {"short_id", security::short_form(peer.id)},
          {"hostname", peer.hostname},
          {"model", peer.model},
          {"version", peer.version},
          {"address", peer.address},
          {"interface", peer.interface},
          {"multicast", peer.multicast},
          {"state", peer.state},
          {"detail", peer.detail},
          {"first_seen", format_time(peer.first_seen)},
          {"last_seen", format_time(peer.last_seen)},
          {"join", peer.join ? join_view(*peer.join) : View(nullptr)}};
}

View checks_view(const std::vector<DoctorCheck>& checks) {
  View items = View::array();
  for (const auto& check : checks)
    items.push_back({{"id", check.id},
                     {"state", check.state},
                     {"title", check.title},
                     {"detail", check.detail},
                     {"remedy", check.remedy}});
  return items;
}

View doctor_view(const DoctorReport& report) {
  View interfaces = View::array();
  for (const auto& interface : report.interfaces) interfaces.push_back(interface_view(interface));
  View links = View::array();
  for (const auto& link : report.links) links.push_back(link_view(link));
  View neighbours = View::array();
  for (const auto& peer : report.neighbours) neighbours.push_back(peer_view(peer));
  return {{"checks", checks_view(report.checks)},
          {"interfaces", std::move(interfaces)},
          {"links", std::move(links)},
          {"neighbours", std::move(neighbours)}};
}

}  // namespace samovar::api
