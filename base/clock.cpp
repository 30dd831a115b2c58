#include "base/clock.hpp"

#include <ctime>

#include "base/assert.hpp"

namespace samovar {
namespace {

class RealClock : public Clock {
 public:
  WallTime wall() const override {
    return std::chrono::time_point_cast<std::chrono::microseconds>(std::chrono::system_clock::now());
  }
  MonoTime mono() const override {
    timespec now{};
    SAMOVAR_ASSERT(clock_gettime(CLOCK_BOOTTIME, &now) == 0);
    return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
  }
};

}  // namespace

Clock& real_clock() {
  static RealClock clock;
  return clock;
}

}  // namespace samovar
