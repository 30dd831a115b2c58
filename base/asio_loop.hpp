// The loop of the running daemon, over Boost.Asio's epoll reactor. Asio stays in the .cpp.
//
// Threading: as base/loop.hpp; the thread that constructed it counts as the loop thread until another
// calls run(). stop() from any thread.
// Timers follow CLOCK_BOOTTIME like Clock::mono, so a deadline holds across a board's sleep.
#pragma once
#include <memory>

#include "base/loop.hpp"

namespace samovar {

class AsioLoop : public Loop {
 public:
  AsioLoop();
  ~AsioLoop() override;
  AsioLoop(const AsioLoop&) = delete;
  AsioLoop& operator=(const AsioLoop&) = delete;

  // Serves until stop(). Work still queued then is destroyed unrun with the loop.
  void run();
  void stop();

  Clock& clock() override;
  bool in_loop() const override;
  void post(Work work) override;
  Id after(Duration delay, Work work) override;
  void cancel(Id timer) override;
  Id watch(int fd, Work readable) override;
  void unwatch(Id watch) override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace samovar
