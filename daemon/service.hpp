// The process around a node: signals, systemd's notifications and watchdog.
//
// Threading: loop only, except block_signals, which comes before the first thread.
#pragma once
#include <functional>
#include <string_view>

#include "base/loop.hpp"
#include "base/result.hpp"

namespace samovar::daemon {

// SIGINT and SIGTERM reach only the watcher below; SIGPIPE nobody.
Result<void> block_signals();

class SignalWatch {
 public:
  // `stop` is called once, with the first SIGINT or SIGTERM; a second one ends the process at once.
  static Result<SignalWatch> start(Loop& loop, std::function<void()> stop);
  SignalWatch(SignalWatch&& other) noexcept;
  SignalWatch& operator=(SignalWatch&&) = delete;
  ~SignalWatch();

 private:
  SignalWatch(Loop& loop, int fd, Loop::Id watch) : loop_(loop), fd_(fd), watch_(watch) {}
  Loop& loop_;
  int fd_;
  Loop::Id watch_;
};

// Nothing happens without systemd.
void notify_ready(std::string_view status);
void notify_status(std::string_view status);
void notify_stopping();
// Pets systemd's watchdog from the loop: a loop that hangs is restarted.
void start_watchdog(Loop& loop);

}  // namespace samovar::daemon
