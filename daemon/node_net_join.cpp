// Neighbours, and how they become members.
#include <fmt/format.h>

#include <algorithm>

#include "base/json.hpp"
#include "base/log.hpp"
#include "daemon/api/ca_wraps.hpp"
#include "daemon/node_net.hpp"
#include "security/join_words.hpp"

namespace samovar::daemon {
namespace {

constexpr std::string_view kPeersSetting = "peers";
constexpr std::size_t kBlockedMax = 256;
constexpr std::size_t kTypedMax = 64;
constexpr std::chrono::minutes kWordsFor{10};

api::PendingJoin pending_view(const PendingJoin& join) {
  api::PendingJoin view;
  view.id = join.id;
  view.node_id = join.node_id;
  view.hostname = join.facts.hostname;
  view.model = join.facts.model;
  view.arch = join.facts.arch;
  view.memory_bytes = join.facts.memory_bytes;
  view.disk_bytes = join.facts.disk_bytes;
  view.clock_skew_s = static_cast<double>(join.clock_skew_us) / 1e6;
  view.cluster_name = join.cluster_name;
  view.expires_at = join.expires_at;
  view.tries_left = join.tries_left;
  return view;
}

bool contains(const std::vector<std::string>& list, const std::string& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

}  // namespace

std::unique_ptr<JoinHost> NodeNet::make_host() {
  JoinHostHooks hooks;
  hooks.cluster = [this] {
    const auto info = cluster_ != nullptr ? cluster_->info() : std::nullopt;
    security::JoinCluster cluster;
    cluster.cluster_id = cluster_id_;
    cluster.cluster_name = info ? info->name : "";
    cluster.member_id = facts_.id;
    cluster.ca = papers_->ca;
    cluster.version = SAMOVAR_VERSION;
    return cluster;
  };
  hooks.dial = [this](std::string address, Duration deadline) {
    return net::dial_join(loop_, std::move(address), deadline);
  };
  hooks.may_join = [this](const security::JoinCandidate& candidate) -> Result<void> {
    SAMOVAR_CHECK(may_join(candidate.node_id));
    auto admission = may_be_admitted(known_node(candidate.node_id),
                                     Bytes(candidate.sign_public.begin(), candidate.sign_public.end()),
                                     Bytes(candidate.box_public.begin(), candidate.box_public.end()));
    if (!admission) return std::move(admission).error();
    return {};
  };
  hooks.grant = [this](const security::JoinCandidate&) -> Result<security::JoinGrant> {
    SAMOVAR_TRY(security::JoinGrant grant, hooks_.grant());
    std::vector<net::Peer> members;
    members.push_back({facts_.id, mesh_addresses()});
    for (const auto& row : cluster_->nodes())
      if (row.state != cluster::NodeState::removed && row.id != facts_.id)
        members.push_back({row.id, row.addresses});
    grant.members = encode_member_list(members);
    return grant;
  };
  hooks.admit = [this](cluster::Call call, cluster::NodeRecord record) {
    return admit(std::move(call), std::move(record));
  };
  hooks.seen = [this](const std::string& node_id) { return mesh_ && mesh_->up(node_id); };
  hooks.changed = [this] { peers_changed(); };
  return std::make_unique<JoinHost>(loop_, std::move(hooks));
}

// Known before a person is sent to read a code.
Result<void> NodeNet::may_join(const std::string& node_id) const {
  if (cluster_ == nullptr) return Error{Errc::unavailable, "this node is not ready"};
  if (contains(blocked(), node_id)) return Error{Errc::denied, "this node is blocked: unblock it first"};
  if (!cluster_->writable())
    return Error{Errc::unavailable, "too few nodes of the cluster answer to add another one"};
  auto admission = may_be_admitted(known_node(node_id), {}, {});
  if (!admission) return std::move(admission).error();
  return {};
}

KnownNode NodeNet::known_node(const std::string& node_id) const {
  KnownNode known;
  known.row = cluster_->node(node_id);
  known.up = mesh_ && mesh_->up(node_id);
  for (const auto& member : cluster_->log_members())
    known.voter = known.voter || (member.node_id == node_id && member.voice == raft::Voice::voter);
  return known;
}

Task<Result<cluster::NodeRecord>> NodeNet::admit(cluster::Call call, cluster::NodeRecord record) {
  SAMOVAR_CO_TRY(const Admission admission,
                 may_be_admitted(known_node(record.id), record.sign_public, record.box_public));
  if (admission == Admission::again) co_return *cluster_->node(record.id);
  // People tell nodes apart by name, and boards often come with the same one.
  for (const auto& row : cluster_->nodes())
    if (row.name == record.name && row.state != cluster::NodeState::removed) {
      record.name += "-" + record.id.substr(0, 4);
      break;
    }
  co_return co_await cluster_->admit_node(std::move(call), std::move(record));
}

void NodeNet::peers_changed() {
  if (events_.count() > 0 && cluster_ != nullptr) events_.publish_change("peer.changed", "{}", std::string());
  offer_words();
}

api::PeerEntry NodeNet::entry_of(const discovery::Beacon& beacon) const {
  api::PeerEntry entry;
  entry.id = beacon.node_id;
  entry.hostname = beacon.hostname;
  entry.model = beacon.model;
  entry.version = beacon.version;
  const auto row = cluster_ != nullptr ? cluster_->node(beacon.node_id) : std::nullopt;
  const bool ours = beacon.member && beacon.cluster_tag == discovery::cluster_tag(cluster_id_);
  if (beacon.member && !ours) {
    entry.state = "other_cluster";
    entry.detail =
        "It belongs to another cluster. To use it here, make it new at its console: samovard "
        "--factory-reset.";
  } else if (row && row->state == cluster::NodeState::removed) {
    entry.state = "member_elsewhere";
    entry.detail =
        ours ? "It was removed from this cluster. To use it again, make it new at its console: samovard "
               "--factory-reset."
             : "A node with this id was removed from this cluster. Make it new at its console: samovard "
               "--factory-reset.";
  } else if (ours && !row) {
    entry.state = "member_elsewhere";
    entry.detail = "It says that it is a member of this cluster, but the cluster does not know it.";
  } else {
    entry.detail = "New: compare the id with the one on its screen, then approve it.";
  }
  if (contains(blocked(), beacon.node_id)) {
    entry.state = "blocked";
    entry.detail = "Blocked by an administrator.";
  }
  const auto join = host_ ? host_->find(beacon.node_id) : std::nullopt;
  if (join) {
    entry.state = join->state == PendingState::code_needed ? "code_needed" : "joining";
    entry.detail = join->state == PendingState::code_needed ? "Type the six digits from its screen."
                                                            : "It is being added: a moment.";
    entry.join = pending_view(*join);
    if (entry.hostname.empty()) entry.hostname = join->facts.hostname;
  }
  return entry;
}

std::vector<api::PeerEntry> NodeNet::peers() const {
  std::vector<api::PeerEntry> out;
  const auto is_member = [this](const discovery::Beacon& beacon) {
    return beacon.node_id == facts_.id || (known_members_.contains(beacon.node_id) && beacon.member);
  };
  const WallTime wall = loop_.clock().wall();
  const MonoTime mono = loop_.clock().mono();
  const auto at = [&](MonoTime time) {
    return wall - std::chrono::duration_cast<std::chrono::microseconds>(mono - time);
  };
  if (neighbours_) {
    for (const auto& row : neighbours_->list()) {
      if (is_member(row.beacon) && !row.duplicate_id) continue;
      api::PeerEntry entry = entry_of(row.beacon);
      entry.address = dial_address(row.address, row.beacon.join_port);
      entry.interface = row.interface;
      entry.multicast = row.multicast;
      entry.first_seen = at(row.first_seen);
      entry.last_seen = at(row.last_seen);
      if (row.duplicate_id && !entry.join) {
        entry.state = "duplicate_id";
        entry.detail =
            "Two machines say that they are this node: one has a copy of the other's disk. Make one of them "
            "new at its "
            "console: samovard --factory-reset.";
      }
      out.push_back(std::move(entry));
    }
  }
  for (const auto& [id, typed] : typed_) {
    const bool heard =
        std::any_of(out.begin(), out.end(), [&known = id](const auto& e) { return e.id == known; });
    if (heard || known_members_.contains(id)) continue;
    api::PeerEntry entry = entry_of(typed.beacon);
    entry.address = typed.address;
    entry.first_seen = typed.first_seen;
    entry.last_seen = typed.last_seen;
    out.push_back(std::move(entry));
  }
  return out;
}

std::optional<std::string> NodeNet::address_of(const std::string& node_id) const {
  for (const auto& entry : peers())
    if (entry.id == node_id) return entry.address;
  return std::nullopt;
}

std::vector<std::string> NodeNet::blocked() const {
  std::vector<std::string> out;
  if (cluster_ == nullptr) return out;
  const auto document = nlohmann::json::parse(cluster_->setting(kPeersSetting).json, nullptr, false);
  if (!document.is_object() || !document.contains("blocked") || !document["blocked"].is_array()) return out;
  for (const auto& id : document["blocked"])
    if (id.is_string()) out.push_back(id.get<std::string>());
  return out;
}

Task<Result<void>> NodeNet::block(cluster::Call call, std::string node_id, bool on) {
  const auto known = security::parse_node_id(node_id);
  if (!known) co_return Error{Errc::not_found, "that is not the id of a node"};
  const auto setting = cluster_->setting(kPeersSetting);
  auto list = blocked();
  std::erase(list, *known);
  if (on) list.push_back(*known);
  if (list.size() > kBlockedMax)
    co_return Error{Errc::busy, "too many nodes are blocked: unblock some first"};
  if (on && host_) host_->cancel(*known);
  const nlohmann::json document = {{"blocked", list}};
  auto put = co_await cluster_->put_setting(std::move(call), std::string(kPeersSetting), document.dump(),
                                            setting.revision);
  if (!put) co_return std::move(put).error();
  peers_changed();
  co_return Result<void>{};
}

Task<Result<api::PeerEntry>> NodeNet::add_peer(std::string address) {
  SAMOVAR_CO_TRY(const ListenAddress parsed, parse_seed(address, net::kMeshPort));
  const std::string dialled = dial_address(parsed.host, parsed.port);
  const ProbeResult looked = co_await look_at(dialled);
  if (!looked.beacon) {
    for (const auto& check : examine_probe(looked, doctor_facts()))
      if (check.state == CheckState::fail)
        co_return Error{Errc::unavailable, check.detail + (check.remedy.empty() ? "" : " " + check.remedy)};
    co_return Error{Errc::unavailable, "nobody answers at " + dialled};
  }
  const auto& found = looked.beacon;
  if (found->node_id == facts_.id) co_return Error{Errc::invalid, "that is the address of this node itself"};
  if (typed_.size() >= kTypedMax) typed_.erase(typed_.begin());
  const WallTime now = loop_.clock().wall();
  Typed& typed = typed_[found->node_id];
  if (typed.first_seen == WallTime{}) typed.first_seen = now;
  typed.last_seen = now;
  typed.address = dialled;
  typed.beacon = *found;
  api::PeerEntry entry = entry_of(*found);
  entry.address = dialled;
  entry.first_seen = typed.first_seen;
  entry.last_seen = now;
  peers_changed();
  co_return entry;
}

Task<void> NodeNet::record(cluster::Call call, std::string action, std::string node_id, std::string result,
                           std::string details) {
  auto done = co_await cluster_->record(std::move(call), std::move(action), std::move(node_id),
                                        std::move(result), std::move(details));
  if (!done) SAMOVAR_LOG(warn, main, "an act was not recorded", kv("error", done.error().message()));
}

Task<Result<api::PendingJoin>> NodeNet::approve(cluster::Call call, std::string node_id,
                                                security::SecretBytes ca_key) {
  const auto address = address_of(node_id);
  if (!address)
    co_return Error{Errc::not_found,
                    "no node with that id was heard in the last minutes: add it by its address"};
  SAMOVAR_CO_CHECK(may_join(node_id));
  SAMOVAR_CO_TRY(auto key, security::PrivateKey::from_der(ca_key.view()));
  if (!papers_) {  // set up before nodes had certificates
    SAMOVAR_CO_TRY(MemberPapers papers, hooks_.make_papers(key));
    open_member(std::move(papers), cluster_id_, {});
  }
  const nlohmann::json details = {{"address", *address}};
  co_await record(call, "node.approve", node_id, "ok", details.dump());
  JoinApproval approval{std::move(node_id), *address, std::move(call), std::move(key)};
  auto pending = co_await host_->approve(std::move(approval));
  if (!pending) co_return std::move(pending).error();
  co_return pending_view(*pending);
}

Task<Result<api::Confirmation>> NodeNet::confirm(cluster::Call call, std::string node_id, std::string code) {
  if (!host_) co_return Error{Errc::conflict, "no node is being added: approve it first"};
  const ConfirmResult done = co_await host_->confirm(node_id, std::move(code));
  if (done.kind == ConfirmResult::Kind::over) {
    co_await record(std::move(call), "node.confirm", node_id, "failed", "{}");
    co_return Error{Errc::conflict, done.reason};
  }
  api::Confirmation out;
  out.tries_left = done.tries_left;
  if (done.kind == ConfirmResult::Kind::joined) {
    out.node = done.node;
    typed_.erase(node_id);
  } else {
    co_await record(std::move(call), "node.confirm", node_id, "denied", "{\"wrong_code\":true}");
  }
  co_return out;
}

Task<Result<void>> NodeNet::cancel_join(cluster::Call call, std::string node_id) {
  if (!host_ || !host_->cancel(node_id)) co_return Error{Errc::not_found, "that node is not being added"};
  co_await record(std::move(call), "node.cancel", node_id, "ok", "{}");
  co_return Result<void>{};
}

Task<Result<api::Invitation>> NodeNet::invite(cluster::Call call, security::SecretBytes ca_key) {
  SAMOVAR_CO_TRY(auto key, security::PrivateKey::from_der(ca_key.view()));
  if (!papers_) {
    SAMOVAR_CO_TRY(MemberPapers papers, hooks_.make_papers(key));
    open_member(std::move(papers), cluster_id_, {});
  }
  const std::string words = security::make_join_words(system_rng());
  const std::function<Result<security::SecretBytes>()> work = [words] { return security::words_key(words); };
  auto words_key = co_await gate_.run<security::SecretBytes>(work);
  if (!words_key) co_return std::move(words_key).error();
  co_await record(call, "node.invite", "", "ok", "{}");
  JoinInvitation invitation{std::move(*words_key), std::move(call), std::move(key), kWordsFor};
  host_->invite(std::move(invitation));
  offer_words();
  co_return api::Invitation{words, security::ca_digest(papers_->ca),
                            host_->invited_until().value_or(loop_.clock().wall())};
}

// Each new node that waits for words is called once per invitation; who does not know them refuses.
void NodeNet::offer_words() {
  if (!host_ || !host_->invited_until()) return;
  std::set<std::string> waiting;
  if (neighbours_)
    for (const auto& row : neighbours_->list())
      if (row.beacon.words && !row.duplicate_id) waiting.insert(row.beacon.node_id);
  for (const auto& [id, typed] : typed_)
    if (typed.beacon.words) waiting.insert(id);
  for (const auto& entry : peers()) {
    if (entry.state != "waiting" || !waiting.contains(entry.id)) continue;
    spawn<Result<cluster::NodeRecord>>(host_->offer(entry.id, entry.address),
                                       [](const Result<cluster::NodeRecord>& done) {
                                         ignore(done, "it expects no words, or others; the journal has it");
                                       });
  }
}

api::GuestView NodeNet::guest() const {
  api::GuestView view;
  const GuestStatus status = guest_status();
  view.state = status.state == GuestState::code   ? "code"
               : status.state == GuestState::done ? "done"
                                                  : "waiting";
  view.code = status.code;
  view.cluster_name = status.cluster_name;
  return view;
}

Task<Result<void>> NodeNet::expect_words(std::string words, std::string ca_digest) {
  SAMOVAR_CO_TRY(const std::string parsed, security::parse_join_words(words));
  const std::function<Result<security::SecretBytes>()> work = [parsed] {
    return security::words_key(parsed);
  };
  auto key = co_await gate_.run<security::SecretBytes>(work);
  if (!key) co_return std::move(key).error();
  if (!guest_) co_return Error{Errc::conflict, "this node is a member already"};
  guest_->expect_words(std::move(*key), std::move(ca_digest), kWordsFor);
  announce();
  co_return Result<void>{};
}

}  // namespace samovar::daemon
