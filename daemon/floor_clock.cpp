#include "daemon/floor_clock.hpp"

#include <algorithm>

#include "base/ids.hpp"

namespace samovar::daemon {

WallTime FloorClock::floor_now() const {
  return floor_ + std::chrono::duration_cast<std::chrono::microseconds>(system_.mono() - began_);
}

WallTime FloorClock::wall() const { return std::max(system_.wall(), floor_now()); }

bool FloorClock::behind() const { return system_.wall() < floor_now(); }

WallTime build_time() noexcept { return WallTime(std::chrono::seconds(SAMOVAR_BUILD_EPOCH)); }

WallTime load_time_floor(Disk& disk, const std::string& path) {
  const auto text = disk.read_file(path, 64);
  if (!text) return build_time();
  const auto kept = parse_time(as_text(*text));
  // A kept time far ahead is a clock that once was wrong: one more year per start at most would be worse
  // than none, so it counts only within the life of a certificate from the build on.
  if (!kept || *kept > build_time() + std::chrono::hours(24 * 365 * 20)) return build_time();
  return std::max(build_time(), *kept);
}

Result<void> keep_time(Disk& disk, const std::string& path, WallTime now) {
  return disk.write_file(path, as_bytes(format_time(now)));
}

}  // namespace samovar::daemon
