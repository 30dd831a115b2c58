// Bounds on guessing: so many attempts per key in a window, or a delay that grows with each failure.
//
// Threading: loop only. Memory is bounded: past kKeysMax the oldest windows are forgotten.
#pragma once
#include <chrono>
#include <cstddef>
#include <map>
#include <string>

#include "base/clock.hpp"

namespace samovar::api {

class Attempts {
 public:
  struct Rule {
    unsigned count_max;
    Duration window;
  };
  static constexpr std::size_t kKeysMax = 4096;

  explicit Attempts(Rule rule) : rule_(rule) {}

  // Counts one attempt. Zero: go on; else how long until the next is allowed.
  Duration take(const std::string& key, MonoTime now);

 private:
  struct Window {
    MonoTime began{};
    unsigned count = 0;
  };
  void forget_old(MonoTime now);

  const Rule rule_;
  std::map<std::string, Window> windows_;
};

// Five free failures, then 1, 2, 4 … 60 seconds after each. Never a lock-out: whoever stands at the
// console may always try again.
class Backoff {
 public:
  static constexpr unsigned kFree = 5;
  static constexpr std::chrono::seconds kDelayMax{60};

  // Zero: an attempt is allowed now.
  Duration wait(MonoTime now) const;
  void failed(MonoTime now);
  void succeeded() { *this = {}; }

 private:
  unsigned failures_ = 0;
  MonoTime next_{};
};

}  // namespace samovar::api
