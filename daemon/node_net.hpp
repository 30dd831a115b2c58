// This node among others: its door while it is new, its links and its neighbours once it is a member.
//
//   new      beacons that say so; a door where a member's call is taken (join_guest.hpp)
//   member   beacons for members; the mesh, questions and answers over it, reports; calls new nodes
//   (join_host.hpp)
//
// node_net.cpp: birth, both states, peers of the mesh. node_net_members.cpp: what the API asks of members,
// links, history. node_net_join.cpp: neighbours and adding them. node_net_doctor.cpp: the doctor.
//
// Threading: loop only. Ownership: borrows loop, identity, events, the gate and, between attach and detach,
// the cluster.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/loop.hpp"
#include "base/rng.hpp"
#include "daemon/api/event_hub.hpp"
#include "daemon/api/members.hpp"
#include "daemon/api/node_report.hpp"
#include "daemon/api/services.hpp"
#include "daemon/cluster/cluster.hpp"
#include "daemon/cluster/steward.hpp"
#include "daemon/config.hpp"
#include "daemon/discovery/mdns_responder.hpp"
#include "daemon/discovery/neighbours.hpp"
#include "daemon/doctor.hpp"
#include "daemon/doctor_probe.hpp"
#include "daemon/join_guest.hpp"
#include "daemon/join_host.hpp"
#include "daemon/join_rules.hpp"
#include "daemon/mesh_slot.hpp"
#include "daemon/net/exchange.hpp"
#include "daemon/net/join_line.hpp"
#include "daemon/net/mesh.hpp"
#include "daemon/reports.hpp"
#include "security/certificates.hpp"
#include "security/hash_gate.hpp"
#include "security/identity.hpp"

namespace samovar::daemon {

// What makes this node a member: from member/ in the state directory.
struct MemberPapers {
  security::Certificate own;
  security::Certificate ca;
};

struct NodeNetHooks {
  std::function<api::NodeReport(bool brief)> report;  // this node's own
  std::function<const power::History&()> history;
  // New: may somebody add us now; make a grant durable; go on as a member.
  std::function<bool()> may_be_added;
  std::function<Task<Result<void>>(security::JoinGrant grant)> keep;
  std::function<void()> joined;
  std::function<void()> guest_changed;  // for the console
  // Member: what a new one is given; papers for a box from before there were any; this node is no member any
  // more.
  std::function<Result<security::JoinGrant>()> grant;
  std::function<Result<MemberPapers>(const security::PrivateKey& ca_key)> make_papers;
  std::function<void(std::string why)> removed;
  std::function<void(const std::string& node_id)> node_turned;  // reachable, or not any more
  std::function<void()> changed;  // links, addresses, clones: look at alerts and at what the state says of us
};

// A member's address book before the state has arrived. Written with the grant.
Bytes encode_member_list(const std::vector<net::Peer>& peers);
Result<std::vector<net::Peer>> decode_member_list(ByteView bytes);

class NodeNet final : public api::Members {
 public:
  NodeNet(Loop& loop, const Config& config, const security::NodeIdentity& identity,
          const api::NodeFacts& facts, api::EventHub& events, security::HashGate& gate, NodeNetHooks hooks);
  ~NodeNet() override;

  // Over the mesh as soon as there is one. For the log, the copies and ourselves.
  net::Exchange& exchange() noexcept { return exchange_; }
  void set_web_port(std::uint16_t port);

  // A new node: beacons and the door. What does not open is tried again, and trouble() says why.
  void open_guest();
  void close_guest();
  void set_cluster_id(std::string cluster_id) { cluster_id_ = std::move(cluster_id); }
  // A member. `peers` are whom to trust until the state says it.
  void open_member(MemberPapers papers, std::string cluster_id, std::vector<net::Peer> peers);
  bool is_member() const noexcept { return papers_.has_value(); }
  void attach(cluster::Cluster& cluster);
  void detach();
  // Members, their addresses, or the leader changed.
  void cluster_changed(const cluster::Change& change);
  void close();

  bool linked(const std::string& node_id) const { return mesh_ && mesh_->up(node_id); }
  std::vector<std::string> mesh_addresses() const;  // best first, with port
  std::string trouble() const;                      // why others cannot reach this node; empty when they can
  // No link is up, and those who were reached do not take this node for a member. Said by whoever answers at
  // their addresses, so it is shown and not acted on.
  bool refused() const;
  GuestStatus guest_status() const;
  std::string cloned_at() const { return cloned_at_; }  // where a second machine with our identity was seen
  const Reports& reports() const { return reports_; }
  // Our clock minus the one that most members agree with; nothing before another has said its time.
  std::optional<Duration> clock_ahead() const;

  // api::Members
  Task<void> refresh() override { return reports_.refresh(); }
  const api::NodeReport* report(std::string_view node_id) const override;
  api::Contact contact(std::string_view node_id) const override;
  std::vector<cluster::StorageNode> storage_nodes() const override;
  std::vector<api::LinkReport> links() const override;
  Task<Result<api::LinkReport>> test_link(std::string to) override;
  Task<Result<power::HistoryTable>> history_of(std::string node_id, power::HistoryQuery query) override;
  std::vector<api::PeerEntry> peers() const override;
  std::vector<std::string> blocked() const override;
  Task<Result<api::PeerEntry>> add_peer(std::string address) override;
  Task<Result<api::PendingJoin>> approve(cluster::Call call, std::string node_id,
                                         security::SecretBytes ca_key) override;
  Task<Result<api::Confirmation>> confirm(cluster::Call call, std::string node_id, std::string code) override;
  Task<Result<void>> cancel_join(cluster::Call call, std::string node_id) override;
  Task<Result<void>> block(cluster::Call call, std::string node_id, bool on) override;
  Task<Result<api::Invitation>> invite(cluster::Call call, security::SecretBytes ca_key) override;
  api::GuestView guest() const override;
  Task<Result<void>> expect_words(std::string words, std::string ca_digest) override;
  Task<api::DoctorReport> doctor() override;
  Task<std::vector<api::DoctorCheck>> probe(std::string address) override;

 private:
  // A node whose address somebody typed: heard by a question, not by its beacon.
  struct Typed {
    discovery::Beacon beacon;
    std::string address;
    WallTime first_seen{};
    WallTime last_seen{};
  };
  struct Measured {
    double bytes_per_second = 0;
    WallTime at{};
  };

  // node_net.cpp
  ReportsHooks report_hooks();
  void open_neighbours();
  void open_names();
  void say_names();
  void open_door();
  void open_mesh();
  void try_again_later();
  void announce();
  void listen_to_members();
  void refresh_peers();
  void learn_members(const api::NodeReport& report);
  void say_farewell(const std::set<std::string>& removed);
  void neighbours_changed();
  void look_at_interfaces();
  discovery::Beacon beacon() const;
  std::uint16_t mesh_port() const;
  std::vector<std::string> other_ids() const;
  // node_net_members.cpp
  Task<Result<Bytes>> answer_report(Bytes body);
  api::LinkReport link_of(const net::LinkState& state) const;
  // node_net_join.cpp
  static std::string dial_address(const std::string& host, std::uint16_t port);
  std::unique_ptr<JoinHost> make_host();
  Result<void> may_join(const std::string& node_id) const;
  KnownNode known_node(const std::string& node_id) const;
  Task<Result<cluster::NodeRecord>> admit(cluster::Call call, cluster::NodeRecord record);
  api::PeerEntry entry_of(const discovery::Beacon& beacon) const;
  std::optional<std::string> address_of(const std::string& node_id) const;
  Task<void> record(cluster::Call call, std::string action, std::string node_id, std::string result,
                    std::string details);
  // node_net_doctor.cpp
  DoctorMember doctor_member(const cluster::NodeRecord& row) const;
  DoctorFacts doctor_facts() const;
  unsigned mtu() const;
  Task<ProbeResult> look_at(std::string address);
  void offer_words();
  void peers_changed();

  // Constant after construction.
  Loop& loop_;
  const Config& config_;
  const security::NodeIdentity& identity_;
  const api::NodeFacts& facts_;
  api::EventHub& events_;
  security::HashGate& gate_;
  const NodeNetHooks hooks_;

  // Loop only.
  std::uint16_t web_port_ = 0;
  bool guest_open_ = false;
  bool closed_ = false;
  std::string cluster_id_;
  std::optional<MemberPapers> papers_;
  std::vector<net::Peer> first_peers_;  // known from others before the state names them
  std::set<std::string> known_members_;
  std::map<std::string, Typed> typed_;
  std::map<std::string, Measured> measured_;
  std::string neighbours_trouble_;
  std::string port_trouble_;
  std::string cloned_at_;
  std::vector<std::string> announced_addresses_;
  Loop::Id retry_ = 0;
  Loop::Id look_ = 0;
  cluster::Cluster* cluster_ = nullptr;

  // In the order of birth; they go in reverse.
  MeshSlot slot_;
  net::Exchange exchange_;
  Reports reports_;
  std::unique_ptr<discovery::Neighbours> neighbours_;
  std::unique_ptr<discovery::MdnsResponder> names_;
  std::string names_trouble_;
  std::unique_ptr<JoinGuest> guest_;
  std::unique_ptr<net::JoinDoor> door_;
  std::unique_ptr<net::Mesh> mesh_;
  std::unique_ptr<JoinHost> host_;
  std::unique_ptr<cluster::Steward> steward_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // shared with tasks under way
};

}  // namespace samovar::daemon
