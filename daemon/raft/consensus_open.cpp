// How a log is begun, or verified and loaded; and how one is cut loose from members that are gone.
#include <utility>

#include <fmt/format.h>

#include "base/disk.hpp"
#include "base/log.hpp"
#include "daemon/raft/consensus_log_impl.hpp"
#include "daemon/raft/log_check.hpp"
#include "daemon/raft/uv_host.hpp"
#include "daemon/raft/witness_file.hpp"

namespace samovar::raft {

ConsensusLog::Impl::Impl(std::unique_ptr<LogHost> host, ConsensusOptions options, security::SecretBytes key,
                         StateMachine& machine)
    : options_(std::move(options)),
      sealer_(std::move(key), options_.cluster_id, options_.key_generation),
      machine_(machine),
      host_(std::move(host)),
      loop_(host_->loop()) {
  if (options_.node_id.empty()) options_.node_id = "local";
}

ConsensusLog::Impl::~Impl() {
  // Callers that still wait are gone by now.
  failure_ = "closed";
  for (auto* list : {&queue_, &batch_}) list->clear();
  applied_.clear();
  witnessing_.clear();
  for (const Waiter& waiter : waiters_) loop_.cancel(waiter.timer);
  for (const Loop::Id timer : {hold_timer_, witness_timer_, close_timer_})
    if (timer != 0) loop_.cancel(timer);
  host_->stop();
  raft_.reset();
}

Result<void> ConsensusLog::Impl::open() {
  if (options_.node_id.size() > kNodeIdBytesMax)
    return Error{Errc::invalid, "the id of a node has at most 128 bytes"};
  SAMOVAR_TRY(const LogFound found, host_->prepare(options_, sealer_));
  witnessed_ = found.witness;
  auto started = RaftHandle::start(*host_, *this, options_, found.witness.index);
  if (!failure_.empty()) return Error{Errc::corrupt, failure_};
  if (!started) return std::move(started).error();
  raft_ = *std::move(started);
  // A sole voter has applied everything; others wait for a leader to say what is agreed on.
  if (found.whole && raft_->sole_voter() && !(head_ == found.head))
    return Error{Errc::corrupt,
                 fmt::format("{}: the log loaded {} changes, but {} were verified. Restore the folder "
                             "from a backup of this node.",
                             options_.dir, head_.sequence, found.head.sequence)};
  replaying_ = false;
  if (raft_->sole_voter()) head_index_ = raft_->applied_index();
  host_->start([this] { return turn(); });
  host_->kick();
  SAMOVAR_LOG(debug, raft, "log open", kv("dir", options_.dir), kv("sequence", head_.sequence),
              kv("index", head_index_));
  return {};
}

Result<void> ConsensusLog::recover_alone(Disk& disk, const ConsensusOptions& options,
                                         security::SecretBytes metadata_key) {
  const Sealer sealer(std::move(metadata_key), options.cluster_id, options.key_generation);
  if (!disk.exists(options.dir) || options.node_id.empty())
    return Error{Errc::not_found, fmt::format("{}: there is no log", options.dir)};
  SAMOVAR_TRY(const Witness witness, load_witness(disk, options.dir, sealer));
  SAMOVAR_TRY(const LogCheck check, check_log(disk, options.dir, sealer, witness, false));
  // Left to the next ordinary start, which knows how to put them aside.
  if (!check.torn_segments.empty() || !check.old_segments.empty())
    return Error{
        Errc::conflict,
        fmt::format("{}: the last write was cut off. Start the node once as it is, stop it, then try "
                    "again.",
                    options.dir)};
  SAMOVAR_LOG(warn, raft, "this node becomes the only member of its log; what only the others had is lost",
              kv("dir", options.dir), kv("members", check.servers.size()), kv("index", check.last_index));
  return make_only_member(options.dir, options.node_id);
}

}  // namespace samovar::raft
