// Becoming a member of a cluster, being one, being one no more.
//
// A grant is kept like a set-up: everything beside keyring.new first, then one rename. A cut before it leaves
// what the next start sets aside; after it this node is a member.
#include <fmt/format.h>
#include <sys/stat.h>

#include <cstdio>

#include "base/failpoint.hpp"
#include "base/json.hpp"
#include "base/log.hpp"
#include "daemon/api/ca_wraps.hpp"
#include "daemon/api/event_text.hpp"
#include "daemon/api/views.hpp"
#include "daemon/node.hpp"

namespace samovar::daemon {

using security::SecretBytes;

namespace {

constexpr std::chrono::seconds kStateLook{1};
constexpr std::chrono::seconds kRowAgain{5};
constexpr std::size_t kPeersBytesMax = 64 * 1024;

Result<security::Certificate> read_certificate(const std::string& path) {
  SAMOVAR_TRY(const Bytes pem, real_disk().read_file(path, 4 * security::kCertificateBytesMax));
  SAMOVAR_TRY(auto chain, security::certificates_from_pem(as_text(pem)));
  return std::move(chain.front());
}

}  // namespace

NodeNetHooks Node::net_hooks() {
  NodeNetHooks hooks;
  hooks.report = [this](bool brief) { return own_report(brief); };
  hooks.history = [this]() -> const power::History& { return history_; };
  hooks.may_be_added = [this] { return phase_ == api::Phase::fresh && !setting_up_; };
  hooks.keep = [this](security::JoinGrant grant) { return keep_grant(std::move(grant)); };
  hooks.joined = [this] { go_on_as_member(); };
  hooks.guest_changed = [this] { tell_console(); };
  hooks.grant = [this]() -> Result<security::JoinGrant> {
    if (!keyring_ || cmk_.empty()) return Error{Errc::unavailable, "this node is locked"};
    security::JoinGrant grant;
    grant.cluster_id = keyring_->cluster_id();
    grant.key_generation = keyring_->generation();
    grant.keyring = keyring_->encode();
    grant.cmk = cmk_.clone();
    grant.key_file = keyring_->has_key_file();
    return grant;
  };
  hooks.make_papers = [this](const security::PrivateKey& ca_key) -> Result<MemberPapers> {
    SAMOVAR_TRY(auto chain, security::certificates_from_pem(api::ca_certificate_pem(*cluster_)));
    return make_papers(chain.front(), ca_key);
  };
  hooks.removed = [this](const std::string& why) { be_removed(why); };
  hooks.node_turned = [this](const std::string& node_id) { node_turned(node_id); };
  hooks.changed = [this] {
    refresh_alerts();
    if (phase_ == api::Phase::ready) spawn(put_own_row());
  };
  return hooks;
}

api::NodeReport Node::own_report(bool brief) const {
  api::NodeReport report;
  report.brief = brief;
  report.version = SAMOVAR_VERSION;
  report.clock = clock_.wall();
  report.clock_sure = !clock_.behind();
  report.disk = disk_space();
  if (brief) return report;
  report.facts = facts_;
  report.uptime = std::chrono::duration_cast<std::chrono::seconds>(clock_.mono() - facts_.started_mono);
  report.url = urls_.empty() ? "" : urls_.front();
  report.sample = sampler_.latest();
  report.sensors = sampler_.sensors();
  return report;
}

Result<MemberPapers> Node::load_papers() const {
  SAMOVAR_TRY(auto own, read_certificate(state_->node_certificate()));
  SAMOVAR_TRY(auto ca, read_certificate(state_->ca_certificate()));
  return MemberPapers{std::move(own), std::move(ca)};
}

Result<MemberPapers> Node::make_papers(const security::Certificate& ca, const security::PrivateKey& ca_key) {
  SAMOVAR_TRY(auto own, security::issue_node_certificate(ca, ca_key, identity_.tls_key.public_key(),
                                                         identity_.node_id));
  SAMOVAR_CHECK(real_disk().make_dir(state_->member()));
  SAMOVAR_CHECK(real_disk().write_file(state_->node_certificate(), as_bytes(own.to_pem())));
  SAMOVAR_CHECK(real_disk().write_file(state_->ca_certificate(), as_bytes(ca.to_pem())));
  return MemberPapers{std::move(own), ca};
}

// A box from before there were papers gets them when it first adds a node; until then it is alone.
void Node::open_net() {
  net_->close_guest();
  net_->set_cluster_id(keyring_->cluster_id());
  auto papers = load_papers();
  if (papers) {
    std::vector<net::Peer> peers;
    if (const auto bytes = real_disk().read_file(state_->first_peers(), kPeersBytesMax))
      if (auto decoded = decode_member_list(*bytes)) peers = std::move(*decoded);
    net_->open_member(std::move(*papers), keyring_->cluster_id(), std::move(peers));
  } else if (papers.error().code() != Errc::not_found) {
    SAMOVAR_LOG(error, main, "this node's certificate cannot be read: it stays alone",
                kv("error", papers.error().message()));
  }
  net_->attach(*cluster_);
}

Task<Result<void>> Node::keep_grant(security::JoinGrant grant) {
  if (phase_ != api::Phase::fresh || setting_up_)
    co_return Error{Errc::conflict, "this node is not new any more"};
  setting_up_ = true;
  auto written = write_grant(grant);
  setting_up_ = false;
  if (written) co_return written;
  SAMOVAR_LOG(error, main, "this node could not keep what makes it a member",
              kv("error", written.error().message()));
  if (auto aside = state_->set_aside_interrupted(options_.config.key_path()); !aside)
    SAMOVAR_LOG(error, main, "what is left of it could not be set aside",
                kv("error", aside.error().message()));
  co_return written;
}

Result<void> Node::write_grant(security::JoinGrant& grant) {
  Disk& disk = real_disk();
  SAMOVAR_TRY(auto keyring, security::Keyring::decode(grant.keyring));
  if (keyring.cluster_id() != grant.cluster_id)
    return Error{Errc::corrupt, "the keyring is not that of the cluster"};
  SecretBytes key_file;
  if (grant.key_file) {
    SAMOVAR_TRY(key_file, keyring.set_key_file(grant.cmk));
  }
  SAMOVAR_CHECK(disk.write_file(state_->keyring_new(), keyring.encode()));
  SAMOVAR_FAILPOINT("join.keyring.after");
  if (!key_file.empty()) SAMOVAR_CHECK(write_key_file(options_.config.key_path(), key_file));
  SAMOVAR_CHECK(disk.make_dir(state_->member()));
  SAMOVAR_CHECK(disk.write_file(state_->node_certificate(), as_bytes(grant.certificate.to_pem())));
  SAMOVAR_CHECK(disk.write_file(state_->ca_certificate(), as_bytes(grant.ca.to_pem())));
  SAMOVAR_CHECK(disk.write_file(state_->first_peers(), grant.members));
  SAMOVAR_CHECK(
      disk.write_file(state_->joining_mark(), as_bytes("the cluster's state has not arrived yet\n")));
  SAMOVAR_FAILPOINT("join.commit.before");
  SAMOVAR_CHECK(disk.rename(state_->keyring_new(), state_->keyring()));
  SAMOVAR_CHECK(disk.sync_dir(state_->path()));
  SAMOVAR_FAILPOINT("join.commit.after");
  keyring_ = std::move(keyring);
  cmk_ = std::move(grant.cmk);
  return {};
}

void Node::go_on_as_member() {
  SAMOVAR_LOG(info, main, "this node is a member now; the cluster's state is on its way",
              kv("cluster", keyring_->cluster_id()));
  security::wipe(setup_code_);
  const SecretBytes cmk = cmk_.clone();
  if (auto opened = open_with(cmk); !opened) {
    SAMOVAR_LOG(error, main, "the member's state does not open; restart the service",
                kv("error", opened.error().message()));
    set_phase(api::Phase::starting);
  }
}

// The leader sends the log, or a snapshot, as soon as its steward has taken us in.
void Node::wait_for_state() {
  if (phase_ != api::Phase::joining) {
    cluster_->on_change(
        [this](const cluster::Change& change) { loop_.post([this, change] { on_change(change); }); });
    set_phase(api::Phase::joining);
  }
  const auto own = cluster_->node(facts_.id);
  if (!cluster_->info() || !own) {
    loop_.cancel(state_timer_);
    state_timer_ = loop_.after(kStateLook, [this] {
      if (phase_ == api::Phase::joining) wait_for_state();
    });
    return;
  }
  if (auto done = real_disk().remove(state_->joining_mark()); !done) {
    SAMOVAR_LOG(error, main, "the state is here, but the disk does not take that down",
                kv("error", done.error().message()));
    state_timer_ = loop_.after(kStateLook, [this] { wait_for_state(); });
    return;
  }
  ignore(real_disk().sync_dir(state_->member()), "if it comes back, the next start waits a moment once more");
  const SecretBytes cmk = cmk_.clone();
  become_ready(cmk);
  spawn(record_start("join", ""));
}

void Node::be_removed(const std::string& why) {
  if (phase_ == api::Phase::removed) return;
  SAMOVAR_LOG(error, main,
              "this node is no member of its cluster any more; samovard --factory-reset makes it a new one",
              kv("why", why));
  std::fputs(
      "\n  This node was removed from its cluster. To use it again, stop the service and make it a new one:\n"
      "  samovard --factory-reset\n",
      stdout);
  std::fflush(stdout);
  ignore(real_disk().write_file(state_->removed_mark(), as_bytes(why + "\n")),
         "without it the next start asks the others, who refuse it");
  if (models_) models_->stop();
  if (data_) data_->stop();
  events_.close_all();
  set_phase(api::Phase::removed);
  loop_.post([this] { net_->close(); });
}

// The code belongs on the console: whoever reads it there stands before this node.
void Node::tell_console() {
  const GuestStatus status = net_->guest_status();
  std::string text;
  if (status.state == GuestState::code)
    text = fmt::format("\n  {} wants to add this node ({}).\n  Type this code there:  {}\n",
                       status.cluster_name, short_id(), status.code);
  if (status.state == GuestState::waiting && !status.trouble.empty())
    text = fmt::format("\n  This node was not added: {}.{}\n", status.trouble,
                       status.unfinished > 1
                           ? fmt::format(" Attempts in the last ten minutes: {}.", status.unfinished)
                           : "");
  if (text.empty() || text == told_console_) return;
  told_console_ = text;
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
  SAMOVAR_LOG(
      info, main,
      status.state == GuestState::code ? "a cluster wants to add this node" : "this node was not added",
      kv("cluster", status.cluster_name), kv("code", status.code), kv("from", status.remote),
      kv("trouble", status.trouble));
}

cluster::NodeRecord Node::own_row() const {
  cluster::NodeRecord row;
  row.id = facts_.id;
  row.hostname = facts_.hostname;
  row.model = facts_.model;
  row.version = SAMOVAR_VERSION;
  row.arch = facts_.arch;
  row.addresses = net_->mesh_addresses();
  row.disk_bytes = disk_space().total_bytes;
  row.sign_public = Bytes(identity_.sign_public.begin(), identity_.sign_public.end());
  row.box_public = Bytes(identity_.box_public.begin(), identity_.box_public.end());
  const auto known = cluster_->node(facts_.id);
  row.name = known && !known->name.empty() ? known->name : facts_.hostname;
  return row;
}

Task<void> Node::pause(Duration time) {
  std::function<void(std::function<void(bool)>)> wait = [this, time](std::function<void(bool)> done) {
    loop_.after(time, [done] { done(true); });
  };
  co_await from_callback<bool>(std::move(wait));
}

// Until it is there: without a leader, as when all nodes start at once, it takes a while.
Task<void> Node::put_own_row() {
  if (putting_row_) co_return;
  putting_row_ = true;
  cluster::Call call;
  call.actor = cluster::Actor::system();
  for (bool first = true; !stopping_ && cluster_ && phase_ != api::Phase::removed; first = false) {
    auto put = co_await cluster_->put_node(call, own_row());
    if (put || put.error().code() == Errc::no_space) break;
    if (first)
      SAMOVAR_LOG(info, main, "this node's row is not updated yet", kv("error", put.error().message()));
    co_await pause(kRowAgain);
  }
  putting_row_ = false;
}

// Who leads and who votes changes without a command: pages are told when it did.
void Node::look_at_log() {
  if (phase_ != api::Phase::ready) return;
  std::string now = cluster_->status().leader_id;
  for (const auto& member : cluster_->log_members())
    now += fmt::format("|{}:{}", member.node_id, static_cast<unsigned>(member.voice));
  if (now == log_seen_) return;
  log_seen_ = std::move(now);
  node_turned("");
}

void Node::node_turned(const std::string& node_id) {
  if (data_) data_->on_change({cluster::Change::Kind::nodes, node_id, 0});
  refresh_alerts();
  if (phase_ != api::Phase::ready || events_.count() == 0) return;
  for (const auto& row : cluster_->nodes())
    if (node_id.empty() || row.id == node_id)
      events_.publish_change("node.changed", api::event_text({{"node", api::node_view(*services_, row)}}));
  events_.publish_change("cluster.changed", api::event_text({{"cluster", api::cluster_view(*services_)}}));
}

ClusterAlerts Node::cluster_alerts() {
  ClusterAlerts out;
  out.trouble = net_->trouble();
  out.cloned = net_->cloned_at();
  if (phase_ != api::Phase::ready || !cluster_) return out;
  out.writable = cluster_->writable();
  out.refused = !out.writable && net_->refused();
  if (out.refused && !refused_told_) {
    // Nobody could tell a node that was off; and on its console there is no dashboard.
    std::fputs(
        "\n  The other nodes do not accept this one: it was removed while it was away, or replaced.\n"
        "  Their list of nodes says which. If it was removed, stop the service and make it a new one:\n"
        "  samovard --factory-reset\n",
        stdout);
    std::fflush(stdout);
  }
  refused_told_ = out.refused;
  if (data_) {
    out.under_replicated = data_->replicas().status().under_replicated;
    out.lost = data_->replicas().status().lost;
  }
  for (const auto& row : cluster_->nodes()) {
    if (row.state == cluster::NodeState::removed) continue;
    ++out.members;
    if (row.id == facts_.id) continue;
    const std::string name = row.name.empty() ? security::short_node_id(row.id) : row.name;
    if (!net_->contact(row.id).reachable) {
      out.unreachable.push_back(name);
      continue;
    }
    if (const auto* report = net_->report(row.id); report != nullptr && report->version != SAMOVAR_VERSION)
      out.other_versions.push_back(name + " (" + report->version + ")");
    const auto ahead = net_->reports().clock_ahead(row.id);
    if (ahead && (*ahead > kClockSkewMax || *ahead < -kClockSkewMax)) out.skewed.push_back(name);
  }
  return out;
}

}  // namespace samovar::daemon
