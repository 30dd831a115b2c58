// libraft's disk, with what 0.15 forgets put right: terms of sole voters, memberships taken back, waiting for
// one thing while another is being written, failures nobody is told.
#include <list>
#include <memory>
#include <utility>

#include "base/log.hpp"
#include "daemon/raft/log_host.hpp"
#include "daemon/raft/native.hpp"

namespace samovar::raft {
namespace {

// We tick libraft ourselves; its own timer only has to be far away.
constexpr unsigned kNativeTickMs = 24u * 3600 * 1000;

LogServers servers_of(const raft_configuration& configuration) {
  LogServers servers;
  for (unsigned i = 0; i < configuration.n; ++i) {
    const raft_server& server = configuration.servers[i];
    servers.push_back({server.id, server.address, static_cast<Role>(server.role)});
  }
  return servers;
}

int fill(raft_configuration& configuration, const LogServers& servers) {
  raft_configuration_init(&configuration);
  for (const LogServer& server : servers) {
    const int rc = raft_configuration_add(&configuration, server.id, server.node_id.c_str(),
                                          static_cast<int>(server.role));
    if (rc != 0) return rc;
  }
  return 0;
}

bool only_voter(const LogServers& servers, std::uint64_t self) {
  bool ours = false;
  for (const LogServer& server : servers) {
    if (server.role != Role::voter) continue;
    if (server.id != self) return false;
    ours = true;
  }
  return ours;
}

struct AppendRequest {
  raft_io_append request{};
  RaftHandle::Native* native = nullptr;
  raft_io_append* theirs = nullptr;
  raft_io_append_cb done = nullptr;
  std::uint64_t truncate_begun = 0;
  std::uint64_t term = 0;  // in which it began
  std::list<RaftHandle::Native::Writing>::iterator writing;
};

struct PutRequest {
  raft_io_snapshot_put request{};
  RaftHandle::Native* native = nullptr;
  raft_io_snapshot_put* theirs = nullptr;
  raft_io_snapshot_put_cb done = nullptr;
  bool install = false;
  MemberHistory::Entry members;
};

struct GetRequest {
  raft_io_snapshot_get request{};
  RaftHandle::Native* native = nullptr;
  raft_io_snapshot_get* theirs = nullptr;
  raft_io_snapshot_get_cb done = nullptr;
};

void appended(raft_io_append* request, int status) {
  const std::unique_ptr<AppendRequest> own(static_cast<AppendRequest*>(request->data));
  RaftHandle::Native& n = *own->native;
  n.truncate_ended = std::max(n.truncate_ended, own->truncate_begun);
  // Nobody knows what the disk holds now. libraft would tell only who submitted a command.
  if (status != 0 && !n.closing)
    n.broken(std::string("the log could not be written: ") + raft_strerror(status) + " (" + n.io->errmsg +
             ")");
  // libraft cuts its log there, and looks whether it goes so far only in versions to come: the write before
  // this one may have failed, too, or another leader may have cut more. What it allocated is lost; the log
  // is, too.
  const std::uint64_t first = own->writing->first;
  const bool gone = first > raft_last_index(&n.raft) || first <= n.raft.log.offset;
  // libraft answers whoever leads now, who may never have sent these entries.
  n.answering_another = own->term != n.raft.current_term;
  if (status == 0 || !gone) own->done(own->theirs, status);
  n.answering_another = false;
  n.writing.erase(own->writing);
}

void snapshot_written(raft_io_snapshot_put* request, int status) {
  const std::unique_ptr<PutRequest> own(static_cast<PutRequest*>(request->data));
  RaftHandle::Native& n = *own->native;
  --n.puts;
  if (own->install && status == 0) n.history.reset(own->members.index, own->members.servers);
  // libraft has forgotten its log for this snapshot already.
  if (own->install && status != 0 && !n.closing)
    n.broken(std::string("a snapshot could not be written: ") + raft_strerror(status) + " (" + n.io->errmsg +
             ")");
  own->done(own->theirs, status);
  if (own->install) n.installing_index = 0;
}

void snapshot_read(raft_io_snapshot_get* request, raft_snapshot* snapshot, int status) {
  const std::unique_ptr<GetRequest> own(static_cast<GetRequest*>(request->data));
  --own->native->gets;
  own->done(own->theirs, snapshot, status);
}

}  // namespace

const raft_entry* entry_at(const struct ::raft& raft, std::uint64_t index) {
  const raft_log& log = raft.log;
  const std::size_t count = log.front <= log.back ? log.back - log.front : log.size - log.front + log.back;
  if (index <= log.offset || index > log.offset + count) return nullptr;
  return &log.entries[(log.front + static_cast<std::size_t>(index - log.offset - 1)) % log.size];
}

std::uint64_t term_at(const struct ::raft& raft, std::uint64_t index) {
  if (index != 0 && index == raft.log.snapshot.last_index) return raft.log.snapshot.last_term;
  const raft_entry* entry = entry_at(raft, index);
  return entry != nullptr ? entry->term : 0;
}

void RaftHandle::Native::wrap_disk() {
  base = *io;
  io->close = close;
  io->load = load;
  io->start = start_io;
  io->append = append;
  io->truncate = truncate;
  io->snapshot_put = snapshot_put;
  io->snapshot_get = snapshot_get;
  io->random = random;
  io->send = send;
}

int RaftHandle::Native::load(raft_io* io, raft_term* term, raft_id* voted_for, raft_snapshot** snapshot,
                             raft_index* start_index, raft_entry** entries, size_t* count) {
  Native& n = of(io);
  if (const int rc = n.base.load(io, term, voted_for, snapshot, start_index, entries, count); rc != 0)
    return rc;
  if (*snapshot != nullptr) {
    n.history.reset((*snapshot)->configuration_index, servers_of((*snapshot)->configuration));
    n.installing_index = (*snapshot)->index;
  }
  for (std::size_t i = 0; i < *count; ++i) {
    const raft_entry& entry = (*entries)[i];
    const std::uint64_t index = *start_index + i;
    if (entry.type != RAFT_CHANGE || (n.history.newest() != nullptr && index <= n.history.newest()->index))
      continue;
    auto servers = decode_servers({static_cast<const std::uint8_t*>(entry.buf.base), entry.buf.len});
    if (!servers) return RAFT_MALFORMED;
    n.history.add(index, *std::move(servers));
  }
  if (n.history.newest() == nullptr || !only_voter(n.history.newest()->servers, n.raft.id)) return 0;
  // A sole voter elects itself without a new term. Standbys may hold entries of the term that it lost with
  // its last write, and would take new ones with the same numbers for these.
  int rc = n.base.set_term(io, *term + 1);
  if (rc == 0) rc = n.base.set_vote(io, n.raft.id);
  *term += 1;
  *voted_for = n.raft.id;
  return rc;
}

// libraft says that it is closed each time that one of the last things ends, and frees its log each time.
void RaftHandle::Native::close(raft_io* io, raft_io_close_cb done) {
  Native& n = of(io);
  n.io_closed = done;
  n.base.close(io, [](raft_io* which) {
    if (auto once = std::exchange(of(which).io_closed, nullptr)) once(which);
  });
}

int RaftHandle::Native::start_io(raft_io* io, unsigned, raft_io_tick_cb tick, raft_io_recv_cb recv) {
  Native& n = of(io);
  n.tick_cb = tick;
  n.recv_cb = recv;
  return n.base.start(io, kNativeTickMs, tick, recv);
}

int RaftHandle::Native::append(raft_io* io, raft_io_append* request, const raft_entry* entries,
                               unsigned count, raft_io_append_cb done) {
  Native& n = of(io);
  if (n.muted) return RAFT_IOERR;
  // libraft has put them at the end of its log already.
  const std::uint64_t first = raft_last_index(&n.raft) + 1 - count;
  for (unsigned i = 0; i < count; ++i) {
    if (entries[i].type != RAFT_CHANGE) continue;
    auto servers =
        decode_servers({static_cast<const std::uint8_t*>(entries[i].buf.base), entries[i].buf.len});
    if (!servers) return RAFT_MALFORMED;
    n.history.add(first + i, *std::move(servers));
  }
  auto own = std::make_unique<AppendRequest>();
  own->native = &n;
  own->theirs = request;
  own->done = done;
  own->truncate_begun = n.truncate_begun;
  own->term = n.raft.current_term;
  Writing writing{first, {}};
  for (unsigned i = 0; i < count; ++i) writing.terms.push_back(entries[i].term);
  own->writing = n.writing.insert(n.writing.end(), std::move(writing));
  own->request.data = own.get();
  const int rc = n.base.append(io, &own->request, entries, count, appended);
  if (rc == 0) {
    static_cast<void>(own.release());  // until `appended`
  } else {
    n.writing.erase(own->writing);
    n.broken(std::string("the log takes no entries: ") + raft_strerror(rc) + " (" + io->errmsg + ")");
  }
  return rc;
}

int RaftHandle::Native::truncate(raft_io* io, raft_index index) {
  Native& n = of(io);
  ++n.truncate_begun;
  n.history.truncate(index);
  // What a leader that is no more had changed is taken back. libraft itself does so only for changes it saw
  // since it was started, and stumbles when the one before is behind a snapshot.
  const auto* members = n.history.newest();
  if (members != nullptr) n.take_members(*members);
  const int rc = n.base.truncate(io, index);
  if (rc != 0) n.broken(std::string("the log could not be cut: ") + raft_strerror(rc));
  return rc;
}

void RaftHandle::Native::take_members(const MemberHistory::Entry& entry) {
  raft_configuration configuration;
  if (fill(configuration, entry.servers) != 0) return;  // out of memory
  raft_configuration_close(&raft.configuration);
  raft.configuration = configuration;
  raft.configuration_index = entry.index;
  raft.configuration_uncommitted_index = 0;
}

int RaftHandle::Native::snapshot_put(raft_io* io, unsigned trailing, raft_io_snapshot_put* request,
                                     const raft_snapshot* snapshot, raft_io_snapshot_put_cb done) {
  Native& n = of(io);
  if (n.muted) return RAFT_CANCELED;
  auto own = std::make_unique<PutRequest>();
  own->native = &n;
  own->theirs = request;
  own->done = done;
  own->install = trailing == 0;
  own->request.data = own.get();
  if (own->install) {
    own->members = {snapshot->configuration_index, servers_of(snapshot->configuration)};
    n.installing_index = snapshot->index;
  } else if (const auto* members = n.history.at(snapshot->index)) {
    // libraft writes the members as they will be, not as they were agreed on.
    auto& pending = n.raft.snapshot.pending;
    raft_configuration configuration;
    if (fill(configuration, members->servers) != 0) return RAFT_NOMEM;
    raft_configuration_close(&pending.configuration);
    pending.configuration = configuration;
    pending.configuration_index = members->index;
    n.history.forget_before(snapshot->index);
  }
  const int rc = n.base.snapshot_put(io, trailing, &own->request, snapshot, snapshot_written);
  if (rc != 0) return rc;
  ++n.puts;
  static_cast<void>(own.release());  // until `snapshot_written`
  return 0;
}

int RaftHandle::Native::snapshot_get(raft_io* io, raft_io_snapshot_get* request,
                                     raft_io_snapshot_get_cb done) {
  Native& n = of(io);
  // One at a time: a snapshot is the largest thing here.
  if (n.muted || n.gets > 0 || n.pieces_out.busy()) return RAFT_BUSY;
  auto own = std::make_unique<GetRequest>();
  own->native = &n;
  own->theirs = request;
  own->done = done;
  own->request.data = own.get();
  const int rc = n.base.snapshot_get(io, &own->request, snapshot_read);
  if (rc != 0) return rc;
  ++n.gets;
  static_cast<void>(own.release());  // until `snapshot_read`
  return 0;
}

// What the witness saw applied is agreed on: a node that starts without its peers can show it. libraft would
// wait for a leader to say so.
bool RaftHandle::Native::apply_known(std::uint64_t index) {
  index = std::min<std::uint64_t>(index, raft.last_stored);
  while (raft.last_applied < index) {
    const raft_entry* entry = entry_at(raft, raft.last_applied + 1);
    if (entry == nullptr) return false;
    if (entry->type == RAFT_COMMAND) {
      void* result = nullptr;
      if (fsm.apply(&fsm, &entry->buf, &result) != 0) return false;
    }
    ++raft.last_applied;
    raft.commit_index = std::max(raft.commit_index, raft.last_applied);
  }
  return true;
}

}  // namespace samovar::raft
