// A turn of the log: what arrived, who leads, what is to be written and who is to be told; and its end.
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "base/failpoint.hpp"
#include "base/log.hpp"
#include "daemon/raft/consensus_log_impl.hpp"

namespace samovar::raft {
namespace {

constexpr std::size_t kWaitersMax = 4096;
// Without a majority what is in flight never ends.
constexpr std::chrono::seconds kCloseWait{2};

}  // namespace

// After each round of the host, outside libraft's callbacks. True: the host has something new to look at.
bool ConsensusLog::Impl::turn() {
  bool again = false;
  if (raft_ && !raft_closing_) {
    again = raft_->turn();
    for (auto& note : std::exchange(notes_, {})) {
      note();
      again = true;
    }
    if (failure_.empty()) {
      watch_leadership();
      again = witness() || again;
      again = submit() || again;
      again = raft_->spread_commit() || again;
    }
    answer_waiters();
    end_compaction();
  }
  deliver();
  tell_leader();
  advance_close();
  return again;
}

template <class List>
void ConsensusLog::Impl::refuse(List& list, const Error& error) {
  for (auto& proposal : list)
    if (proposal.done) ready_.emplace_back(std::move(proposal.done), error);
  list.clear();
}

void ConsensusLog::Impl::watch_leadership() {
  const bool leads = raft_->leader();
  if (!batch_.empty() && (!leads || raft_->term() != batch_term_))
    refuse(batch_, Error{Errc::unavailable,
                         "the leader changed while the change was under way: it may be there or not"});
  if (!leads && !queue_.empty())
    refuse(queue_, Error{Errc::conflict, "this node no longer leads the log: changes go through the leader"});
}

void ConsensusLog::Impl::deliver() {
  while (!ready_.empty() || !calls_.empty()) {
    auto ready = std::exchange(ready_, {});
    auto calls = std::exchange(calls_, {});
    for (auto& [done, result] : ready) {
      SAMOVAR_FAILPOINT("raft.reply.before");
      done(std::move(result));
    }
    for (auto& call : calls) call();
  }
}

void ConsensusLog::Impl::on_broken(std::string why) { fail(why); }

void ConsensusLog::Impl::fail(const std::string& why) {
  if (!failure_.empty()) return;
  if (!raft_closing_) SAMOVAR_LOG(error, raft, "the log stopped; the node must be restarted", kv("why", why));
  failure_ = fmt::format("{}{} Restart the node when the cause is gone.", why, why.ends_with('.') ? "" : ".");
  if (raft_) raft_->mute();
  const Error error{Errc::unavailable, failure_};
  refuse(witnessing_, error);
  refuse(applied_, error);
  refuse(batch_, error);
  refuse(queue_, error);
}

void ConsensusLog::Impl::link_changed(const std::string& node_id, bool up) {
  if (raft_ && !raft_closing_) raft_->link_changed(node_id, up);
}

void ConsensusLog::Impl::when_applied(std::uint64_t index, Duration deadline, Finished done) {
  const bool there = raft_ && !raft_closing_ && raft_->applied_index() >= index;
  if (there || !failure_.empty() || closing_ || waiters_.size() >= kWaitersMax) {
    Result<void> result;
    if (!there && waiters_.size() >= kWaitersMax) result = Error{Errc::busy, "too many wait for the log"};
    if (!there && (closing_ || !failure_.empty())) result = Error{Errc::unavailable, "the log is closed"};
    loop_.post([done = std::move(done), result = std::move(result)] { done(result); });
    return;
  }
  Waiter waiter;
  waiter.index = index;
  waiter.done = std::move(done);
  const std::uint64_t id = ++waiter_ids_;
  waiter.id = id;
  waiter.timer = loop_.after(deadline, [this, id] {
    for (Waiter& one : waiters_) {
      if (one.id != id) continue;
      one.timer = 0;
      one.late = true;
    }
    host_->kick();
  });
  waiters_.push_back(std::move(waiter));
}

void ConsensusLog::Impl::answer_waiters() {
  if (waiters_.empty()) return;
  const std::uint64_t applied = raft_->applied_index();
  std::erase_if(waiters_, [&](Waiter& waiter) {
    Result<void> result;
    if (waiter.index > applied) {
      if (waiter.late) {
        result = Error{Errc::timeout, "the change has not reached this node in time"};
      } else if (!failure_.empty() || closing_) {
        result = Error{Errc::unavailable, "the log is closed"};
      } else {
        return false;
      }
    }
    if (waiter.timer != 0) loop_.cancel(waiter.timer);
    calls_.emplace_back([done = std::move(waiter.done), result = std::move(result)] { done(result); });
    return true;
  });
}

void ConsensusLog::Impl::on_leader(std::function<void(const ConsensusStatus&)> listener) {
  on_leader_ = std::move(listener);
}

void ConsensusLog::Impl::tell_leader() {
  if (!raft_ || raft_closing_) return;
  std::string leader = failure_.empty() ? raft_->leader_id() : "";
  const bool ready = failure_.empty() && raft_->ready();
  if (leader == told_leader_ && ready == told_ready_) return;
  told_leader_ = std::move(leader);
  told_ready_ = ready;
  if (on_leader_) on_leader_(status());
}

ConsensusStatus ConsensusLog::Impl::status() const {
  ConsensusStatus status;
  status.failed = !failure_.empty();
  status.failure = failure_;
  status.sequence = head_.sequence;
  status.snapshot_index = snapshot_index_;
  status.in_flight = in_flight();
  if (!raft_ || raft_closing_) return status;
  status.leader = failure_.empty() && raft_->ready();
  status.leader_id = failure_.empty() ? raft_->leader_id() : "";
  for (const LogServer& server : raft_->servers())
    if (server.node_id == options_.node_id) status.member = true;
  status.term = raft_->term();
  status.last_index = raft_->last_index();
  status.applied_index = raft_->applied_index();
  return status;
}

void ConsensusLog::Impl::close(std::function<void()> done) {
  closing_ = true;
  on_closed_ = done ? std::move(done) : [] {};
  close_timer_ = loop_.after(kCloseWait, [this] {
    close_timer_ = 0;
    close_overdue_ = true;
    host_->kick();
  });
  host_->kick();
}

bool ConsensusLog::Impl::idle() const {
  if (in_flight() > 0 || host_->witness_busy() || !raft_->quiet()) return false;
  return !failure_.empty() || head_ == witnessed_.position;
}

// Finish what is in flight, then libraft, then tell.
void ConsensusLog::Impl::advance_close() {
  if (!closing_ || !on_closed_) return;
  if (!raft_closing_ && (idle() || close_overdue_)) {
    if (close_timer_ != 0) loop_.cancel(std::exchange(close_timer_, 0));
    const Error error{Errc::unavailable, "the log was closed before the change was agreed on"};
    refuse(batch_, error);
    refuse(queue_, error);
    deliver();
    raft_closing_ = true;
    raft_->close([this] { raft_closed_ = true; });
    return;
  }
  if (!raft_closed_ || host_->witness_busy() || host_->busy()) return;
  raft_.reset();
  host_->stop();
  loop_.post(std::exchange(on_closed_, nullptr));  // from there we may be destroyed
}

}  // namespace samovar::raft
