#include "daemon/power/pacer.hpp"

#include <algorithm>

namespace samovar::power {
namespace {

constexpr double kFullMemorySeconds = 2;
// Above this share of full work it works, and a slice that is a little short is the scheduler's noise.
constexpr double kAtWork = 0.7;

double seconds(Duration time) { return std::chrono::duration<double>(time).count(); }
Duration from_seconds(double s) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(s));
}

}  // namespace

void Pacer::account(MonoTime now, Duration cpu, double duty) {
  const double wall = std::max(0.0, seconds(now - now_));
  const double used = std::max(0.0, seconds(cpu - cpu_));
  now_ = now;
  cpu_ = cpu;
  if (wall <= 0) return;
  double work = used / full_;
  if (running_) {
    const double rate = used / wall;
    if (rate >= kAtWork * full_) work = wall;
    full_ = std::max(1.0, full_ + (rate - full_) * std::min(1.0, wall / kFullMemorySeconds));
  }
  // What it did not use is not saved up beyond half a period.
  const double credit_max = seconds(kPeriod) * duty / 2;
  debt_ = std::max(debt_ + work - duty * wall, -credit_max);
}

Pacer::Turn Pacer::turn(MonoTime now, Duration cpu, double duty) {
  duty = std::clamp(duty, kDutyMin, 1.0);
  if (!begun_) {
    begun_ = true;
    now_ = now;
    cpu_ = cpu;
  }
  account(now, cpu, duty);
  if (duty >= 1) {
    debt_ = 0;
    running_ = true;
    return {true, kPeriod};
  }
  running_ = debt_ <= 0;
  if (running_) return {true, std::max<Duration>(kSliceMin, from_seconds(seconds(kPeriod) * duty))};
  return {false, std::max<Duration>(std::chrono::milliseconds(1), from_seconds(debt_ / duty))};
}

}  // namespace samovar::power
