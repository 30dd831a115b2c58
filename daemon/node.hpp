// One Samovar node: its phases, what it opens in each, and the HTTPS server in front.
//
//        start                    set-up
//   ── no keyring ──────▶ new ──────────────────▶ ready ──▶ removed
//                          │  added to a cluster    ▲          (by an administrator; until a factory reset)
//                          └──────▶ joining ────────┤
//                                     the state came
//   ── keyring, key file ────────────────────────▶ ready
//   ── keyring, passphrase ──▶ locked ──────────▶ ready
//                                     unlock
//
// node.cpp: start, stop, samples, alerts. node_setup.cpp: set-up. node_phases.cpp: unlock and ready.
// node_power.cpp: its part in the power budget. node_member.cpp: becoming a member of a cluster, being one,
// being one no more.
//
// Threading: loop only. Ownership: owns everything but the loop and the clock, which outlive it.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/pool.hpp"
#include "daemon/alerts.hpp"
#include "daemon/api/event_hub.hpp"
#include "daemon/api/power_desk.hpp"
#include "daemon/api/server.hpp"
#include "daemon/api/services.hpp"
#include "daemon/config.hpp"
#include "daemon/floor_clock.hpp"
#include "daemon/jobs/local_data.hpp"
#include "daemon/jobs/local_models.hpp"
#include "daemon/node_net.hpp"
#include "daemon/power/history.hpp"
#include "daemon/power/history_file.hpp"
#include "daemon/power/sampler.hpp"
#include "daemon/power_control.hpp"
#include "daemon/state_dir.hpp"
#include "daemon/web_identity.hpp"
#include "security/hash_gate.hpp"
#include "security/identity.hpp"
#include "security/keyring.hpp"

namespace samovar::daemon {

struct NodeOptions {
  Config config;
  security::Argon2Cost password_cost = security::kPasswordCost;
  security::Argon2Cost passphrase_cost = security::kPassphraseCost;
};

class Node final : public api::NodeControl, public api::PowerDesk {
 public:
  // Opens what can be opened without a person. Errors are for the console: what is wrong, what to do.
  static Result<std::unique_ptr<Node>> start(Loop& loop, FloorClock& clock, std::unique_ptr<StateDir> state,
                                             NodeOptions options);
  ~Node() override;

  // Begins to serve; the addresses as URLs. Before run() of the loop.
  Result<std::vector<std::string>> listen();
  // The text a person needs on the console of a new box: addresses, code, fingerprint.
  std::string banner(const std::vector<std::string>& urls) const;
  const std::string& setup_code() const noexcept { return setup_code_; }  // empty once set up
  std::string short_id() const { return security::short_node_id(facts_.id); }
  // Called on the loop whenever the phase changes.
  void on_phase(std::function<void(api::Phase)> listener) { on_phase_ = std::move(listener); }
  // Lets requests finish and saves; `done` on the loop thread, and then the process must end. Once.
  void stop(std::function<void()> done);

  // api::NodeControl
  api::Phase phase() const override { return phase_; }
  const api::NodeFacts& facts() const override { return facts_; }
  const api::WebCertificate& web_certificate() const override { return web_.facts(); }
  std::vector<std::string> addresses() const override;
  cluster::Cluster* cluster() override { return phase_ == api::Phase::ready ? cluster_.get() : nullptr; }
  jobs::DataService* data() override { return phase_ == api::Phase::ready ? data_.get() : nullptr; }
  jobs::ModelService* models() override { return phase_ == api::Phase::ready ? models_.get() : nullptr; }
  api::Members& members() override { return *net_; }
  const api::SessionKeys* keys() const override { return keys_ ? &*keys_ : nullptr; }
  bool setup_code_matches(std::string_view typed) const override;
  Task<Result<cluster::ClusterInfo>> set_up(api::SetupRequest request, std::string address) override;
  Task<Result<void>> unlock(security::SecretBytes passphrase, std::string address) override;
  const power::Sample& sample() const override { return sampler_.latest(); }
  const power::Sensors& sensors() const override { return sampler_.sensors(); }
  const power::History& history() const override { return history_; }
  DiskSpace disk_space() const override;
  std::vector<api::Alert> alerts() const override { return alerts_; }
  Task<power::ClusterPower> look_at_power() override;
  std::string power_advice() const override { return power_->advice(sampler_.board()); }

 private:
  Node(Loop& loop, FloorClock& clock, std::unique_ptr<StateDir> state, NodeOptions options,
       security::NodeIdentity identity, WebIdentity web);

  // node.cpp
  Result<void> enter_first_phase();
  WebNames web_names() const;
  std::string device_plugin() const;
  std::string worker_path() const;
  Task<void> look_for_device();
  void begin_sampling();
  void on_sample(const power::Sample& sample);
  void refresh_alerts();
  void keep_time_now();
  void hand_over_then(std::function<void()> next);
  Task<void> close_all(std::function<void()> done);

  // node_setup.cpp
  struct Draft;  // what a set-up has made so far
  Task<Result<Draft>> draft_keys(api::SetupRequest& request);
  Result<void> write_draft(const Draft& draft);
  static Result<void> write_key_file(const std::string& path, const security::SecretBytes& key);
  Task<Result<cluster::ClusterInfo>> found_cluster(const api::SetupRequest& request, Draft& draft,
                                                   std::string address);
  Task<Result<cluster::ClusterInfo>> run_set_up(api::SetupRequest request, std::string address);

  // node_phases.cpp
  Result<std::unique_ptr<cluster::Cluster>> open_cluster(const security::SecretBytes& cmk,
                                                         const std::string& cluster_id,
                                                         std::uint32_t generation, bool bootstrap);
  Result<void> unlock_with_key_file();
  Result<void> open_with(const security::SecretBytes& cmk);
  void become_ready(const security::SecretBytes& cmk);
  void open_data(const security::SecretBytes& cmk);
  void open_models(const security::SecretBytes& cmk);
  Task<void> record_start(std::string how, std::string address);
  Task<void> record_recovery();
  void on_change(const cluster::Change& change);
  void set_phase(api::Phase phase);

  // node_power.cpp
  PowerHooks power_hooks();
  std::chrono::seconds zone_offset_at(WallTime time) const;
  jobs::PowerFacts power_facts() const;
  std::string power_trouble() const;
  void publish_power() const;

  // node_member.cpp
  NodeNetHooks net_hooks();
  api::NodeReport own_report(bool brief) const;
  Result<MemberPapers> load_papers() const;
  Result<MemberPapers> make_papers(const security::Certificate& ca, const security::PrivateKey& ca_key);
  void open_net();
  Task<Result<void>> keep_grant(security::JoinGrant grant);
  Result<void> write_grant(security::JoinGrant& grant);
  void go_on_as_member();
  void wait_for_state();
  void be_removed(const std::string& why);
  void tell_console();
  cluster::NodeRecord own_row() const;
  Task<void> put_own_row();
  Task<void> pause(Duration time);
  void node_turned(const std::string& node_id);
  void look_at_log();
  ClusterAlerts cluster_alerts();

  // Constant after construction.
  Loop& loop_;
  FloorClock& clock_;
  const NodeOptions options_;
  const std::unique_ptr<StateDir> state_;
  const security::NodeIdentity identity_;
  std::string setup_code_;
  api::NodeFacts facts_;

  // Loop only.
  jobs::DeviceFound device_;
  WebIdentity web_;
  api::Phase phase_ = api::Phase::starting;
  bool setting_up_ = false;
  bool unlocking_ = false;
  bool stopping_ = false;
  unsigned wrong_passphrases_ = 0;
  std::optional<security::Keyring> keyring_;
  security::SecretBytes cmk_;  // a new member gets it from us
  std::vector<std::string> urls_;
  std::string told_console_;
  std::string log_seen_;       // who leads and who votes, as the page was last told
  bool refused_told_ = false;  // on the console
  bool putting_row_ = false;
  Loop::Id state_timer_ = 0;
  std::vector<api::Alert> alerts_;
  std::string data_failure_;
  std::uint64_t damaged_shards_ = 0;
  Loop::Id time_timer_ = 0;
  std::function<void(api::Phase)> on_phase_;

  // In the order of birth; they go in reverse.
  Pool cpu_;
  Pool io_;
  security::HashGate gate_;
  api::EventHub events_;
  power::History history_;
  power::Sampler sampler_;
  std::unique_ptr<NodeNet> net_;
  std::unique_ptr<PowerControl> power_;
  std::optional<api::SessionKeys> keys_;
  std::unique_ptr<cluster::Cluster> cluster_;
  std::unique_ptr<jobs::LocalData> data_;
  std::unique_ptr<jobs::LocalModels> models_;
  std::unique_ptr<power::HistoryFile> history_file_;
  std::unique_ptr<api::Services> services_;
  std::unique_ptr<api::Server> server_;
};

}  // namespace samovar::daemon
