#include "daemon/node.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/json.hpp"
#include "base/log.hpp"
#include "daemon/alerts.hpp"
#include "daemon/api/auth.hpp"
#include "daemon/api/event_text.hpp"
#include "daemon/api/routes.hpp"
#include "daemon/api/views.hpp"
#include "daemon/host.hpp"
#include "daemon/local_names.hpp"
#include "kernels/devices.hpp"
#include "security/setup_code.hpp"

namespace samovar::daemon {
namespace {

constexpr std::chrono::minutes kKeepTimeEvery{10};
constexpr std::chrono::seconds kHandOverMax{2};

std::function<bool(std::function<void()>)> offload_to(Pool& pool) {
  return [&pool](std::function<void()> work) { return pool.submit(std::move(work)); };
}

power::SamplerOptions sampler_options(const Config& config, Pool& io) {
  power::SamplerOptions options;
  options.state_dir = config.state_dir;
  options.root = config.sysfs_root == "/" ? "" : config.sysfs_root;
  options.offload = offload_to(io);
  return options;
}

security::HashGateOptions gate_options(const NodeOptions& options) {
  security::HashGateOptions gate;
  gate.password_cost = options.password_cost;
  return gate;
}

}  // namespace

Node::Node(Loop& loop, FloorClock& clock, std::unique_ptr<StateDir> state, NodeOptions options,
           security::NodeIdentity identity, WebIdentity web)
    : loop_(loop),
      clock_(clock),
      options_(std::move(options)),
      state_(std::move(state)),
      identity_(std::move(identity)),
      web_(std::move(web)),
      cpu_("cpu", 2, 64),
      io_("io", 3, 64),
      gate_(cpu_, loop, gate_options(options_)),
      events_(loop, system_rng()),
      sampler_(loop, real_disk(), sampler_options(options_.config, io_)),
      services_(new api::Services{loop, system_rng(), *this, gate_, events_}) {
  facts_.id = identity_.node_id;
  facts_.hostname = host_name();
  facts_.model = sampler_.board().model;
  facts_.arch = machine_arch();
  facts_.cores = sampler_.board().cores;
  device_ = jobs::look_for_plugin(device_plugin());
  facts_.compute = jobs::device_note(device_);
  facts_.memory_bytes = memory_bytes();
  facts_.started_at = clock.wall();
  facts_.started_mono = clock.mono();
  facts_.sandbox = sandbox_state();
  net_ = std::make_unique<NodeNet>(loop_, options_.config, identity_, facts_, events_, gate_, net_hooks());
  power_ = std::make_unique<PowerControl>(loop_, real_disk(), net_->exchange(),
                                          sampler_options(options_.config, io_).root, state_->clock_caps(),
                                          power_hooks());
}

Node::~Node() = default;

Result<std::unique_ptr<Node>> Node::start(Loop& loop, FloorClock& clock, std::unique_ptr<StateDir> state,
                                          NodeOptions options) {
  Disk& disk = real_disk();
  SAMOVAR_TRY(const auto found, state->look());
  if (found == StateDir::Found::wiping) SAMOVAR_CHECK(state->wipe(options.config.key_path()));
  if (found == StateDir::Found::interrupted)
    SAMOVAR_CHECK(state->set_aside_interrupted(options.config.key_path()));
  SAMOVAR_TRY(auto identity, security::load_or_create_identity(disk, state->identity()));
  const WebNames names{host_name(), browser_names(options.config, identity.node_id), interface_addresses()};
  SAMOVAR_TRY(auto web, WebIdentity::load_or_create(disk, state->tls(), names, clock.wall()));
  std::unique_ptr<Node> node(
      new Node(loop, clock, std::move(state), std::move(options), std::move(identity), std::move(web)));
  SAMOVAR_CHECK(node->enter_first_phase());
  node->begin_sampling();
  node->keep_time_now();
  if (node->device_.pending) spawn(node->look_for_device());
  return node;
}

std::string Node::device_plugin() const {
  return options_.config.device_plugin.empty() ? kernels::kPluginPath : options_.config.device_plugin;
}

std::string Node::worker_path() const {
  return options_.config.worker_path.empty() ? worker_program() : options_.config.worker_path;
}

Task<void> Node::look_for_device() {
  auto look = [program = worker_path(), plugin = device_plugin()]() -> Result<jobs::DeviceFound> {
    return jobs::find_device(program, plugin);
  };
  auto found = co_await run_on(io_, loop_, std::move(look));
  if (found) device_ = std::move(*found);
  device_.pending = false;
  facts_.compute = jobs::device_note(device_);
  SAMOVAR_LOG(info, main, "looked for a GPU", kv("found", facts_.compute));
}

Result<void> Node::enter_first_phase() {
  Disk& disk = real_disk();
  if (disk.exists(state_->removed_mark())) {
    phase_ = api::Phase::removed;
    return {};
  }
  if (!disk.exists(state_->keyring())) {
    setup_code_ = security::make_setup_code(system_rng());
    phase_ = api::Phase::fresh;
    return {};
  }
  auto bytes = disk.read_file(state_->keyring(), security::kKeyringBytesMax);
  if (!bytes) return std::move(bytes).error().within("the keyring " + state_->keyring());
  auto keyring = security::Keyring::decode(*bytes);
  if (!keyring) return std::move(keyring).error().within("the keyring " + state_->keyring());
  keyring_ = std::move(*keyring);
  if (keyring_->has_key_file()) return unlock_with_key_file();
  phase_ = api::Phase::locked;
  return {};
}

WebNames Node::web_names() const {
  return {facts_.hostname, browser_names(options_.config, identity_.node_id), interface_addresses()};
}

Result<std::vector<std::string>> Node::listen() {
  SAMOVAR_TRY(auto router, api::Router::create(api::make_routes(*services_)));
  api::ServerOptions server_options;
  server_options.names = browser_names(options_.config, identity_.node_id);
  server_options.names_help =
      "Use the IP address, or add the name to host_names in /etc/samovar/samovar.toml.";
  const auto key = as_text(web_.key_pem().view());
  SAMOVAR_TRY(server_,
              api::Server::create(loop_, server_options, std::move(router), api::make_guard(*services_),
                                  api::StaticFiles::embedded(), {web_.chain_pem(), key}));
  std::map<std::uint16_t, std::vector<std::string>> by_port;
  for (const auto& text : options_.config.listen) {
    SAMOVAR_TRY(const ListenAddress address, parse_listen(text));
    by_port[address.port].push_back(address.host);
  }
  std::vector<std::string> urls;
  for (const auto& [port, hosts] : by_port) {
    SAMOVAR_TRY(const std::uint16_t bound, server_->listen(hosts, port));
    const auto add = [&urls, bound](const std::string& host) {
      const bool six = host.find(':') != std::string::npos;
      const std::string url = fmt::format("https://{}{}{}:{}", six ? "[" : "", host, six ? "]" : "", bound);
      if (std::find(urls.begin(), urls.end(), url) == urls.end()) urls.push_back(url);
    };
    for (const auto& host : hosts) {
      if (host != "0.0.0.0" && host != "::") {
        add(host);
        continue;
      }
      // Link-local addresses need a zone, which no browser takes.
      for (const auto& address : interface_addresses())
        if ((address.find(':') == std::string::npos) == (host == "0.0.0.0") && address.rfind("fe80:", 0) != 0)
          add(address);
      add(facts_.hostname + ".local");
    }
    net_->set_web_port(bound);
  }
  urls_ = urls;
  if (phase_ == api::Phase::fresh) net_->open_guest();
  return urls;
}

std::string Node::banner(const std::vector<std::string>& urls) const {
  std::string text = "\n  Samovar " SAMOVAR_VERSION "\n\n";
  for (const auto& url : urls) text += fmt::format("  {}\n", url);
  if (phase_ == api::Phase::fresh) {
    text += fmt::format(
        "\n  This box is new. Open the address above, or run samovar init.\n  Set-up code:  {}\n\n"
        "  To add it to a cluster instead, approve node {} there.\n",
        setup_code_, short_id());
  } else if (phase_ == api::Phase::locked) {
    text +=
        "\n  This box is locked. Open the address above, or run samovar unlock, and enter its passphrase.\n";
  } else if (phase_ == api::Phase::removed) {
    text +=
        "\n  This node was removed from its cluster. To use it again, stop the service and make it a new "
        "one:\n"
        "  samovard --factory-reset\n";
  }
  text += fmt::format("\n  Certificate (SHA-256), to compare with what the browser shows:\n  {}\n",
                      web_.facts().fingerprint);
  return text;
}

std::vector<std::string> Node::addresses() const { return interface_addresses(); }

bool Node::setup_code_matches(std::string_view typed) const {
  return !setup_code_.empty() && security::setup_code_matches(typed, setup_code_);
}

DiskSpace Node::disk_space() const { return real_disk().space(state_->path()).value_or(DiskSpace{}); }

void Node::begin_sampling() {
  sampler_.start([this](const power::Sample& sample) { on_sample(sample); });
}

void Node::on_sample(const power::Sample& sample) {
  history_.add(sample);
  if (models_) models_->on_sample(sample);
  power_->on_sample(sample);
  publish_power();
  look_at_log();
  refresh_alerts();
  publish_metrics(sample);
  if (phase_ != api::Phase::ready || events_.count() == 0) return;
  const api::View data = {{"node", facts_.id}, {"sample", api::sample_view(sample)}};
  events_.publish_sample("node.sample", facts_.id, data.dump());
}

void Node::refresh_alerts() {
  AlertInputs inputs;
  inputs.now = clock_.wall();
  inputs.disk = disk_space();
  inputs.disk_reserve_bytes = std::uint64_t{options_.config.disk_reserve_mib} << 20;
  inputs.state_dir = state_->path();
  inputs.clock_behind = clock_.behind();
  inputs.web_not_after = web_.facts().not_after;
  inputs.temperature = sampler_.latest().temp_max_c;
  inputs.temperature_name = sampler_.latest().temp_max_name;
  inputs.unlocked_secrets = security::unlocked_secrets();
  if (phase_ == api::Phase::ready && cluster_->status().failed)
    inputs.log_failure = cluster_->status().failure;
  inputs.data_failure = data_failure_;
  inputs.damaged_shards = damaged_shards_;
  inputs.cluster = cluster_alerts();
  inputs.power_trouble = power_trouble();
  auto fresh = current_alerts(inputs, alerts_);
  const bool changed = !same_alerts(fresh, alerts_);
  alerts_ = std::move(fresh);
  if (!changed || phase_ != api::Phase::ready) return;
  const api::View data = {{"alerts", api::alerts_view(*services_)}};
  events_.publish_change("alert.changed", api::event_text(data));
}

void Node::keep_time_now() {
  const bool queued = io_.submit([path = state_->clock(), now = clock_.wall()] {
    ignore(keep_time(real_disk(), path, now),
           "a floor for a clock that may be wrong; the next one counts as well");
  });
  if (!queued) SAMOVAR_LOG(debug, main, "the io pool is full: the time is kept later");
  time_timer_ = loop_.after(kKeepTimeEvery, [this] { keep_time_now(); });
}

void Node::stop(std::function<void()> done) {
  if (stopping_) return;
  stopping_ = true;
  loop_.cancel(time_timer_);
  sampler_.stop();
  power_->stop();
  // Before the server: a worker that runs would keep a request waiting.
  if (models_) models_->stop();
  if (data_) data_->stop();
  events_.close_all();
  auto closed = [this, done = std::move(done)] { spawn(close_all(done)); };
  hand_over_then([this, closed = std::move(closed)] {
    if (server_ == nullptr) return closed();
    server_->stop(closed);
  });
}

// The others need not wait for an election when a leader leaves politely; nor for one that cannot.
void Node::hand_over_then(std::function<void()> next) {
  const bool leads = cluster_ && cluster_->status().leader && cluster_->log_members().size() > 1;
  if (!leads) return next();
  auto once = std::make_shared<std::function<void()>>(std::move(next));  // shared by the two ways to go on
  const auto go_on = [once] {
    if (auto then = std::exchange(*once, {})) then();
  };
  loop_.after(kHandOverMax, go_on);
  cluster_->log().hand_over("", [go_on](const Result<void>& done) {
    if (!done) SAMOVAR_LOG(info, main, "nobody took over the lead", kv("error", done.error().message()));
    go_on();
  });
}

Task<void> Node::close_all(std::function<void()> done) {
  phase_ = api::Phase::starting;  // nobody gets at the state any more
  if (history_file_) {
    if (auto saved = history_file_->stop(); !saved)
      SAMOVAR_LOG(warn, main, "the history of the last minutes was not saved",
                  kv("error", saved.error().message()));
  }
  // The log is not closed: what was acknowledged is durable already, and libraft 0.15 may free a segment
  // twice when it closes on a nearly full disk. The process ends now, as after a kill.
  ignore(keep_time(real_disk(), state_->clock(), clock_.wall()), "as in keep_time_now");
  done();
  co_return;
}

}  // namespace samovar::daemon
