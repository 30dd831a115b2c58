#include "tests/sim/sim_log_host.hpp"

#include <cstring>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "base/encoding.hpp"
#include "daemon/raft/consensus_log.hpp"
#include "daemon/raft/little_endian.hpp"
#include "daemon/raft/native.hpp"

namespace samovar::test {
namespace {

using raft::get_u32;
using raft::get_u64;
using raft::put_u32;
using raft::put_u64;

constexpr std::size_t kFileBytesMax = 64u << 20;
enum class Record : std::uint8_t { entry = 1, cut = 2, reset = 3 };

void* copy_of(ByteView bytes) {
  void* copy = raft_malloc(bytes.empty() ? 1 : bytes.size());
  SAMOVAR_ASSERT(copy != nullptr);
  if (!bytes.empty()) std::memcpy(copy, bytes.data(), bytes.size());
  return copy;
}

ByteView view(const raft_buffer& buffer) {
  return {static_cast<const std::uint8_t*>(buffer.base), buffer.len};
}

Bytes framed(const Bytes& payload) {
  Bytes out;
  put_u32(out, static_cast<std::uint32_t>(payload.size()));
  put_u32(out, crc32(payload));
  raft::append(out, payload);
  return out;
}

Bytes entry_record(std::uint64_t index, const raft_entry& entry) {
  Bytes payload;
  payload.push_back(static_cast<std::uint8_t>(Record::entry));
  put_u64(payload, index);
  put_u64(payload, entry.term);
  payload.push_back(static_cast<std::uint8_t>(entry.type));
  raft::append(payload, view(entry.buf));
  return framed(payload);
}

Bytes index_record(Record kind, std::uint64_t index) {
  Bytes payload;
  payload.push_back(static_cast<std::uint8_t>(kind));
  put_u64(payload, index);
  return framed(payload);
}

struct StoredEntry {
  std::uint64_t term = 0;
  std::uint8_t type = 0;
  Bytes data;
};

struct StoredLog {
  std::uint64_t first = 1;
  std::vector<StoredEntry> entries;
  std::uint64_t end_offset = 0;
  std::uint64_t last() const { return first + entries.size() - 1; }

  void cut(std::uint64_t index) {
    if (index <= first) {
      entries.clear();
      first = index;
    } else if (index <= last()) {
      entries.resize(static_cast<std::size_t>(index - first));
    }
  }
};

StoredLog read_log(ByteView file) {
  StoredLog log;
  std::size_t at = 0;
  while (file.size() - at >= 8) {
    const std::size_t length = get_u32(file, at);
    if (length < 9 || file.size() - at - 8 < length) break;
    const ByteView payload = file.subspan(at + 8, length);
    if (crc32(payload) != get_u32(file, at + 4)) break;
    const std::uint64_t index = get_u64(payload, 1);
    switch (static_cast<Record>(payload[0])) {
      case Record::entry:
        if (index != log.last() + 1) return log;
        log.entries.push_back({get_u64(payload, 9), payload[17], to_bytes(payload.subspan(18))});
        break;
      case Record::cut:
        log.cut(index);
        break;
      case Record::reset:
        log.entries.clear();
        log.first = index + 1;
        break;
    }
    at += 8 + length;
    log.end_offset = at;
  }
  return log;
}

struct StoredSnapshot {
  std::uint64_t index = 0;
  std::uint64_t term = 0;
  std::uint64_t members_index = 0;
  raft::LogServers servers;
  Bytes data;
};

Bytes encode(const StoredSnapshot& snapshot) {
  const Bytes servers = raft::encode_servers(snapshot.servers);
  Bytes out;
  for (const std::uint64_t n :
       {snapshot.index, snapshot.term, snapshot.members_index, std::uint64_t{servers.size()}})
    put_u64(out, n);
  raft::append(out, servers);
  raft::append(out, snapshot.data);
  return out;
}

std::optional<StoredSnapshot> decode_snapshot(ByteView bytes) {
  if (bytes.size() < 32) return std::nullopt;
  StoredSnapshot out;
  out.index = get_u64(bytes, 0);
  out.term = get_u64(bytes, 8);
  out.members_index = get_u64(bytes, 16);
  const auto length = static_cast<std::size_t>(get_u64(bytes, 24));
  auto servers = raft::decode_servers(bytes.subspan(32, length));
  if (!servers) return std::nullopt;
  out.servers = *std::move(servers);
  out.data = to_bytes(bytes.subspan(32 + length));
  return out;
}

raft_snapshot* native(const StoredSnapshot& in) {
  auto* out = static_cast<raft_snapshot*>(raft_calloc(1, sizeof(raft_snapshot)));
  out->index = in.index;
  out->term = in.term;
  out->configuration_index = in.members_index;
  raft_configuration_init(&out->configuration);
  for (const auto& server : in.servers)
    raft_configuration_add(&out->configuration, server.id, server.node_id.c_str(),
                           static_cast<int>(server.role));
  out->bufs = static_cast<raft_buffer*>(raft_malloc(sizeof(raft_buffer)));
  out->n_bufs = 1;
  out->bufs[0].base = copy_of(in.data);
  out->bufs[0].len = in.data.size();
  return out;
}

}  // namespace

// Work for the disk is done in order, one piece at a time; `finish` runs after its while is over, with an
// error when the disk failed or the log is being closed.
struct SimLogHost::State : std::enable_shared_from_this<SimLogHost::State> {
  State(SimLoop& the_loop, Disk& the_disk, SimRng the_rng, SimLogTimes the_times)
      : loop(the_loop), disk(the_disk), rng(the_rng), times(the_times) {}

  struct Job {
    std::function<Result<void>()> work;
    std::function<void(int status)> finish;
  };

  static State& of(raft_io* io) { return *static_cast<State*>(io->impl); }
  std::string path(const char* name) const { return dir + "/" + name; }
  std::uint64_t now() const {
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::milliseconds>(loop.clock().mono()).count());
  }
  Duration while_for_disk() {
    const auto spread = static_cast<std::uint64_t>((times.sync_max - times.sync_min).count());
    return times.sync_min + Duration(static_cast<std::int64_t>(rng.below(spread + 1)));
  }

  void push(Job job) {
    jobs.push_back(std::move(job));
    if (jobs.size() == 1) next();
  }
  void next() {
    loop.after(while_for_disk(), [weak = weak_from_this()] {
      const auto self = weak.lock();
      if (!self || self->jobs.empty()) return;
      self->finish_one(false);
      if (!self->jobs.empty()) self->next();
      self->run_turn();
    });
  }
  void finish_one(bool cancelled) {
    Job job = std::move(jobs.front());
    jobs.pop_front();
    const Result<void> done = cancelled ? Result<void>(Error{Errc::io, "closed"}) : job.work();
    job.finish(done ? 0 : cancelled ? RAFT_CANCELED : RAFT_IOERR);
  }
  void cancel_all() {
    while (!jobs.empty()) finish_one(true);
  }
  void run_turn() {
    if (!running) return;
    const auto self = shared_from_this();  // a turn may destroy the log
    bool again = true;
    for (int round = 0; again && round < 4 && running; ++round) again = turn();
    if (again && running) kick();
  }
  void kick() {
    if (std::exchange(kicked, true)) return;
    loop.post([weak = weak_from_this()] {
      const auto self = weak.lock();
      if (!self) return;
      self->kicked = false;
      self->run_turn();
    });
  }

  Result<void> append_bytes(ByteView bytes) {
    SAMOVAR_CHECK(file->write_at(end, bytes));
    end += bytes.size();
    return {};
  }
  int store_meta() {
    Bytes bytes;
    put_u64(bytes, term);
    put_u64(bytes, vote);
    return disk.write_file(path("meta"), bytes) ? 0 : RAFT_IOERR;
  }
  std::optional<StoredSnapshot> stored_snapshot() {
    if (!disk.exists(path("snapshot"))) return std::nullopt;
    const auto bytes = disk.read_file(path("snapshot"), kFileBytesMax);
    return bytes ? decode_snapshot(*bytes) : std::nullopt;
  }
  Result<void> read_all();

  SimLoop& loop;
  Disk& disk;
  SimRng rng;
  const SimLogTimes times;
  std::string dir;
  raft_io io{};
  std::unique_ptr<File> file;
  std::uint64_t end = 0;  // of the file
  std::uint64_t next_index = 1;
  std::uint64_t term = 0;
  std::uint64_t vote = 0;
  StoredLog log;  // as read
  std::optional<StoredSnapshot> snapshot;
  std::deque<Job> jobs;
  bool witness_writing = false;
  std::function<bool()> turn;
  bool running = false;
  bool kicked = false;
};

Result<void> SimLogHost::State::read_all() {
  SAMOVAR_CHECK(disk.make_dir(dir));
  term = vote = 0;
  if (disk.exists(path("meta"))) {
    SAMOVAR_TRY(const Bytes meta, disk.read_file(path("meta"), 64));
    term = get_u64(meta, 0);
    vote = get_u64(meta, 8);
  }
  SAMOVAR_TRY(file, disk.open(path("log"), OpenMode::write));
  SAMOVAR_TRY(const std::uint64_t size, file->size());
  Bytes bytes(static_cast<std::size_t>(size));
  SAMOVAR_TRY(const std::size_t got, file->read_at(0, bytes));
  bytes.resize(got);
  log = read_log(bytes);
  end = log.end_offset;
  // What was torn must not be taken for a record once something stands before it.
  SAMOVAR_CHECK(file->truncate(end));
  SAMOVAR_CHECK(file->sync());
  SAMOVAR_CHECK(disk.sync_dir(dir));
  snapshot = stored_snapshot();
  if (snapshot) {
    const bool covers = log.first <= snapshot->index && snapshot->index <= log.last();
    const bool agrees =
        covers && log.entries[static_cast<std::size_t>(snapshot->index - log.first)].term == snapshot->term;
    if (log.first != snapshot->index + 1 && !agrees) {
      // Of another member: it replaces everything.
      log.entries.clear();
      log.first = snapshot->index + 1;
      SAMOVAR_CHECK(append_bytes(index_record(Record::reset, snapshot->index)));
      SAMOVAR_CHECK(file->sync());
    }
  }
  next_index = log.last() + 1;
  return {};
}

namespace {

int io_load(raft_io* io, raft_term* term, raft_id* voted_for, raft_snapshot** snapshot,
            raft_index* start_index, raft_entry** entries, size_t* count) {
  auto& s = SimLogHost::State::of(io);
  if (!s.read_all()) return RAFT_IOERR;
  *term = s.term;
  *voted_for = s.vote;
  *snapshot = s.snapshot ? native(*s.snapshot) : nullptr;
  *start_index = s.log.first;
  *count = s.log.entries.size();
  *entries = nullptr;
  if (s.log.entries.empty()) return 0;
  *entries = static_cast<raft_entry*>(raft_calloc(*count, sizeof(raft_entry)));
  for (std::size_t i = 0; i < *count; ++i) {
    const StoredEntry& in = s.log.entries[i];
    raft_entry& out = (*entries)[i];
    out.term = in.term;
    out.type = in.type;
    out.buf.base = copy_of(in.data);
    out.buf.len = in.data.size();
    out.batch = out.buf.base;
  }
  s.log = {};
  s.snapshot.reset();
  return 0;
}

int io_append(raft_io* io, raft_io_append* request, const raft_entry* entries, unsigned count,
              raft_io_append_cb done) {
  auto& s = SimLogHost::State::of(io);
  bool written = true;
  for (unsigned i = 0; i < count; ++i)
    written = written && s.append_bytes(entry_record(s.next_index + i, entries[i])).has_value();
  s.next_index += count;
  s.push({[&s, written]() -> Result<void> {
            if (!written) return Error{Errc::io, "the disk failed"};
            return s.file->sync();
          },
          [request, done](int status) { done(request, status); }});
  return 0;
}

int io_truncate(raft_io* io, raft_index index) {
  auto& s = SimLogHost::State::of(io);
  s.next_index = index;
  return s.append_bytes(index_record(Record::cut, index)) ? 0 : RAFT_IOERR;
}

int io_snapshot_put(raft_io* io, unsigned trailing, raft_io_snapshot_put* request, const raft_snapshot* in,
                    raft_io_snapshot_put_cb done) {
  auto& s = SimLogHost::State::of(io);
  StoredSnapshot out;
  out.index = in->index;
  out.term = in->term;
  out.members_index = in->configuration_index;
  for (unsigned i = 0; i < in->configuration.n; ++i) {
    const raft_server& server = in->configuration.servers[i];
    out.servers.push_back({server.id, server.address, static_cast<raft::Role>(server.role)});
  }
  out.data = to_bytes(view(in->bufs[0]));
  if (trailing == 0) s.next_index = in->index + 1;
  s.push({[&s, out = std::move(out), trailing]() -> Result<void> {
            SAMOVAR_CHECK(s.disk.write_file(s.path("snapshot"), encode(out)));
            if (trailing != 0) return {};
            SAMOVAR_CHECK(s.append_bytes(index_record(Record::reset, out.index)));
            return s.file->sync();
          },
          [request, done](int status) { done(request, status); }});
  return 0;
}

int io_snapshot_get(raft_io* io, raft_io_snapshot_get* request, raft_io_snapshot_get_cb done) {
  auto& s = SimLogHost::State::of(io);
  s.push({[] { return Result<void>(); },
          [&s, request, done](int status) {
            const auto stored = status == 0 ? s.stored_snapshot() : std::nullopt;
            done(request, stored ? native(*stored) : nullptr, stored ? 0 : RAFT_CANCELED);
          }});
  return 0;
}

int io_bootstrap(raft_io* io, const raft_configuration* configuration) {
  auto& s = SimLogHost::State::of(io);
  if (!s.read_all()) return RAFT_IOERR;
  raft_entry entry{};
  entry.term = 1;
  entry.type = RAFT_CHANGE;
  if (raft_configuration_encode(configuration, &entry.buf) != 0) return RAFT_NOMEM;
  const bool good = s.append_bytes(entry_record(1, entry)) && s.file->sync();
  raft_free(entry.buf.base);
  s.term = 1;
  s.vote = 0;
  return good ? s.store_meta() : RAFT_IOERR;
}

}  // namespace

SimLogHost::SimLogHost(SimLoop& loop, Disk& disk, SimRng rng, SimLogTimes times)
    : state_(std::make_shared<State>(loop, disk, rng, times)) {}

SimLogHost::~SimLogHost() { state_->running = false; }

Result<raft::LogFound> SimLogHost::prepare(const raft::ConsensusOptions& options,
                                           const raft::Sealer& sealer) {
  State& s = *state_;
  s.dir = options.dir;
  raft::LogFound found;
  if (!options.bootstrap && !options.join && !s.disk.exists(s.path("meta")))
    return Error{Errc::not_found, "there is no log"};
  if (s.disk.exists(s.path("witness"))) {
    SAMOVAR_TRY(const Bytes bytes, s.disk.read_file(s.path("witness"), 4096));
    SAMOVAR_TRY(found.witness, sealer.open_witness(bytes));
  }
  return found;
}

Result<::raft_io*> SimLogHost::open_io(const raft::ConsensusOptions&) {
  raft_io& io = state_->io;
  io.version = 1;
  io.impl = state_.get();
  io.init = [](raft_io*, raft_id, const char*) { return 0; };
  io.close = [](raft_io* closing, raft_io_close_cb done) {
    State::of(closing).cancel_all();
    done(closing);
  };
  io.load = io_load;
  io.start = [](raft_io*, unsigned, raft_io_tick_cb, raft_io_recv_cb) { return 0; };
  io.bootstrap = io_bootstrap;
  io.recover = [](raft_io*, const raft_configuration*) { return RAFT_INVALID; };
  io.set_term = [](raft_io* i, raft_term term) {
    State& s = State::of(i);
    s.term = term;
    s.vote = 0;
    return s.store_meta();
  };
  io.set_vote = [](raft_io* i, raft_id vote) {
    State& s = State::of(i);
    s.vote = vote;
    return s.store_meta();
  };
  io.append = io_append;
  io.truncate = io_truncate;
  io.snapshot_put = io_snapshot_put;
  io.snapshot_get = io_snapshot_get;
  io.time = [](raft_io* i) { return static_cast<raft_time>(State::of(i).now()); };
  return &io;
}

void SimLogHost::close_io() { state_->file.reset(); }
Loop& SimLogHost::loop() { return state_->loop; }
Rng& SimLogHost::rng() { return state_->rng; }

void SimLogHost::start(std::function<bool()> turn) {
  state_->turn = std::move(turn);
  state_->running = true;
}
void SimLogHost::stop() { state_->running = false; }
void SimLogHost::kick() { state_->kick(); }
bool SimLogHost::busy() const { return false; }

// The node dies: what is under way never ends.
void SimLogHost::drain(const std::function<bool()>& finished) {
  if (!finished()) state_->cancel_all();
}

bool SimLogHost::witness_busy() const { return state_->witness_writing; }

void SimLogHost::write_witness(const raft::Sealer& sealer, const raft::Witness& witness,
                               std::function<void(Result<void>)> written) {
  State& s = *state_;
  s.witness_writing = true;
  s.loop.after(s.while_for_disk(), [weak = s.weak_from_this(), bytes = sealer.seal_witness(witness),
                                    written = std::move(written)] {
    const auto self = weak.lock();
    if (!self) return;
    self->witness_writing = false;
    if (!self->running) return;
    written(self->disk.write_file(self->path("witness"), bytes));
    self->run_turn();
  });
}

}  // namespace samovar::test
