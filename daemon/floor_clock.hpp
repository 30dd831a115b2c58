// Wall time that is never before what we know has passed: boards without a battery wake up in 1970.
//
// The floor is max(build time, the time kept in the state directory); the replicated state adds the
// time of its last command by itself. Above the floor time runs with the monotonic clock until the
// system's clock is right and overtakes.
//
// Threading: as the clock and loop behind it. Ownership: borrows both.
#pragma once
#include <string>

#include "base/clock.hpp"
#include "base/disk.hpp"
#include "base/loop.hpp"

namespace samovar::daemon {

class FloorClock : public Clock {
 public:
  FloorClock(Clock& system, WallTime floor) : system_(system), floor_(floor), began_(system.mono()) {}
  WallTime wall() const override;
  MonoTime mono() const override { return system_.mono(); }
  // True while the system's clock is behind what we know.
  bool behind() const;

 private:
  WallTime floor_now() const;
  Clock& system_;
  const WallTime floor_;
  const MonoTime began_;
};

// A loop whose clock is another one.
class LoopWithClock : public Loop {
 public:
  LoopWithClock(Loop& loop, Clock& clock) : loop_(loop), clock_(clock) {}
  Clock& clock() override { return clock_; }
  bool in_loop() const override { return loop_.in_loop(); }
  void post(Work work) override { loop_.post(std::move(work)); }
  Id after(Duration delay, Work work) override { return loop_.after(delay, std::move(work)); }
  void cancel(Id timer) override { loop_.cancel(timer); }
  Id watch(int fd, Work readable) override { return loop_.watch(fd, std::move(readable)); }
  void unwatch(Id id) override { loop_.unwatch(id); }

 private:
  Loop& loop_;
  Clock& clock_;
};

WallTime build_time() noexcept;
// The kept time, or the build's when there is none or it does not parse: time is a floor, not a condition.
WallTime load_time_floor(Disk& disk, const std::string& path);
Result<void> keep_time(Disk& disk, const std::string& path, WallTime now);

}  // namespace samovar::daemon
