#include "daemon/api/attempts.hpp"

#include <algorithm>

namespace samovar::api {

Duration Attempts::take(const std::string& key, MonoTime now) {
  if (windows_.size() >= kKeysMax && windows_.find(key) == windows_.end()) forget_old(now);
  Window& window = windows_[key];
  if (window.count == 0 || now - window.began >= rule_.window) window = {now, 0};
  if (window.count >= rule_.count_max) return window.began + rule_.window - now;
  ++window.count;
  return Duration::zero();
}

void Attempts::forget_old(MonoTime now) {
  for (auto it = windows_.begin(); it != windows_.end();)
    it = now - it->second.began >= rule_.window ? windows_.erase(it) : std::next(it);
  // All still fresh: a flood from many addresses. The global bound on hashing holds it; drop half.
  while (windows_.size() >= kKeysMax / 2) windows_.erase(windows_.begin());
}

Duration Backoff::wait(MonoTime now) const { return std::max(Duration::zero(), Duration(next_ - now)); }

void Backoff::failed(MonoTime now) {
  ++failures_;
  if (failures_ < kFree) return;
  const unsigned doublings = std::min(failures_ - kFree, 6U);
  next_ = now + std::min<Duration>(std::chrono::seconds(1U << doublings), kDelayMax);
}

}  // namespace samovar::api
