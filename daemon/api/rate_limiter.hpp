// A token bucket per address: a burst is fine, a flood is told to come back.
//
// Threading: http thread only. Time is passed in, so tests need not wait.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/clock.hpp"

namespace samovar::api {

class RateLimiter {
 public:
  RateLimiter(double per_second, double burst) : per_second_(per_second), burst_(burst) {}

  bool allow(std::string_view address, MonoTime now);
  std::size_t size() const noexcept { return buckets_.size(); }

  // Full buckets say nothing and are dropped first; past this many the emptiest state is lost too.
  static constexpr std::size_t kAddressesMax = 4096;

 private:
  struct Bucket {
    double tokens;
    MonoTime at;
  };
  double tokens_at(const Bucket& bucket, MonoTime now) const;
  void make_room(MonoTime now);

  double per_second_;
  double burst_;
  std::unordered_map<std::string, Bucket> buckets_;
};

}  // namespace samovar::api
