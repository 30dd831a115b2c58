#include "daemon/cluster/cluster.hpp"

#include <algorithm>
#include <utility>

#include "base/encoding.hpp"
#include "base/failpoint.hpp"
#include "base/ids.hpp"
#include "base/metrics.hpp"
#include "daemon/cluster/cluster_impl.hpp"
#include "security/secret_bytes.hpp"

namespace samovar::cluster {

Cluster::Cluster(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Cluster::~Cluster() = default;

Result<std::unique_ptr<Cluster>> Cluster::open(Loop& loop, Rng& rng, ClusterOptions options,
                                               security::SecretBytes metadata_key) {
  auto impl = std::make_unique<Impl>(loop, rng);
  impl->cluster_id = options.cluster_id;
  impl->node_id = options.node_id;
  SAMOVAR_TRY(impl->machine, ClusterMachine::create());
  raft::ConsensusOptions log = std::move(options.log);
  log.dir = std::move(options.dir);
  log.cluster_id = std::move(options.cluster_id);
  log.node_id = std::move(options.node_id);
  log.key_generation = options.key_generation;
  log.bootstrap = options.bootstrap;
  SAMOVAR_TRY(impl->log,
              raft::ConsensusLog::open(loop, std::move(log), std::move(metadata_key), *impl->machine));
  return std::unique_ptr<Cluster>(new Cluster(std::move(impl)));
}

Task<void> Cluster::close() {
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

WallTime Cluster::Impl::now() const { return std::max(loop.clock().wall(), machine->last_time()); }

Task<Result<Fields>> Cluster::Impl::execute(Call call, std::string type, Fields body) {
  static auto& commands =
      metrics::counter("samovar_cluster_commands_total", "Commands proposed to the replicated log");
  static auto& failures =
      metrics::counter("samovar_cluster_command_failures_total", "Commands refused or failed");
  Command command;
  command.type = std::move(type);
  command.time = loop.clock().wall();
  command.actor = std::move(call.actor);
  command.request_id = std::move(call.request_id);
  command.body = std::move(body);
  commands.add(1);
  const unsigned level = this->level();
  if (command_level(command.type, command.body) > level)
    co_return Error{
        Errc::unsupported,
        "a node of this cluster has an earlier version that does not know this yet: upgrade all nodes"};
  Bytes bytes = encode_command(command);
  // What would be refused when applied need not go through the log at all.
  if (auto fits = decode_command(bytes); !fits) co_return std::move(fits).error();
  auto start = [this, bytes](std::function<void(Result<Bytes>)> done) {
    log->propose(bytes, std::move(done));
  };
  Result<Bytes> reply = co_await from_callback<Result<Bytes>>(std::move(start));
  SAMOVAR_FAILPOINT("cluster.reply.before");
  Result<Fields> decoded = reply ? decode_reply(*reply) : Result<Fields>(std::move(reply).error());
  if (!decoded) failures.add(1);
  co_return decoded;
}

Task<Result<Fields>> Cluster::Impl::execute_quietly(std::string type, Fields body) {
  return execute(Call{Actor::system(), {}}, std::move(type), std::move(body));
}

raft::ConsensusStatus Cluster::status() const { return impl_->log->status(); }
Bytes Cluster::state_hash() const { return impl_->machine->state_hash(); }
WallTime Cluster::now() const { return impl_->now(); }
void Cluster::on_change(std::function<void(const Change&)> listener) {
  impl_->machine->on_change(std::move(listener));
}

}  // namespace samovar::cluster
