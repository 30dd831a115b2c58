// Who is in libraft's configuration, changed and told; and who leads next.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "daemon/raft/log_host.hpp"
#include "daemon/raft/native.hpp"

namespace samovar::raft {
namespace {

void changed(struct raft_change* request, int status) {
  auto& n = *static_cast<RaftHandle::Native*>(request->data);
  auto done = std::exchange(n.on_change, nullptr);
  if (!done) return;
  if (status == 0) return done({});
  done(error_of_raft(
      "the members were not changed", status,
      status == RAFT_NOCONNECTION ? "it does not catch up with the log" : raft_errmsg(&n.raft)));
}

void transferred(struct raft_transfer* request) {
  auto& n = *static_cast<RaftHandle::Native*>(request->data);
  auto done = std::exchange(n.on_transfer, nullptr);
  raft_id id = 0;
  const char* address = nullptr;
  raft_leader(&n.raft, &id, &address);
  if (!done) return;
  if (id == n.transfer_to) return done({});
  done(Error{Errc::timeout, "the other member did not take over in time"});
}

}  // namespace

Error error_of_raft(const char* doing, int rc, const std::string& detail) {
  Errc code = Errc::io;
  if (rc == RAFT_NOTLEADER) code = Errc::conflict;
  if (rc == RAFT_CANTCHANGE || rc == RAFT_BUSY) code = Errc::busy;
  if (rc == RAFT_LEADERSHIPLOST || rc == RAFT_SHUTDOWN || rc == RAFT_CANCELED) code = Errc::unavailable;
  if (rc == RAFT_NOCONNECTION) code = Errc::timeout;
  if (rc == RAFT_BADID || rc == RAFT_NOTFOUND) code = Errc::not_found;
  if (rc == RAFT_NOSPACE) code = Errc::no_space;
  if (rc == RAFT_CORRUPT) code = Errc::corrupt;
  return Error{code, fmt::format("{}: {} ({})", doing, raft_strerror(rc), detail)};
}

void RaftHandle::Native::change(const char* doing, int begun, RaftHandle::Done done) {
  if (begun != 0) {
    if (is_leader()) raft.leader_state.change = nullptr;  // libraft leaves it when an assignment fails
    return done(error_of_raft(doing, begun, raft_errmsg(&raft)));
  }
  on_change = std::move(done);
  after_message();
}

void RaftHandle::add(const std::string& node_id, Done done) {
  Native& n = *native_;
  n.change_request.data = &n;
  n.change("cannot add a member",
           raft_add(&n.raft, &n.change_request, raft_id_of(node_id), node_id.c_str(), changed),
           std::move(done));
}

void RaftHandle::assign(const std::string& node_id, Role role, Done done) {
  Native& n = *native_;
  n.change_request.data = &n;
  n.change("cannot change a member",
           raft_assign(&n.raft, &n.change_request, raft_id_of(node_id), static_cast<int>(role), changed),
           std::move(done));
}

void RaftHandle::remove(const std::string& node_id, Done done) {
  Native& n = *native_;
  n.change_request.data = &n;
  n.change("cannot remove a member", raft_remove(&n.raft, &n.change_request, raft_id_of(node_id), changed),
           std::move(done));
}

void RaftHandle::hand_over(const std::string& node_id, Done done) {
  Native& n = *native_;
  std::uint64_t target = node_id.empty() ? 0 : raft_id_of(node_id);
  std::uint64_t best = 0;
  for (const LogMember& member : members()) {
    if (!node_id.empty() || member.node_id == n.self || member.voice != Voice::voter || !member.heard)
      continue;
    if (target != 0 && member.match_index <= best) continue;
    target = raft_id_of(member.node_id);
    best = member.match_index;
  }
  if (target == 0) return done(Error{Errc::not_found, "there is no other voting member that answers"});
  n.transfer_request.data = &n;
  n.transfer_to = target;
  const int rc = raft_transfer(&n.raft, &n.transfer_request, target, transferred);
  if (rc != 0) return done(error_of_raft("the leadership stays here", rc, raft_errmsg(&n.raft)));
  n.on_transfer = std::move(done);
}

LogServers RaftHandle::servers() const {
  LogServers servers;
  const raft_configuration& configuration = native_->raft.configuration;
  for (unsigned i = 0; i < configuration.n; ++i) {
    const raft_server& server = configuration.servers[i];
    servers.push_back({server.id, server.address, static_cast<Role>(server.role)});
  }
  return servers;
}

std::vector<LogMember> RaftHandle::members() const {
  Native& n = *native_;
  std::vector<LogMember> members;
  for (const LogServer& server : servers()) {
    // Half added by a leader that is gone: it gets nothing, and whoever looks must see that it is missing.
    if (server.role == Role::spare) continue;
    LogMember member;
    member.node_id = server.node_id;
    member.voice = server.role == Role::voter ? Voice::voter : Voice::standby;
    if (const raft_progress* progress = n.progress_of(server.id)) {
      const auto when = n.heard.find(server.id);
      member.match_index = progress->match_index;
      member.heard =
          server.id == n.raft.id || (when != n.heard.end() && n.now() - when->second < n.election_ms);
    }
    members.push_back(std::move(member));
  }
  return members;
}

}  // namespace samovar::raft
