#include "daemon/raft/raft_handle.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <uv.h>

#include "base/assert.hpp"
#include "daemon/raft/uv_driver.hpp"

// libraft's headers have no guard of their own, and its structs share names with its functions.
extern "C" {
#include <raft.h>
#include <raft/uv.h>
}

namespace samovar::raft {
namespace {

constexpr raft_id kSelf = 1;
constexpr const char* kSelfAddress = "local";
// A lone voter has nobody to send heartbeats to: tick seldom, the board may sleep in between.
constexpr unsigned kHeartbeatMs = 1000;
constexpr unsigned kElectionMs = 5000;

// The fork's transports carry a version, Debian 12's do not.
template <class T>
void set_version(T& transport) {
  if constexpr (requires { transport.version; }) transport.version = 1;
}

// libraft frees it.
bool copy_to(raft_buffer& out, ByteView bytes) {
  out.base = raft_malloc(bytes.size());
  out.len = bytes.size();
  if (out.base == nullptr) return false;
  std::memcpy(out.base, bytes.data(), bytes.size());
  return true;
}

int transport_init(raft_uv_transport*, raft_id, const char*) { return 0; }
int transport_listen(raft_uv_transport*, raft_uv_accept_cb) { return 0; }
int transport_connect(raft_uv_transport*, raft_uv_connect*, raft_id, const char*, raft_uv_connect_cb) {
  return RAFT_NOCONNECTION;
}
void transport_close(raft_uv_transport* transport, raft_uv_transport_close_cb done) { done(transport); }

}  // namespace

struct RaftHandle::Native {
  explicit Native(RaftEvents& target) : events(target) {}

  RaftEvents& events;
  raft_uv_transport transport{};
  raft_io io{};
  raft_fsm fsm{};
  struct ::raft raft {};
  struct raft_apply request {};
  bool io_ready = false;
  bool raft_ready = false;
  bool closed = false;
  std::function<void()> on_closed;

  static Native& of(raft_fsm* fsm) { return *static_cast<Native*>(fsm->data); }
  static int apply(raft_fsm* fsm, const raft_buffer* buffer, void** result) {
    *result = nullptr;
    Native& self = of(fsm);
    const ByteView entry(static_cast<const std::uint8_t*>(buffer->base), buffer->len);
    // libraft does not say the index; it applies one after the other.
    return self.events.on_apply(raft_last_applied(&self.raft) + 1, entry) ? 0 : RAFT_CORRUPT;
  }
  static int snapshot(raft_fsm* fsm, raft_buffer** buffers, unsigned* count) {
    auto bytes = of(fsm).events.on_snapshot();
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
  static int restore(raft_fsm* fsm, raft_buffer* buffer) {
    const bool good =
        of(fsm).events.on_restore({static_cast<const std::uint8_t*>(buffer->base), buffer->len});
    if (!good) return RAFT_CORRUPT;
    raft_free(buffer->base);
    return 0;
  }
  static void submitted(struct raft_apply* request, int status, void*) {
    if (status == 0) return;  // on_apply has the replies
    Native& self = *static_cast<Native*>(request->data);
    self.events.on_submit_failed(fmt::format("{} ({})", raft_strerror(status), raft_errmsg(&self.raft)));
  }
  static void raft_closed(struct ::raft* handle) {
    Native& self = *static_cast<Native*>(handle->data);
    self.closed = true;
    if (self.on_closed) std::exchange(self.on_closed, nullptr)();
  }
};

RaftHandle::RaftHandle(UvDriver& driver, RaftEvents& events)
    : driver_(driver), native_(std::make_unique<Native>(events)) {}

Result<std::unique_ptr<RaftHandle>> RaftHandle::start(UvDriver& driver, RaftEvents& events,
                                                      const RaftHandleOptions& options) {
  std::unique_ptr<RaftHandle> handle(new RaftHandle(driver, events));
  SAMOVAR_CHECK(handle->init(options));
  return handle;
}

Result<void> RaftHandle::init(const RaftHandleOptions& options) {
  Native& n = *native_;
  const auto failed = [&](const char* doing, int rc, const char* detail) {
    const Errc code = rc == RAFT_NOSPACE ? Errc::no_space : rc == RAFT_CORRUPT ? Errc::corrupt : Errc::io;
    return Error{code, fmt::format("{} {}: {} ({})", doing, options.dir, raft_strerror(rc), detail)};
  };
  set_version(n.transport);
  n.transport.init = transport_init;
  n.transport.listen = transport_listen;
  n.transport.connect = transport_connect;
  n.transport.close = transport_close;
  if (const int rc = raft_uv_init(&n.io, driver_.uv(), options.dir.c_str(), &n.transport); rc != 0)
    return failed("cannot open the log in", rc, n.io.errmsg);
  n.io_ready = true;
  // It would rename damaged segments and go on without them.
  raft_uv_set_auto_recovery(&n.io, false);
  raft_uv_set_segment_size(&n.io, options.segment_bytes);
  static_cast<void>(raft_uv_set_snapshot_compression(&n.io, false));  // sealed bytes do not shrink

  n.fsm.version = 1;
  n.fsm.data = &n;
  n.fsm.apply = Native::apply;
  n.fsm.snapshot = Native::snapshot;
  n.fsm.restore = Native::restore;
  if (const int rc = raft_init(&n.raft, &n.io, &n.fsm, kSelf, kSelfAddress); rc != 0)
    return failed("cannot open the log in", rc, raft_errmsg(&n.raft));
  n.raft_ready = true;
  n.raft.data = &n;
  raft_set_election_timeout(&n.raft, kElectionMs);
  raft_set_heartbeat_timeout(&n.raft, kHeartbeatMs);
  raft_set_snapshot_threshold(&n.raft, options.snapshot_threshold);
  raft_set_snapshot_trailing(&n.raft, options.snapshot_trailing);

  if (options.bootstrap) {
    raft_configuration configuration;
    raft_configuration_init(&configuration);
    int rc = raft_configuration_add(&configuration, kSelf, kSelfAddress, RAFT_VOTER);
    if (rc == 0) rc = raft_bootstrap(&n.raft, &configuration);
    raft_configuration_close(&configuration);
    if (rc != 0) return failed("cannot begin a log in", rc, raft_errmsg(&n.raft));
  }
  if (const int rc = raft_start(&n.raft); rc != 0)
    return failed("cannot load the log in", rc, raft_errmsg(&n.raft));
  // Newer versions apply from the event loop.
  driver_.drain([&] { return raft_last_applied(&n.raft) >= raft_last_index(&n.raft); });
  return {};
}

RaftHandle::~RaftHandle() {
  Native& n = *native_;
  if (n.raft_ready && !n.closed) {
    n.on_closed = nullptr;
    close_now();
    driver_.drain([&] { return n.closed; });
  }
  if (n.io_ready) raft_uv_close(&n.io);
}

void RaftHandle::close_now() { raft_close(&native_->raft, Native::raft_closed); }

void RaftHandle::close(std::function<void()> done) {
  native_->on_closed = std::move(done);
  close_now();
  driver_.kick();
}

void RaftHandle::set_snapshots(unsigned threshold, unsigned trailing) {
  raft_set_snapshot_threshold(&native_->raft, threshold);
  raft_set_snapshot_trailing(&native_->raft, trailing);
}

Result<void> RaftHandle::submit(const std::vector<Bytes>& entries) {
  std::vector<raft_buffer> buffers(entries.size());
  bool copied = true;
  for (std::size_t i = 0; i < entries.size(); ++i) copied = copy_to(buffers[i], entries[i]) && copied;
  native_->request.data = native_.get();
  const int rc = copied ? raft_apply(&native_->raft, &native_->request, buffers.data(),
                                     static_cast<unsigned>(buffers.size()), Native::submitted)
                        : RAFT_NOMEM;
  if (rc == 0) return {};
  for (const raft_buffer& buffer : buffers) raft_free(buffer.base);
  return Error{
      rc == RAFT_NOSPACE ? Errc::no_space : Errc::unavailable,
      fmt::format("the log takes no entries: {} ({})", raft_strerror(rc), raft_errmsg(&native_->raft))};
}

bool RaftHandle::leader() const { return raft_state(&native_->raft) == RAFT_LEADER; }
std::uint64_t RaftHandle::term() const { return native_->raft.current_term; }
std::uint64_t RaftHandle::last_index() const { return raft_last_index(&native_->raft); }
std::uint64_t RaftHandle::applied_index() const { return raft_last_applied(&native_->raft); }

}  // namespace samovar::raft
