#include "daemon/service.hpp"

#include <sys/signalfd.h>
#include <systemd/sd-daemon.h>
#include <ucontext.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>
#include <string>

#include "base/log.hpp"

namespace samovar::daemon {
namespace {

sigset_t stop_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  return set;
}

// Runs only in threads that a library started before main() (OpenBLAS does): they have not blocked the
// signal. From here on this one has, and the signal goes to the process again, until it waits for the
// watcher.
void hand_on(int signal, siginfo_t* /*info*/, void* context) {
  sigaddset(&static_cast<ucontext_t*>(context)->uc_sigmask, signal);
  ::kill(::getpid(), signal);
}

void notify(const std::string& text) { sd_notify(0, text.c_str()); }

void pet(Loop& loop, Duration every) {
  notify("WATCHDOG=1");
  loop.after(every, [&loop, every] { pet(loop, every); });
}

}  // namespace

Result<void> block_signals() {
  const sigset_t set = stop_signals();
  struct sigaction foreign {};
  foreign.sa_sigaction = hand_on;
  foreign.sa_flags = SA_SIGINFO | SA_RESTART;
  if (pthread_sigmask(SIG_BLOCK, &set, nullptr) != 0 || std::signal(SIGPIPE, SIG_IGN) == SIG_ERR ||
      sigaction(SIGINT, &foreign, nullptr) != 0 || sigaction(SIGTERM, &foreign, nullptr) != 0)
    return Error{Errc::internal, std::string("signals cannot be set up: ") + std::strerror(errno)};
  return {};
}

Result<SignalWatch> SignalWatch::start(Loop& loop, std::function<void()> stop) {
  const sigset_t set = stop_signals();
  const int fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  if (fd < 0) return Error{Errc::internal, std::string("signalfd: ") + std::strerror(errno)};
  auto asked = std::make_shared<bool>(false);  // shared with the callback, which the loop owns
  const Loop::Id id = loop.watch(fd, [fd, asked, stop = std::move(stop)] {
    signalfd_siginfo info{};
    if (read(fd, &info, sizeof info) != sizeof info) return;
    if (*asked) {
      SAMOVAR_LOG(warn, main, "asked to stop a second time: ending at once; nothing acknowledged is lost");
      _exit(1);
    }
    *asked = true;
    stop();
  });
  return SignalWatch(loop, fd, id);
}

SignalWatch::SignalWatch(SignalWatch&& other) noexcept
    : loop_(other.loop_), fd_(other.fd_), watch_(other.watch_) {
  other.fd_ = -1;
}

SignalWatch::~SignalWatch() {
  if (fd_ < 0) return;
  loop_.unwatch(watch_);
  close(fd_);
}

void notify_ready(std::string_view status) { notify("READY=1\nSTATUS=" + std::string(status)); }
void notify_status(std::string_view status) { notify("STATUS=" + std::string(status)); }
void notify_stopping() { notify("STOPPING=1\nSTATUS=stopping"); }

void start_watchdog(Loop& loop) {
  std::uint64_t microseconds = 0;
  if (sd_watchdog_enabled(0, &microseconds) <= 0 || microseconds == 0) return;
  pet(loop, std::chrono::microseconds(microseconds / 3));
}

}  // namespace samovar::daemon
