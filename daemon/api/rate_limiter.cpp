#include "daemon/api/rate_limiter.hpp"

#include <algorithm>

namespace samovar::api {

double RateLimiter::tokens_at(const Bucket& bucket, MonoTime now) const {
  const double seconds = std::chrono::duration<double>(now - bucket.at).count();
  return std::min(burst_, bucket.tokens + std::max(0.0, seconds) * per_second_);
}

void RateLimiter::make_room(MonoTime now) {
  std::erase_if(buckets_, [&](const auto& entry) { return tokens_at(entry.second, now) >= burst_; });
  if (buckets_.size() >= kAddressesMax) buckets_.clear();
}

bool RateLimiter::allow(std::string_view address, MonoTime now) {
  if (buckets_.size() >= kAddressesMax) make_room(now);
  Bucket& bucket = buckets_.try_emplace(std::string(address), Bucket{burst_, now}).first->second;
  bucket = {tokens_at(bucket, now), now};
  if (bucket.tokens < 1) return false;
  bucket.tokens -= 1;
  return true;
}

}  // namespace samovar::api
