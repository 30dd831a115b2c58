// What the doctor says of members: links, certificates, ids, versions, clocks.
#include <algorithm>
#include <cstdlib>
#include <set>

#include "daemon/doctor_checks.hpp"
#include "security/identity.hpp"

namespace samovar::daemon {
namespace {

constexpr Duration kSkewWarn = std::chrono::seconds(5);
constexpr Duration kSkewFail = std::chrono::seconds(60);
constexpr WallTime kLeast{std::chrono::sys_days{std::chrono::year{2024} / 1 / 1}};

bool says(const std::string& text, std::string_view word) { return text.find(word) != std::string::npos; }

std::string name_of(const DoctorMember& member) {
  return member.name.empty() ? security::short_node_id(member.node_id) : member.name;
}

bool heard(const DoctorFacts& facts, const std::string& node_id) {
  return std::any_of(facts.neighbours.begin(), facts.neighbours.end(),
                     [&](const auto& neighbour) { return neighbour.beacon.node_id == node_id; });
}

std::string seconds_text(Duration span) {
  const auto seconds = std::abs(std::chrono::duration_cast<std::chrono::seconds>(span).count());
  if (seconds < 120) return std::to_string(seconds) + " seconds";
  if (seconds < 7200) return std::to_string(seconds / 60) + " minutes";
  if (seconds < 172'800) return std::to_string(seconds / 3600) + " hours";
  return std::to_string(seconds / 86'400) + " days";
}

Duration magnitude(Duration span) { return span < Duration::zero() ? -span : span; }

std::string port_remedy(const DoctorFacts& facts, const DoctorMember& member) {
  const std::string there = name_of(member);
  // Somebody answered, and it was not samovard: no firewall says "refused".
  if (says(member.trouble, "refused"))
    return there +
           " is on, but samovard does not run there: start it (systemctl start samovard), or see why "
           "it stopped (journalctl -u samovard).";
  if (member.reaches_us && *member.reaches_us)
    return there +
           " reaches this node; only the way from here to there is closed: let TCP to its port in, in " +
           "the firewall of " + there + " or between the two. The cluster works meanwhile.";
  if (heard(facts, member.node_id))
    return there + " is on and its announcements arrive, so a firewall closes its TCP port: open it on " +
           there + ", or on the way there.";
  return "Look whether " + there + " is on and its cable is in; then try \"samovar doctor --address " +
         (member.address.empty() ? "ADDRESS" : member.address) + "\".";
}

Check link_check(const DoctorFacts& facts, const DoctorMember& member) {
  Check check{"link:" + member.node_id, CheckState::ok, "Connection to " + name_of(member), {}, {}};
  if (member.up) {
    check.detail = "Connected" + (member.address.empty() ? "." : " at " + member.address + ".");
    if (member.reaches_us && !*member.reaches_us) {
      check.state = CheckState::warn;
      check.detail += " By its own report it has no way to this node.";
      check.remedy = "Let TCP to this node's port in, in its firewall.";
    }
    return check;
  }
  if (member.trouble.empty()) {
    check.detail = "No connection was needed so far.";
    return check;
  }
  check.state = CheckState::fail;
  check.detail = "Not connected: " + member.trouble + ".";
  if (says(member.trouble, "cloned")) {
    check.remedy = "Reset one of the two machines to its factory state and add it anew.";
  } else if (says(member.trouble, "answers where")) {
    check.remedy =
        "The address went to another machine: it is found again by itself once both are announced.";
  } else if (says(member.trouble, "certificate") || says(member.trouble, "member")) {
    check.remedy = "Look at \"Nodes\" on the dashboard of " + name_of(member) +
                   " whether this node is a member there. One that was removed is reset to its factory state "
                   "and added anew.";
  } else if (says(member.trouble, "TLS 1.3")) {
    check.remedy = "Another program has the port there: stop it, or choose another mesh_listen.";
  } else {
    check.remedy = port_remedy(facts, member);
  }
  return check;
}

}  // namespace

void check_links(const DoctorFacts& facts, Checks& out) {
  for (const DoctorMember& member : facts.members) out.push_back(link_check(facts, member));
}

void check_certificate(const DoctorFacts& facts, Checks& out) {
  if (!facts.member) return;
  Check check{"certificate", CheckState::ok, "This node's certificate", "It is of this cluster.", {}};
  if (!facts.certificate_trouble.empty()) {
    check.state = CheckState::fail;
    check.detail = facts.certificate_trouble + ".";
    check.remedy =
        "Restore the state directory from a backup, or reset this node to its factory state and add "
        "it anew; the data is on the other nodes.";
  }
  out.push_back(std::move(check));
}

void check_duplicates(const DoctorFacts& facts, Checks& out) {
  Check check{"duplicate_id", CheckState::ok, "One machine per id", "No id was seen twice.", {}};
  std::vector<std::string> twice;
  for (const auto& neighbour : facts.neighbours) {
    if (!neighbour.duplicate_id) continue;
    const bool own = neighbour.beacon.node_id == facts.node_id;
    twice.push_back(security::short_node_id(neighbour.beacon.node_id) + " at " + neighbour.address + " and " +
                    (own                                   ? "here"
                     : neighbour.duplicate_address.empty() ? "elsewhere"
                                                           : neighbour.duplicate_address));
  }
  if (twice.empty() && !facts.cloned_at.empty())
    twice.push_back(security::short_node_id(facts.node_id) + " at " + facts.cloned_at + " and here");
  if (!twice.empty()) {
    check.state = CheckState::fail;
    check.detail = "Two machines have the same identity: " + listed(twice) + ".";
    check.remedy =
        "One has a copy of the other's disk or SD card. Reset the copy to its factory state "
        "(samovard --factory-reset): it gets an identity of its own.";
  }
  out.push_back(std::move(check));
}

void check_clusters(const DoctorFacts& facts, Checks& out) {
  std::set<std::uint64_t> others;
  std::vector<std::string> where;
  for (const auto& neighbour : facts.neighbours) {
    if (!neighbour.beacon.member || (facts.member && neighbour.beacon.cluster_tag == facts.cluster_tag))
      continue;
    others.insert(neighbour.beacon.cluster_tag);
    if (where.size() < 8) where.push_back(neighbour.address);
  }
  if (others.empty()) return;
  Check check{"wrong_cluster", CheckState::info, "Other clusters on this network", {}, {}};
  check.detail = "Nodes of " + count_of(others.size(), "cluster", "clusters") +
                 (facts.member ? " other than this one: " : ": ") + listed(where) + ".";
  if (facts.member)
    check.remedy =
        "If one of them belongs here, reset it to its factory state (samovard --factory-reset) and add "
        "it: a member never changes its cluster by itself.";
  else if (others.size() > 1)
    check.remedy = "Add this node from the dashboard of the right one.";
  out.push_back(std::move(check));
}

void check_versions(const DoctorFacts& facts, Checks& out) {
  Check check{"version", CheckState::ok, "Versions", "All run " + facts.version + ".", {}};
  std::set<std::string> near;
  std::set<std::string> far;
  const auto look = [&](const std::string& who, const std::string& version) {
    if (version.empty() || version == facts.version) return;
    (versions_work_together(version, facts.version) ? near : far).insert(who + " " + version);
  };
  for (const DoctorMember& member : facts.members) look(name_of(member), member.version);
  for (const auto& neighbour : facts.neighbours)
    if (!neighbour.beacon.member) look(neighbour.address, neighbour.beacon.version);
  std::uint64_t later = 0;
  for (const auto& report : facts.interfaces) later += report.later;
  if (!near.empty()) {
    check.state = CheckState::info;
    check.detail =
        "This node runs " + facts.version + ", others: " + listed({near.begin(), near.end()}) + ".";
    check.remedy = "They work together; bring all to the same version soon.";
  }
  if (!far.empty() || later > 0) {
    check.state = CheckState::fail;
    check.detail =
        "This node runs " + facts.version + ", which does not work together with " +
        (far.empty() ? "a later version that announces itself here" : listed({far.begin(), far.end()})) + ".";
    check.remedy = "Bring all nodes to the same version of Samovar, one after the other.";
  }
  out.push_back(std::move(check));
}

void check_clocks(const DoctorFacts& facts, Checks& out) {
  Check check{"clock", CheckState::ok, "Clocks", "They agree.", {}};
  std::vector<std::string> off;
  Duration worst{};
  const auto look = [&](const std::string& who, const std::optional<Duration>& ahead) {
    if (!ahead || magnitude(*ahead) <= kSkewWarn) return;
    worst = std::max(worst, magnitude(*ahead));
    off.push_back(who + " is " + seconds_text(*ahead) + (*ahead > Duration::zero() ? " ahead" : " behind"));
  };
  look("this node's clock", facts.ahead_of_cluster);
  for (const DoctorMember& member : facts.members) look("that of " + name_of(member), member.clock_ahead);
  if (facts.now < kLeast) {
    check.state = CheckState::warn;
    check.detail = "This node's clock was never set: it stands in the past, as on boards without a battery.";
    check.remedy =
        "It can join all the same. Set it (timedatectl set-time), or name a time server of your network "
        "in /etc/systemd/timesyncd.conf.";
  }
  if (!off.empty()) {
    check.state = worst > kSkewFail ? CheckState::fail : CheckState::warn;
    check.detail = listed(off) + ".";
    check.detail[0] = static_cast<char>(check.detail[0] == 't' ? 'T' : check.detail[0]);
    check.remedy =
        "Use one time server of your network on all nodes (timedatectl, timesyncd.conf). Over a minute, "
        "nobody gets new access keys.";
    if (facts.leads && facts.ahead_of_cluster && magnitude(*facts.ahead_of_cluster) > kSkewFail)
      check.detail += " This node leads; the cluster goes by the clocks of the others meanwhile.";
  }
  out.push_back(std::move(check));
}

void check_mtu(const DoctorFacts& facts, Checks& out) {
  std::set<unsigned> ours;
  for (const auto& report : facts.interfaces)
    if (report.used && report.mtu > 0) ours.insert(report.mtu);
  if (ours.empty() || facts.members.empty()) return;
  Check check{"mtu", CheckState::ok, "Packet size", "All use the same.", {}};
  std::vector<std::string> others;
  for (const DoctorMember& member : facts.members)
    if (member.mtu && !ours.contains(*member.mtu))
      others.push_back(name_of(member) + " uses " + std::to_string(*member.mtu));
  if (!others.empty()) {
    check.state = CheckState::warn;
    check.detail = "This node's network card sends packets of up to " + std::to_string(*ours.rbegin()) +
                   " bytes; " + listed(others) + ". Long transfers may hang although short ones work.";
    check.remedy = "Set the same MTU on all nodes and on the switch between them; 1500 always works.";
  }
  out.push_back(std::move(check));
}

void check_quorum(const DoctorFacts& facts, Checks& out) {
  if (!facts.member || facts.members.empty()) return;
  const std::size_t all = facts.members.size() + 1;
  const std::size_t here =
      1 + static_cast<std::size_t>(
              std::count_if(facts.members.begin(), facts.members.end(), [](const auto& m) { return m.up; }));
  Check check{"quorum", CheckState::ok, "Agreement", {}, {}};
  check.detail =
      "This side of the network has " + std::to_string(here) + " of " + count_of(all, "node", "nodes") + ".";
  if (!facts.writable) {
    check.state = CheckState::fail;
    check.detail += " Nothing can be changed until more than half of them see each other; reading works.";
    check.remedy = "Bring the missing nodes back first: their lines above say what is in the way.";
  } else if (here < all) {
    check.state = CheckState::info;
  }
  out.push_back(std::move(check));
}

}  // namespace samovar::daemon
