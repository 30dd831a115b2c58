// A clock that stands still until told.
//
// Threading: one thread.
#pragma once
#include "base/clock.hpp"

namespace samovar {

class SimClock : public Clock {
 public:
  // 2026-01-01 in every simulation: no test depends on today.
  static constexpr WallTime kStart{std::chrono::sys_days{std::chrono::year{2026} / 1 / 1}};

  explicit SimClock(WallTime start = kStart) : wall_start_(start) {}
  // The same passing of time as `source` (which outlives this), with a wall clock of its own.
  explicit SimClock(const SimClock* source) : source_(source), wall_start_(source->wall_start_) {}

  WallTime wall() const override {
    return wall_start_ + std::chrono::duration_cast<std::chrono::microseconds>(mono());
  }
  MonoTime mono() const override { return source_ != nullptr ? source_->mono() : now_; }

  void advance(Duration by) { now_ += by; }
  void set_mono(MonoTime now) { now_ = now; }
  // Somebody sets the wall clock; monotonic time does not notice.
  void step_wall(Duration by) { wall_start_ += std::chrono::duration_cast<std::chrono::microseconds>(by); }

 private:
  const SimClock* source_ = nullptr;
  WallTime wall_start_;
  MonoTime now_ = std::chrono::seconds(1);  // since boot; never 0, which code may take for "unset"
};

}  // namespace samovar
