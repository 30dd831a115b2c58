// samovard: the composition root. Every error of a start is one message with a remedy, on the console
// and in the journal, and an exit status: 2 for usage and configuration, 1 for the rest.
#include <fmt/format.h>

#include <malloc.h>
#include <unistd.h>

#include <cstdio>

#include "base/asio_loop.hpp"
#include "base/failpoint.hpp"
#include "base/log.hpp"
#include "daemon/config.hpp"
#include "daemon/factory_reset.hpp"
#include "daemon/flags.hpp"
#include "daemon/floor_clock.hpp"
#include "daemon/node.hpp"
#include "daemon/recover_alone.hpp"
#include "daemon/service.hpp"
#include "daemon/state_dir.hpp"
#include "security/init.hpp"

namespace samovar::daemon {
namespace {

constexpr int kExitUsage = 2;
constexpr int kExitFailure = 1;

// glibc keeps what was freed for later: for each thread its own, and long blocks of up to 32 MiB once one was
// freed. A node's dozen threads are mostly idle, and a snapshot is one long block that comes and goes.
void give_memory_back() {
  mallopt(M_ARENA_MAX, 2);
  mallopt(M_MMAP_THRESHOLD, 4 << 20);  // above what goes between nodes at full speed
  mallopt(M_TRIM_THRESHOLD, 4 << 20);
}

void set_up_logging(const Config& config) {
  if (config.log_format == "text") log::set_format(log::Format::text);
  if (config.log_format == "journal") log::set_format(log::Format::journal);
  if (config.log_format == "json") log::set_format(log::Format::json);
  if (config.log_format == "auto") log::set_format(log::detect_format());
  if (config.log_level == "debug") log::set_level(log::Level::debug);
  if (config.log_level == "info") log::set_level(log::Level::info);
  if (config.log_level == "warn") log::set_level(log::Level::warn);
  if (config.log_level == "error") log::set_level(log::Level::error);
}

// The log goes to the console or the journal, whichever there is.
int fail(int status, const Error& error) {
  SAMOVAR_LOG(error, main, "samovard cannot start: " + error.message());
  notify_status(error.message());
  return status;
}

std::string_view phase_text(api::Phase phase) {
  switch (phase) {
    case api::Phase::fresh:
      return "new: waiting for its set-up";
    case api::Phase::locked:
      return "locked: waiting for the passphrase";
    case api::Phase::starting:
      return "starting";
    case api::Phase::joining:
      return "joining: waiting for the cluster's state";
    case api::Phase::ready:
      return "ready";
    case api::Phase::removed:
      return "removed from its cluster: only a factory reset makes it useful again";
  }
  return "starting";
}

void announce(const Node& node, const std::vector<std::string>& urls) {
  std::fputs(node.banner(urls).c_str(), stdout);
  // One line for programs that start us: tests, ./dev run.
  std::fputs(fmt::format("\nREADY {} phase={}\n", urls.empty() ? "-" : urls.front(), to_string(node.phase()))
                 .c_str(),
             stdout);
  std::fflush(stdout);
  SAMOVAR_LOG(info, main, "serving", kv("url", urls.empty() ? std::string("-") : urls.front()),
              kv("phase", to_string(node.phase())), kv("fingerprint", node.web_certificate().fingerprint));
  if (node.phase() == api::Phase::fresh)
    SAMOVAR_LOG(info, main, "this box is new: open its page and enter the set-up code",
                kv("code", node.setup_code()), kv("node", node.short_id()));
}

Result<void> serve(AsioLoop& loop, FloorClock& clock, std::unique_ptr<StateDir> state, const Config& config) {
  LoopWithClock timed(loop, clock);
  NodeOptions options;
  options.config = config;
  SAMOVAR_TRY(const auto node, Node::start(timed, clock, std::move(state), std::move(options)));
  SAMOVAR_TRY(const auto urls, node->listen());
  node->on_phase([](api::Phase phase) { notify_status(phase_text(phase)); });
  SAMOVAR_TRY(const auto signals, SignalWatch::start(loop, [&] {
                SAMOVAR_LOG(info, main, "stopping");
                notify_stopping();
                node->stop([&loop] { loop.stop(); });
              }));
  announce(*node, urls);
  notify_ready(phase_text(node->phase()));
  start_watchdog(loop);
  loop.run();
  SAMOVAR_LOG(info, main, "stopped");
  std::fflush(nullptr);
  // Without destructors, see Node::stop.
  _exit(0);
}

int run(int argc, const char* const* argv) {
  give_memory_back();
  auto line = parse_command_line(argc, argv);
  if (!line) return fail(kExitUsage, line.error());
  if (line->act == Act::print_and_exit) {
    std::fputs(line->text.c_str(), stdout);
    return 0;
  }
  const Config& config = line->config;
  set_up_logging(config);
  if (line->act == Act::factory_reset || line->act == Act::recover_alone) {
    if (auto ready = security::init(); !ready) return fail(kExitFailure, ready.error());
    auto done = line->act == Act::factory_reset ? factory_reset(config, line->named_id)
                                                : recover_alone(config, line->named_id);
    if (!done) return fail(done.error().code() == Errc::invalid ? kExitUsage : kExitFailure, done.error());
    std::fputs(done->c_str(), stdout);
    return 0;
  }
  if (auto blocked = block_signals(); !blocked) return fail(kExitFailure, blocked.error());
  if (auto ready = security::init(); !ready) return fail(kExitFailure, ready.error());
#if SAMOVAR_FAILPOINTS
  if (!config.failpoints.empty()) {
    if (auto armed = failpoint::arm(config.failpoints); !armed) return fail(kExitUsage, armed.error());
  }
#endif
  auto state = StateDir::open(real_disk(), config.state_dir);
  if (!state) return fail(kExitFailure, state.error());
  FloorClock clock(real_clock(), load_time_floor(real_disk(), (*state)->clock()));
  if (clock.behind())
    SAMOVAR_LOG(warn, main,
                "the system's clock is behind a time that has passed; counting on from that time");
  AsioLoop loop;
  if (auto served = serve(loop, clock, std::move(*state), config); !served)
    return fail(kExitFailure, served.error());
  return 0;
}

}  // namespace
}  // namespace samovar::daemon

int main(int argc, char** argv) { return samovar::daemon::run(argc, argv); }
