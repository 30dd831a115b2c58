// The other nodes, and those that would be one: what handlers ask of the node about its cluster. The node
// implements it (daemon/node_members.cpp); before set-up, only what a new node can say of itself works.
//
// Threading: loop only; tasks resume on the loop.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/disk.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "daemon/cluster/placement.hpp"
#include "daemon/cluster/types.hpp"
#include "daemon/discovery/neighbours.hpp"
#include "daemon/power/history.hpp"
#include "security/secret_bytes.hpp"

namespace samovar::api {

struct NodeReport;  // node_report.hpp

// One direction as one end of it sees it.
struct LinkReport {
  std::string from;
  std::string to;
  bool up = false;
  std::string address;  // of the other end
  std::optional<double> rtt_ms;
  double send_bytes_per_second = 0;
  double receive_bytes_per_second = 0;
  std::optional<double> measured_bytes_per_second;  // by the last test
  std::optional<WallTime> measured_at;
  std::string trouble;  // a sentence
};

struct Contact {
  bool reachable = false;
  std::optional<WallTime> heard_at;
  std::optional<double> rtt_ms;
};

// A handshake that waits for the code from the new node's screen.
struct PendingJoin {
  std::string id;
  std::string node_id;
  std::string hostname;
  std::string model;
  std::string arch;
  std::uint64_t memory_bytes = 0;
  std::uint64_t disk_bytes = 0;
  double clock_skew_s = 0;
  std::string cluster_name;
  WallTime expires_at{};
  unsigned tries_left = 0;
};

struct PeerEntry {
  std::string id;
  std::string hostname;
  std::string model;
  std::string version;
  std::string address;  // with the port to dial
  std::string interface;
  bool multicast = false;
  // waiting, joining, code_needed, blocked, other_cluster, duplicate_id, member_elsewhere
  std::string state = "waiting";
  std::string detail;  // a sentence that says what to do
  WallTime first_seen{};
  WallTime last_seen{};
  std::optional<PendingJoin> join;
};

struct Confirmation {
  std::optional<cluster::NodeRecord> node;  // admitted
  unsigned tries_left = 0;                  // when it was the wrong code
};

struct Invitation {
  std::string words;
  std::string ca_digest;
  WallTime expires_at{};
};

// What a new node shows of its way into a cluster.
struct GuestView {
  std::string state = "waiting";  // waiting, code, done
  std::string code;               // for the console, and for those who sit at it
  std::string cluster_name;
};

struct DoctorCheck {
  std::string id;
  std::string state;  // ok, warn, fail, info
  std::string title;
  std::string detail;
  std::string remedy;
};

struct DoctorReport {
  std::vector<DoctorCheck> checks;
  std::vector<discovery::InterfaceReport> interfaces;
  std::vector<LinkReport> links;
  std::vector<PeerEntry> neighbours;
};

class Members {
 public:
  virtual ~Members() = default;

  // ---- the members (phase ready) ----
  // Asks those whose last report is older than a few seconds; done when all answered, or after a second.
  virtual Task<void> refresh() = 0;
  // The last one heard; this node's own, too. Null: none since the start.
  virtual const NodeReport* report(std::string_view node_id) const = 0;
  virtual Contact contact(std::string_view node_id) const = 0;
  virtual std::vector<cluster::StorageNode> storage_nodes() const = 0;
  virtual std::vector<LinkReport> links() const = 0;
  // Errc::unavailable: no way to it.
  virtual Task<Result<LinkReport>> test_link(std::string to) = 0;
  virtual Task<Result<power::HistoryTable>> history_of(std::string node_id, power::HistoryQuery query) = 0;

  // ---- who would be one (phase ready) ----
  virtual std::vector<PeerEntry> peers() const = 0;
  virtual std::vector<std::string> blocked() const = 0;
  // Asks who is there. Errc::unavailable names the step that failed and the remedy.
  virtual Task<Result<PeerEntry>> add_peer(std::string address) = 0;
  // Errc::not_found: nobody with that id was heard; Errc::busy, Errc::denied: a limit or a bar.
  virtual Task<Result<PendingJoin>> approve(cluster::Call call, std::string node_id,
                                            security::SecretBytes ca_key) = 0;
  // Errc::conflict: there is no handshake any more, with the reason.
  virtual Task<Result<Confirmation>> confirm(cluster::Call call, std::string node_id, std::string code) = 0;
  virtual Task<Result<void>> cancel_join(cluster::Call call, std::string node_id) = 0;
  virtual Task<Result<void>> block(cluster::Call call, std::string node_id, bool on) = 0;
  virtual Task<Result<Invitation>> invite(cluster::Call call, security::SecretBytes ca_key) = 0;

  // ---- on a new node ----
  virtual GuestView guest() const = 0;
  // The five words an administrator got: a member that finds this node proves that it knows them.
  // `ca_digest` came with them, or is empty. Errc::invalid says which word is none.
  virtual Task<Result<void>> expect_words(std::string words, std::string ca_digest) = 0;

  // ---- in both ----
  virtual Task<DoctorReport> doctor() = 0;
  virtual Task<std::vector<DoctorCheck>> probe(std::string address) = 0;
};

}  // namespace samovar::api
