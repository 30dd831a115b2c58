// The way of a proposal: admitted, sealed and written in batches, applied, witnessed, acknowledged.
#include <sys/statvfs.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "base/failpoint.hpp"
#include "base/log.hpp"
#include "daemon/raft/consensus_log_impl.hpp"

namespace samovar::raft {
namespace {

constexpr std::size_t kBatchBytesMax = 1024 * 1024;
constexpr std::size_t kBatchEntriesMax = 256;
constexpr unsigned kSnapshotsKept = 2;  // by libraft
// Long enough for a harness to kill us between the early answer and the write.
constexpr std::chrono::milliseconds kEarlyHold{50};
constexpr std::chrono::seconds kWitnessDelay{1};

Result<std::uint64_t> free_bytes_of(const std::string& dir) {
  struct statvfs info {};
  if (::statvfs(dir.c_str(), &info) != 0)
    return Error{Errc::io, fmt::format("cannot ask for the free space of {}: {}", dir, std::strerror(errno))};
  return static_cast<std::uint64_t>(info.f_bavail) * info.f_frsize;
}

}  // namespace

Result<void> ConsensusLog::Impl::admit(std::size_t command_bytes) {
  SAMOVAR_FAILPOINT_ERROR("raft.propose.before");
  if (!failure_.empty()) return Error{Errc::unavailable, failure_};
  if (closing_) return Error{Errc::unavailable, "the log is being closed"};
  if (command_bytes > options_.command_bytes_max)
    return Error{Errc::invalid, fmt::format("a change has at most {} bytes", options_.command_bytes_max)};
  if (!raft_->leader())
    return Error{Errc::conflict, "this node does not lead the log: changes go through the leader"};
  if (in_flight() >= options_.in_flight_max)
    return Error{Errc::busy, "too many changes wait for the disk: try again in a moment"};
  SAMOVAR_TRY(const std::uint64_t free_bytes,
              options_.free_bytes ? options_.free_bytes() : free_bytes_of(options_.dir));
  if (free_bytes < options_.free_bytes_min)
    return Error{Errc::no_space,
                 fmt::format("the disk of {} is full ({} MiB left, {} MiB needed): free some space, "
                             "then try again",
                             options_.dir, free_bytes >> 20, options_.free_bytes_min >> 20)};
  return {};
}

void ConsensusLog::Impl::propose(Bytes command, Done done) {
  if (auto admitted = admit(command.size()); !admitted) {
    // Not through ready_: after close() nobody turns it any more.
    loop_.post([done = std::move(done), error = std::move(admitted).error()] { done(error); });
    return;
  }
#if SAMOVAR_FAILPOINTS
  if (options_.ack_before_commit_for_tests) return propose_early(std::move(command), std::move(done));
#endif
  Proposal proposal;
  proposal.command = std::move(command);
  proposal.done = std::move(done);
  queue_.push_back(std::move(proposal));
  host_->kick();
}

// The planted bug: answers first, writes later. The durability harness must notice.
void ConsensusLog::Impl::propose_early(Bytes command, Done done) {
  Bytes reply = machine_.apply(raft_->last_index() + queue_.size() + 1, command);
  ready_.emplace_back(std::move(done), std::move(reply));
  Proposal proposal;
  proposal.command = std::move(command);
  proposal.early = true;
  queue_.push_back(std::move(proposal));
  if (!std::exchange(hold_submits_, true)) {
    hold_timer_ = loop_.after(kEarlyHold, [this] {
      hold_timer_ = 0;
      hold_submits_ = false;
      host_->kick();
    });
  }
  host_->kick();
}

bool ConsensusLog::Impl::submit() {
  if (!batch_.empty() || queue_.empty() || hold_submits_ || !raft_->ready() || raft_->handing_over())
    return false;
  std::vector<Bytes> sealed;
  std::size_t total = 0;
  Position last = head_;
  while (!queue_.empty() && sealed.size() < kBatchEntriesMax && total < kBatchBytesMax) {
    Proposal proposal = std::move(queue_.front());
    queue_.pop_front();
    proposal.position = {last.sequence + 1, random_entry_id(host_->rng())};
    sealed.push_back(sealer_.seal_entry(proposal.position, last.id, proposal.command));
    total += sealed.back().size();
    last = proposal.position;
    batch_.push_back(std::move(proposal));
  }
  batch_term_ = raft_->term();
  auto taken = raft_->submit(sealed);
  if (!taken) fail(taken.error().message());
  return true;
}

bool ConsensusLog::Impl::on_apply(std::uint64_t index, ByteView framed) {
  auto entry = sealer_.open_entry(framed);
  if (!entry || entry->position.sequence != head_.sequence + 1 || entry->previous != head_.id) {
    fail(fmt::format(
        "entry {} of the log in {} does not verify. Restore the folder from a backup of this node.", index,
        options_.dir));
    return false;
  }
  const bool ours = !batch_.empty() && batch_.front().position == entry->position;
  if (ours) SAMOVAR_FAILPOINT("raft.append.done");
  if (!replaying_) SAMOVAR_FAILPOINT("raft.apply.before");
  Bytes reply;
  if (!ours || !batch_.front().early) reply = machine_.apply(index, entry->command);
  head_ = entry->position;
  head_index_ = index;
  if (!replaying_) SAMOVAR_FAILPOINT("raft.apply.after");
  if (ours) {
    applied_.push_back(std::move(batch_.front()));
    batch_.pop_front();
    applied_.back().reply = std::move(reply);
  }
  return true;
}

// Of what others proposed nobody here waits: one write for all of a second.
void ConsensusLog::Impl::witness_later() {
  if (witness_timer_ != 0) return;
  witness_timer_ = loop_.after(kWitnessDelay, [this] {
    witness_timer_ = 0;
    witness_due_ = true;
    host_->kick();
  });
}

bool ConsensusLog::Impl::witness() {
  if (host_->witness_busy()) return false;
  if (applied_.empty()) {
    if (head_ == witnessed_.position) return false;
    if (!witness_due_ && !closing_) return witness_later(), false;
  }
  witness_due_ = false;
  witnessing_ = std::exchange(applied_, {});
  Witness next;
  next.counter = witnessed_.counter + 1;
  next.position = head_;
  next.index = head_index_;
  next.term = raft_->term();
  SAMOVAR_FAILPOINT("raft.witness.before");
  host_->write_witness(sealer_, next, [this, next](const Result<void>& written) {
    if (written) witnessed_ = next;
    on_witnessed(written);
  });
  return true;
}

void ConsensusLog::Impl::on_witnessed(const Result<void>& written) {
  // A failed write to stable storage is not tried again: nobody knows what the disk holds now.
  if (!written) return fail(written.error().message());
  SAMOVAR_FAILPOINT("raft.witness.after");
  for (auto& proposal : witnessing_)
    if (proposal.done) ready_.emplace_back(std::move(proposal.done), std::move(proposal.reply));
  witnessing_.clear();
}

Result<Bytes> ConsensusLog::Impl::on_snapshot() {
  SAMOVAR_FAILPOINT_ERROR("raft.snapshot.before");
  auto state = machine_.snapshot();
  if (!state) {
    SAMOVAR_LOG(warn, raft, "no snapshot could be made; the log keeps growing",
                kv("why", state.error().message()));
    return std::move(state).error();
  }
  Bytes sealed = sealer_.seal_snapshot(head_, *state);
  snapshot_index_ = head_index_;
  if (compacting_ > 0) --compacting_;
  SAMOVAR_FAILPOINT("raft.snapshot.after");
  return sealed;
}

bool ConsensusLog::Impl::on_restore(std::uint64_t index, ByteView bytes) {
  auto snapshot = sealer_.open_snapshot(bytes);
  Result<void> restored = snapshot ? machine_.restore(snapshot->state) : Result<void>(snapshot.error());
  if (!restored) {
    fail(
        fmt::format("the snapshot in {} cannot be loaded: {}. Restore the folder from a backup of this node.",
                    options_.dir, restored.error().message()));
    return false;
  }
  head_ = snapshot->position;
  head_index_ = index;
  return true;
}

bool ConsensusLog::Impl::on_foreign_entry(ByteView framed) { return sealer_.open_entry(framed).has_value(); }

bool ConsensusLog::Impl::on_foreign_snapshot(ByteView framed) {
  const auto snapshot = sealer_.open_snapshot(framed);
  if (!snapshot)
    SAMOVAR_LOG(error, raft, "a snapshot of another member is not of this cluster; it was refused",
                kv("why", snapshot.error().message()));
  return snapshot.has_value();
}

void ConsensusLog::Impl::compact_soon() {
  if (!raft_ || raft_closing_) return;
  compacting_ = kSnapshotsKept;
  eager_ = true;
  raft_->set_snapshots(1, 1);
}

// Not from on_snapshot: libraft reads its settings once more after it.
void ConsensusLog::Impl::end_compaction() {
  if (!eager_ || compacting_ > 0 || !raft_ || raft_closing_) return;
  eager_ = false;
  raft_->set_snapshots(options_.snapshot_threshold, options_.snapshot_trailing);
}

}  // namespace samovar::raft
