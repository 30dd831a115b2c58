// Set-up, all or nothing: keyring.new and the new log are made and synced first, then one rename makes
// the box. A cut at any earlier point leaves what the next start sets aside.
#include <fmt/format.h>
#include <sys/stat.h>

#include "base/failpoint.hpp"
#include "base/ids.hpp"
#include "base/log.hpp"
#include "daemon/api/ca_wraps.hpp"
#include "daemon/node.hpp"
#include "security/certificates.hpp"
#include "security/kdf.hpp"
#include "security/password_wrap.hpp"

namespace samovar::daemon {

using security::SecretBytes;

struct Node::Draft {
  security::NewKeyring keys;
  std::string password_hash;
};

namespace {

struct ClusterCa {
  security::Certificate certificate;
  security::PrivateKey key;
};

Result<ClusterCa> make_ca(const std::string& cluster_id) {
  SAMOVAR_TRY(auto key, security::PrivateKey::generate());
  SAMOVAR_TRY(auto certificate, security::make_cluster_ca(key, cluster_id));
  return ClusterCa{std::move(certificate), std::move(key)};
}

}  // namespace

Result<void> Node::write_key_file(const std::string& path, const SecretBytes& key) {
  Disk& disk = real_disk();
  if (disk.exists(path))
    return Error{Errc::conflict,
                 fmt::format("the key file {} exists already and may belong to another box: move it away, or "
                             "name another place with key_file in the configuration",
                             path)};
  SAMOVAR_CHECK(disk.write_file(path, key.view()));
  if (chmod(path.c_str(), 0400) != 0)
    return Error{Errc::io, "the key file " + path + " cannot be made read-only"};
  return {};
}

Task<Result<cluster::ClusterInfo>> Node::set_up(api::SetupRequest request, std::string address) {
  if (phase_ != api::Phase::fresh)
    co_return Error{Errc::conflict, "this box is set up already: log in instead"};
  if (setting_up_) co_return Error{Errc::conflict, "a set-up is already running: wait for it"};
  const GuestStatus guest = net_->guest_status();
  if (guest.state == GuestState::finishing || guest.state == GuestState::done)
    co_return Error{Errc::conflict, "this node is just becoming a member of " + guest.cluster_name};
  setting_up_ = true;
  auto done = co_await run_set_up(std::move(request), std::move(address));
  setting_up_ = false;
  if (!done) SAMOVAR_LOG(error, main, "the set-up failed", kv("error", done.error().message()));
  co_return done;
}

Task<Result<cluster::ClusterInfo>> Node::run_set_up(api::SetupRequest request, std::string address) {
  auto drafted = co_await draft_keys(request);
  if (!drafted) co_return std::move(drafted).error();
  Draft draft = std::move(*drafted);
  auto info = Result<cluster::ClusterInfo>(Error{Errc::internal, "not begun"});
  if (auto written = write_draft(draft); !written) {
    info = std::move(written).error();
  } else {
    info = co_await found_cluster(request, draft, std::move(address));
  }
  if (!info) {
    if (cluster_) co_await cluster_->close();
    cluster_.reset();
    if (auto aside = state_->set_aside_interrupted(options_.config.key_path()); !aside)
      SAMOVAR_LOG(error, main, "what the failed set-up left could not be set aside",
                  kv("error", aside.error().message()));
    co_return info;
  }
  SAMOVAR_FAILPOINT("setup.commit.before");
  SAMOVAR_CO_CHECK(real_disk().rename(state_->keyring_new(), state_->keyring()));
  SAMOVAR_CO_CHECK(real_disk().sync_dir(state_->path()));
  SAMOVAR_FAILPOINT("setup.commit.after");
  keyring_ = draft.keys.keyring;
  cmk_ = draft.keys.cmk.clone();
  become_ready(draft.keys.cmk);
  co_await record_start("set-up", "");
  co_return info;
}

Task<Result<Node::Draft>> Node::draft_keys(api::SetupRequest& request) {
  const std::string cluster_id = new_id("clu", clock_, system_rng());
  auto passphrase = std::make_shared<SecretBytes>(std::move(request.passphrase));
  const bool key_file = request.key_file;
  const auto cost = options_.passphrase_cost;
  const std::function<Result<security::NewKeyring>()> work = [cluster_id, passphrase, key_file, cost] {
    return key_file ? security::Keyring::create_with_key_file(cluster_id)
                    : security::Keyring::create_with_passphrase(cluster_id, passphrase->view(), cost);
  };
  auto keys = co_await gate_.run<security::NewKeyring>(work);
  if (!keys) co_return std::move(keys).error();
  const SecretBytes pepper = security::derive(keys->cmk, security::purpose::kPepper);
  auto hash = co_await gate_.hash_password(request.password.clone(), pepper);
  if (!hash) co_return std::move(hash).error();
  co_return Draft{std::move(*keys), std::move(*hash)};
}

Result<void> Node::write_draft(const Draft& draft) {
  SAMOVAR_FAILPOINT("setup.keyring.before");
  SAMOVAR_CHECK(real_disk().write_file(state_->keyring_new(), draft.keys.keyring.encode()));
  SAMOVAR_FAILPOINT("setup.keyring.after");
  if (!draft.keys.key_file.empty())
    SAMOVAR_CHECK(write_key_file(options_.config.key_path(), draft.keys.key_file));
  SAMOVAR_FAILPOINT("setup.key.after");
  return {};
}

Task<Result<cluster::ClusterInfo>> Node::found_cluster(const api::SetupRequest& request, Draft& draft,
                                                       std::string address) {
  const std::string& cluster_id = draft.keys.keyring.cluster_id();
  SAMOVAR_CO_TRY(cluster_, open_cluster(draft.keys.cmk, cluster_id, draft.keys.keyring.generation(), true));
  SAMOVAR_FAILPOINT("setup.log.after");
  cluster::Call call;
  call.actor.username = request.username;
  call.actor.role = cluster::Role::admin;
  call.actor.auth = cluster::AuthKind::setup;
  call.actor.address = std::move(address);
  cluster::NewCluster fresh;
  fresh.id = cluster_id;
  fresh.name = request.box_name;
  fresh.time_zone = request.time_zone;
  fresh.admin_username = request.username;
  fresh.admin_display_name = request.display_name;
  fresh.admin_password_hash = draft.password_hash;
  auto info = co_await cluster_->initialise(call, std::move(fresh));
  if (!info) co_return info;
  SAMOVAR_FAILPOINT("setup.init.after");

  const auto admin = cluster_->user_by_name(request.username);
  if (!admin) co_return Error{Errc::internal, "the first administrator is missing from the new state"};
  SAMOVAR_CO_TRY(ClusterCa made, make_ca(cluster_id));
  auto ca = std::make_shared<ClusterCa>(std::move(made));
  auto password = std::make_shared<SecretBytes>(request.password.clone());
  const Bytes aad = api::ca_wrap_aad(cluster_id, admin->id);
  const auto cost = options_.passphrase_cost;
  const std::function<Result<Bytes>()> work = [ca, password, aad, cost] {
    return security::wrap_secret_with_password(ca->key.to_der(), password->view(), aad, cost);
  };
  auto wrap = co_await gate_.run<Bytes>(work);
  if (!wrap) co_return std::move(wrap).error();
  auto put = co_await cluster_->put_setting(std::move(call), std::string(api::kCaSetting),
                                            api::make_ca_document(ca->certificate.to_pem(), admin->id, *wrap),
                                            std::uint64_t{0});
  if (!put) co_return std::move(put).error();
  SAMOVAR_FAILPOINT("setup.ca.after");
  if (auto papers = make_papers(ca->certificate, ca->key); !papers) co_return std::move(papers).error();
  SAMOVAR_FAILPOINT("setup.papers.after");
  co_return info;
}

}  // namespace samovar::daemon
