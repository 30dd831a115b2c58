// The duty cycle of a worker: how long it may work, how long it rests, so that it works `duty` of the time.
//
// Counted is work, not time: while the worker waits for others it runs up no debt, so that workers which wait
// for each other do not add up their rests. Full work is one processor, or as many as it was seen to use.
// Periods are short: what other workers ask of this one is answered within a tenth of a second or two.
//
// Threading: none of its own; time and the worker's CPU time are handed in.
#pragma once
#include "base/clock.hpp"

namespace samovar::power {

class Pacer {
 public:
  static constexpr std::chrono::milliseconds kPeriod{100};
  static constexpr std::chrono::milliseconds kSliceMin{10};
  static constexpr double kDutyMin = 0.02;

  struct Turn {
    bool run = true;
    Duration wait{};  // until the next turn
  };

  // `cpu` is the worker's CPU time so far. Beyond duty 1 it always runs.
  Turn turn(MonoTime now, Duration cpu, double duty);
  // Processors at full work, as seen.
  double full() const noexcept { return full_; }

 private:
  void account(MonoTime now, Duration cpu, double duty);

  bool begun_ = false;
  bool running_ = true;
  MonoTime now_{};
  Duration cpu_{};
  double full_ = 1;
  double debt_ = 0;  // seconds of work beyond the duty
};

}  // namespace samovar::power
