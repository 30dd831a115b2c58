// What the doctor says of network cards, announcements and ports.
#include <algorithm>

#include "daemon/doctor_checks.hpp"
#include "security/identity.hpp"

namespace samovar::daemon {
namespace {

constexpr std::uint64_t kSentEnough = 3;  // announcements before silence means something

std::vector<discovery::InterfaceReport> used_ones(const DoctorFacts& facts) {
  std::vector<discovery::InterfaceReport> out;
  for (const auto& report : facts.interfaces)
    if (report.used) out.push_back(report);
  return out;
}

std::string name_and_address(const discovery::InterfaceReport& report) {
  return report.addresses.empty() ? report.name : report.name + " (" + report.addresses.front() + ")";
}

std::string first_address(const DoctorFacts& facts) {
  return facts.listening.empty() ? "this node's address" : facts.listening.front();
}

bool seed_answers(const DoctorFacts& facts, const std::string& seed) {
  const std::string host = seed.substr(0, seed.rfind(':'));
  return std::any_of(facts.neighbours.begin(), facts.neighbours.end(),
                     [&](const auto& neighbour) { return neighbour.address == host; }) ||
         std::any_of(facts.members.begin(), facts.members.end(), [&](const auto& member) {
           return member.up && member.address.substr(0, member.address.rfind(':')) == host;
         });
}

}  // namespace

void check_interfaces(const DoctorFacts& facts, Checks& out) {
  Check check{"interfaces", CheckState::ok, "Network cards", {}, {}};
  std::vector<std::string> used;
  std::vector<std::string> left_out;
  for (const auto& report : facts.interfaces) {
    if (report.used) {
      used.push_back(name_and_address(report));
    } else {
      left_out.push_back(report.name + " (" + report.why_not + ")");
    }
  }
  check.detail = used.empty() ? "None can be used." : "In use: " + listed(used) + ".";
  if (!left_out.empty()) check.detail += " Left out: " + listed(left_out) + ".";
  if (used.empty()) {
    check.state = CheckState::fail;
    check.remedy =
        "Plug in the network cable, or give the card an IPv4 address. To use one that was left out, name it "
        "in the configuration: discovery_interfaces = [\"eth0\"].";
  }
  out.push_back(std::move(check));
}

void check_multicast(const DoctorFacts& facts, Checks& out) {
  Check check{"multicast", CheckState::ok, "Announcements", {}, {}};
  const auto used = used_ones(facts);
  if (!facts.discovery_trouble.empty()) {
    check.state = CheckState::fail;
    check.detail = "Discovery does not run: " + facts.discovery_trouble + ".";
    check.remedy = "Look which program has UDP port " + std::to_string(facts.discovery_port) +
                   " (ss -lunp) and stop it, or choose another port on all nodes: discovery_port.";
    out.push_back(std::move(check));
    return;
  }
  if (used.empty()) return;  // said above
  std::vector<std::string> troubled;
  std::vector<std::string> deaf;
  for (const auto& report : used) {
    if (!report.trouble.empty()) troubled.push_back(report.name + " (" + report.trouble + ")");
    if (report.sent > kSentEnough && report.heard_own == 0) deaf.push_back(report.name);
  }
  const bool unicast_only =
      !facts.neighbours.empty() && std::none_of(facts.neighbours.begin(), facts.neighbours.end(),
                                                [](const auto& n) { return n.multicast; });
  if (!troubled.empty()) {
    check.state = CheckState::warn;
    check.detail = "Announcements could not be sent on " + listed(troubled) + ".";
    check.remedy = "Check the card's cable and address; it is tried again every few seconds.";
  } else if (!deaf.empty()) {
    check.state = CheckState::warn;
    check.detail = "This node does not even hear its own announcements on " + listed(deaf) + ".";
    check.remedy = "A firewall on this computer drops them: allow UDP port " +
                   std::to_string(facts.discovery_port) + " to 239.192.77.46. Or add nodes by their address.";
  } else if (unicast_only) {
    check.state = CheckState::warn;
    check.detail = "Nodes answer when asked at their address, but their announcements do not arrive.";
    check.remedy =
        "The switch or access point drops multicast (often: IGMP snooping without a querier). Nothing more "
        "is "
        "needed; to have nodes appear by themselves, switch that off there.";
  } else {
    check.detail =
        "Announcements are sent on " + count_of(used.size(), "network card", "network cards") + ".";
  }
  out.push_back(std::move(check));
}

void check_neighbours(const DoctorFacts& facts, Checks& out) {
  if (!facts.discovery_trouble.empty()) return;
  Check check{"neighbours", CheckState::ok, "Other nodes heard", {}, {}};
  std::size_t waiting = 0;
  for (const auto& neighbour : facts.neighbours)
    if (!neighbour.beacon.member) ++waiting;
  const std::size_t members = facts.neighbours.size() - waiting;
  if (!facts.neighbours.empty()) {
    check.detail = count_of(members, "member of a cluster", "members of clusters") + " and " +
                   count_of(waiting, "node that waits to be added", "nodes that wait to be added") + ".";
    out.push_back(std::move(check));
    return;
  }
  const bool connected =
      std::any_of(facts.members.begin(), facts.members.end(), [](const auto& member) { return member.up; });
  check.detail = "No other node was heard on this network.";
  if (connected) {
    check.state = CheckState::info;
    check.detail += " The members are connected all the same.";
  } else {
    check.state = facts.member && facts.members.empty() ? CheckState::info : CheckState::warn;
  }
  check.remedy =
      facts.member
          ? "If a new node does not appear: type its address at \"Add node\" (samovar peers add ADDRESS). It "
            "stands on the new node's screen."
          : "If the cluster does not see this node: type the address " + first_address(facts) +
                " at \"Add node\" on its dashboard (samovar peers add " + first_address(facts) + ").";
  out.push_back(std::move(check));
}

void check_seeds(const DoctorFacts& facts, Checks& out) {
  if (facts.seeds.empty() || !facts.discovery_trouble.empty()) return;
  Check check{"seeds", CheckState::ok, "Addresses in the configuration", "All of them answer.", {}};
  std::vector<std::string> silent;
  for (const std::string& seed : facts.seeds)
    if (!seed_answers(facts, seed)) silent.push_back(seed);
  if (!silent.empty()) {
    check.state = CheckState::warn;
    check.detail = "No answer from " + listed(silent) + ".";
    check.remedy = "Look whether the address is right and the machine is on, and let UDP port " +
                   std::to_string(facts.discovery_port) +
                   " through to it. In \"seeds\", IPv4 addresses are given in numbers.";
  }
  out.push_back(std::move(check));
}

void check_name(const DoctorFacts& facts, Checks& out) {
  if (facts.local_name.empty()) return;
  Check check{"name", CheckState::ok, "Name for people", facts.local_name + " leads here.", {}};
  if (!facts.local_trouble.empty()) {
    check.state = CheckState::info;
    check.detail = facts.local_name + " is not answered: " + facts.local_trouble + ".";
    check.remedy =
        "Another program keeps the port of multicast DNS to itself. Use the addresses, or stop it and "
        "restart "
        "samovard.";
  } else if (!facts.local_claimed_by.empty()) {
    check.state = CheckState::info;
    check.detail = "The machine at " + facts.local_claimed_by + " has the name " + facts.local_name +
                   " for itself, so this one does not answer to it.";
    check.remedy = "Rename that machine, or give the cluster another name on all nodes: mdns_name.";
  }
  out.push_back(std::move(check));
}

void check_listen(const DoctorFacts& facts, Checks& out) {
  Check check{"listen", CheckState::ok, "Port for other nodes", {}, {}};
  if (!facts.listen_trouble.empty()) {
    check.state = CheckState::fail;
    check.detail = "Other nodes cannot connect to this one: " + facts.listen_trouble + ".";
    check.remedy =
        "Free the port, or choose another one in the configuration: mesh_listen = [\"0.0.0.0:7543\"]. Then "
        "restart samovard.";
  } else if (facts.listening.empty()) {
    check.state = CheckState::fail;
    check.detail = "This node listens nowhere.";
    check.remedy = "Set mesh_listen in the configuration to an address of this node.";
  } else {
    check.detail = "Others find this node at " + listed(facts.listening) + ".";
  }
  out.push_back(std::move(check));
}

// Tries at an unclaimed node's door that led to nothing: a person's, or somebody's who tries codes.
void check_door(const DoctorFacts& facts, Checks& out) {
  if (facts.member || facts.unfinished_joins == 0) return;
  out.push_back(
      {"door", facts.unfinished_joins >= 3 ? CheckState::warn : CheckState::info,
       "Unfinished attempts to add this node",
       count_of(facts.unfinished_joins, "attempt", "attempts") + " within ten minutes.",
       "If nobody of yours was adding this node, somebody on this network is trying codes: at five, "
       "the node refuses for ten minutes."});
}

}  // namespace samovar::daemon
