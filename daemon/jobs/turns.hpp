// A bound on how much goes on at once, for coroutines of the loop: first come, first served.
//
//   co_await turns.take(); …; turns.give();
//
// Threading: loop only.
#pragma once
#include <deque>
#include <functional>
#include <utility>

#include "base/task.hpp"

namespace samovar::jobs {

class Turns {
 public:
  explicit Turns(unsigned at_once) : left_(at_once) {}
  Turns(const Turns&) = delete;
  Turns& operator=(const Turns&) = delete;

  Task<bool> take() {
    if (left_ > 0) {
      --left_;
      co_return true;
    }
    auto wait = [this](std::function<void(bool)> done) { waiting_.push_back(std::move(done)); };
    co_return co_await from_callback<bool>(std::move(wait));
  }
  void give() {
    if (waiting_.empty()) {
      ++left_;
      return;
    }
    auto next = std::move(waiting_.front());
    waiting_.pop_front();
    next(true);
  }

 private:
  unsigned left_;
  std::deque<std::function<void(bool)>> waiting_;
};

}  // namespace samovar::jobs
