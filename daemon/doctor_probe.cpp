#include "daemon/doctor_probe.hpp"

#include "daemon/doctor_checks.hpp"
#include "security/identity.hpp"
#include "security/join_wire.hpp"

namespace samovar::daemon {
namespace {

std::string host_of(const std::string& address) { return address.substr(0, address.rfind(':')); }

const discovery::Neighbour* heard_at(const DoctorFacts& facts, const std::string& address) {
  for (const auto& neighbour : facts.neighbours)
    if (neighbour.address == host_of(address)) return &neighbour;
  return nullptr;
}

Check connect_check(const ProbeResult& result, const DoctorFacts& facts) {
  Check check{"reach", CheckState::ok, "Way to " + result.address, "It takes connections.", {}};
  if (result.failed != ProbeResult::Step::connect) return check;
  check.state = CheckState::fail;
  check.detail = result.error ? result.error->message() + "." : "No connection.";
  const bool known = heard_at(facts, result.address) != nullptr;
  switch (result.error ? result.error->code() : Errc::io) {
    case Errc::invalid:
    case Errc::not_found:
      check.remedy = "Type the address as it stands on the node's screen, like 10.0.0.9.";
      break;
    case Errc::unavailable:
      check.remedy =
          check.detail.find("refused") != std::string::npos
              ? "The machine is on, but samovard does not run there or has another port: look at its "
                "screen, or run \"systemctl status samovard\" on it."
              : "It takes the call and ends it at once: it talks to another node just now, or shows a "
                "code on its screen. Try again in a moment.";
      break;
    case Errc::timeout:
      check.remedy =
          known ? "Its announcements arrive, so it is on: a firewall there or in between closes the TCP "
                  "port. Open it."
                : "Look whether the address is right and the machine is on; then open its TCP port in "
                  "the firewall there and in between.";
      break;
    case Errc::io:
      check.remedy =
          "Look whether the address is right, the machine is on, and both are in the same network or have "
          "a router between them.";
      break;
    case Errc::denied:
      check.state = CheckState::info;
      check.remedy =
          "A member of a cluster answers like this to strangers. To add it here, reset it to its factory "
          "state first.";
      break;
    default:
      check.remedy = "Another program has this port: look at the node's screen for the right one.";
      break;
  }
  return check;
}

Check answer_check(const ProbeResult& result, const DoctorFacts& facts) {
  Check check{"who", CheckState::fail, "Who is there", {}, {}};
  const auto* neighbour = heard_at(facts, result.address);
  const bool member = neighbour != nullptr && neighbour->beacon.member;
  if (result.failed == ProbeResult::Step::beacon) {
    check.detail = "What answers there is no node of a version this one knows: " +
                   (result.error ? result.error->message() : std::string("no answer")) + ".";
    check.remedy =
        "Bring both to the same version of Samovar; if it is another program, look for the right port.";
  } else if (member && facts.member && neighbour->beacon.cluster_tag == facts.cluster_tag) {
    check.state = CheckState::ok;
    check.detail = "A member of this cluster. Members do not answer strangers' questions.";
  } else if (member) {
    check.detail = "A member of another cluster. Members do not answer strangers.";
    check.remedy = "To use it here, reset it to its factory state (samovard --factory-reset), then add it.";
  } else {
    check.detail =
        "It takes connections, but does not say who it is: a member of a cluster, or another program. "
        "Members do not answer strangers.";
    check.remedy =
        "If it should be a new node: look at its screen. One that belongs to a cluster is reset to its "
        "factory state first (samovard --factory-reset).";
  }
  return check;
}

Check who_check(const discovery::Beacon& beacon, const DoctorFacts& facts) {
  Check check{"who", CheckState::ok, "Who is there", {}, {}};
  const std::string name = beacon.hostname.empty() ? "A node" : beacon.hostname;
  check.detail = name + " with the id " + security::short_node_id(beacon.node_id) +
                 (beacon.model.empty() ? "" : ", " + beacon.model) + ", version " + beacon.version +
                 (beacon.member ? ", a member of a cluster." : ", which waits to be added.");
  if (beacon.node_id == facts.node_id) {
    check.state = CheckState::info;
    check.detail = "This node itself.";
  } else if (!beacon.member && facts.member) {
    check.remedy = "Approve it at \"Add node\" and type the code from its screen.";
  }
  return check;
}

}  // namespace

Task<ProbeResult> probe_address(DialJoin dial, std::string address, Duration deadline) {
  ProbeResult result;
  result.address = address;
  auto line = co_await dial(std::move(address), deadline);
  if (!line) {
    result.error.emplace(std::move(line).error());
    co_return result;
  }
  result.failed = ProbeResult::Step::answer;
  const auto sent = (*line)->send(security::encode_who());
  auto answer = co_await (*line)->receive(deadline);
  (*line)->close();
  if (!sent || !answer) {
    result.error.emplace(answer ? sent.error() : answer.error());
    co_return result;
  }
  result.failed = ProbeResult::Step::beacon;
  const auto here = security::decode_here(*answer);
  auto beacon = here ? discovery::decode_beacon(*here) : Result<discovery::Beacon>(here.error());
  if (!beacon) {
    result.error.emplace(std::move(beacon).error());
    co_return result;
  }
  result.failed = ProbeResult::Step::done;
  result.datagram = to_bytes(*here);
  result.beacon.emplace(*std::move(beacon));
  co_return result;
}

std::vector<Check> examine_probe(const ProbeResult& result, const DoctorFacts& facts) {
  std::vector<Check> out{connect_check(result, facts)};
  if (result.failed == ProbeResult::Step::connect) return out;
  if (!result.beacon) {
    out.push_back(answer_check(result, facts));
    return out;
  }
  out.push_back(who_check(*result.beacon, facts));
  if (!versions_work_together(result.beacon->version, facts.version))
    out.push_back({"version", CheckState::fail, "Versions",
                   "It runs " + result.beacon->version + ", this node " + facts.version + ".",
                   "Bring both to the same version of Samovar before adding it."});
  return out;
}

}  // namespace samovar::daemon
