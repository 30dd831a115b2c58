// Task<T>: a lazy coroutine with one awaiter. Callback APIs become awaitable with from_callback.
//
// Threading: a task runs on whichever thread resumes it; in the daemon that is the loop thread.
//
// g++ 12 destroys aggregates and lambdas with captured values twice when they are temporaries inside a
// co_await expression: name them first and move them in. tests/tidy/coroutines.py looks for it.
#pragma once
#include <coroutine>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "base/assert.hpp"

namespace samovar {

template <class T>
class Task;

namespace detail {

struct TaskPromiseBase {
  std::coroutine_handle<> awaiter = std::noop_coroutine();

  struct FinalAwaiter {
    bool await_ready() const noexcept { return false; }
    template <class P>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<P> done) const noexcept {
      return done.promise().awaiter;
    }
    void await_resume() const noexcept {}
  };
  std::suspend_always initial_suspend() const noexcept { return {}; }
  FinalAwaiter final_suspend() const noexcept { return {}; }
  // Library exceptions are caught where the library is called; one that reaches here is our bug.
  [[noreturn]] void unhandled_exception() const noexcept {
    assert_failed("no exception leaves a Task", __FILE__, __LINE__);
  }
};

template <class T>
struct TaskPromise : TaskPromiseBase {
  std::optional<T> value;
  Task<T> get_return_object();
  template <class U>
  void return_value(U&& result) {
    value.emplace(std::forward<U>(result));
  }
  T take() {
    SAMOVAR_ASSERT(value.has_value());
    return std::move(*value);
  }
};

template <>
struct TaskPromise<void> : TaskPromiseBase {
  Task<void> get_return_object();
  void return_void() const noexcept {}
  void take() const noexcept {}
};

}  // namespace detail

template <class T = void>
class [[nodiscard]] Task {
 public:
  using promise_type = detail::TaskPromise<T>;
  using Handle = std::coroutine_handle<promise_type>;

  explicit Task(Handle handle) : handle_(handle) {}
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  Task& operator=(Task&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;
  ~Task() {
    if (handle_) handle_.destroy();
  }

  auto operator co_await() && noexcept {
    struct Awaiter {
      Handle handle;
      bool await_ready() const noexcept { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<> awaiter) noexcept {
        handle.promise().awaiter = awaiter;
        return handle;
      }
      T await_resume() { return handle.promise().take(); }
    };
    return Awaiter{handle_};
  }

 private:
  Handle handle_;
};

namespace detail {
template <class T>
Task<T> TaskPromise<T>::get_return_object() {
  return Task<T>(std::coroutine_handle<TaskPromise>::from_promise(*this));
}
inline Task<void> TaskPromise<void>::get_return_object() {
  return Task<void>(std::coroutine_handle<TaskPromise>::from_promise(*this));
}

// Owns itself: starts at once and frees its frame when the body ends.
struct Detached {
  struct promise_type {
    Detached get_return_object() const noexcept { return {}; }
    std::suspend_never initial_suspend() const noexcept { return {}; }
    std::suspend_never final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    [[noreturn]] void unhandled_exception() const noexcept {
      assert_failed("no exception leaves a Task", __FILE__, __LINE__);
    }
  };
};
}  // namespace detail

// Runs the task now, on this thread, until its first suspension; it frees itself at its end.
inline void spawn(Task<void> task) {
  [](Task<void> body) -> detail::Detached { co_await std::move(body); }(std::move(task));
}
// The same, handing the result to `done`.
template <class T>
void spawn(Task<T> task, std::function<void(T)> done) {
  [](Task<T> body, std::function<void(T)> finish) -> detail::Detached { finish(co_await std::move(body)); }(
                                                      std::move(task), std::move(done));
}

// `T v = co_await from_callback<T>([&](std::function<void(T)> done) { start(done); });`
// done must be called exactly once, on the thread the task is to go on with; calling it before
// `start` returns is fine.
template <class T>
auto from_callback(std::function<void(std::function<void(T)>)> start) {
  struct Shared {
    std::optional<T> value;
    std::coroutine_handle<> waiting;
  };
  struct Awaiter {
    std::function<void(std::function<void(T)>)> start;
    std::shared_ptr<Shared> shared;  // shared: the callback may outlive or precede the suspension
    bool await_ready() {
      start([state = shared](T value) {
        state->value.emplace(std::move(value));
        if (state->waiting) std::exchange(state->waiting, {}).resume();
      });
      return shared->value.has_value();
    }
    void await_suspend(std::coroutine_handle<> handle) { shared->waiting = handle; }
    T await_resume() { return std::move(*shared->value); }
  };
  return Awaiter{std::move(start), std::make_shared<Shared>()};
}

}  // namespace samovar
