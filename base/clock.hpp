// Time as a seam. Wall time is for people and records; monotonic time is for deadlines, leases and
// rates, and goes on while the board sleeps (CLOCK_BOOTTIME).
#pragma once
#include <chrono>

namespace samovar {

using Duration = std::chrono::nanoseconds;
using WallTime = std::chrono::sys_time<std::chrono::microseconds>;
using MonoTime = std::chrono::nanoseconds;  // since boot

class Clock {
 public:
  virtual ~Clock() = default;
  virtual WallTime wall() const = 0;
  virtual MonoTime mono() const = 0;
};

// The system's clocks. Any thread.
Clock& real_clock();

}  // namespace samovar
