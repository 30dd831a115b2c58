// Waiting in a coroutine of the loop.
#pragma once
#include <functional>
#include <utility>

#include "base/loop.hpp"
#include "base/task.hpp"

namespace samovar::jobs {

inline Task<bool> pause(Loop& loop, Duration delay) {
  auto start = [&loop, delay](std::function<void(bool)> done) {
    loop.after(delay, [done = std::move(done)] { done(true); });
  };
  co_return co_await from_callback<bool>(std::move(start));
}

}  // namespace samovar::jobs
