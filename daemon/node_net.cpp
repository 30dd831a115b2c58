#include "daemon/node_net.hpp"

#include <algorithm>

#include "base/json.hpp"
#include "base/log.hpp"
#include "daemon/api/event_text.hpp"
#include "daemon/api/json_body.hpp"
#include "daemon/api/views.hpp"
#include "daemon/cluster/patience.hpp"
#include "daemon/discovery/interfaces.hpp"
#include "daemon/host.hpp"
#include "daemon/local_names.hpp"
#include "daemon/net/link_probe.hpp"

namespace samovar::daemon {
namespace {

constexpr std::chrono::seconds kTryAgain{10};
constexpr std::chrono::seconds kLookEvery{10};
constexpr std::chrono::milliseconds kFarewell{300};
constexpr std::size_t kMembersMax = 1024;
constexpr std::size_t kAddressesMax = 32;

// Where others can reach this computer: bridges of containers have the same addresses on every one.
std::vector<std::string> outside_addresses(const Config& config) {
  const discovery::InterfaceRules rules{config.discovery_interfaces, false};
  std::vector<std::string> out;
  for (const auto& interface : discovery::list_interfaces())
    if (interface.up && !interface.loopback && why_not_used(interface, rules).empty())
      out.insert(out.end(), interface.addresses.begin(), interface.addresses.end());
  return out.empty() ? interface_addresses() : out;
}

}  // namespace

std::string NodeNet::dial_address(const std::string& host, std::uint16_t port) {
  const bool six = host.find(':') != std::string::npos;
  return (six ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

Bytes encode_member_list(const std::vector<net::Peer>& peers) {
  nlohmann::json list = nlohmann::json::array();
  for (const auto& peer : peers) list.push_back({{"id", peer.node_id}, {"addresses", peer.addresses}});
  return to_bytes(std::string_view(nlohmann::json{{"members", list}}.dump()));
}

Result<std::vector<net::Peer>> decode_member_list(ByteView bytes) {
  SAMOVAR_TRY(const nlohmann::json document, api::parse_json(as_text(bytes)));
  const auto wrong = [] { return Error{Errc::corrupt, "the list of members is not as it should be"}; };
  if (!document.is_object() || !document.contains("members") || !document["members"].is_array())
    return wrong();
  std::vector<net::Peer> peers;
  for (const auto& row : document["members"]) {
    if (!row.is_object() || !row.contains("id") || !row["id"].is_string() || peers.size() >= kMembersMax)
      return wrong();
    net::Peer peer;
    peer.node_id = row["id"].get<std::string>();
    if (row.contains("addresses") && row["addresses"].is_array())
      for (const auto& address : row["addresses"])
        if (address.is_string() && peer.addresses.size() < kAddressesMax)
          peer.addresses.push_back(address.get<std::string>().substr(0, 64));
    peers.push_back(std::move(peer));
  }
  return peers;
}

NodeNet::NodeNet(Loop& loop, const Config& config, const security::NodeIdentity& identity,
                 const api::NodeFacts& facts, api::EventHub& events, security::HashGate& gate,
                 NodeNetHooks hooks)
    : loop_(loop),
      config_(config),
      identity_(identity),
      facts_(facts),
      events_(events),
      gate_(gate),
      hooks_(std::move(hooks)),
      slot_(identity.node_id),
      exchange_(loop, slot_),
      reports_(loop, exchange_, report_hooks()) {
  listen_to_members();
}

NodeNet::~NodeNet() {
  *alive_ = false;
  close();
}

ReportsHooks NodeNet::report_hooks() {
  ReportsHooks hooks;
  hooks.others = [this] { return other_ids(); };
  hooks.leads = [this] { return cluster_ != nullptr && cluster_->status().leader; };
  hooks.watched = [this] { return events_.count() > 0; };
  hooks.heard = [this](const std::string& node_id) -> std::optional<bool> {
    if (cluster_ == nullptr || !cluster_->status().leader) return std::nullopt;
    for (const auto& member : cluster_->log_members())
      if (member.node_id == node_id) return member.heard;
    return std::nullopt;
  };
  hooks.linked = [this](const std::string& node_id) { return mesh_ && mesh_->up(node_id); };
  hooks.calm = [this] { return cluster_ != nullptr && cluster_->writable(); };
  hooks.sampled = [this](const std::string& node_id) {
    const api::NodeReport* known = reports_.find(node_id);
    if (known == nullptr) return;
    learn_members(*known);
    if (events_.count() == 0) return;
    const api::View data = {{"node", node_id}, {"sample", api::sample_view(known->sample)}};
    events_.publish_sample("node.sample", node_id, data.dump());
  };
  hooks.turned = hooks_.node_turned;
  return hooks;
}

std::vector<std::string> NodeNet::other_ids() const {
  std::vector<std::string> ids;
  if (cluster_ == nullptr) return ids;
  for (const auto& row : cluster_->nodes())
    if (row.state != cluster::NodeState::removed && row.id != facts_.id) ids.push_back(row.id);
  // After a start the state may be empty until a leader says how far the log holds; the one who leads may be
  // somebody whom only those we knew can name.
  if (!cluster_->writable())
    for (const auto& peer : first_peers_)
      if (peer.node_id != facts_.id && !cluster_->node(peer.node_id)) ids.push_back(peer.node_id);
  return ids;
}

void NodeNet::set_web_port(std::uint16_t port) {
  web_port_ = port;
  announce();
}

void NodeNet::open_guest() {
  guest_open_ = true;
  JoinGuestHooks hooks;
  hooks.facts = [this] {
    security::JoinFacts facts;
    facts.hostname = facts_.hostname;
    facts.model = facts_.model;
    facts.arch = facts_.arch;
    facts.version = SAMOVAR_VERSION;
    facts.memory_bytes = facts_.memory_bytes;
    facts.disk_bytes = hooks_.report(true).disk.total_bytes;
    facts.addresses = mesh_addresses();
    facts.clock_us = loop_.clock().wall().time_since_epoch().count();
    return facts;
  };
  hooks.who = [this] { return encode_beacon(beacon(), identity_).value_or(Bytes{}); };
  hooks.may_begin = hooks_.may_be_added;
  hooks.keep = hooks_.keep;
  hooks.changed = hooks_.guest_changed;
  hooks.joined = hooks_.joined;
  guest_ = std::make_unique<JoinGuest>(loop_, identity_, std::move(hooks));
  open_door();
  open_neighbours();
}

void NodeNet::close_guest() {
  guest_open_ = false;
  if (guest_) guest_->close();
  door_.reset();
  guest_.reset();
}

void NodeNet::open_door() {
  auto door = net::JoinDoor::open(loop_, config_.mesh_listen, [this](std::unique_ptr<net::JoinLine> line) {
    if (guest_) guest_->take(std::move(line));
  });
  port_trouble_ = door ? "" : door.error().message();
  if (door) {
    door_ = std::move(*door);
    announce();
    return;
  }
  SAMOVAR_LOG(warn, main, "this node cannot be added to a cluster yet", kv("error", port_trouble_));
  try_again_later();
}

void NodeNet::open_member(MemberPapers papers, std::string cluster_id, std::vector<net::Peer> peers) {
  close_guest();
  papers_ = std::move(papers);
  cluster_id_ = std::move(cluster_id);
  first_peers_ = std::move(peers);
  if (!host_) host_ = make_host();
  open_mesh();
  if (!neighbours_) open_neighbours();
  announce();
}

void NodeNet::open_mesh() {
  if (mesh_ || !papers_) return;
  net::MeshOptions options;
  options.listen = config_.mesh_listen;
  options.silence_max = cluster::kMeshSilence;
  auto mesh = net::Mesh::open(loop_, std::move(options), identity_, papers_->own, papers_->ca);
  port_trouble_ = mesh ? "" : mesh.error().message();
  if (!mesh) {
    SAMOVAR_LOG(warn, main, "other nodes cannot reach this one yet", kv("error", port_trouble_));
    return try_again_later();
  }
  mesh_ = std::move(*mesh);
  slot_.attach(*mesh_);
  mesh_->on_link([this](const net::LinkState& state) {
    if (cluster_ != nullptr) cluster_->log().link_changed(state.node_id, state.up);
    const api::View data = {{"link", api::link_view(link_of(state))}};
    if (events_.count() > 0) events_.publish_change("link.changed", api::event_text(data));
    hooks_.changed();
  });
  mesh_->on_clone([this](const std::string& node_id, const std::string& address) {
    SAMOVAR_LOG(error, main, "a second machine has the identity of a member: a cloned disk. It was refused",
                kv("node", node_id), kv("address", address));
    cloned_at_ = security::short_node_id(node_id) + " at " + address;
    hooks_.changed();
  });
  refresh_peers();
}

void NodeNet::try_again_later() {
  if (closed_) return;
  loop_.cancel(retry_);
  retry_ = loop_.after(kTryAgain, [this] {
    if (guest_open_ && !door_) open_door();
    if (papers_ && !mesh_) open_mesh();
    if (!neighbours_) open_neighbours();
    announce();
  });
}

void NodeNet::open_neighbours() {
  if (config_.discovery_port == 0 || neighbours_) return;
  discovery::NeighbourOptions options;
  options.interfaces = config_.discovery_interfaces;
  options.seeds = config_.seeds;
  options.port = static_cast<std::uint16_t>(config_.discovery_port);
  options.loopback = config_.discovery_loopback;
  auto opened = discovery::Neighbours::open(loop_, identity_, std::move(options));
  neighbours_trouble_ = opened ? "" : opened.error().message();
  if (!opened) {
    SAMOVAR_LOG(warn, main, "other nodes are not looked for yet", kv("error", neighbours_trouble_));
    return try_again_later();
  }
  neighbours_ = std::move(*opened);
  neighbours_->on_change([this] { neighbours_changed(); });
  open_names();
  announce();
  if (look_ == 0) look_at_interfaces();
}

void NodeNet::open_names() {
  if (names_ || local_names(config_, facts_.id).empty()) return;
  auto opened = discovery::MdnsResponder::open(loop_, {{config_.discovery_interfaces, false}});
  names_trouble_ = opened ? "" : opened.error().message();
  if (opened) {
    names_ = std::move(*opened);
    return;
  }
  // Nothing depends on it but people who type the name: said by the doctor, too, and not tried again.
  SAMOVAR_LOG(warn, main, "the box's name is not answered", kv("error", names_trouble_));
}

// A machine that waits to be added leaves the common name to the cluster it shall become part of.
void NodeNet::say_names() {
  if (!names_) return;
  auto names = local_names(config_, facts_.id);
  bool others = false;
  if (!papers_ && neighbours_)
    for (const auto& row : neighbours_->list()) others = others || row.beacon.member;
  if (others) std::erase_if(names, [](const discovery::MdnsName& one) { return one.shared; });
  names_->answer_for(std::move(names));
}

discovery::Beacon NodeNet::beacon() const {
  discovery::Beacon beacon;
  beacon.node_id = identity_.node_id;
  beacon.sign_public = identity_.sign_public;
  beacon.member = papers_.has_value();
  if (beacon.member) {
    beacon.cluster_tag = discovery::cluster_tag(cluster_id_);
  } else {
    beacon.words = guest_ && guest_->status().words;
    beacon.model = facts_.model;
    beacon.hostname = facts_.hostname;
  }
  beacon.join_port = mesh_port();
  beacon.web_port = web_port_;
  beacon.version = SAMOVAR_VERSION;
  return beacon;
}

void NodeNet::announce() {
  // Before it is a member or has a door there is nothing to find.
  if (!neighbours_ || closed_ || (!guest_open_ && !papers_)) return;
  say_names();
  announced_addresses_ = mesh_addresses();
  neighbours_->announce(beacon());
}

std::uint16_t NodeNet::mesh_port() const {
  std::vector<std::uint16_t> ports;
  if (door_) ports = door_->ports();
  if (mesh_) ports = mesh_->ports();
  if (!ports.empty()) return ports.front();
  const auto first = parse_listen(config_.mesh_listen.front());
  return first ? first->port : net::kMeshPort;
}

std::vector<std::string> NodeNet::mesh_addresses() const {
  std::vector<std::uint16_t> ports;
  if (door_) ports = door_->ports();
  if (mesh_) ports = mesh_->ports();
  std::vector<std::string> out;
  const auto add = [&out](std::string address) {
    if (out.size() < 16 && std::find(out.begin(), out.end(), address) == out.end())
      out.push_back(std::move(address));
  };
  for (std::size_t i = 0; i < config_.mesh_listen.size() && i < ports.size(); ++i) {
    const auto listen = parse_listen(config_.mesh_listen[i]);
    if (!listen) continue;
    if (listen->host != "0.0.0.0" && listen->host != "::") {
      add(dial_address(listen->host, ports[i]));
      continue;
    }
    // Link-local ones need a zone that means nothing elsewhere.
    for (const auto& address : outside_addresses(config_))
      if ((address.find(':') == std::string::npos) == (listen->host == "0.0.0.0") &&
          address.rfind("fe80:", 0) != 0)
        add(dial_address(address, ports[i]));
  }
  return out;
}

// Addresses come and go; the state should have those of now.
void NodeNet::look_at_interfaces() {
  look_ = loop_.after(kLookEvery, [this] { look_at_interfaces(); });
  if (mesh_addresses() == announced_addresses_) return;
  announce();
  hooks_.changed();
}

void NodeNet::attach(cluster::Cluster& cluster) {
  cluster_ = &cluster;
  refresh_peers();
  reports_.start();
  steward_ = std::make_unique<cluster::Steward>(loop_, cluster);
}

void NodeNet::detach() {
  reports_.stop();
  if (steward_) steward_->stop();
  cluster_ = nullptr;
}

void NodeNet::refresh_peers() {
  if (!mesh_) return;
  std::vector<net::Peer> peers;
  std::set<std::string> members;
  std::set<std::string> named;  // by the state, as members or as removed
  if (cluster_ != nullptr) {
    for (const auto& row : cluster_->nodes()) {
      named.insert(row.id);
      if (row.state == cluster::NodeState::removed || row.id == facts_.id) continue;
      peers.push_back({row.id, row.addresses});
      members.insert(row.id);
    }
  }
  // While the log is replayed the state is one of the past: those who were members when this node became one,
  // and whom it does not name yet, must not be cut, or the one who brings the rest may be among them.
  for (const auto& peer : first_peers_) {
    if (named.contains(peer.node_id) || peer.node_id == facts_.id) continue;
    peers.push_back(peer);
    members.insert(peer.node_id);
  }
  known_members_ = std::move(members);
  mesh_->set_peers(std::move(peers));
  neighbours_changed();
}

void NodeNet::cluster_changed(const cluster::Change& change) {
  if (change.kind != cluster::Change::Kind::nodes || cluster_ == nullptr) return;
  if (steward_) steward_->poke();
  std::set<std::string> gone;
  for (const auto& row : cluster_->nodes())
    if (row.state == cluster::NodeState::removed && known_members_.contains(row.id)) gone.insert(row.id);
  if (const auto own = cluster_->node(facts_.id); own && own->state == cluster::NodeState::removed)
    hooks_.removed("an administrator removed it");
  if (gone.empty()) return refresh_peers();
  // Told first, cut a moment later: a node that does not know would go on asking.
  say_farewell(gone);
  loop_.after(kFarewell, [this, alive = alive_] {
    if (*alive) refresh_peers();
  });
}

void NodeNet::say_farewell(const std::set<std::string>& removed) {
  for (const auto& id : removed)
    ignore(exchange_.tell(id, net::Topic::farewell, to_bytes(std::string_view(id))),
           "one that is away is refused when it comes back");
}

void NodeNet::listen_to_members() {
  exchange_.on_ask(net::Topic::node_report,
                   [this](std::string, Bytes body) { return answer_report(std::move(body)); });
  net::serve_link_probe(exchange_);
  exchange_.on_tell(net::Topic::farewell, [this](const std::string& from, Bytes body) {
    if (as_text(body) != facts_.id || !known_members_.contains(from)) return;
    hooks_.removed("an administrator removed it; " + security::short_node_id(from) + " said so");
  });
}

void NodeNet::neighbours_changed() {
  if (!neighbours_) return;
  say_names();
  if (mesh_) {
    const std::uint64_t tag = discovery::cluster_tag(cluster_id_);
    for (const auto& row : neighbours_->list())
      if (row.beacon.member && row.beacon.cluster_tag == tag && known_members_.contains(row.beacon.node_id))
        mesh_->hint(row.beacon.node_id, dial_address(row.address, row.beacon.join_port));
  }
  peers_changed();
}

std::string NodeNet::trouble() const { return port_trouble_.empty() ? neighbours_trouble_ : port_trouble_; }

bool NodeNet::refused() const {
  bool refused = false;
  if (!mesh_) return false;
  for (const auto& link : mesh_->links()) {
    if (link.up) return false;
    refused = refused || link.trouble.find("as a member") != std::string::npos;
  }
  return refused;
}

GuestStatus NodeNet::guest_status() const { return guest_ ? guest_->status() : GuestStatus{}; }

void NodeNet::close() {
  closed_ = true;
  loop_.cancel(retry_);
  loop_.cancel(look_);
  detach();
  close_guest();
  host_.reset();
}

}  // namespace samovar::daemon
