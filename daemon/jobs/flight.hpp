// Work that was begun and is awaited later: while one piece is on the pool, the next one is read.
//
// Threading: loop only.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "base/result.hpp"
#include "base/task.hpp"

namespace samovar::jobs {

class Flight {
 public:
  bool under_way() const noexcept { return state_ && !state_->landed; }
  // What ended, if its result was not asked for yet.
  bool landed() const noexcept { return state_ && state_->landed; }

  // One at a time: the one before was awaited.
  void begin(Task<Result<void>> work) {
    state_ = std::make_shared<State>();
    std::function<void(Result<void>)> done = [state = state_](Result<void> result) {
      state->landed.emplace(std::move(result));
      if (state->waiter) std::exchange(state->waiter, nullptr)(*state->landed);
    };
    spawn<Result<void>>(std::move(work), std::move(done));
  }

  // At once when nothing is under way.
  Task<Result<void>> wait() {
    if (!state_) co_return Result<void>{};
    auto start = [state = state_](std::function<void(Result<void>)> done) {
      if (state->landed) {
        done(*state->landed);
      } else {
        state->waiter = std::move(done);
      }
    };
    auto result = co_await from_callback<Result<void>>(std::move(start));
    state_.reset();
    co_return result;
  }

 private:
  struct State {
    std::optional<Result<void>> landed;
    std::function<void(Result<void>)> waiter;
  };
  // Shared: the work may land after the flight is forgotten.
  std::shared_ptr<State> state_;
};

}  // namespace samovar::jobs
