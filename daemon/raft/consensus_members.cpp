// Who is in the log: added, given a voice, removed, and who leads; one change at a time.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "daemon/raft/consensus_log_impl.hpp"

namespace samovar::raft {
namespace {

const LogServer* find(const LogServers& servers, const std::string& node_id) {
  const auto found = std::find_if(servers.begin(), servers.end(),
                                  [&](const LogServer& server) { return server.node_id == node_id; });
  return found == servers.end() ? nullptr : &*found;
}

}  // namespace

Result<void> ConsensusLog::Impl::may_change(bool changing) const {
  if (!failure_.empty()) return Error{Errc::unavailable, failure_};
  if (closing_) return Error{Errc::unavailable, "the log is being closed"};
  if (!raft_->ready()) return Error{Errc::conflict, "this node does not lead the log"};
  if (changing || raft_->handing_over())
    return Error{Errc::busy, "the members are being changed already: try again in a moment"};
  return {};
}

// A leader that removes itself goes on for a while, and a last voter begins no new term: both at once would
// give one number to two entries.
Result<void> ConsensusLog::Impl::may_lose(const std::string& node_id) const {
  if (node_id != options_.node_id) return {};
  return Error{Errc::conflict, "this node leads the log: hand the leadership over first"};
}

// `step` runs in a turn, when nothing else is being changed; `done` gets its result at the end of one.
void ConsensusLog::Impl::change(std::function<void(Finished)> step, Finished done) {
  if (!raft_ || raft_closing_) {
    loop_.post([done = std::move(done)] { done(Error{Errc::unavailable, "the log is closed"}); });
    return;
  }
  notes_.emplace_back([this, step = std::move(step), done = std::move(done)] {
    if (auto may = may_change(changing_); !may) {
      calls_.emplace_back([done, error = std::move(may).error()] { done(error); });
      return;
    }
    changing_ = true;
    step([this, done](Result<void> result) {
      changing_ = false;
      calls_.emplace_back([done, result = std::move(result)] { done(result); });
    });
  });
  host_->kick();
}

void ConsensusLog::Impl::add_member(const std::string& node_id, Finished done) {
  change(
      [this, node_id](Finished finished) {
        if (node_id.empty() || node_id.size() > kNodeIdBytesMax)
          return finished(Error{Errc::invalid, "the id of a node has 1 to 128 bytes"});
        const LogServers servers = raft_->servers();
        const LogServer* known = find(servers, node_id);
        if (known != nullptr && known->role != Role::spare) return finished({});
        const auto serve = [this, node_id](Finished then) {
          raft_->assign(node_id, Role::standby, std::move(then));
        };
        if (known != nullptr) return serve(std::move(finished));
        if (servers.size() >= kServersMax) return finished(Error{Errc::busy, "the log has too many members"});
        // libraft adds members that get nothing yet; not from its callback, it is in the middle of applying.
        raft_->add(node_id, [this, serve, finished](Result<void> added) {
          notes_.emplace_back([serve, finished, added = std::move(added)] {
            if (!added) return finished(added);
            serve(finished);
          });
        });
      },
      std::move(done));
}

void ConsensusLog::Impl::set_voice(const std::string& node_id, Voice voice, Finished done) {
  change(
      [this, node_id, voice](Finished finished) {
        const LogServers servers = raft_->servers();
        const LogServer* known = find(servers, node_id);
        const Role role = voice == Voice::voter ? Role::voter : Role::standby;
        if (known == nullptr)
          return finished(Error{Errc::not_found, fmt::format("{} is not in the log", node_id)});
        if (known->role == role) return finished({});
        if (role != Role::voter) {
          if (auto may = may_lose(node_id); !may) return finished(may);
        }
        raft_->assign(node_id, role, std::move(finished));
      },
      std::move(done));
}

void ConsensusLog::Impl::remove_member(const std::string& node_id, Finished done) {
  change(
      [this, node_id](Finished finished) {
        const LogServers servers = raft_->servers();
        if (find(servers, node_id) == nullptr) return finished({});
        if (auto may = may_lose(node_id); !may) return finished(may);
        raft_->remove(node_id, std::move(finished));
      },
      std::move(done));
}

void ConsensusLog::Impl::hand_over(const std::string& node_id, Finished done) {
  change(
      [this, node_id](Finished finished) {
        if (node_id == options_.node_id) return finished({});
        raft_->hand_over(node_id, std::move(finished));
      },
      std::move(done));
}

std::vector<LogMember> ConsensusLog::Impl::members() const {
  if (!raft_ || raft_closing_) return {};
  return raft_->members();
}

}  // namespace samovar::raft
