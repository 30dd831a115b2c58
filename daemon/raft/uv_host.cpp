#include "daemon/raft/uv_host.hpp"

#include <utility>

#include <fmt/format.h>
#include <uv.h>

#include "base/disk.hpp"
#include "base/log.hpp"
#include "daemon/raft/consensus_log.hpp"
#include "daemon/raft/log_check.hpp"
#include "daemon/raft/native.hpp"
#include "daemon/raft/uv_driver.hpp"
#include "daemon/raft/witness_file.hpp"
#include "daemon/raft/witness_writer.hpp"

namespace samovar::raft {
namespace {

// Logs begun before nodes had numbers of their own name their only member so.
constexpr std::string_view kNamelessMember = "local";

// The fork's transports carry a version, Debian 12's do not.
template <class T>
void set_version(T& transport) {
  if constexpr (requires { transport.version; }) transport.version = 1;
}

int transport_init(raft_uv_transport*, raft_id, const char*) { return 0; }
int transport_listen(raft_uv_transport*, raft_uv_accept_cb) { return 0; }
int transport_connect(raft_uv_transport*, raft_uv_connect*, raft_id, const char*, raft_uv_connect_cb) {
  return RAFT_NOCONNECTION;
}
void transport_close(raft_uv_transport* transport, raft_uv_transport_close_cb done) { done(transport); }

// libraft's own network stays unused: it gets a transport that leads nowhere.
void fill(raft_uv_transport& transport) {
  set_version(transport);
  transport.init = transport_init;
  transport.listen = transport_listen;
  transport.connect = transport_connect;
  transport.close = transport_close;
}

// Out of libraft's way, but not gone: the bytes may still interest somebody.
Result<void> set_aside(Disk& disk, const std::string& dir, const std::string& name, const char* prefix) {
  std::string target = fmt::format("{}/{}-{}", dir, prefix, name);
  for (int i = 2; disk.exists(target); ++i) target = fmt::format("{}/{}-{}.{}", dir, prefix, name, i);
  SAMOVAR_LOG(warn, raft, "a file of the log that no longer counts was set aside", kv("file", target));
  SAMOVAR_CHECK(disk.rename(dir + "/" + name, target));
  return disk.sync_dir(dir);
}

Result<void> begin_empty(Disk& disk, const std::string& dir, const Sealer& sealer) {
  SAMOVAR_CHECK(disk.make_dir(dir));
  SAMOVAR_TRY(const auto names, disk.list(dir));
  if (!names.empty())
    return Error{Errc::conflict,
                 fmt::format("{} is not empty: a new log is begun only in an empty folder. Move what "
                             "is there aside first.",
                             dir)};
  return create_witness(disk, dir, sealer);
}

bool is_nameless(const LogServers& servers, const std::string& node_id) {
  return servers.size() == 1 && servers[0].node_id == kNamelessMember && node_id != kNamelessMember;
}

}  // namespace

struct UvHost::State {
  explicit State(Loop& runner) : loop(runner) {}
  Loop& loop;
  std::function<bool()> turn;
  std::unique_ptr<UvDriver> driver;
  std::unique_ptr<WitnessWriter> witness;
  raft_uv_transport transport{};
  raft_io io{};
  bool io_open = false;
};

UvHost::UvHost(std::unique_ptr<State> state) : state_(std::move(state)) {}

Result<std::unique_ptr<UvHost>> UvHost::create(Loop& loop) {
  auto state = std::make_unique<State>(loop);
  State& s = *state;
  SAMOVAR_TRY(s.driver, UvDriver::create(loop, [&s] { return s.turn && s.turn(); }));
  return std::unique_ptr<UvHost>(new UvHost(std::move(state)));
}

UvHost::~UvHost() {
  stop();
  close_io();
}

Result<LogFound> UvHost::prepare(const ConsensusOptions& options, const Sealer& sealer) {
  Disk& disk = real_disk();
  const std::string& dir = options.dir;
  LogFound found;
  const auto nothing_there = [&]() -> Result<bool> {
    if (!disk.exists(dir)) return true;
    SAMOVAR_TRY(const auto names, disk.list(dir));
    return names.empty();
  };
  SAMOVAR_TRY(const bool empty, nothing_there());
  if (options.bootstrap || (empty && options.join)) {
    SAMOVAR_CHECK(begin_empty(disk, dir, sealer));
    found.whole = true;
    return found;
  }
  if (empty) return Error{Errc::not_found, fmt::format("{}: there is no log", dir)};
  SAMOVAR_TRY(found.witness, load_witness(disk, dir, sealer));
  SAMOVAR_TRY(const LogCheck check, check_log(disk, dir, sealer, found.witness, options.join));
  found.head = check.head;
  found.whole = true;
  for (const auto& name : check.torn_segments) SAMOVAR_CHECK(set_aside(disk, dir, name, "torn"));
  for (const auto& name : check.old_segments) SAMOVAR_CHECK(set_aside(disk, dir, name, "old"));
  if (is_nameless(check.servers, options.node_id)) SAMOVAR_CHECK(make_only_member(dir, options.node_id));
  return found;
}

Result<::raft_io*> UvHost::open_io(const ConsensusOptions& options) {
  State& s = *state_;
  SAMOVAR_TRY(s.witness, WitnessWriter::open(*s.driver, options.dir + "/" + kWitnessName));
  fill(s.transport);
  if (const int rc = raft_uv_init(&s.io, s.driver->uv(), options.dir.c_str(), &s.transport); rc != 0)
    return Error{Errc::io, fmt::format("cannot open the log in {}: {} ({})", options.dir, raft_strerror(rc),
                                       s.io.errmsg)};
  s.io_open = true;
  // It would rename damaged segments and go on without them.
  raft_uv_set_auto_recovery(&s.io, false);
  raft_uv_set_segment_size(&s.io, options.segment_bytes);
  static_cast<void>(raft_uv_set_snapshot_compression(&s.io, false));  // sealed bytes do not shrink
  return &s.io;
}

void UvHost::close_io() {
  state_->witness.reset();
  if (std::exchange(state_->io_open, false)) raft_uv_close(&state_->io);
}

Loop& UvHost::loop() { return state_->loop; }
Rng& UvHost::rng() { return system_rng(); }

void UvHost::start(std::function<bool()> turn) {
  state_->turn = std::move(turn);
  state_->driver->start();
}

void UvHost::stop() { state_->driver->stop(); }
void UvHost::kick() { state_->driver->kick(); }
bool UvHost::busy() const { return uv_loop_alive(state_->driver->uv()) != 0; }
void UvHost::drain(const std::function<bool()>& finished) { state_->driver->drain(finished); }
bool UvHost::witness_busy() const { return state_->witness != nullptr && state_->witness->busy(); }

void UvHost::write_witness(const Sealer& sealer, const Witness& witness,
                           std::function<void(Result<void>)> written) {
  state_->witness->write(witness_slot_offset(witness.counter), witness_slot(sealer, witness),
                         std::move(written));
}

Result<void> make_only_member(const std::string& dir, const std::string& node_id) {
  uv_loop_t loop;
  raft_uv_transport transport{};
  raft_io io{};
  raft_fsm fsm{};
  struct ::raft handle {};
  fsm.version = 1;
  fill(transport);
  const auto failed = [&](int rc, const char* detail) {
    return Error{rc == RAFT_NOSPACE ? Errc::no_space : Errc::io,
                 fmt::format("cannot write the members of {}: {} ({})", dir, raft_strerror(rc), detail)};
  };
  if (const int rc = uv_loop_init(&loop); rc != 0)
    return Error{Errc::io, std::string("cannot make an event loop for the log: ") + uv_strerror(rc)};
  Result<void> result;
  if (const int opened = raft_uv_init(&io, &loop, dir.c_str(), &transport); opened != 0) {
    result = failed(opened, io.errmsg);
  } else {
    raft_uv_set_auto_recovery(&io, false);
    if (const int begun = raft_init(&handle, &io, &fsm, raft_id_of(node_id), node_id.c_str()); begun != 0) {
      result = failed(begun, raft_errmsg(&handle));
    } else {
      raft_configuration configuration;
      raft_configuration_init(&configuration);
      int rc = raft_configuration_add(&configuration, raft_id_of(node_id), node_id.c_str(), RAFT_VOTER);
      if (rc == 0) rc = raft_recover(&handle, &configuration);
      raft_configuration_close(&configuration);
      if (rc != 0) result = failed(rc, io.errmsg);
      raft_close(&handle, [](struct ::raft*) {});
      while (uv_run(&loop, UV_RUN_DEFAULT) != 0) {
      }
    }
    raft_uv_close(&io);
  }
  static_cast<void>(uv_loop_close(&loop));
  return result;
}

}  // namespace samovar::raft
