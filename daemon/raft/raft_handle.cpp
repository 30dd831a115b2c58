#include "daemon/raft/raft_handle.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "base/assert.hpp"
#include "base/log.hpp"
#include "daemon/raft/log_host.hpp"
#include "daemon/raft/native.hpp"

namespace samovar::raft {
namespace {

constexpr unsigned kInstallTimeoutMs = 20'000;  // after the last piece
constexpr unsigned kCatchUpMs = 30'000;
constexpr std::uint64_t kTickLeastMs = 20;
constexpr std::uint64_t kTickMostMs = 1000;
constexpr std::size_t kInboxMax = 4096;
constexpr std::size_t kInboxBytesMax = 32 * 1024 * 1024;

// libraft frees it.
bool copy_to(raft_buffer& out, ByteView bytes) {
  out.base = raft_malloc(bytes.size());
  out.len = bytes.size();
  if (out.base == nullptr) return false;
  std::memcpy(out.base, bytes.data(), bytes.size());
  return true;
}

int fsm_apply(raft_fsm* fsm, const raft_buffer* buffer, void** result) {
  *result = nullptr;
  RaftHandle::Native& n = RaftHandle::Native::of(fsm);
  const ByteView entry(static_cast<const std::uint8_t*>(buffer->base), buffer->len);
  // libraft does not say the index; it applies one after the other.
  return n.events.on_apply(raft_last_applied(&n.raft) + 1, entry) ? 0 : RAFT_CORRUPT;
}

int fsm_snapshot(raft_fsm* fsm, raft_buffer** buffers, unsigned* count) {
  RaftHandle::Native& n = RaftHandle::Native::of(fsm);
  // libraft forgets a snapshot that it begins while its log is being cut.
  if (n.truncate_begun != n.truncate_ended || n.muted) return RAFT_BUSY;
  auto bytes = n.events.on_snapshot();
  if (!bytes) return RAFT_BUSY;  // tried again after the next entry
  *buffers = static_cast<raft_buffer*>(raft_malloc(sizeof(raft_buffer)));
  if (*buffers == nullptr) return RAFT_NOMEM;
  if (!copy_to((*buffers)[0], *bytes)) {
    raft_free(*buffers);
    return RAFT_NOMEM;
  }
  *count = 1;
  return 0;
}

int fsm_restore(raft_fsm* fsm, raft_buffer* buffer) {
  RaftHandle::Native& n = RaftHandle::Native::of(fsm);
  const ByteView bytes(static_cast<const std::uint8_t*>(buffer->base), buffer->len);
  if (!n.events.on_restore(n.installing_index, bytes)) return RAFT_CORRUPT;
  raft_free(buffer->base);
  return 0;
}

void barrier_applied(struct raft_barrier* request, int status) {
  auto& n = *static_cast<RaftHandle::Native*>(request->data);
  if (status == 0) n.ready_term = n.raft.current_term;
}

void raft_closed(struct ::raft* handle) {
  auto& n = *static_cast<RaftHandle::Native*>(handle->data);
  n.closed = true;
  if (n.on_closed) std::exchange(n.on_closed, nullptr)();
}

}  // namespace

RaftHandle::Native::Native(LogHost& ground, RaftEvents& target)
    : host(ground),
      events(target),
      pieces_out([this](const std::string& to, Bytes message) { post(to, std::move(message)); }),
      pieces_in([this](const std::string& to, Bytes message) { post(to, std::move(message)); }) {}

Result<void> RaftHandle::Native::start(const ConsensusOptions& options, std::uint64_t known_committed) {
  const auto failed = [&](const char* doing, int rc) {
    return error_of_raft(doing, rc, fmt::format("{}: {}", options.dir, raft_errmsg(&raft)));
  };
  wire = options.wire;
  self = options.node_id;
  election_ms = options.election_ms;
  SAMOVAR_TRY(io, host.open_io(options));
  wrap_disk();
  fsm.version = 1;
  fsm.data = this;
  fsm.apply = fsm_apply;
  fsm.snapshot = fsm_snapshot;
  fsm.restore = fsm_restore;
  if (const int rc = raft_init(&raft, io, &fsm, raft_id_of(self), self.c_str()); rc != 0)
    return failed("cannot open the log", rc);
  raft_ready = true;
  raft.data = this;
  next_transfer = host.rng().next() >> 8;  // not the numbers of our last life
  raft_set_pre_vote(&raft, true);
  raft_set_snapshot_threshold(&raft, options.snapshot_threshold);
  raft_set_snapshot_trailing(&raft, options.snapshot_trailing);
  raft_set_install_snapshot_timeout(&raft, kInstallTimeoutMs);
  raft_set_max_catch_up_round_duration(&raft, kCatchUpMs);
  raft_set_heartbeat_timeout(&raft, options.heartbeat_ms);
  raft_set_election_timeout(&raft, kElectionAloneMs);
  if (options.bootstrap) {
    raft_configuration configuration;
    raft_configuration_init(&configuration);
    int rc = raft_configuration_add(&configuration, raft.id, self.c_str(), RAFT_VOTER);
    if (rc == 0) rc = raft_bootstrap(&raft, &configuration);
    raft_configuration_close(&configuration);
    if (rc != 0) return failed("cannot begin a log", rc);
  }
  if (const int rc = raft_start(&raft); rc != 0) return failed("cannot load the log", rc);
  installing_index = 0;
  if (voters() == 1 && is_voter()) {
    // Newer versions apply from the event loop.
    host.drain([&] { return raft_last_applied(&raft) >= raft_last_index(&raft); });
  } else if (!apply_known(known_committed)) {
    return Error{Errc::corrupt, fmt::format("{}: what was agreed on cannot be loaded", options.dir)};
  }
  set_timers();
  after_message();
  listen();
  return {};
}

void RaftHandle::Native::listen() {
  if (wire == nullptr) return;
  wire->on_message([this, still = alive](const std::string& from, Bytes message) {
    if (!*still || muted || closing) return;
    // The senders send again what matters.
    if (inbox.size() >= kInboxMax || inbox_bytes + message.size() > kInboxBytesMax) return;
    inbox_bytes += message.size();
    inbox.push_back({Mail::Kind::message, from, std::move(message)});
    host.kick();
  });
}

unsigned RaftHandle::Native::voters() const {
  unsigned count = 0;
  for (unsigned i = 0; i < raft.configuration.n; ++i)
    if (raft.configuration.servers[i].role == RAFT_VOTER) ++count;
  return count;
}

bool RaftHandle::Native::is_voter() const {
  const int place = place_of(raft.id);
  return place >= 0 && raft.configuration.servers[place].role == RAFT_VOTER;
}

int RaftHandle::Native::place_of(std::uint64_t id) const {
  for (unsigned i = 0; i < raft.configuration.n; ++i)
    if (raft.configuration.servers[i].id == id) return static_cast<int>(i);
  return -1;
}

raft_progress* RaftHandle::Native::progress_of(std::uint64_t id) {
  const int place = is_leader() ? place_of(id) : -1;
  return place < 0 ? nullptr : &raft.leader_state.progress[place];
}

// Entries of terms before ours are agreed on when one of ours is (Raft §3.6.2, §6.4).
void RaftHandle::Native::begin_term() {
  begun_term = raft.current_term;
  if (voters() == 1 && is_voter() && raft_last_applied(&raft) == raft_last_index(&raft)) {
    ready_term = begun_term;
    return;
  }
  barrier_request.data = this;
  const int rc = raft_barrier(&raft, &barrier_request, barrier_applied);
  if (rc != 0 && rc != RAFT_NOTLEADER) broken(std::string("the log takes no entries: ") + raft_strerror(rc));
}

std::uint64_t RaftHandle::Native::next_tick() {
  std::uint64_t due = ticked + kTickMostMs;
  if (is_leader()) {
    for (unsigned i = 0; i < raft.configuration.n; ++i) {
      const raft_server& server = raft.configuration.servers[i];
      const bool served = server.role != RAFT_SPARE || server.id == raft.leader_state.promotee_id;
      if (server.id == raft.id || !served) continue;
      due = std::min<std::uint64_t>(due, raft.leader_state.progress[i].last_send + raft.heartbeat_timeout);
    }
  } else if (is_voter()) {
    const unsigned timeout = raft_state(&raft) == RAFT_CANDIDATE
                                 ? raft.candidate_state.randomized_election_timeout
                                 : raft.follower_state.randomized_election_timeout;
    due = raft.election_timer_start + timeout;
  }
  return std::max(due, ticked + kTickLeastMs);
}

bool RaftHandle::Native::tick() {
  if (now() < next_tick() && !nudge) return false;
  nudge = false;
  ticked = now();
  tick_cb(io);
  after_message();
  return true;
}

void RaftHandle::Native::arm() {
  std::uint64_t due = next_tick();
  if (pieces_out.busy() || pieces_in.waiting()) due = std::min(due, now() + kTickMostMs);
  if (timer != 0 && timer_due <= due) return;
  Loop& loop = host.loop();
  if (timer != 0) loop.cancel(timer);
  timer_due = due;
  const std::uint64_t wait = due > now() ? due - now() : 0;
  timer = loop.after(std::chrono::milliseconds(wait), [this, still = alive] {
    if (!*still) return;
    timer = 0;
    host.kick();
  });
}

void RaftHandle::Native::broken(const std::string& why) {
  muted = true;
  events.on_broken(why);
}

void RaftHandle::Native::close_now() {
  closing = true;
  if (timer != 0) host.loop().cancel(std::exchange(timer, 0));
  inbox.clear();
  held.clear();
  // libraft counts on these before it forgets its log.
  pieces_out.cancel();
  complete_sends();
  raft_close(&raft, raft_closed);
}

RaftHandle::RaftHandle(LogHost& host, RaftEvents& events) : native_(std::make_unique<Native>(host, events)) {}

Result<std::unique_ptr<RaftHandle>> RaftHandle::start(LogHost& host, RaftEvents& events,
                                                      const ConsensusOptions& options,
                                                      std::uint64_t known_committed) {
  std::unique_ptr<RaftHandle> handle(new RaftHandle(host, events));
  SAMOVAR_CHECK(handle->native_->start(options, known_committed));
  return handle;
}

RaftHandle::~RaftHandle() {
  Native& n = *native_;
  *n.alive = false;
  if (n.raft_ready && !n.closed) {
    n.on_closed = nullptr;
    n.on_change = nullptr;
    n.on_transfer = nullptr;
    if (!n.closing) {
      n.muted = true;
      n.host.drain([this] { return quiet(); });
      n.close_now();
    }
    n.host.drain([&] { return n.closed; });
  }
  n.host.drain([&] { return !n.host.busy(); });
  n.host.close_io();
}

bool RaftHandle::quiet() const {
  const Native& n = *native_;
  return n.writing.empty() && n.puts == 0 && n.gets == 0 && n.truncate_begun == n.truncate_ended;
}

void RaftHandle::close(std::function<void()> done) {
  native_->on_closed = std::move(done);
  native_->close_now();
  native_->host.kick();
}

bool RaftHandle::turn() {
  Native& n = *native_;
  if (n.closing) return false;
  n.complete_sends();
  bool any = n.deliver();
  any = n.tick() || any;
  n.complete_sends();
  n.set_timers();
  n.arm();
  return any || !n.inbox.empty();
}

void RaftHandle::link_changed(const std::string& node_id, bool up) {
  Native& n = *native_;
  if (n.muted || n.closing || n.inbox.size() >= kInboxMax) return;
  // In order with the messages: one of the dead must not be taken for a sign of life.
  n.inbox.push_back({up ? Native::Mail::Kind::link_up : Native::Mail::Kind::link_down, node_id, {}});
  n.host.kick();
}

void RaftHandle::mute() {
  Native& n = *native_;
  n.muted = true;
  for (auto* waiting : {&n.on_change, &n.on_transfer})
    if (auto done = std::exchange(*waiting, nullptr)) done(Error{Errc::unavailable, "the log stopped"});
}

void RaftHandle::set_snapshots(unsigned threshold, unsigned trailing) {
  raft_set_snapshot_threshold(&native_->raft, threshold);
  raft_set_snapshot_trailing(&native_->raft, trailing);
}

Result<void> RaftHandle::submit(const std::vector<Bytes>& entries) {
  Native& n = *native_;
  std::vector<raft_buffer> buffers(entries.size());
  bool copied = true;
  for (std::size_t i = 0; i < entries.size(); ++i) copied = copy_to(buffers[i], entries[i]) && copied;
  n.apply_request.data = &n;
  // on_apply has the replies; whoever waits sees for itself when the leadership is lost.
  const int rc = copied ? raft_apply(&n.raft, &n.apply_request, buffers.data(),
                                     static_cast<unsigned>(buffers.size()), nullptr)
                        : RAFT_NOMEM;
  if (rc == 0) {
    n.after_message();
    n.spread_index = n.raft.commit_index;  // these messages carried it
    return {};
  }
  for (const raft_buffer& buffer : buffers) raft_free(buffer.base);
  return error_of_raft("the log takes no entries", rc, raft_errmsg(&n.raft));
}

bool RaftHandle::spread_commit() {
  Native& n = *native_;
  if (!n.is_leader() || n.closing || n.raft.commit_index <= n.spread_index) return false;
  n.spread_index = n.raft.commit_index;
  bool others = false;
  for (unsigned i = 0; i < n.raft.configuration.n; ++i) {
    raft_progress& progress = n.raft.leader_state.progress[i];
    if (n.raft.configuration.servers[i].id == n.raft.id ||
        static_cast<Progress>(progress.state) != Progress::pipeline)
      continue;
    progress.last_send = 0;
    others = true;
  }
  if (!others) return false;
  n.tick_cb(n.io);
  n.after_message();
  return true;
}

bool RaftHandle::leader() const { return native_->is_leader() && !native_->closing; }
bool RaftHandle::ready() const { return leader() && native_->ready_term == native_->raft.current_term; }
bool RaftHandle::handing_over() const { return native_->raft.transfer != nullptr; }
bool RaftHandle::sole_voter() const { return native_->voters() == 1 && native_->is_voter(); }
std::uint64_t RaftHandle::term() const { return native_->raft.current_term; }
std::uint64_t RaftHandle::last_index() const { return raft_last_index(&native_->raft); }
std::uint64_t RaftHandle::applied_index() const { return raft_last_applied(&native_->raft); }

std::string RaftHandle::leader_id() const {
  raft_id id = 0;
  const char* address = nullptr;
  raft_leader(&native_->raft, &id, &address);
  return id != 0 && address != nullptr ? address : "";
}

}  // namespace samovar::raft
