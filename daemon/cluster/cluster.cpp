#include "daemon/cluster/cluster.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/encoding.hpp"
#include "base/failpoint.hpp"
#include "base/ids.hpp"
#include "base/metrics.hpp"
#include "daemon/cluster/cluster_impl.hpp"
#include "daemon/cluster/context.hpp"
#include "daemon/raft/log_host.hpp"
#include "security/secret_bytes.hpp"

namespace samovar::cluster {
namespace {

constexpr Duration kCatchUpMax = std::chrono::seconds(2);  // somebody waits for the answer

class ConsensusPort final : public LogPort {
 public:
  explicit ConsensusPort(raft::ConsensusLog& log) : log_(log) {}
  raft::ConsensusStatus status() const override { return log_.status(); }
  void propose(Bytes command, std::function<void(Result<Bytes>)> done) override {
    log_.propose(std::move(command), std::move(done));
  }
  void when_applied(std::uint64_t index, Duration deadline, std::function<void(Result<void>)> done) override {
    log_.when_applied(index, deadline, std::move(done));
  }

 private:
  raft::ConsensusLog& log_;
};

}  // namespace

Cluster::Cluster(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Cluster::~Cluster() = default;

Result<std::unique_ptr<Cluster>> Cluster::open(Loop& loop, Rng& rng, ClusterOptions options,
                                               security::SecretBytes metadata_key) {
  return open_on(nullptr, loop, rng, std::move(options), std::move(metadata_key));
}

Result<std::unique_ptr<Cluster>> Cluster::open_on(std::unique_ptr<raft::LogHost> host, Loop& loop, Rng& rng,
                                                  ClusterOptions options,
                                                  security::SecretBytes metadata_key) {
  auto impl = std::make_unique<Impl>(loop, rng);
  impl->cluster_id = options.cluster_id;
  impl->node_id = options.node_id;
  impl->links = options.links;
  SAMOVAR_TRY(impl->machine, ClusterMachine::create());
  raft::ConsensusOptions log = std::move(options.log);
  log.dir = std::move(options.dir);
  log.cluster_id = std::move(options.cluster_id);
  log.node_id = std::move(options.node_id);
  log.key_generation = options.key_generation;
  log.bootstrap = options.bootstrap;
  log.join = options.join;
  if (impl->links.exchange != nullptr) {
    impl->wire = std::make_unique<LogWire>(*impl->links.exchange);
    log.wire = impl->wire.get();
  }
  auto opened = host == nullptr
                    ? raft::ConsensusLog::open(loop, std::move(log), std::move(metadata_key), *impl->machine)
                    : raft::ConsensusLog::open_on(std::move(host), std::move(log), std::move(metadata_key),
                                                  *impl->machine);
  if (!opened) return std::move(opened).error();
  impl->log = *std::move(opened);
  // Not from within: the log is in the middle of applying.
  impl->machine->on_keys_destroyed([raw = impl.get(), alive = std::weak_ptr<bool>(impl->alive)] {
    raw->loop.post([raw, alive] {
      if (!alive.expired()) raw->log->compact_soon();
    });
  });
  if (impl->links.exchange != nullptr) impl->connect();
  return std::unique_ptr<Cluster>(new Cluster(std::move(impl)));
}

void Cluster::Impl::connect() {
  port = std::make_unique<ConsensusPort>(*log);
  ForwarderView view;
  view.now = [this] { return now(); };
  view.may_ask = [this](const std::string& asker) { return may_ask(asker); };
  view.may_propose = [this](const Command& command) { return may_propose(command); };
  if (links.up) view.in_minority = [this] { return sight().in_minority(); };
  view.no_leader = [this] { return no_leader(); };
  forwarder = std::make_unique<Forwarder>(loop, *port, *links.exchange, std::move(view));
  log->on_leader([this, still = std::weak_ptr<bool>(alive)](const raft::ConsensusStatus&) {
    if (!still.expired()) forwarder->leader_changed();  // the log goes after the forwarder
  });
}

Task<void> Cluster::close() {
  if (impl_->forwarder) impl_->forwarder->stop();
  // A value only because from_callback hands one over.
  co_await from_callback<bool>(
      [this](const std::function<void(bool)>& done) { impl_->log->close([done] { done(true); }); });
}

std::string Cluster::Impl::new_id(std::string_view prefix) {
  return samovar::new_id(prefix, loop.clock(), rng);
}

void Cluster::Impl::set_carrier(Fields& body, const std::string& named) const {
  if (level() >= 2) body.set("node_id", named.empty() ? node_id : named);
}

WallTime Cluster::Impl::now() const {
  const auto ahead = skew();
  const WallTime now = clock.now(loop.clock(), machine->last_time(), ahead);
  const bool unsure = !ahead && links.clock_ahead && members() > 1 && log->status().leader &&
                      machine->last_time() != WallTime{} && !links.clock_ahead();
  // Nobody has confirmed our clock since we lead. After a night without power it is right to be hours later
  // than the last command, but that can wait for the first answer.
  return unsure ? std::min(now, clock.at_most(loop.clock()) + kSkewBlocks) : now;
}

std::optional<Duration> Cluster::Impl::skew() const {
  if (links.clock_ahead && members() > 1 && log->status().leader) {
    if (const auto ahead = links.clock_ahead())
      return *ahead > Duration(kSkewBlocks) || *ahead < -Duration(kSkewBlocks) ? ahead : std::nullopt;
  }
  return forwarder ? forwarder->clock_skew() : std::nullopt;
}

std::size_t Cluster::Impl::members() const {
  const auto& nodes = machine->nodes();
  const auto count = std::count_if(nodes.begin(), nodes.end(),
                                   [](const NodeRecord& node) { return node.state != NodeState::removed; });
  return std::max<std::size_t>(static_cast<std::size_t>(count), 1);
}

Result<void> Cluster::Impl::may_ask(const std::string& asker) const {
  const auto node = find_node(db(), asker);
  if (!node || node->state == NodeState::removed)
    return Error{Errc::denied, "this node is no member of the cluster"};
  return {};
}

Result<void> Cluster::Impl::may_propose(const Command& command) const {
  const CommandEntry* entry = find_command(command.type);
  if (entry == nullptr || entry->apply == apply_cluster_init)
    return Error{Errc::unsupported, "this node does not know this command: install the same version on all"};
  if (command_level(command.type, command.body) > level())
    return Error{
        Errc::unsupported,
        "a node of this cluster has an earlier version that does not know this yet: upgrade all nodes"};
  return {};
}

Cluster::Impl::Sight Cluster::Impl::sight() const {
  Sight sight;
  const auto reaches = [this](const std::string& id) { return id == node_id || (links.up && links.up(id)); };
  for (const NodeRecord& node : machine->nodes()) {
    if (node.state == NodeState::removed) continue;
    ++sight.all;
    if (reaches(node.id)) ++sight.here;
  }
  for (const raft::LogMember& member : log->members()) {
    if (member.voice != raft::Voice::voter) continue;
    ++sight.voters;
    if (reaches(member.node_id)) ++sight.voters_here;
  }
  return sight;
}

Error Cluster::Impl::no_leader() const {
  const Sight sight = this->sight();
  if (links.up && sight.in_minority())
    return refuse_without_leader(fmt::format(
        "this side of the network has {} of {} nodes, and {} of the {} that vote must see each other. "
        "What is there can be read meanwhile",
        sight.here, sight.all, sight.voters / 2 + 1, sight.voters));
  return refuse_without_leader(fmt::format(
      "no node leads the {} nodes at the moment. Try again in a few seconds; what is there can be "
      "read meanwhile",
      sight.all));
}

Task<Result<Fields>> Cluster::Impl::execute(Call call, std::string type, Fields body) {
  // Whoever asks a leader that may be gone the next moment must be able to ask again.
  if (forwarder && call.request_id.empty() && members() > 1) call.request_id = new_id("req");
  return run(std::move(call), std::move(type), std::move(body));
}

Task<Result<Fields>> Cluster::Impl::execute_quietly(std::string type, Fields body) {
  return run(Call{Actor::system(), {}}, std::move(type), std::move(body));
}

Task<Result<Fields>> Cluster::Impl::run(Call call, std::string type, Fields body) {
  static auto& commands =
      metrics::counter("samovar_cluster_commands_total", "Commands proposed to the replicated log");
  static auto& failures =
      metrics::counter("samovar_cluster_command_failures_total", "Commands refused or failed");
  Command command;
  command.type = std::move(type);
  command.time = now();
  command.actor = std::move(call.actor);
  command.request_id = std::move(call.request_id);
  command.body = std::move(body);
  commands.add(1);
  if (command.type != "cluster.init") SAMOVAR_CO_CHECK(may_propose(command));
  Bytes bytes = encode_command(command);
  // What would be refused when applied need not go through the log at all.
  if (auto fits = decode_command(bytes); !fits) co_return std::move(fits).error();
  Result<Bytes> reply = Bytes();
  if (forwarder) {
    reply = co_await forwarder->submit(std::move(command));
  } else {
    auto start = [this, bytes](std::function<void(Result<Bytes>)> done) {
      log->propose(bytes, std::move(done));
    };
    reply = co_await from_callback<Result<Bytes>>(std::move(start));
  }
  SAMOVAR_FAILPOINT("cluster.reply.before");
  Result<Fields> decoded = reply ? decode_reply(*reply) : Result<Fields>(std::move(reply).error());
  if (!decoded) failures.add(1);
  co_return decoded;
}

raft::ConsensusStatus Cluster::status() const { return impl_->log->status(); }
Bytes Cluster::state_hash() const { return impl_->machine->state_hash(); }
WallTime Cluster::now() const { return impl_->now(); }
std::vector<raft::LogMember> Cluster::log_members() const { return impl_->log->members(); }
raft::ConsensusLog& Cluster::log() { return *impl_->log; }
const std::string& Cluster::behind() const { return impl_->machine->behind(); }
unsigned Cluster::level() const { return impl_->level(); }

std::optional<Duration> Cluster::clock_skew() const { return impl_->skew(); }

Task<Result<void>> Cluster::catch_up() {
  if (!impl_->forwarder || impl_->members() == 1) co_return Result<void>();
  co_return co_await impl_->forwarder->catch_up(kCatchUpMax);
}

Task<bool> Cluster::is_current() {
  if (!impl_->forwarder || impl_->members() == 1 || !impl_->forwarder->was_away()) co_return true;
  const auto done = co_await impl_->forwarder->catch_up(kCatchUpMax);
  co_return done || impl_->forwarder->is_cut_off();
}

bool Cluster::writable() const {
  const raft::ConsensusStatus status = impl_->log->status();
  if (status.failed) return false;
  if (status.leader) return true;
  if (!impl_->forwarder || status.leader_id.empty() || status.leader_id == impl_->node_id) return false;
  return !impl_->links.up || impl_->links.up(status.leader_id);
}
void Cluster::on_change(std::function<void(const Change&)> listener) {
  impl_->machine->on_change(std::move(listener));
}

}  // namespace samovar::cluster
