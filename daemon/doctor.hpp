// The doctor: why a node is not found, or cannot join, and what to do about it, in words for whoever runs the
// machine room. Pure: facts in, checks out.
//
//   interfaces    is there a network card to use?            duplicate_id   is a disk cloned?
//   multicast     do announcements leave and arrive?         wrong_cluster  whose nodes are those?
//   neighbours    was anybody heard?                         version        do all run the same?
//   seeds         do the addresses in the configuration answer?
//   name          does samovar.local lead here?
//   listen        can others reach this node's port?         clock          do all agree on the time?
//   link:<id>     which way between two members is closed?   mtu            do long packets fit?
//   certificate   does this node's certificate hold?         quorum         can the cluster be changed?
//
// Threading: values; any thread.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "daemon/discovery/neighbours.hpp"

namespace samovar::daemon {

enum class CheckState : std::uint8_t { ok, info, warn, fail };
std::string_view to_string(CheckState state) noexcept;

struct Check {
  std::string id;
  CheckState state = CheckState::ok;
  std::string title;
  std::string detail;
  std::string remedy;  // empty when there is nothing to do
};

// Another member, as this node sees it.
struct DoctorMember {
  std::string node_id;
  std::string name;
  bool up = false;
  std::string address;
  std::string trouble;             // LinkState's sentence, when it is down
  std::optional<bool> reaches_us;  // by its own report, when one is there
  std::string version;             // empty: not known
  std::optional<Duration> clock_ahead;
  std::optional<unsigned> mtu;  // of its network card, by its own report
};

struct DoctorFacts {
  bool member = false;  // or waits to be added
  std::string node_id;
  std::string version;
  std::uint64_t cluster_tag = 0;  // of a member

  std::string discovery_trouble;  // why the group's port did not open
  std::uint16_t discovery_port = discovery::kPort;
  std::vector<discovery::InterfaceReport> interfaces;
  std::vector<discovery::Neighbour> neighbours;
  std::vector<std::string> seeds;
  std::string local_name;        // "samovar.local"; empty: none is answered
  std::string local_trouble;     // why nobody gets an answer
  std::string local_claimed_by;  // the address of another machine that has this name

  std::string listen_trouble;          // why nobody can connect
  std::vector<std::string> listening;  // "10.0.0.7:7443": where others find this node
  std::string certificate_trouble;     // of this node's own papers
  std::string cloned_at;               // a machine with this node's identity was seen there

  std::vector<DoctorMember> members;  // the others
  bool writable = true;
  WallTime now{};                            // this node's wall clock
  std::optional<Duration> ahead_of_cluster;  // of it, against cluster time
  bool leads = false;                        // the log, so that cluster time comes from here

  unsigned unfinished_joins = 0;  // at an unclaimed node's door within ten minutes
};

// In the order of the table above; each at least once unless it does not apply.
std::vector<Check> examine(const DoctorFacts& facts);

// "1.4.2" and "1.4.9" work together, so do neighbours in the middle number; others do not.
bool versions_work_together(std::string_view a, std::string_view b);

}  // namespace samovar::daemon
