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
#include "daemon/raft/witness_file.hpp"

namespace samovar::raft {
namespace {

constexpr std::size_t kBatchBytesMax = 1024 * 1024;
constexpr std::size_t kBatchEntriesMax = 256;
constexpr unsigned kSnapshotsKept = 2;  // by libraft
// Long enough for a harness to kill us between the early answer and the write.
constexpr std::chrono::milliseconds kEarlyHold{50};

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
  if (queue_.size() + batch_.size() + applied_.size() + witnessing_.size() >= options_.in_flight_max)
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
  driver_->kick();
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
      driver_->kick();
    });
  }
  driver_->kick();
}

// After each uv_run, outside libuv's callbacks. True: libuv has something new to look at.
bool ConsensusLog::Impl::turn() {
  bool again = false;
  if (failure_.empty() && raft_ && !raft_closing_) {
    again = witness();
    again = submit() || again;
  }
  end_compaction();
  deliver();
  advance_close();
  return again;
}

bool ConsensusLog::Impl::submit() {
  if (!batch_.empty() || queue_.empty() || hold_submits_) return false;
  std::vector<Bytes> sealed;
  std::size_t total = 0;
  Position last = head_;
  while (!queue_.empty() && sealed.size() < kBatchEntriesMax && total < kBatchBytesMax) {
    Proposal proposal = std::move(queue_.front());
    queue_.pop_front();
    proposal.position = {last.sequence + 1, random_entry_id()};
    sealed.push_back(sealer_.seal_entry(proposal.position, last.id, proposal.command));
    total += sealed.back().size();
    last = proposal.position;
    batch_.push_back(std::move(proposal));
  }
  if (auto taken = raft_->submit(sealed); !taken) {
    fail(taken.error().message());
    return false;
  }
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

bool ConsensusLog::Impl::witness() {
  if (applied_.empty() || witness_writer_->busy()) return false;
  witnessing_ = std::exchange(applied_, {});
  Witness next;
  next.counter = witnessed_.counter + 1;
  next.position = witnessing_.back().position;
  next.index = head_index_;
  next.term = raft_->term();
  SAMOVAR_FAILPOINT("raft.witness.before");
  witness_writer_->write(witness_slot_offset(next.counter), witness_slot(sealer_, next),
                         [this, next](const Result<void>& written) {
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

void ConsensusLog::Impl::deliver() {
  while (!ready_.empty()) {
    auto ready = std::exchange(ready_, {});
    for (auto& [done, result] : ready) {
      SAMOVAR_FAILPOINT("raft.reply.before");
      done(std::move(result));
    }
  }
}

void ConsensusLog::Impl::on_submit_failed(std::string why) { fail("the log could not be written: " + why); }

void ConsensusLog::Impl::fail(const std::string& why) {
  if (!failure_.empty()) return;
  if (!raft_closing_) SAMOVAR_LOG(error, raft, "the log stopped; the node must be restarted", kv("why", why));
  failure_ = fmt::format("{}{} Restart the node when the cause is gone.", why, why.ends_with('.') ? "" : ".");
  const auto refuse = [this](auto& list) {
    for (auto& proposal : list)
      if (proposal.done) ready_.emplace_back(std::move(proposal.done), Error{Errc::unavailable, failure_});
    list.clear();
  };
  refuse(witnessing_);
  refuse(applied_);
  refuse(batch_);
  refuse(queue_);
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

bool ConsensusLog::Impl::on_restore(ByteView bytes) {
  auto snapshot = sealer_.open_snapshot(bytes);
  Result<void> restored = snapshot ? machine_.restore(snapshot->state) : Result<void>(snapshot.error());
  if (!restored) {
    fail(
        fmt::format("the snapshot in {} cannot be loaded: {}. Restore the folder from a backup of this node.",
                    options_.dir, restored.error().message()));
    return false;
  }
  head_ = snapshot->position;
  return true;
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

ConsensusStatus ConsensusLog::Impl::status() const {
  ConsensusStatus status;
  status.failed = !failure_.empty();
  status.failure = failure_;
  status.sequence = head_.sequence;
  status.snapshot_index = snapshot_index_;
  status.in_flight = queue_.size() + batch_.size() + applied_.size() + witnessing_.size();
  if (!raft_ || raft_closing_) return status;
  status.leader = raft_->leader();
  status.term = raft_->term();
  status.last_index = raft_->last_index();
  status.applied_index = raft_->applied_index();
  return status;
}

void ConsensusLog::Impl::close(std::function<void()> done) {
  closing_ = true;
  on_closed_ = done ? std::move(done) : [] {};
  driver_->kick();
}

// Finish what is in flight, then libraft, then tell.
void ConsensusLog::Impl::advance_close() {
  if (!closing_ || !on_closed_) return;
  if (!raft_closing_ && idle()) {
    raft_closing_ = true;
    raft_->close([this] { raft_closed_ = true; });
    return;
  }
  if (!raft_closed_ || witness_writer_->busy()) return;
  raft_.reset();
  witness_writer_.reset();
  driver_->stop();
  loop_.post(std::exchange(on_closed_, nullptr));  // from there we may be destroyed
}

}  // namespace samovar::raft
